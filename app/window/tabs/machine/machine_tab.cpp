// The Machine tab: every number of the open machine with its unit and its source, edited in place. It is the machine's text seen as a
// table: one document, one undo.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "app/session/commands.h"
#include "app/session/texts.h"
#include "app/window/kit/table.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/machine/machine_state.h"
#include "core/base/letters.h"

namespace heddle::app {
namespace {

struct MachineRow {
  const MachineNumber* number = nullptr;
  std::size_t index = 0;
};

bool machine_row_matches(const MachineNumber& n, std::string_view wanted) {
  return wanted.empty() || contains_letters(n.part + " " + n.name, wanted) || contains_letters(n.source, wanted) ||
         contains_letters(n.value, wanted);
}

void edit_number(const Session& session, UiState& ui, const MachineNumber& number) {
  const MachineTabState& state = ui.of<MachineTabState>();
  if (number.value == state.value) return;
  ui.commands.push(EditSource{SourceOf::Machine, with_number(session.texts().text_of(SourceOf::Machine)->text, number, state.value), false,
                              fmt::format("{} {} = {}", number.part, number.name, state.value)});
}

/// A click makes a field of it; Enter or a click elsewhere takes what is typed, Escape does not.
void draw_number_value(const Session& session, UiState& ui, const MachineRow& row) {
  MachineTabState& state = ui.of<MachineTabState>();
  const std::string name = fmt::format("machine/value/{} {}", row.number->part, row.number->name);
  const float width = ImGui::GetContentRegionAvail().x;
  if (state.edited == row.index) {
    if (state.edit_opened) ImGui::SetKeyboardFocusHere();
    input_field(name.c_str(), "value", state.value, sizeof state.value, width);
    if (!state.edit_opened && ImGui::IsItemDeactivated()) {
      if (!key_pressed(Key::Escape)) edit_number(session, ui, *row.number);
      state.edited.reset();
    }
    state.edit_opened = false;
    return;
  }
  const std::string shown = fitted(fonts().body, row.number->value, width - px(4));
  const bool pressed = link(name.c_str(), shown);
  if (ImGui::IsItemHovered()) tooltip((shown == row.number->value ? "" : row.number->value + "\n") + std::string("click to change it"));
  if (!pressed) return;
  state.edited = row.index;
  state.edit_opened = true;
  std::snprintf(state.value, sizeof state.value, "%s", row.number->value.c_str());
}

Color standing_ink(const std::string& standing) {
  if (standing == "published" || standing == "measured") return theme().good;
  if (standing == "assumption" || standing.empty()) return theme().warning;
  return theme().text;
}

std::string machine_as_text(const std::vector<MachineNumber>& numbers) {
  std::string text = "of\tnumber\tvalue\tunit\tstanding\tsource\n";
  for (const MachineNumber& n : numbers)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", n.part, n.name, n.value, n.unit, n.standing, n.source);
  return text;
}

void draw_machine_bar(const Session& session, UiState& ui) {
  MachineTabState& state = ui.of<MachineTabState>();
  const float height = px(26);
  input_field("machine/filter", "filter", state.filter, sizeof state.filter, px(150));
  const auto act = [&](const char* name, const char* label, const char* id) {
    same_line_if_room(button_width(label));
    const Action& action = *find_action(id);
    if (button(name, label, ButtonKind::Plain, why_not(action, session), {0, height})) perform(action, session, ui);
  };
  act("machine/text", "As text", "edit_machine");
  act("machine/save", "Save as ...", "save_machine_as");
  same_line_if_room(button_width("Copy"));
  if (button("machine/copy", "Copy", ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(machine_as_text(state.numbers)));
  ImGui::SameLine();
  const bool own = session.texts().text_unsaved(SourceOf::Machine);
  const std::string line = fmt::format("{}{}: {}", session.content().machine->name, own ? ", edited and not saved" : "",
                                       count_of(static_cast<std::int64_t>(state.numbers.size()), "number"));
  ImGui::AlignTextToFramePadding();
  colored_text(own ? theme().warning : theme().dim, fitted(fonts().body, line, std::max(ImGui::GetContentRegionAvail().x, px(30))));
}

}  // namespace

void draw_machine_tab(const Session& session, const Models&, UiState& ui) {
  MachineTabState& state = ui.of<MachineTabState>();
  const auto& text = session.content().machine_text;
  if (!text || !session.content().machine) {
    state = {};
    const std::string why = session.texts().why_no_edit(SourceOf::Machine);
    return wrapped_text(fonts().body, theme().dim, "Every number of a machine, with its source. " + why + ".");
  }
  if (state.of != text) {
    state.of = text;
    state.numbers = machine_numbers(text->text);
    state.edited.reset();
  }
  draw_machine_bar(session, ui);
  for (const Fault& fault : text->faults) {
    wrapped_text(fonts().small, theme().bad, drawable(fault.message + (fault.hint.empty() ? "" : ": " + fault.hint)));
    break;  // the editor beside the chart lists them all, each at its line
  }
  std::vector<MachineRow> rows;
  for (std::size_t i = 0; i < state.numbers.size(); ++i)
    if (machine_row_matches(state.numbers[i], state.filter)) rows.push_back({&state.numbers[i], i});
  const auto words = [](std::string MachineNumber::*member) { return [member](const MachineRow& row) { return row.number->*member; }; };
  const auto cut = [](std::string MachineNumber::*member) {
    return [member](const MachineRow& row) {
      const std::string shown = fitted(fonts().body, drawable(row.number->*member), ImGui::GetContentRegionAvail().x);
      colored_text(theme().dim, shown);
      if (shown != row.number->*member && ImGui::IsItemHovered()) tooltip(drawable(row.number->*member));
    };
  };
  float units = 0, names = 0;
  for (const MachineNumber& n : state.numbers) {
    units = std::max(units, text_size(fonts().body, n.unit).x);
    names = std::max(names, text_size(fonts().body, n.name).x);
  }
  names = std::min(names, ImGui::GetContentRegionAvail().x * 0.25f);
  units = std::min(units, ImGui::GetContentRegionAvail().x * 0.1f);
  const auto fixed = [](float width) { return std::pair(width + px(8), static_cast<int>(ImGuiTableColumnFlags_WidthFixed)); };
  const auto [name_width, name_flags] = fixed(std::max(names, text_size(fonts().small_bold, "number").x + px(12)));
  const auto [unit_width, unit_flags] = fixed(std::max(units, text_size(fonts().small_bold, "unit").x));
  const auto [known_width, known_flags] = fixed(text_size(fonts().body, "assumption").x);
  std::vector<Column<MachineRow>> columns{
      Column<MachineRow>{"of", false, words(&MachineNumber::part)}.wide(1.3f),
      Column<MachineRow>{"number", false, words(&MachineNumber::name)}.wide(name_width, name_flags),
      Column<MachineRow>{"value", false, words(&MachineNumber::value)}
          .wide(2.4f)
          .sorted_by([](const MachineRow& row) {
            const std::optional<double> number = leading_number(row.number->value);
            return std::tuple(!number, number.value_or(0), row.number->value);
          })
          .drawn([&](const MachineRow& row) { draw_number_value(session, ui, row); }),
      Column<MachineRow>{"unit", false, words(&MachineNumber::unit)}.wide(unit_width, unit_flags).drawn(cut(&MachineNumber::unit)),
      Column<MachineRow>{"known by", false, words(&MachineNumber::standing)}
          .wide(known_width, known_flags)
          .inked([](const MachineRow& row) { return standing_ink(row.number->standing); }),
      Column<MachineRow>{"source", false, words(&MachineNumber::source)}.wide(3.6f).drawn(cut(&MachineNumber::source))};
  TableLook look;
  look.flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings;
  look.size = ImVec2(0, ImGui::GetContentRegionAvail().y);
  look.none = "no number matches";
  draw_sorted_table("machine_table", look, columns, rows,
                    [](const MachineRow& row, std::size_t) { colored_text(theme().text, row.number->part); });
}

}  // namespace heddle::app
