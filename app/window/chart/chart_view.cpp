#include "app/window/chart/chart_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace heddle::app {
namespace {

constexpr double kAnimation = 0.2;  // seconds
constexpr double kShortest = 8;     // cycles on screen
constexpr double kMargin = 0.025;   // of the model, on both sides of a fitted view
constexpr std::size_t kZoomMemory = 64;
constexpr float kSnapPixels = 6, kHitPixels = 3;

CycleRange extent_of(const GanttViewState& view, const GanttModel& model) {
  return view.extent.value_or(CycleRange{model.begin, model.end});
}

double length_of(const CycleRange& range) { return static_cast<double>(std::max<Cycle>(1, range.end - range.begin)); }
double extent(const GanttViewState& view, const GanttModel& model) { return length_of(extent_of(view, model)); }

/// A range that can be shown: not too short, not too long, and with some of the model in it.
TimeRange allowed(TimeRange range, const GanttViewState& view, const GanttModel& model) {
  const CycleRange there = extent_of(view, model);
  const double longest = std::max(4 * extent(view, model), 4 * kShortest);
  const double length = std::clamp(range.length(), kShortest, longest);
  if (length != range.length()) {
    const double middle = (range.begin + range.end) / 2;
    range = {middle - length / 2, middle + length / 2};
  }
  const double keep = std::min(length, extent(view, model)) / 4;
  const double right = static_cast<double>(there.begin) + keep - range.end;
  const double left = static_cast<double>(there.end) - keep - range.begin;
  const double shift = right > 0 ? right : left < 0 ? left : 0;
  return {range.begin + shift, range.end + shift};
}

void head_for(GanttViewState& view, const GanttModel& model, TimeRange range, bool animate) {
  view.target = allowed(range, view, model);
  view.origin = view.visible;
  view.moved = animate ? 0 : 1;
  if (!animate) view.visible = view.target;
}

void remember(GanttViewState& view) {
  if (!view.zoom_stack.empty() && view.zoom_stack.back() == view.target) return;
  view.zoom_stack.push_back(view.target);
  if (view.zoom_stack.size() > kZoomMemory) view.zoom_stack.erase(view.zoom_stack.begin());
}

double middle_of(const GanttBar& bar) { return static_cast<double>(bar.begin + bar.end) / 2; }

}  // namespace

float TimeAxis::to_x(double cycle) const {
  const double x = static_cast<double>(x0) + (cycle - range.begin) / range.length() * static_cast<double>(x1 - x0);
  return static_cast<float>(std::clamp(x, -1e5, 1e5));
}

double TimeAxis::to_cycle(float x) const { return range.begin + static_cast<double>(x - x0) * cycles_per_pixel(); }

namespace {

TimeRange with_margin(const CycleRange& range) {
  const double margin = std::max(kMargin * length_of(range), (kShortest - length_of(range)) / 2);
  return {static_cast<double>(range.begin) - margin, static_cast<double>(range.end) + margin};
}

}  // namespace

TimeRange whole(const GanttModel& model) { return with_margin({model.begin, model.end}); }
TimeRange whole(const GanttViewState& view, const GanttModel& model) { return with_margin(extent_of(view, model)); }

void update_view(GanttViewState& view, const GanttModel& model, double seconds) {
  const CycleRange there = extent_of(view, model);
  if (view.seen_mode != model.mode || view.seen_begin != there.begin || view.seen_end != there.end) {
    // Another schedule of about the same extent, as a proposal brings it, leaves a zoomed view where it is.
    const double was = static_cast<double>(view.seen_end - view.seen_begin), is = extent(view, model);
    const bool similar = view.seen_mode == model.mode && was > 0 && is < 1.5 * was && was < 1.5 * is;
    const bool zoomed = similar && view.target.length() < 0.95 * was;
    view.seen_mode = model.mode;
    view.seen_begin = there.begin;
    view.seen_end = there.end;
    view.range.reset();
    view.hovered.reset();
    view.pressed.reset();
    view.current.reset();
    if (!zoomed) view.zoom_stack.clear();
    head_for(view, model, zoomed ? view.target : whole(view, model), false);
  }
  for (auto* bar : {&view.hovered, &view.pressed, &view.current})
    if (*bar && **bar >= model.bars.size()) bar->reset();
  if (view.moved >= 1) return;
  view.moved = std::min(1.0, view.moved + seconds / kAnimation);
  const double left = 1 - view.moved, eased = 1 - left * left * left;
  view.visible = {view.origin.begin + (view.target.begin - view.origin.begin) * eased,
                  view.origin.end + (view.target.end - view.origin.end) * eased};
  if (view.moved >= 1) view.visible = view.target;
}

