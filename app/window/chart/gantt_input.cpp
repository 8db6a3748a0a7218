// Mouse and keyboard of the timeline. One invisible item covers everything, so that a drag that began here stays here.
#include <algorithm>
#include <cmath>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/session/commands.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/kit/actions.h"

namespace heddle::app {
namespace {

constexpr float kDragPixels = 4, kGrabPixels = 5;
constexpr int kLeft = 0, kRight = 1, kMiddle = 2;

struct Mouse {
  float x, y;
  bool over_rows, over_ruler, over_minimap, over_lanes, over_labels, over_splitter;
  bool on_time() const { return over_rows || over_ruler || over_lanes; }
};

Mouse locate(const ChartFrame& f) {
  const ImVec2 at = ImGui::GetIO().MousePos;
  Mouse m{at.x, at.y, false, false, false, false, false, false};
  m.over_minimap = f.minimap.contains(at.x, at.y);
  m.over_ruler = f.ruler.contains(at.x, at.y) || f.marks.contains(at.x, at.y);
  m.over_rows = f.rows.contains(at.x, at.y);
  m.over_lanes = f.lanes.contains(at.x, at.y);
  m.over_splitter = f.splitter.contains(at.x, at.y);
  m.over_labels = f.labels.contains(at.x, at.y);
  return m;
}

std::optional<std::size_t> row_under(const ChartFrame& f, const Mouse& m) {
  if (!m.over_rows) return std::nullopt;
  return f.layout.row_at(f.model, m.y - f.rows.y0 + f.view.scroll);
}

Snap snap_here(const ChartFrame& f, const Mouse& m) { return snap(f.model, f.axis, m.x, row_under(f, m), !ImGui::GetIO().KeyAlt); }

void scroll_rows(ChartFrame& f, float pixels) {
  f.view.scroll = std::clamp(f.view.scroll + pixels, 0.0f, std::max(0.0f, f.layout.height - f.rows.height()));
}

void handle_wheel(ChartFrame& f, const Mouse& m) {
  const ImGuiIO& io = ImGui::GetIO();
  GanttViewState& view = f.view;
  if (io.MouseWheelH != 0) pan_by(view, f.model, -io.MouseWheelH * view.visible.length() * 0.08, true);
  if (io.MouseWheel == 0) return;
  const double wheel = io.MouseWheel;
  if (io.KeyShift && (m.over_minimap || m.on_time())) return pan_by(view, f.model, -wheel * view.visible.length() * 0.1, true);
  if (m.over_minimap)
    return zoom_at(view, f.model, minimap_axis(f.view, f.model, f.minimap.x0, f.minimap.x1).to_cycle(m.x), std::pow(1.3, wheel));
  if (m.over_labels) {
    if (m.y >= f.lanes.y0)
      view.lanes_scroll -= io.MouseWheel * f.lane_height;
    else
      scroll_rows(f, -io.MouseWheel * px(40));
    return;
  }
  if (io.KeyAlt) {
    view.row_height = std::clamp(view.row_shown * static_cast<float>(std::pow(1.12, wheel)), 14.0f, 72.0f);
    return;
  }
  const double cycle = f.axis.to_cycle(m.x);
  if (io.KeyCtrl) return zoom_at(view, f.model, cycle, std::pow(view.wheel_scrolls ? 1.3 : 1.06, wheel));
  if (view.wheel_scrolls) return scroll_rows(f, -io.MouseWheel * px(40));
  zoom_at(view, f.model, cycle, std::pow(1.3, wheel));
}

/// Shift + click: everything of the row between the current bar and this one joins the selection.
void select_up_to(ChartFrame& f, std::size_t bar) {
  const auto& bars = f.model.bars;
  if (!f.view.current || bars[*f.view.current].row != bars[bar].row) return select_bar(f, bar, false);
  const Cycle low = std::min(bars[bar].begin, bars[*f.view.current].begin), high = std::max(bars[bar].begin, bars[*f.view.current].begin);
  std::vector<OpId> taken = f.selection.ops;
  for (const GanttBar& other : bars) {
    if (other.row != bars[bar].row || other.begin < low || other.begin > high) continue;
    if (std::find(taken.begin(), taken.end(), other.op) != taken.end()) continue;
    taken.push_back(other.op);
    f.commands.push(SelectOp{other.op, true});
  }
}

void begin_drag(ChartFrame& f, const Mouse& m, ChartDrag kind) {
  f.view.drag = kind;
  f.view.drag_x = m.x;
  f.view.drag_y = m.y;
  f.view.drag_view = f.view.target = f.view.visible;
  f.view.moved = 1;
  f.view.drag_scroll = f.view.scroll;
}

void move_minimap_box(ChartFrame& f, const Mouse& m) {
  const double middle = minimap_axis(f.view, f.model, f.minimap.x0, f.minimap.x1).to_cycle(m.x);
  pan_by(f.view, f.model, middle - (f.view.target.begin + f.view.target.end) / 2);
}

void toggle_flag(ChartFrame& f, const Mouse& m) {
  const auto& flags = f.overlay.flags;
  const auto near = std::find_if(flags.begin(), flags.end(),
                                 [&](Cycle flag) { return std::abs(f.axis.to_x(static_cast<double>(flag)) - m.x) <= px(kGrabPixels); });
  f.commands.push(ToggleFlag{near != flags.end() ? *near : snap_here(f, m).at});
}

void press_left(ChartFrame& f, const Mouse& m) {
  const ImGuiIO& io = ImGui::GetIO();
  GanttViewState& view = f.view;
  if (m.over_minimap) {
    begin_drag(f, m, ChartDrag::Minimap);
    return move_minimap_box(f, m);
  }
  if (m.over_splitter) return begin_drag(f, m, ChartDrag::Splitter);
  if (!m.on_time()) return;
  if (const auto note = note_at(f, m.x, m.y)) {
    view.note_pressed = note;
    return;
  }
  if (const auto bar = conflict_at(f, m.x, m.y)) {
    select_bar(f, *bar, false);
    f.commands.push(show_tab(BottomTab::Layout));
    return;
  }
  if (key_down(Key::Space)) return begin_drag(f, m, ChartDrag::Pan);
  if (view.range && !m.over_ruler) {
    // An edge of the measured stretch that is grabbed leaves the other one in place.
    const float begin = std::abs(f.axis.to_x(static_cast<double>(view.range->begin)) - m.x);
    const float end = std::abs(f.axis.to_x(static_cast<double>(view.range->end)) - m.x);
    if (std::min(begin, end) <= px(kGrabPixels)) {
      begin_drag(f, m, begin < end ? ChartDrag::RangeBegin : ChartDrag::RangeEnd);
      view.drag_cycle = begin < end ? view.range->end : view.range->begin;
      return;
    }
  }
  if (view.hovered) {
    if (io.KeyShift) return select_up_to(f, *view.hovered);
    select_bar(f, *view.hovered, io.KeyCtrl);
    if (io.KeyCtrl || !f.overlay.editable) return;
    begin_drag(f, m, ChartDrag::BarPress);
    view.drag_bar = view.hovered;
    return;
  }
  if (io.KeyShift) return begin_drag(f, m, ChartDrag::Pan);
  begin_drag(f, m, ChartDrag::Press);
  view.drag_cycle = snap_here(f, m).at;
}

void release_left(ChartFrame& f, const Mouse& m) {
  if (f.view.drag == ChartDrag::BarPress || f.view.drag == ChartDrag::Move) return drop_bar(f, true);
  if (f.view.drag == ChartDrag::Press) {
    if (m.over_ruler) {
      toggle_flag(f, m);
    } else if (const BarrierSpan* span = barrier_under(f, m.x, m.y)) {
      f.commands.push(SelectOp{span->op, ImGui::GetIO().KeyCtrl});
    } else {
      f.view.range.reset();
      f.view.current.reset();
      if (!f.selection.empty()) f.commands.push(ClearSelection{});
    }
  }
  if (f.view.range && f.view.range->begin == f.view.range->end) f.view.range.reset();
  f.view.drag = ChartDrag::None;
}

void double_click(ChartFrame& f, const Mouse& m) {
  drop_bar(f, false);
  f.view.range.reset();
  if (m.over_splitter)
    f.view.lanes_share = 0;
  else if (m.over_rows && f.view.hovered)
    zoom_to_bar(f.view, f.model, *f.view.hovered);
  else if (m.over_rows || m.over_ruler || m.over_lanes || m.over_minimap)
    fit_all(f.view, f.model);
}

void zoom_to_dragged(ChartFrame& f, const Mouse& m) {
  const double a = f.axis.to_cycle(std::min(f.view.drag_x, m.x)), b = f.axis.to_cycle(std::max(f.view.drag_x, m.x));
  const double length = f.view.target.length();
  if (ImGui::GetIO().KeyCtrl) {
    // What is seen now shrinks into the dragged stretch.
    const double grown = length * length / std::max(b - a, 1e-6), middle = (a + b) / 2;
    go_to(f.view, f.model, {middle - grown / 2, middle + grown / 2});
  } else {
    go_to(f.view, f.model, {a, b});
  }
}

void continue_drag(ChartFrame& f, const Mouse& m) {
  GanttViewState& view = f.view;
  const bool far = std::hypot(m.x - view.drag_x, m.y - view.drag_y) >= px(kDragPixels);
  switch (view.drag) {
    case ChartDrag::Press:
      if (!far) break;
      // On the ruler the view is taken along; on empty canvas a stretch is measured.
      if (f.ruler.contains(view.drag_x, view.drag_y) || f.marks.contains(view.drag_x, view.drag_y))
        view.drag = ChartDrag::Pan;
      else
        view.drag = ChartDrag::Range;
      break;
    case ChartDrag::Pan: {
      const double cycles = static_cast<double>(view.drag_x - m.x) * f.axis.cycles_per_pixel();
      view.target = view.drag_view;
      pan_by(view, f.model, cycles);
      view.scroll = view.drag_scroll;
      scroll_rows(f, view.drag_y - m.y);
      break;
    }
    case ChartDrag::Range:
    case ChartDrag::RangeBegin:
    case ChartDrag::RangeEnd:
      view.snapped = snap_here(f, m);
      view.range = range_between(view.drag_cycle, view.snapped->at);
      view.hovered_cycle = view.snapped->at;
      break;
    case ChartDrag::BarPress:
    case ChartDrag::Move: drag_bar(f, m.x, m.y); break;
    case ChartDrag::Minimap: move_minimap_box(f, m); break;
    case ChartDrag::Splitter: {
      const float whole = f.lanes.y1 - f.rows.y0;
      view.lanes_share = std::clamp((f.lanes.y1 - m.y) / std::max(1.0f, whole), 0.05f, 0.85f);
      break;
    }
    case ChartDrag::ZoomRange:
    case ChartDrag::None: break;
  }
}

void bring_into_view(ChartFrame& f, std::size_t index) {
  const GanttBar& bar = f.model.bars[index];
  const double begin = static_cast<double>(bar.begin), end = static_cast<double>(bar.end);
  const TimeRange& seen = f.view.target;
  if (begin < seen.begin || end > seen.end) pan_by(f.view, f.model, (begin + end - seen.begin - seen.end) / 2, true);
  const float top = f.layout.lane_top(bar);
  if (top < f.view.scroll) scroll_rows(f, top - f.view.scroll - px(8));
  if (top + f.layout.lane > f.view.scroll + f.rows.height()) scroll_rows(f, top + f.layout.lane - f.view.scroll - f.rows.height() + px(8));
}

template <class Step>
void move_selection(ChartFrame& f, Step step) {
  if (f.model.bars.empty()) return;
  std::optional<std::size_t> from = f.view.current;
  if (f.selection.primary().valid()) from = bar_of_op(f.model, f.selection.primary(), f.view.visible, f.view.current);
  // Nothing selected yet: begin at the first bar.
  const std::optional<std::size_t> to = from ? step(*from) : std::optional<std::size_t>(0);
  if (!to) return;
  select_bar(f, *to, false);
  bring_into_view(f, *to);
}

/// What is selected; else what is pointed at.
const std::vector<OpId>& ops_to_centre(const ChartFrame& f) { return f.selection.empty() ? f.overlay.highlight.ops : f.selection.ops; }

void handle_keys(ChartFrame& f, const Mouse& m) {
  const ImGuiIO& io = ImGui::GetIO();
  GanttViewState& view = f.view;
  bool keys = !io.WantTextInput && !view.keys_elsewhere && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  const auto wants = [&](std::string_view id, bool repeat = false) { return chart_wants(view.requested, id, keys, repeat); };
  if (wants("clear_selection")) {
    if (view.drag == ChartDrag::Range || view.drag == ChartDrag::RangeBegin || view.drag == ChartDrag::RangeEnd) view.range.reset();
    if (view.drag != ChartDrag::None)
      drop_bar(f, false);
    else if (!f.overlay.highlight.why.empty())
      f.commands.push(end_highlight());
    else if (view.range)
      view.range.reset();
    else if (!f.selection.empty())
      f.commands.push(ClearSelection{});
  }
  keys &= !view.deaf;
  // Keys are one chart's, but the mouse may be over another one; all have one axis.
  const bool elsewhere = m.x >= f.rows.x0 && m.x <= f.rows.x1 && m.y >= f.all_top && m.y < f.all_bottom;
  const bool inside = m.on_time() || elsewhere;
  const double focus = inside ? f.axis.to_cycle(m.x) : (view.target.begin + view.target.end) / 2;
  const double step = view.target.length() * 0.12, page = view.target.length() * 0.9;
  if (wants("zoom_in", true)) zoom_at(view, f.model, focus, 1.4);
  if (wants("zoom_out", true)) zoom_at(view, f.model, focus, 1 / 1.4);
  if (wants("pan_left", true)) pan_by(view, f.model, -step, true);
  if (wants("pan_right", true)) pan_by(view, f.model, step, true);
  if (wants("page_left", true)) pan_by(view, f.model, -page, true);
  if (wants("page_right", true)) pan_by(view, f.model, page, true);
  if (wants("fit")) fit_all(view, f.model);
  if (wants("zoom_back")) undo_zoom(view, f.model);
  if (wants("zoom_selection")) centre_or_fit(view, f.model, ops_to_centre(f));
  if (wants("measure")) measure_ops(view, f.model, f.selection.ops);
  if (wants("next_mode")) f.commands.push(SetMode{kGanttModes[(static_cast<std::size_t>(f.model.mode) + 1) % std::size(kGanttModes)]});
  // A list that has the focus walks through its own rows.
  const auto walks = [&](std::string_view id) { return chart_wants(view.requested, id, keys && view.rows_keys, true); };
  if (walks("row_up")) move_selection(f, [&](std::size_t b) { return step_to_row(f.model, b, -1); });
  if (walks("row_down")) move_selection(f, [&](std::size_t b) { return step_to_row(f.model, b, 1); });
  if (wants("op_next", true)) move_selection(f, [&](std::size_t b) { return step_in_row(f.model, b, 1); });
  if (wants("op_previous", true)) move_selection(f, [&](std::size_t b) { return step_in_row(f.model, b, -1); });
  if (wants("follow_on", true)) move_selection(f, [&](std::size_t b) { return follow(f.model, b, 1); });
  if (wants("follow_back", true)) move_selection(f, [&](std::size_t b) { return follow(f.model, b, -1); });
}

void hover(ChartFrame& f, const Mouse& m, bool inside) {
  GanttViewState& view = f.view;
  view.hovered_cycle.reset();
  view.snapped.reset();
  std::optional<std::size_t> under;
  if (inside && m.on_time()) view.hovered_cycle = static_cast<Cycle>(std::floor(f.axis.to_cycle(m.x)));
  if (inside && m.over_rows && (view.drag == ChartDrag::None || view.drag == ChartDrag::Press))
    under = bar_at(f.model, f.layout, f.axis, m.x, m.y - f.rows.y0 + view.scroll);
  view.hovered_for = under && under == view.hovered ? view.hovered_for + ImGui::GetIO().DeltaTime : 0;
  view.hovered = under;
}

}  // namespace

void select_bar(ChartFrame& f, std::size_t bar, bool extend) {
  f.view.current = bar;
  f.view.centred = false;
  f.commands.push(SelectOp{f.model.bars[bar].op, extend});
}

void handle_input(ChartFrame& f) {
  const ImVec2 low(f.labels.x0, f.minimap.y0), high(f.rows.x1, std::max(f.rows.y1, f.lanes.y1));
  ImGui::SetCursorScreenPos(low);
  ImGui::InvisibleButton("##timeline", {std::max(1.0f, high.x - low.x), std::max(1.0f, high.y - low.y)},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight | ImGuiButtonFlags_MouseButtonMiddle);
  const bool inside = ImGui::IsItemHovered(), held = ImGui::IsItemActive();
  const Mouse m = locate(f);
  GanttViewState& view = f.view;
  for (auto op = view.reveal.rbegin(); op != view.reveal.rend(); ++op)
    if (const auto bar = bar_of_op(f.model, *op, view.target)) bring_into_view(f, *bar);
  view.reveal.clear();
  // The press that leaves an open menu opens it again where it lands.
  const bool beneath_menu = !inside && ImGui::IsPopupOpen("##chart menu") && ImGui::IsMouseClicked(kRight) &&
                            ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenBlockedByPopup);
  hover(f, m, inside || held || beneath_menu);

