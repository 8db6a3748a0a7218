#include "app/window/tabs/sensitivity/sensitivity_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

std::string values_text(const std::vector<std::int64_t>& values) {
  if (values.empty()) return "";
  return values.size() == 1 ? grouped(values.front()) : fmt::format("{} to {}", grouped(values.front()), grouped(values.back()));
}

SensitivityEnd end_of(const Sensitivity& answer, const SensitivitySide& side) {
  using Kind = SensitivityEnd::Kind;
  SensitivityEnd end;
  end.low = side.lower_bound;
  end.high = side.ii;
  end.values = values_text(side.values);
  if (side.same_problem) {
    end.low = end.high = answer.ii;
    end.text = "as it is";
  } else if (!side.fault.empty()) {
    end.kind = Kind::Impossible;
    end.text = "cannot be";
  } else if (side.lower_bound >= kNoFiniteII) {
    end.kind = Kind::NoSchedule;
    end.text = "no schedule";
  } else if (!side.proved()) {
    end.kind = Kind::Open;
    end.text = side.ii >= kNoFiniteII ? grouped(side.lower_bound) + " or more"
                                      : fmt::format("{} to {}", grouped(side.lower_bound), grouped(side.ii));
  } else {
    end.kind = Kind::Known;
    end.text = grouped(side.ii);
    if (side.ii != answer.ii) end.text += fmt::format(" ({}{})", side.ii > answer.ii ? "+" : "", grouped(side.ii - answer.ii));
  }
  return end;
}

std::string order_text(const SensitivityRow& row, int percent) {
  std::string text;
  for (const auto& [side, sign] : {std::pair(&row.less, "-"), std::pair(&row.more, "+")}) {
    if (side->same_problem || !side->fault.empty() || side->lower_bound >= kNoFiniteII || side->order_stays()) continue;
    const std::string worth = side->order_bound >= kNoFiniteII ? "deadlocks"
                              : side->in_order                 ? "needs " + grouped(*side->in_order)
                                                               : fmt::format("needs {} or more", grouped(side->order_bound));
    text += fmt::format("{}{} at {}{} %", text.empty() ? "" : ", ", worth, sign, percent);
  }
  return text.empty() ? "stays good" : text;
}

std::string headline_of(const Sensitivity& answer) {
  const auto count = [&](SensitivityEffect effect) {
    return std::count_if(answer.rows.begin(), answer.rows.end(), [&](const SensitivityRow& r) { return answer.effect(r) == effect; });
  };
  if (!answer.schedule)
    return answer.status == Status::Infeasible ? "no schedule exists at present, proved" : "no schedule found at present";
  std::string text = fmt::format("II {} at present, {} · {} numbers {} % less and more", grouped(answer.ii),
                                 answer.ii == answer.lower_bound ? "proved" : fmt::format("bound {}", grouped(answer.lower_bound)),
                                 answer.rows.size(), answer.percent);
  const auto add = [&](SensitivityEffect effect, const char* what) {
    if (const auto n = count(effect); n > 0) text += fmt::format(" · {} {}", n, what);
  };
  if (count(SensitivityEffect::II) == 0) text += answer.complete() ? " · none changes II" : " · none found to change II";
  add(SensitivityEffect::II, "change II");
  add(SensitivityEffect::Order, "only the order");
  add(SensitivityEffect::Undecided, "undecided");
  if (!answer.layouts_open.empty()) text += " · layouts open";
  if (answer.cancelled) text += " · cancelled: partial";
  if (answer.timed_out) text += " · time is up: partial";
  return text;
}

/// What sorting compares: II at that end.
Cycle rank(const SensitivityEnd& end) {
  return end.kind == SensitivityEnd::Kind::Impossible ? kNoFiniteII : std::min(end.high, kNoFiniteII);
}

}  // namespace

bool SensitivityLine::proved() const { return less.kind != SensitivityEnd::Kind::Open && more.kind != SensitivityEnd::Kind::Open; }

SensitivityModel build_sensitivity(const Problem& problem, const Sensitivity& answer) {
  SensitivityModel model;
  model.percent = answer.percent;
  model.ii = answer.ii;
  model.headline = headline_of(answer);
  Sensitivity sorted = answer;
  sort_rows(sorted);
  for (const SensitivityRow& row : sorted.rows) {
    SensitivityLine line;
    line.number = row.number;
    line.now = values_text(row.values);
    line.less = end_of(answer, row.less);
    line.more = end_of(answer, row.more);
    line.effect = answer.effect(row);
    line.order = line.effect == SensitivityEffect::TooSmall ? "" : order_text(row, answer.percent);
    line.swing = answer.swing(row);
    for (const std::string& name : row.ops)
      if (const OpId op = problem.find_op(name); op.valid()) line.ops.push_back(op);
    for (const SensitivityEnd* end : {&line.less, &line.more})
      if (end->kind == SensitivityEnd::Kind::Known) model.reach = std::max({model.reach, end->low - answer.ii, answer.ii - end->low});
    model.without_effect += line.without_effect();
    line.place = static_cast<std::int64_t>(model.lines.size());
    model.lines.push_back(std::move(line));
  }
  return model;
}

std::vector<Column<SensitivityLine>> sensitivity_columns(const SensitivityModel& model) {
  using Line = SensitivityLine;
  const auto number = [](const Line& l) { return l.number; };
  const auto status = [](const Line& l) {
    return std::string(l.effect == SensitivityEffect::TooSmall ? "too small" : l.proved() ? "proved" : "not proved");
  };
  return {
      Column<Line>{"number", false, number}.sorted_by(number),
      {"now", true, [](const Line& l) { return l.now; }},
      {fmt::format("II at -{} %", model.percent), true, [](const Line& l) { return l.less.text; },
       [](const Line& l) { return rank(l.less); }},
      {"swing", false, [](const Line& l) { return grouped(l.swing); }, [](const Line& l) { return -l.place; }},
      {fmt::format("II at +{} %", model.percent), true, [](const Line& l) { return l.more.text; },
       [](const Line& l) { return rank(l.more); }},
      {"status", false, status},
      {"present order", false, [](const Line& l) { return l.order; }},
  };
}

std::string sensitivity_as_text(const SensitivityModel& model) {
  std::string text = fmt::format("number\tnow\tII at -{0} %\tII at +{0} %\tpresent order\tstatus\n", model.percent);
  for (const SensitivityLine& line : model.lines)
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", line.number, line.now, line.less.text, line.more.text, line.order,
                        line.proved() ? "proved" : "not proved");
  return text;
}

}  // namespace heddle::app
