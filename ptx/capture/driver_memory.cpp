// The driver about memory: where there is no device, addresses are made up, and what the host copies there is kept as far as launches need
// it.
#include <cuda.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/record.h"
#include "ptx/capture/target.h"

namespace {

namespace capture = heddle::ptx::capture;
using capture::CapturedMemory;
using capture::CaptureRecord;

template <class F>
auto memory(const F& use) {
  return CaptureRecord::get().memory(use);
}

/// Device memory: the real driver's `result`, or a made-up address.
CUresult allocated(CUdeviceptr* to, std::size_t bytes, bool real, CUresult result) {
  if (bytes == 0 && !real) return CUDA_ERROR_INVALID_VALUE;
  if (result != CUDA_SUCCESS) return result;
  memory([&](CapturedMemory& m) {
    if (!real) *to = m.new_address(bytes);
    m.add(*to, bytes);
  });
  return CUDA_SUCCESS;
}

/// Memory that the host sees too.
CUresult shared(void** to, std::size_t bytes, bool real, CUresult result) {
  if (result != CUDA_SUCCESS) return result;
  if (!real) {
    if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *to = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (*to == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memory([&](CapturedMemory& m) { m.add_host(*to, bytes); });
  return CUDA_SUCCESS;
}

void forget(std::uint64_t address, bool real) {
  memory([&](CapturedMemory& m) {
    const auto [begin, bytes] = m.piece(address);
    if (!real && bytes > 0 && begin == address && m.is_host(address)) munmap(reinterpret_cast<void*>(address), bytes);
    m.remove(address);
  });
}

CUresult to_device(CUdeviceptr to, const void* from, std::size_t bytes) {
  memory([&](CapturedMemory& m) {
    if (m.is_host(to) && !HEDDLE_REAL(cuMemcpyHtoD)) std::memmove(reinterpret_cast<void*>(to), from, bytes);
    m.write(to, from, bytes);
  });
  return CUDA_SUCCESS;
}

CUresult to_host(void* to, CUdeviceptr from, std::size_t bytes) {
  memory([&](CapturedMemory& m) { m.read(to, from, bytes); });
  return CUDA_SUCCESS;
}

CUresult between(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  memory([&](CapturedMemory& m) { m.copy(to, from, bytes); });
  return CUDA_SUCCESS;
}

/// Whichever the addresses are: one that was not allocated here is the host's.
CUresult copied(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  const auto is_device = [](CUdeviceptr at) { return memory([&](CapturedMemory& m) { return m.piece(at).second > 0 && !m.is_host(at); }); };
  if (is_device(to)) return is_device(from) ? between(to, from, bytes) : to_device(to, reinterpret_cast<const void*>(from), bytes);
  if (HEDDLE_REAL(cuMemcpy)) return CUDA_SUCCESS;
  if (is_device(from)) return to_host(reinterpret_cast<void*>(to), from, bytes);
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return CUDA_SUCCESS;
}

template <class T>
CUresult filled(CUdeviceptr to, T value, std::size_t count) {
  memory([&](CapturedMemory& m) {
    if (m.is_host(to) && !HEDDLE_REAL(cuMemsetD8)) std::fill_n(reinterpret_cast<T*>(to), count, value);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&value);
    if (std::all_of(bytes, bytes + sizeof value, [&](std::uint8_t byte) { return byte == bytes[0]; }))
      m.fill(to, bytes[0], count * sizeof value);
    else if (const std::vector<T> same(std::min<std::size_t>(count, 1 << 16), value); !same.empty())
      m.write(to, same.data(), same.size() * sizeof value);
  });
  return CUDA_SUCCESS;
}

}  // namespace

// A function that says to the real driver what it was told, and does `note` if that has worked or there is none.
#define HEDDLE_NOTED(function, parameters, arguments, note)                              \
  HEDDLE_EXPORT CUresult function parameters {                                           \
    if (const auto real = HEDDLE_REAL(function))                                         \
      if (const CUresult result = real arguments; result != CUDA_SUCCESS) return result; \
    return note;                                                                         \
  }
// The same for one that gives memory.
#define HEDDLE_ALLOCATES(function, parameters, arguments, how, to, bytes)         \
  HEDDLE_EXPORT CUresult function parameters {                                    \
    const auto real = HEDDLE_REAL(function);                                      \
    return how(to, bytes, real != nullptr, real ? real arguments : CUDA_SUCCESS); \
  }

HEDDLE_ALLOCATES(cuMemAlloc, (CUdeviceptr * to, std::size_t bytes), (to, bytes), allocated, to, bytes)
HEDDLE_ALLOCATES(cuMemAllocAsync, (CUdeviceptr * to, std::size_t bytes, CUstream stream), (to, bytes, stream), allocated, to, bytes)
HEDDLE_ALLOCATES(cuMemAllocFromPoolAsync, (CUdeviceptr * to, std::size_t bytes, CUmemoryPool pool, CUstream stream),
                 (to, bytes, pool, stream), allocated, to, bytes)
HEDDLE_ALLOCATES(cuMemAllocHost, (void** to, std::size_t bytes), (to, bytes), shared, to, bytes)
HEDDLE_ALLOCATES(cuMemHostAlloc, (void** to, std::size_t bytes, unsigned flags), (to, bytes, flags), shared, to, bytes)
HEDDLE_ALLOCATES(cuMemAllocManaged, (CUdeviceptr * to, std::size_t bytes, unsigned flags), (to, bytes, flags), shared,
                 reinterpret_cast<void**>(to), bytes)

HEDDLE_EXPORT CUresult cuMemAllocPitch(CUdeviceptr* to, std::size_t* pitch, std::size_t width, std::size_t height, unsigned element) {
  const auto real = HEDDLE_REAL(cuMemAllocPitch);
  const CUresult result = real ? real(to, pitch, width, height, element) : CUDA_SUCCESS;
  if (!real) *pitch = (width + 511) / 512 * 512;
  return allocated(to, result == CUDA_SUCCESS ? *pitch * height : 0, real != nullptr, result);
}

#define HEDDLE_FREES(function, parameters, arguments, address) \
  HEDDLE_EXPORT CUresult function parameters {                 \
    const auto real = HEDDLE_REAL(function);                   \
    forget(address, real != nullptr);                          \
    return real ? real arguments : CUDA_SUCCESS;               \
  }

HEDDLE_FREES(cuMemFree, (CUdeviceptr at), (at), at)
HEDDLE_FREES(cuMemFreeAsync, (CUdeviceptr at, CUstream stream), (at, stream), at)
HEDDLE_FREES(cuMemFreeHost, (void* at), (at), reinterpret_cast<std::uint64_t>(at))

HEDDLE_EXPORT CUresult cuMemHostRegister(void* at, std::size_t bytes, unsigned flags) {
  const auto real = HEDDLE_REAL(cuMemHostRegister);
  if (const CUresult result = real ? real(at, bytes, flags) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  memory([&](CapturedMemory& m) { m.add_host(at, bytes); });
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuMemHostUnregister(void* at) {
  memory([&](CapturedMemory& m) { m.remove(reinterpret_cast<std::uint64_t>(at)); });
  HEDDLE_PASS(cuMemHostUnregister, at);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuMemHostGetDevicePointer(CUdeviceptr* to, void* at, unsigned flags) {
  HEDDLE_PASS(cuMemHostGetDevicePointer, to, at, flags);
  *to = reinterpret_cast<CUdeviceptr>(at);
  return CUDA_SUCCESS;
}

HEDDLE_NOTED(cuMemcpyHtoD, (CUdeviceptr to, const void* from, std::size_t bytes), (to, from, bytes), to_device(to, from, bytes))
HEDDLE_NOTED(cuMemcpyHtoDAsync, (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream), (to, from, bytes, stream),
             to_device(to, from, bytes))
HEDDLE_NOTED(cuMemcpyDtoD, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes), between(to, from, bytes))
HEDDLE_NOTED(cuMemcpyDtoDAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), (to, from, bytes, stream),
             between(to, from, bytes))
HEDDLE_NOTED(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes), (to, from, bytes), copied(to, from, bytes))
HEDDLE_NOTED(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream), (to, from, bytes, stream),
             copied(to, from, bytes))
