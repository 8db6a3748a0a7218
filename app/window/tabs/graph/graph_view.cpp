#include "app/window/tabs/graph/graph_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/session/commands.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/chart_paint.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr int kLeftButton = 0, kRightButton = 1;
constexpr float kSmallestText = 6;  ///< pixels at scale 1, below which names are left out

/// Of warp groups; the letter on the box says the same.
constexpr Color kGroupColors[] = {IM_COL32(77, 163, 255, 255), IM_COL32(232, 163, 23, 255), IM_COL32(178, 122, 255, 255),
                                  IM_COL32(38, 183, 132, 255), IM_COL32(230, 110, 140, 255)};

struct GraphFrame {
  const GraphScene& scene;
  GraphState& state;
  ImDrawList& draw;
  ImVec2 origin;
  std::vector<bool> near;  ///< to the hovered box, by node; empty: nothing is hovered

  ImVec2 at(GraphPoint p) const {
    const GraphPoint q = to_pixels(state.view, state.canvas, p);
    return {origin.x + q.x, origin.y + q.y};
  }
  float text_size(ImFont* font) const { return font_size(font) * state.view.zoom / fonts().scale; }
};

bool contains(const auto& list, const auto& item) { return std::find(list.begin(), list.end(), item) != list.end(); }

// ---- lines -----------------------------------------------------------------------------------------------------------

std::vector<ImVec2> flattened(const GraphFrame& f, const std::vector<GraphPoint>& curve) {
  std::vector<ImVec2> points;
  if (curve.size() < 4) return points;
  points.push_back(f.at(curve.front()));
  for (std::size_t i = 0; i + 3 < curve.size(); i += 3) {
    const ImVec2 a = f.at(curve[i]), b = f.at(curve[i + 1]), c = f.at(curve[i + 2]), d = f.at(curve[i + 3]);
    const float length = std::hypot(d.x - a.x, d.y - a.y);
    const int steps = std::clamp(static_cast<int>(length / 8), 3, 24);
    for (int s = 1; s <= steps; ++s) {
      const float t = static_cast<float>(s) / static_cast<float>(steps), u = 1 - t;
      const float w0 = u * u * u, w1 = 3 * u * u * t, w2 = 3 * u * t * t, w3 = t * t * t;
      points.emplace_back(w0 * a.x + w1 * b.x + w2 * c.x + w3 * d.x, w0 * a.y + w1 * b.y + w2 * c.y + w3 * d.y);
    }
  }
  return points;
}

void stroke(ImDrawList& draw, const std::vector<ImVec2>& points, Color color, float thickness, float dash) {
  if (dash <= 0) {
    draw.AddPolyline(points.data(), static_cast<int>(points.size()), color, 0, thickness);
    return;
  }
  float walked = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const ImVec2 a = points[i - 1], b = points[i];
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    for (float done = 0; done < length;) {
      const float in_period = std::fmod(walked, 2 * dash);
      const float piece = std::min((in_period < dash ? dash : 2 * dash) - in_period + 0.01f, length - done);
      if (in_period < dash) {
        const float t0 = done / length, t1 = (done + piece) / length;
        draw.AddLine({a.x + (b.x - a.x) * t0, a.y + (b.y - a.y) * t0}, {a.x + (b.x - a.x) * t1, a.y + (b.y - a.y) * t1}, color, thickness);
      }
      done += piece;
      walked += piece;
    }
  }
}

void head(ImDrawList& draw, const std::vector<ImVec2>& points, float size, Color color) {
  const ImVec2 tip = points.back();
  ImVec2 from = points[points.size() - 2];
  for (std::size_t i = points.size() - 1; i-- > 0 && std::hypot(tip.x - from.x, tip.y - from.y) < size;) from = points[i];
  const float length = std::max(std::hypot(tip.x - from.x, tip.y - from.y), 0.01f);
  const float x = (tip.x - from.x) / length, y = (tip.y - from.y) / length;
  const ImVec2 base(tip.x - x * size, tip.y - y * size);
  draw.AddTriangleFilled(tip, {base.x - y * size * 0.45f, base.y + x * size * 0.45f},
                         {base.x + y * size * 0.45f, base.y - x * size * 0.45f}, color);
}

