// The runtime about memory: what the driver has under another name, and copies that say in which direction they go.
#include <cstdint>
#include <cstring>

#include "ptx/capture/runtime.h"

namespace {

using heddle::ptx::capture::remember;

CUdeviceptr device(const void* at) { return reinterpret_cast<CUdeviceptr>(at); }
CUdeviceptr* device(void** to) { return reinterpret_cast<CUdeviceptr*>(to); }

CUresult copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost: std::memmove(to, from, bytes); return CUDA_SUCCESS;
    case cudaMemcpyHostToDevice: return cuMemcpyHtoD(device(to), from, bytes);
    case cudaMemcpyDeviceToHost: return cuMemcpyDtoH(to, device(from), bytes);
    case cudaMemcpyDeviceToDevice: return cuMemcpyDtoD(device(to), device(from), bytes);
    default: return cuMemcpy(device(to), device(from), bytes);
  }
}

cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes, std::size_t rows,
                      cudaMemcpyKind kind) {
  CUresult result = CUDA_SUCCESS;
  for (std::size_t row = 0; row < rows && result == CUDA_SUCCESS; ++row)
    result = copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, bytes, kind);
  return remember(result);
}

}  // namespace

HEDDLE_EXPORT cudaError_t cudaMalloc(void** to, std::size_t bytes) {
  *to = nullptr;
  return bytes == 0 ? cudaSuccess : remember(cuMemAlloc(device(to), bytes));
}

HEDDLE_EXPORT cudaError_t cudaMallocAsync(void** to, std::size_t bytes, cudaStream_t) { return cudaMalloc(to, bytes); }

HEDDLE_EXPORT cudaError_t cudaMallocFromPoolAsync(void** to, std::size_t bytes, cudaMemPool_t, cudaStream_t) {
  return cudaMalloc(to, bytes);
}

HEDDLE_EXPORT cudaError_t cudaMallocPitch(void** to, std::size_t* pitch, std::size_t width, std::size_t height) {
  return remember(cuMemAllocPitch(device(to), pitch, width, height, 16));
}

HEDDLE_EXPORT cudaError_t cudaMallocManaged(void** to, std::size_t bytes, unsigned flags) {
  return remember(cuMemAllocManaged(device(to), bytes, flags));
}

HEDDLE_EXPORT cudaError_t cudaMallocHost(void** to, std::size_t bytes) { return remember(cuMemAllocHost(to, bytes)); }

HEDDLE_EXPORT cudaError_t cudaHostAlloc(void** to, std::size_t bytes, unsigned flags) { return remember(cuMemHostAlloc(to, bytes, flags)); }

HEDDLE_EXPORT cudaError_t cudaHostRegister(void* at, std::size_t bytes, unsigned flags) {
  return remember(cuMemHostRegister(at, bytes, flags));
}

HEDDLE_EXPORT cudaError_t cudaHostUnregister(void* at) { return remember(cuMemHostUnregister(at)); }

HEDDLE_EXPORT cudaError_t cudaHostGetDevicePointer(void** to, void* at, unsigned flags) {
  return remember(cuMemHostGetDevicePointer(device(to), at, flags));
}

HEDDLE_EXPORT cudaError_t cudaFree(void* at) { return at ? remember(cuMemFree(device(at))) : cudaSuccess; }

HEDDLE_EXPORT cudaError_t cudaFreeAsync(void* at, cudaStream_t) { return cudaFree(at); }

HEDDLE_EXPORT cudaError_t cudaFreeHost(void* at) { return at ? remember(cuMemFreeHost(at)) : cudaSuccess; }

HEDDLE_EXPORT cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return remember(copy(to, from, bytes, kind));
}

HEDDLE_EXPORT cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return remember(copy(to, from, bytes, kind));
}

HEDDLE_EXPORT cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                                       std::size_t rows, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, bytes, rows, kind);
}

HEDDLE_EXPORT cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                                            std::size_t rows, cudaMemcpyKind kind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, bytes, rows, kind);
}

HEDDLE_EXPORT cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return remember(cuMemsetD8(device(to), static_cast<unsigned char>(value), bytes));
}

HEDDLE_EXPORT cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) { return cudaMemset(to, value, bytes); }

HEDDLE_EXPORT cudaError_t cudaMemGetInfo(std::size_t* unused, std::size_t* total) { return remember(cuMemGetInfo(unused, total)); }

HEDDLE_EXPORT cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  std::memset(attributes, 0, sizeof *attributes);
  unsigned type = 0;
  const bool known = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device(at)) == CUDA_SUCCESS;
  const bool on_device = known && type == CU_MEMORYTYPE_DEVICE;
  attributes->type = !known ? cudaMemoryTypeUnregistered : on_device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->devicePointer = known ? const_cast<void*>(at) : nullptr;
  attributes->hostPointer = on_device ? nullptr : const_cast<void*>(at);
  return cudaSuccess;
}
