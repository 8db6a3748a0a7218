// CuTe DSL's programs call CUDA through a library of its own, which links NVIDIA's runtime statically: _cudaLaunchKernelEx is its
// cudaLaunchKernelExC. Its compiler looks for these names in the whole process first, and finds them here.
#include "ptx/capture/symbols.h"

#define NAME(name)                                                                                                                      \
  extern "C" int name(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);                \
  HEDDLE_EXPORT int _##name(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j, void* k, void* l, \
                            void* m, void* n) {                                                                                         \
    return name(a, b, c, d, e, f, g, h, i, j, k, l, m, n);                                                                              \
  }

// clang-format off
NAME(cuDeviceGet) NAME(cuKernelGetAttribute) NAME(cuLibraryGetGlobal) NAME(cuLibraryGetKernel)
NAME(cuLibraryGetKernelCount) NAME(cuLibraryGetManaged) NAME(cuLibraryGetModule) NAME(cuLibraryGetUnifiedFunction)
NAME(cuLibraryLoadData) NAME(cuLibraryLoadFromFile) NAME(cuLibraryUnload) NAME(cuTensorMapEncodeTiled)
NAME(cudaDeviceGetAttribute) NAME(cudaDeviceSynchronize) NAME(cudaEventCreate) NAME(cudaEventDestroy)
NAME(cudaEventElapsedTime) NAME(cudaEventRecord) NAME(cudaFree) NAME(cudaFreeAsync) NAME(cudaFreeHost)
NAME(cudaFuncSetAttribute) NAME(cudaGetDevice) NAME(cudaGetDeviceCount) NAME(cudaGetDeviceProperties)
NAME(cudaGraphDestroy) NAME(cudaGraphExecDestroy) NAME(cudaGraphInstantiate) NAME(cudaGraphLaunch)
NAME(cudaKernelSetAttributeForDevice) NAME(cudaLaunchKernel) NAME(cudaLibraryGetGlobal) NAME(cudaLibraryGetKernel)
NAME(cudaLibraryGetKernelCount) NAME(cudaLibraryGetManaged) NAME(cudaLibraryGetUnifiedFunction)
NAME(cudaLibraryLoadData) NAME(cudaLibraryLoadFromFile) NAME(cudaLibraryUnload) NAME(cudaMalloc)
NAME(cudaMallocAsync) NAME(cudaMallocHost) NAME(cudaMallocManaged) NAME(cudaMemcpy) NAME(cudaMemcpyAsync)
NAME(cudaMemset) NAME(cudaMemsetAsync) NAME(cudaOccupancyMaxActiveBlocksPerMultiprocessor) NAME(cudaProfilerStart)
NAME(cudaProfilerStop) NAME(cudaSetDevice) NAME(cudaStreamAddCallback) NAME(cudaStreamBeginCapture)
NAME(cudaStreamCreate) NAME(cudaStreamDestroy) NAME(cudaStreamEndCapture) NAME(cudaStreamSynchronize)
NAME(cudaStreamWaitEvent)
    // clang-format on

    extern "C" int cudaLaunchKernelExC(const void* config, const void* kernel, void** arguments);

/// What its functions call that are made for TVM's interface, before they launch for the first time: loads a library of kernels, and
/// prepares it for each device. `library` is null before.
HEDDLE_EXPORT int cuda_dialect_init_library_once(void** library, int (*load)(void**), int (*prepare)(void**, int),
                                                 void (*fail)(const char* kind, const char* text)) {
  if (*library) return 0;
  void* made = nullptr;
  if (load(&made) != 0 || (prepare && prepare(&made, 0) != 0)) {
    fail("RuntimeError", "heddle capture: a library of kernels could not be loaded");
    return -1;
  }
  *library = made;
  return 0;
}

HEDDLE_EXPORT void cuda_dialect_unload_library_once(void**) {}

HEDDLE_EXPORT int _cudaLaunchKernelEx(const void* config, const void* kernel, void** arguments) {
  return cudaLaunchKernelExC(config, kernel, arguments);
}
