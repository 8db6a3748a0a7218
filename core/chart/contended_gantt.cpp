// The spans of one period, laid end to end; of a simulated run, what it timed.
#include "core/chart/contended_gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"
#include "core/motion/as_compiled.h"
#include "core/motion/motion.h"

namespace heddle {
namespace {

using motion::CircleStep;
using motion::CircleStepKind;
using motion::kCycle;
using motion::MotionSpan;

bool can_pause(CircleStepKind kind) {
  return kind == CircleStepKind::Issue || kind == CircleStepKind::Await || kind == CircleStepKind::Take || kind == CircleStepKind::Copy;
}

class PeriodicRun {
 public:
  PeriodicRun(const motion::GroupCircles& circles, const motion::Motion& motion, GanttModel& model)
      : circles_(circles), motion_(motion), model_(model), like_(std::move(model.bars)) {
    model_.bars.clear();
    std::sort(like_.begin(), like_.end(), [](const GanttBar& a, const GanttBar& b) { return a.op < b.op; });
  }

  void run(int iterations) {
    const std::int64_t periods = (iterations + motion_.period.iterations - 1) / motion_.period.iterations;
    end_ = periods * motion_.period.ticks;
    model_.begin = 0;
    model_.end = std::max<Cycle>(1, (end_ + kCycle - 1) / kCycle);
    add_pause_rows();
    first_ = first_iteration();
    // A span may end in the next period; a copy is drawn longer than its group is held.
    for (std::int64_t p = -1; p < periods; ++p)
      for (const MotionSpan& span : motion_.spans) see(span, p);
    for (std::int64_t k = 0; k <= periods; ++k)
      model_.marks.push_back({k * motion_.period.ticks / kCycle, k == periods ? std::string() : period_name(k), true});
  }

 private:
  const CircleStep& step_of(const MotionSpan& span) const { return circles_.groups[span.group][span.step]; }

  std::string period_name(std::int64_t k) const {
    const std::int64_t i = motion_.period.iterations;
    return i == 1 ? fmt::format("iteration {}", k) : fmt::format("iterations {} to {}", k * i, (k + 1) * i - 1);
  }

  /// Behind the rows of each group that ever pauses.
  void add_pause_rows() {
    pause_row_.assign(circles_.groups.size(), 0);
    std::vector<std::size_t> moved(model_.rows.size());
    std::vector<GanttRow> rows;
    for (GanttGroup& group : model_.groups) {
      const std::size_t first = rows.size();
      for (std::size_t r = group.first_row; r < group.first_row + group.rows; ++r) {
        moved[r] = rows.size();
        rows.push_back(model_.rows[r]);
      }
      if (const std::size_t g = group.group.index(); g < circles_.groups.size()) {
        const auto& circle = circles_.groups[g];
        if (std::any_of(circle.begin(), circle.end(), [](const CircleStep& step) { return can_pause(step.kind); })) {
          pause_row_[g] = rows.size();
          rows.push_back({group.group, UnitRole::Sync, "warps", 1});
        }
      }
      group.first_row = first;
      group.rows = rows.size() - first;
    }
    model_.rows = std::move(rows);
    for (GanttBar& bar : like_) bar.row = moved[bar.row];
  }

  /// The oldest that works on anything in the period.
  std::int64_t first_iteration() const {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const MotionSpan& span : motion_.spans)
      if (!span.tensor && step_of(span).op.valid() && step_of(span).kind != CircleStepKind::Await)
        first = std::min(first, span.turn - step_of(span).stage);
    return first;
  }

  OpId next_op(const MotionSpan& span) const {
    const auto& circle = circles_.groups[span.group];
    for (std::size_t i = 1; i < circle.size(); ++i) {
      const CircleStep& step = circle[(span.step + i) % circle.size()];
      if (step.kind == CircleStepKind::Arithmetic || step.kind == CircleStepKind::Issue || step.kind == CircleStepKind::Copy)
        return step.op;
    }
    return step_of(span).op;
  }

