#include "core/answers/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/answers/answer_members.h"
#include "core/base/quantile.h"

namespace heddle {
namespace {

using Values = std::vector<std::int64_t>;

double off_by(double log_ratio) { return std::abs(std::exp(log_ratio) - 1); }

/// What one number does to the errors of all rows: its effect at some values, straight lines between them.
struct Effect {
  Values at;  ///< ascending
  std::vector<std::vector<double>> errors;

  double of(std::size_t row, std::int64_t value) const {
    const auto above = static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), value) - at.begin());
    if (above < at.size() && at[above] == value) return errors[above][row];
    const double part = static_cast<double>(value - at[above - 1]) / static_cast<double>(at[above] - at[above - 1]);
    return errors[above - 1][row] * (1 - part) + errors[above][row] * part;
  }
};

class Fit {
 public:
  Fit(const std::vector<FitRow>& rows, const std::vector<FittedNumber>& numbers, const Values& now, const FitErrors& errors)
      : rows_(rows), numbers_(numbers), now_(now), errors_(errors) {
    for (std::size_t r = 0; r < rows.size(); ++r) rows_of_[rows[r].source].push_back(r);
    for (std::size_t n = 0; n < numbers.size(); ++n) moved_.push_back(n);
  }

  /// Fits no more than these few of the numbers; nothing: stopped.
  std::optional<std::vector<std::size_t>> few(const FitLimits& limits) {
    if (!learn(now_)) return std::nullopt;
    in_pairs_ = true;
    struct Set {
      std::vector<std::size_t> numbers;
      double cost = 0;
    };
    std::vector<Set> best_of(std::min(limits.most_numbers, numbers_.size()) + 1);  // of each size
    best_of[0].cost = cost(now_, "");
    for (std::size_t set = 1; set < std::size_t{1} << numbers_.size(); ++set) {
      moved_.clear();
      for (std::size_t n = 0; n < numbers_.size(); ++n)
        if (set >> n & 1) moved_.push_back(n);
      if (moved_.size() >= best_of.size()) continue;
      Set& known = best_of[moved_.size()];
      if (const double least = cost(best(""), ""); known.numbers.empty() || least < known.cost) known = {moved_, least};
    }
    const auto least = std::min_element(best_of.begin(), best_of.end(), [](const Set& a, const Set& b) { return a.cost < b.cost; });
    const auto enough = std::find_if(best_of.begin(), best_of.end(),
                                     [&](const Set& set) { return set.cost <= least->cost + limits.least_gain * best_of[0].cost; });
    return moved_ = enough->numbers;
  }

  FitAnswer run() {
    FitAnswer answer;
    answer.numbers = numbers_;
    answer.before = now_;
    answer.rows = rows_.size();
    // Again around what was found, where straight lines are closer to the truth, until nothing moves.
    answer.after = now_;
    for (int round = 0; round < kMostRounds && (round == 0 || answer.after != center_); ++round) {
      answer.complete = learn(answer.after);
      if (!answer.complete) return answer;
      if (round == 0) answer.error_before = error_of("", center_errors_), as_they_are_ = center_errors_;
      answer.after = best("");
    }
    const auto after = errors_(answer.after);
    std::vector<double> unseen(rows_.size());
    for (const auto& [source, own] : rows_of_) {
      LeftOut left{source, own.size(), best(source), 0, 0};
      const auto by_others = errors_(left.values);
      if (!by_others) return answer.complete = false, answer;
      left.error = error_of(source, *by_others);
      left.as_they_are = error_of(source, as_they_are_);
      for (std::size_t r = 0; r < rows_.size(); ++r)
        if (rows_[r].source == source) unseen[r] = off_by((*by_others)[r]);
      answer.left_out.push_back(std::move(left));
    }
    if (!after) return answer.complete = false, answer;
    answer.error_after = error_of("", *after);
    answer.error_left_out = median(unseen);
    std::stable_sort(answer.left_out.begin(), answer.left_out.end(), [](const LeftOut& a, const LeftOut& b) { return a.rows > b.rows; });
    return answer;
  }

 private:
  /// Median over the rows of a source, "" for all.
  double error_of(const std::string& source, const std::vector<double>& errors) const {
    std::vector<double> own;
    for (std::size_t r = 0; r < rows_.size(); ++r)
      if (source.empty() || rows_[r].source == source) own.push_back(off_by(errors[r]));
    return median(own);
  }

