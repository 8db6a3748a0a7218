// Key by key.
#include "core/answers/latency_json.h"

#include "core/answers/outcome_json.h"

namespace heddle {
namespace {

/// Where a schedule stops being valid: {"from", "to"}, `to` null when it never does.
Json range_json(const std::optional<Cycle>& to) {
  if (!to) return Json();
  return Json::object().set("from", 0).set("to", *to == kUnlimited ? Json() : Json(*to));
}

}  // namespace

Json latency_json(const Problem& problem, const LatencyRange& answer) {
  Json root = Json::object();
  root.set("status", to_string(answer.status)).set("complete", answer.complete());
  root.set("op", answer.op).set("latency", answer.latency);
  root.set("ii", answer.schedule ? Json(answer.ii) : Json()).set("lower_bound", answer.lower_bound);
  root.set("given_schedule", answer.given);
  root.set("valid", range_json(answer.valid_to)).set("valid_refitted", range_json(answer.refitted_to));
  root.set("valid_retimed", range_json(answer.retimed_to));
  root.set("breaks", answer.breaks.empty() ? Json() : Json(answer.breaks));
  root.set("from", answer.from).set("to", answer.to);
  Json steps = Json::array();
  for (const LatencySegment& segment : segments_of(answer.steps)) {
    const LatencyStep& s = segment.step;
    Json item = Json::object();
    item.set("from", s.low).set("to", s.high).set("ii", finite_ii_json(s.ii)).set("rise", segment.rise).set("every", segment.every);
    item.set("last_ii", finite_ii_json(segment.last_ii())).set("lower_bound", finite_ii_json(s.lower_bound));
    item.set("status", to_string(s.status())).set("why", s.why);
    steps.push(std::move(item));
  }
  root.set("steps", std::move(steps));
  set_problem(root, problem);
  root.set("latencies_settled", answer.latencies_settled).set("queries", answer.queries);
  root.set("seconds", seconds_json(answer.seconds));
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out);
  return root;
}

}  // namespace heddle
