// The measured stretch of the chart at the top of the inspector: how busy every unit is in it, and what each warp group does meanwhile.
#include <fmt/format.h>

#include "app/session/commands.h"
#include "app/session/view_commands.h"
#include "app/window/frame/panels.h"
#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {

void draw_range_panel(const RangeStatistics& range, UiState& ui) {
  section("RANGE", fmt::format("{} cycles", grouped(range.length())));
  if (probe::on()) probe::last_item("inspector/range");
  fact_line("cycles", fmt::format("{} to {}", grouped(range.begin), grouped(range.end)), theme().text);
  for (const UnitStatistics& unit : range.units)
    fact_line(unit.label + " busy", fmt::format("{} · {:.0f} %", grouped(unit.busy), 100 * unit.share), theme().text);
  for (const GroupStatistics& group : range.groups) {
    ImGui::Dummy(ImVec2(0, px(2)));
    wrapped_text(fonts().small_bold, theme().text, group.label);
    for (std::size_t k = 0; k < kStreamTimes; ++k) {
      if (group.times[k] == 0) continue;
      const auto what = static_cast<StreamTime>(k);
      const bool waits = what != StreamTime::Issuing && what != StreamTime::Spare;
      fact_line(fmt::format("{}{}", waits ? "waits: " : "", to_string(what)),
                fmt::format("{} · {}", grouped(group.times[k]), share_text(group.times[k], range.length())), theme().text);
      if (ImGui::IsItemHovered()) tooltip(about(what));
    }
  }
  if (button("inspector/range/copy", "Copy", ButtonKind::Plain, {}, {px(70), px(24)})) ui.commands.push(copy_text(range_text(range)));
  if (ImGui::IsItemHovered()) tooltip("these numbers as text; of the schedule as it is drawn");
}

}  // namespace heddle::app
