#include "app/window/tabs/pareto/pareto_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "core/answers/layout_choice.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr Resource kAll[] = {Resource::Smem, Resource::Registers, Resource::Warps, Resource::Stages, Resource::Tmem};

std::string standing_of(const ParetoStep& step) {
  if (step.status == Status::Optimal) return "proved";
  if (step.schedule->ii == step.lower_bound) return "II proved, least resources not";
  return fmt::format("not proved, II ≥ {}", grouped(step.lower_bound));
}

ParetoRow row_without_point(const Pareto& front, std::size_t i) {
  const ParetoStep& step = front.steps[i];
  ParetoRow row;
  row.step = i;
  row.kind = step.status == Status::Infeasible ? ParetoRow::Kind::Impossible : ParetoRow::Kind::BoundOnly;
  row.amounts = step.caps;
  row.ii = step.lower_bound;
  row.reason = step.explanation;
  if (row.kind == ParetoRow::Kind::Impossible)
    row.standing = "impossible, proved";
  else if (settled(front, step))
    row.standing = fmt::format("II above {} times the least, not gone into", front.max_ii_factor);
  else
    row.standing = fmt::format("nothing found in time, II ≥ {}", grouped(step.lower_bound));
  // A bound of what is capped nowhere has no place on an axis.
  if (std::any_of(row.amounts.begin(), row.amounts.end(), [](std::int64_t a) { return a == kNoCap; }) && front.against.size() == 1)
    row.amounts.clear();
  return row;
}

std::string headline_of(const Pareto& front, const ParetoModel& model) {
  std::string names;
  for (const Resource r : front.against) names += (names.empty() ? "" : " and ") + std::string(resource_title(r));
  const auto points = std::count_if(model.rows.begin(), model.rows.end(), [](const ParetoRow& r) { return r.has_point(); });
  const auto open =
      std::count_if(model.rows.begin(), model.rows.end(), [](const ParetoRow& r) { return r.kind == ParetoRow::Kind::Found; });
  std::string state = !front.fault.empty()            ? "internal error: " + front.fault
                      : front.complete && points == 0 ? "no schedule exists, proved"
                      : front.complete                ? "complete and proved"
                      : front.cancelled               ? "cancelled: partial"
                      : front.timed_out               ? "time is up: partial"
                                                      : "partial";
  if (open > 0) state += fmt::format(", {} not proved", open);
  return fmt::format("II against {}: {}, {}", names, count_of(points, "point"), state);
}

}  // namespace

std::string resource_text(std::int64_t amount, Resource resource) {
  if (resource == Resource::Smem) {
    if (amount % 1024 == 0) return grouped(amount / 1024) + " KiB";
    return amount < 1024 ? grouped(amount) + " B" : fmt::format("{:.1f} KiB", static_cast<double>(amount) / 1024);
  }
  return grouped(amount) + (resource == Resource::Tmem ? " columns" : "");
}

std::string cap_text(std::int64_t cap, Resource resource) {
  const bool just_below = resource == Resource::Smem && (cap + 1) % 1024 == 0;
  return just_below ? "< " + resource_text(cap + 1, resource) : "≤ " + resource_text(cap, resource);
}

const char* resource_title(Resource resource) {
  switch (resource) {
    case Resource::Warps: return "warps";
    case Resource::Registers: return "registers per thread";
    case Resource::Smem: return "shared memory";
    case Resource::Stages: return "stages";
    case Resource::Tmem: return "tensor memory";
  }
  return "";
}