  if (inside) {
    handle_wheel(f, m);
    if (ImGui::IsMouseDoubleClicked(kLeft))
      double_click(f, m);
    else if (ImGui::IsMouseClicked(kLeft))
      press_left(f, m);
    if (ImGui::IsMouseClicked(kMiddle)) view.pressed = view.hovered;
    if (ImGui::IsMouseClicked(kMiddle) && m.on_time()) begin_drag(f, m, ChartDrag::ZoomRange);
    if (m.over_splitter) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (view.range && m.on_time() &&
        std::min(std::abs(f.axis.to_x(static_cast<double>(view.range->begin)) - m.x),
                 std::abs(f.axis.to_x(static_cast<double>(view.range->end)) - m.x)) <= px(kGrabPixels))
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }
  if ((inside && ImGui::IsMouseClicked(kRight)) || beneath_menu) {
    view.pressed = view.hovered;
    begin_drag(f, m, ChartDrag::Pan);
  }
  if (view.drag != ChartDrag::None) {
    continue_drag(f, m);
    const bool moved = std::hypot(m.x - view.drag_x, m.y - view.drag_y) >= px(kDragPixels);
    if (ImGui::IsMouseReleased(kRight)) {
      if (!moved && inside) ImGui::OpenPopup("##chart menu");
      view.drag = ChartDrag::None;
    }
    if (ImGui::IsMouseReleased(kMiddle) && view.drag == ChartDrag::ZoomRange) {
      if (moved)
        zoom_to_dragged(f, m);
      else if (view.pressed)
        zoom_to_bar(view, f.model, *view.pressed);
      view.drag = ChartDrag::None;
    }
    if (ImGui::IsMouseReleased(kLeft)) release_left(f, m);
    if (!ImGui::IsAnyMouseDown()) drop_bar(f, false);
  }
  if (f.keys) handle_keys(f, m);
}

}  // namespace heddle::app
