#include "core/answers/within.h"

#include <fmt/format.h>

#include "core/answers/bracket.h"
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
    for (const Change& change : answer.steps[*answer.best].at) again += " --set " + describe(change);
    text += wrapped("the same problem again:" + again, "", style.width);
  }
  return text;
}

Json within_json(const WithinAnswer& answer) {
  Json steps = Json::array();
  for (const WithinStep& step : answer.steps) {
    Json rings = Json::object(), changes = Json::array();
    for (std::size_t c = 0; c < step.least.depths.size(); ++c)
      if (step.least.depths[c] > 0 && answer.problem.channels[c].space == Space::Smem)
        rings.set(answer.problem.channels[c].name, step.least.depths[c]);
    for (const Change& change : step.at) changes.push(describe(change));
    const bool there = step.ii && step.least.bracket.missing.empty();
    const bool found = step.ii && step.least.end == LeastDepths::End::Found;
    steps.push(Json::object()
                   .set("changes", std::move(changes))
                   .set("status", to_string(step.status))
                   .set("ii", step.ii ? Json(*step.ii) : Json())
                   .set("smem_bytes_as_solved", step.ii ? Json(step.bytes) : Json())
                   .set("found", found)
                   .set("fits", step.fits)
                   .set("depths", found ? std::move(rings) : Json())
                   .set("smem_bytes", found ? Json(step.least.bytes) : Json())
                   .set("at_least", there ? exact_json(step.least.bracket.low) : Json())
                   .set("at_most", there ? exact_json(step.least.bracket.high) : Json())
                   .set("tried", step.least.tried));
  }
  return Json::object()
      .set("percent", answer.percent)
      .set("least_ii", answer.least_ii)
      .set("limit", exact_json(answer.limit))
      .set("room_bytes", answer.room)
      .set("best", answer.best ? Json(*answer.best) : Json())
      .set("least_proved", answer.best && answer.ended)
      .set("proof", proof_text(answer))
      .set("steps", std::move(steps));
}

}  // namespace heddle
