// What the driver answers by a row, and what becomes of all its other functions: driver_names.h, which the build makes of cuda.h, has the
// name of each. A function of the same name in another file stands before the weak one here.
#include <iterator>
#include <string>

#include "ptx/capture/answers.h"
#include "ptx/capture/driver.h"
#include "ptx/capture/real_driver.h"
#include "ptx/capture/symbols.h"

namespace heddle::ptx::capture {
namespace {

constexpr TableAnswer kNothing = TableAnswer::Nothing, kHandle = TableAnswer::Handle, kZero4 = TableAnswer::Zero4,
                      kZero8 = TableAnswer::Zero8, kContext = TableAnswer::Context;

constexpr AnswerRow kRows[] = {
    {"cuInit", kNothing, 0},
    {"cuLogsRegisterCallback", kHandle, 2},
    {"cuLogsUnregisterCallback", kNothing, 0},
    {"cuProfilerStart", kNothing, 0},
    {"cuProfilerStop", kNothing, 0},
    // devices and contexts
    {"cuDeviceGetByPCIBusId", kZero4, 0},
    {"cuDeviceCanAccessPeer", kZero4, 0},
    {"cuDeviceGetDefaultMemPool", kHandle, 0},
    {"cuDeviceGetMemPool", kHandle, 0},
    {"cuDeviceSetMemPool", kNothing, 0},
    {"cuDevicePrimaryCtxRetain", kContext, 0},
    {"cuDevicePrimaryCtxRelease_v2", kNothing, 0},
    {"cuDevicePrimaryCtxSetFlags_v2", kNothing, 0},
    {"cuDevicePrimaryCtxReset_v2", kNothing, 0},
    {"cuCtxCreate_v2", kContext, 0},
    {"cuCtxCreate_v3", kContext, 0},
    {"cuCtxCreate_v4", kContext, 0},
    {"cuCtxGetCurrent", kContext, 0},
    {"cuCtxPopCurrent_v2", kContext, 0},
    {"cuCtxPushCurrent_v2", kNothing, 0},
    {"cuCtxSetCurrent", kNothing, 0},
    {"cuCtxDestroy_v2", kNothing, 0},
    {"cuCtxGetDevice", kZero4, 0},
    {"cuCtxGetDevice_v2", kZero4, 0},
    {"cuCtxGetFlags", kZero4, 0},
    {"cuCtxGetId", kZero8, 1},
    {"cuCtxGetLimit", kZero8, 0},
    {"cuCtxSetLimit", kNothing, 0},
    {"cuCtxSetCacheConfig", kNothing, 0},
    {"cuCtxSynchronize", kNothing, 0},
    {"cuCtxSynchronize_v2", kNothing, 0},
    {"cuCtxResetPersistingL2Cache", kNothing, 0},
    // streams and events
    {"cuStreamCreate", kHandle, 0},
    {"cuStreamCreateWithPriority", kHandle, 0},
    {"cuStreamDestroy_v2", kNothing, 0},
    {"cuStreamGetCtx", kContext, 1},
    {"cuStreamGetCtx_v2", kContext, 1},
    {"cuStreamGetDevice", kZero4, 1},
    {"cuStreamGetFlags", kZero4, 1},
    {"cuStreamGetPriority", kZero4, 1},
    {"cuStreamGetId", kZero8, 1},
    {"cuThreadExchangeStreamCaptureMode", kNothing, 0},
    {"cuStreamQuery", kNothing, 0},
    {"cuStreamSynchronize", kNothing, 0},
    {"cuStreamWaitEvent", kNothing, 0},
    {"cuStreamWaitValue32_v2", kNothing, 0},
    {"cuStreamWaitValue64_v2", kNothing, 0},
    {"cuStreamAttachMemAsync", kNothing, 0},
    {"cuStreamSetAttribute", kNothing, 0},
    {"cuStreamCopyAttributes", kNothing, 0},
    {"cuEventCreate", kHandle, 0},
    {"cuEventDestroy_v2", kNothing, 0},
    {"cuEventRecord", kNothing, 0},
    {"cuEventRecordWithFlags", kNothing, 0},
    {"cuEventQuery", kNothing, 0},
    {"cuEventSynchronize", kNothing, 0},
    {"cuEventElapsedTime", TableAnswer::Milliseconds, 0},
    {"cuEventElapsedTime_v2", TableAnswer::Milliseconds, 0},
    // graphs: their launches are written when they are put in
    {"cuGraphCreate", kHandle, 0},
    {"cuGraphClone", kHandle, 0},
    {"cuGraphDestroy", kNothing, 0},
    {"cuGraphAddDependencies_v2", kNothing, 0},
    {"cuGraphAddEmptyNode", kHandle, 0},
    {"cuGraphAddMemcpyNode", kHandle, 0},
    {"cuGraphAddMemsetNode", kHandle, 0},
    {"cuGraphAddHostNode", kHandle, 0},
    {"cuGraphAddChildGraphNode", kHandle, 0},
    {"cuGraphAddEventRecordNode", kHandle, 0},
    {"cuGraphAddEventWaitNode", kHandle, 0},
    {"cuGraphKernelNodeSetAttribute", kNothing, 0},
    {"cuGraphExecUpdate_v2", kZero4, 2},
    {"cuGraphGetNodes", kZero8, 2},
    {"cuGraphInstantiate", kHandle, 0},
    {"cuGraphInstantiate_v2", kHandle, 0},
    {"cuGraphInstantiateWithFlags", kHandle, 0},
    {"cuGraphInstantiateWithParams", kHandle, 0},
    {"cuGraphExecDestroy", kNothing, 0},
    {"cuGraphUpload", kNothing, 0},
    {"cuGraphLaunch", kNothing, 0},
    // modules and kernels
    {"cuModuleUnload", kNothing, 0},
    {"cuLibraryUnload", kNothing, 0},
    {"cuModuleGetLoadingMode", kZero4, 0},
    {"cuFuncLoad", kNothing, 0},
    {"cuFuncSetAttribute", kNothing, 0},
    {"cuFuncSetCacheConfig", kNothing, 0},
    {"cuFuncSetSharedMemConfig", kNothing, 0},
    {"cuKernelSetAttribute", kNothing, 0},
    {"cuKernelSetCacheConfig", kNothing, 0},
    // memory
    {"cuMemAdvise", kNothing, 0},
    {"cuMemAdvise_v2", kNothing, 0},
    {"cuMemPrefetchAsync", kNothing, 0},
    {"cuMemPrefetchAsync_v2", kNothing, 0},
    {"cuMemPoolCreate", kHandle, 0},
    {"cuMemPoolDestroy", kNothing, 0},
    {"cuMemPoolGetAttribute", kZero8, 2},
    {"cuMemPoolSetAccess", kNothing, 0},
    {"cuMemPoolSetAttribute", kNothing, 0},
    {"cuMemPoolTrimTo", kNothing, 0},
};

int call(const char* name, void* const (&arguments)[kMostArguments]) {
  const std::string plain = without_stream_suffix(name);
  void* other = !plain.empty() && is_intercepted(plain) ? nullptr : real_symbol(name);
  if (!other && !plain.empty()) other = own_symbol(plain.c_str());
  return other ? call_words(other, arguments) : answered(find_answer(std::begin(kRows), std::end(kRows), name), name, arguments);
}

}  // namespace
}  // namespace heddle::ptx::capture

#define NAME(name) HEDDLE_WEAK(name)
#include "driver_names.h"
