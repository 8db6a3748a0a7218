#include "app/window/frame/launch_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/window/kit/chart_paint.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kRow = 22, kName = 150, kRuler = 20;

RoleColor color_of(ptx::LaneBarKind kind) {
  switch (kind) {
    case ptx::LaneBarKind::Load: return role_color(UnitRole::Copy);
    case ptx::LaneBarKind::Store: return role_color(UnitRole::Smem);
    case ptx::LaneBarKind::Product: return role_color(UnitRole::Tensor);
    case ptx::LaneBarKind::TensorMove: return role_color(UnitRole::Tmem);
    case ptx::LaneBarKind::Work: return role_color(UnitRole::Alu);
    case ptx::LaneBarKind::Mark: return role_color(UnitRole::Sync);
    case ptx::LaneBarKind::Wait:
    case ptx::LaneBarKind::Hangs: return {theme().raised, theme().dim};
  }
  return {theme().raised, theme().text};
}

class Drawing {
 public:
  Drawing(const ptx::RunTimeline& timeline, LanesState& state)
      : timeline_(timeline),
        state_(state),
        origin_(ImGui::GetWindowPos()),
        size_(ImGui::GetWindowSize()),
        draw_(*ImGui::GetWindowDrawList()) {
    left_ = origin_.x + px(kName);
    if (state_.end <= state_.begin) show_all();
  }

  std::optional<std::vector<int>> drawn() {
    move();
    ruler();
    draw_.PushClipRect(ImVec2(origin_.x, origin_.y + px(kRuler)), ImVec2(origin_.x + size_.x, origin_.y + size_.y), true);
    float y = origin_.y + px(kRuler) - state_.scroll;
    for (std::size_t lane = 0; lane < timeline_.lanes.size(); ++lane, y += px(kRow)) draw_lane(lane, y);
    if (!timeline_.memory.empty()) {
      paint_text(fonts().small_bold, ImVec2(origin_.x + px(8), y + px(4)), theme().heading, "SHARED MEMORY");
      y += px(kRow);
    }
    for (const ptx::MemoryRow& row : timeline_.memory) {
      draw_memory(row, y);
      y += px(kRow);
    }
    left_out();
    arrow();
    circle();
    draw_.PopClipRect();
    return std::move(pressed_);
  }

 private:
  double whole() const { return static_cast<double>(std::max<ptx::Time>(timeline_.end, 1000)); }
  void show_all() {
    state_.begin = 0;
    state_.end = whole();
  }

  float x_of(double time) const {
    return left_ + static_cast<float>((time - state_.begin) / (state_.end - state_.begin)) * (origin_.x + size_.x - left_);
  }

