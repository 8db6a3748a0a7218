#include "core/answers/latency.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/answer_members.h"
#include "core/answers/summary.h"

namespace heddle {

namespace {

bool rises_by_one(const LatencySegment& s) { return s.step.proved() && ((s.rise == 1 && s.every == 1) || s.step.low == s.step.high); }

/// Neighbours that rise by 1 with every cycle are one segment, single latencies among them too.
std::vector<LatencySegment> joined(std::vector<LatencySegment> segments) {
  std::vector<LatencySegment> found;
  for (LatencySegment& next : segments) {
    LatencySegment* last = found.empty() ? nullptr : &found.back();
    const bool joins =
        last && rises_by_one(*last) && rises_by_one(next) && next.step.ii == last->last_ii() + 1 && (last->rise == 1 || next.rise == 1);
    if (!joins) {
      found.push_back(std::move(next));
      continue;
    }
    if (last->rise == 0) last->step.why = next.step.why;
    last->rise = last->every = 1;
    last->step.high = next.step.high;
  }
  return found;
}

}  // namespace

std::vector<LatencySegment> segments_of(const std::vector<LatencyStep>& steps) {
  constexpr std::size_t kFewest = 3;
  const auto width = [&](std::size_t i) { return steps[i].high - steps[i].low + 1; };
  std::vector<LatencySegment> segments;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;  // steps i to end - 1 are one staircase; the last may be cut short by the range asked about
    while (end < steps.size() && steps[i].rise == 0 && steps[end].rise == 0 && steps[end - 1].proved() &&
           steps[end].status() == Status::Optimal && width(end - 1) == width(i) && width(end) <= width(i) &&
           steps[end].ii - steps[end - 1].ii == steps[i + 1].ii - steps[i].ii)
      ++end;
    // A narrower step in the middle ends the staircase but belongs to what follows, unless nothing does.
    if (end < steps.size() && end - i > 1 && width(end - 1) < width(i)) --end;
    LatencySegment& segment = segments.emplace_back(LatencySegment{steps[i], 0, 0});
    if (steps[i].rise > 0) {
      segment.rise = steps[i].rise;
      segment.every = 1;
      ++i;
    } else if (end - i >= kFewest) {
      segment.rise = steps[i + 1].ii - steps[i].ii;
      segment.every = width(i);
      segment.step.high = steps[end - 1].high;
      i = end;
    } else {
      ++i;
    }
  }
  return joined(std::move(segments));
}

bool LatencyRange::complete() const {
  return fault.empty() && !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const LatencyStep& s) { return s.proved(); }) &&
         (!schedule || valid_to.has_value());
}

namespace {

constexpr std::size_t kMostRows = 40;

std::string range_text(Cycle low, Cycle high) { return low == high ? std::to_string(low) : fmt::format("{}-{}", low, high); }

std::string up_to(Cycle latency) { return latency == kUnlimited ? "every latency" : fmt::format("latencies 0 to {}", latency); }

std::string ii_text(const LatencySegment& segment) {
  const LatencyStep& s = segment.step;
  if (s.lower_bound >= kNoFiniteII) return "no schedule";
  if (s.ii >= kNoFiniteII) return fmt::format("at least {}", s.lower_bound);
  return s.proved() ? range_text(s.ii, segment.last_ii()) : range_text(s.lower_bound, s.ii);
}

std::string rise_text(const LatencySegment& segment) {
  if (segment.rise == 0) return "";
  return segment.every == 1 ? fmt::format("+{} per cycle", segment.rise) : fmt::format("+{} every {} cycles", segment.rise, segment.every);
}

/// A single proved latency between stretches that are not proved tells a reader nothing: they become one row. JSON has them all.
std::vector<LatencySegment> legible(const std::vector<LatencySegment>& segments) {
  std::vector<LatencySegment> rows;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const LatencySegment& next = segments[i];
    const bool lone = next.step.low == next.step.high && i + 1 < segments.size() && !segments[i + 1].step.proved();
    const bool both_known = !rows.empty() && rows.back().step.status() == Status::Feasible && next.step.ii < kNoFiniteII;
    if (!both_known || (next.step.proved() && !lone)) {
      rows.push_back(next);
      continue;
    }
    rows.back().step.high = next.step.high;
    rows.back().step.ii = next.last_ii();
  }
  return rows;
}

std::string state_of(const LatencyRange& answer) {
  if (answer.complete()) return "";
  return answer.cancelled ? "interrupted: partial" : answer.timed_out ? "time is up: partial" : "partial";
}

}  // namespace

std::string latency_headline(const LatencyRange& answer, const TextStyle& style) {
  std::vector<std::string> facts;
  if (answer.schedule) {
    facts.push_back(fmt::format("II {} at latency {}", answer.ii, answer.latency));
    facts.emplace_back(answer.ii == answer.lower_bound ? "proved" : "not proved");
    if (answer.valid_to) facts.push_back("schedule valid for " + up_to(*answer.valid_to));
  } else {
    facts.emplace_back(answer.status == Status::Infeasible ? "no schedule exists at present" : "no schedule found at present");
  }
  const auto segments = segments_of(answer.steps);
  if (segments.size() == 1 && segments.front().rise == 0 && segments.front().step.proved())
    facts.push_back(fmt::format("{} for latencies {} to {}", answer.schedule ? "the same II" : "nor is there one", answer.from, answer.to));
  facts.push_back(state_of(answer));
  return join_facts(facts, style);
}

