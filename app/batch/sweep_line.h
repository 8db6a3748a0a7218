// One line of a tuner's history (heddle.tuning/1), of the results of `heddle batch`, or of the journal that it writes while it
// runs: what the sweep tab shows of it. Lines are read leniently, because a file may be of a newer version and is still being
// written: members that are not known are left out, one that is there must be what it should be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/subtile.h"
#include "core/problem/problem.h"

namespace heddle::app {

enum class SweepKind {
  Tuning,   ///< heddle.tuning/1
  Results,  ///< of heddle batch, complete
  Journal   ///< of heddle batch, while it runs
};

/// What one parameter of a configuration is.
using SweepValue = std::variant<double, std::string>;
std::string sweep_text(const SweepValue& value);

/// A parameter that varies, as far as the file says so ahead.
struct SweepParameter {
  std::string name;
  bool log = false;
  std::vector<SweepValue> values;  ///< all there are, in order; empty: not a list
  std::optional<double> low, high;
};

/// A run begins.
struct SweepHead {
  std::string kernel, machine, objective, unit, fidelity, method, command, subject;
  std::vector<SweepParameter> parameters;
  Scope params;  ///< fixed for all configurations
  std::optional<std::int64_t> seed, budget, configurations, known_feasible;
  std::optional<double> lower_bound;  ///< proved, of all configurations
};

/// One configuration, or one job.
struct SweepRow {
  std::int64_t number = 0;  ///< of the evaluation, or of the job
  std::string status, by, fidelity, why;
  std::vector<std::pair<std::string, SweepValue>> config;
  std::optional<double> value, bound, period, tflops, seconds;
  std::optional<std::int64_t> ii, stages, groups, warps, smem, registers, excluded, open;
  bool cached = false, schedule = false;  ///< recalled; the line holds a schedule
  std::string batch;                      ///< Results, Journal: which; rows of others are none of this sweep
  std::int64_t of = 0;                    ///< jobs in all; 0: not said
};

/// A run has ended by itself.
struct SweepEnd {
  std::string reason;
  bool proved = false;  ///< no other configuration is better, as the file says
};

using SweepLine = std::variant<SweepHead, SweepRow, SweepEnd>;

/// Which kind of file begins with this text; nothing: none of them.
std::optional<SweepKind> sweep_kind(std::string_view beginning);

/// Nothing for what is to be passed over: an empty line, a line of the journal whose digits do not fit. `where` names file and
/// line in faults. A line that contradicts itself is one: what it claims is not shown.
Result<std::optional<SweepLine>> parse_sweep_line(SweepKind kind, std::string_view line, const std::string& where);

/// A point with everything that is needed to open it.
struct SweepPointSource {
  std::string kernel, machine, name;
  Scope params;
  std::vector<Subtile> subtiles;
  std::vector<std::string> demands;
  std::string schedule;  ///< text of a heddle.schedule/1; empty: there is none
  /// What was proved of it, of the problem with this hash and without further demands.
  std::string problem_hash, explanation;
  std::optional<std::int64_t> lower_bound;
};
/// `head` is of the run that the line belongs to.
Result<SweepPointSource> parse_sweep_point(SweepKind kind, std::string_view line, const SweepHead& head, const std::string& where);

}  // namespace heddle::app