/// Two short strokes across the line: it leaves its warp group.
void crossing(ImDrawList& draw, const std::vector<ImVec2>& points, float size, Color color, float thickness) {
  const std::size_t middle = points.size() / 2;
  const ImVec2 a = points[middle - 1], b = points[middle];
  const float length = std::max(std::hypot(b.x - a.x, b.y - a.y), 0.01f);
  const float x = (b.x - a.x) / length, y = (b.y - a.y) / length;
  for (const float shift : {-size * 0.35f, size * 0.35f}) {
    const ImVec2 c((a.x + b.x) / 2 + x * shift, (a.y + b.y) / 2 + y * shift);
    draw.AddLine({c.x - y * size, c.y + x * size}, {c.x + y * size, c.y - x * size}, color, thickness);
  }
}

bool touches_hover(const GraphFrame& f, const GraphArc& arc) {
  return f.state.hovered && (arc.from == *f.state.hovered || arc.to == *f.state.hovered);
}

bool highlighted(const GraphFrame& f, const GraphArc& arc) {
  return std::any_of(arc.edges.begin(), arc.edges.end(), [&](EdgeId e) { return contains(f.scene.highlight.edges, e); });
}

void draw_arc(const GraphFrame& f, std::size_t index) {
  const Theme& t = theme();
  const GraphArc& arc = f.scene.model.arcs[index];
  const std::vector<ImVec2> points = flattened(f, arc.curve);
  if (points.size() < 2) return;
  const bool lit = touches_hover(f, arc) || f.state.hovered_arc == index, marked = highlighted(f, arc);
  const bool aside = f.state.hovered && !lit;
  Color color = arc.carried ? t.carried_arrow : t.arrow;
  if (arc.critical) color = t.outline;
  if (lit || marked) color = t.accent;
  if (aside && !marked) color = with_alpha(color, 0.3f);
  const float small = std::clamp(f.state.view.zoom / fonts().scale, 0.35f, 1.2f);
  const float thickness = px(arc.critical ? 3.0f : lit || marked ? 2.4f : 1.4f) * std::max(small, 0.6f);
  stroke(f.draw, points, color, thickness, arc.carried ? px(5) * small : 0);
  head(f.draw, points, px(9) * small, color);
  if (arc.crosses) crossing(f.draw, points, px(4.5f) * small, color, px(1.4f));
}

void draw_arc_label(const GraphFrame& f, std::size_t index) {
  const GraphArc& arc = f.scene.model.arcs[index];
  const float size = f.text_size(fonts().small) * 0.92f;
  const bool lit = touches_hover(f, arc) || f.state.hovered_arc == index;
  if (size < px(lit ? kSmallestText : 7.5f)) return;
  const ImVec2 at = f.at(arc.label);
  const ImVec2 extent = fonts().small->CalcTextSizeA(size, FLT_MAX, 0, arc.text.c_str());
  const ImVec2 low(at.x - extent.x / 2, at.y - extent.y / 2);
  f.draw.AddRectFilled({low.x - px(2), low.y}, {low.x + extent.x + px(2), low.y + extent.y}, with_alpha(theme().chart, 0.85f), px(2));
  f.draw.AddText(fonts().small, size, low, lit || arc.critical ? theme().text : theme().dim, arc.text.c_str());
}