  void see(const MotionSpan& span, std::int64_t period) {
    const CircleStep& step = step_of(span);
    const motion::Ticks shift = period * motion_.period.ticks, begin = span.begin + shift, end = span.end + shift;
    const std::int64_t iteration = span.turn - step.stage + period * motion_.period.iterations - first_;
    if (span.tensor || step.kind == CircleStepKind::Arithmetic) return add_bar(step.op, iteration, begin, end, end);
    if (step.kind == CircleStepKind::Copy) {
      const GanttBar& like = like_[step.op.index()];
      add_bar(step.op, iteration, begin, begin + std::max<Cycle>(1, like.end - like.begin) * kCycle, begin + step.latency);
    }
    if (can_pause(step.kind)) add_pause(span, step, begin, end);
  }

  void add_bar(OpId op, std::int64_t iteration, motion::Ticks begin, motion::Ticks end, motion::Ticks usable) {
    if (end <= 0 || begin >= end_) return;
    GanttBar bar = like_[op.index()];
    bar.wraps_left = bar.wraps_right = false;
    bar.iteration = static_cast<int>(iteration);
    bar.begin = std::max<motion::Ticks>(begin, 0) / kCycle;
    bar.end = std::max(bar.begin + 1, std::min(end, end_) / kCycle);
    bar.window_end = bar.begin;
    bar.latency_end = std::max(bar.end, std::min(usable, end_) / kCycle);
    model_.bars.push_back(std::move(bar));
  }

  void add_pause(const MotionSpan& span, const CircleStep& step, motion::Ticks begin, motion::Ticks end) {
    GanttPause pause;
    pause.begin = std::max<motion::Ticks>(begin, 0) / kCycle;
    pause.end = std::min(end, end_) / kCycle;
    if (pause.end <= pause.begin) return;
    const bool issues = step.kind == CircleStepKind::Issue || step.kind == CircleStepKind::Copy;
    pause.kind = issues ? GanttPause::Kind::Issue : step.kind == CircleStepKind::Take ? GanttPause::Kind::Turn : GanttPause::Kind::Wait;
    pause.op = issues ? step.op : next_op(span);
    pause.label = like_[pause.op.index()].label;
    pause.row = pause_row_[span.group];
    pause.why = span.why;
    model_.pauses.push_back(std::move(pause));
  }

  const motion::GroupCircles& circles_;
  const motion::Motion& motion_;
  GanttModel& model_;
  std::vector<GanttBar> like_;  ///< per op
  std::vector<std::size_t> pause_row_;
  motion::Ticks end_ = 0;
  std::int64_t first_ = 0;
};

/// In the first lane of its row that is free.
void choose_bar_lanes(GanttModel& model) {
  std::sort(model.bars.begin(), model.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.row, a.begin, a.op, a.iteration) < std::tie(b.row, b.begin, b.op, b.iteration);
  });
  std::vector<std::vector<Cycle>> free(model.rows.size());
  for (GanttBar& bar : model.bars) {
    auto& lanes = free[bar.row];
    auto lane = std::find_if(lanes.begin(), lanes.end(), [&](Cycle until) { return until <= bar.begin; });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), 0);
    *lane = bar.end;
    bar.lane = static_cast<int>(lane - lanes.begin());
  }
  for (std::size_t r = 0; r < model.rows.size(); ++r) model.rows[r].lanes = std::max<int>(1, static_cast<int>(free[r].size()));
  std::sort(model.bars.begin(), model.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.row, a.lane, a.begin, a.op) < std::tie(b.row, b.lane, b.begin, b.op);
  });
  std::sort(model.pauses.begin(), model.pauses.end(),
            [](const GanttPause& a, const GanttPause& b) { return std::tie(a.row, a.begin) < std::tie(b.row, b.begin); });
}

