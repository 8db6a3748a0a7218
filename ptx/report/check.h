// The question: is this launch of this text in order? The answer: a verdict, findings by rank, and what the launch did not show.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "ptx/judge/finding.h"
#include "ptx/launch/launch.h"
#include "ptx/launch/sizes.h"
#include "ptx/report/show.h"
#include "ptx/report/timeline.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

enum class BranchChoice { Taken, NotTaken, Both };

/// What is worked out of a run besides its verdict.
enum class RunPicture {
  None,
  Shown,  ///< roles and rings, and how maps were used
  Lanes,  ///< those, and lanes over time
};

struct CheckOptions {
  const heddle::Machine* machine = nullptr;  ///< costs; nullptr: none, and the answer says so
  std::int64_t limit = 20'000'000;           ///< warp instructions of one run
  std::map<int, BranchChoice> branches;      ///< by PTX line
  int most_runs = 16;                        ///< of a launch, where branches on data are explored both ways
  RunPicture picture = RunPicture::None;
  std::stop_token stop;
};

enum class CheckVerdict {
  InOrder,  ///< nothing wrong (there may be doubts)
  NotInOrder,
  Stopped,  ///< unknown data, an unknown instruction, the limit: nothing is promised
};

/// A finding in words: with lines, roles, ring and slot.
struct SaidFinding {
  Rank rank = Rank::Wrong;
  std::string rule, section;  ///< RuleRow::key; section of the PTX ISA
  std::string sentence;
  int line = 0;         ///< of the PTX; 0: none in particular
  std::string source;   ///< "gemm.cu:120, inlined at gemm.cu:44"; "" without -lineinfo
  std::string role;     ///< "producer w0"
  std::string barrier;  ///< "EMPTY of K[1], phase 3"
  struct Related {
    std::string what;
    int line = 0;
    std::string source, role;
  };
  std::vector<Related> related;  ///< of a hang: the circle of who waits for whom
  std::int64_t times = 1;
  std::int64_t cycle = 0;
};

/// Waits, copies, arrives, branches that this launch did not execute.
struct NotSeen {
  int line = 0;
  std::string source, what;  ///< "wait", "copy", "arrive", "product", "branch never taken"
};

struct SaidBranch {
  int line = 0;
  std::string source, hangs_on;  ///< "ld.global at line 80"
  std::int64_t times = 0, taken = 0;
  bool guards = false;  ///< a barrier, copy or product hangs on it
};

struct Checked {
  CheckVerdict verdict = CheckVerdict::InOrder;
  std::vector<SaidFinding> findings;  ///< wrong first
  std::vector<NotSeen> not_seen;
  std::vector<SaidBranch> branches;
  std::string stopped;  ///< why, with the line
  int stopped_line = 0;
  std::vector<std::string> notes;  ///< "costs: none, no machine file for sm_120a"
  std::string kernel, target;
  std::int64_t instructions = 0, cycles = 0;
  int runs = 1;
  // Of the first run, where a picture was asked for.
  std::optional<RunTimeline> timeline;
  std::optional<ShownRun> shown{};
  std::vector<MapUse> maps{};  ///< for other sizes that are worth a look
};

/// The kernel of that name; where there is no name, the text's only one. Faults are of `file`.
Result<const PtxFunction*> find_entry(const PtxModule& module, const std::string& file, const std::string& name);

/// `file` names the text in faults. Fails where the text has no structure, the kernel is not in it, the launch does not fit it, or a line
/// of `options.branches` has no branch.
Result<Checked> check(const PtxModule& module, const std::string& file, const Launch& launch, const CheckOptions& options);
Result<Checked> check(std::string text, const std::string& file, const Launch& launch, const CheckOptions& options);

}  // namespace heddle::ptx
