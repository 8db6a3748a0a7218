// How programs find the driver's functions at run time: by name and version, or in private tables, which only NVIDIA's driver has.
#include <cuda.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/say.h"

namespace heddle::ptx::capture {
namespace {

/// All that driver_memory.cpp, driver_launch.cpp, driver_graph.cpp and this file hear, by the name in the library.
constexpr const char* kIntercepted[] = {
    "cuModuleEnumerateFunctions",
    "cuLibraryEnumerateKernels",
    "cuMemAlloc_v2",
    "cuMemAllocAsync",
    "cuMemAllocFromPoolAsync",
    "cuMemAllocHost_v2",
    "cuMemHostAlloc",
    "cuMemAllocManaged",
    "cuMemAllocPitch_v2",
    "cuMemFree_v2",
    "cuMemFreeAsync",
    "cuMemFreeHost",
    "cuMemHostRegister_v2",
    "cuMemHostUnregister",
    "cuMemcpyHtoD_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoD_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpy",
    "cuMemcpyAsync",
    "cuMemsetD8_v2",
    "cuMemsetD16_v2",
    "cuMemsetD32_v2",
    "cuMemsetD8Async",
    "cuMemsetD16Async",
    "cuMemsetD32Async",
    "cuModuleLoad",
    "cuModuleLoadData",
    "cuModuleLoadDataEx",
    "cuModuleLoadFatBinary",
    "cuLibraryLoadData",
    "cuLibraryLoadFromFile",
    "cuLibraryGetModule",
    "cuModuleGetFunction",
    "cuLibraryGetKernel",
    "cuKernelGetFunction",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuGraphAddKernelNode_v2",
    "cuGraphAddNode_v2",
    "cuGraphKernelNodeSetParams_v2",
    "cuGraphExecKernelNodeSetParams_v2",
    "cuTensorMapEncodeTiled",
    "cuTensorMapEncodeIm2col",
    "cuTensorMapReplaceAddress",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuLaunchCooperativeKernel",
    "cuGetExportTable",
};

/// The newest of our functions that is called so. What is older differs by arguments that come later, or that we do not look at; but for
/// cuGetProcAddress, which programs of CUDA 11 give no place for its last answer.
void* newest(const std::string& name, int cuda_version, bool intercepted_only) {
  if (name == "cuGetProcAddress" && cuda_version < 12000) return own_symbol("cuGetProcAddress");
  for (const char* version : {"_v4", "_v3", "_v2", ""})
    if (const std::string full = name + version; !intercepted_only || is_intercepted(full))
      if (void* const found = own_symbol(full.c_str())) return found;
  return nullptr;
}

}  // namespace

bool is_intercepted(const std::string& name) {
  return std::any_of(std::begin(kIntercepted), std::end(kIntercepted), [&](const char* each) { return name == each; });
}

}  // namespace heddle::ptx::capture

#undef cuGetProcAddress

HEDDLE_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** to, int version, cuuint64_t flags,
                                           CUdriverProcAddressQueryResult* status) {
  namespace capture = heddle::ptx::capture;
  if (const auto real = HEDDLE_REAL(cuGetProcAddress_v2)) {
    const CUresult result = real(name, to, version, flags, status);
    if (result == CUDA_SUCCESS && *to)
      if (void* const own = capture::newest(name, version, true)) *to = own;
    return result;
  }
  *to = capture::newest(name, version, false);
  if (status) *status = *to ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *to ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

HEDDLE_EXPORT CUresult cuGetProcAddress(const char* name, void** to, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, to, version, flags, nullptr);
}

HEDDLE_EXPORT CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  HEDDLE_PASS(cuGetExportTable, table, id);
  heddle::ptx::capture::say(
      "the program asks the driver for private tables, as the CUDA runtime does that nvcc links statically; link it with -cudart shared");
  *table = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}
