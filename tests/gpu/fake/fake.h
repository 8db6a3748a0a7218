// What the four parts of the fake GPU share: driver (driver.cpp), NVRTC (nvrtc.cpp), cuBLAS (in driver.cpp), cuDNN (cudnn.cpp). One
// shared library is all of them; HEDDLE_CUDA_DRIVER, HEDDLE_NVRTC, HEDDLE_CUBLAS and HEDDLE_CUDNN name it. HEDDLE_FAKE_GPU says how
// it misbehaves, HEDDLE_FAKE_CUDNN how cuDNN does (cudnn.cpp):
//
//   ok                everything works
//   wrong             every kernel gets one element of its last tensor wrong
//   unstable          every second launch does
//   unwritten         kernels do nothing
//   hang              kernels do not end
//   fault             kernels fault: the next synchronisation fails
//   crash             the process dies when a kernel is launched
//   crash-init        the process dies in cuInit
//   no-device         there is none
//   blackwell         the device is a B200: it runs kernels for sm_100a only
//   little-shared     a block gets 100000 bytes of shared memory
//   out-of-memory     every allocation fails
//   refuse            every launch is refused
//   slow-records      recording builds take a tenth longer than the others
//   maps              the whole result is wrong
//   strides           every second panel of 64 columns of the result is wrong
//   swizzle           chunks of 16 bytes of the result are exchanged
//   phases            the whole result is wrong if the loop makes more than one trip
//   cublas-wrong      cuBLAS gets one element wrong
//   cublas-refuse     cuBLAS does not start
#pragma once

#include <cstdlib>
#include <string>

namespace fake {
extern double now_us;
extern long writes;        ///< to memory, from outside
extern int pending_fault;  ///< what the next synchronisation says
inline constexpr int kIllegalAddress = 700;

inline std::string mode() {
  const char* text = std::getenv("HEDDLE_FAKE_GPU");
  return text ? text : "ok";
}
}  // namespace fake
