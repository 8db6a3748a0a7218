#include "app/window/tabs/tune/sweep_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/base/letters.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

constexpr double kNoNumber = SweepPoint::kNone;

bool is_number(double x) { return x == x; }
double number_or_none(std::int64_t x) { return x < 0 ? kNoNumber : static_cast<double>(x); }

std::string sweep_value_text(double value) {
  if (!is_number(value)) return {};
  return value == std::floor(value) && std::abs(value) < 1e15 ? grouped(static_cast<std::int64_t>(value)) : fmt::format("{:.4g}", value);
}

/// One word of the filter.
struct FilterTerm {
  std::string word;  ///< that must occur; empty: a comparison
  std::optional<SweepColumnRef> column;
  enum class Op { Equal, Unequal, Less, Greater, AtMost, AtLeast } op = Op::Equal;
  std::string text;  ///< compared with
  double number = kNoNumber;
};

std::optional<SweepColumnRef> column_named(const SweepTable& table, const std::string& name) {
  for (std::size_t a = 0; a < table.axes.size(); ++a)
    if (lower_case(table.axes[a].name) == name) return SweepColumnRef{SweepColumn::Axis, a};
  for (const SweepColumnRef column : sweep_columns(table, true))
    if (column.column != SweepColumn::Axis && lower_case(column_title(table, column)) == name) return column;
  return std::nullopt;
}

FilterTerm term_of(const SweepTable& table, const std::string& word) {
  constexpr std::pair<const char*, FilterTerm::Op> kOps[] = {{"<=", FilterTerm::Op::AtMost},  {">=", FilterTerm::Op::AtLeast},
                                                             {"!=", FilterTerm::Op::Unequal}, {"=", FilterTerm::Op::Equal},
                                                             {"<", FilterTerm::Op::Less},     {">", FilterTerm::Op::Greater}};
  FilterTerm term;
  for (const auto& [sign, op] : kOps) {
    const std::size_t at = word.find(sign);
    if (at == std::string::npos || at == 0) continue;
    const auto column = column_named(table, word.substr(0, at));
    if (!column) break;
    term.column = column;
    term.op = op;
    term.text = word.substr(at + std::string_view(sign).size());
    char* end = nullptr;
    const double number = std::strtod(term.text.c_str(), &end);
    if (!term.text.empty() && end == term.text.c_str() + term.text.size()) term.number = number;
    return term;
  }
  term.word = word;
  return term;
}

std::vector<FilterTerm> terms_of(const SweepTable& table, const std::string& filter) {
  std::vector<FilterTerm> terms;
  const std::string text = lower_case(filter);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    terms.push_back(term_of(table, text.substr(begin, end - begin)));
    at = end;
  }
  return terms;
}

bool compares(const SweepTable& table, const SweepPoint& point, const FilterTerm& term) {
  if (term.text.empty()) return true;  // still being typed
  const double number = number_in(table, point, *term.column);
  if (is_number(number) && is_number(term.number)) {
    switch (term.op) {
      case FilterTerm::Op::Equal: return number == term.number;
      case FilterTerm::Op::Unequal: return number != term.number;
      case FilterTerm::Op::Less: return number < term.number;
      case FilterTerm::Op::Greater: return number > term.number;
      case FilterTerm::Op::AtMost: return number <= term.number;
      case FilterTerm::Op::AtLeast: return number >= term.number;
    }
  }
  const std::string cell = lower_case(cell_of(table, point, *term.column));
  return term.op == FilterTerm::Op::Equal ? cell == term.text : term.op == FilterTerm::Op::Unequal && cell != term.text;
}

bool word_occurs(const SweepTable& table, const SweepPoint& point, const std::string& word) {
  for (const std::uint32_t w : {point.status, point.by, point.fidelity})
    if (lower_case(table.word(w)).find(word) != std::string::npos) return true;
  return lower_case(point.why).find(word) != std::string::npos || lower_case(table.label(point)).find(word) != std::string::npos;
}

bool brushed(const SweepTable& table, const SweepValueScale& scale, const SweepPoint& point, const SweepBrush& brush) {
  constexpr double kSlack = 1e-6;
  double at = kNoNumber;
  if (brush.axis < table.axes.size()) {
    if (const double c = point.coordinate(brush.axis); is_number(c)) at = table.axes[brush.axis].position(c);
  } else {
    at = value_position(scale, point);
  }
  return is_number(at) && at >= brush.low - kSlack && at <= brush.high + kSlack;
}

}  // namespace

