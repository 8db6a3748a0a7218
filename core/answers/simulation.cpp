#include "core/answers/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/answers/bracket.h"
#include "core/answers/summary.h"
#include "core/base/words.h"
#include "core/chart/chart_layout.h"
#include "core/chart/csv.h"
#include "core/simulate/end_ops.h"

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

std::string used_text(const UsedShare& used) { return fmt::format("{} {:.0f} %", printable(used.name), 100 * used.part); }

std::string group_table(const KernelRun& run) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t g = 0; g < run.sm.groups.size(); ++g) {
    const GroupTime& time = run.sm.groups[g];
    rows.push_back({std::to_string(g), printable(role_name(run.program.schedule, g)), share_of(time.busy, run.sm.cycles)});
    for (const Cycle stall : time.stalls) rows.back().push_back(share_of(stall, run.sm.cycles));
    rows.back().push_back(share_of(time.idle, run.sm.cycles));
  }
  return text_table(
      {{"id", true}, {"group"}, {"issuing", true}, {"data", true}, {"order", true}, {"unit", true}, {"credit", true}, {"idle", true}},
      rows);
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
  std::vector<TextColumn> columns{{"op"},         {"group", true},  {"data", true}, {"order", true},
                                  {"unit", true}, {"credit", true}, {"held", true}};
  if (queued)
    columns.push_back({"queued", true});
  else
    for (auto& row : rows) row.pop_back();
  const std::size_t others = run.sm.ops.size() - rows.size();
  return text_table(columns, rows) +
         (others > 0 ? fmt::format("  and {} below 0.1 % of the time each\n", count_of(static_cast<std::int64_t>(others), "op")) : "");
}

std::string wait_table(const KernelRun& run) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<Op>& ops = run.program.problem.ops;
  for (const Wait& wait : run.sm.waits) {
    if (rows.size() == kMostWaits || wait.cycles <= run.sm.cycles / kLeastShare) break;
    rows.push_back({printable(ops[wait.at.index()].name),
                    wait.behind.valid() ? printable(ops[wait.behind.index()].name) : "whoever came first", printable(wait.what),
                    to_string(wait.reason), grouped(wait.cycles), share_of(wait.cycles, run.sm.cycles)});
  }
  return text_table({{"op"}, {"waits for"}, {"through"}, {"reason"}, {"cycles", true}, {"of the time", true}}, rows);
}

/// "TC 91 %": the busiest first, each at least half as busy as that.
std::vector<std::string> used_texts(const KernelRun& run) {
  std::vector<std::string> texts;
  for (const UsedShare& used : run.used)
    if (2 * used.part >= run.used.front().part) texts.push_back(used_text(used));
  return texts;
}

/// How a simulation as hardware does it departs from the model that was solved.
std::string hardware_text(const Machine& machine, const SimulationAnswer& answer) {
  if (answer.kernel.contended)
    return "warp groups take time from each other on the tensor cores, in special functions and in registers, by the machine's contention; "
           "what surrounds the loop as if units interleave what groups ask for";
  if (answer.options.loop.arbitration != Arbitration::Interleaved) return "";
  std::string text = "units interleave what warp groups ask for";
  if (machine.streams.arithmetic_percent != 100)
    text +=
        fmt::format("; a group's arithmetic takes {} % of the time that the rates of its units say", machine.streams.arithmetic_percent);
  if (const StreamCosts& s = machine.streams; s.product_percent != 100 || s.register_product_percent != 100)
    text += fmt::format(", an mma beside it {} %, from registers {} %", s.product_percent, s.register_product_percent);
  if (answer.kernel.turns)
    text += fmt::format("; named barriers keep the order on the tensor cores, {} each turn", count_of(machine.streams.turn, "cycle"));
  if (answer.kernel.by_chance)
    text += fmt::format("; no named barriers keep the order on the tensor cores: the mean over {} distances between the groups", kPhases);
  if (const double more = answer.kernel.around_us; more > 0)
    text += fmt::format("; {} the kernels before and after it, {:.1f} us", answer.options.around ? "with" : "without", more);
  return text;
}

