#include "app/window/tabs/whole_kernel/sm_lanes.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/window/kit/probe.h"
#include "app/window/kit/widgets.h"
#include "core/answers/simulation.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr float kMostHeight = 66, kLeastLane = 0.5f, kMostLane = 6;

std::string tile_text(const PlacedTile& tile) {
  return fmt::format("a tile of {}, cycles {} to {}", count_of(tile.trips, "iteration"), grouped(tile.start), grouped(tile.end));
}

void draw_lanes(const BalanceRow& row, Cycle end, std::int64_t longest, std::int64_t sms) {
  const auto count = static_cast<float>(row.run.lanes.size());
  const float lane = std::clamp(px(kMostHeight) / count, kLeastLane, px(kMostLane)), width = ImGui::GetContentRegionAvail().x;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, lane * count});
  if (probe::on()) probe::last_item("simulate/lanes/" + row.name);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + width, at.y + lane * count}, theme().row_alternate);
  const auto x_of = [&](Cycle cycle) { return at.x + static_cast<float>(static_cast<double>(cycle) / static_cast<double>(end)) * width; };
  const float gap = lane > px(3) ? px(1) : 0;
  for (std::size_t place = 0; place < row.run.lanes.size(); ++place) {
    const float y = at.y + lane * static_cast<float>(place);
    // What would be drawn over the same pixels is drawn once: there may be thousands of short tiles.
    float drawn = at.x - 1;
    for (const PlacedTile& tile : row.run.lanes[place]) {
      const float x0 = x_of(tile.start), x1 = x_of(tile.end);
      if (x1 - drawn < 0.5f) continue;
      drawn = x1;
      const float part = static_cast<float>(tile.trips) / static_cast<float>(longest);
      draw.AddRectFilled({x0, y}, {std::max(x1 - px(0.5f), x0 + 0.5f), y + lane - gap},
                         with_alpha(role_color(UnitRole::Tensor).fill, 0.35f + 0.65f * part));
    }
  }
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto place = std::min(static_cast<std::size_t>(std::max(0.0f, (mouse.y - at.y) / lane)), row.run.lanes.size() - 1);
  const auto cycle = static_cast<Cycle>(static_cast<double>((mouse.x - at.x) / width) * static_cast<double>(end));
  const auto& tiles = row.run.lanes[place];
  const auto tile = std::find_if(tiles.begin(), tiles.end(), [&](const PlacedTile& t) { return t.start <= cycle && cycle < t.end; });
  tooltip(fmt::format("SM {}: {}", static_cast<std::int64_t>(place) % std::max<std::int64_t>(1, sms),
                      tile == tiles.end() ? "no tile" : tile_text(*tile)));
}

}  // namespace

void draw_sm_lanes(const BalanceStudy& study, std::int64_t sms) {
  Cycle end = 1;
  for (const BalanceRow& row : study.rows)
    if (row.run.fault.empty()) end = std::max(end, row.run.cycles);
  section("TILES ON SMS", "predicted");
  wrapped_text(fonts().small, theme().text,
               fmt::format("{} of {} to {} iterations on {}: at best {:.1f} iterations each.", count_of(study.tiles, "tile"),
                           study.shortest, study.longest, count_of(study.places, "place"), study.best));
  for (const BalanceRow& row : study.rows) {
    // CTAs that stay have the same tiles on the same places, a little earlier.
    if (row.run.lanes.empty() || row.persistent) continue;
    wrapped_text(
        fonts().small, theme().dim,
        fmt::format("{}: {} on the busiest place, {}", row.name, count_of(row.iterations, "iteration"), time_text(row.run.microseconds)));
    draw_lanes(row, end, std::max<std::int64_t>(1, study.longest), sms);
  }
  wrapped_text(fonts().small, theme().dim, "A lane for each place, a box for each tile, the stronger the more iterations it has.");
}

}  // namespace heddle::app
