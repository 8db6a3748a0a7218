// Inside compile_cuda(): the two compilers. `arch` is a real architecture, "sm_100a". One that was stopped has made nothing.
#pragma once

#include <stop_token>
#include <string>

#include "core/base/result.h"

namespace heddle::codegen {

struct Built {
  bool good = false;
  std::string cubin, log;
};

/// "NVRTC 13.0"; an environment error that says where it was looked for.
Result<std::string> nvrtc_version();
Result<Built> build_with_nvrtc(const std::string& source, const std::string& arch, const std::stop_token& stop);

/// "nvcc 13.0.88 at <path>" (any version text); an environment error when it is not on PATH or in the usual place.
Result<std::string> nvcc_version();
Result<Built> build_with_nvcc(const std::string& source, const std::string& arch, const std::stop_token& stop);

}  // namespace heddle::codegen