std::string kernel_lines(const Machine& machine, const SimulationAnswer& answer, const TextStyle& style) {
  const KernelRun& run = answer.kernel;
  const Occupancy& fit = run.occupancy;
  std::string trips = fmt::format("{} of {}", count_of(run.tiles, "tile"), count_of(run.trips, "iteration"));
  if (answer.options.causal || run.all_trips != run.tiles * run.trips)
    trips = fmt::format("{} of up to {}, {} in all", count_of(run.tiles, "tile"), count_of(run.trips, "iteration"), grouped(run.all_trips));
  std::string order = answer.options.longest_first ? ", longest first" : "";
  if (run.pieces > 0)
    order += fmt::format(
        ", cut at {} into {} more{}", answer.options.split, count_of(run.pieces, "piece"),
        answer.options.second_pass ? fmt::format(", put together in {}", time_text(run.merge_us)) : ", added up in global memory");
  std::string text = wrapped(join_facts({trips + order, count_of(machine.sm_count, "SM"),
                                         fmt::format("{} per SM ({})", count_of(run.ctas, "CTA"),
                                                     answer.options.ctas ? fmt::format("as asked; {} fit by {}", fit.ctas, fit.limited_by)
                                                                         : "as many as fit by " + fit.limited_by),
                                         answer.options.persistent ? "persistent" : "a CTA per tile"},
                                        style),
                             "", style.width);
  text += wrapped(kernel_headline(run, style), "", style.width);
  if (!run.used.empty()) text += wrapped("busy: " + join_facts(used_texts(run), style), "", style.width);
  text += join_facts({fmt::format("one tile {} cycles, {} an iteration", grouped(run.tile), cycles_text(run.sm.period.cycles())),
                      fmt::format("SMs busy {:.1f} % of the time", 100 * run.filled),
                      run.extrapolated ? "extrapolated from a part of the work" : ""},
                     style) +
          "\n";
  text += wrapped(hardware_text(machine, answer), "", style.width);
  text += wrapped(printable(answer.trust.text), "", style.width);
  if (!run.program.free_ops.empty()) {
    std::string names;
    for (const std::string& name : run.program.free_ops) names += (names.empty() ? "" : ", ") + printable(name);
    text += wrapped(fmt::format("no cost known outside the loop, taken as nothing: {}", names), "", style.width);
  }
  return text;
}

}  // namespace

SimulationAnswer simulate_kernel(const Instance& instance, const Schedule& schedule, const KernelRunOptions& options) {
  const Problem& problem = instance.problem();
  SimulationAnswer answer;
  answer.options = options;
  answer.sustainable = sustainable_period(problem, schedule);
  SimulateOptions loop = options.loop;
  loop.trips = kSteadyTrips;
  loop.timeline = 0;
  if (loop.arbitration == Arbitration::Interleaved) loop.arbitration = Arbitration::Scheduled;  // what was solved and proved
  answer.loop = simulate(problem, schedule, loop);
  if (latencies_vary(problem) && loop.arbitration != Arbitration::FirstCome) answer.bracket = period_bracket(problem, schedule);
  if (answer.loop.fault.empty() && loop.arbitration == Arbitration::Scheduled) {
    loop.arbitration = Arbitration::FirstCome;
    answer.first_come = simulate(problem, schedule, loop);
  }
  answer.kernel.fault = answer.loop.fault;
  if (!answer.kernel.fault.empty()) return answer;
  KernelRunOptions whole = options;
  whole.lanes = true;
  answer.kernel = run_kernel(instance, schedule, whole);
  answer.parts = time_parts(instance, schedule, options, answer.kernel);
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

std::string served_text(Arbitration arbitration) {
  if (arbitration == Arbitration::Contended) return "groups take time from each other";
  return arbitration == Arbitration::FirstCome ? "first come, first served" : "in the schedule's order";
}

}  // namespace