/// What holds the limiting cycle together besides dependences.
void draw_hop(const GraphFrame& f, const GraphHop& hop) {
  const GraphNode &a = f.scene.model.nodes[hop.from], &b = f.scene.model.nodes[hop.to];
  const auto centre = [](const GraphNode& n) { return GraphPoint{(n.low.x + n.high.x) / 2, (n.low.y + n.high.y) / 2}; };
  GraphPoint from = centre(a), to = centre(b);
  std::vector<GraphPoint> curve;
  if (hop.from == hop.to) {
    curve = {{a.low.x + 10, a.low.y}, {a.low.x, a.low.y - 40}, {a.high.x, a.low.y - 40}, {a.high.x - 10, a.low.y}};
  } else {
    // Bent aside, so that it stays clear of dependences between the same boxes; cut at the boxes.
    const float x = to.x - from.x, y = to.y - from.y, length = std::max(std::hypot(x, y), 1.0f);
    const float bend = std::clamp(length * 0.18f, 20.0f, 90.0f);
    const GraphPoint aside{-y / length * bend, x / length * bend};
    const auto edge = [&](const GraphNode& n, GraphPoint middle, float dx, float dy) {
      const float half_x = (n.high.x - n.low.x) / 2, half_y = (n.high.y - n.low.y) / 2;
      const float scale = 1 / std::max({std::abs(dx) / half_x, std::abs(dy) / half_y, 0.001f});
      return GraphPoint{middle.x + dx * scale, middle.y + dy * scale};
    };
    const GraphPoint c1{from.x + x / 3 + aside.x, from.y + y / 3 + aside.y}, c2{from.x + 2 * x / 3 + aside.x, from.y + 2 * y / 3 + aside.y};
    curve = {edge(a, from, c1.x - from.x, c1.y - from.y), c1, c2, edge(b, to, c2.x - to.x, c2.y - to.y)};
  }
  const std::vector<ImVec2> points = flattened(f, curve);
  const float small = std::clamp(f.state.view.zoom / fonts().scale, 0.35f, 1.2f);
  const Color color = with_alpha(theme().outline, f.state.hovered ? 0.35f : 0.9f);
  stroke(f.draw, points, color, px(2.4f) * std::max(small, 0.6f), px(2) * small);
  head(f.draw, points, px(9) * small, color);
  const float size = f.text_size(fonts().small) * 0.92f;
  if (size < px(7.5f)) return;
  const ImVec2 middle = points[points.size() / 2];
  const ImVec2 extent = fonts().small->CalcTextSizeA(size, FLT_MAX, 0, hop.what.c_str());
  const ImVec2 low(middle.x - extent.x / 2, middle.y - extent.y / 2);
  f.draw.AddRectFilled({low.x - px(2), low.y}, {low.x + extent.x + px(2), low.y + extent.y}, with_alpha(theme().chart, 0.9f), px(2));
  f.draw.AddText(fonts().small, size, low, theme().text, hop.what.c_str());
}

// ---- boxes -----------------------------------------------------------------------------------------------------------

struct NodeLetters {
  ImFont* font;
  float size;
  Color color;
};
struct NodeLine {
  float left, right, y;
};
void write_in(const GraphFrame& f, const NodeLetters& letters, const NodeLine& line, const std::string& text) {
  const auto& [font, size, color] = letters;
  const auto& [left, right, y] = line;
  if (size < px(kSmallestText) || right <= left) return;
  // Measured at the font's own size: the same letters fit at every zoom.
  const std::string cut = fitted(font, text, (right - left) * font_size(font) / size);
  f.draw.AddText(font, size, {left, y}, color, cut.c_str());
}