  /// The effects of all numbers around these values. False: stopped.
  bool learn(const Values& center) {
    const auto errors_there = errors_(center);
    if (!errors_there) return false;
    center_ = center;
    center_errors_ = *errors_there;
    effects_.clear();
    for (std::size_t n = 0; n < numbers_.size(); ++n) {
      const auto& [name, least, most, source] = numbers_[n];
      const std::int64_t near = (most - least) / kNear;
      Effect effect;
      effect.at = {least, std::max(least, center[n] - near), center[n], std::min(most, center[n] + near), most};
      effect.at.erase(std::unique(effect.at.begin(), effect.at.end()), effect.at.end());
      for (const std::int64_t value : effect.at) {
        Values values = center;
        values[n] = value;
        const auto errors = value == center[n] ? errors_there : errors_(values);
        if (!errors) return false;
        effect.errors.push_back(*errors);
      }
      effects_.push_back(std::move(effect));
    }
    return true;
  }

  double cost(const Values& values, const std::string& without) const {
    double all = 0;
    for (const auto& [source, rows] : rows_of_) {
      if (source == without) continue;
      double sum = 0;
      for (const std::size_t r : rows) {
        double error = center_errors_[r];
        for (const std::size_t n : moved_) error += effects_[n].of(r, values[n]) - center_errors_[r];
        sum += std::abs(error);
      }
      all += sum / std::sqrt(static_cast<double>(rows.size()));
    }
    return all;
  }

  /// One number after the other, and each two of few, over their whole ranges, until none gets better.
  Values best(const std::string& without) const {
    Values values = center_;
    double least = cost(values, without);
    for (bool better = true; better;) {
      better = false;
      const auto try_values = [&](const Values& other) {
        if (const double now = cost(other, without); now < least - kLeastGain) values = other, least = now, better = true;
      };
      for (const std::size_t n : moved_) {
        Values other = values;
        each_step(n, [&](std::int64_t value) { other = values, other[n] = value, try_values(other); });
        for (const std::size_t m : moved_)
          if (in_pairs_ && m < n)
            each_step(n, [&](std::int64_t value) {
              each_step(m, [&](std::int64_t with) { other = values, other[n] = value, other[m] = with, try_values(other); });
            });
      }
    }
    return values;
  }

  template <class Each>
  void each_step(std::size_t n, const Each& each) const {
    const std::int64_t step = std::max<std::int64_t>(1, (numbers_[n].most - numbers_[n].least) / kSteps);
    for (std::int64_t value = numbers_[n].least; value <= numbers_[n].most; value += step) each(value);
  }

  static constexpr std::int64_t kSteps = 50, kNear = 8;  ///< parts of a range
  static constexpr int kMostRounds = 4;
  static constexpr double kLeastGain = 1e-9;

  const std::vector<FitRow>& rows_;
  const std::vector<FittedNumber>& numbers_;
  const Values& now_;
  const FitErrors& errors_;
  std::map<std::string, std::vector<std::size_t>> rows_of_;
  std::vector<std::size_t> moved_;  ///< numbers that are fitted
  bool in_pairs_ = false;           ///< two numbers that do much the same are found only together
  Values center_;
  std::vector<double> center_errors_, as_they_are_;
  std::vector<Effect> effects_;
};

constexpr std::size_t kMostSource = 60;

std::string error_text(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string list_text(const Values& values) {
  std::string text;
  for (const std::int64_t value : values) text += fmt::format("{}{}", text.empty() ? "" : ", ", value);
  return text;
}

/// Between what the number was with one source left out or another.
std::string folds_text(const FitAnswer& answer, std::size_t number) {
  std::int64_t low = answer.after[number], high = low;
  for (const LeftOut& left : answer.left_out) low = std::min(low, left.values[number]), high = std::max(high, left.values[number]);
  return low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
}

}  // namespace

bool FitAnswer::at_end(std::size_t number) const {
  return after[number] != before[number] && (after[number] == numbers[number].least || after[number] == numbers[number].most);
}

FitAnswer fit_numbers(const std::vector<FitRow>& rows, const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& now,
                      const FitErrors& errors, const FitLimits& limits) {
  Fit fit(rows, numbers, now, errors);
  if (limits.most_numbers == 0) return fit.run();
  const auto few = fit.few(limits);
  FitAnswer answer;
  if (few) answer = fit.run();
  answer.complete = few && answer.complete;
  if (!answer.complete) return answer;
  const std::string why = few->size() == limits.most_numbers
                              ? fmt::format("so few measurements determine {} at most", count_of(limits.most_numbers, "number"))
                              : fmt::format("beside what is fitted it explains less than {:.0f} % of the error", 100 * limits.least_gain);
  for (std::size_t n = numbers.size(); n-- > 0;) {
    if (std::find(few->begin(), few->end(), n) != few->end()) continue;
    const auto at = static_cast<std::ptrdiff_t>(n);
    answer.unfitted.push_back({numbers[n].number, why});
    answer.numbers.erase(answer.numbers.begin() + at);
    for (Values* values : {&answer.before, &answer.after}) values->erase(values->begin() + at);
    for (LeftOut& left : answer.left_out) left.values.erase(left.values.begin() + at);
  }
  return answer;
}

