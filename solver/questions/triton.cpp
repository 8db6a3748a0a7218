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
#include "solver/baselines/agents.h"
#include "solver/baselines/program.h"
#include "solver/search/solve.h"

namespace heddle::solver {
namespace {

using triton::Comparison;
using triton::Side;
using triton::Whose;

constexpr int kMostStages = 8;

/// What a program of Triton's sustains: its starts, or nothing where its groups wait for each other.
std::optional<Schedule> timed(const triton::Native& native, Problem problem, Program program, const std::string& note) {
  // A load that was not pipelined is waited for where it is issued.
  for (std::size_t i = 0; i < problem.ops.size(); ++i)
    if (Op& op = problem.ops[i]; native.origins[i].waits) op.window = std::max(op.window, op.latency);
  while (program.streams.size() > 1 && program.streams.back().empty()) program.streams.pop_back();
  // A ring of the model may stand for two of Triton's (a value that is read now and an iteration later).
  std::vector<std::string> log;
  Timing timing = running_schedule(problem, program, log);
  if (timing.deadlock) return std::nullopt;
  Schedule schedule = std::move(timing.schedule);
  schedule.name = "triton's own";
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.turns = false;
  schedule.provenance = {"imported", "Triton", note};
  return schedule;
}

bool is_load(const Op& op) { return op.kind == "tma_load" || op.kind == "load"; }

Program own_program(const triton::Native& native, const Problem& problem) {
  const triton::OwnOrder own = own_order(native, problem);
  Program program;
  for (const auto& stream : own.streams) {
    std::vector<Step>& steps = program.streams.emplace_back();
    for (const auto& [op, lag] : stream) steps.push_back({op, lag});
  }
  program.depths = own.depths;
  return program;
}

/// The stages that Triton's pipeliner would choose for another num_stages: loads run num_stages - 1 iterations ahead of what reads them.
/// Where the text has stages for `known`, all but the loads move by the difference; where it has none, all else is in one stage.
std::optional<Schedule> pipelined(const triton::Native& native, const Problem& problem, int num_stages, int known) {
  const std::string note = fmt::format("predicted by the rules of Triton's pipeliner, num_stages {}", num_stages);
  std::vector<int> stage(problem.ops.size(), 0);
  std::vector<std::int64_t> cluster(problem.ops.size(), 0);
  const bool own = native.has_own && known > 0;
  const auto stage_of = [&](OpId op) {
    return static_cast<int>(std::clamp<std::int64_t>(native.origins[op.index()].stage.value_or(0), 0, 1000));
  };
  std::vector<bool> ahead(problem.ops.size(), true);  ///< loads that are issued in an earlier stage than their use
  for (const Edge& edge : problem.edges)
    if (edge.distance == 0 && own && stage_of(edge.from) >= stage_of(edge.to)) ahead[edge.from.index()] = false;
  // Offsets and bounds of a load go where it goes.
  for (const Edge& edge : problem.edges)
    if (problem.op(edge.from).kind == "opaque") ahead[edge.from.index()] = ahead[edge.to.index()];
  if (own && std::any_of(native.origins.begin(), native.origins.end(), [](const triton::Origin& o) { return o.partition.has_value(); })) {
    // Partitions keep their orders; rings of loads are as deep as num_stages says.
    Program program = own_program(native, problem);
    for (std::size_t c = 0; c < problem.channels.size(); ++c)
      if (const Channel& channel = problem.channels[c]; is_load(problem.op(channel.writer)) && channel.space == Space::Smem)
        program.depths[c] = std::clamp(num_stages, 1, std::max(1, channel.max_depth));
    return timed(native, problem, std::move(program), note);
  }
  for (std::size_t i = 0; i < stage.size(); ++i) {
    const bool load = (is_load(problem.ops[i]) || problem.ops[i].kind == "opaque") && ahead[i];
    if (own) {
      stage[i] = stage_of(OpId(i));
      cluster[i] = native.origins[i].cluster.value_or(0);
      if (!load) stage[i] = std::max(0, stage[i] + num_stages - known);
    } else {
      stage[i] = load ? 0 : num_stages - 1;
      cluster[i] = load;
    }
  }
  // What reads a load that has no iterations left to run ahead comes after it.
  for (bool more = true; more;) {
    more = false;
    for (const Edge& edge : problem.edges) {
      const std::size_t from = edge.from.index(), to = edge.to.index();
      if (edge.distance == 0 && stage[to] < stage[from]) {
        stage[to] = stage[from];
        more = true;
      } else if (edge.distance == 0 && stage[to] == stage[from] && cluster[to] < cluster[from]) {
        cluster[to] = cluster[from];
        more = true;
      }
    }
  }
  std::vector<OpId> order = program_order(problem);
  std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) { return cluster[a.index()] < cluster[b.index()]; });
  Program program;
  std::vector<Step>& stream = program.streams.emplace_back();
  for (const OpId op : order) stream.push_back({op, stage[op.index()]});
  for (const Channel& channel : problem.channels) program.depths.push_back(triton::ring_slots(problem, channel, stage));
  return timed(native, problem, std::move(program), note);
}

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
  if (copies(own) > copies(free)) words.emplace_back("an asynchronous copy by pointer that no product reads");
  if (any([](const TileOp& op) { return op.kind == "tma_load" || op.kind == "load"; }))
    words.emplace_back("loads issued by the warps that compute");
  return fmt::format("{}", fmt::join(words, ", or "));
}

class ThreeSides {
 public:
  ThreeSides(const TritonRequest& request, std::stop_token stop, const TritonListener& listener)
      : request_(request), stop_(std::move(stop)), listener_(listener) {}