HEDDLE_NOTED(cuMemsetD8, (CUdeviceptr to, unsigned char value, std::size_t count), (to, value, count), filled(to, value, count))
HEDDLE_NOTED(cuMemsetD16, (CUdeviceptr to, unsigned short value, std::size_t count), (to, value, count), filled(to, value, count))
HEDDLE_NOTED(cuMemsetD32, (CUdeviceptr to, unsigned value, std::size_t count), (to, value, count), filled(to, value, count))
HEDDLE_NOTED(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream), (to, value, count, stream),
             filled(to, value, count))
HEDDLE_NOTED(cuMemsetD16Async, (CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream), (to, value, count, stream),
             filled(to, value, count))
HEDDLE_NOTED(cuMemsetD32Async, (CUdeviceptr to, unsigned value, std::size_t count, CUstream stream), (to, value, count, stream),
             filled(to, value, count))

HEDDLE_EXPORT CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  HEDDLE_PASS(cuMemcpyDtoH, to, from, bytes);
  return to_host(to, from, bytes);
}

HEDDLE_EXPORT CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  HEDDLE_PASS(cuMemcpyDtoHAsync, to, from, bytes, stream);
  return to_host(to, from, bytes);
}

HEDDLE_EXPORT CUresult cuMemGetInfo(std::size_t* unused, std::size_t* total) {
  HEDDLE_PASS(cuMemGetInfo, unused, total);
  *unused = *total = capture::device().memory;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr at) {
  HEDDLE_PASS(cuMemGetAddressRange, begin, bytes, at);
  const auto piece = memory([&](CapturedMemory& m) { return m.piece(at); });
  if (begin) *begin = piece.first;
  if (bytes) *bytes = piece.second;
  return piece.second > 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

HEDDLE_EXPORT CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr at) {
  HEDDLE_PASS(cuPointerGetAttribute, value, attribute, at);
  const auto [begin, bytes] = memory([&](CapturedMemory& m) { return m.piece(at); });
  const bool host = memory([&](CapturedMemory& m) { return m.is_host(at); });
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<unsigned*>(value) = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; break;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: *static_cast<CUdeviceptr*>(value) = at; break;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<CUdeviceptr*>(value) = begin; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<std::size_t*>(value) = bytes; break;
    case CU_POINTER_ATTRIBUTE_CONTEXT: return cuCtxGetCurrent(static_cast<CUcontext*>(value));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: *static_cast<unsigned char*>(value) = 0; break;
    default: return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr at) {
  HEDDLE_PASS(cuPointerGetAttributes, count, attributes, values, at);
  for (unsigned k = 0; k < count; ++k) cuPointerGetAttribute(values[k], attributes[k], at);
  return CUDA_SUCCESS;
}