ParetoModel build_pareto(const Problem& problem, const Pareto& front, const Content& content) {
  ParetoModel model;
  model.against = front.against;
  for (const Resource r : kAll) {
    const bool used = std::find(front.against.begin(), front.against.end(), r) != front.against.end();
    if (!used && (r != Resource::Tmem || problem.limits.tmem_columns > 0)) model.besides.push_back(r);
  }
  const bool same = content.problem.get() == &problem && !layouts_to_use(content, front);
  const ScheduleEntry *a = same ? content.entry() : nullptr, *b = same ? content.baseline_entry() : nullptr;
  const std::vector<std::size_t> points = front_points(front);
  const auto takes = [&](const Schedule& schedule) {
    std::vector<std::int64_t> amounts;
    for (const Resource r : front.against) amounts.push_back(resource_value(problem, schedule, r));
    return amounts;
  };
  const std::vector<std::int64_t> shown = a ? takes(a->schedule) : std::vector<std::int64_t>();
  const std::vector<std::int64_t> other = b ? takes(b->schedule) : std::vector<std::int64_t>();
  bool on_front = false;
  for (const std::size_t i : points) {
    const ParetoStep& step = front.steps[i];
    ParetoRow row;
    row.step = i;
    row.kind = step.status == Status::Optimal ? ParetoRow::Kind::Proved : ParetoRow::Kind::Found;
    row.amounts = step.values;
    row.ii = step.schedule->ii;
    row.period = step.contended_period;
    model.periods |= row.period.has_value();
    row.standing = standing_of(step);
    row.reason = step.explanation;
    for (const Resource r : model.besides) row.besides.push_back(resource_value(problem, *step.schedule, r));
    row.current = a && a->schedule.ii == row.ii && shown == row.amounts;
    row.baseline = b && b->schedule.ii == row.ii && other == row.amounts;
    on_front |= row.current;
    model.rows.push_back(std::move(row));
  }
  for (std::size_t i = 0; i < front.steps.size(); ++i) {
    const ParetoStep& step = front.steps[i];
    // Zero needs no tolerance.
    if (step.schedule || std::find(step.caps.begin(), step.caps.end(), 0) != step.caps.end()) continue;
    model.rows.push_back(row_without_point(front, i));
  }
  if (a && !on_front && a->verdict.valid()) {
    model.shown = shown;
    model.shown_ii = a->schedule.ii;
    model.shown_name = a->name;
  }
  for (const ParetoStep& step : front.steps)
    if (std::all_of(step.caps.begin(), step.caps.end(), [](std::int64_t c) { return c == kNoCap; })) model.least_ii = step.lower_bound;
  model.headline = headline_of(front, model);
  return model;
}

std::string amount_text(const ParetoRow& row, std::int64_t amount, Resource resource) {
  return row.has_point() ? resource_text(amount, resource) : cap_text(amount, resource);
}

