#include "core/answers/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/answers/layout_choice.h"
#include "core/answers/summary.h"
#include "core/formats/choices_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

bool moves_ii(const SensitivitySide& side, Cycle ii) {
  if (side.same_problem) return false;
  return !side.fault.empty() || side.lower_bound > ii || side.ii < ii;
}

bool open(const SensitivitySide& side) { return !side.same_problem && side.fault.empty() && !side.proved(); }

Cycle swing_of(const SensitivitySide& side, Cycle ii) {
  if (side.same_problem || !side.fault.empty()) return 0;
  if (side.lower_bound >= kNoFiniteII) return kNoFiniteII;
  if (side.lower_bound > ii) return side.lower_bound - ii;
  return side.ii < ii ? ii - side.ii : 0;
}

}  // namespace

SensitivityEffect Sensitivity::effect(const SensitivityRow& row) const {
  const SensitivitySide* sides[] = {&row.less, &row.more};
  const auto any = [&](auto&& judge) { return std::any_of(std::begin(sides), std::end(sides), [&](auto* s) { return judge(*s); }); };
  if (any([&](const SensitivitySide& s) { return moves_ii(s, ii); })) return SensitivityEffect::II;
  if (any(open)) return SensitivityEffect::Undecided;
  if (row.less.same_problem && row.more.same_problem) return SensitivityEffect::TooSmall;
  if (any([](const SensitivitySide& s) { return !s.same_problem && s.order_goes(); })) return SensitivityEffect::Order;
  if (any([](const SensitivitySide& s) { return !s.same_problem && !s.order_stays(); })) return SensitivityEffect::Undecided;
  return SensitivityEffect::None;
}

Cycle Sensitivity::swing(const SensitivityRow& row) const { return std::max(swing_of(row.less, ii), swing_of(row.more, ii)); }

bool Sensitivity::complete() const {
  return !cancelled && !timed_out && schedule && status == Status::Optimal &&
         std::none_of(rows.begin(), rows.end(), [](const SensitivityRow& r) { return open(r.less) || open(r.more); });
}

void sort_rows(Sensitivity& answer) {
  std::stable_sort(answer.rows.begin(), answer.rows.end(), [&](const SensitivityRow& a, const SensitivityRow& b) {
    const Cycle swing_a = answer.swing(a), swing_b = answer.swing(b);
    if (swing_a != swing_b) return swing_a > swing_b;
    return static_cast<int>(answer.effect(a)) > static_cast<int>(answer.effect(b));
  });
}

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
    return join_facts(
        {answer.status == Status::Infeasible ? "no schedule exists at present" : "no schedule found at present", state_of(answer)}, style);
  if (answer.rows.empty()) return join_facts({fmt::format("II {} at present", answer.ii), "no number tried", state_of(answer)}, style);
  const auto part = [&](SensitivityEffect effect, const char* what) {
    const std::int64_t count = with_effect(answer, effect);
    return count > 0 ? fmt::format("{} {}", count, what) : std::string();
  };
  return join_facts(
      {fmt::format("{} numbers {} % less and more", answer.rows.size(), answer.percent),
       with_effect(answer, SensitivityEffect::II) > 0 ? part(SensitivityEffect::II, "change II")
       : answer.complete()                            ? "none changes II"
                                                      : "none found to change II",
       part(SensitivityEffect::Order, "only the order"), part(SensitivityEffect::Undecided, "undecided"),
       part(SensitivityEffect::None, "neither"), part(SensitivityEffect::TooSmall, "too small to be off by that"), state_of(answer)},
      style);
}

