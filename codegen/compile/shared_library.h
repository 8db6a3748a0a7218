// NVIDIA's libraries, opened at run time: from where the linker looks, the toolkit's folder, or the folders in which Python's wheels keep
// them (a PyTorch image has NVRTC, cuBLAS and cuDNN there and nowhere else).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle::codegen {

/// .../site-packages/nvidia/NAME/lib of the active virtual environment ($VIRTUAL_ENV, $CONDA_PREFIX), the user and the system, as far as
/// they exist; those found first come first.
std::vector<std::string> wheel_folders();

/// What the environment variable names, else the first library of these names that can be opened and that `accept` takes; nullptr for
/// none. A library of a wheel finds the libraries that it needs in other wheels. Environment error: the variable names no absolute path.
Result<void*> open_shared(const char* variable, const std::vector<std::string>& names, const std::function<bool(void*)>& accept = {});

}  // namespace heddle::codegen