void zoom_at(GanttViewState& view, const GanttModel& model, double cycle, double factor, bool animate) {
  if (view.moved >= 1) remember(view);  // one entry for a whole turn of the wheel
  // The pixel of `cycle` is taken from what is on screen now, so that it stays put during the animation as well.
  const double share = (cycle - view.visible.begin) / view.visible.length();
  const double length = std::clamp(view.target.length() / factor, kShortest, std::max(4 * extent(view, model), 4 * kShortest));
  head_for(view, model, {cycle - share * length, cycle + (1 - share) * length}, animate);
  view.centred = false;
}

void pan_by(GanttViewState& view, const GanttModel& model, double cycles, bool animate) {
  head_for(view, model, {view.target.begin + cycles, view.target.end + cycles}, animate);
  view.centred = false;
}

void go_to(GanttViewState& view, const GanttModel& model, TimeRange range) {
  remember(view);
  head_for(view, model, range, true);
  view.centred = false;
}

void fit_all(GanttViewState& view, const GanttModel& model) { go_to(view, model, whole(view, model)); }

void zoom_to_bar(GanttViewState& view, const GanttModel& model, std::size_t index) {
  const GanttBar& bar = model.bars[index];
  const double margin = std::max(static_cast<double>(bar.end - bar.begin) * 0.6, kShortest / 2);
  go_to(view, model, {static_cast<double>(bar.begin) - margin, static_cast<double>(bar.end) + margin});
}

void centre_or_fit(GanttViewState& view, const GanttModel& model, const std::vector<OpId>& ops) {
  TimeRange span{std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()};
  for (const OpId op : ops) {
    if (const auto index = bar_of_op(model, op, view.visible, view.current)) {
      span.begin = std::min(span.begin, static_cast<double>(model.bars[*index].begin));
      span.end = std::max(span.end, static_cast<double>(model.bars[*index].end));
    }
  }
  if ((view.centred && view.centred_on == ops) || span.begin > span.end) return fit_all(view, model);
  const double length = std::max(view.target.length(), span.length() * 1.2);
  const double middle = (span.begin + span.end) / 2;
  go_to(view, model, {middle - length / 2, middle + length / 2});
  view.centred = true;
  view.centred_on = ops;
}

void measure_ops(GanttViewState& view, const GanttModel& model, const std::vector<OpId>& ops) {
  view.range.reset();
  for (const OpId op : ops)
    if (const auto index = bar_of_op(model, op, view.visible, view.current)) {
      const GanttBar& bar = model.bars[*index];
      if (!view.range) view.range = CycleRange{bar.begin, bar.end};
      view.range->begin = std::min(view.range->begin, bar.begin);
      view.range->end = std::max(view.range->end, bar.end);
    }
}

bool undo_zoom(GanttViewState& view, const GanttModel& model) {
  if (view.zoom_stack.empty()) return false;
  const TimeRange back = view.zoom_stack.back();
  view.zoom_stack.pop_back();
  head_for(view, model, back, true);
  return true;
}

std::optional<std::size_t> bar_at(const GanttModel& model, const ChartLayout& layout, const TimeAxis& axis, float x, float y) {
  std::optional<std::size_t> best;
  float best_miss = kHitPixels;
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    const float top = layout.lane_top(bar);
    if (y < top || y >= top + layout.lane) continue;
    const float left = axis.to_x(static_cast<double>(bar.begin)), right = axis.to_x(static_cast<double>(bar.end));
    const float miss = std::max({left - x, x - right, 0.0f});
    if (miss < best_miss) {
      best = b;
      best_miss = miss;
    }
  }
  return best;
}

Snap snap(const GanttModel& model, const TimeAxis& axis, float x, std::optional<std::size_t> row, bool magnetic) {
  const double cycle = axis.to_cycle(x);
  Snap found{static_cast<Cycle>(std::llround(cycle)), Snap::To::Cycle, {}};
  if (!magnetic) return found;
  const double reach = kSnapPixels * axis.cycles_per_pixel();
  // Rank first (row, other rows, boundaries), distance within a rank.
  double best = reach;
  int best_rank = 3;
  const auto offer = [&](Cycle at, int rank, Snap::To to, std::optional<std::size_t> bar) {
    const double miss = std::abs(static_cast<double>(at) - cycle);
    if (miss > reach || rank > best_rank || (rank == best_rank && miss >= best)) return;
    best = miss;
    best_rank = rank;
    found = {at, to, bar};
  };
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    const bool here = row && bar.row == *row;
    const Snap::To to = here ? Snap::To::Row : Snap::To::OtherRow;
    // The cut of a wrapped bar is an II boundary, not an edge of the op.
    if (!bar.wraps_left) offer(bar.begin, here ? 0 : 1, to, b);
    if (!bar.wraps_right) offer(bar.end, here ? 0 : 1, to, b);
  }
  const Cycle boundary = static_cast<Cycle>(std::llround(cycle / static_cast<double>(model.ii))) * model.ii;
  offer(boundary, 2, Snap::To::Boundary, std::nullopt);
  return found;
}

