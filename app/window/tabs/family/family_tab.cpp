// The Family tab: tile sizes, sub-tiling and warp groups as decisions, each member with what is proved about it.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "app/session/command_line.h"
#include "app/session/family.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/table.h"
#include "app/window/parts/kernel_cuts.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/family/family_state.h"

namespace heddle::app {
namespace {

constexpr int kUsualGroups = 2;

std::vector<FamilyOffer> offers_of(const Kernel& kernel) {
  std::vector<FamilyOffer> offers;
  const int most = std::max(kernel.max_groups, kUsualGroups) + 1;
  offers.push_back({fmt::format("groups={}..{}", kUsualGroups, most), fmt::format("groups {} to {}", kUsualGroups, most)});
  for (const Param& param : kernel.params) {
    if (param.choices.size() < 2) continue;
    std::string values;
    for (const std::int64_t value : param.choices) values += (values.empty() ? "" : ", ") + std::to_string(value);
    offers.push_back({param.name, param.name + " " + values});
  }
  for (const std::string& name : parameters_to_cut(kernel)) offers.push_back({"subtile:" + name + "=1,2", name + " whole or in 2"});
  return offers;
}

void follow_kernel(const Session& session, FamilyTabState& state) {
  const auto& kernel = session.content().kernel;
  if (state.of == kernel) return;
  state.of = kernel;
  state.picked.reset();
  state.offers = kernel ? offers_of(*kernel) : std::vector<FamilyOffer>{};
  std::erase_if(state.chosen, [&](const std::string& text) {
    return std::none_of(state.offers.begin(), state.offers.end(), [&](const FamilyOffer& offer) { return offer.text == text; });
  });
  if (state.chosen.empty() && !state.offers.empty()) state.chosen.insert(state.offers.front().text);
}

void draw_family_question(const Session& session, UiState& ui, const FamilyAnswer* answer) {
  FamilyTabState& state = ui.of<FamilyTabState>();
  ImGui::AlignTextToFramePadding();
  colored_text(theme().dim, "what varies");
  for (const FamilyOffer& offer : state.offers) {
    same_line_if_room(button_width(offer.label));
    const bool on = state.chosen.contains(offer.text);
    if (!choice(("family/vary/" + offer.text).c_str(), offer.label, on)) continue;
    if (on)
      state.chosen.erase(offer.text);
    else
      state.chosen.insert(offer.text);
  }
  same_line_if_room(px(200));
  input_field("family/own", "and: TILE_N=96,160", state.own, sizeof state.own, px(190));
  same_line_if_room(px(120));
  const AskOptions options = family_options(session, ui);
  draw_question_bar(session, ui, Topic::Family, options, "Solve all");
  if (answer && answer->faults.empty())
    draw_copy_buttons(
        "family", session, ui,
        [&] {
          const KernelSetTable table = kernel_set_table(answer->set);
          std::string text;
          for (const TextColumn& column : table.columns) text += (text.empty() ? "" : "\t") + column.title;
          for (const auto& row : table.rows) text += fmt::format("\n{}", fmt::join(row, "\t"));
          return text + "\n";
        },
        ask_command(session, Topic::Family, options));
  else
    copy_command_button("family/command", session, ui, ask_command(session, Topic::Family, options), {0, px(26)});
  ImGui::SameLine();
  draw_question_state(session, Topic::Family);
  ImGui::NewLine();
}

struct MemberRow {
  std::size_t member = 0, at = 0;
};

/// The best one until another is picked.
std::size_t picked_of(const FamilyAnswer& answer, const FamilyTabState& state) {
  if (state.picked && *state.picked < answer.set.members.size()) return *state.picked;
  return answer.set.best.empty() ? 0 : answer.set.best.front().member;
}

void draw_members(const KernelSetTable& table, std::size_t picked, float width, UiState& ui) {
  FamilyTabState& state = ui.of<FamilyTabState>();
  std::vector<Column<MemberRow>> columns;
  float all = 0;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const TextColumn& from = table.columns[c];
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(), [&](const auto& cells) { return cells[c].empty(); });
    if (empty && c > 0) continue;
    float need = text_size(fonts().small_bold, from.title).x + px(12);
    for (const auto& cells : table.rows) need = std::max(need, text_size(from.right ? fonts().mono_small : fonts().body, cells[c]).x);
    columns.push_back(
        Column<MemberRow>{from.title, from.right, [&table, c](const MemberRow& row) { return table.rows[row.at][c]; }}.wide(need + px(6)));
    all += columns.back().width + 2 * ImGui::GetStyle().CellPadding.x;
  }
  TableLook look = scrolling_look(ImVec2(width, ImGui::GetContentRegionAvail().y), all);
  look.held = 1;
  look.every_row = true;
  look.order = &state.order;
  std::vector<MemberRow> rows;
  for (std::size_t i = 0; i < table.members.size(); ++i) rows.push_back({table.members[i], i});
  const auto heading = [&](const Column<MemberRow>& column) { draw_heading(column, "family/sort", state.order); };
  draw_table(TableOf("family_table", look, columns), rows, heading, [&](const MemberRow& row, std::size_t i) {
    if (table_row(fmt::format("family/row/{}", i), picked == row.member)) state.picked = row.member;
    ImGui::SameLine(0, 0);
    colored_text(theme().text, table.rows[row.at].front());
  });
}

