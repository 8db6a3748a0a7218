#include "core/simulate/kernel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <numeric>

#include "core/analysis/turns.h"
#include "core/base/integer_division.h"
#include "core/base/saturate.h"
#include "core/simulate/barriers.h"
#include "core/simulate/contended_run.h"
#include "core/simulate/dispatch.h"
#include "core/simulate/pace.h"
#include "core/simulate/sm_run.h"
#include "core/simulate/supply.h"
#include "core/simulate/tile_grid.h"
#include "core/simulate/touched.h"

namespace heddle {
namespace {

constexpr std::size_t kMostLaneTiles = 50'000;
constexpr std::int64_t kSteadyTrips = 512;  ///< after which a tile's iterations are alike

class Runner {
 public:
  Runner(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options)
      : kernel_(instance.kernel()),
        machine_(instance.machine()),
        problem_(instance.problem()),
        options_(options),
        grid_(tile_grid(kernel_, problem_.params, options.trips, options.causal)) {
    sms_ = std::max<std::int64_t>(1, machine_.sm_count);
    SuppliedProblem supplied = supplied_by_l2(instance, options.cluster, std::min(sms_, grid_.tiles));
    result_.l2_bytes = supplied.l2_bytes;
    loop_ = options.loop;
    loop_.turns &= schedule.turns;
    result_.occupancy = occupancy_of(problem_, schedule);
    result_.ctas = options.ctas.value_or(result_.occupancy.ctas);
    contend(supplied.problem, schedule);
    if (loop_.arbitration == Arbitration::Interleaved) {
      pace(supplied.problem, machine_.streams);
      charge_barriers(supplied.problem, schedule, machine_.streams);
      loop_.turn_cost = machine_.streams.turn;
      result_.turns = loop_.turns && !kept_turns(problem_, schedule).empty();
      result_.by_chance = !result_.turns && !contested_turns(problem_, schedule).empty();
    }
    result_.program = kernel_program(instance.spec(), supplied.problem, schedule, loop_);
    result_.work = work_per_iteration(kernel_, machine_, problem_.params);
    result_.tiles = grid_.tiles;
    result_.trips = grid_.trips;
  }

  KernelRun run() {
    result_.fault = contended_ ? contended_->fault : grid_.fault;
    if (result_.fault.empty()) result_.fault = grid_.fault;
    if (result_.fault.empty() && contended_ && result_.ctas > 1)
      result_.fault = fmt::format("{} CTAs share an SM, and how they take time from each other is not known", result_.ctas);
    if (result_.fault.empty() && options_.split > 0 && !options_.second_pass) result_.fault = merge_fault(kernel_);
    if (result_.fault.empty()) grid_.even() && options_.split == 0 ? uniform() : uneven();
    if (!result_.fault.empty()) return std::move(result_);
    rates();
    return std::move(result_);
  }

 private:
  void contend(const Problem& supplied, const Schedule& schedule) {
    const bool asked = loop_.arbitration == Arbitration::Contended;
    const bool known =
        loop_.arbitration == Arbitration::Interleaved && options_.contention && result_.ctas == 1 && chooses_by_period(problem_);
    if (!asked && !known) return;
    loop_.arbitration = Arbitration::Contended;
    Simulation run = simulate(supplied, schedule, loop_);
    loop_.arbitration = Arbitration::Interleaved;
    if (asked || run.fault.empty()) contended_ = std::move(run);
    result_.contended = contended_.has_value();
  }

  /// Runs the SM; with `report` its accounts are the kernel's. By chance: the distances are spread over one period, and the run that comes
  /// closest to the mean is reported.
  Cycle sm(const SmWork& work, bool report) {
    SimulateOptions options = loop_;
    if (!report) options.timeline = 0;
    std::vector<SmRun> runs;
    double sum = 0;
    for (int phase = 0; phase < (result_.by_chance ? kPhases : 1); ++phase) {
      if (phase > 0) options.apart = static_cast<Cycle>(runs.front().run.period.cycles() * phase / kPhases);
      runs.push_back(run_sm(result_.program, work, options));
      if (!runs.back().run.fault.empty()) {
        if (result_.fault.empty()) result_.fault = runs.back().run.fault, result_.sm = std::move(runs.back().run);
        return 0;
      }
      if (contended_) contend(runs.back(), work, steady_period(options.apart));
      sum += static_cast<double>(runs.back().run.cycles);
    }
    const auto cycles = static_cast<Cycle>(sum / static_cast<double>(runs.size()));
    SmRun& run = *std::min_element(runs.begin(), runs.end(), [&](const SmRun& a, const SmRun& b) {
      return std::abs(a.run.cycles - cycles) < std::abs(b.run.cycles - cycles);
    });
    if (report) {
      result_.sm = std::move(run.run);
      result_.tile = run.first_tile;
    }
    return cycles;
  }

