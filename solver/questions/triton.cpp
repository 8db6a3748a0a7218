#include "solver/questions/triton.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <future>

#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/base/clock.h"
#include "core/check/checker.h"
#include "core/instance/instance.h"
#include "core/triton/back/give_back.h"
#include "core/triton/kernel/own_schedule.h"
#include "core/triton/memory/latencies.h"
#include "solver/search/solve.h"

namespace heddle::solver {
namespace {

using triton::Comparison;
using triton::Side;
using triton::Whose;

constexpr int kMostStages = 8;

/// Tensor memory is allocated by powers of two.
std::int64_t allocated(std::int64_t columns) {
  return columns > 0 ? std::max<std::int64_t>(32, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns)))) : 0;
}

void measure(Side& side) {
  if (!side.schedule) return;
  const Usage usage = compute_usage(*side.problem, *side.schedule);
  side.period = sustainable_period(*side.problem, *side.schedule).cycles();
  if (side.shared_bytes == 0) side.shared_bytes = usage.smem_bytes;
  if (side.tmem_columns == 0) side.tmem_columns = allocated(usage.tmem_columns);
  if (side.warps == 0) side.warps = usage.warps;
  side.groups = static_cast<int>(std::count_if(side.schedule->groups.begin(), side.schedule->groups.end(),
                                               [](const ScheduleGroup& group) { return group.warps > 0; }));
  side.stages = stage_count(*side.schedule);
}

std::string first_fault(const Error& error) {
  return error.faults.empty() ? std::string("no reason given") : to_string(error.faults.front());
}

/// With rings of as many slots as Triton builds for these stages; nothing where they do not fit.
std::optional<Schedule> with_tritons_rings(const Problem& problem, const Constraints& constraints, Schedule schedule) {
  const auto used = std::count_if(schedule.groups.begin(), schedule.groups.end(), [](const ScheduleGroup& g) { return g.warps > 0; });
  if (used > 1) return schedule;  // specialized: rings are as deep as num_stages says, whatever the stages
  std::vector<int> stage;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) stage.push_back(static_cast<int>(schedule.stage(OpId(i))));
  for (std::size_t c = 0; c < problem.channels.size(); ++c)
    if (const Channel& channel = problem.channels[c]; triton::filled_by_load(problem, channel))
      schedule.depths[c] = std::max(schedule.depths[c], triton::ring_slots(problem, channel, stage));
  return check(problem, schedule, constraints).valid() ? std::optional(std::move(schedule)) : std::nullopt;
}

/// What Triton builds and the free reading has no words for.
std::string beyond_free(std::int64_t warps, const triton::Native& free, const triton::Native& own) {
  std::vector<std::string> words;
  const auto& ops = own.kernel.body;
  const auto any = [&](const auto& has) { return std::any_of(ops.begin(), ops.end(), has); };
  const auto is_copy = [](const TileOp& op) { return op.kind == "load" && op.attrs.contains("variant"); };
  const auto copies = [&](const triton::Native& native) {
    return std::count_if(native.kernel.body.begin(), native.kernel.body.end(), is_copy);
  };
  if (any([](const TileOp& op) { return op.kind == "mma"; }) && warps > 4 * std::max<std::int64_t>(1, free.cut.factor))
    words.push_back(fmt::format("a tile that {} warps share otherwise than by rows", warps));
  if (copies(own) > copies(free)) words.emplace_back("an asynchronous copy by pointer that no mma reads");
  if (any([](const TileOp& op) { return op.kind == "tma_load" || op.kind == "load"; }))
    words.emplace_back("loads issued by the warps that compute");
  return fmt::format("{}", fmt::join(words, ", or "));
}

class ThreeSides {
 public:
  ThreeSides(const TritonRequest& request, std::stop_token stop, const TritonListener& listener)
      : request_(request), stop_(std::move(stop)), listener_(listener) {}

