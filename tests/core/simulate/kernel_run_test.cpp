// Shipped kernels on their machines with a schedule made by hand of nothing but order: grids, waves, causal lengths, occupancy.
#include "core/simulate/kernel_run.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "core/analysis/retime.h"
#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"
#include "core/simulate/robustness_study.h"
#include "core/simulate/sm_run.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

struct Case {
  Kernel kernel;
  Machine machine;
  Problem problem;
  Schedule schedule;

  Instance instance() const { return {spec_of(kernel, machine), problem}; }
};

/// Loads in the producer, everything else in the order of the file, dealt out to `groups` groups by the last digit of its name.
Case case_of(const std::string& kernel, const std::string& machine, const Scope& params = {}) {
  Case c{*load_kernel(test::repository_path("kernels/" + kernel + ".json")),
         *load_machine(test::repository_path("assets/machines/" + machine + ".json")),
         {},
         {}};
  c.problem = *resolve(c.kernel, c.machine, params);
  Cycle at = 0;
  c.schedule.ii = 1;
  for (const Op& op : c.problem.ops) {
    const std::size_t group = op.variable_latency ? 0 : op.name.back() == '1' ? 2 : 1;
    c.schedule.ops.push_back({at, GroupId(group)});
    at += std::max<Cycle>(1, op.latency);
  }
  c.schedule.ii = at;
  c.schedule.groups.resize(3);
  c.schedule = refitted(c.problem, c.schedule);
  derive_groups(c.problem, c.schedule);
  for (int& depth : c.schedule.depths) depth = depth > 0 ? std::max(depth, 2) : 0;
  return c;
}

KernelRun run(const Case& c, const KernelRunOptions& options = {}) { return run_kernel(c.instance(), c.schedule, options); }

}  // namespace

TEST_CASE("a kernel lasts as long as its busiest SM, tile after tile", "[core]") {
  const Case c = case_of("gemm_hopper", "h100");
  const KernelRun once = run(c);
  CHECK(once.fault == "");
  CHECK(once.tiles == 64 * 32);
  CHECK(once.trips == 128);
  CHECK(once.all_trips == 2048 * 128);
  CHECK(once.ctas == 1);
  CHECK(once.cycles == 16 * once.tile);  // 2048 tiles on 132 SMs
  CHECK(once.filled == Approx(2048.0 / (16 * 132)));
  CHECK(once.microseconds == Approx(static_cast<double>(once.cycles) / once.clock.mhz + 5));  // the launch
  CHECK(once.tflops == Approx(2.0 * 8192 * 8192 * 8192 / once.microseconds / 1e6));
  CHECK(once.of_peak < 1);
  for (const GroupTime& g : once.sm.groups) CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == once.sm.cycles);
  CHECK(once.program.free_ops.empty());

  KernelRunOptions options;
  options.persistent = true;
  const KernelRun persistent = run(c, options);
  CHECK(persistent.cycles < once.cycles);
  CHECK(persistent.cycles > 16 * 128 * static_cast<Cycle>(once.sm.period.cycles()) * 9 / 10);
  for (const GroupTime& g : persistent.sm.groups)
    CHECK(std::accumulate(g.stalls.begin(), g.stalls.end(), g.busy + g.idle) == persistent.sm.cycles);

  options = {};
  options.trips = 1;
  CHECK(run(c, options).all_trips == 2048);
  options.trips = 1'000'000'000;
  options.loop.most_ops = 100'000;
  const KernelRun absurd = run(c, options);
  CHECK(absurd.fault == "");
  CHECK(absurd.extrapolated);
  CHECK(absurd.of_peak < 1);
  options.causal = true;
  const KernelRun triangular = run(c, options);  // tiles longer than some hundred iterations go on at their rate
  CHECK(triangular.fault == "");
  CHECK(triangular.extrapolated);
  CHECK(static_cast<double>(triangular.cycles) / static_cast<double>(absurd.cycles) == Approx(0.5).epsilon(0.1));
}

