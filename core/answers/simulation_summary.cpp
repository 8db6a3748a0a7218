// Period, kernel, then three tables: groups, ops, who waits for whom.
#include "core/answers/simulation_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/answers/summary.h"
#include "core/chart/chart_layout.h"
#include "core/chart/csv.h"

namespace heddle {
namespace {

constexpr std::int64_t kSteadyTrips = 4096;
constexpr std::size_t kMostWaits = 12;
constexpr Cycle kLeastShare = 1000;  ///< of the whole: what is less is not worth a line

std::string share_of(Cycle part, Cycle whole) {
  if (part == 0 || whole <= 0) return "-";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return share < 0.05 ? "<0.1 %" : fmt::format("{:.1f} %", share);
}

std::string cycles_text(double cycles) {
  const double whole = std::floor(cycles);
  return whole == cycles ? grouped(static_cast<std::int64_t>(whole)) : fmt::format("{:.2f}", cycles);
}

std::string jitter_text(const LatencyJitter& jitter) {
  if (jitter.percent == 0) return "latencies constant";
  return fmt::format("latencies of {} vary: {} by {} %, seed {}", jitter.every_op ? "all ops" : "loads", to_string(jitter.shape),
                     jitter.percent, jitter.seed);
}

std::string group_name(const Schedule& schedule, std::size_t g) {
  const std::string& role = schedule.groups[g].role;
  return role.empty() ? fmt::format("group {}", g) : role;
}

std::string group_table(const KernelRun& run) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t g = 0; g < run.sm.groups.size(); ++g) {
    const GroupTime& time = run.sm.groups[g];
    rows.push_back({std::to_string(g), printable(group_name(run.program.schedule, g)), share_of(time.busy, run.sm.cycles)});
    for (const Cycle stall : time.stalls) rows.back().push_back(share_of(stall, run.sm.cycles));
    rows.back().push_back(share_of(time.idle, run.sm.cycles));
  }
  return text_table({{"id", true}, {"group"}, {"issuing", true}, {"data", true}, {"order", true}, {"unit", true}, {"credit", true}, {"idle", true}}, rows);
}

std::string op_table(const KernelRun& run) {
  const auto stalled = [&](std::size_t v) { return std::accumulate(run.sm.ops[v].stalls.begin(), run.sm.ops[v].stalls.end(), Cycle{0}); };
  std::vector<std::size_t> order;
  for (std::size_t v = 0; v < run.sm.ops.size(); ++v)
    if (std::max({stalled(v), run.sm.ops[v].held, run.sm.ops[v].queued}) > run.sm.cycles / kLeastShare) order.push_back(v);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return stalled(a) > stalled(b); });
  std::vector<std::vector<std::string>> rows;
  bool queued = false;
  for (const std::size_t v : order) {
    const OpTime& time = run.sm.ops[v];
    rows.push_back({printable(run.program.problem.ops[v].name), std::to_string(run.program.schedule.ops[v].group.index())});
    for (const Cycle stall : time.stalls) rows.back().push_back(stall > 0 ? grouped(stall) : "-");
    rows.back().push_back(time.held > 0 ? grouped(time.held) : "-");
    rows.back().push_back(time.queued > 0 ? grouped(time.queued) : "-");
    queued = queued || time.queued > 0;
  }
  std::vector<TextColumn> columns{{"op"}, {"group", true}, {"data", true}, {"order", true}, {"unit", true}, {"credit", true}, {"held", true}};
  if (queued)
    columns.push_back({"queued", true});
  else
    for (auto& row : rows) row.pop_back();
  const std::size_t others = run.sm.ops.size() - rows.size();
  return text_table(columns, rows) + (others > 0 ? fmt::format("  and {} below 0.1 % of the time each\n", count_of(static_cast<std::int64_t>(others), "op")) : "");
}

