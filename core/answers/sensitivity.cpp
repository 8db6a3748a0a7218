#include "core/answers/sensitivity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/answers/answer_members.h"
#include "core/answers/layout_choice.h"
#include "core/answers/period_parts.h"
#include "core/answers/summary.h"

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

/// "2450.3 (-12.0)"
std::string period_text(const Sensitivity& answer, std::optional<double> period) {
  if (!period || !answer.period) return "";
  if (*period <= 0) return "cannot run";
  const double change = *period - *answer.period;
  return std::abs(change) < 0.05 ? fmt::format("{:.1f}", *period) : fmt::format("{:.1f} ({:+.1f})", *period, change);
}

/// It changes neither II nor the order, and the period by less than half a percent.
bool quiet(const Sensitivity& answer, const SensitivityRow& row) {
  const auto moves = [&](const SensitivitySide& side) {
    return answer.period && side.period && std::abs(*side.period - *answer.period) >= 0.005 * *answer.period;
  };
  return answer.effect(row) == SensitivityEffect::None && !moves(row.less) && !moves(row.more);
}

std::string contention_table(const Sensitivity& answer, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const motion::PeriodAtEnds& row : answer.contention)
    rows.push_back({row.number, std::to_string(row.value), fmt::format("{} to {}", row.least, row.most), period_text(answer, row.at_least),
                    period_text(answer, row.at_most)});
  return rows.empty() ? std::string()
                      : "\n" + text_table({{"number of contention"},
                                           {"now", true},
                                           {"stated range", true},
                                           {"period at the least", true},
                                           {"at the most", true}},
                                          rows, style.width);
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
    if (!all && (effect == SensitivityEffect::TooSmall || quiet(answer, row))) continue;
    rows.push_back({printable(row.number), ends_text(row.values), sides_ii(answer, row.less), sides_ii(answer, row.more),
                    effect == SensitivityEffect::TooSmall ? "" : order_text(row)});
    if (answer.period) rows.back().insert(rows.back().end(), {period_text(answer, row.less.period), period_text(answer, row.more.period)});
  }
  std::vector<TextColumn> columns{{"number"},
                                  {"now", true},
                                  {fmt::format("II at -{} %", answer.percent), true},
                                  {fmt::format("II at +{} %", answer.percent), true},
                                  {"II in the present order"}};
  if (answer.period)
    columns.insert(columns.end(),
                   {{fmt::format("period at -{} %", answer.percent), true}, {fmt::format("at +{} %", answer.percent), true}});
  if (!rows.empty()) text += "\n" + text_table(columns, rows);
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
  const auto none = std::count_if(answer.rows.begin(), answer.rows.end(), [&](const SensitivityRow& r) { return quiet(answer, r); });
  if (none > 0 && !all) text += fmt::format("  {} more numbers change neither II nor make another order better\n", none);
  if (answer.period) text += fmt::format("\nperiod {:.1f} cycles at present, with contention\n", *answer.period);
  text += contention_table(answer, style);
  text += "\n" + join_facts({count_of(answer.queries, "query", "queries"), fmt::format("{:.2f} s", answer.seconds)}, style) + "\n";
  return text;
}

const char* to_string(SensitivityEffect effect) {
  switch (effect) {
    case SensitivityEffect::II: return "ii";
    case SensitivityEffect::Order: return "order";
    case SensitivityEffect::TooSmall: return "too_small";
    case SensitivityEffect::None: return "none";
    case SensitivityEffect::Undecided: break;
  }
  return "undecided";
}

namespace {

struct SensitivityAnswer {
  const Problem& problem = blank<Problem>;
  const Sensitivity& answer = blank<Sensitivity>;
};

}  // namespace

template <class Io>
void visit(Io& io, const SensitivitySide& side) {
  const bool other = !side.same_problem;
  io.part("side");
  io.written("values", side.values, as::list(as::any_integer), "what the number becomes, where it stands in the problem");
  io.written("same_problem", side.same_problem, "nothing depends on it, or so little rounds to nothing; then nothing below is there");
  io.written_if(other, "status", side.status(), as::status), io.written_if(other, "ii", side.ii, as::finite_ii);
  io.written_if(other, "lower_bound", side.lower_bound, as::finite_ii);
  io.written_if(other, "ii_in_order", side.in_order, "the smallest known with the present groups and order");
  io.written_if(other, "order_bound", side.order_bound, as::finite_ii), io.written_if(other, "order_stays", side.order_stays());
  io.written_if(other, "order_goes", side.order_goes());
  io.written_if(other && side.period, "period", side.period, "with contention, in the present order; 0: it cannot run");
  io.written_if(other, "fault", only_if(!side.fault.empty(), side.fault), "why such a number cannot be at all");
  if (other) visit_choices(io, side.layouts);
}

template <class Io>
void visit(Io& io, const as::InContext<SensitivityRow, Sensitivity>& in) {
  const SensitivityRow& row = in.part;
  io.written("number", row.number, "as changes name it");
  io.written("effect", in.context.effect(row), as::word("effect", SensitivityEffect::II));
  io.written("values", row.values, as::list(as::any_integer), "at present");
  io.written("ops", row.ops), io.written("less", row.less), io.written("more", row.more);
}

namespace {

template <class Io>
void visit(Io& io, const SensitivityAnswer& of) {
  const Sensitivity& answer = of.answer;
  io.written("status", answer.status, as::status), io.written("complete", answer.complete()), io.written("percent", answer.percent);
  io.written("ii", only_if(answer.schedule.has_value(), answer.ii)), io.written("lower_bound", answer.lower_bound);
  io.written("explanation", answer.explanation);
  io.written_if(answer.period.has_value(), "period", answer.period, "at present, with contention");
  io.written_if(answer.period.has_value(), "contention", answer.contention, "greatest change of the period first");
  io.written("rows", answer.rows, as::list(as::part_in(answer)), "greatest effect first");
  visit_problem(io, of.problem);
  io.optional("layouts_open", answer.layouts_open);
  visit_choices(io, answer.layouts);
  io.written("queries", answer.queries), io.written("seconds", answer.seconds, as::seconds), io.written("cancelled", answer.cancelled);
  io.written("timed_out", answer.timed_out);
}

}  // namespace

Json sensitivity_json(const Problem& problem, const Sensitivity& answer) { return as::part.write(SensitivityAnswer{problem, answer}); }

Json sensitivity_schema() { return nameless_schema<SensitivityAnswer>("heddle.sensitivity/1", "What heddle sensitivity answers"); }

}  // namespace heddle
