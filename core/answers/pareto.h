// The answer to "what does a smaller II cost?": the front of II against one or more resources.
//
// The front is found step by step. A step is one question, the least II under caps, and then the least of each resource at
// that II, in the order given; its answer is a point that no other schedule within the caps beats in II and resources at
// once. What lies beyond a point is covered by further steps, each with one cap below what the point takes. Steps are all
// that is kept: they prove the front, and a search goes on from them.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/answers/found_period.h"
#include "core/base/json.h"
#include "core/base/result.h"
#include "core/base/text_style.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"

namespace heddle {

/// Shared memory in bytes; tensor memory in columns as they are allocated (a power of two); registers per thread of the group
/// that takes most; stages of the pipeline.
enum class Resource { Warps, Registers, Smem, Stages, Tmem };
const char* to_string(Resource resource);
/// "49152 bytes of shared memory", "1 stage"
std::string amount_text(std::int64_t amount, Resource resource);

std::int64_t resource_value(const Problem& problem, const Schedule& schedule, Resource resource);

/// No schedule takes less, by arithmetic.
std::int64_t least_possible(const Problem& problem, Resource resource);

/// The next smaller amount that there is: budgets come in granules, columns in powers of two. Negative: none.
std::int64_t next_below(const Problem& problem, std::int64_t amount, Resource resource);

inline constexpr std::int64_t kNoCap = std::numeric_limits<std::int64_t>::max();

/// No amount exceeds its cap. Pre: as many of them.
bool within(const std::vector<std::int64_t>& amounts, const std::vector<std::int64_t>& caps);

struct ParetoStep {
  std::vector<std::int64_t> caps;  ///< per resource of the front; kNoCap
  /// Optimal: II and all resources proved. Feasible: a schedule, not proved. Infeasible: none at any II. Unknown: none found.
  Status status = Status::Unknown;
  Cycle lower_bound = 0;    ///< proved: no schedule within the caps has a smaller II
  std::string explanation;  ///< why II is not smaller, or why there is no schedule
  std::optional<Schedule> schedule;
  std::vector<std::int64_t> values;  ///< what it takes of each resource; empty without a schedule
  /// Of that schedule, in cycles, where a period decides (core/simulate/forecast.h): a prediction of this order, not the least within the
  /// caps.
  std::optional<double> contended_period{};
};

/// The least period that was found with no more than this of the resource, whatever its II.
struct PeriodPoint {
  std::int64_t amount = 0;  ///< that its schedule takes
  FoundPeriod period;
  Schedule schedule;
};

struct Pareto {
  std::vector<Resource> against;
  int max_ii_factor = 4;          ///< steps whose II would exceed this multiple of the first are not gone into
  std::vector<ParetoStep> steps;  ///< in the order in which they were settled
  /// The layouts that were open, and those that every point has (open_layouts_text(), choices_in_words()); empty: none were.
  std::string layouts_open, layouts;
  std::string refusal;  ///< why nothing was swept: several combinations of layouts are left; empty: it was
  /// The same against the period, where one decides and there is one resource: the shortest first, each with less of the resource than
  /// those before. The last one ends it, because no order is known that takes less, or because of the time.
  std::vector<PeriodPoint> by_period;
  bool by_period_cut = false;  ///< because of the time, or stopped
  bool from_file = false;      ///< some steps, and what follows from them, are what a file says: not proved by this process
  bool complete = false;       ///< every step there is was settled, and proved up to the greatest II
  bool cancelled = false, timed_out = false;
  std::int64_t queries = 0;
  double seconds = 0;
  std::string solver;
  std::uint64_t seed = 0;
  std::string fault;  ///< an internal error; empty when all is well
};

/// Says the period of every schedule of the front. Pre: chooses_by_period(problem).
void say_periods(const Problem& problem, Pareto& front);

/// The greatest II looked at; 0 before the first step.
Cycle ii_limit(const Pareto& front);

/// Nothing more can be learnt from the step: proved, or known to need a greater II than is looked at.
bool settled(const Pareto& front, const ParetoStep& step);

/// Steps whose points are on the front, by II and then by resources: no other known schedule is as good in everything. The
/// point of an optimal step is on the front for good.
std::vector<std::size_t> front_points(const Pareto& front);

// A front in words, as a table, and as a small picture.

/// "front of II against warps: 4 points, complete and proved".
std::string pareto_headline(const Pareto& front);

/// One point: "II 1024 with 131072 bytes of shared memory, proved".
std::string point_sentence(const Pareto& front, const ParetoStep& step);

/// Headline, table of points, where and why the front ends, and a staircase when there is one resource.
std::string pareto_summary(const Problem& problem, const Pareto& front, const TextStyle& style);

/// II over the resource: what the least II is with that much of it. Empty for fewer than two points or several resources.
std::string staircase(const Pareto& front, const TextStyle& style);

// Fronts: heddle.pareto/1, the file a search goes on from and what `heddle pareto --json` prints.

/// Every step with its schedule, and the points of the front as they stand.
Json pareto_schema();
Json pareto_json(const Problem& problem, const Constraints& constraints, const Pareto& front);

/// Reads what a search can go on from: resources, steps and the factor on II. Faults: another problem or other constraints,
/// schedules that the checker rejects or that break the caps of their step. Proofs are believed.
Result<Pareto> read_pareto(const std::string& path, const Problem& problem, const Constraints& constraints,
                           std::vector<Fault>* warnings = nullptr);
Result<Pareto> parse_pareto(std::string_view text, const std::string& file_name, const Problem& problem, const Constraints& constraints,
                            std::vector<Fault>* warnings = nullptr);

}  // namespace heddle