std::string wait_table(const KernelRun& run) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<Op>& ops = run.program.problem.ops;
  for (const Wait& wait : run.sm.waits) {
    if (rows.size() == kMostWaits || wait.cycles <= run.sm.cycles / kLeastShare) break;
    rows.push_back({printable(ops[wait.at.index()].name), wait.behind.valid() ? printable(ops[wait.behind.index()].name) : "whoever came first",
                    printable(wait.what), to_string(wait.reason), grouped(wait.cycles), share_of(wait.cycles, run.sm.cycles)});
  }
  return text_table({{"op"}, {"waits for"}, {"through"}, {"reason"}, {"cycles", true}, {"of the time", true}}, rows);
}

std::string kernel_lines(const Machine& machine, const SimulationAnswer& answer, const TextStyle& style) {
  const KernelRun& run = answer.kernel;
  const Occupancy& fit = run.occupancy;
  std::string trips = fmt::format("{} of {}", count_of(run.tiles, "tile"), count_of(run.trips, "iteration"));
  if (answer.options.causal || run.all_trips != run.tiles * run.trips)
    trips = fmt::format("{} of up to {}, {} in all", count_of(run.tiles, "tile"), count_of(run.trips, "iteration"), grouped(run.all_trips));
  const std::string order = answer.options.longest_first ? ", longest first" : "";
  std::string text = wrapped(join_facts({trips + order, count_of(machine.sm_count, "SM"),
                                         fmt::format("{} per SM ({})", count_of(run.ctas, "CTA"),
                                                     answer.options.ctas ? fmt::format("as asked; {} fit by {}", fit.ctas, fit.limited_by)
                                                                         : "as many as fit by " + fit.limited_by),
                                         answer.options.persistent ? "persistent" : "a CTA per tile"},
                                        style),
                             "", style.width);
  text += kernel_headline(machine, run, style) + "\n";
  text += join_facts({fmt::format("one tile {} cycles", grouped(run.tile)), fmt::format("SMs busy {:.1f} % of the time", 100 * run.filled),
                      run.extrapolated ? "extrapolated from a part of the work" : ""},
                     style) +
          "\n";
  if (!run.program.free_ops.empty()) {
    std::string names;
    for (const std::string& name : run.program.free_ops) names += (names.empty() ? "" : ", ") + printable(name);
    text += wrapped(fmt::format("no cost known outside the loop, taken as nothing: {}", names), "", style.width);
  }
  return text;
}

}  // namespace

SimulationAnswer simulate_kernel(const Kernel& kernel, const Machine& machine, const Changes& changes, const Problem& problem,
                                 const Schedule& schedule, const KernelRunOptions& options) {
  SimulationAnswer answer;
  answer.options = options;
  answer.sustainable = sustainable_period(problem, schedule);
  SimulateOptions loop = options.loop;
  loop.trips = kSteadyTrips;
  loop.timeline = 0;
  answer.loop = simulate(problem, schedule, loop);
  if (answer.loop.fault.empty() && loop.arbitration == Arbitration::Scheduled) {
    loop.arbitration = Arbitration::FirstCome;
    answer.first_come = simulate(problem, schedule, loop);
  }
  if (answer.loop.fault.empty())
    answer.kernel = run_kernel(kernel, machine, changes, problem, schedule, options);
  else
    answer.kernel.fault = answer.loop.fault;
  return answer;
}

namespace {

/// What the schedule's order on its units is worth, if anything.
std::string first_come_text(const SimulationAnswer& answer) {
  if (!answer.first_come) return "";
  if (!answer.first_come->fault.empty()) return "where units serve first come: " + printable(answer.first_come->fault);
  const double now = answer.loop.period.cycles(), then = answer.first_come->period.cycles();
  if (now <= 0 || std::abs(then / now - 1) < 0.0005) return "the same where units serve first come";
  return fmt::format("{} where units serve first come ({:+.1f} %)", cycles_text(then), 100 * (then / now - 1));
}

}  // namespace

