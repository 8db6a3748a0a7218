// The facts are those of one simulated run; how fast it would be with other rings takes further runs.
#include "core/answers/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/bounds.h"
#include "core/analysis/channels.h"
#include "core/answers/simulation.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/chart/chart_layout.h"
#include "core/simulate/kernel_bound.h"

namespace heddle {
namespace {

constexpr double kWorth = 0.02;     ///< rings limit where deeper ones gain this part of the time
constexpr double kBusy = 0.9;       ///< a unit that is as busy as this limits
constexpr std::int64_t kLeast = 8;  ///< iterations, below which there is no steady part

bool is_access(const Problem& problem, const Schedule& schedule, OpId op) {
  if (problem.has_producer_group()) return schedule.group(op).index() == 0;
  const std::vector<UnitUse>& uses = problem.op(op).uses;
  return std::any_of(uses.begin(), uses.end(), [&](const UnitUse& use) { return problem.unit(use.unit).role == UnitRole::Copy; });
}

/// As time_text(), and what is too short for that in nanoseconds.
std::string duration(double microseconds) {
  return microseconds < 0.95 ? fmt::format("{:.0f} ns", 1000 * microseconds) : time_text(microseconds);
}

void take_side(double& side, std::string& by, double part, const std::string& name) {
  if (part <= side) return;
  side = std::min(part, 1.0);
  by = name;
}

class TrafficMaker {
 public:
  TrafficMaker(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options, const KernelRun& run,
               const std::vector<TimePart>& parts)
      : instance_(instance),
        machine_(instance.machine()),
        problem_(instance.problem()),
        schedule_(schedule),
        options_(options),
        run_(run),
        parts_(parts) {}

  Traffic make() {
    result_.name = schedule_.name;
    result_.ii = schedule_.ii;
    result_.tokens = tokens_per_iteration(problem_, schedule_);
    result_.fault = run_.fault;
    if (!run_.fault.empty()) return std::move(result_);
    result_.ctas = run_.ctas;
    result_.period = run_.sm.period.cycles();
    window();
    rings();
    result_.balance.push_back(balance_of(schedule_.name.empty() ? "this schedule" : schedule_.name, problem_, schedule_, run_));
    best();
    variants();
    floor();
    judge();
    return std::move(result_);
  }

 private:
  void window() {
    const std::size_t loop_ops = problem_.ops.size();
    std::vector<std::vector<Cycle>> starts(loop_ops);
    for (const SimulatedOp& op : run_.sm.timeline) {
      if (op.op.index() >= loop_ops) continue;
      auto& of = starts[op.op.index()];
      of.resize(std::max(of.size(), static_cast<std::size_t>(op.iteration) + 1));
      of[static_cast<std::size_t>(op.iteration)] = op.start;
      result_.end = std::max(result_.end, op.end);
    }
    if (loop_ops == 0) return;
    std::size_t iterations = starts[0].size();
    for (const auto& of : starts) iterations = std::min(iterations, of.size());
    result_.iterations = static_cast<std::int64_t>(iterations);
    const bool cut = run_.sm.trips > result_.iterations;
    Cycle all_past = 0, none_done = result_.end;
    for (const auto& of : starts) {
      if (iterations == 0) return;
      all_past = std::max(all_past, of[iterations / 4]);
      none_done = std::min(none_done, of[iterations - 1]);
    }
    // Beyond this others would be at work that the timeline does not have.
    if (cut) result_.end = none_done;
    result_.steady = result_.iterations >= kLeast && all_past < none_done;
    result_.from = result_.steady ? all_past : 0;
    result_.to = result_.steady ? none_done : result_.end;
  }

  void rings() {
    for (RingFill& fill : ring_fill(run_.program.problem, run_.program.schedule, run_.sm.timeline, 0, result_.end)) {
      RingTraffic ring;
      for (const RingTokens& tokens : result_.tokens.rings)
        if (tokens.channel == fill.channel) ring.tokens = tokens;
      ring.access = is_access(problem_, schedule_, problem_.channel(fill.channel).writer);
      ring.taken = mean_value(fill.taken, result_.from, result_.to);
      ring.filled = mean_value(fill.filled, result_.from, result_.to);
      ring.starving = share_of_time(fill.starving, result_.from, result_.to);
      ring.full = share_of_time(fill.full, result_.from, result_.to);
      ring.fill = std::move(fill);
      result_.rings.push_back(std::move(ring));
    }
  }

  double launch_us() const { return static_cast<double>(machine_.shared.launch_ns) / 1000; }
  double us(double cycles) const { return cycles / run_.clock.mhz; }

