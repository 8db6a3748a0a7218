#include "app/ask/judgement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/formats/schema.h"

namespace heddle::app {
namespace {

std::vector<std::string> judged_row(const JudgedSchedule& one) {
  return {printable(one.name), one.period > 0 ? fmt::format("{:.1f}", one.period) : std::string("-"),
          one.as_compiled ? fmt::format("{}", *one.as_compiled) : std::string("-"), printable(one.against)};
}

/// "3 fell behind (spills 2, turn_gap 1)"
std::string fell_behind(const Judgement& judgement) {
  std::map<std::string, int> rules;
  int all = 0;
  for (const JudgedSchedule& one : judgement.ranked)
    if (!one.against.empty()) ++all, ++rules[one.rule.value_or("does not compile")];
  if (all == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [rule, count] : rules) parts.push_back(fmt::format("{} {}", rule, count));
  return fmt::format("{} fell behind ({})\n", all, fmt::join(parts, ", "));
}

}  // namespace

std::optional<std::size_t> Judgement::least() const {
  std::optional<std::size_t> least;
  for (std::size_t i = 0; i < ranked.size(); ++i)
    if (ranked[i].period > 0 && (!least || ranked[i].period < ranked[*least].period)) least = i;
  return least;
}

std::string judgement_text(const Judgement& judgement, const TextStyle& style) {
  if (judgement.ranked.empty()) return "";
  const auto least = judgement.least();
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < judgement.ranked.size(); ++i) {
    const JudgedSchedule& one = judgement.ranked[i];
    if (i == 0 || i == least || one.name == "solved") rows.push_back(judged_row(one));
  }
  std::string text =
      wrapped(fmt::format("{} of {} orders were compiled and judged by their machine code in {:.1f} s{}", judgement.ranked.size(),
                          judgement.candidates, judgement.seconds, judgement.why.empty() ? "" : ": " + printable(judgement.why)),
              "", style.width);
  text += text_table({{"order"}, {"period", true}, {"as compiled", true}, {"against it"}}, rows, style.width);
  text += fell_behind(judgement);
  if (least && *least != 0)
    text += wrapped(fmt::format("the answer is {}, the fastest as compiled; the least period by the rule of motion is that of {}",
                                printable(judgement.ranked.front().name), printable(judgement.ranked[*least].name)),
                    "", style.width);
  return text;
}

Json judgement_json(const Judgement& judgement) {
  Json orders = Json::array();
  for (const JudgedSchedule& one : judgement.ranked) {
    Json order = Json::array();
    for (const std::string& group : one.order) order.push(group);
    orders.push(Json::Object{{"name", one.name},
                             {"order", std::move(order)},
                             {"period", one.period > 0 ? Json(one.period) : Json()},
                             {"as_compiled", one.as_compiled ? Json(*one.as_compiled) : Json()},
                             {"rule", one.rule ? Json(*one.rule) : Json()},
                             {"against", one.against.empty() ? Json() : Json(one.against)}});
  }
  return Json::Object{{"orders", std::move(orders)},
                      {"candidates", judgement.candidates},
                      {"seconds", judgement.seconds},
                      {"why_not_all", judgement.why.empty() ? Json() : Json(judgement.why)}};
}

Json judgement_schema(Json& definitions) {
  const Json text = schema::type("string"), count = schema::count();
  schema::Object order(definitions);
  order.required("name", text)
      .required("order", schema::list(text), "of the ops, group by group")
      .required("period", schema::or_null(schema::real()), "by the rule of motion, cycles")
      .required("as_compiled", schema::or_null(count), "cycles of an iteration by the machine code; predicted")
      .required("rule", schema::or_null(text), "that puts it behind the others")
      .required("against", schema::or_null(text), "the same as a sentence, or why it does not compile");
  schema::Object root(definitions);
  root.required("orders", schema::list(order.called("judged_order").finish()), "that were compiled, the answer first")
      .required("candidates", count, "that there were")
      .required("seconds", schema::real())
      .required("why_not_all", schema::or_null(text));
  return root.called("judged", "schedules that were compiled and judged by their machine code").finish();
}

}  // namespace heddle::app
