// The picture is drawn on a grid of characters, both axes to scale.
#include "core/answers/pareto_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"

namespace heddle {
namespace {

constexpr Resource kAll[] = {Resource::Warps, Resource::Registers, Resource::Smem, Resource::Tmem, Resource::Stages};

bool is_against(const Pareto& front, Resource resource) {
  return std::find(front.against.begin(), front.against.end(), resource) != front.against.end();
}

std::string amounts(const Pareto& front, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != kNoCap) text += (text.empty() ? "" : " and ") + amount_text(values[i], front.against[i]);
  return text;
}

const char* proved(const Pareto& front) { return front.from_file ? "the file says proved" : "proved"; }

std::string standing(const Pareto& front, const ParetoStep& step) {
  if (step.status == Status::Optimal) return proved(front);
  if (step.schedule->ii == step.lower_bound) return "II proved, least resources not";
  return fmt::format("not proved, II at least {}", step.lower_bound);
}

/// What the steps without a point say.
std::string endings(const Pareto& front) {
  std::string text;
  for (const ParetoStep& step : front.steps) {
    if (std::find(step.caps.begin(), step.caps.end(), 0) != step.caps.end()) continue;  // nobody expects anything of nothing
    const std::string caps = amounts(front, step.caps);
    const std::string within = caps.empty() ? "without caps" : "at most " + caps;
    if (step.status == Status::Infeasible)
      text += fmt::format("  {}: impossible, {}: {}\n", within, proved(front), printable(step.explanation));
    else if (!step.schedule && settled(front, step))
      text += fmt::format("  {}: II above {}, beyond {} times the least; not gone into\n", within, step.lower_bound - 1, front.max_ii_factor);
    else if (!step.schedule)
      text += fmt::format("  {}: nothing found in time, II at least {}\n", within, step.lower_bound);
  }
  return text;
}

}  // namespace

std::string pareto_headline(const Pareto& front) {
  std::string names;
  for (const Resource r : front.against) names += (names.empty() ? "" : " and ") + std::string(to_string(r));
  const std::vector<std::size_t> points = front_points(front);
  const auto open = std::count_if(points.begin(), points.end(), [&](std::size_t i) { return front.steps[i].status != Status::Optimal; });
  std::string state = front.from_file ? "complete; the file says proved" : "complete and proved";
  if (!front.complete) state = front.cancelled ? "interrupted" : front.timed_out ? "time is up" : "partial";
  if (open > 0) state += fmt::format(", {} not proved", open);
  if (front.complete && points.empty()) state = std::string("no schedule exists, ") + proved(front);
  return fmt::format("front of II against {}: {} point{}, {}", names, points.size(), points.size() == 1 ? "" : "s", state);
}

std::string point_sentence(const Pareto& front, const ParetoStep& step) {
  return fmt::format("II {} with {}, {}", step.schedule->ii, amounts(front, step.values), standing(front, step));
}

std::string staircase(const Pareto& front, const TextStyle& style) {
  const std::vector<std::size_t> points = front_points(front);
  if (front.against.size() != 1 || points.size() < 2) return {};
  const auto amount = [&](std::size_t p) { return front.steps[points[p]].values[0]; };
  const auto ii = [&](std::size_t p) { return front.steps[points[p]].schedule->ii; };
  const std::size_t last = points.size() - 1;  // the greatest II, the least of the resource
  const int width = std::clamp(style.width - 16, 24, 64), height = 10;
  const auto column = [&](std::int64_t value) {
    return static_cast<std::size_t>((value - amount(last)) * (width - 1) / std::max<std::int64_t>(1, amount(0) - amount(last)));
  };
  const auto row = [&](Cycle value) { return static_cast<std::size_t>((ii(last) - value) * (height - 1) / std::max<Cycle>(1, ii(last) - ii(0))); };
  const char* glyphs[] = {" ", style.utf8 ? "─" : "-", style.utf8 ? "│" : "|", style.utf8 ? "●" : "o", style.utf8 ? "○" : "?"};
  std::vector<std::vector<int>> grid(static_cast<std::size_t>(height), std::vector<int>(static_cast<std::size_t>(width) + 2, 0));
  for (std::size_t p = 0; p <= last; ++p) {
    const std::size_t from = column(amount(p)), to = p == 0 ? grid[0].size() - 1 : column(amount(p - 1));
    for (std::size_t c = from; c <= to; ++c) grid[row(ii(p))][c] = 1;
    if (p > 0)
      for (std::size_t r = row(ii(p)) + 1; r < row(ii(p - 1)); ++r) grid[r][to] = 2;
  }
  for (std::size_t p = 0; p <= last; ++p)
    grid[row(ii(p))][column(amount(p))] = front.steps[points[p]].status == Status::Optimal ? 3 : 4;
  std::string text;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    std::string label = r == 0 ? "II" : "";
    for (std::size_t p = 0; p <= last; ++p)
      if (row(ii(p)) == r) label = std::to_string(ii(p));
    text += fmt::format("  {:>10} {}", label, glyphs[2]);
    std::string line;
    for (const int cell : grid[r]) line += glyphs[cell];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string low = std::to_string(amount(last)), high = std::to_string(amount(0));
  const int gap = std::max(1, width - static_cast<int>(low.size()) - static_cast<int>(high.size()));
  text += fmt::format("  {:>10}  {}{:{}}{}\n", "", low, "", gap, amount_text(amount(0), front.against[0]));
  return text;
}

std::string pareto_summary(const Problem& problem, const Pareto& front, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), pareto_headline(front));
  const std::vector<std::size_t> points = front_points(front);
  if (!points.empty()) {
    std::vector<TextColumn> columns{{"II", true}};
    for (const Resource r : front.against) columns.push_back({to_string(r), true});
    columns.push_back({"proof"});
    for (const Resource r : kAll)
      if (!is_against(front, r)) columns.push_back({to_string(r), true});
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t i : points) {
      const ParetoStep& step = front.steps[i];
      std::vector<std::string> cells{std::to_string(step.schedule->ii)};
      for (const std::int64_t value : step.values) cells.push_back(std::to_string(value));
      cells.push_back(standing(front, step));
      for (const Resource r : kAll)
        if (!is_against(front, r)) cells.push_back(std::to_string(resource_value(problem, *step.schedule, r)));
      rows.push_back(std::move(cells));
    }
    text += "\n" + text_table(columns, rows);
    text += "  right of the proof: what the schedule of that point takes besides; not part of the front\n";
  }
  if (const std::string ends = endings(front); !ends.empty()) text += "\nwhere it ends\n" + ends;
  if (const std::string picture = staircase(front, style); !picture.empty()) text += "\n" + picture;
  return text;
}

}  // namespace heddle