  void best() {
    const KernelBound bound = kernel_bound(instance_, instance_.bounds(), options_);
    TrafficVerdict& v = result_.verdict;
    const double by_sm = us(static_cast<double>(bound.cycles));
    const bool dram = run_.dram_us > by_sm;
    v.best_us = std::max(run_.dram_us, by_sm) + launch_us();
    v.best_why = dram ? "DRAM: every byte once" : bound.why;
    v.allowed_us = std::max(run_.dram_us, us(static_cast<double>(run_.cycles))) + launch_us();
    const std::int64_t places = std::max<std::int64_t>(1, std::min<std::int64_t>(machine_.sm_count, run_.tiles)) * std::max(1, run_.ctas);
    v.ii_us = us(static_cast<double>(schedule_.ii) * static_cast<double>(ceil_div(run_.all_trips, places))) + launch_us();
  }

  /// The same order, with so many slots more in all rings that the access side fills.
  Schedule deeper(int more) const {
    Schedule schedule = schedule_;
    for (const RingTraffic& ring : result_.rings)
      if (ring.access) {
        int& depth = schedule.depths[ring.tokens.channel.index()];
        depth = static_cast<int>(std::clamp<std::int64_t>(std::int64_t{depth} + more, 1, std::numeric_limits<int>::max()));
      }
    return schedule;
  }

  KernelRun run_with(const Schedule& schedule, std::optional<int> ctas) const {
    KernelRunOptions options = options_;
    options.loop.timeline = 0;
    if (ctas) options.ctas = ctas;
    return run_kernel(instance_, schedule, options);
  }

  void variants() {
    const bool any = std::any_of(result_.rings.begin(), result_.rings.end(), [](const RingTraffic& ring) { return ring.access; });
    if (!any) return;
    const auto add = [&](const char* name, int more) {
      const Schedule schedule = deeper(more);
      if (same_program(schedule, schedule_)) return;
      const KernelRun run = run_with(schedule, std::nullopt);
      BalancePoint point;
      if (run.fault.empty()) point = balance_of(name, problem_, schedule, run);
      point.name = name;
      point.fault = run.fault;
      point.fits = allocated(problem_, schedule, Space::Smem) <= problem_.limits.smem_bytes &&
                   allocated(problem_, schedule, Space::Tmem) <= problem_.limits.tmem_columns;
      result_.balance.push_back(std::move(point));
    };
    add("one slot less", -1);
    add("one slot more", 1);
    // So deep that no latency fills them.
    Cycle latency = 0;
    for (const Op& op : run_.program.problem.ops) latency = std::max(latency, op.latency);
    const Cycle slots = ceil_div(latency, std::max<Cycle>(1, static_cast<Cycle>(result_.period))) + 8;
    const KernelRun run = run_with(deeper(static_cast<int>(std::min<Cycle>(slots, 256))), run_.ctas);
    if (run.fault.empty()) result_.verdict.deeper_us = std::max(run_.dram_us, us(static_cast<double>(run.cycles))) + launch_us();
  }

  void floor() {
    LatencyFloor floor;
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
      const Op& op = run_.program.problem.ops[v];
      if (!is_access(problem_, schedule_, OpId(v)) || op.latency < floor.latency) continue;
      floor.op = OpId(v);
      floor.latency = op.latency;
    }
    for (const RingTraffic& ring : result_.rings) {
      if (!ring.access) continue;
      floor.bytes_per_iteration = sat_add(floor.bytes_per_iteration, ring.tokens.bytes);
      floor.held = sat_add(floor.held, sat_mul(ring.tokens.held(), run_.ctas));
      floor.in_flight += (ring.taken - ring.filled) * static_cast<double>(ring.tokens.slot_bytes) * run_.ctas;
    }
    if (!floor.op.valid() || floor.held == 0 || run_.all_trips <= 0) return;
    const auto sms = static_cast<double>(std::max<std::int64_t>(1, std::min<std::int64_t>(machine_.sm_count, run_.tiles)));
    const double cycles = (result_.verdict.best_us - launch_us()) * run_.clock.mhz;
    floor.best_period = cycles * sms / static_cast<double>(run_.all_trips);
    const auto latency = static_cast<double>(floor.latency);
    const auto bytes = [](double amount) { return static_cast<std::int64_t>(std::ceil(std::min(amount, 4e18))); };
    if (floor.best_period > 0) floor.needed = bytes(static_cast<double>(floor.bytes_per_iteration) * latency / floor.best_period);
    floor.dram =
        bytes(static_cast<double>(machine_.shared.dram_gbs) * 1e3 / run_.clock.mhz * latency / static_cast<double>(machine_.sm_count));
    result_.floor = floor;
  }

  std::string access_rings() const {
    std::string names;
    for (const RingTraffic& ring : result_.rings)
      if (ring.access) names += (names.empty() ? "" : ", ") + problem_.channel(ring.tokens.channel).name;
    return names;
  }

