#include "core/answers/within.h"

#include <fmt/format.h>

#include "core/answers/answer_members.h"
#include "core/answers/summary.h"
#include "core/chart/chart_layout.h"

namespace heddle {
namespace {

std::string rings_text(const Problem& problem, const std::vector<int>& depths) {
  std::string text;
  for (std::size_t c = 0; c < depths.size(); ++c)
    if (depths[c] > 0 && problem.channels[c].space == Space::Smem)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", printable(problem.channels[c].name), depths[c]);
  return text;
}

std::string step_status(const WithinStep& step) {
  if (!step.ii) return step.status == Status::Infeasible ? "no schedule" : "no schedule in time";
  switch (step.least.end) {
    case LeastDepths::End::Found: return step.fits ? "the least" : "does not fit";
    case LeastDepths::End::None: return "no depths that fit do";
    case LeastDepths::End::GaveUp: return "not found: nothing below " + grouped(step.least.excluded) + " bytes does";
  }
  return "";
}

/// What is proved, in sentences.
std::string proof_text(const WithinAnswer& answer) {
  if (answer.steps.empty() || !answer.steps.front().ii) return "nothing is claimed: there is no schedule for the shortest latencies";
  const bool least = *answer.steps.front().ii == answer.least_ii;
  const std::string limit =
      fmt::format("{} cycles, {} % above {} {} (of the shortest latencies; no listed latency has a smaller one)", answer.limit.text(),
                  answer.percent, least ? "the least II" : "what is proved of the least II,", grouped(answer.least_ii));
  const std::string range =
      "the orders above, one for each listed latency, and all depths of their rings in shared memory; other orders were not looked at";
  if (!answer.best) {
    return answer.ended ? fmt::format("proved: with none of these orders is the upper end within {}, whatever the ring depths in {} bytes",
                                      limit, grouped(answer.room))
                        : fmt::format("not found: an upper end within {}", limit);
  }
  const WithinStep& best = answer.steps[*answer.best];
  return fmt::format("proved: the expected period is at most {} cycles, within {}. {} of {}", best.least.bracket.high.text(), limit,
                     answer.ended ? fmt::format("Proved too: {} bytes are the least", grouped(best.least.bytes))
                                  : fmt::format("{} bytes are not proved to be the least", grouped(best.least.bytes)),
                     range);
}

}  // namespace

std::string within_summary(const WithinAnswer& answer, const TextStyle& style) {
  std::string text = fmt::format("\nwithin {} % of the least II for certain: upper end at most {}\n", answer.percent, answer.limit.text());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < answer.steps.size(); ++i) {
    const WithinStep& step = answer.steps[i];
    rows.push_back({answer.best == i ? "*" : "", step.scheduled_for, step.ii ? grouped(*step.ii) : "",
                    std::string(status_word(to_string(step.status))), step.ii ? grouped(step.bytes) : ""});
    const bool found = step.ii && step.least.end == LeastDepths::End::Found;
    rows.back().push_back(found ? rings_text(answer.problem, step.least.depths) : "");
    rows.back().push_back(found ? grouped(step.least.bytes) : "");
    rows.back().push_back(found ? step.least.bracket.low.text() : "");
    rows.back().push_back(step.ii && step.least.bracket.missing.empty() ? step.least.bracket.high.text() : "");
    rows.back().push_back(step_status(step));
  }
  text += text_table({{""},
                      {"scheduled for", true},
                      {"II", true},
                      {"status"},
                      {"bytes as solved", true},
                      {"ring depths"},
                      {"bytes", true},
                      {"at least", true},
                      {"at most", true},
                      {""}},
                     rows);
  text += wrapped(proof_text(answer), "", style.width);
  if (answer.best) {
    std::string again;
    for (const Change& change : answer.steps[*answer.best].at) again += " " + said_by(style, "set") + " " + describe(change);
    text += wrapped("the same problem again:" + again, "", style.width);
  }
  return text;
}

namespace {

/// {"K": 4}
struct RingDepths {
  const Problem& problem;
  Json write(const std::vector<int>& depths) const {
    Json rings = Json::object();
    for (std::size_t c = 0; c < depths.size(); ++c)
      if (depths[c] > 0 && problem.channels[c].space == Space::Smem) rings.set(problem.channels[c].name, depths[c]);
    return rings;
  }
  Json schema(const std::vector<int>&, Json&) const { return schema::params(); }
};

}  // namespace

template <class Io>
void visit(Io& io, const as::InContext<WithinStep, Problem>& in) {
  const WithinStep& step = in.part;
  const PeriodBracket& bracket = step.least.bracket;
  const bool there = step.ii && bracket.missing.empty(), found = step.ii && step.least.end == LeastDepths::End::Found;
  std::vector<std::string> changes;
  for (const Change& change : step.at) changes.push_back(describe(change));
  io.written("changes", changes), io.written("status", step.status, as::status), io.written("ii", step.ii);
  io.written("smem_bytes_as_solved", only_if(step.ii.has_value(), step.bytes)), io.written("found", found), io.written("fits", step.fits);
  io.written("depths", only_if(found, step.least.depths), RingDepths{in.context});
  io.written("smem_bytes", only_if(found, step.least.bytes)), io.written("at_least", only_if(there, bracket.low));
  io.written("at_most", only_if(there, bracket.high)), io.written("tried", step.least.tried);
}

template <class Io>
void visit(Io& io, const WithinAnswer& answer) {
  io.part("within");
  io.written("percent", answer.percent);
  io.written("least_ii", answer.least_ii, "no schedule has a smaller II, at any of the listed latencies");
  io.written("limit", answer.limit, "of the upper end");
  io.written("room_bytes", answer.room, "shared memory that a CTA may use");
  io.written("best", answer.best, "the step that takes the least memory");
  io.written("least_proved", answer.best && answer.ended);
  io.written("proof", [&] { return proof_text(answer); });
  io.written("steps", answer.steps, as::list(as::part_in(answer.problem)));
}

Json within_json(const WithinAnswer& answer) { return as::part.write(answer); }
Json within_schema(Json& definitions) { return as::part.schema(WithinAnswer{}, definitions); }

}  // namespace heddle
