// What people use today, as schedules: compilers' heuristics and the classical algorithms, each a deterministic
// function from a problem to a schedule. The order, the warp groups and the ring depths are the baseline's; starts are
// then the earliest legal ones (core/timing/program.h), so that no baseline is handicapped by its arithmetic.
// Nothing here is judged: a baseline whose program breaks a limit (registers, mostly) says so in its log and is
// returned with its violations.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::solver {

/// A number that the baseline's users choose themselves; a switch is 0 or 1.
struct BaselineOption {
  std::string name;
  std::int64_t standard = 0;  ///< the default
  std::int64_t low = 0, high = 1;
  std::string about;  ///< one sentence
};

using BaselineSettings = std::map<std::string, std::int64_t, std::less<>>;

struct BaselineOutcome {
  Schedule schedule;             ///< provenance "baseline"; not judged
  BaselineSettings settings;     ///< all options, as they were
  std::vector<std::string> log;  ///< decisions in the order they were taken, one line each
};

/// What a run is given. Settings are complete and in range.
struct BaselineInput {
  const Problem& problem;
  const BaselineSettings& settings;
  double timeout_seconds = 60;  ///< only baselines that search look at it
  std::stop_token stop;

  std::int64_t setting(std::string_view name) const { return settings.find(name)->second; }
};

struct Baseline {
  std::string name;    ///< "triton"
  std::string about;   ///< one sentence
  std::string source;  ///< where the rules come from
  std::vector<BaselineOption> options;
  /// The reason why this baseline has nothing to say about the problem; nothing when it applies.
  std::optional<std::string> (*why_not)(const Problem& problem) = nullptr;
  Result<BaselineOutcome> (*run)(const BaselineInput& input) = nullptr;
};

/// In the order in which a table should show them.
const std::vector<Baseline>& baselines();
/// Null when there is none of this name.
const Baseline* find_baseline(std::string_view name);

/// A baseline with some of its options chosen, as it is typed: "tawa", "tawa:D=4,P=1".
struct BaselineChoice {
  const Baseline* baseline = nullptr;
  BaselineSettings settings;  ///< those that were named
};
Result<BaselineChoice> parse_baseline(std::string_view text);

/// Faults: unknown options, values out of range, a problem to which the baseline does not apply, and whatever stops it.
/// Never throws; the same request gives the same schedule (twill-2phase: unless its time runs out).
Result<BaselineOutcome> run_baseline(const Problem& problem, const Baseline& baseline, const BaselineSettings& settings = {},
                                     double timeout_seconds = 60, std::stop_token stop = {});

}  // namespace heddle::solver
