// The right pane: everything about the selected op, or about the schedule when none is selected.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/window/frame/panels.h"
#include "app/window/frame/source_pane.h"
#include "app/window/frame/triton_pane.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "app/window/parts/what_if_slider.h"
#include "core/analysis/usage_curve.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

/// Names of objectives are those of files; people read these.
std::string objective_word(const std::string& name) {
  return name == "ii" ? "II" : name == "smem" ? "shared memory" : name == "tmem" ? "tensor memory" : name;
}

std::string ascii_or(const char* pretty, const char* plain) { return fonts().built_in ? plain : pretty; }

void draw_title(const InspectorModel& model) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float line = text_size(fonts().title, "X").y;
  const float pill = model.unit.empty() ? 0 : pill_width(fonts().small_bold, model.unit);
  const std::string name = fitted(fonts().title, model.name, width - pill - px(10));
  paint_text(fonts().title, at, theme().text, name);
  if (pill > 0) {
    const float x = at.x + text_size(fonts().title, name).x + px(10), high = px(18), y = at.y + (line - high) / 2;
    const RoleColor color = role_color(model.role);
    ImGui::GetWindowDrawList()->AddRectFilled(ImVec2(x, y), ImVec2(x + pill, y + high), color.fill, high / 2);
    const ImVec2 size = text_size(fonts().small_bold, model.unit);
    paint_text(fonts().small_bold, ImVec2(x + px(8), y + (high - size.y) / 2), color.text, model.unit);
  }
  ImGui::Dummy(ImVec2(width, line));
  colored_text(theme().dim, model.kind + (model.group.empty() ? "" : " · " + model.group));
  ImGui::Dummy(ImVec2(0, px(2)));
}

/// A sentence that selects an op when clicked.
void draw_reason(const std::string& name, const InspectorReason& reason, UiState& ui) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  wrapped_text(fonts().small, theme().text, drawable(pretty(reason.sentence)));
  const ImVec2 end = ImGui::GetItemRectMax();
  ImGui::SetCursorScreenPos(at);
  ImGui::PushID(name.c_str());
  if (ImGui::InvisibleButton("reason", ImVec2(std::max(ImGui::GetContentRegionAvail().x, 1.0f), end.y - at.y)) && reason.other.valid())
    ui.commands.push(SelectOp{reason.other});
  ImGui::PopID();
  if (ImGui::IsItemHovered() && reason.other.valid()) {
    ImGui::GetWindowDrawList()->AddLine(ImVec2(at.x, end.y), ImVec2(end.x, end.y), theme().accent);
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  if (probe::on()) probe::last_item(name);
}

void draw_links(const Session& session, const InspectorModel& model, UiState& ui) {
  if (model.links.empty()) return;
  const Problem& problem = *session.content().problem;
  section("DEPENDENCES", "spare");
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), 0));
  for (std::size_t i = 0; i < model.links.size(); ++i) {
    const InspectorLink& edge = model.links[i];
    const std::string name = fmt::format("inspector/link/{}", i);
    const RowArea row = pick_row(name.c_str(), false, px(21));
    const std::string arrow = edge.incoming ? ascii_or("← ", "< ") : ascii_or("→ ", "> ");
    std::string text = arrow + problem.op(edge.other).name;
    if (edge.distance > 0) text += fmt::format(" [{}{}]", edge.incoming ? "-" : "+", edge.distance);
    const std::string slack = !edge.slack ? "" : *edge.slack == 0 ? "tight" : fmt::format("{:+}", *edge.slack);
    const Color ink = !edge.slack ? theme().dim : *edge.slack < 0 ? theme().bad : *edge.slack == 0 ? theme().warning : theme().dim;
    paint_text_right(fonts().mono_small, row.max.x - px(4), row.min.y + px(4), ink, slack);
    const float room = row.max.x - px(14) - text_size(fonts().mono_small, slack).x - row.min.x;
    const std::string left = fitted(fonts().mono_small, text, room);
    paint_text(fonts().mono_small, ImVec2(row.min.x + px(4), row.min.y + px(4)), theme().text, left);
    if (row.hovered)
      tooltip(fmt::format("{}latency {} cycles{}", edge.value.empty() ? "order only, " : edge.value + ", ", grouped(edge.latency),
                          edge.distance > 0 ? fmt::format(", {} later", count_of(edge.distance, "iteration")) : ""));
    if (row.clicked) ui.commands.push(SelectOp{edge.other});
  }
  ImGui::PopStyleVar();
}

