// What the files of the runtime stand-in share. It keeps no memory and no launches of its own: it says everything to the driver.
#pragma once

#include <cuda.h>
#include <driver_types.h>

#include "ptx/capture/symbols.h"

namespace heddle::ptx::capture {

/// The driver's answer as the runtime's, which has the same numbers, kept for cudaGetLastError.
cudaError_t remember(CUresult result);

/// Of a kernel's stub on the host, or of a handle that a program got of the driver or of us; null: there is no such kernel.
CUfunction function_of(const void* kernel);

/// 12 or 13: by which name the program has loaded this library.
int runtime_version();

}  // namespace heddle::ptx::capture
