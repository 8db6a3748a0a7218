// Key by key.
#include "core/answers/slack_json.h"

#include "core/answers/outcome_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
namespace {

Json cycles_json(Cycle cycles) { return cycles == kUnlimited ? Json() : Json(cycles); }

Json end_json(const RangeEnd& end) {
  return Json::object().set("seen", end.seen ? Json(*end.seen) : Json()).set("bound", end.bound).set("proved", end.proved());
}

}  // namespace

Json slack_json(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges) {
  Json ops = Json::array();
  for (const OpRange& range : ranges.ops)
    ops.push(Json::object()
                 .set("id", problem.op(range.op).name)
                 .set("group", schedule.group(range.op).index())
                 .set("start", range.start)
                 .set("alone", Json::object()
                                   .set("earlier", cycles_json(range.alone.earlier))
                                   .set("later", cycles_json(range.alone.later)))
                 .set("path", Json::object().set("earliest", range.path_earliest).set("latest", range.path_latest))
                 .set("earliest", end_json(range.earliest))
                 .set("latest", end_json(range.latest)));
  Json root = Json::object();
  root.set("ii", ranges.ii);
  root.set("anchor", Json::object()
                         .set("op", problem.op(ranges.anchor).name)
                         .set("start", schedule.start(ranges.anchor)));
  root.set("stages", ranges.stages).set("absolute", ranges.absolute).set("legal", ranges.legal);
  root.set("exact", ranges.exact).set("complete", ranges.complete()).set("fault", ranges.fault);
  root.set("ops", std::move(ops));
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem)).set("solver", ranges.solver);
  root.set("seconds", seconds_json(ranges.seconds)).set("queries", ranges.queries);
  root.set("conflicts", ranges.conflicts).set("cancelled", ranges.cancelled).set("timed_out", ranges.timed_out);
  return root;
}

}  // namespace heddle