void draw_op(const Session& session, const InspectorModel& model, UiState& ui) {
  draw_title(model);
  draw_dumped_op(session, model.name, ui);
  draw_triton_op(session, model.name, ui);
  for (const InspectorFact& fact : model.facts) fact_line(fact.label, fact.value, fact.warn ? theme().bad : theme().text);
  if (model.layout) {
    if (link("inspector/layout", "Show its layout")) ui.commands.push(show_tab(BottomTab::Layout));
    if (ImGui::IsItemHovered()) tooltip("how the tile lies in threads and banks  " + keys_of("show_layout"));
  }
  if (!model.source.empty()) wrapped_text(fonts().small, theme().faint, drawable("latency: " + model.source));
  if (!model.violations.empty()) {
    section("VIOLATIONS");
    for (const std::string& sentence : model.violations) wrapped_text(fonts().small, theme().bad, drawable(pretty(sentence)));
  }
  if (!model.earlier.empty() || !model.later.empty() || !model.range.empty()) section("WHY HERE");
  for (const std::string& sentence : model.range) wrapped_text(fonts().small, theme().text, sentence);
  std::size_t i = 0;
  if (!model.earlier.empty()) wrapped_text(fonts().small, theme().dim, "not earlier, because");
  for (const InspectorReason& reason : model.earlier) draw_reason(fmt::format("inspector/why/{}", i++), reason, ui);
  if (!model.later.empty()) wrapped_text(fonts().small, theme().dim, "not later, because");
  for (const InspectorReason& reason : model.later) draw_reason(fmt::format("inspector/why/{}", i++), reason, ui);
  draw_what_if_section(session, ui);
  draw_links(session, model, ui);
}

