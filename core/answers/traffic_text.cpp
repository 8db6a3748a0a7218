// The answer of `heddle traffic` as text and CSV.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/answers/simulation.h"
#include "core/answers/summary.h"
#include "core/answers/traffic.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_model.h"
#include "core/chart/text_timeline.h"

namespace heddle {
namespace {

constexpr std::int64_t kShownIterations = 8;

std::string part_text(double part) { return part > 0 && part < 0.0005 ? "<0.1 %" : fmt::format("{:.1f} %", 100 * part); }

std::string role_text(const Schedule& schedule, GroupId group) { return printable(role_name(schedule, group.index())); }

std::string roles_text(const Schedule& schedule, const std::vector<GroupId>& groups) {
  std::string text;
  for (const GroupId group : groups) text += (text.empty() ? "" : ", ") + role_text(schedule, group);
  return text.empty() ? "-" : text;
}

std::string pair_table(const Schedule& schedule, const Tokens& tokens) {
  std::vector<std::vector<std::string>> rows;
  for (const PairTokens& pair : tokens.pairs)
    rows.push_back({role_text(schedule, pair.from), role_text(schedule, pair.to), std::to_string(pair.rings), std::to_string(pair.entries),
                    grouped(pair.bytes), std::to_string(pair.full_arrivals), std::to_string(pair.empty_arrivals)});
  return text_table(
      {{"from"}, {"to"}, {"rings", true}, {"entries", true}, {"bytes", true}, {"full arrivals", true}, {"empty arrivals", true}}, rows);
}

std::string ring_table(const Problem& problem, const Schedule& schedule, const Tokens& tokens) {
  std::vector<std::vector<std::string>> rows;
  for (const RingTokens& ring : tokens.rings) {
    const Channel& channel = problem.channel(ring.channel);
    rows.push_back({printable(channel.name), to_string(channel.space), role_text(schedule, ring.writer), roles_text(schedule, ring.readers),
                    std::to_string(ring.depth), grouped(ring.slot_bytes), kib(ring.held()), std::to_string(ring.entries),
                    grouped(ring.bytes), std::to_string(ring.full_arrivals), std::to_string(ring.empty_arrivals)});
  }
  return text_table({{"ring"},
                     {"space"},
                     {"from"},
                     {"to"},
                     {"slots", true},
                     {"slot bytes", true},
                     {"KiB", true},
                     {"entries", true},
                     {"bytes", true},
                     {"full arrivals", true},
                     {"empty arrivals", true}},
                    rows);
}

std::string fill_table(const Problem& problem, const Traffic& traffic) {
  std::vector<std::vector<std::string>> rows;
  for (const RingTraffic& ring : traffic.rings)
    rows.push_back({printable(problem.channel(ring.tokens.channel).name), std::to_string(ring.tokens.depth),
                    fmt::format("{:.2f}", ring.taken), fmt::format("{:.2f}", ring.filled), part_text(ring.starving), part_text(ring.full)});
  return text_table({{"ring"}, {"slots", true}, {"taken", true}, {"filled", true}, {"starving", true}, {"full", true}}, rows);
}

std::string floor_text(const Problem& problem, const Traffic& traffic, const TextStyle& style) {
  if (!traffic.floor) return "";
  const LatencyFloor& floor = *traffic.floor;
  std::string text =
      fmt::format("{} takes {} cycles until it is usable; at best an iteration begins every {:.0f} cycles on an SM, with {} bytes: ",
                  printable(problem.op(floor.op).name), grouped(floor.latency), floor.best_period, grouped(floor.bytes_per_iteration));
  text += fmt::format("{} KiB have to be on their way per SM so that this latency costs nothing. The rings hold {} KiB", kib(floor.needed),
                      kib(floor.held));
  if (traffic.ctas > 1) text += fmt::format(" ({} CTAs)", traffic.ctas);
  text += fmt::format("; of that {:.1f} KiB are on their way in the mean.", floor.in_flight / 1024);
  if (floor.dram > 0) text += fmt::format(" To keep DRAM busy {} KiB per SM would be enough.", kib(floor.dram));
  return wrapped(text, "", style.width);
}

/// A line of time for every ring, from a tile's first op on.
std::string queue_lines(const KernelRun& run, const Traffic& traffic, const TextStyle& style) {
  std::map<std::int64_t, Cycle> begins;
  const std::size_t loop = std::count(run.program.sections.begin(), run.program.sections.end(), CtaSection::Loop);
  Cycle end = traffic.end;
  for (const SimulatedOp& op : run.sm.timeline) {
    if (op.op.index() >= loop) continue;
    const auto [found, fresh] = begins.try_emplace(op.iteration, op.start);
    if (!fresh) found->second = std::min(found->second, op.start);
  }
  // Until the last op begins that belongs to the first iterations.
  Cycle shown = 0;
  for (const SimulatedOp& op : run.sm.timeline)
    if (op.op.index() < loop && op.iteration < kShownIterations) shown = std::max(shown, op.end);
  GanttModel model;
  model.mode = GanttMode::Pipeline;
  model.ii = traffic.ii;
  model.end = std::max<Cycle>(1, std::min(end, shown));
  for (const auto& [iteration, at] : begins)
    if (at < model.end) model.marks.push_back({at, fmt::format("{}", iteration), true});
  model.queues = queue_lanes(run.program.problem, run.program.schedule,
                             ring_fill(run.program.problem, run.program.schedule, run.sm.timeline, 0, model.end));
  return model.queues.empty() ? "" : text_timeline(model, style);
}

std::string balance_table(const std::vector<BalancePoint>& points) {
  std::vector<std::vector<std::string>> rows;
  for (const BalancePoint& point : points) {
    if (!point.fault.empty()) {
      rows.push_back({printable(point.name), "", "", "", "", printable(shortened(point.fault, 60))});
      continue;
    }
    rows.push_back({printable(point.name), fmt::format("{:.2f}", point.access), printable(point.access_by),
                    fmt::format("{:.2f}", point.execute), printable(point.execute_by),
                    time_text(point.microseconds) + (point.fits ? "" : ", does not fit")});
  }
  return text_table({{"variant"}, {"access", true}, {"busiest"}, {"execute", true}, {"busiest"}, {"predicted"}}, rows);
}

}  // namespace

std::string traffic_summary(const Problem& problem, const Schedule& schedule, const KernelRun& run, const std::vector<Traffic>& all,
                            const TextStyle& style) {
  const Traffic& traffic = all.front();
  std::string text = problem_title(problem) + "\n" + headline(schedule, style) + "\n";
  if (traffic.fault.empty()) {
    text += wrapped(kernel_headline(run, style), "", style.width);
    text += wrapped(styled(traffic.verdict.sentence, style), "", style.width);
    if (!traffic.trust.text.empty()) text += wrapped(printable(traffic.trust.text), "", style.width);
  } else {
    text += wrapped(printable(traffic.fault), "", style.width);
  }
  if (traffic.tokens.rings.empty()) return text + "\nno ring: nothing passes from one warp group to another through a queue\n";
  text += "\nwhat passes between warp groups in one iteration\n" + pair_table(schedule, traffic.tokens);
  text += "\nrings, with what passes through each in one iteration\n" + ring_table(problem, schedule, traffic.tokens);
  if (!traffic.fault.empty()) return text;
  text += traffic.steady
              ? fmt::format("\nhow full rings are: slots in the mean, and parts of the time, predicted; cycles {} to {} of a tile\n",
                            grouped(traffic.from), grouped(traffic.to))
              : fmt::format("\nhow full rings are: slots in the mean, and parts of the time, predicted; all {} cycles of a tile\n",
                            grouped(traffic.to));
  text += fill_table(problem, traffic);
  text += wrapped(
      "starving: an op that reads the ring could go, its unit is free, and the entry is not there yet; full: the writer could go, "
      "and the slot holds an entry that nobody has released",
      "", style.width);
  if (const std::string floor = floor_text(problem, traffic, style); !floor.empty()) text += "\nbytes on their way\n" + floor;
  if (const std::string lines = queue_lines(run, traffic, style); !lines.empty())
    text += fmt::format("\nthe first iterations of a tile, {} cycles an iteration, predicted\n",
                        grouped(static_cast<std::int64_t>(traffic.period))) +
            lines;
  std::vector<BalancePoint> points = traffic.balance;
  if (all.size() > 1) {
    points.clear();
    for (const Traffic& of : all) {
      BalancePoint point = of.balance.empty() ? BalancePoint{} : of.balance.front();
      point.name = of.name;
      point.fault = of.fault;
      points.push_back(std::move(point));
    }
  }
  text += "\nbalance: how busy the access side and the execute side are, of 1\n" + balance_table(points);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].fault.empty()) text += wrapped(styled(all[i].verdict.sentence, style), printable(all[i].name) + ": ", style.width);
  return text;
}

}  // namespace heddle
