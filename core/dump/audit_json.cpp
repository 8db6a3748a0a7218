#include "core/dump/audit_json.h"

#include "core/dump/audit_report.h"

namespace heddle::dump {
namespace {

Json rows_json(const std::vector<AuditRow>& rows, const DumpLoop* loop) {
  Json list = Json::array();
  for (const AuditRow& row : rows) {
    Json item = Json::object(), details = Json::array(), ops = Json::array();
    for (const AuditDetail& detail : row.details) details.push(detail.text);
    item.set("topic", row.topic).set("weight", to_string(row.weight)).set("sentence", row.sentence).set("details", std::move(details));
    for (const std::size_t node : row.nodes)
      if (loop) ops.push(loop->nodes[node].name);
    list.push(std::move(item.set("ops", std::move(ops))));
  }
  return list;
}

Json broken_json(const DumpLoop& loop, const std::vector<BrokenEdge>& broken) {
  Json list = Json::array();
  for (const BrokenEdge& b : broken) {
    Json item = Json::object();
    item.set("from", loop.nodes[b.from].name).set("to", loop.nodes[b.to].name).set("distance", b.distance).set("latency", b.latency);
    list.push(std::move(item.set("slack", b.slack).set("repairable", b.repairable)));
  }
  return list;
}

Json loop_json(const Dump& dump, const DumpLoopAudit& a) {
  const DumpLoop& loop = dump.loops[a.loop];
  Json item = Json::object();
  item.set("loop", loop.id).set("outer", loop.outer).set("ops", loop.nodes.size()).set("groups", a.groups);
  item.set("res_mii", a.res_mii).set("rec_mii", a.rec_mii).set("min_ii", a.min_ii);
  if (a.scheduled) {
    item.set("stated_ii", a.stated_ii).set("stages", a.stages);
    item.set("sustainable", a.program.deadlock ? Json() : Json(a.program.cycles()));
    if (a.pipelined_known) item.set("sustainable_pipelined", a.pipelined.deadlock ? Json() : Json(a.pipelined.cycles()));
    item.set("broken", broken_json(loop, a.broken))
        .set("slot_conflicts", a.slot_conflicts.size())
        .set("engine_conflicts", a.engine_conflicts.size());
  }
  item.set("smem_bytes", a.memory.smem).set("smem_bytes_stated", a.memory.smem_stated);
  item.set("tmem_columns", a.memory.tmem).set("tmem_columns_stated", a.memory.tmem_stated);
  if (a.improvement && a.improvement->ii > 0) {
    const Improvement& i = *a.improvement;
    Json solved = Json::object();
    solved.set("ii", i.ii)
        .set("lower_bound", i.lower_bound)
        .set("proved", i.proved)
        .set("stages", i.stages)
        .set("stages_proved", i.stages_proved);
    solved.set("groups", i.groups)
        .set("warps", i.warps)
        .set("smem_bytes", i.smem)
        .set("sustainable", i.sustainable)
        .set("seconds", i.seconds);
    if (i.emitter_ii > 0) solved.set("emitter_ii", i.emitter_ii);
    item.set("solved", std::move(solved));
  }
  item.set("rows", rows_json(audit_rows(dump, a), &loop));
  return item;
}

}  // namespace

Json audit_json(const Dump& dump, const DumpAudit& audit) {
  Json root = Json::object(), loops = Json::array();
  root.set("format", to_string(dump.format)).set("kernel", dump.kernel).set("clean", audit.clean());
  root.set("smem_bytes", audit.smem).set("smem_bytes_stated", audit.smem_stated).set("smem_budget", audit.smem_budget);
  for (const DumpLoopAudit& a : audit.loops) loops.push(loop_json(dump, a));
  root.set("loops", std::move(loops)).set("rows", rows_json(audit_rows(dump, audit), nullptr));
  return root;
}

}  // namespace heddle::dump
