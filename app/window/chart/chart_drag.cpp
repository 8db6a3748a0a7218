#include "app/window/chart/chart_drag.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/integer_division.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

constexpr double kReach = 6;  // pixels
constexpr int kFarthestStage = 3;

/// The row of another group that shows the same unit, or the group's first one.
std::size_t row_in_group(const GanttModel& model, std::size_t row, GroupId group) {
  std::optional<std::size_t> first;
  for (std::size_t r = 0; r < model.rows.size(); ++r) {
    if (model.rows[r].group != group) continue;
    if (!first) first = r;
    if (model.rows[r].label == model.rows[row].label) return r;
  }
  return first.value_or(row);
}

bool same_instance(const GanttModel& model, const GanttBar& bar, OpId op, int iteration) {
  // In the steady view both pieces of a wrapped bar are one op, whatever they are counted as.
  return bar.op == op && (model.mode == GanttMode::Steady || bar.iteration == iteration);
}

}  // namespace

std::vector<GhostBar> ghost_bars(const GanttModel& model, OpId op, int iteration, Cycle delta, std::optional<GroupId> group) {
  std::vector<GhostBar> ghosts;
  const auto add = [&](std::size_t row, int lane, Cycle begin, Cycle end) {
    GhostBar ghost{group ? row_in_group(model, row, *group) : row, lane, begin, end, false, false};
    ghost.lane = std::min(ghost.lane, model.rows[ghost.row].lanes - 1);
    if (model.mode != GanttMode::Steady || model.ii < 1) return ghosts.push_back(ghost);
    // Into the window; what reaches over its right edge comes in again on the left.
    for (Cycle at = begin; at < end;) {
      const Cycle window = floor_div(at, model.ii), stop = std::min(end, (window + 1) * model.ii);
      GhostBar piece = ghost;
      piece.begin = at - window * model.ii;
      piece.end = stop - window * model.ii;
      piece.wraps_left = at > begin;
      piece.wraps_right = stop < end;
      const auto joins = std::find_if(ghosts.begin(), ghosts.end(), [&](const GhostBar& g) {
        return g.row == piece.row && g.lane == piece.lane && (g.end == piece.begin || piece.end == g.begin);
      });
      if (joins != ghosts.end()) {
        joins->begin = std::min(joins->begin, piece.begin);
        joins->end = std::max(joins->end, piece.end);
      } else {
        ghosts.push_back(piece);
      }
      at = stop;
    }
  };
  for (const GanttBar& bar : model.bars)
    if (same_instance(model, bar, op, iteration)) add(bar.row, bar.lane, bar.begin + delta, bar.end + delta);
  return ghosts;
}

BarMove pick_up(const GanttModel& model, const Schedule& schedule, std::size_t index, double cycle, LegalBand band) {
  const GanttBar& bar = model.bars[index];
  BarMove move;
  move.op = bar.op;
  move.iteration = bar.iteration;
  move.start = move.target = schedule.start(bar.op);
  move.ii = schedule.ii;
  move.grabbed = cycle;
  move.band = band;
  return move;
}

Cycle meant_start(Cycle start, Cycle delta, Cycle ii, const LegalBand& band) {
  const Cycle drawn = start + delta;
  if (band.contains(drawn)) return drawn;
  for (int stage = 1; stage <= kFarthestStage; ++stage)
    // Back before forth: an op is dragged across the window's edge more easily than over a whole window.
    for (const Cycle other : {drawn - stage * ii, drawn + stage * ii})
      if (band.contains(other)) return other;
  return drawn;
}