TEST_CASE("causal tiles are triangular; longest first wastes less", "[core]") {
  const Case c = case_of("attention_forward_hopper", "h100");
  KernelRunOptions options;
  const KernelRun whole = run(c);
  options.causal = true;
  const KernelRun causal = run(c, options);
  CHECK(causal.trips == 66);
  CHECK(causal.all_trips == 64 * 66 * 67 / 2);
  CHECK(causal.cycles > whole.cycles / 2);
  CHECK(causal.cycles < whole.cycles * 6 / 10);
  options.longest_first = true;
  const KernelRun sorted = run(c, options);
  CHECK(sorted.cycles <= causal.cycles);
  CHECK(sorted.filled > causal.filled);
  options.persistent = true;
  const KernelRun persistent = run(c, options);
  CHECK(persistent.cycles < sorted.cycles);
  CHECK(persistent.all_trips == causal.all_trips);
}

TEST_CASE("a kernel that says the trips of its tiles is no triangle once more", "[core]") {
  const Case c = case_of("attention_forward_causal_hopper", "h100", {{"HEADS", 32}, {"Q_LEN", 8192}, {"KV_LEN", 8192}});
  KernelRunOptions options;
  CHECK(run(c, options).all_trips == 66560);
  options.causal = true;
  CHECK(run(c, options).all_trips == 66560);
  options.trips = 128;  // of every tile
  CHECK(run(c, options).all_trips == 2 * 66560);
}

TEST_CASE("prologue and epilogue run where their values are; an op too wide for its group gets one of its own", "[core]") {
  const Case c = case_of("attention_forward_hopper", "h100");
  const CtaProgram program = kernel_program(c.instance().spec(), c.problem, c.schedule, SimulateOptions{});
  const auto group = [&](const std::string& name, CtaSection section) {
    for (std::size_t v = 0; v < program.problem.ops.size(); ++v)
      if (program.problem.ops[v].name == name && program.sections[v] == section)
        return static_cast<int>(program.schedule.ops[v].group.index());
    return -1;
  };
  CHECK(group("load_q0", CtaSection::Prologue) == 0);
  CHECK(group("init_m1", CtaSection::Prologue) == group("max1", CtaSection::Loop));
  CHECK(group("store_o0", CtaSection::Epilogue) == group("PV0", CtaSection::Loop));
  CHECK(program.problem.ops.size() == 20 + 8 + 10);

  const Case narrow = case_of("gemm_blackwell", "b200");
  const CtaProgram extra = kernel_program(narrow.instance().spec(), narrow.problem, narrow.schedule, SimulateOptions{});
  CHECK(extra.schedule.groups.size() == narrow.schedule.groups.size() + 1);
  CHECK(extra.schedule.groups.back().role == "epilogue");
  CHECK(extra.schedule.groups.back().warps == 4);
}

TEST_CASE("every shipped kernel runs on its machine, whatever the switches", "[core]") {
  for (const auto& [kernel, machine] : std::vector<std::pair<std::string, std::string>>{{"attention_backward_blackwell", "b200"},
                                                                                        {"attention_backward_hopper", "h100"},
                                                                                        {"attention_forward_blackwell", "b200"},
                                                                                        {"attention_forward_tile_blackwell", "b200"},
                                                                                        {"attention_forward_tile_hopper", "h200"},
                                                                                        {"gemm_blackwell", "b200"},
                                                                                        {"layernorm", "h100"},
                                                                                        {"swiglu_dual_gemm_hopper", "h100"},
                                                                                        {"gemm_fp8_hopper", "h100"},
                                                                                        {"gemm_w4a16_hopper", "h100"},
                                                                                        {"gemm_w4a16_prepacked_hopper", "h100"},
                                                                                        {"toy_fig1", "toy"}}) {
    const Case c = case_of(kernel, machine);
    for (int switches = 0; switches < 24; ++switches) {
      CAPTURE(kernel, switches);
      KernelRunOptions options;
      options.persistent = switches & 1;
      options.causal = switches & 2;
      options.loop.arbitration = static_cast<Arbitration>(switches / 8);
      if (switches & 4) options.ctas = 2, options.loop.jitter.percent = 80;
      options.trips = 5;
      const KernelRun result = run(c, options);
      CHECK(result.fault == "");
      CHECK(result.cycles > 0);
      CHECK((result.filled > 0 && result.filled <= 1));
      CHECK(result.cycles >= result.tile - (options.loop.jitter.percent ? result.tile / 2 : 0));
    }
  }
}

