// The driver about modules, kernels, tensor maps and launches, which is what gets written down.
#include <cuda.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/record.h"

namespace {

namespace capture = heddle::ptx::capture;
using capture::CaptureRecord;
using capture::LaunchCall;

template <class Handle>
CUresult loaded(Handle* to, const void* image, bool real, CUresult result) {
  if (result != CUDA_SUCCESS) return result;
  if (!real) *to = static_cast<Handle>(capture::new_handle());
  CaptureRecord::get().add_module(*to, CaptureRecord::get().read_module(image));
  return CUDA_SUCCESS;
}

/// Of a file that ends with a NUL here, for the sake of texts.
std::string file_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class Handle>
CUresult loaded_file(Handle* to, const char* path, bool real, CUresult result) {
  const std::string text = file_text(path);
  if (text.size() < 4 && result == CUDA_SUCCESS) return CUDA_ERROR_FILE_NOT_FOUND;
  return loaded(to, text.c_str(), real, result);
}

template <class Handle>
CUresult found(Handle* to, const void* module, const char* name, bool real, CUresult result) {
  if (result != CUDA_SUCCESS) return result;
  const void* handle = CaptureRecord::get().add_kernel(real ? *to : nullptr, name, CaptureRecord::get().module(module));
  if (!handle && !real) return CUDA_ERROR_NOT_FOUND;
  if (!real) *to = static_cast<Handle>(const_cast<void*>(handle));
  return CUDA_SUCCESS;
}

CUresult name_of(const char** name, CUfunction kernel) {
  const auto real = HEDDLE_REAL(cuFuncGetName);
  return real ? real(name, kernel) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult name_of(const char** name, CUkernel kernel) {
  const auto real = HEDDLE_REAL(cuKernelGetName);
  return real ? real(name, kernel) : CUDA_ERROR_NOT_SUPPORTED;
}

/// All kernels of a module; those of the real driver are asked for their names.
template <class Handle>
CUresult listed(Handle* to, unsigned most, const void* module, bool real) {
  const auto known = CaptureRecord::get().module(module);
  if (!known) return real ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  for (unsigned k = 0; k < most && k < known->kernels.size(); ++k) {
    const char* name = known->kernels[k].c_str();
    if (!real || (to[k] && name_of(&name, to[k]) == CUDA_SUCCESS)) found(&to[k], module, name, real, CUDA_SUCCESS);
  }
  return CUDA_SUCCESS;
}

LaunchCall call_of(const CUlaunchConfig& config, void** parameters, void** extra) {
  LaunchCall call{{config.gridDimX, config.gridDimY, config.gridDimZ},
                  {0, 0, 0},
                  {config.blockDimX, config.blockDimY, config.blockDimZ},
                  config.sharedMemBytes,
                  parameters,
                  extra};
  for (unsigned k = 0; k < config.numAttrs; ++k)
    if (const CUlaunchAttribute& each = config.attrs[k]; each.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      call.cluster = {each.value.clusterDim.x, each.value.clusterDim.y, each.value.clusterDim.z};
  return call;
}

std::array<std::uint8_t, 128>& bytes_of(CUtensorMap* map) { return *reinterpret_cast<std::array<std::uint8_t, 128>*>(map); }

template <class T>
std::vector<T> list(const T* from, std::size_t count) {
  return from ? std::vector<T>(from, from + count) : std::vector<T>();
}

/// What all kinds of maps say. Swizzles of cuda.h: none, 32, 64, 128, then 128 with atoms of 32 bytes, 32 flipped, 64.
heddle::ptx::TensorMap map_of(CUtensorMapDataType type, unsigned rank, void* address, const cuuint64_t* extents, const cuuint64_t* strides,
                              const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle) {
  static constexpr int kSwizzles[] = {0, 32, 64, 128, 128, 128, 128}, kAtoms[] = {16, 16, 16, 16, 32, 32, 64};
  heddle::ptx::TensorMap map;
  map.element = static_cast<heddle::ptx::MapElement>(std::min<unsigned>(type, 15));
  map.address = reinterpret_cast<std::uint64_t>(address);
  for (const auto extent : list(extents, rank)) map.extents.push_back(extent);
  for (const auto stride : list(strides, rank - 1)) map.strides.push_back(stride);
  map.steps = list(steps, rank);
  const auto pattern = static_cast<unsigned>(swizzle);
  map.swizzle = pattern < std::size(kSwizzles) ? kSwizzles[pattern] : 0;
  map.swizzle_atom = pattern < std::size(kAtoms) ? kAtoms[pattern] : 16;
  map.interleave = static_cast<int>(interleave) * 16;
  return map;
}

/// Where there is a driver, `map` holds its 128 bytes already. Two maps of it are the same bytes only where they say the same.
CUresult encoded(CUtensorMap* map, heddle::ptx::TensorMap said, bool real) {
  if (!real) bytes_of(map) = capture::opaque_map(CaptureRecord::get().maps());
  CaptureRecord::get().add_map(bytes_of(map), std::move(said));
  return CUDA_SUCCESS;
}

bool is_rank(unsigned rank) { return rank >= 1 && rank <= 5; }

}  // namespace

void* capture::new_handle() {
  static std::uint64_t next = 0x20000000;
  return reinterpret_cast<void*>(__atomic_add_fetch(&next, 16, __ATOMIC_RELAXED));
}

HEDDLE_EXPORT CUresult cuModuleLoad(CUmodule* to, const char* path) {
  const auto real = HEDDLE_REAL(cuModuleLoad);
  return loaded_file(to, path, real, real ? real(to, path) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuModuleLoadData(CUmodule* to, const void* image) {
  const auto real = HEDDLE_REAL(cuModuleLoadData);
  return loaded(to, image, real, real ? real(to, image) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuModuleLoadDataEx(CUmodule* to, const void* image, unsigned count, CUjit_option* options, void** values) {
  const auto real = HEDDLE_REAL(cuModuleLoadDataEx);
  return loaded(to, image, real, real ? real(to, image, count, options, values) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* to, const void* image) {
  const auto real = HEDDLE_REAL(cuModuleLoadFatBinary);
  return loaded(to, image, real, real ? real(to, image) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuLibraryLoadData(CUlibrary* to, const void* image, CUjit_option* jit, void** jit_values, unsigned jit_count,
                                         CUlibraryOption* options, void** values, unsigned count) {
  const auto real = HEDDLE_REAL(cuLibraryLoadData);
  return loaded(to, image, real, real ? real(to, image, jit, jit_values, jit_count, options, values, count) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary* to, const char* path, CUjit_option* jit, void** jit_values, unsigned jit_count,
                                             CUlibraryOption* options, void** values, unsigned count) {
  const auto real = HEDDLE_REAL(cuLibraryLoadFromFile);
  return loaded_file(to, path, real, real ? real(to, path, jit, jit_values, jit_count, options, values, count) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuLibraryGetModule(CUmodule* to, CUlibrary library) {
  const auto real = HEDDLE_REAL(cuLibraryGetModule);
  if (const CUresult result = real ? real(to, library) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  if (!real) *to = reinterpret_cast<CUmodule>(library);
  CaptureRecord::get().add_module(*to, CaptureRecord::get().module(library));
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuModuleGetFunction(CUfunction* to, CUmodule module, const char* name) {
  const auto real = HEDDLE_REAL(cuModuleGetFunction);
  return found(to, module, name, real, real ? real(to, module, name) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuLibraryGetKernel(CUkernel* to, CUlibrary library, const char* name) {
  const auto real = HEDDLE_REAL(cuLibraryGetKernel);
  return found(to, library, name, real, real ? real(to, library, name) : CUDA_SUCCESS);
}

HEDDLE_EXPORT CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) {
  HEDDLE_PASS(cuModuleGetFunctionCount, count, module);
  const auto known = CaptureRecord::get().module(module);
  *count = known ? static_cast<unsigned>(known->kernels.size()) : 0;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

HEDDLE_EXPORT CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  HEDDLE_PASS(cuLibraryGetKernelCount, count, library);
  return cuModuleGetFunctionCount(count, reinterpret_cast<CUmodule>(library));
}

HEDDLE_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction* to, unsigned most, CUmodule module) {
  const auto real = HEDDLE_REAL(cuModuleEnumerateFunctions);
  if (const CUresult result = real ? real(to, most, module) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  return listed(to, most, module, real);
}

HEDDLE_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel* to, unsigned most, CUlibrary library) {
  const auto real = HEDDLE_REAL(cuLibraryEnumerateKernels);
  if (const CUresult result = real ? real(to, most, library) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  return listed(to, most, library, real);
}

HEDDLE_EXPORT CUresult cuKernelGetFunction(CUfunction* to, CUkernel kernel) {
  const auto real = HEDDLE_REAL(cuKernelGetFunction);
  if (const CUresult result = real ? real(to, kernel) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  if (!real) *to = reinterpret_cast<CUfunction>(kernel);
  CaptureRecord::get().add_kernel_alias(*to, kernel);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuFuncGetName(const char** name, CUfunction kernel) {
  HEDDLE_PASS(cuFuncGetName, name, kernel);
  const auto known = CaptureRecord::get().kernel(kernel);
  if (!known) return CUDA_ERROR_INVALID_HANDLE;
  *name = strdup(known->name.c_str());  // the driver keeps it too
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  HEDDLE_PASS(cuKernelGetName, name, kernel);
  return cuFuncGetName(name, reinterpret_cast<CUfunction>(kernel));
}

HEDDLE_EXPORT CUresult cuFuncGetParamInfo(CUfunction kernel, std::size_t index, std::size_t* at, std::size_t* bytes) {
  HEDDLE_PASS(cuFuncGetParamInfo, kernel, index, at, bytes);
  const auto entry = CaptureRecord::get().entry(kernel);
  if (!entry || index >= entry->parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *at = entry->parameters[index].at;
  if (bytes) *bytes = entry->parameters[index].bytes;
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuKernelGetParamInfo(CUkernel kernel, std::size_t index, std::size_t* at, std::size_t* bytes) {
  HEDDLE_PASS(cuKernelGetParamInfo, kernel, index, at, bytes);
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, at, bytes);
}

/// Made-up memory for a variable of a module; what it holds is not known to launches.
HEDDLE_EXPORT CUresult cuModuleGetGlobal(CUdeviceptr* to, std::size_t* bytes, CUmodule module, const char* name) {
  HEDDLE_PASS(cuModuleGetGlobal, to, bytes, module, name);
  constexpr std::size_t kBytes = 1 << 16;
  if (bytes) *bytes = kBytes;
  return to ? cuMemAlloc(to, kBytes) : CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuLaunchKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                                      unsigned shared, CUstream stream, void** parameters, void** extra) {
  CaptureRecord::get().write_launch(kernel, {{gx, gy, gz}, {0, 0, 0}, {bx, by, bz}, shared, parameters, extra});
  HEDDLE_PASS(cuLaunchKernel, kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                                 unsigned bz, unsigned shared, CUstream stream, void** parameters) {
  CaptureRecord::get().write_launch(kernel, {{gx, gy, gz}, {0, 0, 0}, {bx, by, bz}, shared, parameters, nullptr});
  HEDDLE_PASS(cuLaunchCooperativeKernel, kernel, gx, gy, gz, bx, by, bz, shared, stream, parameters);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction kernel, void** parameters, void** extra) {
  CaptureRecord::get().write_launch(kernel, call_of(*config, parameters, extra));
  HEDDLE_PASS(cuLaunchKernelEx, config, kernel, parameters, extra);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  HEDDLE_PASS(cuLaunchHostFunc, stream, function, data);
  function(data);
  return CUDA_SUCCESS;
}

HEDDLE_EXPORT CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                              const cuuint64_t* extents, const cuuint64_t* strides, const cuuint32_t* box,
                                              const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const auto real = HEDDLE_REAL(cuTensorMapEncodeTiled);
  if (const CUresult result = real ? real(map, type, rank, address, extents, strides, box, steps, interleave, swizzle, promotion, fill)
                              : is_rank(rank) ? CUDA_SUCCESS
                                              : CUDA_ERROR_INVALID_VALUE;
      result != CUDA_SUCCESS)
    return result;
  auto said = map_of(type, rank, address, extents, strides, steps, interleave, swizzle);
  said.box = list(box, rank);
  return encoded(map, std::move(said), real);
}

HEDDLE_EXPORT CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* address,
                                               const cuuint64_t* extents, const cuuint64_t* strides, const int* lower, const int* upper,
                                               cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                               CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                               CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  const auto real = HEDDLE_REAL(cuTensorMapEncodeIm2col);
  if (const CUresult result = real ? real(map, type, rank, address, extents, strides, lower, upper, channels, pixels, steps, interleave,
                                          swizzle, promotion, fill)
                              : is_rank(rank) ? CUDA_SUCCESS
                                              : CUDA_ERROR_INVALID_VALUE;
      result != CUDA_SUCCESS)
    return result;
  auto said = map_of(type, rank, address, extents, strides, steps, interleave, swizzle);
  said.im2col = true;
  said.box.assign(rank, 1);
  said.box.front() = channels;
  said.box.back() = pixels;
  return encoded(map, std::move(said), real);
}

HEDDLE_EXPORT CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  const auto real = HEDDLE_REAL(cuTensorMapReplaceAddress);
  auto said = CaptureRecord::get().map(bytes_of(map));
  if (const CUresult result = real ? real(map, address) : CUDA_SUCCESS; result != CUDA_SUCCESS) return result;
  if (!said) return CUDA_ERROR_INVALID_VALUE;
  said->address = reinterpret_cast<std::uint64_t>(address);
  return encoded(map, std::move(*said), real);
}
