// The runtime about the device, errors, and the driver below it.
#include <dlfcn.h>

#include <cstring>
#include <iterator>

#include "ptx/capture/runtime.h"

namespace {

namespace capture = heddle::ptx::capture;
using capture::remember;

thread_local cudaError_t last_error = cudaSuccess;

int attribute(CUdevice_attribute which) {
  int value = 0;
  cuDeviceGetAttribute(&value, which, 0);
  return value;
}

void fill(cudaDeviceProp& p) {
  cuDeviceGetName(p.name, sizeof p.name, 0);
  cuDeviceTotalMem(&p.totalGlobalMem, 0);
  p.sharedMemPerBlock = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  p.regsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.warpSize = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p.maxThreadsPerBlock = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  for (int k = 0; k < 3; ++k) {
    p.maxThreadsDim[k] = attribute(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + k));
    p.maxGridSize[k] = attribute(static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + k));
  }
  p.totalConstMem = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
  p.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  p.multiProcessorCount = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.concurrentManagedAccess = 1;
  p.cooperativeLaunch = p.streamPrioritiesSupported = p.memoryPoolsSupported = 1;
  p.clusterLaunch = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  p.l2CacheSize = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  p.memoryBusWidth = attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  p.maxThreadsPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.maxBlocksPerMultiProcessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  p.regsPerMultiprocessor = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
}

}  // namespace

cudaError_t capture::remember(CUresult result) {
  const auto error = static_cast<cudaError_t>(result);
  if (error != cudaSuccess) last_error = error;
  return error;
}

int capture::runtime_version() {
  static const int version = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(&capture::runtime_version), &info);
    return info.dli_fname && std::strstr(info.dli_fname, ".so.12") ? 12 : 13;
  }();
  return version;
}

HEDDLE_EXPORT cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

HEDDLE_EXPORT cudaError_t cudaPeekAtLastError() { return last_error; }

HEDDLE_EXPORT const char* cudaGetErrorString(cudaError_t error) {
  const char* text = nullptr;
  cuGetErrorString(static_cast<CUresult>(error), &text);
  return text ? text : "an error that heddle capture has no words for";
}

HEDDLE_EXPORT const char* cudaGetErrorName(cudaError_t error) {
  const char* name = nullptr;
  cuGetErrorName(static_cast<CUresult>(error), &name);
  return name ? name : "cudaErrorUnknown";
}

HEDDLE_EXPORT cudaError_t cudaDriverGetVersion(int* version) { return remember(cuDriverGetVersion(version)); }

HEDDLE_EXPORT cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = capture::runtime_version() == 12 ? 12090 : CUDA_VERSION;
  return cudaSuccess;
}

HEDDLE_EXPORT cudaError_t cudaGetDeviceCount(int* count) { return remember(cuDeviceGetCount(count)); }

HEDDLE_EXPORT cudaError_t cudaSetDevice(int device) {
  CUdevice here = 0;
  return remember(cuDeviceGet(&here, device));
}

HEDDLE_EXPORT cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int device) {
  *value = attribute(static_cast<CUdevice_attribute>(which));  // the same numbers
  return cudaSetDevice(device);
}

HEDDLE_EXPORT cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (const cudaError_t result = cudaSetDevice(device); result != cudaSuccess) return result;
  std::memset(properties, 0, sizeof *properties);
  fill(*properties);
  return cudaSuccess;
}

/// Programs of CUDA 12 have this one, with a struct that lies otherwise from its clock rate on; what is not set here is 0.
HEDDLE_EXPORT cudaError_t cudaGetDeviceProperties_v2(char* properties, int device) {
  constexpr std::size_t kBytes = 1032, kAlike = offsetof(cudaDeviceProp, maxGridSize) + sizeof(int[3]);
  cudaDeviceProp now;
  if (const cudaError_t result = cudaGetDeviceProperties(&now, device); result != cudaSuccess) return result;
  std::memset(properties, 0, kBytes);
  std::memcpy(properties, &now, kAlike);
  const auto set = [&](std::size_t at, auto value) { std::memcpy(properties + at, &value, sizeof value); };
  set(348, attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  set(352, now.totalConstMem);
  set(360, now.major);
  set(364, now.minor);
  set(388, now.multiProcessorCount);
  set(604, now.unifiedAddressing);
  set(616, now.l2CacheSize);
  set(624, now.maxThreadsPerMultiProcessor);
  set(640, now.sharedMemPerMultiprocessor);
  set(648, now.regsPerMultiprocessor);
  set(688, now.cooperativeLaunch);
  set(696, now.sharedMemPerBlockOptin);
  return cudaSuccess;
}

HEDDLE_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return remember(cuCtxGetStreamPriorityRange(least, greatest));
}

HEDDLE_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** to, unsigned version, unsigned long long flags,
                                                           cudaDriverEntryPointQueryResult* status) {
  CUdriverProcAddressQueryResult answer{};
  const CUresult result = cuGetProcAddress(name, to, static_cast<int>(version), flags, &answer);
  if (status) *status = static_cast<cudaDriverEntryPointQueryResult>(answer);
  return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : remember(result);
}

HEDDLE_EXPORT cudaError_t cudaGetDriverEntryPoint(const char* name, void** to, unsigned long long flags,
                                                  cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, to, CUDA_VERSION, flags, status);
}

HEDDLE_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) {
  function(data);
  return cudaSuccess;
}
