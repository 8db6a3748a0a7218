// The driver about graphs. A kernel is written down when it is put into a graph, by hand or while a stream is recorded: launching the graph
// launches the same again.
#include <cuda.h>

#include <mutex>
#include <set>

#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/record.h"

namespace {

namespace capture = heddle::ptx::capture;

/// Streams that are being recorded; programs ask.
struct Recorded {
  std::mutex mutex;
  std::set<CUstream> streams;
};

Recorded& recorded() {
  static auto& all = *new Recorded;
  return all;
}

CUresult begin(CUstream stream) {
  const std::lock_guard<std::mutex> lock(recorded().mutex);
  return recorded().streams.insert(stream).second ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult status_of(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  const std::lock_guard<std::mutex> lock(recorded().mutex);
  const bool is = recorded().streams.count(stream) > 0;
  if (status) *status = is ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  if (id) *id = is ? 1 : 0;
  return CUDA_SUCCESS;
}

/// A kernel node of either kind of parameters, of which the older has fewer members.
template <class Node>
void write(const Node& node) {
  const void* kernel = node.func ? static_cast<const void*>(node.func) : node.kern;
  capture::CaptureRecord::get().write_launch(kernel, {{node.gridDimX, node.gridDimY, node.gridDimZ},
                                                      {0, 0, 0},
                                                      {node.blockDimX, node.blockDimY, node.blockDimZ},
                                                      node.sharedMemBytes,
                                                      node.kernelParams,
                                                      node.extra});
}

}  // namespace

HEDDLE_EXPORT CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  HEDDLE_PASS(cuStreamBeginCapture, stream, mode);
  return begin(stream);
}

HEDDLE_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  HEDDLE_PASS(cuStreamEndCapture, stream, graph);
  const std::lock_guard<std::mutex> lock(recorded().mutex);
  if (recorded().streams.erase(stream) == 0) return CUDA_ERROR_ILLEGAL_STATE;
  *graph = static_cast<CUgraph>(capture::new_handle());
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  HEDDLE_PASS(cuStreamIsCapturing, stream, status);
  return status_of(stream, status, nullptr);
}

/// What the versions of this function give besides, the graph and its last nodes, is not there.
HEDDLE_EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                              const CUgraphNode** nodes, const CUgraphEdgeData** edges, std::size_t* count) {
  HEDDLE_PASS(cuStreamGetCaptureInfo, stream, status, id, graph, nodes, edges, count);
  return status_of(stream, status, id);
}

HEDDLE_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph,
                                                 const CUgraphNode** nodes, std::size_t* count) {
  HEDDLE_PASS(cuStreamGetCaptureInfo_v2, stream, status, id, graph, nodes, count);
  return status_of(stream, status, id);
}

HEDDLE_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, std::size_t count,
                                            const CUDA_KERNEL_NODE_PARAMS* what) {
  write(*what);
  HEDDLE_PASS(cuGraphAddKernelNode, node, graph, before, count, what);
  *node = static_cast<CUgraphNode>(capture::new_handle());
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* what) {
  write(*what);
  HEDDLE_PASS(cuGraphKernelNodeSetParams, node, what);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec graph, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* what) {
  write(*what);
  HEDDLE_PASS(cuGraphExecKernelNodeSetParams, graph, node, what);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, const CUgraphEdgeData* edges,
                                      std::size_t count, CUgraphNodeParams* what) {
  if (what->type == CU_GRAPH_NODE_TYPE_KERNEL) write(what->kernel);
  HEDDLE_PASS(cuGraphAddNode, node, graph, before, edges, count, what);
  *node = static_cast<CUgraphNode>(capture::new_handle());
  return what->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ? cuMemAlloc(&what->alloc.dptr, what->alloc.bytesize) : CUDA_SUCCESS;
}
