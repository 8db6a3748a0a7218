// The answer of `heddle fit`: the numbers of a machine file that are fitted (Machine::fitted), estimated again from measured kernels, and
// how wrong predictions are for sources that the fit did not see.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/machine/machine.h"

namespace heddle {

struct FitRow {
  std::string id, kind;
  std::string source;  ///< rows of one source are left out together
};

/// ln(measured / predicted) of every row, where the fitted numbers have these values. Nothing: stopped.
using FitErrors = std::function<std::optional<std::vector<double>>(const std::vector<std::int64_t>& values)>;

/// Rows of one source, predicted by numbers that were fitted without them.
struct LeftOut {
  std::string source;
  std::size_t rows = 0;
  std::vector<std::int64_t> values;
  double error = 0, as_they_are = 0;  ///< median of |measured / predicted - 1|, by those numbers and by the file's
};

/// A number that measurements leave as it is.
struct UnfittedNumber {
  std::string number, because;
};

struct FitAnswer {
  std::vector<FittedNumber> numbers;
  std::vector<UnfittedNumber> unfitted;        ///< those that were not tried, and why
  std::string row = "row", source = "source";  ///< what they are called
  std::vector<std::int64_t> before, after;
  std::size_t rows = 0;
  double error_before = 0, error_after = 0;  ///< median over all rows
  std::vector<LeftOut> left_out;             ///< most rows first
  double error_left_out = 0;                 ///< median over all rows, each predicted by numbers fitted without its source
  bool complete = true;                      ///< false: stopped before its end, and there is nothing else
  bool at_end(std::size_t number) const;     ///< the fit would leave the range if it might
};

/// Where there are few rows: how many numbers they determine is found out first.
struct FitLimits {
  std::size_t most_numbers = 0;  ///< 0: all numbers are fitted
  /// Of all sets of so many numbers the smallest is fitted that comes, by this part of the error as it is, as near as the best.
  double least_gain = 0.1;
};

/// Least sum over sources of the mean of |ln(measured / predicted)| over their rows times the square root of their number, each number
/// within its range: rows of one source err together, and a row that nothing explains does not pull harder than its error. The search takes
/// errors to be the sum of what each number does alone, along straight lines between a few values; what is reported is simulated. Pre: each
/// of `now` lies within its number's range.
FitAnswer fit_numbers(const std::vector<FitRow>& rows, const std::vector<FittedNumber>& numbers, const std::vector<std::int64_t>& now,
                      const FitErrors& errors, const FitLimits& limits = {});

std::string fit_headline(const Machine& machine, const FitAnswer& answer);
std::string fit_text(const Machine& machine, const FitAnswer& answer, const TextStyle& style);
Json fit_json(const Machine& machine, const FitAnswer& answer);
Json fit_schema();

}  // namespace heddle