std::string sensitivity_summary(const Problem& problem, const Sensitivity& answer, bool all, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n";
  if (answer.schedule)
    text += join_facts({fmt::format("II {} at present", answer.ii), fmt::format("bound {}", answer.lower_bound),
                        answer.ii == answer.lower_bound ? "proved" : "not proved"},
                       style) +
            "\n" + printable(answer.explanation) + "\n";
  if (!answer.layouts_open.empty())
    text += wrapped(fmt::format("every II that is proved is the least over {}; at present {}", styled(answer.layouts_open, style),
                                styled(choices_in_words(answer.layouts), style)),
                    "", style.width);
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
    text += "\n" + text_table({{"number"},
                               {"now", true},
                               {fmt::format("II at -{} %", answer.percent), true},
                               {fmt::format("II at +{} %", answer.percent), true},
                               {"II in the present order"}},
                              rows);
  for (const SensitivityRow& row : answer.rows)
    for (const auto& [side, sign] : {std::pair(&row.less, '-'), std::pair(&row.more, '+')})
      if (!side->fault.empty())
        text += fmt::format("  {} {}{} %: {}\n", printable(row.number), sign, answer.percent, printable(side->fault));
  for (const SensitivityRow& row : answer.rows)
    for (const auto& [side, sign] : {std::pair(&row.less, '-'), std::pair(&row.more, '+')})
      if (!side->layouts.empty())
        text += fmt::format("  {} {}{} %: with {}\n", printable(row.number), sign, answer.percent,
                            styled(choices_in_words(side->layouts), style));
  if (!rows.empty())
    text += "  present order: same groups, same order on every stream and unit, same overlap of iterations; other starts\n";
  if (const auto none = with_effect(answer, SensitivityEffect::None); none > 0 && !all)
    text += fmt::format("  {} more numbers change neither II nor make another order better\n", none);
  text += "\n" + join_facts({count_of(answer.queries, "query", "queries"), fmt::format("{:.2f} s", answer.seconds)}, style) + "\n";
  return text;
}

namespace {

Json integers(const std::vector<std::int64_t>& numbers) {
  Json list = Json::array();
  for (const std::int64_t number : numbers) list.push(number);
  return list;
}

const char* word_for(SensitivityEffect effect) {
  switch (effect) {
    case SensitivityEffect::II: return "ii";
    case SensitivityEffect::Order: return "order";
    case SensitivityEffect::TooSmall: return "too_small";
    case SensitivityEffect::None: return "none";
    case SensitivityEffect::Undecided: break;
  }
  return "undecided";
}

Json side_json(const SensitivitySide& side) {
  Json item = Json::object();
  item.set("values", integers(side.values)).set("same_problem", side.same_problem);
  if (side.same_problem) return item;
  item.set("status", to_string(side.status())).set("ii", finite_ii_json(side.ii)).set("lower_bound", finite_ii_json(side.lower_bound));
  item.set("ii_in_order", side.in_order ? Json(*side.in_order) : Json()).set("order_bound", finite_ii_json(side.order_bound));
  item.set("order_stays", side.order_stays()).set("order_goes", side.order_goes());
  item.set("fault", side.fault.empty() ? Json() : Json(side.fault));
  set_choices(item, side.layouts);
  return item;
}

}  // namespace

Json sensitivity_json(const Problem& problem, const Sensitivity& answer) {
  Json root = Json::object();
  root.set("status", to_string(answer.status)).set("complete", answer.complete()).set("percent", answer.percent);
  root.set("ii", answer.schedule ? Json(answer.ii) : Json()).set("lower_bound", answer.lower_bound);
  root.set("explanation", answer.explanation);
  Json rows = Json::array();
  for (const SensitivityRow& row : answer.rows) {
    Json item = Json::object();
    item.set("number", row.number).set("effect", word_for(answer.effect(row))).set("values", integers(row.values));
    item.set("ops", names_json(row.ops)).set("less", side_json(row.less)).set("more", side_json(row.more));
    rows.push(std::move(item));
  }
  root.set("rows", std::move(rows));
  set_problem(root, problem);
  if (!answer.layouts_open.empty()) root.set("layouts_open", answer.layouts_open);
  set_choices(root, answer.layouts);
  root.set("queries", answer.queries).set("seconds", seconds_json(answer.seconds));
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out);
  return root;
}

}  // namespace heddle
