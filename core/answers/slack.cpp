#include "core/answers/slack.h"

#include <fmt/format.h>

#include "core/answers/summary.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

/// "-12 +300"; "free" where nothing holds the op.
std::string moves(const Slack& slack) {
  const auto one = [](const char* sign, Cycle cycles) {
    return cycles == kUnlimited ? std::string("free")
                                : fmt::format("{}{}", cycles < 0 ? "broken by " : sign, cycles < 0 ? -cycles : cycles);
  };
  return one("-", slack.earlier) + " " + one("+", slack.later);
}

std::string end_text(const RangeEnd& end) {
  if (!end.seen) return "?";
  return end.proved() ? fmt::format("{}", *end.seen) : fmt::format("{} (bound {})", *end.seen, end.bound);
}

std::string standing(const OpRange& range) {
  if (!range.settled()) return range.earliest.proved() || range.latest.proved() ? "one end proved" : "not proved";
  return range.earliest.bound == range.latest.bound ? "fixed, proved" : "proved";
}

}  // namespace

std::string slack_summary(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n" + headline(schedule, style) + "\n";
  if (ranges.cancelled || ranges.timed_out)
    text += ranges.cancelled ? "interrupted: the ranges not proved are partial\n" : "time is up: the ranges not proved are partial\n";
  const std::string& anchor = problem.op(ranges.anchor).name;
  const Cycle fixed = schedule.start(ranges.anchor);
  text +=
      printable(
          ranges.absolute
              ? fmt::format("{} is held at cycle {}; the constraints fix cycles or stages, so nothing starts before cycle 0", anchor, fixed)
              : fmt::format(
                    "{} is held at cycle {}, since every schedule can be shifted as a whole; negative: before this schedule's cycle 0",
                    anchor, fixed)) +
      "\n";
  if (!ranges.legal) text += "the schedule breaks rules (see heddle check); the ranges are those of legal schedules at its II\n";
  if (!ranges.fault.empty()) text += printable(ranges.fault) + "\n";
  std::vector<std::vector<std::string>> rows;
  for (const OpRange& range : ranges.ops) {
    rows.push_back({printable(problem.op(range.op).name), std::to_string(schedule.group(range.op).index()), std::to_string(range.start),
                    moves(range.alone), std::to_string(range.path_earliest), std::to_string(range.path_latest)});
    if (ranges.exact) {
      rows.back().push_back(end_text(range.earliest));
      rows.back().push_back(end_text(range.latest));
      rows.back().push_back(standing(range));
    }
  }
  std::vector<TextColumn> columns{{"op"}, {"group", true}, {"start", true}, {"alone", true}, {"path from", true}, {"path to", true}};
  if (ranges.exact) columns.insert(columns.end(), {{"earliest", true}, {"latest", true}, {"status"}});
  text += "\n" + text_table(columns, rows) + "\n";
  text += "alone: all other ops stay, and so does the order on every unit and in every group\n";
  text += fmt::format("path: no schedule at II {} within {} stages can have the op outside, by longest paths of dependences and refills\n",
                      ranges.ii, ranges.stages);
  if (ranges.exact)
    text +=
        fmt::format("earliest, latest: over every legal schedule at II {} within {} stages{}; not every cycle between need be possible\n",
                    ranges.ii, ranges.stages, ranges.complete() ? "" : ", as far as found");
  else
    text += "--exact asks the solver for the earliest and latest start over every legal schedule\n";
  return text;
}

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
                 .set("alone", Json::object().set("earlier", cycles_json(range.alone.earlier)).set("later", cycles_json(range.alone.later)))
                 .set("path", Json::object().set("earliest", range.path_earliest).set("latest", range.path_latest))
                 .set("earliest", end_json(range.earliest))
                 .set("latest", end_json(range.latest)));
  Json root = Json::object();
  root.set("ii", ranges.ii);
  root.set("anchor", Json::object().set("op", problem.op(ranges.anchor).name).set("start", schedule.start(ranges.anchor)));
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