/// The picked member: why it is not faster, or not solved; and the way to it.
void draw_picked(const Session& session, const FamilyAnswer& answer, std::size_t picked, UiState& ui) {
  const KernelSetMember& member = answer.set.members[picked];
  wrapped_text(fonts().bold, theme().text, member.label);
  if (button("family/open", "Open it", ButtonKind::Primary, session.family().why_no_member(picked), {0, px(26)}))
    ui.commands.push(OpenMember{picked});
  if (ImGui::IsItemHovered() && session.family().why_no_member(picked).empty())
    tooltip("its parameters and groups become those that are worked on, and its schedule is shown");
  ImGui::Dummy({0, px(4)});
  if (!member.why.empty()) wrapped_text(fonts().small, theme().text, drawable(pretty(member.why)));
  if (!member.outcome.explanation.empty()) wrapped_text(fonts().small, theme().dim, drawable(pretty(member.outcome.explanation)));
  for (const KernelSetBest& best : answer.set.best)
    if (best.member == picked)
      wrapped_text(fonts().small, best.proved ? theme().good : theme().text,
                   fmt::format("best in {}{}", best.objective, best.proved ? ", proved" : " so far"));
}

/// What is no problem at all, and why.
void draw_family_faults(const FamilyAnswer& answer) {
  for (const Fault& fault : answer.faults)
    wrapped_text(fonts().body, theme().bad, drawable(fault.message + (fault.hint.empty() ? "" : ": " + fault.hint)));
  const auto invalid =
      std::count_if(answer.set.members.begin(), answer.set.members.end(), [](const KernelSetMember& m) { return m.invalid(); });
  if (invalid == 0) return;
  const auto first =
      std::find_if(answer.set.members.begin(), answer.set.members.end(), [](const KernelSetMember& m) { return m.invalid(); });
  const std::string line = fmt::format("{} no problem at all, {} for one: {}", count_of(invalid, "member is", "members are"), first->label,
                                       first->faults.front().message);
  colored_text(theme().warning, fitted(fonts().body, drawable(line), ImGui::GetContentRegionAvail().x));
  if (ImGui::IsItemHovered()) tooltip(drawable(line));
}

}  // namespace

AskOptions family_options(const Session& session, UiState& ui) {
  FamilyTabState& state = ui.of<FamilyTabState>();
  follow_kernel(session, state);
  AskOptions options;
  for (const FamilyOffer& offer : state.offers)
    if (state.chosen.contains(offer.text)) options.family.vary.push_back(offer.text);
  std::istringstream own(state.own);
  for (std::string word; own >> word;) options.family.vary.push_back(word);
  return options;
}

void draw_family_tab(const Session& session, const Models&, UiState& ui) {
  FamilyTabState& state = ui.of<FamilyTabState>();
  follow_kernel(session, state);
  const QuestionState& asked = session.question(Topic::Family);
  const auto* answer = asked.as<FamilyAnswer>();
  draw_family_question(session, ui, answer);
  if (!answer) {
    if (asked.active()) return;
    wrapped_text(fonts().body, theme().text, "Which tile sizes, cuts and numbers of warp groups are best?");
    wrapped_text(fonts().small, theme().dim,
                 "Every combination is a member. A member is solved only as far as it could still win, and compared by cycles per work. "
                 "Constraints do not apply here: they speak of one member's ops.");
    return;
  }
  const bool old = !session.answered(Topic::Family);
  if (old) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, 0.55f);
  draw_family_faults(*answer);
  if (!answer->set.members.empty()) {
    const std::string head = drawable(kernel_set_headline(answer->set, {}));
    colored_text(!answer->set.best.empty() && answer->set.best.front().proved ? theme().good : theme().text,
                 fitted(fonts().body, head, ImGui::GetContentRegionAvail().x));
    const std::size_t picked = picked_of(*answer, state);
    const KernelSetTable table = kernel_set_table(answer->set);
    const float whole = ImGui::GetContentRegionAvail().x, side = std::floor(whole * 0.3f);
    draw_members(table, picked, whole - side - px(12), ui);
    ImGui::SameLine(0, px(12));
    ImGui::BeginChild("member", ImVec2(side, 0));
    draw_picked(session, *answer, picked, ui);
    ImGui::EndChild();
  }
  if (old) ImGui::PopStyleVar();
}

}  // namespace heddle::app
