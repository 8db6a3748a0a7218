// Kernels with planted mistakes and with harmless edits: what a check says of each.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "ptx/launch/launch.h"
#include "tests/support/ptx_mutants.h"

namespace heddle::test {

/// A text, its launch, and what a check says of it as it is (each finding by its rule and lines).
struct CampaignKernel {
  std::string name, text;
  ptx::Launch launch;
  std::set<std::string> said;
};
/// Of a launch file and the text that it names.
CampaignKernel campaign_kernel(const std::string& name, const std::filesystem::path& launch_file);
/// One of our own, of tests/ptx/texts.
CampaignKernel own_kernel(const std::string& name);

/// Lines of the text on which instructions begin that the launch executes.
std::set<int> executed_lines(const CampaignKernel& kernel);

enum class Judged { Clean, Doubtful, Wrong, Stopped, Unreadable };

struct JudgedMutant {
  std::string kind, statement;  ///< the line of the text as it was, without blanks at its ends
  int line = 0;
  Judged judged = Judged::Clean;
  std::string said;  ///< the first finding that the text as it was does not have, why it stopped, or the fault
  bool found() const { return judged == Judged::Wrong || judged == Judged::Doubtful; }
};

JudgedMutant judged(const CampaignKernel& kernel, const PtxMutant& mutant);

/// Mistakes that are not found, by "text kind line": how the line begins, and why it changes nothing.
struct MissedRow {
  std::string statement, reason;
};
using MissedTable = std::map<std::string, MissedRow>;
/// Of tests/ptx/`file`.
MissedTable missed_table(const std::string& file);

struct Tally {
  int planted = 0, found = 0;
  int core = 0, core_found = 0;  ///< arrivals, expected bytes and waits for products: what every ring rests on
};

/// Every `step`th mistake of one kernel, judged and compared with the table.
void plant(const CampaignKernel& kernel, MissedTable table, int step, Tally& tally);

}  // namespace heddle::test