  Result<Comparison> run() {
    comparison_.kernel = program_.kernel;
    comparison_.machine = request_.machine.name;
    comparison_.file = program_.file;
    comparison_.loop = site_.number;
    for (const Whose whose : triton::kAllWhose) comparison_.sides[static_cast<std::size_t>(whose)].whose = whose;
    const auto& native = request_.loop.by(triton::TextReading::Triton);
    if (!native) return native.error();
    own(*native);
    if (listener_) listener_(comparison_);
    if (!stopped()) {
      // The two are independent; the slower one decides how long it takes.
      std::future<Side> machine = std::async(std::launch::async, [this] { return best_of_machine(); });
      best_of_triton();
      if (listener_) listener_(comparison_);
      side(Whose::BestOfMachine) = machine.get();
      Side& best = side(Whose::BestOfMachine);
      if (const Side* known = at_hand({Whose::BestOfTriton, Whose::Tritons}))
        no_worse_than(known, best, "Triton's, which the machine can run; the free reading " + what_free_has(best, *known->native));
      if (listener_) listener_(comparison_);
    }
    if (!stopped() && request_.options) options();
    comparison_.cancelled = stop_.stop_requested();
    return std::move(comparison_);
  }

 private:
  bool stopped() {
    if (!stop_.stop_requested()) return false;
    for (Side& side : comparison_.sides)
      if (!side.schedule && side.why_not.empty()) side.why_not = "cancelled";
    return true;
  }

  Side& side(Whose whose) { return comparison_.sides[static_cast<std::size_t>(whose)]; }
  double left() const { return std::max(0.1, request_.timeout_seconds - seconds_between(began_, Clock::now())); }

  /// The problem of a reading; false, and why, where there is none.
  bool pose(Side& side, std::shared_ptr<const triton::Native> native) {
    side.kernel = std::make_shared<const Kernel>(kernel_of(*native));
    side.native = std::move(native);
    Result<Problem> problem = make_problem({side.kernel, machine_});
    if (!problem) {
      side.why_not = first_fault(problem.error());
      return false;
    }
    side.problem = std::make_shared<const Problem>(*std::move(problem));
    side.constraints = triton::triton_rules(program_, *side.native, *side.problem);
    return true;
  }

  void own(std::shared_ptr<const triton::Native> native) {
    Side& mine = side(Whose::Tritons);
    const Clock::time_point begin = Clock::now();
    if (!pose(mine, std::move(native))) return;
    if (mine.native->has_own) {
      mine.schedule = triton::own_schedule(*mine.native, *mine.problem);
      if (mine.native->left_alone) mine.explanation = "Triton schedules nothing in this loop: it runs as it stands, in one stage";
      if (!mine.schedule) mine.why_not = "the order that the text has waits for itself: it cannot run in this model";
    } else {
      const std::int64_t said = site_.num_stages > 0 ? site_.num_stages : program_.metadata.num_stages.value_or(3);
      mine.schedule =
          triton::pipelined_schedule(*mine.native, *mine.problem, static_cast<int>(std::clamp<std::int64_t>(said, 1, kMostStages)), 0);
      mine.explanation = mine.native->why_no_own + fmt::format("; predicted by the rules of its pipeliner for num_stages {}", said);
      if (!mine.schedule) mine.why_not = mine.native->why_no_own;
    }
    const triton::TritonMemory memory = triton::memory_of(program_);
    if (memory.unsure.empty()) {
      mine.shared_bytes = memory.shared_bytes;
      mine.tmem_columns = memory.tmem_columns;
      mine.warps = static_cast<int>(memory.warps);
    }
    measure(mine);
    mine.warps = std::max(mine.warps, static_cast<int>(program_.num_warps));
    if (mine.schedule) {
      mine.period = mine.schedule->ii;  // waits included that the problem does not ask for
      const Verdict verdict = check(*mine.problem, *mine.schedule);
      mine.status = verdict.valid() ? Status::Feasible : Status::Invalid;
      if (!verdict.valid() && mine.explanation.empty()) mine.explanation = "by the model " + verdict.violations.front().message;
      if (mine.explanation.empty()) mine.explanation = sustainable_period(*mine.problem, *mine.schedule).sentence;
    }
    mine.seconds = seconds_between(begin, Clock::now());
  }

  void solve_side(Side& mine, double seconds) {
    SolveRequest request;
    request.problem = *mine.problem;
    request.constraints = mine.constraints;
    request.timeout_seconds = seconds;
    request.seed = request_.seed;
    if (mine.whose == Whose::BestOfTriton) request.incumbent = side(Whose::Tritons).schedule;
    SolveOutcome outcome = solve(request, stop_);
    mine.status = outcome.status;
    mine.lower_bound = outcome.lower_bound;
    mine.explanation = outcome.explanation;
    mine.seconds = outcome.seconds.total;
    mine.schedule = std::move(outcome.schedule);
    if (!mine.schedule) mine.why_not = outcome.explanation.empty() ? "no schedule was found in time" : outcome.explanation;
  }

