// The chosen row of the truth tab: what was measured, what is predicted, and what that time is made of.
#include <fmt/format.h>

#include "app/session/commands.h"
#include "app/session/truth_state.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/question_bar.h"
#include "app/window/parts/time_bar.h"
#include "app/window/parts/ui_state.h"
#include "app/window/tabs/truth/truth_tab_state.h"
#include "app/window/tabs/truth/truth_views.h"
#include "core/answers/simulation.h"
#include "core/base/text_style.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

void draw_time(const TruthState& truth, const ValidatedRow& row) {
  const std::vector<TimePart>* parts = truth.parts();
  section("WHAT THE TIME IS MADE OF", "predicted " + time_text(row.prediction.microseconds));
  if (!parts) return wrapped_text(fonts().small, theme().dim, "It is being worked out.");
  const TimeBar bar = build_bar(row, *parts);
  if (bar.pieces.empty()) return wrapped_text(fonts().small, theme().dim, "Its parts are not known.");
  draw_time_bar("truth", bar);
}

void draw_facts(const TruthAnswer& answer, const TruthRow& row) {
  section("ROW");
  const Color ink = theme().text;
  const auto fact = [&](const char* label, const std::string& value) {
    if (!value.empty()) fact_line(label, drawable(value), ink);
  };
  fact("kind", row.kind);
  fact("implementation", row.implementation);
  fact("machine", row.machine);
  if (const auto& model = answer.models[row.index]) {
    const Inputs& inputs = model->inputs;
    fact("stands for it", fmt::format("{}, {} SMs", printable(inputs.machine().name), inputs.machine().sm_count));
    fact("kernel", printable(inputs.kernel().name));
    for (const auto& [name, value] : inputs.instance.spec().params) fact("", fmt::format("{} = {}", printable(name), value));
    fact("schedule", inputs.schedule_file.empty() ? "the solver's" : printable(name_in_library(Shelf::Schedules, inputs.schedule_file)));
  }
  fact("clock", row.clock);
  fact("busiest", row.busiest);
  fact("fitted to it", row.fitted);
}

}  // namespace

void draw_truth_row(const Session& session, UiState& ui) {
  const TruthTabState& s = ui.of<TruthTabState>();
  const TruthState& truth = session.truth();
  if (!truth.answer() || !truth.chosen() || *truth.chosen() >= s.model.rows.size())
    return wrapped_text(fonts().small, theme().dim,
                        "Click a point or a row: what was measured and predicted, and what the predicted time is made of. Page Up and Page "
                        "Down walk over the points of the plot that was clicked last, Enter chooses, once more opens.");
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {px(8), px(3)});
  const TruthRow& row = s.model.rows[*truth.chosen()];
  const ValidatedRow& validated = truth.answer()->validation.rows[row.index];
  const std::string name = drawable(fmt::format("{}: {} on {}", row.id, row.implementation, row.machine));
  wrapped_text(fonts().bold, theme().text, name);
  if (row.has_point())
    wrapped_text(fonts().body, row.ratio < 0.9 || row.ratio > 1.1 ? theme().warning : theme().good, speeds_text(row));
  else
    wrapped_text(fonts().small, theme().dim,
                 drawable(fmt::format("measured {:.0f} TFLOP/s; not predicted: {}", row.measured, row.why_not)));
  const float height = px(26);
  if (button("truth/open", "Open", ButtonKind::Plain, row.has_point() ? "" : "nothing here stands for it", {0, height}))
    ui.commands.push(OpenPublished{row.index});
  if (ImGui::IsItemHovered() && row.has_point()) tooltip("its kernel, machine, parameters and schedule, as a document");
  if (row.has_point()) {
    ImGui::SameLine();
    const std::string line = simulate_line(*truth.answer(), row.index);
    if (button("truth/simulate", "Copy as command", ButtonKind::Plain, {}, {0, height})) ui.commands.push(copy_text(line));
    if (ImGui::IsItemHovered()) tooltip(line);
    draw_time(truth, validated);
  }
  draw_facts(*truth.answer(), row);
  ImGui::PopStyleVar();
}

}  // namespace heddle::app
