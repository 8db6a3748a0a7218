#include "app/window/frame/source_pane.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/choice_list.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/dump_op_model.h"
#include "app/window/parts/question_bar.h"
#include "core/library/dump_text.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostRows = 5;  // more loops than that are a list that opens
constexpr std::size_t kMostOffers = 1;
constexpr float kLoopRow = 22;

void draw_choice_row(const std::string& prefix, const SourceChoice& choice, UiState& ui) {
  const RowArea row = pick_row((prefix + choice.id).c_str(), choice.current, px(kLoopRow));
  const float facts = text_size(fonts().small, choice.facts).x, right = row.max.x - px(10), y = row.min.y + px(3);
  const float name = std::max(right - facts - px(10) - row.min.x - px(8), px(46));
  paint_text(fonts().body, ImVec2(row.min.x + px(8), y), choice.part ? theme().text : theme().dim,
             fitted_middle(fonts().body, choice.name, name));
  const float room = right - (row.min.x + px(8) + std::min(name, text_size(fonts().body, choice.name).x) + px(8));
  paint_text_right(fonts().small, right, y + px(1), theme().dim, fitted(fonts().small, choice.facts, room));
  if (row.hovered) tooltip(choice.name + ": " + choice.facts);
  if (row.clicked && !choice.current && choice.part) ui.commands.push(ShowPart{*choice.part});
}

void draw_choice_list(const char* name, const std::string& prefix, const std::vector<SourceChoice>& choices, UiState& ui) {
  const auto current = std::find_if(choices.begin(), choices.end(), [](const SourceChoice& c) { return c.current; });
  const auto text = [](const SourceChoice& c) { return c.name + (c.facts.empty() ? "" : " · " + c.facts); };
  std::vector<ChoiceRow> rows;
  for (const SourceChoice& choice : choices)
    rows.push_back({text(choice), choice.id, choice.about, choice.current, choice.part.has_value()});
  const std::string shown = current == choices.end() ? "choose" : text(*current);
  if (const auto chosen = choose(name, prefix, shown, rows, ImGui::GetContentRegionAvail().x))
    ui.commands.push(ShowPart{*choices[*chosen].part});
}

float list_height(std::size_t count, std::size_t most) {
  return count < 2 ? 0 : count <= most ? static_cast<float>(count) * px(kLoopRow + 3) : px(30);
}

void draw_choices(const char* name, const std::string& prefix, const std::vector<SourceChoice>& choices, std::size_t most, UiState& ui) {
  if (choices.size() < 2) return;
  if (choices.size() > most) return draw_choice_list(name, prefix, choices, ui);
  for (const SourceChoice& choice : choices) draw_choice_row(prefix, choice, ui);
}

}  // namespace

float source_pane_height(const Session& session) {
  if (!session.content().source) return 0;
  const SourceOutline outline = session.content().source->outline();
  return px(34) + px(20) + list_height(outline.offers.size(), kMostOffers) + list_height(outline.loops.size(), kMostRows) +
         (outline.readings.empty() ? 0 : px(32)) + px(4);
}

void draw_source_pane(const Session& session, UiState& ui) {
  const SourcePtr& source = session.content().source;
  if (!source) return;
  const SourceOutline outline = source->outline();
  section(outline.title, outline.format);
  {
    const FontScope scope(fonts().small);
    colored_text(theme().dim, fitted_middle(fonts().small, outline.file, ImGui::GetContentRegionAvail().x));
    if (ImGui::IsItemHovered()) tooltip(source->path() + "\n" + outline.about);
  }
  draw_choices("dump/offers", "dump/offer/", outline.offers, kMostOffers, ui);
  draw_choices("dump/loops", "dump/loop/", outline.loops, kMostRows, ui);
  if (outline.readings.empty()) return;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(7), px(2)));
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + px(5));
  colored_text(theme().dim, "reading");
  for (const SourceChoice& reading : outline.readings) {
    ImGui::SameLine(0, px(6));
    ImGui::SetCursorPosY(top);
    if (choice(("dump/reading/" + reading.id).c_str(), reading.name, reading.current) && !reading.current)
      ui.commands.push(ShowPart{*reading.part});
    if (ImGui::IsItemHovered()) tooltip(reading.about);
  }
  ImGui::PopStyleVar();
}

void draw_dumped_op(const Session& session, const std::string& op, UiState& ui) {
  const DumpText* dump = session.content().dump();
  if (!dump) return;
  const auto& nodes = dump->the_loop().nodes;
  const auto node = std::find_if(nodes.begin(), nodes.end(), [&](const dump::DumpNode& n) { return n.name == op; });
  if (node == nodes.end()) return;
  wrapped_text(fonts().small, theme().text, describe_node(*node));
  const auto inner = loop_inside(dump->the_dump(), *node);
  if (inner && link("inspector/inner_loop", fmt::format("Show loop {}, which it runs", *inner)))
    ui.commands.push(ShowPart{{{}, inner, {}}});
}

}  // namespace heddle::app