  void best_of_triton() {
    Side& mine = side(Whose::BestOfTriton);
    const Side& own = side(Whose::Tritons);
    mine.native = own.native;
    mine.kernel = own.kernel;
    mine.problem = own.problem;
    mine.constraints = own.constraints;
    mine.why_not = own.problem ? "" : own.why_not;
    if (!mine.problem) return;
    solve_side(mine, left());
    measure(mine);
    if (own.schedule && (!mine.schedule || own.period < mine.period)) one_stream(mine);
    if (mine.schedule) {
      if (auto built = with_tritons_rings(*mine.problem, mine.constraints, *mine.schedule)) {
        mine.schedule = *std::move(built);
      } else {
        // Its II is a bound all the same.
        mine.status = Status::Feasible;
        mine.explanation += "; rings as deep as Triton builds them for these stages do not fit: a bound, not a schedule that it could run";
      }
      mine.schedule->name = "best of Triton";
    }
    measure(mine);
    // The text's warps are there, whatever they have to do.
    if (mine.schedule) mine.warps = std::max(mine.warps, static_cast<int>(program_.num_warps));
    give_back(mine);
    no_worse_than(at_hand({Whose::Tritons}), mine,
                  "Triton's own; " + (mine.schedule ? fmt::format("all others that were found take {} cycles or more", mine.period)
                                                    : "none other was found: " + mine.why_not));
  }

  /// The best with all ops in one group, as Triton has it without warp specialization; taken where it is faster.
  void one_stream(Side& mine) {
    if (std::none_of(mine.constraints.begin(), mine.constraints.end(),
                     [](const UserConstraint& rule) { return rule.kind == ConstraintKind::DifferentGroup; }))
      return;
    Side other = mine;
    other.schedule.reset();
    UserConstraint one;
    one.name = "one group";
    one.kind = ConstraintKind::MaxGroups;
    one.high = 1;
    other.constraints = {one};
    solve_side(other, left());
    measure(other);
    if (other.schedule && (!mine.schedule || other.period < mine.period)) mine = std::move(other);
  }

  /// What the text with this schedule would need; where a rule of Triton's passes refuses it, its II is a bound.
  void give_back(Side& mine) const {
    if (!mine.schedule) return;
    const Result<triton::GivenBack> back =
        triton::give_back(program_, site_, *mine.native, *mine.problem, *mine.schedule, request_.machine);
    if (back && back->memory.unsure.empty()) {
      mine.shared_bytes = back->memory.shared_bytes;
      mine.tmem_columns = back->memory.tmem_columns;
    } else if (!back && program_.form != triton::TextForm::Final && program_.form != triton::TextForm::Specialized) {
      mine.status = Status::Feasible;
      mine.explanation += "; a bound: it cannot be given to Triton: " + first_fault(back.error());
    }
  }

  /// "has none, proved: ...; it cannot express ...".
  std::string what_free_has(const Side& free, const triton::Native& own) const {
    if (!free.problem) return "refuses the loop: " + free.why_not;
    const bool none = free.status == Status::Infeasible;
    if (!none && free.status != Status::Optimal)
      return free.schedule ? fmt::format("has none as good yet: {} cycles, not proved", free.period) : "found none in time";
    std::string text = none ? "has none, proved: " + free.why_not : fmt::format("has none of fewer than {} cycles, proved", free.period);
    if (const std::string words = beyond_free(program_.num_warps, *free.native, own); !words.empty())
      text += "; it cannot express " + words;
    return text;
  }

  Side best_of_machine() {
    Side mine;
    mine.whose = Whose::BestOfMachine;
    const auto& native = request_.loop.by(triton::TextReading::Free);
    if (!native) {
      mine.why_not = first_fault(native.error());
      return mine;
    }
    if (!pose(mine, *native)) return mine;
    solve_side(mine, left());
    if (mine.schedule) mine.schedule->name = "best of the machine";
    measure(mine);
    return mine;
  }

  /// The first of these sides that runs and takes fewest cycles; where none keeps all rules of the model, Triton's own, which runs as well.
  const Side* at_hand(std::initializer_list<Whose> sides) {
    const Side* best = nullptr;
    for (const Whose whose : sides)
      if (const Side& each = side(whose); runs(each) && (!best || each.period < best->period)) best = &each;
    const Side& own = side(Whose::Tritons);
    return best || !own.schedule || own.period == 0 ? best : &own;
  }

