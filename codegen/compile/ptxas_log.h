// What ptxas says about a kernel, read out of the compiler's log. The codes (C75xx, C76xx) and what they mean were collected
// by compiling probes with CUDA 13.0; every one of them makes the schedule's prediction void.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/program/program.h"
#include "codegen/program/refusal.h"

namespace heddle::codegen {

struct PtxasReport {
  int registers = 0;                                          ///< per thread at launch
  int barriers = 0;                                           ///< named ones
  std::int64_t spill_stores = 0, spill_loads = 0, stack = 0;  ///< bytes
  std::vector<std::string> remarks;                           ///< lines with a code, as they were
};

/// Forgiving: what is not there is 0.
PtxasReport parse_ptxas_log(std::string_view log);

/// Serialised wgmmas, spills, stack, dropped setmaxnreg, an instruction too large for the launch's registers: each with its
/// rule and, where there is one, the demand for another schedule. Empty: the kernel is what the schedule says.
std::vector<Refusal> judge(const PtxasReport& report, const Program& program);

}  // namespace heddle::codegen
