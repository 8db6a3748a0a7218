#include "core/simulate/time_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/integer_division.h"

namespace heddle {
namespace {

/// The unit that the kernel is compared with: its tensor cores, else the busiest unit.
const UsedShare* main_unit(const Machine& machine, const KernelRun& run) {
  const UsedShare* best = nullptr;
  bool tensor = false;
  for (const UsedShare& used : run.used) {  // busiest first
    const Unit* unit = machine.find_unit(used.name);
    if (!unit) continue;
    const bool is_tensor = unit->role == UnitRole::Tensor;
    if (!best || (is_tensor && !tensor)) best = &used, tensor = is_tensor;
  }
  return best;
}

}  // namespace

std::vector<TimePart> time_parts(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options,
                                 const KernelRun& run) {
  const Machine& machine = instance.machine();
  if (!run.fault.empty() || run.cycles <= 0 || run.clock.mhz <= 0) return {};
  KernelRunOptions quiet = options;
  quiet.loop.timeline = 0;
  Machine without = machine;
  KernelRun bare = run;                           // with every mechanism dropped so far
  double left = static_cast<double>(run.cycles);  // not yet accounted for
  const auto drop = [&] {
    if (bare.fault.empty()) bare = run_kernel(on_machine(instance, without), schedule, quiet);
    const double before = left;
    left = std::min(left, static_cast<double>(bare.cycles));
    return before - left;
  };
  double l2 = 0, arithmetic = 0, barriers = 0;
  if (machine.shared.l2_bytes > 0 && run.l2_bytes > 0) without.shared.l2_bytes = 0, l2 = drop();
  if (options.loop.arbitration == Arbitration::Interleaved) {
    StreamCosts even = machine.streams;
    even.arithmetic_percent = even.product_percent = even.register_product_percent = 100;
    if (run.contended || machine.streams != even) quiet.contention = false, without.streams = even, arithmetic = drop();
    if (const StreamCosts free{.source = machine.streams.source}; without.streams != free) without.streams = free, barriers = drop();
  }
  if (!bare.fault.empty()) return {};

  const UsedShare* unit = main_unit(machine, run);
  const double work = std::min(left, unit ? unit->part * static_cast<double>(run.cycles) : 0);
  const double idle = std::min(left - work, (1 - run.filled) * left);
  // The loop in steady state, without what was dropped. CTAs that share an SM iterate at the same time.
  const std::int64_t sms = std::max<std::int64_t>(1, machine.sm_count);
  const auto together = static_cast<double>(std::clamp<std::int64_t>(ceil_div(run.tiles, sms), 1, std::max(1, run.ctas)));
  const double iterations = static_cast<double>(run.all_trips) / static_cast<double>(sms);
  const double steady = std::clamp(iterations * bare.sm.period.cycles() / together, work, std::max(work, left - idle));
  const double ends = left - idle - steady, waits = steady - work;

  const double base = std::max(static_cast<double>(machine.clock_mhz), run.clock.mhz);
  const double cycles_us = static_cast<double>(run.cycles) / run.clock.mhz;
  std::vector<TimePart> parts;
  const auto add = [&](const char* name, double microseconds, std::string about) {
    if (microseconds > 1e-6 * run.microseconds) parts.push_back({name, microseconds, std::move(about)});
  };
  const std::string name = unit ? unit->name : "work";
  const Unit* main = unit ? machine.find_unit(unit->name) : nullptr;
  add(main && main->role == UnitRole::Tensor ? "tensor" : "work", work / base,
      fmt::format("{} at work, on all SMs at {:.0f} MHz: nothing can be faster", name, base));
  add("waits", waits / base, "the steady loop beyond that: orders, hand-offs and rings of the schedule");
  add("arithmetic", arithmetic / base,
      "a warp group's own arithmetic, slower than its units' rates, mmas beside it, and what warp groups take from each other");
  add("barriers", barriers / base, "named barriers that keep the order on the tensor cores, waits and arrivals at barriers");
  add("L2", l2 / base, "loads that wait because L2 supplies all SMs at once");
  add("fill and drain", ends / base, "pipelines that fill and drain, prologues and epilogues");
  add("idle SMs", idle / base, "SMs without a tile: the last wave, or tiles of different lengths");
  add("clock", cycles_us - static_cast<double>(run.cycles) / base, fmt::format("{:.0f} MHz under load", run.clock.mhz));
  const double launch = static_cast<double>(machine.shared.launch_ns) / 1000;
  add("DRAM", std::max(0.0, run.dram_us - cycles_us), "DRAM takes longer than the SMs");
  if (options.around) add("kernels around", run.around_us, "kernels before and after it in the same call");
  add("launch", launch, "launching the kernel");
  if (run.merge_us > 0) add("second pass", run.merge_us, "the kernel that puts the pieces of cut tiles together");
  return parts;
}

}  // namespace heddle