  /// What was found already is no worse than the best, also where a search cannot express it or had no time to find it.
  void no_worse_than(const Side* known, Side& mine, const std::string& why) {
    if (!known || (runs(mine) && (!runs(*known) || mine.period <= known->period))) return;
    Side taken = *known;
    taken.whose = mine.whose;
    taken.taken_from = known->taken_from.value_or(known->whose);
    taken.schedule->name = mine.whose == Whose::BestOfMachine ? "best of the machine" : "best of Triton";
    taken.seconds = mine.seconds;
    // Two searches that came to their ends are about all that either could express.
    const bool settled = mine.status == Status::Optimal || mine.status == Status::Infeasible;
    if (runs(taken)) taken.status = settled && known->status == Status::Optimal ? Status::Optimal : Status::Feasible;
    if (mine.status != Status::Infeasible) taken.lower_bound = std::min(known->lower_bound, mine.lower_bound);
    taken.explanation = why;
    mine = std::move(taken);
  }

  /// The triton reading of the text as if it had so many warps; null where it refuses the loop.
  std::shared_ptr<const triton::Native> with_warps(std::int64_t warps) const {
    if (warps == program_.num_warps) return comparison_.of(Whose::Tritons).native;
    triton::TritonProgram other = program_;
    other.num_warps = warps;
    Result<triton::Native> native = triton::to_native(other, site_, triton::TextReading::Triton);
    if (!native) return nullptr;
    // Layouts are those of the text's own number of warps.
    for (TileValue& value : native->kernel.values) value.registers.reset();
    return std::make_shared<const triton::Native>(*std::move(native));
  }

  /// What num_stages and num_warps would change.
  void options() {
    const triton::Native& own = *comparison_.of(Whose::Tritons).native;
    // Without an mma only the loop's own num_stages count, and it has none.
    comparison_.stages_of_loop = own.left_alone && site_.products == 0 && site_.num_stages == 0;
    const std::int64_t now_stages = comparison_.stages_of_loop ? 1
                                    : own.left_alone           ? triton::stages_meant(program_, site_)
                                    : site_.num_stages > 0     ? site_.num_stages
                                                               : program_.metadata.num_stages.value_or(0);
    for (const std::int64_t warps : {4, 8}) {
      const auto native = with_warps(warps);
      if (!native) continue;
      const Result<Problem> problem = make_problem({std::make_shared<const Kernel>(native->kernel), machine_});
      for (int stages = 1; stages <= std::max<std::int64_t>(5, std::min<std::int64_t>(now_stages, kMostStages)); ++stages) {
        if (stop_.stop_requested()) return;
        triton::OptionRow& row = comparison_.options.emplace_back();
        row.num_stages = stages;
        row.num_warps = warps;
        row.now = warps == program_.num_warps && stages == now_stages;
        if (!problem) {
          row.why_not = first_fault(problem.error());
          continue;
        }
        const auto schedule =
            triton::pipelined_schedule(*native, *problem, stages, static_cast<int>(std::clamp<std::int64_t>(now_stages, 0, kMostStages)));
        if (!schedule) {
          row.why_not = "its order waits for itself in this model";
          continue;
        }
        const Usage usage = compute_usage(*problem, *schedule);
        row.period = schedule->ii;
        row.shared_bytes = usage.smem_bytes;
        if (row.shared_bytes > problem->limits.smem_bytes)
          row.why_not = fmt::format("needs {} bytes of shared memory, there are {}", row.shared_bytes, problem->limits.smem_bytes);
        const int registers = usage.register_peak.empty() ? 0 : *std::max_element(usage.register_peak.begin(), usage.register_peak.end());
        if (row.why_not.empty() && registers > problem->limits.registers_per_thread)
          row.why_not =
              fmt::format("needs {} registers per thread, there are {}: it spills", registers, problem->limits.registers_per_thread);
      }
    }
  }

  const TritonRequest& request_;
  const triton::TritonProgram& program_ = request_.loop.program();
  const triton::LoopSite& site_ = request_.loop.site();
  const std::shared_ptr<const Machine> machine_ = std::make_shared<const Machine>(request_.machine);
  const std::stop_token stop_;
  const TritonListener& listener_;
  const Clock::time_point began_ = Clock::now();
  Comparison comparison_;
};

}  // namespace

Result<Comparison> compare_triton(const TritonRequest& request, std::stop_token stop, const TritonListener& listener) {
  return ThreeSides(request, std::move(stop), listener).run();
}

}  // namespace heddle::solver