void draw_schedule(const Session& session) {
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  if (!entry) {
    section(content.problem ? "PROBLEM" : "NOTHING TO INSPECT");
    if (!content.problem) {
      wrapped_text(fonts().small, theme().dim, "Choose a machine that can run this kernel: click the names in the toolbar.");
      return;
    }
    const Bounds& bounds = *content.bounds;
    fact_line("ops", grouped(static_cast<std::int64_t>(content.problem->ops.size())), theme().text);
    fact_line("dependences", grouped(static_cast<std::int64_t>(content.problem->edges.size())), theme().text);
    fact_line("resource bound", grouped(bounds.res_mii), theme().text);
    fact_line("recurrence bound", grouped(bounds.rec_mii), theme().text);
    fact_line("issue bound", grouped(bounds.issue_mii), theme().text);
    ImGui::Dummy(ImVec2(0, px(4)));
    wrapped_text(fonts().small, theme().dim, drawable(pretty(bounds.sentence)));
    return;
  }
  const Problem& problem = *content.problem;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  paint_text(fonts().title, at, theme().text, fitted(fonts().title, entry->name, ImGui::GetContentRegionAvail().x));
  ImGui::Dummy(ImVec2(px(10), text_size(fonts().title, "X").y));
  std::string origin = entry->schedule.provenance.kind;
  if (!entry->schedule.provenance.author.empty()) origin += " · " + entry->schedule.provenance.author;
  wrapped_text(fonts().small, theme().dim, origin);
  ImGui::Dummy(ImVec2(0, px(2)));
  if (entry->stored) wrapped_text(fonts().small, theme().text, drawable(pretty(entry->stored->sentence)));
  fact_line("II", grouped(entry->schedule.ii), theme().text);
  fact_line("sustainable period", entry->period.deadlock ? "deadlock" : grouped(entry->period.cycles()),
            entry->period.deadlock || entry->period.cycles() > entry->schedule.ii ? theme().bad : theme().text);
  fact_line("iteration length", grouped(schedule_length(problem, entry->schedule)), theme().text);
  fact_line("stages", std::to_string(stage_count(entry->schedule)), theme().text);
  fact_line("warps", fmt::format("{} of {}", entry->usage.warps, problem.limits.warps_per_cta), theme().text);
  fact_line("shared memory", fmt::format("{} of {} KiB", kib(entry->usage.smem_bytes), kib(problem.limits.smem_bytes)), theme().text);
  if (entry->usage.smem_bytes > 0)
    fact_line("peak live", fmt::format("{} of {} KiB allocated", kib(peak(entry->usage.smem_live)), kib(entry->usage.smem_bytes)),
              theme().text);
  if (problem.limits.tmem_columns > 0)
    fact_line("tensor memory", fmt::format("{} of {} columns", entry->usage.tmem_columns, problem.limits.tmem_columns), theme().text);
  if (const WholeKernelModel whole = whole_kernel(session, *entry); whole.known()) {
    section("WHOLE KERNEL", "predicted");
    for (const WholeKernelModel::Fact& fact : whole.facts) fact_line(fact.label, fact.value, theme().text);
    wrapped_text(fonts().small, theme().dim, drawable(whole.trust));
  }
  const bool registers = counts_registers(problem);
  section("WARP GROUPS", registers ? "registers" : "");
  for (std::size_t g = 0; g < entry->schedule.groups.size(); ++g) {
    const ScheduleGroup& group = entry->schedule.groups[g];
    const int budget = group.registers > 0 ? group.registers : entry->usage.register_budget[g];
    fact_line(fmt::format("{} · {}", group.role, count_of(group.warps, "warp")),
              registers ? fmt::format("{} of {}", entry->usage.register_peak[g], budget) : "", theme().text);
  }
  bool any = false;
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    if (entry->schedule.depths[c] == 0) continue;
    if (!any) section("RINGS", "depth × size");
    any = true;
    const Channel& channel = problem.channels[c];
    fact_line(channel.name,
              fmt::format("{} × {} {}", entry->schedule.depths[c], grouped(channel.size), channel.space == Space::Tmem ? "cols" : "B"),
              theme().text);
  }
  // Of an illegal schedule nothing is proved.
  const bool tell = !entry->objectives.empty() && entry->verdict.valid();
  if (tell) section("OBJECTIVES");
  if (tell)
    for (const ObjectiveValue& objective : entry->objectives) {
      if (objective.name == "tmem" && problem.limits.tmem_columns == 0) continue;
      if (objective.name == "registers" && !registers) continue;
      const std::string value = objective.name == "smem"   ? kib(objective.value) + " KiB"
                                : objective.name == "tmem" ? grouped(objective.value) + " columns"
                                                           : grouped(objective.value);
      fact_line(objective_word(objective.name), value + (objective.proved ? " proved" : " not proved"),
                objective.proved ? theme().good : theme().warning);
    }
  if (!entry->schedule.provenance.note.empty()) {
    section("NOTE");
    wrapped_text(fonts().small, theme().dim, entry->schedule.provenance.note);
  }
  ImGui::Dummy(ImVec2(0, px(6)));
  wrapped_text(fonts().small, theme().faint, "Click an op in the chart or the list to see why it is where it is.");
}

}  // namespace

void draw_inspector(const Session& session, const Models& models, UiState& ui) {
  ImGui::BeginChild("scroll", ImVec2(0, 0));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(px(8), px(5)));
  ImGui::Dummy(ImVec2(0, px(1)));
  if (models.range) draw_range_panel(*models.range, ui);
  if (models.inspector)
    draw_op(session, *models.inspector, ui);
  else if (session.content().triton() && !session.content().kernel)
    draw_triton_facts(session, ui);
  else
    draw_schedule(session);
  ImGui::PopStyleVar();
  ImGui::EndChild();
}

}  // namespace heddle::app