std::vector<SweepColumnRef> sweep_columns(const SweepTable& table, bool all) {
  using enum SweepColumn;
  std::vector<SweepColumnRef> list{{Number}, {Status}, {Value}, {Ratio}};
  const auto any = [&](auto member) { return std::any_of(table.points.begin(), table.points.end(), member); };
  if (all) list.push_back({Bound});
  for (std::size_t a = 0; a < table.axes.size(); ++a) {
    // What is the same for all says nothing.
    const bool telling = !table.axes[a].listed() || table.axes[a].values.size() > 1;
    if (all || telling) list.push_back({Axis, a});
  }
  const bool tuning = table.kind == SweepKind::Tuning;
  if (all || tuning) list.push_back({Ii});
  list.push_back({Stages});
  if (all || tuning) list.push_back({Groups});
  if (all || any([](const SweepPoint& p) { return p.warps >= 0; })) list.push_back({Warps});
  if (all || any([](const SweepPoint& p) { return p.smem >= 0; })) list.push_back({Smem});
  if (all || any([](const SweepPoint& p) { return p.registers >= 0; })) list.push_back({Registers});
  if (all || any([](const SweepPoint& p) { return is_number(p.tflops); })) list.push_back({Tflops});
  list.push_back({Seconds});
  if (all || tuning) list.insert(list.end(), {{By}, {Fidelity}});
  list.push_back({Why});
  return list;
}

std::string column_title(const SweepTable& table, SweepColumnRef column) {
  switch (column.column) {
    case SweepColumn::Number: return table.kind == SweepKind::Tuning ? "#" : "job";
    case SweepColumn::Status: return "status";
    case SweepColumn::Value: return table.kind == SweepKind::Tuning ? (table.head.unit == "us" ? "us" : "cycles") : "II";
    case SweepColumn::Ratio: return "ratio";
    case SweepColumn::Bound: return "bound";
    case SweepColumn::Axis: return column.axis < table.axes.size() ? table.axes[column.axis].name : std::string();
    case SweepColumn::Ii: return "II";
    case SweepColumn::Stages: return "stages";
    case SweepColumn::Groups: return "groups";
    case SweepColumn::Warps: return "warps";
    case SweepColumn::Smem: return "smem";
    case SweepColumn::Registers: return "regs";
    case SweepColumn::Tflops: return "TFLOP/s";
    case SweepColumn::Seconds: return "s";
    case SweepColumn::By: return table.kind == SweepKind::Tuning ? "by" : "do";
    case SweepColumn::Fidelity: return "fidelity";
    case SweepColumn::Why: return "why";
  }
  return {};
}

bool column_of_numbers(const SweepTable& table, SweepColumnRef column) {
  switch (column.column) {
    case SweepColumn::Status:
    case SweepColumn::By:
    case SweepColumn::Fidelity:
    case SweepColumn::Why: return false;
    case SweepColumn::Axis: return column.axis < table.axes.size() && !table.axes[column.axis].words;
    default: return true;
  }
}

double number_in(const SweepTable& table, const SweepPoint& point, SweepColumnRef column) {
  switch (column.column) {
    case SweepColumn::Number: return static_cast<double>(point.number);
    case SweepColumn::Value: return point.value;
    case SweepColumn::Ratio: return table.ratio(point);
    case SweepColumn::Bound: return point.bound;
    case SweepColumn::Axis:
      return column.axis < table.axes.size() && !table.axes[column.axis].words ? point.coordinate(column.axis) : kNoNumber;
    case SweepColumn::Ii: return number_or_none(point.ii);
    case SweepColumn::Stages: return number_or_none(point.stages);
    case SweepColumn::Groups: return number_or_none(point.groups);
    case SweepColumn::Warps: return number_or_none(point.warps);
    case SweepColumn::Smem: return number_or_none(point.smem);
    case SweepColumn::Registers: return number_or_none(point.registers);
    case SweepColumn::Tflops: return point.tflops;
    case SweepColumn::Seconds: return point.seconds;
    default: return kNoNumber;
  }
}