void draw_node(const GraphFrame& f, std::size_t index) {
  const Theme& t = theme();
  const GraphNode& node = f.scene.model.nodes[index];
  const ImVec2 low = f.at(node.low), high = f.at(node.high);
  if (probe::on()) probe::item("graph/node/" + node.name, low.x, low.y, high.x, high.y);
  const ImVec2 clip_low = f.draw.GetClipRectMin(), clip_high = f.draw.GetClipRectMax();
  if (high.x < clip_low.x || low.x > clip_high.x || high.y < clip_low.y || low.y > clip_high.y) return;
  const float zoom = f.state.view.zoom, round = 5 * zoom;
  const bool hovered = f.state.hovered == index, once = !node.op.valid(), selected = !once && f.scene.selection.contains(node.op);
  const bool near = f.near.empty() || f.near[index];
  const RoleColor color = role_color(node.role);
  f.draw.AddRectFilled(low, high, near ? color.fill : with_alpha(color.fill, 0.35f), round);
  // Once per tile: paler, with a frame inside, so that nobody takes it for a part of the loop.
  if (once) {
    f.draw.AddRectFilled(low, high, with_alpha(t.chart, 0.55f), round);
    f.draw.AddRect(low, high, color.fill, round, 0, std::max(zoom * 2, 1.0f));
  }
  if (!once && contains(f.scene.highlight.ops, node.op))
    f.draw.AddRect({low.x - px(4), low.y - px(4)}, {high.x + px(4), high.y + px(4)}, t.warning, round + px(4), 0, px(2));
  float left = low.x + 8 * zoom;
  if (!node.group.empty()) {
    const Color group = kGroupColors[node.group_index % std::size(kGroupColors)];
    const float bar = std::max(5 * zoom, px(2));
    f.draw.AddRectFilled(low, {low.x + bar, high.y}, near ? group : with_alpha(group, 0.35f), std::min(round, bar),
                         ImDrawFlags_RoundCornersLeft);
    f.draw.AddLine({low.x + bar, low.y}, {low.x + bar, high.y}, color.text, std::max(zoom, 1.0f));
    left += 3 * zoom;
  }
  if (node.critical) f.draw.AddRect(low, high, t.outline, round, 0, px(2));
  if (selected) {
    f.draw.AddRect({low.x - px(2), low.y - px(2)}, {high.x + px(2), high.y + px(2)}, t.accent, round + px(2), 0, px(2.5f));
  } else if (hovered) {
    f.draw.AddRect(low, high, t.accent, round, 0, px(1.5f));
  }
  const float right = high.x - 6 * zoom;
  const Color ink = once ? t.text : near ? color.text : t.dim;
  const float name_size = f.text_size(fonts().bold) * 0.95f, detail_size = f.text_size(fonts().small) * 0.95f;
  // Boxes that are too small for two lines keep the name, over the whole box.
  if (detail_size < px(kSmallestText)) {
    const float room = high.x - 3 * zoom - left;
    const float size = std::min((high.y - low.y) * 0.8f, std::max(14 * zoom, px(kSmallestText)));  // one size for all
    write_in(f, {fonts().bold, size, ink}, {left, left + room + 1, (low.y + high.y - size) / 2}, node.name);
    return;
  }
  write_in(f, {fonts().bold, name_size, ink}, {left, right, low.y + 3 * zoom}, node.name);
  const float letter = node.group.empty() ? 0 : 14 * zoom;
  write_in(f, {fonts().small, detail_size, ink}, {left, right - letter, low.y + 21 * zoom}, once ? node.once : node.detail);
  if (letter > 0) {
    const ImVec2 extent = fonts().small_bold->CalcTextSizeA(detail_size, FLT_MAX, 0, node.group.c_str());
    write_in(f, {fonts().small_bold, detail_size, ink}, {right - extent.x, right + zoom * 4, low.y + 21 * zoom}, node.group);
  }
}

void draw_tooltip(const GraphFrame& f) {
  const GraphState& s = f.state;
  if (s.hovered_for < 0.15 || s.panning >= 0) return;
  const Problem& problem = f.scene.problem;
  std::string text;
  if (s.hovered) {
    const GraphNode& node = f.scene.model.nodes[*s.hovered];
    const Op& op = node.op.valid() ? problem.op(node.op) : f.scene.tile.ops[*s.hovered];
    text = fmt::format("{}  ({})\n{}, latency {}, issue window {}", node.name, printable(op.kind), node.detail, grouped(op.latency),
                       grouped(op.window));
    if (!node.op.valid())
      text += "\n" + node.once + " of the kernel, once per tile: predicted, not scheduled";
    else if (const Schedule* schedule = f.scene.schedule)
      text += fmt::format("\nstart {} = {} * {} + {}, {}", grouped(schedule->start(node.op)), schedule->stage(node.op),
                          grouped(schedule->ii), grouped(schedule->slot(node.op)), printable(schedule->groups[node.group_index].role));
    if (node.critical) text += "\nlimits II: on the bold cycle";
  } else if (s.hovered_arc) {
    const GraphArc& arc = f.scene.model.arcs[*s.hovered_arc];
    text = fmt::format("{} to {}", f.scene.model.nodes[arc.from].name, f.scene.model.nodes[arc.to].name);
    for (const EdgeId id : arc.edges) {
      const Edge& e = problem.edge(id);
      text += fmt::format("\n{}: latency {}, distance {}", e.value.valid() ? printable(problem.value(e.value).name) : "order only",
                          grouped(e.latency), e.distance);
      if (arc.crosses) text += fmt::format(", hand-off {} to another warp group", grouped(e.handoff));
    }
  }
  if (text.empty()) return;
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(text.c_str());
  ImGui::EndTooltip();
}