  /// Iterations of the loop take as long as warp groups that take time from each other need; what is before and after the loop, and how
  /// groups share their time, are those of the run.
  void contend(SmRun& run, const SmWork& work, double steady) const {
    Simulation& sm = run.run;
    const double more = contended_->period.cycles() - steady;
    const auto later = [&](std::int64_t trips) { return static_cast<Cycle>(std::llround(more * static_cast<double>(trips))); };
    std::int64_t all = 0;
    for (const std::vector<std::int64_t>& queue : work.queues) all += std::accumulate(queue.begin(), queue.end(), std::int64_t{0});
    const Cycle before = std::max<Cycle>(1, sm.cycles);
    sm.cycles = std::max<Cycle>(1, sm.cycles + later(all));
    run.first_tile = std::max<Cycle>(1, run.first_tile + later(work.queues.front().front()));
    sm.period = contended_->period;
    const auto scale = [&](Cycle& part) { part = static_cast<Cycle>(static_cast<__int128>(part) * sm.cycles / before); };
    for (GroupTime& group : sm.groups) {
      scale(group.busy);
      for (Cycle& stall : group.stalls) scale(stall);
      group.idle = sm.cycles - group.busy - std::accumulate(group.stalls.begin(), group.stalls.end(), Cycle{0});
    }
    for (OpTime& op : sm.ops) {
      for (Cycle& stall : op.stalls) scale(stall);
      scale(op.held);
      scale(op.queued);
    }
    for (Wait& wait : sm.waits) scale(wait.cycles);
  }

  /// Without contention, of a tile long enough to have a steady state, groups so far apart.
  double steady_period(Cycle apart) {
    constexpr std::int64_t kTrips = 64;
    const auto [found, fresh] = steady_.try_emplace(apart, 0);
    if (!fresh) return found->second;
    SimulateOptions options = loop_;
    options.apart = apart;
    options.timeline = 0;
    options.jitter.percent = 0;
    SmWork work;
    work.queues = {{kTrips}};
    return found->second = run_sm(result_.program, work, options).run.period.cycles();
  }

  SmWork work_of(const std::vector<std::int64_t>& tiles) const {
    SmWork work;
    work.ctas = result_.ctas;
    work.persistent = options_.persistent;
    if (!work.persistent) {
      work.queues = {tiles};
      return work;
    }
    work.queues.resize(std::min<std::size_t>(static_cast<std::size_t>(result_.ctas), tiles.size()));
    for (std::size_t t = 0; t < tiles.size(); ++t) work.queues[t % work.queues.size()].push_back(tiles[t]);
    return work;
  }

  /// Iterations of the loop that may be simulated one by one.
  std::int64_t budget() const {
    return std::max<std::int64_t>(
        16, options_.loop.most_ops / 2 / static_cast<std::int64_t>(std::max<std::size_t>(1, result_.program.problem.ops.size())));
  }

  void uniform() {
    const std::int64_t per_sm = ceil_div(grid_.tiles, sms_);
    std::int64_t tiles = per_sm, trips = grid_.trips;
    if (sat_mul(tiles, trips) > budget()) {
      trips = std::min(trips, std::max<std::int64_t>(1, budget() / (2 * result_.ctas)));
      tiles = std::clamp<std::int64_t>(budget() / trips, std::min<std::int64_t>(per_sm, result_.ctas), per_sm);
      if (tiles > result_.ctas) tiles -= tiles % result_.ctas;
      result_.extrapolated = true;
    }
    const Cycle cycles = sm(work_of(std::vector<std::int64_t>(static_cast<std::size_t>(tiles), trips)), true);
    const auto grow = [&](Cycle part, std::int64_t simulated, std::int64_t all) {
      return static_cast<Cycle>(
          std::min<double>(static_cast<double>(part) / static_cast<double>(simulated) * static_cast<double>(all), 4e18));
    };
    result_.cycles = result_.extrapolated ? grow(grow(cycles, trips, grid_.trips), tiles, per_sm) : cycles;
    if (result_.extrapolated) result_.tile = grow(result_.tile, trips, grid_.trips);
    result_.all_trips = sat_mul(grid_.tiles, grid_.trips);
    result_.filled = static_cast<double>(grid_.tiles) / (static_cast<double>(per_sm) * static_cast<double>(sms_));
  }

