// Rows for what has an effect, one sentence for the rest.
#include "core/answers/sensitivity_summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"

namespace heddle {
namespace {

std::int64_t with_effect(const Sensitivity& answer, SensitivityEffect effect) {
  return std::count_if(answer.rows.begin(), answer.rows.end(), [&](const SensitivityRow& r) { return answer.effect(r) == effect; });
}

std::string values_text(const std::vector<std::int64_t>& values) {
  if (values.empty()) return "";
  return values.size() == 1 ? std::to_string(values.front()) : fmt::format("{}-{}", values.front(), values.back());
}

/// "1946 (-102)", "2048", "2048-2100 not proved", "no schedule", "impossible".
std::string sides_ii(const Sensitivity& answer, const SensitivitySide& side) {
  if (side.same_problem) return "as it is";
  if (!side.fault.empty()) return "impossible";
  if (side.lower_bound >= kNoFiniteII) return "no schedule";
  if (side.ii >= kNoFiniteII) return fmt::format("{} or more, not proved", side.lower_bound);
  if (!side.proved()) return fmt::format("{}-{} not proved", side.lower_bound, side.ii);
  return side.ii == answer.ii ? std::to_string(side.ii) : fmt::format("{} ({:+})", side.ii, side.ii - answer.ii);
}

/// The II of the present order with other starts.
std::string order_worth(const SensitivitySide& side) {
  if (side.order_bound >= kNoFiniteII) return "deadlock";
  if (!side.in_order) return fmt::format("{} or more", side.order_bound);
  return side.order_bound == *side.in_order ? std::to_string(side.order_bound) : fmt::format("{}-{}", side.order_bound, *side.in_order);
}

/// What the present order is worth: nothing to say where it is as good as any.
std::string order_text(const SensitivityRow& row) {
  std::string text;
  for (const auto& [side, sign] : {std::pair(&row.less, '-'), std::pair(&row.more, '+')}) {
    if (side->same_problem || !side->fault.empty() || side->lower_bound >= kNoFiniteII) continue;
    if (side->order_stays()) continue;
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", sign, order_worth(*side));
  }
  return text.empty() ? "stays good" : text;
}

std::string state_of(const Sensitivity& answer) {
  return answer.cancelled ? "interrupted: partial" : answer.timed_out ? "time is up: partial" : "";
}

}  // namespace

std::string sensitivity_headline(const Sensitivity& answer, const TextStyle& style) {
  if (!answer.schedule)
    return join_facts({answer.status == Status::Infeasible ? "no schedule exists at present" : "no schedule found at present",
                       state_of(answer)},
                      style);
  if (answer.rows.empty()) return join_facts({fmt::format("II {} at present", answer.ii), "no number tried", state_of(answer)}, style);
  const auto part = [&](SensitivityEffect effect, const char* what) {
    const std::int64_t count = with_effect(answer, effect);
    return count > 0 ? fmt::format("{} {}", count, what) : std::string();
  };
  return join_facts({fmt::format("{} numbers {} % less and more", answer.rows.size(), answer.percent),
                     with_effect(answer, SensitivityEffect::II) > 0 ? part(SensitivityEffect::II, "change II") : answer.complete() ? "none changes II" : "none found to change II",
                     part(SensitivityEffect::Order, "only the order"), part(SensitivityEffect::Undecided, "undecided"),
                     part(SensitivityEffect::None, "neither"),
                     part(SensitivityEffect::TooSmall, "too small to be off by that"),
                     state_of(answer)},
                    style);
}

std::string sensitivity_summary(const Problem& problem, const Sensitivity& answer, bool all, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  if (answer.schedule)
    text += join_facts({fmt::format("II {} at present", answer.ii), fmt::format("bound {}", answer.lower_bound),
                        answer.ii == answer.lower_bound ? "proved" : "not proved"},
                       style) +
            "\n" + printable(answer.explanation) + "\n";
  text += sensitivity_headline(answer, style) + "\n";
  if (answer.status == Status::Infeasible)
    text += wrapped(printable(answer.explanation), "", style.width) +
            "so there is no II that a number could change; heddle explain tells what would help\n";
  std::vector<std::vector<std::string>> rows;
  for (const SensitivityRow& row : answer.rows) {
    const SensitivityEffect effect = answer.effect(row);
    if (!all && (effect == SensitivityEffect::None || effect == SensitivityEffect::TooSmall)) continue;
    rows.push_back({printable(row.number), values_text(row.values), sides_ii(answer, row.less), sides_ii(answer, row.more),
                    effect == SensitivityEffect::TooSmall ? "" : order_text(row)});
  }
  if (!rows.empty())
    text += "\n" + text_table({{"number"}, {"now", true}, {fmt::format("II at -{} %", answer.percent), true},
                               {fmt::format("II at +{} %", answer.percent), true}, {"II in the present order"}},
                              rows);
  for (const SensitivityRow& row : answer.rows)
    for (const auto& [side, sign] : {std::pair(&row.less, '-'), std::pair(&row.more, '+')})
      if (!side->fault.empty())
        text += fmt::format("  {} {}{} %: {}\n", printable(row.number), sign, answer.percent, printable(side->fault));
  if (!rows.empty())
    text += "  present order: same groups, same order on every stream and unit, same overlap of iterations; other starts\n";
  if (const auto none = with_effect(answer, SensitivityEffect::None); none > 0 && !all)
    text += fmt::format("  {} more numbers change neither II nor make another order better\n", none);
  text += "\n" + join_facts({count_of(answer.queries, "query", "queries"), fmt::format("{:.2f} s", answer.seconds)}, style) + "\n";
  return text;
}

}  // namespace heddle
