// Range first, then the steps; what is not proved says so in its own row.
#include "core/answers/latency_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"

namespace heddle {
namespace {

constexpr std::size_t kMostRows = 40;

std::string range_text(Cycle low, Cycle high) { return low == high ? std::to_string(low) : fmt::format("{}-{}", low, high); }

std::string up_to(Cycle latency) {
  return latency == kUnlimited ? "every latency" : fmt::format("latencies 0 to {}", latency);
}

std::string ii_text(const LatencySegment& segment) {
  const LatencyStep& s = segment.step;
  if (s.lower_bound >= kNoFiniteII) return "no schedule";
  if (s.ii >= kNoFiniteII) return fmt::format("at least {}", s.lower_bound);
  return s.proved() ? range_text(s.ii, segment.last_ii()) : range_text(s.lower_bound, s.ii);
}

std::string rise_text(const LatencySegment& segment) {
  if (segment.rise == 0) return "";
  return segment.every == 1 ? fmt::format("+{} per cycle", segment.rise)
                            : fmt::format("+{} every {} cycles", segment.rise, segment.every);
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
    const std::string how_much = *answer.valid_to >= kUnlimited ? "" : more == 0 ? " (no more than now)" : fmt::format(" ({} more than now)", more);
    text += wrapped(fmt::format("{} stays valid, start for start, for {}{}", whose, up_to(*answer.valid_to), how_much), "", style.width);
    if (!answer.breaks.empty()) text += wrapped(printable(answer.breaks), fmt::format("  at {}: ", *answer.valid_to + 1), style.width);
    if (answer.refitted_to && *answer.refitted_to != *answer.valid_to)
      text += fmt::format("  with ring depths and register budgets chosen anew: for {}\n", up_to(*answer.refitted_to));
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
    rows.push_back({range_text(s.low, s.high), ii_text(segment), rise_text(segment), s.proved() ? "proved" : "not proved",
                    now ? "now" : "", printable(s.why)});
  }
  text += text_table({{"latency", true}, {"II", true}, {""}, {"status"}, {""}, {"why not smaller"}}, rows, style.width);
  if (segments.size() > kMostRows)
    text += fmt::format("  and {} more steps up to latency {} (--json lists them)\n", segments.size() - kMostRows, answer.to);
  text += "\n" + join_facts({count_of(answer.latencies_settled, "latency", "latencies") + " looked at",
                             fmt::format("{} with the solver", answer.queries), fmt::format("{:.2f} s", answer.seconds)},
                            style) +
          "\n";
  return text;
}

}  // namespace heddle
