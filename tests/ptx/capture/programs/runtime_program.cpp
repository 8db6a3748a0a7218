// What nvcc makes of a program with two kernels, written by hand for the host compiler: a fat binary with texts for two architectures, the
// calls that register it, and launches by the addresses of stubs. With an argument it launches in other ways: streams, devices.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace {

const char kOld[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry work(.param .u64 a, .param .u32 n)\n{ // old\n ret;\n}\n";
const char kNew[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry work(.param .u64 a, .param .u32 n)\n{ // new\n ret;\n}\n";

struct Header {
  std::uint32_t magic = 0xba55ed50;
  std::uint16_t version = 1, header_bytes = 16;
  std::uint64_t bytes = 0;
};
struct Part {
  std::uint16_t kind = 1, version = 0x101;
  std::uint32_t header_bytes = 64;
  std::uint64_t bytes = 0;
  std::uint32_t packed_bytes = 0, options = 0;
  std::uint16_t minor = 0, major = 8;
  std::uint32_t arch = 0, name = 0, name_bytes = 0;
  std::uint64_t flags = 0x11, zero = 0, unpacked_bytes = 0;
};
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  const void* more = nullptr;
};

std::string fat_binary() {
  std::string parts;
  for (const auto& [text, arch] : {std::pair(std::string(kOld), 80u), std::pair(std::string(kNew), 90u)}) {
    Part part;
    part.bytes = (text.size() + 8) / 8 * 8;
    part.arch = arch;
    parts.append(reinterpret_cast<const char*>(&part), sizeof part);
    parts += text + std::string(part.bytes - text.size(), '\0');
  }
  Header header;
  header.bytes = parts.size();
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + parts;
}

void work_stub() {}
void missing_stub() {}

}  // namespace

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, void*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
}

namespace {

void expect(bool done, const char* what) {
  if (done) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(6);
}

/// A cooperative launch, one with attributes, one that is recorded on a stream, and one in a graph made by hand.
void launch_on_streams(const char* work, void** arguments) {
  cudaStream_t stream = nullptr, other = nullptr;
  cudaEvent_t event = nullptr;
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess && cudaStreamCreate(&other) == cudaSuccess, "streams");
  expect(cudaEventCreate(&event) == cudaSuccess && cudaEventRecord(event, stream) == cudaSuccess, "event");
  expect(cudaStreamWaitEvent(other, event, 0) == cudaSuccess, "wait");
  expect(cudaLaunchCooperativeKernel(work, dim3{10, 1, 1}, dim3{32, 1, 1}, arguments, 0, stream) == cudaSuccess, "cooperative");

  cudaLaunchAttribute attributes[3]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[2].id = cudaLaunchAttributeClusterDimension;
  attributes[2].val.clusterDim.x = 2;
  attributes[2].val.clusterDim.y = attributes[2].val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{12, 1, 1};
  config.blockDim = dim3{32, 1, 1};
  config.stream = other;
  config.attrs = attributes;
  config.numAttrs = 3;
  expect(cudaLaunchKernelExC(&config, work, arguments) == cudaSuccess, "attributes");

  const auto recorded = [&] {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusInvalidated;
    expect(cudaStreamIsCapturing(stream, &status) == cudaSuccess, "status");
    return status == cudaStreamCaptureStatusActive;
  };
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  expect(!recorded() && cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess && recorded(), "begin");
  expect(cudaLaunchKernel(work, dim3{14, 1, 1}, dim3{32, 1, 1}, arguments, 0, stream) == cudaSuccess, "recorded");
  expect(cudaStreamEndCapture(stream, &graph) == cudaSuccess && !recorded(), "end");
  expect(cudaStreamEndCapture(stream, &graph) != cudaSuccess, "ends twice");

  cudaKernelNodeParams node{};
  node.func = const_cast<char*>(work);
  node.gridDim = dim3{16, 1, 1};
  node.blockDim = dim3{32, 1, 1};
  node.kernelParams = arguments;
  cudaGraphNode_t added = nullptr;
  expect(cudaGraphAddKernelNode(&added, graph, nullptr, 0, &node) == cudaSuccess, "node");
  cudaGraphNodeParams any{};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = const_cast<char*>(work);
  any.kernel.gridDim = dim3{18, 1, 1};
  any.kernel.blockDim = dim3{32, 1, 1};
  any.kernel.kernelParams = arguments;
  expect(cudaGraphAddNode(&added, graph, nullptr, nullptr, 0, &any) == cudaSuccess, "any node");
  expect(cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess && cudaGraphLaunch(ready, stream) == cudaSuccess, "graph");
}

/// By what the second device says that it is.
void ask_for_second_device() {
  cudaDeviceProp properties;
  std::printf("%s, %s\n", cudaGetErrorString(cudaSetDevice(1)), cudaGetErrorName(cudaGetDeviceProperties(&properties, 1)));
}

}  // namespace

int main(int count, char** words) {
  static const std::string image = fat_binary();
  static Wrapper wrapper;
  wrapper.data = image.data();
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  const auto* work = reinterpret_cast<const char*>(&work_stub);
  const auto* missing = reinterpret_cast<const char*>(&missing_stub);
  __cudaRegisterFunction(handle, work, nullptr, "work", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFunction(handle, missing, nullptr, "missing", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);

  int* memory = nullptr;
  cudaMalloc(reinterpret_cast<void**>(&memory), 64);
  cudaMemset(memory, 0, 64);
  unsigned size = 16;
  void* arguments[] = {&memory, &size};
  if (count > 1 && std::string(words[1]) == "streams") return launch_on_streams(work, arguments), 0;
  if (count > 1 && std::string(words[1]) == "devices") return ask_for_second_device(), 0;
  dim3 grid, block;  // work<<<3, 128, 512>>>(memory, 16)
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  __cudaPushCallConfiguration(dim3{3, 1, 1}, dim3{128, 1, 1}, 512, nullptr);
  __cudaPopCallConfiguration(&grid, &block, &shared, &stream);
  if (cudaLaunchKernel(work, grid, block, arguments, shared, stream) != cudaSuccess) return 3;

  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = 2;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3{4, 1, 1};
  config.blockDim = dim3{64, 1, 1};
  config.attrs = &attribute;
  config.numAttrs = 1;
  if (cudaLaunchKernelExC(&config, work, arguments) != cudaSuccess) return 4;

  if (cudaLaunchKernel(missing, grid, block, arguments, 0, nullptr) == cudaSuccess) return 5;
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  std::printf("%s, %d.%d, %zu bytes\n", properties.name, properties.major, properties.minor, properties.sharedMemPerBlockOptin);
  int result = 5;
  cudaMemcpy(&result, memory, sizeof result, cudaMemcpyDeviceToHost);
  return result;
}