std::string period_headline(const Schedule& schedule, const SimulationAnswer& answer, const TextStyle& style) {
  if (!answer.loop.fault.empty()) return printable(answer.loop.fault);
  const MeasuredPeriod& period = answer.loop.period;
  std::string measured = fmt::format("simulated period {} cycles", cycles_text(period.cycles()));
  if (!period.exact) measured += " (mean)";
  else if (period.tokens > 1) measured += fmt::format(" ({} over {} iterations)", grouped(period.weight), period.tokens);
  const Period& bound = answer.sustainable;
  return join_facts({measured, fmt::format("II {}", grouped(schedule.ii)),
                     bound.deadlock ? "deadlocks by the event graph" : "sustainable " + cycles_text(static_cast<double>(bound.weight) / static_cast<double>(bound.tokens))},
                    style);
}

std::string kernel_headline(const Machine& machine, const KernelRun& run, const TextStyle& style) {
  if (!run.fault.empty()) return printable(run.fault);
  return join_facts({grouped(run.cycles) + " cycles",
                     run.microseconds > 0 ? fmt::format("{:.1f} us at {} MHz", run.microseconds, machine.clock_mhz) : "",
                     run.tflops > 0 ? fmt::format("{:.1f} TFLOP/s", run.tflops) : "",
                     run.of_peak > 0 ? fmt::format("{:.1f} % of the tensor cores' best", 100 * run.of_peak) : "",
                     run.tflops == 0 && run.gbytes > 0 ? fmt::format("{:.0f} GB/s, if L2 and DRAM can: they are not modelled", run.gbytes) : ""},
                    style);
}

std::string simulation_summary(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer,
                               const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  text += wrapped(period_headline(schedule, answer, style), "", style.width);
  if (!answer.loop.fault.empty()) return text;
  text += wrapped(join_facts({fmt::format("units: {}", answer.options.loop.arbitration == Arbitration::Scheduled ? "in the schedule's order" : "first come, first served"),
                      first_come_text(answer), jitter_text(answer.options.loop.jitter), answer.loop.extrapolated ? "extrapolated" : ""},
                             style),
                  "", style.width);
  if (answer.loop.unordered > 0)
    text += wrapped(fmt::format("{} on units cannot be kept by streams that issue in order, so the loop runs without",
                                count_of(answer.loop.unordered, "order")), "", style.width);
  text += "\nkernel\n";
  const KernelRun& run = answer.kernel;
  if (!run.fault.empty()) return text + wrapped(printable(run.fault), "", style.width);
  text += kernel_lines(machine, answer, style);
  text += fmt::format("\nwhere the time of a CTA's warp groups goes ({} cycles, the busiest SM)\n", grouped(run.sm.cycles)) + group_table(run);
  text += "\ncycles that a group stands still at an op; held: the op is ready but not its turn\n" + op_table(run);
  if (!run.sm.waits.empty()) text += "\nwho waits for whom\n" + wait_table(run);
  return text;
}

std::string simulation_csv(const SimulationAnswer& answer) {
  const KernelRun& run = answer.kernel;
  std::string text = csv_record({"op", "section", "group", "role", "data_cycles", "order_cycles", "unit_cycles", "credit_cycles", "held_cycles", "queued_cycles"});
  for (std::size_t v = 0; v < run.sm.ops.size(); ++v) {
    const std::size_t g = run.program.schedule.ops[v].group.index();
    const Section section = run.program.sections[v];
    std::vector<std::string> fields{run.program.problem.ops[v].name,
                                    section == Section::Loop ? "loop" : section == Section::Prologue ? "prologue" : "epilogue",
                                    std::to_string(g), run.program.schedule.groups[g].role};
    for (const Cycle stall : run.sm.ops[v].stalls) fields.push_back(std::to_string(stall));
    fields.push_back(std::to_string(run.sm.ops[v].held));
    fields.push_back(std::to_string(run.sm.ops[v].queued));
    text += csv_record(fields);
  }
  return text;
}

}  // namespace heddle
