#include "app/window/frame/dump_pane.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/dump_source.h"
#include "app/session/files.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/choice_list.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/dump_model.h"
#include "app/window/parts/question_bar.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostRows = 5;  // more loops than that are a list that opens
constexpr std::size_t kMostOffers = 1;
constexpr float kLoopRow = 22;

void draw_choice_row(const std::string& prefix, const SourceChoice& choice, UiState& ui) {
  const RowArea row = pick_row((prefix + choice.id).c_str(), choice.current, px(kLoopRow));
  const float facts = text_size(fonts().small, choice.facts).x, right = row.max.x - px(10), y = row.min.y + px(3);
  const float name = std::max(right - facts - px(10) - row.min.x - px(8), px(46));
  paint_text(fonts().body, ImVec2(row.min.x + px(8), y), choice.show ? theme().text : theme().dim,
             fitted_middle(fonts().body, choice.name, name));
  const float room = right - (row.min.x + px(8) + std::min(name, text_size(fonts().body, choice.name).x) + px(8));
  paint_text_right(fonts().small, right, y + px(1), theme().dim, fitted(fonts().small, choice.facts, room));
  if (row.hovered) tooltip(choice.name + ": " + choice.facts);
  if (row.clicked && !choice.current && choice.show) ui.commands.push(*choice.show);
}

void draw_choice_list(const char* name, const std::string& prefix, const std::vector<SourceChoice>& choices, UiState& ui) {
  const auto current = std::find_if(choices.begin(), choices.end(), [](const SourceChoice& c) { return c.current; });
  const auto text = [](const SourceChoice& c) { return c.name + (c.facts.empty() ? "" : " · " + c.facts); };
  std::vector<ChoiceRow> rows;
  for (const SourceChoice& choice : choices)
    rows.push_back({text(choice), choice.id, choice.about, choice.current, choice.show.has_value()});
  const std::string shown = current == choices.end() ? "choose" : text(*current);
  if (const auto chosen = choose(name, prefix, shown, rows, ImGui::GetContentRegionAvail().x)) ui.commands.push(*choices[*chosen].show);
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

float dump_pane_height(const Session& session) {
  const std::optional<DumpModel> model = build_opened(session.content());
  if (!model) return 0;
  return px(34) + px(20) + list_height(model->offers.size(), kMostOffers) + list_height(model->loops.size(), kMostRows) +
         (model->readings.empty() ? 0 : px(32)) + px(4);
}

void draw_dump_pane(const Session& session, UiState& ui) {
  const std::optional<DumpModel> model = build_opened(session.content());
  if (!model) return;
  section(model->title, model->format);
  {
    const FontScope scope(fonts().small);
    colored_text(theme().dim, fitted_middle(fonts().small, model->file, ImGui::GetContentRegionAvail().x));
    if (ImGui::IsItemHovered()) tooltip(model->path + "\n" + model->about);
  }
  draw_choices("dump/offers", "dump/offer/", model->offers, kMostOffers, ui);
  draw_choices("dump/loops", "dump/loop/", model->loops, kMostRows, ui);
  if (model->readings.empty()) return;
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(px(7), px(2)));
  const float top = ImGui::GetCursorPosY();
  ImGui::SetCursorPosY(top + px(5));
  colored_text(theme().dim, "reading");
  for (const SourceChoice& reading : model->readings) {
    ImGui::SameLine(0, px(6));
    ImGui::SetCursorPosY(top);
    if (choice(("dump/reading/" + reading.id).c_str(), reading.name, reading.current) && !reading.current) ui.commands.push(*reading.show);
    if (ImGui::IsItemHovered()) tooltip(reading.about);
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