  Result<Comparison> run() {
    comparison_.kernel = request_.program.kernel;
    comparison_.machine = request_.machine.name;
    comparison_.file = request_.program.file;
    comparison_.loop = request_.loop.number;
    for (const Whose whose : triton::kAllWhose) comparison_.sides[static_cast<std::size_t>(whose)].whose = whose;
    Result<triton::Native> native = triton::to_native(request_.program, request_.loop, triton::Reading::Triton);
    if (!native) return native.error();
    own(*std::move(native));
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
  bool pose(Side& side, triton::Native native) {
    side.kernel = std::make_shared<const Kernel>(kernel_of(native));
    side.native = std::make_shared<const triton::Native>(std::move(native));
    Result<Problem> problem = make_problem({side.kernel, machine_});
    if (!problem) {
      side.why_not = first_fault(problem.error());
      return false;
    }
    side.problem = std::make_shared<const Problem>(*std::move(problem));
    side.constraints = triton::triton_rules(request_.program, *side.native, *side.problem);
    return true;
  }

  void own(triton::Native native) {
    Side& mine = side(Whose::Tritons);
    const Clock::time_point begin = Clock::now();
    if (!pose(mine, std::move(native))) return;
    if (mine.native->has_own) {
      mine.schedule = own_schedule(*mine.native, *mine.problem);
      if (!mine.schedule) mine.why_not = "the order that the text has waits for itself: it cannot run in this model";
    } else {
      const std::int64_t said = request_.loop.num_stages > 0 ? request_.loop.num_stages : request_.program.metadata.num_stages.value_or(3);
      mine.schedule = pipelined(*mine.native, *mine.problem, static_cast<int>(std::clamp<std::int64_t>(said, 1, kMostStages)), 0);
      mine.explanation = mine.native->why_no_own + fmt::format("; predicted by the rules of its pipeliner for num_stages {}", said);
      if (!mine.schedule) mine.why_not = mine.native->why_no_own;
    }
    const triton::Memory memory = triton::memory_of(request_.program);
    if (memory.unsure.empty()) {
      mine.shared_bytes = memory.shared_bytes;
      mine.tmem_columns = memory.tmem_columns;
      mine.warps = static_cast<int>(memory.warps);
    }
    measure(mine);
    mine.warps = std::max(mine.warps, static_cast<int>(request_.program.num_warps));
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
    if (mine.schedule) mine.warps = std::max(mine.warps, static_cast<int>(request_.program.num_warps));
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
        triton::give_back(request_.program, request_.loop, *mine.native, *mine.problem, *mine.schedule, request_.machine);
    if (back && back->memory.unsure.empty()) {
      mine.shared_bytes = back->memory.shared_bytes;
      mine.tmem_columns = back->memory.tmem_columns;
    } else if (!back && request_.program.form != triton::Form::Final && request_.program.form != triton::Form::Specialized) {
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
    if (const std::string words = beyond_free(request_.program.num_warps, *free.native, own); !words.empty())
      text += "; it cannot express " + words;
    return text;
  }

  Side best_of_machine() {
    Side mine;
    mine.whose = Whose::BestOfMachine;
    Result<triton::Native> native = triton::to_native(request_.program, request_.loop, triton::Reading::Free);
    if (!native) {
      mine.why_not = first_fault(native.error());
      return mine;
    }
    if (!pose(mine, *std::move(native))) return mine;
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

  /// What num_stages and num_warps would change.
  void options() {
    const std::int64_t now_stages =
        request_.loop.num_stages > 0 ? request_.loop.num_stages : request_.program.metadata.num_stages.value_or(0);
    for (const std::int64_t warps : {4, 8}) {
      triton::Program other = request_.program;
      other.num_warps = warps;
      Result<triton::Native> native = triton::to_native(other, request_.loop, triton::Reading::Triton);
      if (!native) continue;
      // Layouts are those of the text's own number of warps.
      if (warps != request_.program.num_warps)
        for (TileValue& value : native->kernel.values) value.registers.reset();
      const Result<Problem> problem = make_problem({std::make_shared<const Kernel>(native->kernel), machine_});
      for (int stages = 1; stages <= std::max<std::int64_t>(5, std::min<std::int64_t>(now_stages, kMostStages)); ++stages) {
        if (stop_.stop_requested()) return;
        triton::OptionRow& row = comparison_.options.emplace_back();
        row.num_stages = stages;
        row.num_warps = warps;
        row.now = warps == request_.program.num_warps && stages == now_stages;
        if (!problem) {
          row.why_not = first_fault(problem.error());
          continue;
        }
        const auto schedule = pipelined(*native, *problem, stages, static_cast<int>(std::clamp<std::int64_t>(now_stages, 0, kMostStages)));
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
  const std::shared_ptr<const Machine> machine_ = std::make_shared<const Machine>(request_.machine);
  const std::stop_token stop_;
  const TritonListener& listener_;
  const Clock::time_point began_ = Clock::now();
  Comparison comparison_;
};

}  // namespace

std::optional<Schedule> own_schedule(const triton::Native& native, const Problem& problem) {
  if (!native.has_own || native.origins.size() != problem.ops.size()) return std::nullopt;
  return timed(native, problem, own_program(native, problem), "the order that the text has: stages and clusters; cycles by the model");
}

Result<Comparison> compare_triton(const TritonRequest& request, std::stop_token stop, const TritonListener& listener) {
  return ThreeSides(request, std::move(stop), listener).run();
}

}  // namespace heddle::solver