TEST_CASE("as many CTAs fit as the scarcest resource allows", "[core]") {
  Case c = case_of("gemm_hopper", "h100");
  const Occupancy one = occupancy_of(c.problem, c.schedule);
  CHECK(one.limited_by == "registers");
  CHECK(one.ctas == 65536 / one.registers);
  c.problem.limits.registers_per_sm *= 100;
  const Occupancy more = occupancy_of(c.problem, c.schedule);
  CHECK(more.limited_by == "shared memory");
  CHECK(more.ctas == c.problem.limits.smem_bytes / more.smem_bytes);
  c.problem.limits.smem_bytes *= 100;
  CHECK(occupancy_of(c.problem, c.schedule).ctas == 64 / one.warps);
  const Case toy = case_of("toy_fig1", "toy");
  CHECK(occupancy_of(toy.problem, toy.schedule).ctas >= 1);
}

TEST_CASE("studies: the present point is the period, deeper rings never hurt, wrong numbers move what they should", "[core]") {
  const Case c = case_of("gemm_hopper", "h100");
  StudyOptions options;
  options.shape = JitterShape::Tail;
  const double period = simulate(c.problem, c.schedule).period.cycles();
  const auto points = jitter_study(c.problem, c.schedule, options);
  REQUIRE(points.size() == 5);
  CHECK(points[0].mean == Approx(period));
  CHECK(points[4].mean > points[0].mean);
  for (const JitterPoint& p : points) CHECK(p.worst >= p.mean - 1e-9);

  const DepthStudy depths = depth_study(c.problem, c.schedule, options);
  REQUIRE(depths.rows.size() > 5);
  CHECK(depths.rows[0].ring == "");
  CHECK(depths.rows[0].more == -1);
  for (std::size_t r = 1; r < 5; ++r)
    for (std::size_t i = 0; i < options.percents.size(); ++i) CHECK(depths.rows[r].periods[i] <= depths.rows[r - 1].periods[i] + 1e-9);

  NumberTrial trial;
  trial.problem_at = [&](const Change& change) { return resolve(c.kernel, c.machine, {}, {change}); };
  const NumberStudy numbers = number_study(c.problem, c.schedule, numbers_of(c.kernel, c.machine, c.problem), trial);
  CHECK(numbers.period == Approx(period));
  REQUIRE(!numbers.rows.empty());
  CHECK(numbers.rows.front().swing > 0);
  CHECK(numbers.rows.front().more.period >= numbers.period);
  for (const NumberRow& row : numbers.rows)
    if (row.number == "limits.smem_bytes") CHECK(row.swing == 0);
}

TEST_CASE("a kernel lasts as long as DRAM takes for its tensors, and those around it come on top where they are asked for", "[core]") {
  const Case norm = case_of("layernorm", "h100");
  const KernelRun moved = run(norm);
  double bytes = 0;
  for (const Tensor& tensor : norm.kernel.tensors) {
    double elements = 1;
    for (const Expr& size : tensor.shape) elements *= static_cast<double>(*size.evaluate(norm.problem.params));
    bytes += elements * bits_of(tensor.dtype) / 8;
  }
  CHECK(moved.dram_us == Approx(bytes / 3350e9 * 1e6));
  CHECK(moved.around_us == 0);
  CHECK(moved.microseconds >= moved.dram_us + 3);
  CHECK(std::count_if(moved.used.begin(), moved.used.end(), [](const UsedShare& used) { return used.name == "DRAM"; }) == 1);

  const Case backward = case_of("attention_backward_hopper", "h100");
  const KernelRun alone = run(backward);
  KernelRunOptions options;
  options.around = true;
  const KernelRun all = run(backward, options);
  CHECK(all.cycles == alone.cycles);
  CHECK(alone.around_us == Approx(64.0 * 8192 * 128 * 14 / 3350e9 * 1e6 + 2 * 5));
  CHECK(all.microseconds == Approx(alone.microseconds + alone.around_us));
  CHECK(all.tflops < alone.tflops);

  Case unknown = backward;
  unknown.machine.shared.dram_gbs = 0;
  CHECK(run(unknown).dram_us == 0);
}
