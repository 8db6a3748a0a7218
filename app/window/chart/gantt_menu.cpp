// The menu of the right mouse button: what can be asked of the bar under it, then what can be done with the view.
#include <fmt/format.h>

#include <algorithm>

#include "app/platform/fonts.h"
#include "app/platform/imgui_compat.h"
#include "app/session/proposal.h"
#include "app/session/proposal_commands.h"
#include "app/window/chart/gantt_parts.h"
#include "app/window/chart/legal_band.h"
#include "app/window/chart/why_here.h"
#include "app/window/kit/actions.h"
#include "app/window/kit/probe.h"
#include "core/chart/gantt_facts.h"
#include "core/chart/gantt_model.h"

namespace heddle::app {
namespace {

bool item(const char* name, const std::string& label, const std::string& keys = {}, bool enabled = true) {
  const bool chosen = ImGui::MenuItem(label.c_str(), keys.c_str(), false, enabled);
  if (probe::on()) probe::last_item(std::string("chart_menu/") + name);
  return chosen;
}

bool submenu(const char* name, const char* label) {
  const bool open = ImGui::BeginMenu(label);
  if (probe::on()) probe::last_item(std::string("chart_menu/") + name);
  return open;
}

bool pinned(const ChartFrame& f, OpId op) {
  return std::any_of(f.overlay.constraints.begin(), f.overlay.constraints.end(),
                     [&](const UserConstraint& c) { return pins(c, f.problem.op(op).name); });
}

void group_menu(ChartFrame& f, OpId op) {
  const GroupId own = f.schedule.group(op);
  const Cycle start = f.schedule.start(op);
  const auto role = [&](GroupId g) { return f.schedule.groups[g.index()].role; };
  if (item("stay", "Keep in " + role(own))) f.commands.push(MoveOp{op, start, own, false});
  for (std::size_t g = 0; g < f.schedule.groups.size(); ++g)
    if (GroupId(g) != own && item(fmt::format("group/{}", g).c_str(), "Move to " + role(GroupId(g))))
      f.commands.push(MoveOp{op, start, GroupId(g), false});
  if (item("keep_out", "Keep out of " + role(own))) {
    UserConstraint c;
    c.kind = ConstraintKind::NotInGroup;
    c.ops = {f.problem.op(op).name};
    c.low = static_cast<std::int64_t>(own.index());
    f.commands.push(AddConstraint{c, true, true});
  }
}

void latency_menu(ChartFrame& f, OpId op) {
  if (ImGui::IsWindowAppearing()) f.view.menu_latency = static_cast<int>(std::min<Cycle>(f.problem.op(op).latency, 1 << 30));
  ImGui::SetNextItemWidth(px(110));
  const bool entered = ImGui::InputInt("cycles", &f.view.menu_latency, 1, 16, ImGuiInputTextFlags_EnterReturnsTrue);
  if (probe::on()) probe::last_item("chart_menu/latency_value");
  if (!item("latency_set", "Ask what if") && !entered) return;
  Change change;
  change.op = f.problem.op(op).name;
  change.value = std::clamp(f.view.menu_latency, 0, 1 << 30);
  f.commands.push(SetChange{change});
  f.commands.push(show_tab(BottomTab::WhatIf));
  ImGui::CloseCurrentPopup();
}

void bar_menu(ChartFrame& f, std::size_t index) {
  const GanttBar& bar = f.model.bars[index];
  const OpId op = bar.op;
  const Cycle start = f.schedule.start(op);
  ImGui::TextDisabled("%s · start %s", bar.label.c_str(), grouped(start).c_str());
  ImGui::Separator();
  if (f.overlay.editable) {
    const bool has_pin = pinned(f, op);
    if (item("pin", has_pin ? "Pin to where it is now" : "Pin here", has_pin ? "" : keys_of("pin"))) f.commands.push(PinOps{{op}, true});
    if (item("unpin", "Unpin", has_pin ? keys_of("pin") : "", has_pin)) f.commands.push(PinOps{{op}, false});
    const LegalBand& band = f.view.menu_band;
    const char* sure = band.exact ? "" : ", by longest paths";
    const bool known = band.earliest && band.latest;
    if (item("earliest", known ? fmt::format("Earliest start: {}{}", grouped(*band.earliest), sure) : "Earliest start", {},
             known && *band.earliest < start))
      f.commands.push(MoveOp{op, *band.earliest, std::nullopt, true});
    if (item("latest", known ? fmt::format("Latest start: {}{}", grouped(*band.latest), sure) : "Latest start", {},
             known && *band.latest > start))
      f.commands.push(MoveOp{op, *band.latest, std::nullopt, true});
    if (submenu("group", "Warp group")) {
      group_menu(f, op);
      ImGui::EndMenu();
    }
    if (submenu("latency", "Set latency (what if)")) {
      latency_menu(f, op);
      ImGui::EndMenu();
    }
    ImGui::Separator();
  }
  if (item("why", "Why here?")) {
    select_bar(f, index, false);
    f.commands.push(show_highlight(why_here(f.problem, f.schedule, f.overlay.constraints, op)));
  }
  if (item("graph", "Show in graph")) {
    select_bar(f, index, false);
    f.commands.push(show_tab(BottomTab::Graph));
  }
  if (item("cuda", "Show in CUDA")) {
    select_bar(f, index, false);
    f.commands.push(show_tab(BottomTab::Cuda));
  }
  if (item("layout", "Show layout", keys_of("show_layout"), shared_memory_plan(f.problem, op) != nullptr)) {
    select_bar(f, index, false);
    f.commands.push(show_tab(BottomTab::Layout));
  }
  if (item("zoom", "Zoom to it")) zoom_to_bar(f.view, f.model, index);
  if (item("select", "Select it")) select_bar(f, index, false);
  if (item("copy", "Copy name")) f.commands.push(copy_text(bar.label));
  if (item("copy_start", "Copy start")) f.commands.push(copy_text(fmt::format("{}", start)));
  ImGui::Separator();
}

}  // namespace

void draw_context_menu(ChartFrame& f) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {px(8), px(8)});
  if (ImGui::BeginPopup("##chart menu")) {
    // The menu stays with the bar that was pressed, wherever the mouse goes.
    if (f.view.pressed) {
      if (ImGui::IsWindowAppearing()) {
        const SlackRanges* slack = f.overlay.slack ? &*f.overlay.slack : nullptr;
        f.view.menu_band = !f.overlay.editable
                               ? LegalBand{}
                               : legal_band(f.problem, f.overlay.constraints, f.schedule, f.model.bars[*f.view.pressed].op, slack);
      }
      bar_menu(f, *f.view.pressed);
    }
    if (f.view.range) {
      if (item("zoom_range", "Zoom to range"))
        go_to(f.view, f.model, {static_cast<double>(f.view.range->begin), static_cast<double>(f.view.range->end)});
      if (item("copy_range", "Copy range")) f.commands.push(copy_text(describe(*f.view.range)));
      if (item("clear_range", "Clear range", "Esc")) f.view.range.reset();
      ImGui::Separator();
    }
    if (item("fit", "Fit all", keys_of("fit"))) fit_all(f.view, f.model);
    if (ImGui::MenuItem("Undo zoom", keys_of("zoom_back").c_str(), false, !f.view.zoom_stack.empty())) undo_zoom(f.view, f.model);
    if (ImGui::MenuItem("What limits II", keys_of("critical").c_str(), !f.overlay.critical.empty())) f.commands.push(toggle_critical());
    if (ImGui::MenuItem("How far ops can move", keys_of("whiskers").c_str(), f.overlay.whiskers)) f.commands.push(ToggleWhiskers{});
    if (ImGui::MenuItem("Barriers and phases", keys_of("barriers").c_str(), f.overlay.barriers)) f.commands.push(toggle_barriers());
    if (ImGui::MenuItem("Queues", keys_of("queues").c_str(), f.overlay.queues)) f.commands.push(toggle_queues());
    if (ImGui::MenuItem("Tensor memory", keys_of("tensor_memory").c_str(), f.overlay.tensor)) f.commands.push(toggle_tensor());
    ImGui::MenuItem("All dependences", nullptr, &f.view.all_arrows);
    if (!f.overlay.flags.empty() && ImGui::MenuItem("Remove flags")) f.commands.push(ClearFlags{});
    ImGui::Separator();
    for (const GanttMode mode : kGanttModes)
      if (ImGui::MenuItem(to_string(mode), nullptr, f.model.mode == mode)) f.commands.push(SetMode{mode});
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar();
}

}  // namespace heddle::app