  /// Until a tile of so many trips is done, with as many of its kind at once as are resident. A tile of no trips takes what one of one trip
  /// does: the loop of a program runs at least once.
  Cycle alone(std::int64_t trips) {
    if (trips > longest_run()) {
      // In steady state every iteration takes as long.
      result_.extrapolated = true;
      const std::int64_t whole = longest_run(), half = (whole + 1) / 2;
      const Cycle end = alone(whole), begin = alone(half);
      return end +
             static_cast<Cycle>(std::min(static_cast<double>(end - begin) / static_cast<double>(std::max<std::int64_t>(1, whole - half)) *
                                             static_cast<double>(trips - whole),
                                         4e18));
    }
    const auto [found, fresh] = alone_.try_emplace(std::max<std::int64_t>(1, trips), 0);
    if (fresh) {
      SmWork work;
      work.ctas = static_cast<int>(std::min<std::int64_t>(result_.ctas, ceil_div(grid_.tiles, sms_)));
      work.queues = {std::vector<std::int64_t>(static_cast<std::size_t>(work.ctas), found->first)};
      found->second = sm(work, false);
    }
    return found->second;
  }

  /// Trips of a tile up to which it is simulated whole: all of them, if all that differ fit the budget.
  std::int64_t longest_run() {
    if (longest_run_ > 0) return longest_run_;
    std::vector<std::int64_t> lengths = split_tiles(grid_.even() ? std::vector{grid_.trips} : grid_.by_tile, options_.split);
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    std::int64_t all = 0;
    for (const std::int64_t trips : lengths) all = sat_add(all, trips * result_.ctas);
    longest_run_ = all <= budget() ? std::max<std::int64_t>(1, lengths.back()) : kSteadyTrips;
    return longest_run_;
  }

  void uneven() {
    std::vector<std::int64_t> order = split_tiles(
        grid_.by_tile.empty() ? std::vector(static_cast<std::size_t>(grid_.tiles), grid_.trips) : grid_.by_tile, options_.split);
    result_.pieces = static_cast<std::int64_t>(order.size()) - grid_.tiles;
    if (options_.longest_first) sort_longest_first(order);
    const Cycle merge = merge_cycles();
    // Slots of one SM are numbered sms_ apart.
    const Dispatch handed = dispatch(order, sms_ * result_.ctas, [&](std::int64_t trips) {
      return result_.fault.empty() ? alone(trips) + (trips == options_.split ? merge : 0) : 0;
    });
    if (!result_.fault.empty()) return;
    result_.all_trips = grid_.all_trips();
    const std::int64_t ops = result_.all_trips;
    std::vector<std::vector<std::int64_t>> taken;
    for (const auto& tiles : handed.taken) {
      taken.emplace_back();
      for (const std::int32_t tile : tiles) taken.back().push_back(std::max<std::int64_t>(1, order[static_cast<std::size_t>(tile)]));
    }
    if (options_.lanes && order.size() <= kMostLaneTiles) keep_lanes(handed, order, merge);
    merge_pieces();
    result_.cycles = handed.cycles;
    const bool too_long = ops > budget();
    result_.extrapolated |= options_.persistent && too_long;
    if (options_.persistent && !too_long) return persistent(taken);
    double sum = 0;
    for (const Cycle e : handed.ends) sum += static_cast<double>(e);
    result_.filled = sum / (static_cast<double>(result_.cycles) * static_cast<double>(sms_ * result_.ctas));
    SmWork work;
    work.queues = {taken[handed.last]};
    for (std::int64_t& trips : work.queues[0]) trips = std::min(trips, longest_run());
    const std::int64_t most = std::max<std::int64_t>(1, budget() / std::max<std::int64_t>(1, longest_run()));
    if (static_cast<std::int64_t>(work.queues[0].size()) > most) work.queues[0].resize(static_cast<std::size_t>(most));
    sm(work, true);
    result_.tile = alone(grid_.trips);
  }

