#include "app/window/tabs/schedules/race_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/proposal_commands.h"
#include "app/session/run_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/table.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/gpu_task_line.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/ui_state.h"
#include "core/answers/race_table.h"
#include "core/base/text_style.h"
#include "core/formats/schedule_json.h"

namespace heddle::app {
namespace {

const Race* last_race(const Session& session) {
  const auto& outcome = session.runs().race().answer();
  return outcome && outcome->race ? &outcome->race->race : nullptr;
}

/// Why its winner is no schedule of what is open; empty: it is one.
std::string why_no_winner(const Session& session, const Race& race) {
  const Content& content = session.content();
  if (!race.winner()) return "no program was timed";
  const bool same = content.problem && content.problem->kernel == race.kernel && content.problem->params == race.params;
  return same ? "" : "this is a race of another problem";
}

void draw_race_bar(const Session& session, UiState& ui) {
  constexpr float kHeight = 26;
  if (session.runs().race().active()) {
    if (button("race/cancel", "Cancel the race", ButtonKind::Plain, {}, {0, px(kHeight)})) ui.commands.push(CancelRace{});
  } else {
    const std::string reason = session.runs().why_no_run();
    if (button("race/start", "Race", ButtonKind::Primary, reason, {0, px(kHeight)})) ui.commands.push(StartRace{});
    if (ImGui::IsItemHovered() && reason.empty())
      tooltip("the shown schedule, hand schedules, heuristics and the best programs by the model run in turn until ranks are settled");
  }
  if (const Race* race = last_race(session)) {
    same_line_if_room(button_width("Winner as B"));
    if (button("race/winner", "Winner as B", ButtonKind::Plain, why_no_winner(session, *race), {0, px(kHeight)})) {
      const Racer& winner = *race->winner();
      if (Result<Schedule> schedule = parse_schedule(winner.schedule_text, "race", *session.content().problem))
        ui.commands.push(AdoptSchedule{*std::move(schedule), "fastest: " + printable(winner.name), true});
    }
  }
  same_line_if_room(button_width("Copy as command"));
  copy_command_button("race/command", session, ui, race_command(session), {0, px(kHeight)});
}

void draw_race_state(const Session& session) {
  draw_gpu_task_line(
      session, session.runs().race(),
      {"race/state", "Not raced", ". The command runs where there is one, and a host that ssh reaches will do: the Runs tab names it."});
}

auto race_field(std::string RaceRow::*text) {
  return [text](const RaceRow& row) { return row.*text; };
}

std::vector<Column<RaceRow>> race_columns() {
  using Row = RaceRow;
  std::vector<Column<Row>> columns{
      Column<Row>{"rank", true, race_field(&Row::rank)}.wide(0.5f),
      Column<Row>{"program", false, race_field(&Row::program)}.wide(2.2f),
      Column<Row>{"model", true, race_field(&Row::model), {}, "period by the model, cycles"}.wide(0.9f),
      Column<Row>{"cycles", true, race_field(&Row::cycles), {}, "measured, of an iteration of the steady loop"}.wide(0.9f),
      Column<Row>{"cold us", true, race_field(&Row::cold_us), {}, "of a launch after a rest"}.wide(0.9f),
      Column<Row>{"sustained us", true, race_field(&Row::sustained_us), {}, "of a launch without a pause"}.wide(1.1f),
      Column<Row>{"before the next", false, race_field(&Row::settled)}.wide(1.1f),
      Column<Row>{"left out", false, race_field(&Row::left_out)}.wide(2.0f)};
  for (auto& column : columns)
    if (!column.number)
      column.draw = [text = column.text](const Row& row) {
        const std::string shown = fitted(fonts().small, text(row), ImGui::GetContentRegionAvail().x);
        colored_text(row.left_out.empty() ? theme().text : theme().dim, shown);
        if (shown != text(row) && ImGui::IsItemHovered()) tooltip(text(row));
      };
  return columns;
}

}  // namespace

void draw_race_view(const Session& session, UiState& ui) {
  draw_race_bar(session, ui);
  draw_race_state(session);
  const Race* race = last_race(session);
  if (!race) {
    if (session.runs().race().active()) return;
    wrapped_text(fonts().body, theme().text, "Which program does the GPU run fastest?");
    wrapped_text(fonts().small, theme().dim,
                 "Programs are compiled first and verified, then timed in turn, forth and back, until the order of each two neighbours is "
                 "settled or time is up.");
    return;
  }
  const std::string where = race->device + (race->host.empty() ? "" : " at " + race->host);
  const std::string head = fmt::format("{} on {} · {} · {}", printable(race->kernel), printable(where.empty() ? race->machine : where),
                                       rounds_text(*race), correlation_text(*race));
  colored_text(race->settled ? theme().text : theme().warning, fitted(fonts().body, drawable(head), ImGui::GetContentRegionAvail().x));
  if (probe::on()) probe::last_item("race/head");
  if (ImGui::IsItemHovered()) tooltip(drawable(head));
  std::vector<RaceRow> rows = race_rows(*race);
  const std::vector<Column<RaceRow>> columns = race_columns();
  TableLook look;
  look.flags = ImGuiTableFlags_SizingStretchProp | ImGuiTableFlags_NoSavedSettings | ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY;
  look.size = ImVec2(0, ImGui::GetContentRegionAvail().y);
  draw_sorted_table("race", look, columns, rows, [&](const RaceRow& row, std::size_t) {
    cell_text(row.rank, true, row.left_out.empty() ? theme().text : theme().dim);
    if (probe::on()) probe::last_item("race/row/" + race->racers[row.racer].name);
  });
}

}  // namespace heddle::app