std::string latency_summary(const Problem& problem, const LatencyRange& answer, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n" + latency_headline(answer, style) + "\n";
  text += wrapped(printable(fmt::format("latency of {}: {} from issue until the result is usable; its unit uses and issue window stay",
                                        answer.op, count_of(answer.latency, "cycle"))),
                  "", style.width);
  if (answer.valid_to) {
    const std::string whose = answer.given ? "the given schedule" : "the schedule that solve finds";
    const Cycle more = *answer.valid_to - answer.latency;
    const std::string how_much = *answer.valid_to >= kUnlimited ? ""
                                 : more == 0                    ? " (no more than now)"
                                                                : fmt::format(" ({} more than now)", more);
    text += wrapped(fmt::format("{} stays valid, start for start, for {}{}", whose, up_to(*answer.valid_to), how_much), "", style.width);
    if (!answer.breaks.empty()) text += wrapped(printable(answer.breaks), fmt::format("  at {}: ", *answer.valid_to + 1), style.width);
    if (answer.refitted_to && *answer.refitted_to != *answer.valid_to)
      text += fmt::format("  with ring depths and register budgets chosen again: for {}\n", up_to(*answer.refitted_to));
    if (answer.retimed_to)
      text += fmt::format("  the same groups and order with other starts keep II {} for {}{}\n", answer.ii, up_to(*answer.retimed_to),
                          *answer.retimed_to < kUnlimited ? " at least" : "");
  } else if (answer.schedule) {
    text += "how far the schedule stays valid was not settled\n";
  }
  if (answer.steps.empty()) return text + "the least II by latency was not settled\n";
  text += "\n" + printable(fmt::format("least II by latency of {}", answer.op)) + "\n";
  const auto segments = legible(segments_of(answer.steps));
  std::vector<std::vector<std::string>> rows;
  for (const LatencySegment& segment : segments) {
    if (rows.size() == kMostRows) break;
    const LatencyStep& s = segment.step;
    const bool now = answer.latency >= s.low && answer.latency <= s.high;
    rows.push_back({range_text(s.low, s.high), ii_text(segment), rise_text(segment), s.proved() ? "proved" : "not proved", now ? "now" : "",
                    printable(s.why)});
  }
  text += text_table({{"latency", true}, {"II", true}, {""}, {"status"}, {""}, {"why not smaller"}}, rows, style.width);
  if (segments.size() > kMostRows)
    text += fmt::format("  and {} more steps up to latency {} ({} lists them)\n", segments.size() - kMostRows, answer.to,
                        said_by(style, "json"));
  text += "\n" +
          join_facts({count_of(answer.latencies_settled, "latency", "latencies") + " looked at",
                      fmt::format("{} with the solver", answer.queries), fmt::format("{:.2f} s", answer.seconds)},
                     style) +
          "\n";
  return text;
}

namespace {

/// Where a schedule stops being valid; without an end it never does.
struct ValidTo {
  Cycle to = 0;
};

struct LatencyAnswer {
  const Problem& problem = blank<Problem>;
  const LatencyRange& range = blank<LatencyRange>;
};

std::optional<ValidTo> valid_to(const std::optional<Cycle>& to) { return to ? std::optional(ValidTo{*to}) : std::nullopt; }

template <class Io>
void visit(Io& io, const ValidTo& valid) {
  io.part("range");
  io.written("from", 0), io.written("to", valid.to, as::limited);
}

}  // namespace

template <class Io>
void visit(Io& io, const LatencySegment& segment) {
  const LatencyStep& s = segment.step;
  io.written("from", s.low), io.written("to", s.high);
  io.written("ii", s.ii, as::finite_ii, "at the first of these latencies");
  io.written("rise", segment.rise, "by so much II grows with each step");
  io.written("every", segment.every, "cycles of latency that a step is wide; 0: II is the same everywhere");
  io.written("last_ii", segment.last_ii(), as::finite_ii), io.written("lower_bound", s.lower_bound, as::finite_ii);
  io.written("status", s.status(), as::status);
  io.written("why", s.why, "II is not smaller at the first of these latencies");
}

namespace {

template <class Io>
void visit(Io& io, const LatencyAnswer& of) {
  const LatencyRange& answer = of.range;
  io.written("status", answer.status, as::status), io.written("complete", answer.complete()), io.written("op", answer.op);
  io.written("latency", answer.latency, "at present");
  io.written("ii", only_if(answer.schedule.has_value(), answer.ii)), io.written("lower_bound", answer.lower_bound);
  io.written("given_schedule", answer.given);
  io.written("valid", valid_to(answer.valid_to), "the latencies for which the checker accepts the schedule");
  io.written("valid_refitted", valid_to(answer.refitted_to), "the same with ring depths and register budgets chosen again");
  io.written("valid_retimed", valid_to(answer.retimed_to), "with other starts in the same order: at least up to there");
  io.written("breaks", only_if(!answer.breaks.empty(), answer.breaks), "what the checker objects to one cycle later");
  io.written("from", answer.from), io.written("to", answer.to);
  io.written("steps", segments_of(answer.steps), "II(latency) = ii + rise * floor((latency - from) / every)");
  visit_problem(io, of.problem);
  io.written("latencies_settled", answer.latencies_settled), io.written("queries", answer.queries);
  io.written("seconds", answer.seconds, as::seconds), io.written("cancelled", answer.cancelled), io.written("timed_out", answer.timed_out);
}

}  // namespace

Json latency_json(const Problem& problem, const LatencyRange& answer) { return as::part.write(LatencyAnswer{problem, answer}); }

Json latency_schema() { return nameless_schema<LatencyAnswer>("heddle.latency/1", "What heddle latency answers"); }

}  // namespace heddle