void move_to(BarMove& move, const GanttModel& model, const Schedule& schedule, const DragPoint& mouse) {
  const TimeAxis& axis = mouse.axis;
  const std::optional<std::size_t> row = mouse.row;
  const double wanted = axis.to_cycle(mouse.x) - move.grabbed;
  const bool steady = model.mode == GanttMode::Steady;
  move.delta = static_cast<Cycle>(std::llround(wanted));
  move.tick.reset();
  move.group.reset();
  if (row && model.rows[*row].group != schedule.group(move.op) && model.rows[*row].group.index() < schedule.groups.size())
    move.group = model.rows[*row].group;
  if (mouse.magnetic) {
    double best = kReach * axis.cycles_per_pixel();
    int best_rank = 4;
    const auto offer = [&](Cycle delta, Cycle at, int rank, MoveTick::To to) {
      const double miss = std::abs(static_cast<double>(delta) - wanted);
      if (miss > kReach * axis.cycles_per_pixel() || rank > best_rank || (rank == best_rank && miss >= best)) return;
      best = miss;
      best_rank = rank;
      move.delta = delta;
      move.tick = MoveTick{to, at};
    };
    // The op's whole extent: pieces of a wrapped bar count as if they were whole.
    std::optional<Cycle> begin, end;
    for (const GanttBar& bar : model.bars) {
      if (!same_instance(model, bar, move.op, move.iteration)) continue;
      if (!bar.wraps_left) begin = std::min(bar.begin, begin.value_or(bar.begin));
      if (!bar.wraps_right) end = std::max(bar.end, end.value_or(bar.end));
    }
    if (begin) offer(0, *begin, 0, MoveTick::To::Itself);
    const auto edge = [&](Cycle at, int rank, MoveTick::To to) {
      // In the steady view an edge is there in every window.
      const Cycle windows = steady ? 1 : 0;
      for (Cycle w = -windows; w <= windows; ++w) {
        if (begin) offer(at + w * model.ii - *begin, at, rank, to);
        if (end) offer(at + w * model.ii - *end, at, rank, to);
      }
    };
    for (const GanttBar& bar : model.bars) {
      if (bar.op == move.op) continue;
      const bool here = row && bar.row == *row;
      const MoveTick::To to = here ? MoveTick::To::Row : MoveTick::To::OtherRow;
      if (!bar.wraps_left) edge(bar.begin, here ? 1 : 2, to);
      if (!bar.wraps_right) edge(bar.end, here ? 1 : 2, to);
    }
    if (begin)
      for (const std::optional<Cycle>& limit : {move.band.earliest, move.band.latest})
        if (limit) offer(*limit - move.start, *begin + *limit - move.start, 1, MoveTick::To::Band);
    if (begin) {
      const Cycle near = *begin + move.delta;
      const Cycle boundary = floor_div(near + model.ii / 2, model.ii) * model.ii;
      offer(boundary - *begin, boundary, 3, MoveTick::To::Boundary);
    }
  }
  // Which other window an edge stands in does not matter for where it is drawn.
  if (steady && move.tick && move.tick->at < 0) move.tick->at += model.ii;
  move.target = steady ? meant_start(move.start, move.delta, move.ii, move.band) : move.start + move.delta;
}

std::string describe_move(const BarMove& move, const Problem& problem, const Schedule& schedule) {
  std::string text = problem.op(move.op).name;
  if (move.group && move.group->index() < schedule.groups.size()) text += fmt::format(" → {}", schedule.groups[move.group->index()].role);
  if (move.target != move.start || !move.group) text += fmt::format("{} {}", move.group ? " at" : " →", grouped(move.target));
  if (move.band.earliest && move.band.latest)
    text += fmt::format(" (legal {} .. {}{})", grouped(*move.band.earliest), grouped(*move.band.latest), move.band.exact ? "" : " at most");
  return text;
}

std::string move_outlook(const BarMove& move) {
  if (move.lost) return "outside the chart: letting go changes nothing";
  if (!move.changes()) return "where it was";
  if (!move.band.contains(move.target))
    return move.band.exact ? "outside the legal band: II must rise, or no schedule is left"
                           : "outside the legal band: more stages, a larger II, or no schedule";
  if (move.group) return "asks for another warp group";
  if (move.target >= move.band.alone_earliest && move.target <= move.band.alone_latest) return "the others can stay where they are";
  return move.band.exact ? "legal at this II, others move" : "others must move";
}

}  // namespace heddle::app
