// Drawing what there is to choose of a dump.
#include "app/window/frame/dump_pane.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/dump_source.h"
#include "app/session/files.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/dump_model.h"
#include "app/window/parts/question_bar.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostRows = 5;  // more loops than that are a list that opens
constexpr float kLoopRow = 22;

void draw_loop_row(const LoopChoice& loop, UiState& ui) {
  const RowArea row = pick_row(fmt::format("dump/loop/{}", loop.id).c_str(), loop.current, px(kLoopRow));
  const float facts = text_size(fonts().small, loop.facts).x, right = row.max.x - px(10), y = row.min.y + px(3);
  const float name = std::max(right - facts - px(10) - row.min.x - px(8), px(46));
  paint_text(fonts().body, ImVec2(row.min.x + px(8), y), theme().text, fitted(fonts().body, loop.name, name));
  const float room = right - (row.min.x + px(8) + std::min(name, text_size(fonts().body, loop.name).x) + px(8));
  paint_text_right(fonts().small, right, y + px(1), theme().dim, fitted(fonts().small, loop.facts, room));
  if (row.hovered) tooltip(loop.name + ": " + loop.facts);
  if (row.clicked && !loop.current) ui.commands.push(ShowLoop{loop.id, {}});
}

void draw_loop_list(const DumpModel& model, UiState& ui) {
  const auto current = std::find_if(model.loops.begin(), model.loops.end(), [](const LoopChoice& l) { return l.current; });
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
  const bool open = ImGui::BeginCombo("##loop", current == model.loops.end() ? "" : (current->name + " · " + current->facts).c_str());
  if (probe::on()) probe::last_item("dump/loops");
  if (!open) return;
  for (const LoopChoice& loop : model.loops) {
    if (ImGui::Selectable((loop.name + " · " + loop.facts).c_str(), loop.current) && !loop.current) ui.commands.push(ShowLoop{loop.id, {}});
    if (probe::on()) probe::last_item(fmt::format("dump/loop/{}", loop.id));
  }
  ImGui::EndCombo();
}

}  // namespace

float dump_pane_height(const Session& session) {
  const auto& dump = session.content().dump;
  if (!dump) return 0;
  const std::size_t loops = dump->dump().loops.size();
  const float list = loops < 2 ? 0 : loops <= kMostRows ? static_cast<float>(loops) * px(kLoopRow + 3) : px(30);
  return px(34) + px(20) + list + px(32) + px(4);
}

void draw_dump_pane(const Session& session, UiState& ui) {
  const auto& dump = session.content().dump;
  if (!dump) return;
  const DumpModel model = build_dump(*dump);
  section("DUMP", model.format);
  {
    const FontScope scope(fonts().small);
    colored_text(theme().dim, fitted_middle(fonts().small, model.file, ImGui::GetContentRegionAvail().x));
    if (ImGui::IsItemHovered()) tooltip(dump->file->path + "\n" + model.about);
  }
  if (model.loops.size() > kMostRows)
    draw_loop_list(model, ui);
  else if (model.loops.size() > 1)
    for (const LoopChoice& loop : model.loops) draw_loop_row(loop, ui);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(7), px(2)));
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + px(5));
  colored_text(theme().dim, "reading");
  for (const dump::Reading reading : {dump::Reading::Full, dump::Reading::IssueSlots}) {
    ImGui::SameLine(0, px(6));
    ImGui::SetCursorPosY(top);
    const bool now = dump->reading == reading;
    if (choice(fmt::format("dump/reading/{}", to_string(reading)).c_str(), short_name(reading), now) && !now)
      ui.commands.push(ShowLoop{{}, reading});
    if (ImGui::IsItemHovered()) tooltip(about(reading));
  }
  ImGui::PopStyleVar();
}

void draw_dumped_op(const Session& session, const std::string& op, UiState& ui) {
  const auto& dump = session.content().dump;
  if (!dump) return;
  const auto& nodes = dump->the_loop().nodes;
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const dump::Node& n) { return n.name == op; });
  if (node == nodes.end()) return;
  wrapped_text(fonts().small, theme().text, describe_node(*node));
  const auto inner = loop_inside(*dump, *node);
  if (inner && link("inspector/inner_loop", fmt::format("Show loop {}, which it runs", *inner))) ui.commands.push(ShowLoop{inner, {}});
}

}  // namespace heddle::app