  void judge() {
    TrafficVerdict& v = result_.verdict;
    const BalancePoint& now = result_.balance.front();
    const TimePart* largest = nullptr;
    for (const TimePart& part : parts_)
      for (const char* name : {"waits", "arithmetic", "barriers", "L2", "fill and drain", "idle SMs"})
        if (part.name == name && (!largest || part.microseconds > largest->microseconds)) largest = &part;
    std::string limits;
    if (run_.dram_us >= us(static_cast<double>(run_.cycles)) * (1 - kWorth)) {
      v.limit = TrafficLimit::Dram;
      v.what = "DRAM";
      limits = "DRAM is what limits";
    } else if (v.deeper_us && *v.deeper_us < v.allowed_us * (1 - kWorth)) {
      v.limit = TrafficLimit::Rings;
      v.what = access_rings();
      limits =
          fmt::format("the depth of rings is what limits ({}): rings that are never full would allow {}", v.what, duration(*v.deeper_us));
    } else if (std::max(now.access, now.execute) >= kBusy) {
      const bool access = now.access >= now.execute;
      v.what = access ? now.access_by : now.execute_by;
      v.limit = v.what.ends_with(" stream") ? TrafficLimit::Issue
                : v.what == "L2"            ? TrafficLimit::L2
                : access                    ? TrafficLimit::Access
                                            : TrafficLimit::Execute;
      limits = fmt::format("{} is what limits, busy {:.0f} %", v.what, 100 * std::max(now.access, now.execute));
    } else {
      v.what = largest ? largest->name : "waits";
      v.limit = v.what == "fill and drain" || v.what == "idle SMs" ? TrafficLimit::Ends
                : v.what == "L2"                                   ? TrafficLimit::L2
                                                                   : TrafficLimit::Order;
      limits = largest ? fmt::format("what costs most is {} ({})", largest->name, largest->about) : "no unit is busy all the time";
    }
    std::string sentence =
        fmt::format("{} {} ({}), and this schedule allows {}, predicted; {}", binds() == v.what ? v.what + "-bound: at best" : "At best",
                    duration(v.best_us), v.best_why, duration(v.allowed_us), limits);
    if (v.limit != TrafficLimit::Access && v.limit != TrafficLimit::Execute)
      sentence += v.ii_us < v.allowed_us * (1 - kWorth)
                      ? fmt::format("; II {} does not limit: by itself it takes {}", grouped(schedule_.ii), duration(v.ii_us))
                      : fmt::format("; II {} by itself takes {}", grouped(schedule_.ii), duration(v.ii_us));
    v.sentence = sentence + ".";
  }

  /// What the best possible time is bound by: "DRAM", "TC".
  std::string binds() const {
    const std::string& why = result_.verdict.best_why;
    return why.substr(0, why.find(':'));
  }

  const Instance& instance_;
  const Machine& machine_;
  const Problem& problem_;
  const Schedule& schedule_;
  const KernelRunOptions& options_;
  const KernelRun& run_;
  const std::vector<TimePart>& parts_;
  Traffic result_;
};

}  // namespace

const char* to_string(TrafficLimit limit) {
  switch (limit) {
    case TrafficLimit::Dram: return "DRAM";
    case TrafficLimit::L2: return "L2";
    case TrafficLimit::Access: return "access";
    case TrafficLimit::Execute: return "execute";
    case TrafficLimit::Issue: return "issue";
    case TrafficLimit::Rings: return "rings";
    case TrafficLimit::Order: return "order";
    case TrafficLimit::Ends: return "ends";
  }
  return "order";
}

Traffic traffic_of(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options, const KernelRun& run,
                   const std::vector<TimePart>& parts) {
  return TrafficMaker(instance, schedule, options, run, parts).make();
}

BalancePoint balance_of(std::string name, const Problem& problem, const Schedule& schedule, const KernelRun& run) {
  BalancePoint point;
  point.name = std::move(name);
  point.microseconds = run.microseconds;
  // UsedShare has the whole of each unit; the two sides share it by their work.
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    double access = 0, execute = 0;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses)
        if (use.unit.index() == u)
          (is_access(problem, schedule, OpId(v)) ? access : execute) += static_cast<double>(use.work()) * static_cast<double>(use.amount);
    const std::string& unit = problem.units[u].name;
    const auto used = std::find_if(run.used.begin(), run.used.end(), [&](const UsedShare& share) { return share.name == unit; });
    if (used == run.used.end() || access + execute <= 0) continue;
    take_side(point.access, point.access_by, used->part * access / (access + execute), unit);
    take_side(point.execute, point.execute_by, used->part * execute / (access + execute), unit);
  }
  for (const UsedShare& share : run.used)
    if (share.name == "L2" || share.name == "DRAM") take_side(point.access, point.access_by, share.part, share.name);
  for (std::size_t g = 0; g < run.sm.groups.size() && run.sm.cycles > 0; ++g) {
    const double part = static_cast<double>(run.sm.groups[g].busy) / static_cast<double>(run.sm.cycles);
    const bool access = problem.has_producer_group() && g == 0;
    take_side(access ? point.access : point.execute, access ? point.access_by : point.execute_by, part,
              role_name(run.program.schedule, g) + " stream");
  }
  return point;
}

}  // namespace heddle