// ---- mouse and keys --------------------------------------------------------------------------------------------------

float readable_zoom() { return fonts().scale * 0.95f; }

void fit(GraphFrame& f) {
  f.state.view = fit_graph(f.scene.model, f.state.canvas, fonts().scale * 1.3f);
  f.state.fitted = true;
  f.state.centred = false;
}

void centre(GraphFrame& f, const std::vector<OpId>& ops) {
  centre_graph(f.state.view, f.scene.model, ops, readable_zoom());
  f.state.fitted = false;
}

void zoom(GraphFrame& f, ImVec2 at, float factor) {
  zoom_graph(f.state.view, f.state.canvas, at.x - f.origin.x, at.y - f.origin.y, factor);
  f.state.fitted = f.state.centred = false;
}

void handle_pan(GraphFrame& f, bool inside) {
  GraphState& s = f.state;
  const ImGuiIO& io = ImGui::GetIO();
  const bool space = key_down(Key::Space) && !io.WantTextInput;
  if (s.panning < 0 && inside) {
    if (ImGui::IsMouseClicked(kRightButton))
      s.panning = kRightButton;
    else if (ImGui::IsMouseClicked(kLeftButton) && (space || (io.KeyShift && !s.hovered)))
      s.panning = kLeftButton;
    if (s.panning >= 0) {
      s.pan_mouse = {io.MousePos.x, io.MousePos.y};
      s.pan_view = s.view;
      s.panned = false;
      s.pressed = s.hovered;
    }
  }
  if (s.panning < 0) return;
  const float dx = io.MousePos.x - s.pan_mouse.x, dy = io.MousePos.y - s.pan_mouse.y;
  s.panned |= std::hypot(dx, dy) >= px(4);
  if (s.panned) {
    s.view.x = s.pan_view.x - dx / s.view.zoom;
    s.view.y = s.pan_view.y - dy / s.view.zoom;
    s.fitted = s.centred = false;
  }
  if (ImGui::IsMouseDown(s.panning)) return;
  if (s.panning == kRightButton && !s.panned) ImGui::OpenPopup("##graph menu");
  s.panning = -1;
}

void handle_mouse(GraphFrame& f, bool inside, CommandQueue& commands) {
  GraphState& s = f.state;
  const ImGuiIO& io = ImGui::GetIO();
  const GraphPoint under = to_points(s.view, s.canvas, io.MousePos.x - f.origin.x, io.MousePos.y - f.origin.y);
  const auto node = inside && s.panning < 0 ? node_at(f.scene.model, under) : std::nullopt;
  const auto arc = inside && s.panning < 0 && !node ? arc_at(f.scene.model, under, px(6) / s.view.zoom) : std::nullopt;
  const bool same = node == s.hovered && arc == s.hovered_arc && (node || arc);
  s.hovered_for = same ? s.hovered_for + io.DeltaTime : 0;
  s.hovered = node;
  s.hovered_arc = arc;
  handle_pan(f, inside);
  if (!inside || s.panning >= 0) return;
  if (io.MouseWheel != 0) zoom(f, io.MousePos, std::pow(io.KeyCtrl ? 1.06f : 1.25f, io.MouseWheel));
  if (io.MouseWheelH != 0) s.view.x += io.MouseWheelH * px(40) / s.view.zoom;
  if (ImGui::IsMouseDoubleClicked(kLeftButton)) {
    if (node)
      centre(f, {OpId(*node)});
    else
      fit(f);
  } else if (ImGui::IsMouseClicked(kLeftButton)) {
    if (node)
      commands.push(SelectOp{OpId(*node), io.KeyCtrl});
    else if (arc && !io.KeyCtrl) {
      commands.push(SelectOp{OpId(f.scene.model.arcs[*arc].from), false});
      commands.push(SelectOp{OpId(f.scene.model.arcs[*arc].to), true});
    } else if (!f.scene.selection.empty() && !io.KeyCtrl)
      commands.push(ClearSelection{});
    if (node) s.seen = OpId(*node);  // it is under the mouse: nothing to bring into view
    if (arc && !node) s.seen = OpId(f.scene.model.arcs[*arc].to);
  }
}

