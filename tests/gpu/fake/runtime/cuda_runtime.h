// The few calls of the CUDA runtime that a package and its example make, on the fake driver that HEDDLE_CUDA_DRIVER names. The kernel is
// the one in the file that HEDDLE_FAKE_CUBIN names. HEDDLE_FAKE_RUNTIME=old: the driver makes no tensor maps.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#define CUDART_VERSION 13000

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorUnknown = 999
};
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDriverEntryPointQueryResult { cudaDriverEntryPointSuccess = 0, cudaDriverEntryPointSymbolNotFound = 1 };
constexpr unsigned long long cudaEnableDefault = 0;

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

namespace fake_runtime {

inline void* function(const char* name) {
  static void* const driver = ::dlopen(std::getenv("HEDDLE_CUDA_DRIVER"), RTLD_NOW | RTLD_LOCAL);
  return driver ? ::dlsym(driver, name) : nullptr;
}

template <class... A>
cudaError_t call(const char* name, A... arguments) {
  auto* const of_driver = reinterpret_cast<int (*)(A...)>(function(name));
  return of_driver ? static_cast<cudaError_t>(of_driver(arguments...)) : cudaErrorUnknown;
}

inline void* kernel() {
  static void* const loaded = [] {
    void *module = nullptr, *entry = nullptr;
    const char* path = std::getenv("HEDDLE_FAKE_CUBIN");
    std::ifstream file(path ? path : "", std::ios::binary);
    const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
    if (image.empty() || call("cuModuleLoadData", &module, static_cast<const void*>(image.data())) != cudaSuccess) return entry;
    call("cuModuleGetFunction", &entry, module, "heddle_kernel");
    return entry;
  }();
  return loaded;
}

}  // namespace fake_runtime

inline const char* cudaGetErrorString(cudaError_t) { return "the fake runtime says no"; }
inline const char* cudaGetErrorName(cudaError_t) { return "cudaErrorFake"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return fake_runtime::call("cuDeviceGetAttribute", value, static_cast<int>(attribute), device);
}
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** found, unsigned, unsigned long long,
                                                    cudaDriverEntryPointQueryResult* result) {
  const char* mode = std::getenv("HEDDLE_FAKE_RUNTIME");
  *found = mode && std::strcmp(mode, "old") == 0 ? nullptr : fake_runtime::function(name);
  *result = *found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute attribute, int value) {
  if (!fake_runtime::kernel()) return cudaErrorNoKernelImageForDevice;
  return fake_runtime::call("cuFuncSetAttribute", fake_runtime::kernel(), static_cast<int>(attribute), value);
}
inline cudaError_t cudaLaunchKernel(const void*, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t stream) {
  return fake_runtime::call("cuLaunchKernel", fake_runtime::kernel(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
                            static_cast<unsigned>(shared), static_cast<void*>(stream), arguments, static_cast<void**>(nullptr));
}
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return fake_runtime::call("cuMemAlloc_v2", reinterpret_cast<std::uint64_t*>(memory), bytes);
}
inline cudaError_t cudaFree(void* memory) { return fake_runtime::call("cuMemFree_v2", reinterpret_cast<std::uint64_t>(memory)); }
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyHostToDevice) return fake_runtime::call("cuMemcpyHtoD_v2", reinterpret_cast<std::uint64_t>(to), from, bytes);
  return fake_runtime::call("cuMemcpyDtoH_v2", to, reinterpret_cast<std::uint64_t>(from), bytes);
}
inline cudaError_t cudaDeviceSynchronize() { return fake_runtime::call("cuCtxSynchronize"); }
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return fake_runtime::call("cuEventCreate", reinterpret_cast<void**>(event), 0u); }
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return fake_runtime::call("cuEventRecord", static_cast<void*>(event), static_cast<void*>(stream));
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t event) { return fake_runtime::call("cuEventSynchronize", static_cast<void*>(event)); }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  return fake_runtime::call("cuEventElapsedTime", milliseconds, static_cast<void*>(begin), static_cast<void*>(end));
}