std::string cell_of(const SweepTable& table, const SweepPoint& point, SweepColumnRef column) {
  switch (column.column) {
    case SweepColumn::Number: return std::to_string(point.number);
    case SweepColumn::Status: return table.word(point.status);
    case SweepColumn::By: return table.word(point.by);
    case SweepColumn::Fidelity: return table.word(point.fidelity);
    case SweepColumn::Why: return point.why;
    case SweepColumn::Axis:
      return column.axis < table.axes.size() ? table.axes[column.axis].text(point.coordinate(column.axis)) : std::string();
    case SweepColumn::Value:
      // A value that is only what was found in time is one that it is at most.
      return point.has_value() ? sweep_value_text(point.value) : point.has_bound() ? "≥ " + sweep_value_text(point.bound) : std::string();
    case SweepColumn::Ratio: {
      const double ratio = table.ratio(point);
      return is_number(ratio) ? fmt::format("{:.3f}", ratio) : std::string();
    }
    case SweepColumn::Tflops: return is_number(point.tflops) ? fmt::format("{:.0f}", point.tflops) : std::string();
    case SweepColumn::Seconds: return is_number(point.seconds) ? fmt::format("{:.2f}", point.seconds) : std::string();
    case SweepColumn::Smem: return point.smem < 0 ? std::string() : fmt::format("{:.0f} KiB", static_cast<double>(point.smem) / 1024);
    default: {
      const double number = number_in(table, point, column);
      return is_number(number) ? sweep_value_text(number) : std::string();
    }
  }
}

std::vector<std::uint32_t> select_points(const SweepTable& table, const SweepChoice& choice) {
  const std::vector<FilterTerm> terms = terms_of(table, choice.filter);
  const SweepValueScale scale = value_scale(table);
  std::vector<std::uint32_t> chosen;
  chosen.reserve(table.points.size());
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const SweepPoint& point = table.points[i];
    const bool in =
        std::all_of(choice.brushes.begin(), choice.brushes.end(), [&](const SweepBrush& b) { return brushed(table, scale, point, b); }) &&
        std::all_of(terms.begin(), terms.end(),
                    [&](const FilterTerm& t) { return t.column ? compares(table, point, t) : word_occurs(table, point, t.word); });
    if (in) chosen.push_back(static_cast<std::uint32_t>(i));
  }
  if (choice.sort == SweepColumnRef{}) {
    if (choice.descending) std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }
  // The keys once: there may be many rows.
  const bool numbers = column_of_numbers(table, choice.sort);
  std::vector<double> keys(numbers ? table.points.size() : 0);
  std::vector<std::string> texts(numbers ? 0 : table.points.size());
  for (const std::uint32_t i : chosen) {
    if (numbers)
      keys[i] = number_in(table, table.points[i], choice.sort);
    else
      texts[i] = cell_of(table, table.points[i], choice.sort);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (numbers) {
      if (!is_number(keys[a]) || !is_number(keys[b])) return is_number(keys[a]) && !is_number(keys[b]);
      return choice.descending ? keys[a] > keys[b] : keys[a] < keys[b];
    }
    if (texts[a].empty() || texts[b].empty()) return !texts[a].empty() && texts[b].empty();
    return choice.descending ? texts[a] > texts[b] : texts[a] < texts[b];
  });
  return chosen;
}

double SweepValueScale::position(double value) const {
  if (!(high > low)) return 0.5;
  // Where the worst is many times the best, ratios are what is compared.
  constexpr double kWide = 3;
  const double share =
      low > 0 && high > kWide * low ? std::log(std::max(value, low) / low) / std::log(high / low) : (value - low) / (high - low);
  return std::clamp(share, 0.0, 1.0);
}

SweepValueScale value_scale(const SweepTable& table) {
  SweepValueScale scale;
  scale.low = std::numeric_limits<double>::infinity();
  scale.high = -scale.low;
  for (const SweepPoint& point : table.points) {
    if (!point.has_value()) continue;
    scale.low = std::min(scale.low, point.value);
    scale.high = std::max(scale.high, point.value);
    scale.any = true;
  }
  if (!scale.any) return {};
  if (const auto bound = table.lower_bound(); bound && *bound < scale.low) scale.low = *bound;
  return scale;
}

double value_position(const SweepValueScale& scale, const SweepPoint& point) {
  return point.has_value() ? kValueShare * scale.position(point.value) : 1.0;
}

