#include "core/answers/slack.h"

#include <fmt/format.h>

#include "core/answers/answer_members.h"
#include "core/answers/summary.h"

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

/// "12", "any": more than a whole period.
std::string growth_text(const OpRange& range) {
  return !range.growth ? "?" : *range.growth == kUnlimited ? "any" : std::to_string(*range.growth);
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
    if (ranges.period) rows.back().push_back(growth_text(range));
    if (ranges.exact) {
      rows.back().push_back(end_text(range.earliest));
      rows.back().push_back(end_text(range.latest));
      rows.back().push_back(standing(range));
    }
  }
  std::vector<TextColumn> columns{{"op"}, {"group", true}, {"start", true}, {"alone", true}, {"path from", true}, {"path to", true}};
  if (ranges.period) columns.push_back({"may grow by", true});
  if (ranges.exact) columns.insert(columns.end(), {{"earliest", true}, {"latest", true}, {"status"}});
  text += "\n" + text_table(columns, rows) + "\n";
  if (ranges.period)
    text += fmt::format(
        "may grow by: cycles that it may take longer before the period, {:.1f} where warp groups take time from each other, grows by\n"
        "  more than 0.1 %; one op at a time; predicted\n",
        *ranges.period);
  text += "alone: all other ops stay, and so does the order on every unit and in every group\n";
  text += fmt::format("path: no schedule at II {} within {} stages can have the op outside, by longest paths of dependences and refills\n",
                      ranges.ii, ranges.stages);
  if (ranges.exact)
    text +=
        fmt::format("earliest, latest: over every legal schedule at II {} within {} stages{}; not every cycle between need be possible\n",
                    ranges.ii, ranges.stages, ranges.complete() ? "" : ", as far as found");
  else
    text += said_by(style, "exact") + " asks the solver for the earliest and latest start over every legal schedule\n";
  return text;
}

namespace {

struct SlackAnswer {
  const Problem& problem = blank<Problem>;
  const Schedule& schedule = blank<Schedule>;
  const SlackRanges& ranges = blank<SlackRanges>;
};

struct AnchorLine {
  std::string op;
  Cycle start = 0;
};

struct PathLine {
  Cycle earliest = 0, latest = 0;
};

template <class Io>
void visit(Io& io, const AnchorLine& line) {
  io.written("op", line.op), io.written("start", line.start);
}

template <class Io>
void visit(Io& io, const PathLine& line) {
  io.written("earliest", line.earliest, as::any_integer), io.written("latest", line.latest, as::any_integer);
}

}  // namespace

template <class Io>
void visit(Io& io, const Slack& slack) {
  io.written("earlier", slack.earlier, as::limited), io.written("later", slack.later, as::limited);
}

template <class Io>
void visit(Io& io, const RangeEnd& end) {
  io.part("end");
  io.written("seen", end.seen, as::any_integer, "the furthest start in a legal schedule that was found");
  io.written("bound", end.bound, as::any_integer, "proved: it starts beyond this in none");
  io.written("proved", end.proved());
}

template <class Io>
void visit(Io& io, const as::InContext<OpRange, SlackAnswer>& in) {
  const OpRange& range = in.part;
  io.written("id", range.op, as::NameIn{in.context.problem});
  io.written(
      "group", [&] { return in.context.schedule.group(range.op); }, as::group_index);
  io.written("start", range.start);
  io.written("alone", range.alone, "how far it can move by itself; null: nothing holds it");
  io.written_if(range.growth.has_value(), "may_grow_by", range.growth.value_or(0), as::limited,
                "cycles that it may take longer before the period grows by more than 0.1 %; null: more than the whole period");
  io.written("path", PathLine{range.path_earliest, range.path_latest}, "by longest paths of dependences and refills");
  io.written("earliest", range.earliest, "over every legal schedule at this II");
  io.written("latest", range.latest);
}

namespace {

template <class Io>
void visit(Io& io, const SlackAnswer& of) {
  const SlackRanges& ranges = of.ranges;
  io.written("ii", ranges.ii);
  io.written(
      "anchor",
      [&] {
        return AnchorLine{of.problem.op(ranges.anchor).name, of.schedule.start(ranges.anchor)};
      },
      "the op that keeps its start");
  io.written("stages", ranges.stages);
  io.written("absolute", ranges.absolute, "constraints fix cycles or stages: nothing starts before cycle 0");
  io.written("legal", ranges.legal), io.written("exact", ranges.exact), io.written("complete", ranges.complete());
  io.written_if(ranges.period.has_value(), "contended_period", ranges.period,
                "cycles an iteration where warp groups take time from each other, predicted");
  io.written("fault", ranges.fault), io.written("ops", ranges.ops, as::list(as::part_in(of)));
  visit_problem(io, of.problem, false);
  io.written("solver", ranges.solver), io.written("seconds", ranges.seconds, as::seconds), io.written("queries", ranges.queries);
  io.written("conflicts", ranges.conflicts), io.written("cancelled", ranges.cancelled), io.written("timed_out", ranges.timed_out);
}

}  // namespace

Json slack_json(const Problem& problem, const Schedule& schedule, const SlackRanges& ranges) {
  return as::part.write(SlackAnswer{problem, schedule, ranges});
}

Json slack_schema() { return nameless_schema<SlackAnswer>("heddle.slack/1", "What heddle slack answers"); }

}  // namespace heddle