void step(GraphFrame& f, int direction, CommandQueue& commands) {
  if (f.scene.model.nodes.empty()) return;
  const OpId from = f.scene.selection.primary();
  const std::optional<OpId> to = from.valid() ? follow(f.scene.problem, f.scene.model, from, direction) : OpId(0);
  if (to) commands.push(SelectOp{*to, false});
}

void handle_keys(GraphFrame& f, bool inside, std::vector<std::string_view>& requested, CommandQueue& commands) {
  GraphState& s = f.state;
  const bool keys = s.hears_keys && !ImGui::GetIO().WantTextInput && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  if (!keys && requested.empty()) return;
  const auto wants = [&](std::string_view id, bool repeat = false) { return chart_wants(requested, id, keys, repeat); };
  const ImVec2 middle(f.origin.x + s.canvas.width / 2, f.origin.y + s.canvas.height / 2);
  const ImVec2 focus = inside ? ImGui::GetIO().MousePos : middle;
  const float pan = px(60) / s.view.zoom;
  if (wants("clear_selection") && !f.scene.selection.empty()) commands.push(ClearSelection{});
  if (wants("zoom_in", true)) zoom(f, focus, 1.3f);
  if (wants("zoom_out", true)) zoom(f, focus, 1 / 1.3f);
  const auto move = [&](const char* id, float x, float y) {
    if (!wants(id, true)) return;
    s.view.x += x;
    s.view.y += y;
    s.fitted = s.centred = false;
  };
  move("pan_left", -pan, 0);
  move("pan_right", pan, 0);
  move("row_up", 0, -pan);
  move("row_down", 0, pan);
  if (wants("fit")) fit(f);
  if (wants("zoom_selection")) {
    if (f.scene.selection.empty() || s.centred) {
      fit(f);
    } else {
      centre(f, f.scene.selection.ops);
      s.centred = true;
    }
  }
  if (wants("follow_on", true)) step(f, 1, commands);
  if (wants("follow_back", true)) step(f, -1, commands);
}

void draw_menu(GraphFrame& f, CommandQueue& commands) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(8)});
  if (ImGui::BeginPopup("##graph menu")) {
    const auto item = [](const char* name, const char* label, const std::string& keys = {}, bool possible = true) {
      const bool chosen = ImGui::MenuItem(label, keys.c_str(), false, possible);
      if (probe::on()) probe::last_item(std::string("graph/menu/") + name);
      return chosen;
    };
    if (f.state.pressed && *f.state.pressed < f.scene.model.nodes.size() && f.scene.model.nodes[*f.state.pressed].op.valid()) {
      const GraphNode& node = f.scene.model.nodes[*f.state.pressed];
      ImGui::TextDisabled("%s", node.name.c_str());
      ImGui::Separator();
      if (item("chart", "Show in chart", {}, f.scene.schedule != nullptr)) {
        commands.push(SelectOp{node.op});
        commands.push(zoom_to_selection());
      }
      if (item("pin", "Pin or unpin where it is", {}, f.scene.schedule != nullptr)) commands.push(TogglePin{node.op});
      if (item("why", "Why is it here? (inspector)")) commands.push(SelectOp{node.op});
      if (item("neighbours", "Select with its neighbours")) {
        commands.push(SelectOp{node.op});
        std::vector<std::size_t> others;
        for (const GraphArc& arc : f.scene.model.arcs)
          for (const auto& [here, there] : {std::pair(arc.from, arc.to), std::pair(arc.to, arc.from)})
            if (here == *f.state.pressed && there != here && !contains(others, there)) others.push_back(there);
        for (const std::size_t other : others)
          if (f.scene.model.nodes[other].op.valid()) commands.push(SelectOp{OpId(other), true});
        commands.push(SelectOp{node.op, true});  // taken out and put back: it stays the primary one
        commands.push(SelectOp{node.op, true});
      }
      if (item("copy", "Copy name")) commands.push(copy_text(node.name));
      ImGui::Separator();
    }
    if (item("fit", "Fit all", keys_of("fit"))) fit(f);
    if (item("centre", "Centre the selection", keys_of("zoom_selection"), !f.scene.selection.empty())) centre(f, f.scene.selection.ops);
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

void follow_selection(GraphFrame& f) {
  GraphState& s = f.state;
  const OpId primary = f.scene.selection.primary();
  if (primary == s.seen) return;
  s.seen = primary;
  if (!s.follow || !primary.valid() || primary.index() >= f.scene.model.nodes.size()) return;
  // Only as far as needed: a box that can be seen stays where it is.
  const GraphNode& node = f.scene.model.nodes[primary.index()];
  const GraphPoint low = to_pixels(s.view, s.canvas, node.low), high = to_pixels(s.view, s.canvas, node.high);
  if (low.x >= 0 && low.y >= 0 && high.x <= s.canvas.width && high.y <= s.canvas.height) return;
  centre_graph(s.view, f.scene.model, {primary}, 0);
  s.fitted = false;
}

}  // namespace