  void keep_lanes(const Dispatch& handed, const std::vector<std::int64_t>& order, Cycle merge) {
    for (const auto& tiles : handed.taken) {
      Cycle time = 0;
      std::vector<PlacedTile>& lane = result_.lanes.emplace_back();
      for (const std::int32_t tile : tiles) {
        const std::int64_t trips = order[static_cast<std::size_t>(tile)];
        const Cycle end = time + alone(trips) + (trips == options_.split ? merge : 0);
        lane.push_back({trips, time, end});
        time = end;
      }
    }
  }

  /// Elements that a tile leaves in global memory.
  std::int64_t results_of_tile() const {
    std::int64_t all = 0;
    for (const TileOp& op : kernel_.epilogue) {
      if (op.tensor.empty() || op.inputs.empty() || !op.outputs.empty()) continue;
      std::int64_t elements = 1;
      for (const Expr& extent : kernel_.find_value(op.inputs[0].value)->shape)
        elements = sat_mul(elements, static_cast<std::int64_t>(number(extent)));
      all = sat_add(all, elements);
    }
    return all;
  }

  /// Of a piece, to add its results, in f32, to those of the others: L2 reads and writes them.
  Cycle merge_cycles() const {
    if (options_.split == 0 || options_.second_pass || machine_.shared.l2_bytes == 0) return 0;
    return ceil_div(2 * 4 * results_of_tile(), machine_.shared.l2_bytes);
  }

  /// The kernel that follows reads what every piece of a cut tile left in f32, and writes the sum.
  void merge_pieces() {
    if (options_.split == 0 || !options_.second_pass || machine_.shared.dram_gbs == 0) return;
    std::int64_t cut = 0;
    for (const std::int64_t trips : grid_.by_tile) cut += trips > options_.split;
    const double elements = static_cast<double>(results_of_tile());
    result_.merge_us = dram_us(4 * elements * static_cast<double>(2 * (result_.pieces + cut) + cut)) + launch_us();
  }

  /// Every SM with its own tiles, whose groups overlap from tile to tile.
  void persistent(const std::vector<std::vector<std::int64_t>>& taken) {
    std::map<std::vector<std::vector<std::int64_t>>, Cycle> known;
    std::vector<std::vector<std::int64_t>> busiest;
    double sum = 0;
    const std::int64_t used = std::min<std::int64_t>(sms_, static_cast<std::int64_t>(taken.size()));
    result_.cycles = 0;
    for (std::int64_t m = 0; m < used; ++m) {
      SmWork work;
      work.persistent = true;
      for (auto slot = static_cast<std::size_t>(m); slot < taken.size(); slot += static_cast<std::size_t>(sms_))
        work.queues.push_back(taken[slot]);
      const auto [found, fresh] = known.try_emplace(work.queues, 0);
      if (fresh) found->second = sm(work, false);
      if (!result_.fault.empty()) return;
      sum += static_cast<double>(found->second);
      if (found->second > result_.cycles) result_.cycles = found->second, busiest = work.queues;
    }
    result_.filled = sum / (static_cast<double>(result_.cycles) * static_cast<double>(sms_));
    SmWork work;
    work.persistent = true;
    work.queues = busiest;
    sm(work, true);
    result_.tile = alone(grid_.trips);
  }

  /// Busy cycles of the loop's units, as parts of all SMs' time.
  void shares() {
    const double iterations = static_cast<double>(result_.all_trips);
    const double time = static_cast<double>(result_.cycles) * static_cast<double>(sms_);
    std::vector<std::int64_t> work(problem_.units.size(), 0);
    for (const Op& op : problem_.ops)
      for (const UnitUse& use : op.uses) {
        std::int64_t& sum = work[use.unit.index()];
        sum = sat_add(sum, sat_mul(use.work(), use.amount));
      }
    for (std::size_t u = 0; u < work.size(); ++u)
      if (work[u] > 0)
        result_.used.push_back(
            {problem_.units[u].name, static_cast<double>(work[u]) * iterations / (static_cast<double>(problem_.units[u].capacity) * time)});
    if (machine_.shared.l2_bytes > 0 && result_.l2_bytes > 0)
      result_.used.push_back(
          {"L2", static_cast<double>(result_.l2_bytes) * iterations / (static_cast<double>(machine_.shared.l2_bytes) * time)});
    std::stable_sort(result_.used.begin(), result_.used.end(), [](const UsedShare& a, const UsedShare& b) { return a.part > b.part; });
  }

