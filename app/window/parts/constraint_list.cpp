#include "app/window/parts/constraint_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/proposal.h"
#include "app/session/question_state.h"
#include "app/window/parts/explain_model.h"
#include "core/answers/price.h"
#include "core/chart/chart_layout.h"
#include "core/schedule/constraint_text.h"

namespace heddle::app {
namespace {

/// "+64", "0 .. 64"
std::string short_price(const PricedOptimum& without, const PricedOptimum& all) {
  if (without.status == Status::Unknown || all.status == Status::Unknown) return "?";
  if (all.status == Status::Infeasible) return without.status == Status::Infeasible ? "none" : "all";
  const auto range = price_in_cycles(without, all);
  if (!range) return "?";
  return range->proved() ? "+" + grouped(range->most) : fmt::format("{}..{}", range->least, range->most);
}

/// "+53.2"; empty where it is not known.
std::string short_period_price(const PricedOptimum& without, const PricedOptimum& all) {
  const auto price = price_in_period(without, all);
  return !price ? "" : *price == 0 ? "+0" : fmt::format("{:+.1f}", *price);
}

std::string detail_of(const PricedOptimum& without, const PricedOptimum& all) {
  std::string text = price_text(without, all);
  if (const std::string period = period_price_text(without, all); !period.empty())
    text += fmt::format("; of the period {}; without it {}", period, standing_text(without.period->proof));
  return text;
}

void add_prices(const Session& session, ConstraintList& list) {
  const QuestionState& asked = session.question(Topic::Price);
  const auto* prices = asked.as<Prices>();
  if (!prices || asked.problem != session.content().problem) return;
  const bool current = session.answered(Topic::Price);
  std::size_t next = 0;
  for (const UserConstraint& asked : asked.constraints) {
    if (!asked.enabled) continue;
    if (next >= prices->constraints.size()) break;
    const ConstraintPrice& price = prices->constraints[next++];
    for (ConstraintRow& row : list.rows) {
      if (!(session.content().constraints[row.index] == asked)) continue;
      row.price = short_price(price.without, prices->all);
      row.price_detail = detail_of(price.without, prices->all);
      row.period_price = short_period_price(price.without, prices->all);
      list.periods |= !row.period_price.empty();
      row.price_old = !current;
      list.any_priced = true;
    }
  }
  // Then comes what is said of layouts.
  for (; current && next < prices->constraints.size(); ++next) {
    const ConstraintPrice& price = prices->constraints[next];
    list.layouts.push_back({price.demand, short_price(price.without, prices->all), price_text(price.without, prices->all)});
  }
}

/// Members of the last explanation that are constraints of the user.
void add_guilt(const Session& session, ConstraintList& list) {
  const Constraints& constraints = session.content().constraints;
  for (const std::size_t index : build_explain(session).core)
    if (index < list.rows.size()) list.rows[index].guilty = true;
  const std::string& why = session.live().explanation;
  if (session.live().refuted())
    for (ConstraintRow& row : list.rows)
      row.guilty |= row.enabled && why.find("'" + constraints[row.index].name + "'") != std::string::npos;
  const auto* explanation = session.question(Topic::Explain).as<Explanation>();
  if (!explanation || !session.answered(Topic::Explain)) return;
  for (const ExplanationMember& member : explanation->members) {
    if (member.family != "user") continue;
    for (ConstraintRow& row : list.rows) {
      const UserConstraint& c = constraints[row.index];
      const bool meant =
          member.what.compare(0, row.demand.size(), row.demand) == 0 || member.what.find("'" + c.name + "'") != std::string::npos;
      row.guilty |= c.enabled && meant;
    }
  }
}

std::string status_of(const ConstraintRow& row, bool has_schedule) {
  if (!row.enabled) return "off";
  if (row.guilty) return "to blame";
  if (!has_schedule) return "not solved";
  return row.broken ? "broken by the shown schedule" : "held";
}

std::string one_cell(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

ConstraintList build_constraint_list(const Session& session) {
  const Content& content = session.content();
  ConstraintList list;
  list.refuted = session.live().refuted();
  const ScheduleEntry* entry = content.entry();
  for (std::size_t i = 0; i < content.constraints.size(); ++i) {
    const UserConstraint& c = content.constraints[i];
    ConstraintRow row;
    row.index = i;
    row.demand = describe(c);
    row.frame = is_frame(c);
    if (c.name != row.demand) row.name = c.name;
    row.enabled = c.enabled;
    if (entry && c.enabled)
      row.broken = std::any_of(entry->verdict.violations.begin(), entry->verdict.violations.end(), [&](const Violation& v) {
        return v.family == "user" && v.message.compare(0, c.name.size() + 1, c.name + ":") == 0;
      });
    if (c.enabled) row.price = "?", row.price_detail = "what it costs has not been asked";
    list.rows.push_back(std::move(row));
  }
  if (!content.problem) return list;
  add_prices(session, list);
  add_guilt(session, list);
  for (ConstraintRow& row : list.rows) row.status = status_of(row, entry != nullptr);
  return list;
}

std::string constraints_tsv(const ConstraintList& list) {
  const auto period = [&](const std::string& price) { return list.periods ? price + "\t" : std::string(); };
  std::string text = fmt::format("on\tname\tdemand\tprice in cycles\t{}status\n", period("price in cycles of the period"));
  for (const ConstraintRow& row : list.rows)
    text += fmt::format("{}\t{}\t{}\t{}\t{}{}\n", row.enabled ? "yes" : "no", one_cell(row.name), one_cell(row.demand), row.price,
                        period(row.period_price), row.status);
  for (const LayoutDemand& each : list.layouts)
    text += fmt::format("yes\t\t{}\t{}\t{}held\n", one_cell(each.demand), each.price, period(""));
  return text;
}

std::vector<SuggestedConstraint> suggest_constraints(const Session& session) {
  std::vector<SuggestedConstraint> list;
  const Content& content = session.content();
  if (!content.problem) return list;
  const Problem& problem = *content.problem;
  std::vector<std::string> names;
  for (const OpId op : session.selection().ops)
    if (op.index() < problem.ops.size()) names.push_back(problem.op(op).name);
  const auto add = [&](const char* id, std::string label, ConstraintKind kind, std::vector<std::string> ops, std::int64_t low,
                       std::int64_t high, bool edit) -> SuggestedConstraint& {
    SuggestedConstraint& made = list.emplace_back();
    made.id = id;
    made.label = std::move(label);
    made.constraint.kind = kind;
    made.constraint.ops = std::move(ops);
    made.constraint.low = low;
    made.constraint.high = high;
    made.edit_first = edit;
    return made;
  };
  if (names.size() >= 2) {
    add("same_group", "Selected ops in one group", ConstraintKind::SameGroup, names, 0, 0, false);
    add("different_groups", "Selected ops in different groups", ConstraintKind::DifferentGroup, names, 0, 0, false);
    add("same_stage", "Selected ops in one stage", ConstraintKind::SameStage, names, 0, 0, false);
  }
  if (names.size() == 2) {
    add("before", names[0] + " before " + names[1], ConstraintKind::Before, names, problem.op(session.selection().ops[0]).latency, 0, true);
    add("earlier_stage", names[0] + " a stage before " + names[1], ConstraintKind::EarlierStage, names, 1, 0, false);
  }
  const ScheduleEntry* entry = content.entry();
  if (!entry) return list;
  if (names.size() == 1) {
    const OpId op = session.selection().ops.front();
    const Cycle start = entry->schedule.start(op) + frame_shift(problem, content.constraints, entry->schedule);
    add("pin", "Pin " + names[0], ConstraintKind::Pin, names, start, 0, true);
    add("range", "Keep " + names[0] + " in a range", ConstraintKind::Range, names, start, start, true);
    add("group", "Keep " + names[0] + " in its group", ConstraintKind::InGroup, names,
        static_cast<std::int64_t>(entry->schedule.group(op).index()), 0, false)
        .hold_group = true;
  }
  std::int64_t registers = 0;
  for (const auto budget : entry->usage.register_budget) registers = std::max<std::int64_t>(registers, budget);
  add("registers", "Cap registers per thread", ConstraintKind::MaxRegisters, {}, 0, registers, true);
  add("stages", "Cap stages", ConstraintKind::MaxStages, {}, 0, stage_count(entry->schedule), true);
  add("warps", "Cap warps", ConstraintKind::MaxWarps, {}, 0, entry->usage.warps, true);
  add("smem", "Cap shared memory", ConstraintKind::MaxSmem, {}, 0, entry->usage.smem_bytes, true);
  if (problem.limits.tmem_columns > 0) add("tmem", "Cap tensor memory", ConstraintKind::MaxTmem, {}, 0, entry->usage.tmem_columns, true);
  return list;
}

}  // namespace heddle::app
