// The runtime about graphs: the driver has the same under other names.
#include <cstring>

#include "ptx/capture/runtime.h"

namespace {

using heddle::ptx::capture::function_of;
using heddle::ptx::capture::remember;

CUstreamCaptureStatus* plain(cudaStreamCaptureStatus* status) {
  return reinterpret_cast<CUstreamCaptureStatus*>(status);
}  // the same numbers

/// Of cudaKernelNodeParams or cudaKernelNodeParamsV2.
template <class Node>
CUDA_KERNEL_NODE_PARAMS node_of(const Node& said) {
  CUDA_KERNEL_NODE_PARAMS what{};
  what.func = function_of(said.func);
  what.gridDimX = said.gridDim.x, what.gridDimY = said.gridDim.y, what.gridDimZ = said.gridDim.z;
  what.blockDimX = said.blockDim.x, what.blockDimY = said.blockDim.y, what.blockDimZ = said.blockDim.z;
  what.sharedMemBytes = said.sharedMemBytes;
  what.kernelParams = said.kernelParams;
  what.extra = said.extra;
  return what;
}

cudaError_t add(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count, cudaGraphNodeParams* said) {
  if (said->type == cudaGraphNodeTypeKernel) {
    const CUDA_KERNEL_NODE_PARAMS what = node_of(said->kernel);
    return remember(cuGraphAddKernelNode(node, graph, before, count, &what));
  }
  static_assert(sizeof(CUgraphNodeParams) == sizeof(cudaGraphNodeParams));
  return remember(cuGraphAddNode(node, graph, before, nullptr, count, reinterpret_cast<CUgraphNodeParams*>(said)));  // laid out alike
}

}  // namespace

HEDDLE_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return remember(cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode)));
}

HEDDLE_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return remember(cuStreamEndCapture(stream, graph));
}

HEDDLE_EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return remember(cuStreamIsCapturing(stream, plain(status)));
}

/// That of CUDA 12 has three arguments, that of 13 more; what they give is left as it is.
HEDDLE_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  cuuint64_t number = 0;
  const CUresult result = cuStreamGetCaptureInfo(stream, plain(status), &number, nullptr, nullptr, nullptr, nullptr);
  if (id) *id = number;
  return remember(result);
}

HEDDLE_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id);
}

HEDDLE_EXPORT cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id);
}

HEDDLE_EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, std::size_t count,
                                                 const cudaKernelNodeParams* said) {
  const CUDA_KERNEL_NODE_PARAMS what = node_of(*said);
  return remember(cuGraphAddKernelNode(node, graph, before, count, &what));
}

HEDDLE_EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* said) {
  const CUDA_KERNEL_NODE_PARAMS what = node_of(*said);
  return remember(cuGraphKernelNodeSetParams(node, &what));
}

HEDDLE_EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t graph, cudaGraphNode_t node, const cudaKernelNodeParams* said) {
  const CUDA_KERNEL_NODE_PARAMS what = node_of(*said);
  return remember(cuGraphExecKernelNodeSetParams(graph, node, &what));
}

/// That of CUDA 12 has no data of edges, so that its last arguments stand one place before those of 13.
HEDDLE_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, void* a, void* b,
                                           void* c) {
  const bool old = heddle::ptx::capture::runtime_version() == 12;
  return add(node, graph, before, reinterpret_cast<std::size_t>(old ? a : b), static_cast<cudaGraphNodeParams*>(old ? b : c));
}

HEDDLE_EXPORT cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* before, const void*,
                                              std::size_t count, cudaGraphNodeParams* said) {
  return add(node, graph, before, count, said);
}