  /// What the load leaves of the clock.
  ClockAnswer clock() const {
    double tensor = 0, arithmetic = 0;
    for (const UsedShare& used : result_.used) {
      const Unit* unit = machine_.find_unit(used.name);
      if (!unit) continue;
      if (unit->role == UnitRole::Tensor) tensor = std::max(tensor, used.part);
      if (is_arithmetic(unit->role)) arithmetic += used.part;
    }
    return clock_of(machine_, options_.clock, std::clamp(tensor, 0.0, 1.0), std::clamp(arithmetic, 0.0, 3.0));
  }

  double launch_us() const { return static_cast<double>(machine_.shared.launch_ns) / 1000; }
  double dram_us(double bytes) const { return bytes / static_cast<double>(machine_.shared.dram_gbs) / 1e3; }

  double number(const Expr& expr) const {
    const Result<std::int64_t> value = expr.evaluate(problem_.params);
    return value ? static_cast<double>(*value) : 0;
  }

  /// What DRAM takes for this kernel and for those around it.
  void memory() {
    if (machine_.shared.dram_gbs == 0) return;
    double bytes = 0;
    for (const Tensor& tensor : kernel_.tensors) {
      double elements = 1;
      for (const Expr& size : tensor.shape) elements *= number(size);
      if (const auto touched = touched_elements(kernel_, problem_.params, grid_, tensor)) elements = static_cast<double>(*touched);
      if (tensor.role == TensorRole::InOut) elements *= 2;
      bytes += elements * bits_of(tensor.dtype) / 8;
    }
    result_.dram_us = dram_us(bytes);
    for (const OtherKernel& other : kernel_.around) result_.around_us += dram_us(number(other.bytes)) + launch_us();
    const double time = static_cast<double>(result_.cycles) / result_.clock.mhz;
    result_.used.push_back({"DRAM", std::min(1.0, result_.dram_us / std::max(time, result_.dram_us))});
    std::stable_sort(result_.used.begin(), result_.used.end(), [](const UsedShare& a, const UsedShare& b) { return a.part > b.part; });
  }

  void rates() {
    if (result_.cycles <= 0) return;
    shares();
    result_.clock = clock();
    memory();
    result_.microseconds =
        std::max(static_cast<double>(result_.cycles) / result_.clock.mhz, result_.dram_us) + launch_us() + result_.merge_us;
    if (options_.around) result_.microseconds += result_.around_us;
    const double iterations = static_cast<double>(result_.all_trips), amount = static_cast<double>(result_.work.amount);
    if (result_.work.kind == WorkKind::MultiplyAdds) result_.tflops = 2 * amount * iterations / result_.microseconds / 1e6;
    result_.gbytes = static_cast<double>(result_.work.bytes) * iterations / result_.microseconds / 1e3;
    result_.of_peak =
        static_cast<double>(result_.work.at_peak) * iterations / (static_cast<double>(result_.cycles) * static_cast<double>(sms_));
  }

  const Kernel& kernel_;
  const Machine& machine_;
  const Problem& problem_;
  const KernelRunOptions& options_;
  SimulateOptions loop_;
  std::optional<Simulation> contended_;  ///< the loop, where warp groups take time from each other
  std::map<Cycle, double> steady_;       ///< by distance between groups: the loop's period without contention
  const TileGrid grid_;
  std::int64_t sms_ = 1;
  std::map<std::int64_t, Cycle> alone_;
  std::int64_t longest_run_ = 0;
  KernelRun result_;
};

}  // namespace

std::string merge_fault(const Kernel& kernel) {
  for (const TileOp& op : kernel.epilogue)
    if (op.kind != "convert" && op.kind != "smem_store" && op.kind != "store" && op.kind != "tma_store" && op.kind != "atomic_add")
      return fmt::format(
          "'{}' computes with what only all iterations of a tile give: pieces cannot be added up, a second pass can join them", op.name);
  return {};
}

KernelRun run_kernel(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options) {
  return Runner(instance, schedule, options).run();
}

}  // namespace heddle
