// The CUDA driver, opened at run time: the few of its functions that running a kernel takes, declared here as its documentation
// has them, so that the program builds and starts on a machine with neither driver nor CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace heddle::codegen::cuda {

using Device = int;
using Memory = std::uint64_t;  ///< CUdeviceptr
using Context = struct OpaqueContext*;
using Module = struct OpaqueModule*;
using Function = struct OpaqueFunction*;
using Stream = struct OpaqueStream*;
using Event = struct OpaqueEvent*;

/// CUtensorMap.
struct alignas(128) TensorMap {
  std::uint64_t opaque[16];
};

struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*driver_version)(int*) = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_get)(Device*, int) = nullptr;
  int (*device_name)(char*, int, Device) = nullptr;
  int (*device_attribute)(int*, int, Device) = nullptr;
  int (*device_memory)(std::size_t*, Device) = nullptr;
  int (*retain_context)(Context*, Device) = nullptr;
  int (*set_context)(Context) = nullptr;
  int (*synchronize)() = nullptr;
  int (*load_module)(Module*, const void*) = nullptr;
  int (*get_function)(Function*, Module, const char*) = nullptr;
  int (*set_function_attribute)(Function, int, int) = nullptr;
  int (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**) = nullptr;
  int (*allocate)(Memory*, std::size_t) = nullptr;
  int (*release)(Memory) = nullptr;
  int (*upload)(Memory, const void*, std::size_t) = nullptr;
  int (*download)(void*, Memory, std::size_t) = nullptr;
  int (*copy)(Memory, Memory, std::size_t) = nullptr;
  int (*fill)(Memory, unsigned char, std::size_t) = nullptr;
  int (*create_stream)(Stream*, unsigned) = nullptr;
  int (*create_event)(Event*, unsigned) = nullptr;
  int (*record_event)(Event, Stream) = nullptr;
  int (*synchronize_event)(Event) = nullptr;
  int (*elapsed)(float*, Event, Event) = nullptr;  ///< milliseconds
  int (*error_name)(int, const char**) = nullptr;
  int (*error_text)(int, const char**) = nullptr;
  int (*encode_map)(TensorMap*, int type, unsigned rank, void* address, const std::uint64_t* extents, const std::uint64_t* strides,
                    const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int promotion, int fill) = nullptr;

  /// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
  std::string error(int code) const;
};

// Attributes and values of cuda.h.
inline constexpr int kClockRate = 13, kSms = 16, kL2Bytes = 38, kMajor = 75, kMinor = 76;
inline constexpr int kMaxDynamicShared = 8;
inline constexpr int kOutOfMemory = 2;
inline constexpr int kMapU8 = 0, kMapI32 = 3, kMapF16 = 6, kMapF32 = 7, kMapBf16 = 9;
inline constexpr int kMapSwizzle32 = 1, kMapSwizzle64 = 2, kMapSwizzle128 = 3, kMapPromotion256 = 3;

/// HEDDLE_CUDA_DRIVER names the library, else libcuda.so.1. An environment error that says what is missing.
Result<Driver> open_driver();

}  // namespace heddle::codegen::cuda