std::vector<Column<ParetoRow>> pareto_columns(const ParetoModel& model) {
  using Row = ParetoRow;
  // Nothing that can be compared: no cap.
  const auto amount = [](const Row& row, std::size_t a) { return a < row.amounts.size() ? row.amounts[a] : kNoCap; };
  const auto ii = [](const Row& row) { return (row.has_point() ? "" : "≥ ") + grouped(row.ii); };
  const auto standing = [](const Row& row) { return row.standing; };
  std::vector<Column<Row>> columns;
  columns.push_back(Column<Row>{"II", true, ii, [](const Row& row) { return row.ii; }}.as_copied(
      [](const Row& row) { return row.kind == Row::Kind::Impossible ? "-" : (row.has_point() ? "" : ">=") + std::to_string(row.ii); }));
  for (std::size_t a = 0; a < model.against.size(); ++a) {
    const auto text = [=, r = model.against[a]](const Row& row) {
      const std::int64_t n = amount(row, a);
      return n == kNoCap ? "any" : amount_text(row, n, r);
    };
    const auto copied = [=](const Row& row) {
      const std::int64_t n = amount(row, a);
      return n == kNoCap ? "" : (row.has_point() ? "" : "<=") + std::to_string(n);
    };
    columns.push_back(
        Column<Row>{to_string(model.against[a]), true, text, [=](const Row& row) { return amount(row, a); }}.as_copied(copied));
  }
  columns.push_back(
      Column<Row>{"status", false, standing}.sorted_by([](const Row& row) { return std::pair(static_cast<int>(row.kind), row.standing); }));
  if (model.periods)
    columns.push_back(Column<Row>{"period",
                                  true,
                                  [](const Row& row) { return row.period ? fmt::format("{:.1f}", *row.period) : std::string(); },
                                  {},
                                  "predicted of this order, where warp groups take time from each other"}
                          .sorted_by([](const Row& row) { return row.period.value_or(0); }));
  for (std::size_t b = 0; b < model.besides.size(); ++b) {
    const auto text = [b, r = model.besides[b]](const Row& row) {
      return b < row.besides.size() ? resource_text(row.besides[b], r) : std::string();
    };
    columns.push_back(Column<Row>{to_string(model.besides[b]), true, text}.as_copied(
        [b](const Row& row) { return b < row.besides.size() ? std::to_string(row.besides[b]) : std::string(); }));
  }
  columns.push_back({"why not smaller", false, [](const Row& row) {
                       std::string reason = row.reason;
                       std::replace_if(
                           reason.begin(), reason.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
                       return reason;
                     }});
  return columns;
}

std::string pareto_as_text(const ParetoModel& model) {
  const std::vector<Column<ParetoRow>> columns = pareto_columns(model);
  return table_as_text(std::span(columns), model.rows);
}

std::optional<LayoutChoices> layouts_to_use(const Content& content, const Pareto& front) {
  if (front.layouts_open.empty() || !content.problem || !content.problem->layouts) return std::nullopt;
  const auto found = std::find_if(front.steps.begin(), front.steps.end(), [](const ParetoStep& step) { return step.schedule.has_value(); });
  if (found == front.steps.end() || in_force(*content.kernel, *content.problem->layouts, found->schedule->layouts)) return std::nullopt;
  return found->schedule->layouts;
}

std::optional<Command> take_point(const Session& session, const Pareto& front, const ParetoRow& row, bool as_baseline) {
  const Content& content = session.content();
  if (!row.has_point() || !session.answered(Topic::Pareto) || layouts_to_use(content, front)) return std::nullopt;
  const ParetoStep& step = front.steps[row.step];
  for (std::size_t i = 0; i < content.schedules.size(); ++i)
    if (same_program(content.schedules[i]->schedule, *step.schedule))
      return as_baseline ? Command(SetBaseline{i}) : Command(SelectSchedule{i});
  AdoptSchedule adopt;
  adopt.schedule = *step.schedule;
  adopt.name = "front";
  for (std::size_t i = 0; i < front.against.size(); ++i)
    adopt.name += fmt::format("{} {} {}", i == 0 ? ":" : ",", to_string(front.against[i]), resource_text(row.amounts[i], front.against[i]));
  adopt.as_baseline = as_baseline;
  // What is proved of II holds without the caps only where there are none.
  for (const ParetoStep& s : front.steps)
    if (std::all_of(s.caps.begin(), s.caps.end(), [](std::int64_t c) { return c == kNoCap; })) {
      adopt.lower_bound = s.lower_bound;
      adopt.explanation = s.explanation;
    }
  return adopt;
}

std::optional<Command> next_point(const Session& session, int direction) {
  const QuestionState& asked = session.question(Topic::Pareto);
  const auto* front = asked.as<Pareto>();
  if (!front || !session.answered(Topic::Pareto)) return std::nullopt;
  const ParetoModel model = build_pareto(*asked.problem, *front, session.content());
  std::vector<const ParetoRow*> points;
  std::optional<std::size_t> here;
  for (const ParetoRow& row : model.rows) {
    if (!row.has_point()) continue;
    if (row.current) here = points.size();
    points.push_back(&row);
  }
  if (points.empty()) return std::nullopt;
  const std::size_t next = !here ? 0 : direction > 0 ? *here + 1 : *here - 1;
  if (next >= points.size()) return std::nullopt;
  return take_point(session, *front, *points[next], false);
}

}  // namespace heddle::app