std::string period_headline(const Schedule& schedule, const SimulationAnswer& answer, const TextStyle& style) {
  if (!answer.loop.fault.empty()) return printable(answer.loop.fault);
  const MeasuredPeriod& period = answer.loop.period;
  std::string measured = fmt::format("simulated period {} cycles", cycles_text(period.cycles()));
  if (!period.exact)
    measured += " (mean)";
  else if (period.tokens > 1)
    measured += fmt::format(" ({} over {} iterations)", grouped(period.weight), period.tokens);
  const Period& bound = answer.sustainable;
  return join_facts({measured, fmt::format("II {}", grouped(schedule.ii)),
                     bound.deadlock ? "deadlocks by the event graph"
                                    : "sustainable " + cycles_text(static_cast<double>(bound.weight) / static_cast<double>(bound.tokens))},
                    style);
}

std::string time_text(double microseconds) {
  if (microseconds >= 9995) return fmt::format("{:.1f} ms", microseconds / 1000);
  if (microseconds >= 999.5) return fmt::format("{:.2f} ms", microseconds / 1000);
  return fmt::format("{:.{}f} us", microseconds, microseconds >= 99.95 ? 0 : 1);
}

std::string speed_text(const KernelRun& run) {
  if (run.tflops > 0) return fmt::format("{:.{}f} TFLOP/s", run.tflops, run.tflops < 10 ? 1 : 0);
  return run.gbytes > 0 ? grouped(std::llround(run.gbytes)) + " GB/s" : "";
}

std::string kernel_headline(const KernelRun& run, const TextStyle& style) {
  if (!run.fault.empty()) return printable(run.fault);
  return join_facts(
      {grouped(run.cycles) + " cycles", run.microseconds > 0 ? fmt::format("{:.1f} us at {}", run.microseconds, run.clock.text) : "",
       run.tflops > 0 ? fmt::format("{:.1f} TFLOP/s", run.tflops) : "",
       run.of_peak > 0 ? fmt::format("{:.1f} % of the tensor cores' best", 100 * run.of_peak) : "",
       run.tflops == 0 && run.gbytes > 0 ? fmt::format("{:.0f} GB/s, by the loop", run.gbytes) : ""},
      style);
}

std::string time_parts_table(const std::vector<TimePart>& parts, const KernelRun& run) {
  std::vector<std::vector<std::string>> rows;
  double sum = 0;
  for (const TimePart& part : parts) {
    sum += part.microseconds;
    const std::string speed = run.tflops > 0 ? fmt::format("{:.0f}", run.tflops * run.microseconds / sum) : "";
    rows.push_back({part.name, fmt::format("{:.1f} us", part.microseconds),
                    fmt::format("{:.1f} %", 100 * part.microseconds / run.microseconds), speed, part.about});
  }
  return text_table({{"part"}, {"time", true}, {"share", true}, {run.tflops > 0 ? "TFLOP/s so far" : "", true}, {""}}, rows);
}

