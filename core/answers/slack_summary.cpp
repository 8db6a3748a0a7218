// What stands still, then one line per op.
#include "core/answers/slack_summary.h"

#include <fmt/format.h>

#include "core/answers/summary.h"

namespace heddle {
namespace {

/// "-12 +300"; "free" where nothing holds the op.
std::string moves(const Slack& slack) {
  const auto one = [](const char* sign, Cycle cycles) {
    return cycles == kUnlimited ? std::string("free") : fmt::format("{}{}", cycles < 0 ? "broken by " : sign, cycles < 0 ? -cycles : cycles);
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
  const std::string& anchor = problem.op(ranges.anchor).name;
  const Cycle fixed = schedule.start(ranges.anchor);
  text += printable(ranges.absolute
                        ? fmt::format("{} is held at cycle {}; the constraints fix cycles or stages, so nothing starts before cycle 0", anchor, fixed)
                        : fmt::format("{} is held at cycle {}, since every schedule can be shifted as a whole; negative: before this schedule's cycle 0",
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
    text += fmt::format("earliest, latest: over every legal schedule at II {} within {} stages{}; not every cycle between need be possible\n",
                        ranges.ii, ranges.stages, ranges.complete() ? "" : ", as far as found");
  else
    text += "--exact asks the solver for the earliest and latest start over every legal schedule\n";
  if (ranges.cancelled || ranges.timed_out)
    text += ranges.cancelled ? "interrupted: the ranges not proved are partial\n" : "time is up: the ranges not proved are partial\n";
  return text;
}

}  // namespace heddle