void draw_graph(const GraphScene& scene, GraphState& state, std::vector<std::string_view>& requested, CommandQueue& commands) {
  const ImVec2 origin = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const CanvasSize canvas{std::max(room.x, 1.0f), std::max(room.y, 1.0f)};
  const bool resized = canvas.width != state.canvas.width || canvas.height != state.canvas.height;
  state.canvas = canvas;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  GraphFrame f{scene, state, draw, origin, {}};
  if (state.view.zoom <= 0 || (state.fitted && resized)) fit(f);
  ImGui::InvisibleButton("##graph", {canvas.width, canvas.height}, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  if (probe::on()) probe::last_item("graph/canvas");
  const bool inside = ImGui::IsItemHovered();
  handle_mouse(f, inside, commands);
  state.hears_keys |= inside;
  handle_keys(f, inside, requested, commands);
  follow_selection(f);
  hold_graph(state.view, scene.model, canvas);

  const ImVec2 end(origin.x + canvas.width, origin.y + canvas.height);
  draw.AddRectFilled(origin, end, theme().chart, px(4));
  draw.PushClipRect(origin, end, true);
  if (state.hovered) {
    f.near.assign(scene.model.nodes.size(), false);
    f.near[*state.hovered] = true;
    for (const GraphArc& arc : scene.model.arcs)
      if (touches_hover(f, arc)) f.near[arc.from] = f.near[arc.to] = true;
  }
  for (const int pass : {0, 1})  // what is bold or lit over the rest
    for (std::size_t a = 0; a < scene.model.arcs.size(); ++a) {
      const GraphArc& arc = scene.model.arcs[a];
      const bool above = arc.critical || touches_hover(f, arc) || state.hovered_arc == a || highlighted(f, arc);
      if (above == (pass == 1)) draw_arc(f, a);
    }
  for (const GraphHop& hop : scene.model.hops) draw_hop(f, hop);
  for (std::size_t v = 0; v < scene.model.nodes.size(); ++v) draw_node(f, v);
  for (std::size_t a = 0; a < scene.model.arcs.size(); ++a) draw_arc_label(f, a);
  const bool roomy = canvas.height > 0.5f * canvas.width;
  // In a low pane the whole graph is a sketch: say how to see more of it.
  const std::string key = keys_of("maximize").substr(0, keys_of("maximize").find("  "));
  if (!roomy && state.fitted && state.view.zoom < 0.45f * fonts().scale && !key.empty()) {
    const std::string hint = key + " gives the picture the whole place";
    const ImVec2 size = text_size(fonts().small, hint);
    if (size.x + px(16) < canvas.width * 0.3f)
      paint_text(fonts().small, {end.x - size.x - px(8), end.y - size.y - px(4)}, theme().dim, hint);
  }
  draw.PopClipRect();
  draw_tooltip(f);
  draw_menu(f, commands);
}

}  // namespace heddle::app
