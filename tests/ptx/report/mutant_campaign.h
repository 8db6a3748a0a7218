// Our own kernels with planted mistakes and with harmless edits: what a check says of each.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "ptx/launch/launch.h"
#include "tests/support/ptx_mutants.h"

namespace heddle::test {

/// A text under tests/ptx/texts and its launch.
struct CampaignKernel {
  std::string name, text;
  ptx::Launch launch;
};
CampaignKernel campaign_kernel(const std::string& name);

/// Lines of the text on which instructions begin that the launch executes.
std::set<int> executed_lines(const CampaignKernel& kernel);

enum class Judged { Clean, Doubtful, Wrong, Stopped, Unreadable };

struct JudgedMutant {
  std::string kind, statement;  ///< the line of the text as it was, without blanks at its ends
  int line = 0;
  Judged judged = Judged::Clean;
  std::string said;  ///< the first finding, why it stopped, or the fault
};

JudgedMutant judged(const CampaignKernel& kernel, const PtxMutant& mutant);

}  // namespace heddle::test