/// From the last piece of a producer to the first of its reader.
void add_arrows(const Problem& problem, const Schedule& schedule, GanttModel& model) {
  struct Pieces {
    std::size_t first = 0, last = 0;
  };
  std::map<std::pair<std::size_t, int>, Pieces> of;
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const auto [found, fresh] = of.try_emplace({model.bars[b].op.index(), model.bars[b].iteration}, Pieces{b, b});
    if (fresh) continue;
    if (model.bars[b].begin < model.bars[found->second.first].begin) found->second.first = b;
    if (model.bars[b].end > model.bars[found->second.last].end) found->second.last = b;
  }
  for (std::size_t e = 0; e < problem.edges.size(); ++e) {
    const Edge& edge = problem.edges[e];
    for (auto to = of.lower_bound({edge.to.index(), std::numeric_limits<int>::min()}); to != of.end() && to->first.first == edge.to.index();
         ++to) {
      const auto from = of.find({edge.from.index(), to->first.second - edge.distance});
      if (from == of.end() || from->second.last == to->second.first) continue;
      model.arrows.push_back(
          {EdgeId(e), from->second.last, to->second.first, schedule.group(edge.from) != schedule.group(edge.to), edge.distance > 0});
    }
  }
}

}  // namespace

const char* to_string(GanttPause::Kind kind) {
  switch (kind) {
    case GanttPause::Kind::Issue: return "issue";
    case GanttPause::Kind::Turn: return "turn";
    case GanttPause::Kind::Wait: break;
  }
  return "wait";
}

std::string pause_text(const GanttPause& pause) {
  const std::string length = grouped(pause.end - pause.begin);
  if (pause.kind == GanttPause::Kind::Issue) return fmt::format("{} cycles to issue {}", length, pause.label);
  return fmt::format("waits {} cycles before {}{}{}", length, pause.label, pause.why.empty() ? "" : ": ", pause.why);
}

GanttModel build_contended_gantt(const Problem& problem, const Schedule& schedule, const GanttOptions& options) {
  GanttOptions once;
  once.mode = GanttMode::Unrolled;
  once.iterations = 1;
  once.verdict = options.verdict;
  GanttModel model = build_gantt(problem, schedule, once);
  model.mode = GanttMode::Contended;
  model.arrows.clear();
  model.marks.clear();
  model.lanes.clear();
  const motion::GroupCircles circles = motion::as_compiled(problem, motion::circles_of(problem, motion::program_of(problem, schedule)));
  const motion::Motion motion = motion::run_motion(problem, circles, {.spans = true});
  if (motion.stuck || motion.period.iterations == 0) {
    model.bars.clear();
    model.begin = 0, model.end = schedule.ii;
    model.marks.push_back({0, "cannot run: " + (motion.stuck ? motion.fault : std::string("nothing runs")), true});
    return model;
  }
  model.ii = std::max<Cycle>(1, static_cast<Cycle>(motion.period.cycles() + 0.5));
  PeriodicRun(circles, motion, model).run(std::max(1, options.iterations));
  choose_bar_lanes(model);
  add_arrows(problem, schedule, model);
  return model;
}

GanttModel build_run_gantt(const Problem& problem, const Schedule& schedule, const std::vector<SimulatedOp>& timeline) {
  GanttModel model = build_gantt(problem, schedule, {GanttMode::Unrolled, 1, nullptr});
  std::vector<GanttBar> like(problem.ops.size());
  for (const GanttBar& bar : model.bars) like[bar.op.index()] = bar;
  model.mode = GanttMode::Pipeline;
  model.bars.clear();
  model.arrows.clear();
  model.marks.clear();
  model.lanes.clear();
  model.begin = 0;
  model.end = 1;

  std::map<std::int64_t, Cycle> iteration_begin;
  for (const SimulatedOp& run : timeline) {
    const Op& op = problem.op(run.op);
    const UnitUse* use = primary_use(problem, op);
    GanttBar bar = like[run.op.index()];
    const Cycle length = bar.end - bar.begin;
    bar.iteration = static_cast<int>(run.iteration);
    bar.begin = run.start + (use ? use->offset : 0);
    bar.end = bar.begin + length;
    bar.window_end = run.issue + op.window;
    bar.latency_end = run.end;
    model.end = std::max({model.end, bar.end, bar.window_end, bar.latency_end});
    const auto [found, fresh] = iteration_begin.try_emplace(run.iteration, run.start);
    if (!fresh) found->second = std::min(found->second, run.start);
    model.bars.push_back(std::move(bar));
  }
  choose_bar_lanes(model);
  add_arrows(problem, schedule, model);
  for (const auto& [iteration, at] : iteration_begin) model.marks.push_back({at, fmt::format("iteration {}", iteration), true});
  return model;
}

}  // namespace heddle
