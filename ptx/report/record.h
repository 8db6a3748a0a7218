// What a run left behind, as reports read it: they need no machine that runs.
#pragma once

#include <string>

#include "ptx/launch/launch.h"
#include "ptx/run/trace.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

struct PtxRecord {
  const PtxModule* module = nullptr;
  const PtxFunction* function = nullptr;
  const Launch* launch = nullptr;
  const Trace* trace = nullptr;
  int warps_per_cta = 0, ctas = 1;
  std::int64_t left_out = 0;  ///< events behind those of the trace, which is cut

  const PtxInstruction& at(int pc) const { return function->code[static_cast<std::size_t>(pc)]; }
  int cta_of_warp(int warp) const { return warps_per_cta == 0 ? 0 : warp / warps_per_cta; }
  /// "w3", in a cluster "c1.w3".
  std::string warp_name(int warp) const;
};

}  // namespace heddle::ptx
