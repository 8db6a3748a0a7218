#include "app/window/chart/three_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/triton_state.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/check/checker.h"
#include "core/library/triton_text.h"
#include "core/simulate/end_ops.h"

namespace heddle::app {
namespace {

std::string standing_of(const triton::Side& side) {
  if (side.whose == triton::Whose::Tritons) return "predicted";
  if (side.status == Status::Optimal) return "proved";
  return side.lower_bound > 0 ? fmt::format("at least {} proved", grouped(side.lower_bound)) : "not proved";
}

std::string title_of(const triton::Side& side, const triton::Comparison& all) {
  std::string text = fmt::format("{} · {} cycles per iteration", row_name(side.whose), grouped(side.cycles()));
  Cycle best = side.cycles();
  for (const triton::Side& other : all.sides)
    if (other.schedule) best = std::min(best, other.cycles());
  if (best > 0 && side.cycles() > best) {
    const double more = 100.0 * static_cast<double>(side.cycles() - best) / static_cast<double>(best);
    text += more < 99.95 ? fmt::format(" · {:.1f} % more", more) : fmt::format(" · {:.0f} % more", more);
  }
  text += fmt::format(" · {}, {} warps · {} KiB", count_of(side.groups, "group"), side.warps, kib(side.shared_bytes));
  if (side.tmem_columns > 0) text += fmt::format(" · {} columns", side.tmem_columns);
  return text + " · " + standing_of(side);
}

}  // namespace

std::optional<ThreeModel> build_three(const Session& session) {
  const Content& content = session.content();
  const ScheduleEntry* entry = content.entry();
  const TritonState::Known* known = session.triton().of(content);
  if (!entry || !known || !known->comparison || session.view().chart_view != ChartView::Three) return std::nullopt;
  if (!content.overrides.empty() || std::any_of(content.changes.begin(), content.changes.end(), [](const Change& c) { return c.enabled; }))
    return std::nullopt;
  ThreeModel model;
  std::optional<std::size_t> live;
  for (const triton::Side& side : known->comparison->sides) {
    if (!side.schedule || !side.problem || !side.kernel) continue;
    if (entry->name == row_name(side.whose) && content.triton()->reading() == triton::reading_of(side)) live = model.charts.size();
    ThreeChart& chart = model.charts.emplace_back();
    chart.whose = side.whose;
    chart.problem = side.problem;
    chart.schedule = std::shared_ptr<const Schedule>(known->comparison, &*side.schedule);
    chart.title = title_of(side, *known->comparison);
  }
  if (!live || model.charts.size() < 2) return std::nullopt;
  model.live = *live;
  for (std::size_t i = 0; i < model.charts.size(); ++i) {
    ThreeChart& chart = model.charts[i];
    if (i == model.live) continue;
    const triton::Side& side = known->comparison->of(chart.whose);
    const Verdict verdict = check(*chart.problem, *chart.schedule, side.constraints);
    const EndOps ends = end_ops({side.kernel, content.machine}, *chart.problem, *chart.schedule);
    GanttOptions options;
    options.mode = session.view().mode;
    options.iterations = session.iterations();
    options.verdict = &verdict;
    options.ends = &ends;
    chart.gantt = build_gantt(*chart.problem, *chart.schedule, options);
  }
  return model;
}

}  // namespace heddle::app
