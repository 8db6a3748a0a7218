// A comparison, key by key.
#include "core/answers/difference_json.h"

#include <algorithm>

#include "core/analysis/signature.h"
#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json side_json(const Problem& problem, const ComparedSchedule& one) {
  const Schedule& schedule = *one.schedule;
  Json side = Json::object();
  side.set("name", one.name).set("ii", schedule.ii).set("status", to_string(one.status));
  side.set("lower_bound", one.lower_bound ? Json(*one.lower_bound) : Json()).set("certificate", standing_json(schedule));
  side.set("deadlock", one.period.deadlock).set("period", one.period.deadlock ? Json() : Json(one.period.cycles()));
  side.set("limited_by", one.period.sentence).set("stages", stage_count(schedule));
  side.set("length", schedule_length(problem, schedule)).set("warps", one.usage.warps);
  side.set("smem_bytes", one.usage.smem_bytes).set("tmem_columns", one.usage.tmem_columns);
  Json units = Json::array();
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    if (one.usage.busy[u] > 0) units.push(Json::object().set("unit", problem.units[u].name).set("busy", one.usage.busy[u]));
  side.set("units", std::move(units));
  Json registers = Json::array();
  for (const int peak : one.usage.register_peak) registers.push(peak);
  side.set("register_peaks", std::move(registers)).set("groups", groups_json(problem, schedule)).set("channels", channels_json(problem, schedule));
  return side.set("checker", verdict_json(problem, one.verdict));
}

Json divergence_json(const Problem& problem, const ComparedSchedule& a, const Divergence& d) {
  const auto name = [&](OpId op) { return op.valid() ? Json(problem.op(op).name) : Json(); };
  Json json = Json::object().set("sentence", d.sentence).set("at", d.at);
  json.set("group", d.group.valid() ? Json(group_name(*a.schedule, d.group)) : Json()).set("after", name(d.after));
  json.set("a_next", name(d.a_next)).set("b_next", name(d.b_next));
  json.set("ring", d.channel.valid() ? Json(problem.channel(d.channel).name) : Json());
  Json ops = Json::array();
  for (const OpId op : d.ops) ops.push(problem.op(op).name);
  return json.set("ops", std::move(ops));
}

}  // namespace

Json difference_json(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                     const Alignment& alignment) {
  Json root = Json::object();
  root.set("same_program", difference.same_program()).set("same_times", difference.same_times());
  root.set("relation", relation(difference, *a.schedule, *b.schedule));
  root.set("first_divergence", difference.first ? divergence_json(problem, a, *difference.first) : Json());
  root.set("align", alignment.at == Alignment::At::Op && alignment.op.valid() ? problem.op(alignment.op).name
                    : alignment.at == Alignment::At::Most                     ? std::string("most")
                                                                              : std::string("start"));
  root.set("shift", difference.shift).set("a", side_json(problem, a)).set("b", side_json(problem, b));
  Json groups = Json::array();
  for (std::size_t g = 0; g < difference.groups.size(); ++g)
    groups.push(Json::object().set("b", g).set("a", difference.groups[g].valid() ? Json(difference.groups[g].index()) : Json()));
  root.set("group_matches", std::move(groups));
  Json ops = Json::array();
  for (const OpDifferenceRow& row : op_difference_rows(problem, *a.schedule, *b.schedule, difference)) {
    const auto place = [](Cycle start, int stage, Cycle slot, GroupId group) {
      return Json::object().set("start", start).set("stage", stage).set("slot", slot).set("group", group.index());
    };
    Json op = Json::object().set("id", problem.op(row.op).name);
    op.set("a", place(row.difference.a_start, row.a_stage, row.a_slot, a.schedule->group(row.op)));
    op.set("b", place(row.difference.b_start, row.b_stage, row.b_slot, b.schedule->group(row.op)));
    op.set("delta", row.difference.delta).set("other_group", row.difference.group).set("differs", row.difference.differs());
    ops.push(std::move(op));
  }
  root.set("ops", std::move(ops));
  set_problem(root, problem);
  return root;
}

}  // namespace heddle