std::string simulation_summary(const Machine& machine, const Problem& problem, const Schedule& schedule, const SimulationAnswer& answer,
                               const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  text += wrapped(period_headline(schedule, answer, style), "", style.width);
  if (!answer.loop.fault.empty()) return text;
  text += wrapped(
      join_facts({fmt::format("units: {}", served_text(answer.options.loop.arbitration)), first_come_text(answer),
                  latencies_vary(problem) ? "" : jitter_text(answer.options.loop.jitter), answer.loop.extrapolated ? "extrapolated" : ""},
                 style),
      "", style.width);
  if (answer.bracket) text += bracket_text(problem, *answer.bracket, style.width);
  if (answer.bracket && answer.options.loop.arbitration != Arbitration::Scheduled)
    text += wrapped("the whole kernel, below, is run as hardware serves groups: there the bracket claims nothing", "  ", style.width);
  if (!answer.bracket && latencies_vary(problem)) text += wrapped(kNoBracket, "", style.width);
  if (answer.loop.unordered > 0)
    text += wrapped(fmt::format("{} on units cannot be kept by streams that issue in order, so the loop runs without",
                                count_of(answer.loop.unordered, "order")),
                    "", style.width);
  text += "\nkernel\n";
  const KernelRun& run = answer.kernel;
  if (!run.fault.empty()) return text + wrapped(printable(run.fault), "", style.width);
  text += kernel_lines(machine, answer, style);
  if (!answer.parts.empty()) text += "\nwhat the time is made of\n" + time_parts_table(answer.parts, run);
  text +=
      fmt::format("\nwhere the time of a CTA's warp groups goes ({} cycles, the busiest SM)\n", grouped(run.sm.cycles)) + group_table(run);
  text += "\ncycles that a group stands still at an op; held: the op is ready but not its turn\n" + op_table(run);
  if (!run.sm.waits.empty()) text += "\nwho waits for whom\n" + wait_table(run);
  return text;
}

std::string simulation_csv(const SimulationAnswer& answer) {
  const KernelRun& run = answer.kernel;
  std::string text = csv_record(
      {"op", "section", "group", "role", "data_cycles", "order_cycles", "unit_cycles", "credit_cycles", "held_cycles", "queued_cycles"});
  for (std::size_t v = 0; v < run.sm.ops.size(); ++v) {
    const std::size_t g = run.program.schedule.ops[v].group.index();
    std::vector<std::string> fields{run.program.problem.ops[v].name, to_string(run.program.sections[v]), std::to_string(g),
                                    run.program.schedule.groups[g].role};
    for (const Cycle stall : run.sm.ops[v].stalls) fields.push_back(std::to_string(stall));
    fields.push_back(std::to_string(run.sm.ops[v].held));
    fields.push_back(std::to_string(run.sm.ops[v].queued));
    text += csv_record(fields);
  }
  return text;
}

namespace {

std::string period_text(double cycles) { return fmt::format("{:.1f}", cycles); }
std::string over(double cycles, double base) { return base > 0 ? fmt::format("{:+.1f} %", 100 * (cycles / base - 1)) : ""; }

std::string about_jitter(const StudyOptions& options) {
  const std::string how = options.shape == JitterShape::Uniform  ? "uniform, up to so many percent both ways"
                          : options.shape == JitterShape::Normal ? "normal, with a deviation of so many percent"
                                                                 : "late only, an exponential tail with a mean of so many percent";
  return fmt::format("latencies of {}: {}; {} of {} iterations each, seeds from {}\n", options.every_op ? "all ops" : "loads", how,
                     count_of(options.runs, "run"), grouped(options.trips), options.seed);
}

std::string side_text(const NumberSide& side, double base) {
  if (!side.fault.empty()) return printable(shortened(side.fault, 40));
  return side.same || side.period == base ? "-" : fmt::format("{} ({})", period_text(side.period), over(side.period, base));
}

}  // namespace

std::string jitter_summary(const Schedule& schedule, const std::vector<JitterPoint>& points, const StudyOptions& options) {
  std::string text = fmt::format("period under jitter, II {}\n", grouped(schedule.ii)) + about_jitter(options);
  if (!points.empty() && !points.front().fault.empty()) return text + printable(points.front().fault) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const JitterPoint& p : points)
    rows.push_back({fmt::format("{} %", p.percent), period_text(p.mean), over(p.mean, points.front().mean), period_text(p.worst)});
  return text + text_table({{"jitter", true}, {"mean period", true}, {"change", true}, {"worst run", true}}, rows);
}