CycleRange range_between(Cycle a, Cycle b) { return {std::min(a, b), std::max(a, b)}; }

std::string describe(const CycleRange& range) {
  const Cycle length = range.end - range.begin;
  return fmt::format("{} → {} = {} cycle{}", grouped(range.begin), grouped(range.end), grouped(length), length == 1 ? "" : "s");
}

std::optional<std::size_t> bar_of_op(const GanttModel& model, OpId op, const TimeRange& seen, std::optional<std::size_t> near) {
  if (near && *near < model.bars.size() && model.bars[*near].op == op) return near;
  std::optional<std::size_t> best;
  double best_distance = std::numeric_limits<double>::max();
  const double middle = (seen.begin + seen.end) / 2;
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const double distance = std::abs(middle_of(model.bars[b]) - middle);
    if (model.bars[b].op != op || distance >= best_distance) continue;
    best = b;
    best_distance = distance;
  }
  return best;
}

std::optional<std::size_t> step_in_row(const GanttModel& model, std::size_t from, int direction) {
  const auto place = [&](std::size_t b) { return std::tuple(model.bars[b].begin, model.bars[b].lane, b); };
  std::optional<std::size_t> best;
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const GanttBar& bar = model.bars[b];
    const bool same = bar.op == model.bars[from].op && bar.iteration == model.bars[from].iteration;
    if (bar.row != model.bars[from].row || same) continue;
    if (direction > 0 ? place(b) <= place(from) : place(b) >= place(from)) continue;
    if (!best || (direction > 0 ? place(b) < place(*best) : place(b) > place(*best))) best = b;
  }
  return best;
}

std::optional<std::size_t> step_to_row(const GanttModel& model, std::size_t from, int direction) {
  // Rows without bars do not exist, so the neighbouring row always has one.
  const std::size_t row = model.bars[from].row;
  if (direction < 0 ? row == 0 : row + 1 >= model.rows.size()) return std::nullopt;
  const std::size_t wanted = direction < 0 ? row - 1 : row + 1;
  std::optional<std::size_t> best;
  double best_distance = std::numeric_limits<double>::max();
  for (std::size_t b = 0; b < model.bars.size(); ++b) {
    const double distance = std::abs(middle_of(model.bars[b]) - middle_of(model.bars[from]));
    if (model.bars[b].row != wanted || distance >= best_distance) continue;
    best = b;
    best_distance = distance;
  }
  return best;
}

std::optional<std::size_t> follow(const GanttModel& model, std::size_t from, int direction) {
  std::optional<std::size_t> best;
  const GanttBar& here = model.bars[from];
  for (const GanttArrow& arrow : model.arrows) {
    const std::size_t near = direction > 0 ? arrow.from_bar : arrow.to_bar;
    const std::size_t far = direction > 0 ? arrow.to_bar : arrow.from_bar;
    // Either piece of a wrapped bar stands for the op.
    if (model.bars[near].op != here.op || model.bars[near].iteration != here.iteration) continue;
    if (model.bars[far].op == here.op) continue;
    const auto better = [&] {
      return direction > 0 ? model.bars[far].begin < model.bars[*best].begin : model.bars[far].end > model.bars[*best].end;
    };
    if (!best || better()) best = far;
  }
  return best;
}

std::vector<ProfilePiece> profile_pieces(const UsageCurve& profile, const TimeAxis& axis, double begin, double end) {
  std::vector<ProfilePiece> pieces;
  if (begin >= end || profile.empty()) return pieces;
  auto step =
      std::upper_bound(profile.begin(), profile.end(), begin, [](double at, const UsageStep& s) { return at < static_cast<double>(s.at); });
  if (step != profile.begin()) --step;
  const float last = axis.to_x(end);
  const auto end_of = [&](UsageCurve::const_iterator s) {
    return s + 1 == profile.end() ? last : std::min(last, axis.to_x(static_cast<double>((s + 1)->at)));
  };
  for (float x = axis.to_x(begin); x < last;) {
    while (end_of(step) <= x) ++step;
    std::int64_t value = step->value;
    float right = end_of(step);
    if (right < x + 1) {
      // The step that reaches out of this pixel is still to be drawn with its own value.
      right = std::min(x + 1, last);
      while (end_of(step) < right) value = std::max(value, (++step)->value);
    }
    pieces.push_back({x, right, value});
    x = right;
  }
  return pieces;
}

TimeAxis minimap_axis(const GanttViewState& view, const GanttModel& model, float x0, float x1) { return {x0, x1, whole(view, model)}; }

}  // namespace heddle::app