std::string fit_headline(const Machine& machine, const FitAnswer& answer) {
  if (!answer.complete) return fmt::format("{}: stopped before its end", printable(machine.name));
  const std::string rows = count_of(answer.rows, answer.row);
  return fmt::format("{}: {} fitted to {}; median error {} now, {} fitted, {} for {}s that the fit does not see", printable(machine.name),
                     count_of(answer.numbers.size(), "number"),
                     answer.source == answer.row ? rows : fmt::format("{} of {}", rows, count_of(answer.left_out.size(), answer.source)),
                     error_text(answer.error_before), error_text(answer.error_after), error_text(answer.error_left_out), answer.source);
}

std::string fit_text(const Machine& machine, const FitAnswer& answer, const TextStyle& style) {
  std::string text = wrapped(fit_headline(machine, answer), "", style.width);
  if (!answer.complete) return text;
  std::vector<std::vector<std::string>> rows;
  for (std::size_t n = 0; n < answer.numbers.size(); ++n) {
    const FittedNumber& number = answer.numbers[n];
    rows.push_back({number.number, std::to_string(answer.before[n]), std::to_string(answer.after[n]), folds_text(answer, n),
                    fmt::format("{} to {}{}", number.least, number.most, answer.at_end(n) ? ": at its end" : "")});
  }
  if (!rows.empty())
    text += "\n" + text_table({{"number"}, {"now", true}, {"fitted", true}, {"without a " + answer.source}, {"range"}}, rows, style.width);
  if (!answer.unfitted.empty()) text += "\n";
  for (const UnfittedNumber& kept : answer.unfitted)
    text += wrapped(fmt::format("{} is not fitted: {}", kept.number, kept.because), "", style.width);
  if (answer.numbers.empty()) return text;
  if (answer.error_left_out > answer.error_before)
    text += "\n" + wrapped(fmt::format("{}s that the fit does not see are predicted worse than by the numbers as they are", answer.source),
                           "", style.width);
  rows.clear();
  for (const LeftOut& left : answer.left_out)
    rows.push_back({shortened(printable(left.source), kMostSource), std::to_string(left.rows), error_text(left.as_they_are),
                    error_text(left.error), list_text(left.values)});
  text += fmt::format("\none {} left out, the others fitted: median error of its {}s, and the numbers in the order above\n", answer.source,
                      answer.row) +
          text_table({{answer.source + " left out"}, {answer.row + "s", true}, {"now", true}, {"fitted", true}, {"numbers"}}, rows,
                     style.width);
  return text;
}

template <class Io>
void visit(Io& io, const UnfittedNumber& kept) {
  io.written("number", kept.number), io.written("because", kept.because);
}

namespace {

struct FittedLine {
  std::string number;
  std::int64_t now = 0, fitted = 0, least = 0, most = 0;
  bool at_end = false;
};

struct FitDocument {
  const FitAnswer& answer = blank<FitAnswer>;
  std::string machine{};
  std::vector<FittedLine> numbers{};
};

template <class Io>
void visit(Io& io, const FittedLine& line) {
  io.written("number", line.number), io.written("now", line.now, as::any_integer), io.written("fitted", line.fitted, as::any_integer);
  io.written("least", line.least, as::any_integer), io.written("most", line.most, as::any_integer);
  io.written("at_end", line.at_end, "the fit would leave the range if it might");
}

}  // namespace

template <class Io>
void visit(Io& io, const LeftOut& left) {
  io.written("source", left.source), io.written("rows", left.rows), io.written("error_now", left.as_they_are);
  io.written("error_fitted", left.error), io.written("values", left.values, as::list(as::any_integer));
}

namespace {

template <class Io>
void visit(Io& io, const FitDocument& of) {
  const FitAnswer& answer = of.answer;
  io.written("machine", of.machine), io.written("complete", answer.complete), io.written("rows", answer.rows);
  io.written("error_now", answer.error_before, "median over all rows of |measured / predicted - 1|");
  io.written("error_fitted", answer.error_after);
  io.written("error_left_out", answer.error_left_out, "each row predicted by numbers fitted without its source");
  io.written("numbers", of.numbers);
  io.written("unfitted", answer.unfitted, "numbers that were not tried, and why");
  io.written("left_out", answer.left_out, "one source left out, the others fitted");
}

}  // namespace

Json fit_json(const Machine& machine, const FitAnswer& answer) {
  FitDocument document{answer, machine.name};
  for (std::size_t n = 0; n < answer.numbers.size() && answer.complete; ++n) {
    const FittedNumber& number = answer.numbers[n];
    document.numbers.push_back({number.number, answer.before[n], answer.after[n], number.least, number.most, answer.at_end(n)});
  }
  return as::part.write(document);
}

Json fit_schema() { return nameless_schema<FitDocument>("heddle.fit/1", "What heddle fit answers"); }

}  // namespace heddle