std::vector<std::uint32_t> thinned(const SweepTable& table, const std::vector<std::uint32_t>& chosen, std::size_t most) {
  if (chosen.size() <= most || most < 2) return chosen;
  std::vector<std::uint32_t> by_value;
  for (const std::uint32_t i : chosen)
    if (table.points[i].has_value()) by_value.push_back(i);
  const std::size_t top = std::min(by_value.size(), most / 2);
  std::partial_sort(by_value.begin(), by_value.begin() + static_cast<std::ptrdiff_t>(top), by_value.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return table.points[a].value != table.points[b].value ? table.points[a].value < table.points[b].value : a < b;
                    });
  std::vector<std::uint32_t> some(by_value.begin(), by_value.begin() + static_cast<std::ptrdiff_t>(top));
  const std::size_t rest = most - top;
  for (std::size_t k = 0; k < rest; ++k) some.push_back(chosen[k * chosen.size() / rest]);
  std::sort(some.begin(), some.end());
  some.erase(std::unique(some.begin(), some.end()), some.end());
  return some;
}

Convergence convergence_of(const SweepTable& table) {
  Convergence c;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const SweepPoint& point = table.points[i];
    const double number = table.kind == SweepKind::Tuning ? static_cast<double>(point.number) : static_cast<double>(i + 1);
    c.evaluations = std::max(c.evaluations, number);
    if (!point.has_value() || point.value >= best) continue;
    best = point.value;
    c.steps.push_back({number, best});
  }
  return c;
}

std::string sweep_headline(const SweepTable& table) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : " · ") + std::move(part); };
  const auto count = static_cast<std::int64_t>(table.points.size());
  const std::optional<std::int64_t> all = table.kind == SweepKind::Tuning ? table.head.configurations
                                          : table.of > 0                  ? std::optional(table.of)
                                                                          : std::nullopt;
  const char* thing = table.kind == SweepKind::Tuning ? "configuration" : "job";
  add(all ? fmt::format("{} of {}", grouped(count), count_of(*all, thing)) : count_of(count, thing));
  if (table.open && table.excluded)
    add(fmt::format("{} excluded by proof as the file says, {} open", grouped(*table.excluded), grouped(*table.open)));
  if (table.best && table.kind == SweepKind::Tuning) {
    const SweepPoint& best = table.points[*table.best];
    const char* predicted = table.head.fidelity == "gpu" ? "" : "predicted ";
    std::string part = fmt::format("best {} {}{} (#{})", sweep_value_text(best.value), predicted, table.unit(), best.number);
    if (const auto bound = table.lower_bound(); bound && *bound > 0) {
      const double above = 100 * (best.value / *bound - 1);
      part += above < 0.005 ? std::string(", which is the bound")
                            : fmt::format(", {:.1f} % above the bound {}", above, sweep_value_text(*bound));
    }
    add(std::move(part));
  }
  std::string words;
  for (const auto& [word, times] : table.counts) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", grouped(times), word);
  if (!words.empty()) add(std::move(words));
  return text;
}

std::string about_point(const SweepTable& table, const SweepPoint& point) {
  std::string text = fmt::format("{} {} · {}", table.kind == SweepKind::Tuning ? "#" : "job", point.number, table.word(point.status));
  if (point.has_value()) text += fmt::format(" · {} {}", sweep_value_text(point.value), table.unit());
  if (const double ratio = table.ratio(point); is_number(ratio)) text += fmt::format(" · {:.3f} times the bound", ratio);
  if (!point.has_value() && point.has_bound()) text += fmt::format(" · at least {}", sweep_value_text(point.bound));
  const std::string label = table.label(point);
  if (!label.empty()) text += "\n" + label;
  if (point.stages >= 0) text += fmt::format("\nII {} · {}", point.ii >= 0 ? grouped(point.ii) : "?", count_of(point.stages, "stage"));
  if (!point.why.empty()) text += "\n" + point.why;
  if (point.cached) text += "\nrecalled from the store of solved problems";
  return text;
}

std::string sweep_as_text(const SweepTable& table, const std::vector<std::uint32_t>& order) {
  const std::vector<SweepColumnRef> columns = sweep_columns(table, true);
  std::string text;
  const auto line = [&](const auto& cell) {
    for (std::size_t c = 0; c < columns.size(); ++c) text += (c == 0 ? "" : "\t") + cell(columns[c]);
    text += "\n";
  };
  line([&](SweepColumnRef c) { return column_title(table, c); });
  for (const std::uint32_t i : order)
    line([&](SweepColumnRef c) {
      const SweepPoint& point = table.points[i];
      const double number = number_in(table, point, c);
      // For programs: whole numbers without spaces.
      return column_of_numbers(table, c) ? (is_number(number) ? sweep_text(number) : std::string()) : cell_of(table, point, c);
    });
  return text;
}

}  // namespace heddle::app
