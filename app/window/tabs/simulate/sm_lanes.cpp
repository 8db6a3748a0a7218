#include "app/window/tabs/simulate/sm_lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kMostHeight = 180, kLeastLane = 1, kMostLane = 12;

}  // namespace

void draw_sm_lanes(const KernelRun& run, std::int64_t sms) {
  if (run.lanes.empty() || run.cycles <= 0) return;
  section("TILES ON SMS", "predicted");
  const auto count = static_cast<float>(run.lanes.size());
  const float lane = std::clamp(px(kMostHeight) / count, kLeastLane, px(kMostLane)), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, lane * count});
  if (probe::on()) probe::last_item("simulate/lanes");
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + width, at.y + lane * count}, theme().row_alternate);
  Cycle end = 1;
  std::int64_t longest = 1;
  for (const auto& tiles : run.lanes) {
    if (!tiles.empty()) end = std::max(end, tiles.back().end);
    for (const PlacedTile& tile : tiles) longest = std::max(longest, tile.trips);
  }
  const auto x_of = [&](Cycle cycle) { return at.x + static_cast<float>(static_cast<double>(cycle) / static_cast<double>(end)) * width; };
  const float gap = lane > px(3) ? px(1) : 0;
  for (std::size_t place = 0; place < run.lanes.size(); ++place) {
    const float y = at.y + lane * static_cast<float>(place);
    // What would be drawn over the same pixels is drawn once: there may be thousands of short tiles.
    float drawn = at.x - 1;
    for (const PlacedTile& tile : run.lanes[place]) {
      const float x0 = x_of(tile.start), x1 = x_of(tile.end);
      if (x1 - drawn < 0.5f) continue;
      drawn = x1;
      const float part = static_cast<float>(tile.trips) / static_cast<float>(longest);
      draw.AddRectFilled({x0, y}, {std::max(x1 - px(0.5f), x0 + 0.5f), y + lane - gap},
                         with_alpha(role_color(UnitRole::Tensor).fill, 0.35f + 0.65f * part));
    }
  }
  if (ImGui::IsItemHovered()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto place = std::min(static_cast<std::size_t>(std::max(0.0f, (mouse.y - at.y) / lane)), run.lanes.size() - 1);
    const auto cycle = static_cast<Cycle>(static_cast<double>((mouse.x - at.x) / width) * static_cast<double>(end));
    const auto& tiles = run.lanes[place];
    const auto tile = std::find_if(tiles.begin(), tiles.end(), [&](const PlacedTile& t) { return t.start <= cycle && cycle < t.end; });
    const std::string where = fmt::format("SM {}", static_cast<std::int64_t>(place) % std::max<std::int64_t>(1, sms));
    tooltip(tile == tiles.end() ? where + ": no tile"
                                : fmt::format("{}: a tile of {}, cycles {} to {}", where, count_of(tile->trips, "iteration"),
                                              grouped(tile->start), grouped(tile->end)));
  }
  wrapped_text(fonts().small, theme().dim,
               fmt::format("A lane for each of {} places, a box for each tile, darker the more iterations it has.", run.lanes.size()));
}

}  // namespace heddle::app
