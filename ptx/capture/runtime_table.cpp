// What the runtime answers by a row, and what becomes of all its other functions: runtime_names.h, which the build makes of the runtime's
// headers, has the name of each.
#include <iterator>

#include "ptx/capture/answers.h"
#include "ptx/capture/symbols.h"

namespace heddle::ptx::capture {
namespace {

constexpr TableAnswer kNothing = TableAnswer::Nothing, kHandle = TableAnswer::Handle, kZero4 = TableAnswer::Zero4,
                      kZero8 = TableAnswer::Zero8;

constexpr AnswerRow kRows[] = {
    {"cudaProfilerStart", kNothing, 0},
    {"cudaProfilerStop", kNothing, 0},
    // devices
    {"cudaInitDevice", kNothing, 0},
    {"cudaSetDeviceFlags", kNothing, 0},
    {"cudaSetValidDevices", kNothing, 0},
    {"cudaGetDevice", kZero4, 0},
    {"cudaGetDeviceFlags", kZero4, 0},
    {"cudaChooseDevice", kZero4, 0},
    {"cudaDeviceCanAccessPeer", kZero4, 0},
    {"cudaDeviceGetCacheConfig", kZero4, 0},
    {"cudaDeviceGetDefaultMemPool", kHandle, 0},
    {"cudaDeviceGetMemPool", kHandle, 0},
    {"cudaDeviceGetLimit", kZero8, 0},
    {"cudaDeviceReset", kNothing, 0},
    {"cudaDeviceSetCacheConfig", kNothing, 0},
    {"cudaDeviceSetLimit", kNothing, 0},
    {"cudaDeviceSetMemPool", kNothing, 0},
    {"cudaDeviceSetSharedMemConfig", kNothing, 0},
    {"cudaDeviceSynchronize", kNothing, 0},
    {"cudaThreadSynchronize", kNothing, 0},
    {"cudaThreadExit", kNothing, 0},
    {"cudaCtxResetPersistingL2Cache", kNothing, 0},
    // streams and events
    {"cudaStreamCreate", kHandle, 0},
    {"cudaStreamCreateWithFlags", kHandle, 0},
    {"cudaStreamCreateWithPriority", kHandle, 0},
    {"cudaStreamDestroy", kNothing, 0},
    {"cudaStreamQuery", kNothing, 0},
    {"cudaStreamSynchronize", kNothing, 0},
    {"cudaStreamWaitEvent", kNothing, 0},
    {"cudaStreamSetAttribute", kNothing, 0},
    {"cudaStreamCopyAttributes", kNothing, 0},
    {"cudaStreamAttachMemAsync", kNothing, 0},
    {"cudaStreamGetDevice", kZero4, 1},
    {"cudaStreamGetFlags", kZero4, 1},
    {"cudaStreamGetPriority", kZero4, 1},
    {"cudaStreamGetId", kZero8, 1},
    {"cudaThreadExchangeStreamCaptureMode", kNothing, 0},
    {"cudaEventCreate", kHandle, 0},
    {"cudaEventCreateWithFlags", kHandle, 0},
    {"cudaEventDestroy", kNothing, 0},
    {"cudaEventRecord", kNothing, 0},
    {"cudaEventRecordWithFlags", kNothing, 0},
    {"cudaEventQuery", kNothing, 0},
    {"cudaEventSynchronize", kNothing, 0},
    {"cudaEventElapsedTime", TableAnswer::Milliseconds, 0},
    {"cudaEventElapsedTime_v2", TableAnswer::Milliseconds, 0},
    // graphs: their launches are written when they are put in
    {"cudaGraphCreate", kHandle, 0},
    {"cudaGraphClone", kHandle, 0},
    {"cudaGraphDestroy", kNothing, 0},
    {"cudaGraphAddDependencies", kNothing, 0},
    {"cudaGraphAddDependencies_v2", kNothing, 0},
    {"cudaGraphAddEmptyNode", kHandle, 0},
    {"cudaGraphAddMemcpyNode", kHandle, 0},
    {"cudaGraphAddMemcpyNode1D", kHandle, 0},
    {"cudaGraphAddMemsetNode", kHandle, 0},
    {"cudaGraphAddHostNode", kHandle, 0},
    {"cudaGraphAddChildGraphNode", kHandle, 0},
    {"cudaGraphAddEventRecordNode", kHandle, 0},
    {"cudaGraphAddEventWaitNode", kHandle, 0},
    {"cudaGraphKernelNodeSetAttribute", kNothing, 0},
    {"cudaGraphExecUpdate", kZero4, 2},
    {"cudaGraphGetNodes", kZero8, 2},
    {"cudaGraphInstantiateWithParams", kHandle, 0},
    {"cudaGraphInstantiate", kHandle, 0},
    {"cudaGraphInstantiateWithFlags", kHandle, 0},
    {"cudaGraphExecDestroy", kNothing, 0},
    {"cudaGraphUpload", kNothing, 0},
    {"cudaGraphLaunch", kNothing, 0},
    // kernels
    {"cudaFuncSetCacheConfig", kNothing, 0},
    {"cudaFuncSetSharedMemConfig", kNothing, 0},
    {"cudaKernelSetAttributeForDevice", kNothing, 0},
    {"cudaLibraryUnload", kNothing, 0},
    // memory
    {"cudaMemcpyToSymbol", kNothing, 0},
    {"cudaMemcpyToSymbolAsync", kNothing, 0},
    {"cudaMemAdvise", kNothing, 0},
    {"cudaMemAdvise_v2", kNothing, 0},
    {"cudaMemPrefetchAsync", kNothing, 0},
    {"cudaMemPrefetchAsync_v2", kNothing, 0},
    {"cudaMemPoolCreate", kHandle, 0},
    {"cudaMemPoolDestroy", kNothing, 0},
    {"cudaMemPoolSetAttribute", kNothing, 0},
    {"cudaMemPoolGetAttribute", kZero8, 2},
    {"cudaMemPoolSetAccess", kNothing, 0},
    {"cudaMemPoolTrimTo", kNothing, 0},
};

int call(const char* name, void* const (&arguments)[kMostArguments]) {
  if (const std::string plain = without_stream_suffix(name); !plain.empty())
    if (void* const own = own_symbol(plain.c_str())) return call_words(own, arguments);
  return answered(find_answer(std::begin(kRows), std::end(kRows), name), name, arguments);
}

}  // namespace
}  // namespace heddle::ptx::capture

#define NAME(name) HEDDLE_WEAK(name)
#include "ptx/capture/runtime_names_12.inc"
#include "runtime_names.h"