std::string number_summary(const Schedule& schedule, const NumberStudy& study) {
  std::string text = fmt::format("simulated period with each number {} % off, the program as it is; now {} (II {})\n", study.percent,
                                 period_text(study.period), grouped(schedule.ii));
  std::vector<std::vector<std::string>> rows;
  std::size_t without = 0;
  for (const NumberRow& row : study.rows) {
    if (row.swing == 0 && row.less.fault.empty() && row.more.fault.empty()) {
      ++without;
      continue;
    }
    rows.push_back({printable(row.number), ends_text(row.values), side_text(row.less, study.period), side_text(row.more, study.period)});
  }
  text += text_table({{"number"}, {"now", true}, {fmt::format("-{} %", study.percent), true}, {fmt::format("+{} %", study.percent), true}},
                     rows);
  return text + fmt::format("{} without effect\n", count_of(static_cast<std::int64_t>(without), "number"));
}

std::string depth_summary(const Problem& problem, const Schedule& schedule, const DepthStudy& study, const StudyOptions& options) {
  std::string text = fmt::format("period by ring depth and jitter, II {}\n", grouped(schedule.ii)) + about_jitter(options);
  if (study.rows.empty()) return text + "no ring is filled by loads\n";
  std::vector<TextColumn> columns{{"ring"}, {"depth"}, {"shared memory", true}};
  for (const int percent : study.percents) columns.push_back({fmt::format("{} %", percent), true});
  std::vector<std::vector<std::string>> rows;
  for (const DepthRow& row : study.rows) {
    const std::string depth = !row.ring.empty() ? std::to_string(row.depth) : row.more == 0 ? "" : fmt::format("{:+}", row.more);
    rows.push_back({row.ring.empty() ? "all of loads" : printable(row.ring),
                    row.more == 0 ? (depth.empty() ? "as now" : depth + ", as now") : depth,
                    bytes_of(row.bytes, problem.limits.smem_bytes) + (row.fits ? "" : " !")});
    if (row.periods.empty()) rows.back().emplace_back("deadlock");
    for (const double period : row.periods) rows.back().push_back(period_text(period));
    rows.back().resize(columns.size());
  }
  text += text_table(columns, rows);
  const bool any = std::any_of(study.rows.begin(), study.rows.end(), [](const DepthRow& row) { return !row.fits; });
  return any ? text + "!: more than a CTA may use\n" : text;
}

std::string jitter_csv(const std::vector<JitterPoint>& points) {
  std::string text = csv_record({"jitter_percent", "mean_period_cycles", "worst_period_cycles", "fault"});
  for (const JitterPoint& p : points)
    text += csv_record({std::to_string(p.percent), fmt::format("{:.3f}", p.mean), fmt::format("{:.3f}", p.worst), p.fault});
  return text;
}

std::string number_csv(const NumberStudy& study) {
  std::string text = csv_record({"number", "now", "less_period_cycles", "more_period_cycles", "less_fault", "more_fault"});
  const auto cycles = [](const NumberSide& side) { return side.fault.empty() ? fmt::format("{:.3f}", side.period) : std::string(); };
  for (const NumberRow& row : study.rows)
    text += csv_record({row.number, ends_text(row.values), cycles(row.less), cycles(row.more), row.less.fault, row.more.fault});
  return text;
}

std::string depth_csv(const DepthStudy& study) {
  std::string text = csv_record({"ring", "depth", "more", "smem_bytes", "fits", "jitter_percent", "period_cycles"});
  for (const DepthRow& row : study.rows)
    for (std::size_t i = 0; i < study.percents.size(); ++i)
      text += csv_record({row.ring.empty() ? "all" : row.ring, row.ring.empty() ? "" : std::to_string(row.depth), std::to_string(row.more),
                          std::to_string(row.bytes), row.fits ? "1" : "0", std::to_string(study.percents[i]),
                          i < row.periods.size() ? fmt::format("{:.3f}", row.periods[i]) : ""});
  return text;
}

}  // namespace heddle