  /// Wheel: zoom at the mouse; with Shift or over the names: rows. Drag: along time and rows.
  void move() {
    const ImGuiIO& io = ImGui::GetIO();
    const float rows = static_cast<float>(timeline_.lanes.size() + timeline_.memory.size() + 1) * px(kRow) + px(kRuler);
    ImGui::SetCursorScreenPos(origin_);
    ImGui::InvisibleButton("launch/lanes", size_);
    hovered_ = ImGui::IsItemHovered();
    if (probe::on()) probe::last_item("launch/lanes");
    const double span = state_.end - state_.begin;
    if (hovered_ && io.MouseWheel != 0) {
      if (io.KeyShift || io.MousePos.x < left_) {
        state_.scroll -= io.MouseWheel * px(kRow) * 2;
      } else {
        const double share = (io.MousePos.x - left_) / std::max(1.0f, origin_.x + size_.x - left_);
        const double at = state_.begin + share * span;
        const double most = whole() * 1.2;
        const double next = std::clamp(span * std::pow(0.8, io.MouseWheel), std::min(2e4, most), most);
        state_.begin = at - share * next;
        state_.end = state_.begin + next;
      }
    }
    if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left)) {
      const double along = io.MouseDelta.x / std::max(1.0f, origin_.x + size_.x - left_) * span;
      state_.begin -= along;
      state_.end -= along;
      state_.scroll -= io.MouseDelta.y;
      dragging_ = true;
    }
    clicked_ = ImGui::IsItemClicked(ImGuiMouseButton_Left);
    if (hovered_ && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) show_all();
    state_.scroll = std::clamp(state_.scroll, 0.0f, std::max(0.0f, rows - size_.y));
  }

  void ruler() {
    const double span = (state_.end - state_.begin) / 1000;  // cycles
    double step = std::pow(10.0, std::floor(std::log10(std::max(span, 1.0) / 5)));
    if (span / step > 12) step *= 2;
    if (span / step > 12) step *= 2.5;
    step = std::max(step, 1.0);
    const double last = timeline_.left_out > 0 ? std::min(state_.end, static_cast<double>(timeline_.cut)) : state_.end;
    for (double cycle = std::ceil(state_.begin / 1000 / step) * step; cycle * 1000 <= last; cycle += step) {
      const float x = x_of(cycle * 1000);
      if (x < left_) continue;
      draw_.AddLine(ImVec2(x, origin_.y + px(kRuler)), ImVec2(x, origin_.y + size_.y), theme().grid);
      const std::string words = grouped(static_cast<std::int64_t>(std::llround(cycle)));
      if (x + px(4) + paint::text_width(fonts().small, words) < origin_.x + size_.x)
        paint_text(fonts().small, ImVec2(x + px(3), origin_.y + px(3)), theme().dim, words);
    }
  }

  void name(const std::string& text, float y) {
    paint_text(fonts().small, ImVec2(origin_.x + px(8), y + px(4)), theme().text,
               fitted_middle(fonts().small, drawable(text), px(kName) - px(14)));
  }

  /// Bars from the first that is visible; those that are thinner than a pixel are drawn as one.
  void draw_lane(std::size_t index, float y) {
    const ptx::RunLane& lane = timeline_.lanes[index];
    if (y + px(kRow) < origin_.y || y > origin_.y + size_.y) return;
    name(lane.name, y);
    draw_.PushClipRect(ImVec2(left_, y), ImVec2(origin_.x + size_.x, y + px(kRow)), true);
    const auto first = std::partition_point(lane.bars.begin(), lane.bars.end(),
                                            [&](const ptx::LaneBar& bar) { return static_cast<double>(bar.end) < state_.begin; });
    float until = left_ - 1;
    for (auto bar = first; bar != lane.bars.end() && static_cast<double>(bar->begin) <= state_.end; ++bar) {
      const float x0 = x_of(static_cast<double>(bar->begin)), x1 = std::max(x_of(static_cast<double>(bar->end)), x0 + 1);
      if (x1 <= until + 0.5f) continue;
      until = x1;
      const auto number = static_cast<std::size_t>(bar - lane.bars.begin());
      draw_bar({x0, y + px(3), x1, y + px(kRow - 3)}, *bar, index, number);
    }
    draw_.PopClipRect();
  }

  void draw_bar(const paint::Box& box, const ptx::LaneBar& bar, std::size_t lane, std::size_t number) {
    const RoleColor color = color_of(bar.kind);
    const bool waits = bar.kind == ptx::LaneBarKind::Wait || bar.kind == ptx::LaneBarKind::Hangs;
    draw_.AddRectFilled(box.low(), box.high(), color.fill, px(2));
    if (waits && box.width() > px(4))
      paint::hatch(draw_, box, {1, box.x0, px(6), bar.kind == ptx::LaneBarKind::Hangs ? theme().bad : theme().hatch, 1});
    const bool chosen = state_.chosen == std::pair(lane, number);
    if (chosen) draw_.AddRect(box.low(), box.high(), theme().accent, px(2), 0, px(2));
    if (box.width() > px(26))
      paint_text(fonts().small, ImVec2(box.x0 + px(4), box.y0 + px(1)), color.text,
                 fitted(fonts().small, drawable(timeline_.text_of(bar)), box.width() - px(8)));
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!hovered_ || dragging_ || !box.contains(mouse.x, mouse.y)) return;
    const std::string& source = timeline_.text(bar.source);
    const std::string until = bar.kind == ptx::LaneBarKind::Hangs ? "on, without end" : grouped(bar.end / 1000) + " cycles";
    tooltip(drawable(fmt::format("{}\n{} to {}\nline {}{}", timeline_.text_of(bar), grouped(bar.begin / 1000), until, bar.line,
                                 source.empty() ? "" : " (" + source + ")")));
    if (!clicked_) return;
    state_.chosen = std::pair(lane, number);
    state_.ender = bar_with(bar.ended_by);
    pressed_ = {bar.line};
    if (state_.ender) pressed_->push_back(bar_at(*state_.ender)->line);
  }

  void draw_memory(const ptx::MemoryRow& row, float y) {
    if (y + px(kRow) < origin_.y || y > origin_.y + size_.y) return;
    name(row.name, y);
    draw_.PushClipRect(ImVec2(left_, y), ImVec2(origin_.x + size_.x, y + px(kRow)), true);
    const auto first = std::partition_point(row.bars.begin(), row.bars.end(), [&](const ptx::MemoryBar& bar) {
      return static_cast<double>(bar.begin + row.longest) < state_.begin;
    });
    float until[] = {left_ - 1, left_ - 1};  // of reads and of writes: what is thinner than a pixel is drawn as one
    for (auto bar = first; bar != row.bars.end() && static_cast<double>(bar->begin) <= state_.end; ++bar) {
      const bool written = bar->kind == ptx::MemoryBar::Kind::Written;
      const float middle = y + px(kRow / 2);
      const float x0 = x_of(static_cast<double>(bar->begin)), x1 = std::max(x_of(static_cast<double>(bar->end)), x0 + 1);
      if (x1 <= until[written] + 0.5f) continue;
      until[written] = x1;
      const paint::Box box{x0, written ? y + px(3) : middle, x1, written ? middle : y + px(kRow - 3)};
      draw_.AddRectFilled(box.low(), box.high(), role_color(written ? UnitRole::Copy : UnitRole::Tensor).fill);
      const ImVec2 mouse = ImGui::GetIO().MousePos;
      if (hovered_ && !dragging_ && box.contains(mouse.x, mouse.y))
        tooltip(drawable(fmt::format("{} {}: {}\n{} to {} cycles", row.name, written ? "is written" : "is read", timeline_.text(bar->text),
                                     grouped(bar->begin / 1000), grouped(bar->end / 1000))));
    }
    draw_.PopClipRect();
  }

  /// Lane and bar of an event.
  std::optional<std::pair<std::size_t, std::size_t>> bar_with(int event) const {
    if (event < 0) return std::nullopt;
    for (std::size_t lane = 0; lane < timeline_.lanes.size(); ++lane) {
      const std::vector<ptx::LaneBar>& bars = timeline_.lanes[lane].bars;
      if (const auto bar = std::ranges::find(bars, event, &ptx::LaneBar::event); bar != bars.end())
        return std::pair(lane, static_cast<std::size_t>(bar - bars.begin()));
    }
    return std::nullopt;
  }
  const ptx::LaneBar* bar_at(const std::optional<std::pair<std::size_t, std::size_t>>& at) const {
    if (!at || at->first >= timeline_.lanes.size() || at->second >= timeline_.lanes[at->first].bars.size()) return nullptr;
    return &timeline_.lanes[at->first].bars[at->second];
  }
  /// The end of a bar, in the middle of its lane.
  ImVec2 end_of(const std::pair<std::size_t, std::size_t>& at) const {
    return {x_of(static_cast<double>(bar_at(at)->end)),
            origin_.y + px(kRuler) - state_.scroll + px(kRow) * (static_cast<float>(at.first) + 0.5f)};
  }

  /// From what ended the chosen wait to where it ended.
  void arrow() {
    if (bar_at(state_.chosen) == nullptr || bar_at(state_.ender) == nullptr) return;
    const ImVec2 from = end_of(*state_.ender), to = end_of(*state_.chosen);
    draw_.AddLine(from, to, theme().arrow, px(2));
    draw_.AddCircleFilled(from, px(4), theme().arrow);
    paint::arrow_head(draw_, to, px(6), theme().arrow);
  }

  /// What follows the events that were kept.
  void left_out() {
    if (timeline_.left_out == 0) return;
    const float x = std::max(x_of(static_cast<double>(timeline_.cut)), left_);
    if (x > origin_.x + size_.x) return;
    draw_.AddLine(ImVec2(x, origin_.y + px(kRuler)), ImVec2(x, origin_.y + size_.y), theme().warning, px(2));
    const std::string words = grouped(timeline_.left_out) + " events later";
    paint_text(fonts().small_bold, ImVec2(x + px(6), origin_.y + size_.y - px(20)), theme().warning,
               fitted(fonts().small_bold, words, std::max(px(30), origin_.x + size_.x - x - px(10))));
  }

  /// Of a hang: from each lane that waits to the one that it waits for.
  void circle() {
    const std::vector<std::size_t>& lanes = timeline_.circle;
    if (lanes.size() < 2) return;
    const auto middle = [&](std::size_t lane) {
      return origin_.y + px(kRuler) - state_.scroll + px(kRow) * (static_cast<float>(lane) + 0.5f);
    };
    const float right = x_of(static_cast<double>(timeline_.end));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const float x = right - px(10) - px(12) * static_cast<float>(i);
      const ImVec2 from(x, middle(lanes[i])), to(x, middle(lanes[(i + 1) % lanes.size()]));
      draw_.AddLine(from, to, theme().bad, px(2));
      draw_.AddCircleFilled(from, px(3), theme().bad);
      const float tip = to.y > from.y ? px(-6) : px(6);
      draw_.AddTriangleFilled(to, ImVec2(to.x - px(4), to.y + tip), ImVec2(to.x + px(4), to.y + tip), theme().bad);
    }
  }

  const ptx::RunTimeline& timeline_;
  LanesState& state_;
  const ImVec2 origin_, size_;
  ImDrawList& draw_;
  float left_ = 0;
  bool hovered_ = false, dragging_ = false, clicked_ = false;
  std::optional<std::vector<int>> pressed_;
};

}  // namespace

void LanesState::reveal(ptx::Time time) {
  const double span = end - begin, at = static_cast<double>(time);
  if (span <= 0 || (at >= begin && at <= end)) return;
  begin = at - span / 2;
  end = at + span / 2;
}

std::optional<std::vector<int>> draw_lanes(const ptx::RunTimeline& timeline, LanesState& state) { return Drawing(timeline, state).drawn(); }

}  // namespace heddle::app
