#include "core/kernel/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/base/random.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 30, kMostPercent = 10'000;

using Arguments = std::map<std::string, std::int64_t>;
using Columns = std::vector<std::int32_t>;

const StructureArgument kRows{"rows", "", "rows"}, kColumns{"cols", "rows", "columns"}, kSeed{"seed", "1", "of the random numbers"};

const std::vector<StructureRule>& rules() {
  static const std::vector<StructureRule> rules{
      {"bigbird",
       "the first rows and columns whole, a window around the diagonal, and random columns, which may fall into the window",
       {kRows,
        kColumns,
        {"window", "3", "columns around the diagonal"},
        {"global", "2", "first rows and columns that are whole"},
        {"random", "2", "random columns of each other row"},
        kSeed}},
      {"longformer",
       "a window on both sides of the diagonal, and the first rows and columns whole",
       {kRows, {"window", "64", "columns on each side"}, {"global", "1", "first rows and columns that are whole"}}},
      {"causal", "row r of ROWS sees the columns up to its own, aligned at the lower right", {kRows, kColumns}},
      {"banded", "columns from `below` before the diagonal to `above` after it", {kRows, kColumns, {"below", "1", ""}, {"above", "1", ""}}},
      {"uniform", "as many different columns in every row, all equally likely", {kRows, kColumns, {"each", "", "columns of a row"}, kSeed}},
      {"zipf",
       "as many columns in every row, popular ones more often, with repeats: column k with weight 1 / (k + 1)^(skew / 100)",
       {kRows, kColumns, {"each", "", "columns of a row"}, {"skew", "100", "percent; 0: all alike"}, kSeed}},
      {"powerlaw",
       "few long rows, many short ones (a Pareto distribution of lengths), with different columns, all equally likely",
       {kRows, kColumns, {"mean", "", "columns of a row, about"}, {"skew", "150", "percent, above 100; smaller is more uneven"}, kSeed}},
  };
  return rules;
}

/// Rows do not depend on each other.
SplitMix64 of_row(std::int64_t seed, std::int64_t row) {
  return SplitMix64(static_cast<std::uint64_t>(seed) * 0xd1342543de82ef95ull + static_cast<std::uint64_t>(row));
}
/// In (0, 1].
double unit(SplitMix64& random) { return static_cast<double>((random.next() >> 11) + 1) * 0x1p-53; }
std::int64_t below(std::int64_t count, SplitMix64& random) {
  return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(count));
}

/// `count` different numbers of [from, to), ascending (R. Floyd's algorithm, in J. Bentley, "Programming Pearls", CACM 1987).
void choose(std::int64_t count, std::int64_t from, std::int64_t to, SplitMix64& random, Columns& chosen) {
  const std::size_t begin = chosen.size();
  for (std::int64_t top = to - count; top < to; ++top) {
    const auto pick = static_cast<std::int32_t>(from + below(top - from + 1, random));
    const auto first = chosen.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto at = std::lower_bound(first, chosen.end(), pick);
    if (at == chosen.end() || *at != pick)
      chosen.insert(at, pick);
    else
      chosen.push_back(static_cast<std::int32_t>(top));
  }
}

/// Rows one after the other; what a row has costs nothing until it is asked for.
class Maker {
 public:
  Maker(std::string_view rule, const Arguments& arguments) : rule_(rule), arguments_(arguments) {
    rows_ = of("rows"), columns_ = arguments.contains("cols") ? of("cols") : rows_;
  }

  std::int64_t rows() const { return rows_; }

  /// No row has more.
  std::int64_t most_entries() const {
    if (rule_ == "uniform" || rule_ == "zipf") return sat_mul(rows_, of("each"));
    if (rule_ == "powerlaw") {
      std::int64_t sum = 0;
      for (std::int64_t row = 0; row < rows_; ++row) sum = sat_add(sum, powerlaw_length(row));
      return sum;
    }
    if (rule_ == "banded") return sat_mul(rows_, std::min(columns_, sat_add(sat_add(of("below"), of("above")), 1)));
    if (rule_ == "causal") return sat_mul(rows_, columns_);
    const std::int64_t whole = std::min(of("global"), rows_),
                       window = rule_ == "bigbird" ? of("window") + of("random") : 2 * of("window") + 1;
    return sat_add(sat_mul(whole, columns_), sat_mul(rows_ - whole, std::min(columns_, sat_add(of("global"), window))));
  }

  /// Length of a row, without making it where that is possible.
  std::int64_t length(std::int64_t row) {
    if (rule_ == "uniform" || rule_ == "zipf") return of("each");
    if (rule_ == "powerlaw") return powerlaw_length(row);
    if (rule_ == "causal") return std::clamp<std::int64_t>(row + 1 + columns_ - rows_, 0, columns_);
    Columns made;
    append(row, made);
    return static_cast<std::int64_t>(made.size());
  }

  void append(std::int64_t row, Columns& columns) {
    const auto run = [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t c = std::max<std::int64_t>(from, 0); c < std::min(to, columns_); ++c)
        columns.push_back(static_cast<std::int32_t>(c));
    };
    if (rule_ == "causal") return run(0, length(row));
    if (rule_ == "banded") return run(row - of("below"), row + of("above") + 1);
    SplitMix64 random = of_row(of_or("seed", 1), row);
    if (rule_ == "uniform") return choose(of("each"), 0, columns_, random, columns);
    if (rule_ == "powerlaw") {
      const std::int64_t length = powerlaw_length(row);
      (void)random.next();  // the length's
      return choose(length, 0, columns_, random, columns);
    }
    if (rule_ == "zipf") {
      if (weights_.empty()) weigh();
      const std::int64_t each = of("each");
      for (std::int64_t k = 0; k < each; ++k) columns.push_back(weighed(unit(random) * weights_.back()));
      return;
    }
    const std::int64_t global = std::min(of("global"), columns_);
    if (row < of("global")) return run(0, columns_);
    const std::int64_t left = rule_ == "bigbird" ? of("window") / 2 : of("window"),
                       right = rule_ == "bigbird" ? (of("window") - 1) / 2 : of("window");
    const std::size_t begin = columns.size();
    run(0, global);
    run(std::max(row - left, global), row + right + 1);
    if (rule_ != "bigbird") return;
    choose(std::min(of("random"), columns_ - global), global, columns_, random, columns);
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, columns.end());
    columns.erase(std::unique(first, columns.end()), columns.end());
  }

 private:
  std::int64_t of(const char* name) const { return arguments_.at(name); }
  std::int64_t of_or(const char* name, std::int64_t otherwise) const {
    const auto it = arguments_.find(name);
    return it == arguments_.end() ? otherwise : it->second;
  }

  /// A Pareto distribution of exponent a with the mean asked for begins at mean (a - 1) / a. No row has more than all columns.
  std::int64_t powerlaw_length(std::int64_t row) const {
    SplitMix64 random = of_row(of_or("seed", 1), row);
    const double exponent = static_cast<double>(of("skew")) / 100, mean = static_cast<double>(of("mean"));
    const double length = mean * (exponent - 1) / exponent * std::pow(unit(random), -1 / exponent);
    return static_cast<std::int64_t>(std::min<double>(std::floor(length + 0.5), static_cast<double>(columns_)));
  }

  void weigh() {
    weights_.reserve(static_cast<std::size_t>(columns_));
    double sum = 0;
    for (std::int64_t c = 0; c < columns_; ++c)
      weights_.push_back(sum += std::pow(static_cast<double>(c + 1), -static_cast<double>(of("skew")) / 100));
    first_.reserve(weights_.size() + 1);
    for (std::size_t c = 0; c < weights_.size(); ++c)
      while (first_.size() <= slice(weights_[c])) first_.push_back(static_cast<std::int32_t>(c));
    first_.push_back(static_cast<std::int32_t>(weights_.size() - 1));
  }

  /// Sums of weights are cut into as many equal slices as there are columns.
  std::size_t slice(double sum) const {
    const auto columns = static_cast<double>(weights_.size());
    return static_cast<std::size_t>(std::min(sum / weights_.back() * columns, columns - 1));
  }

  /// The first column at which the summed weights reach `sum`. Where the slice begins and ends is known, so that few are looked at.
  std::int32_t weighed(double sum) const {
    const std::size_t at = slice(sum);
    const auto found = std::lower_bound(weights_.begin() + first_[at], weights_.begin() + first_[at + 1], sum);
    return static_cast<std::int32_t>(found - weights_.begin());
  }

  std::string_view rule_;
  const Arguments& arguments_;
  std::int64_t rows_ = 0, columns_ = 0;
  std::vector<double> weights_;      ///< summed up
  std::vector<std::int32_t> first_;  ///< the first column in or after each slice of the weights
};

/// The arguments with those that were left out; faults are added.
Arguments complete(const StructureRule& rule, const Arguments& given, std::vector<Fault>& faults) {
  std::vector<std::string> known;
  for (const StructureArgument& a : rule.arguments) known.emplace_back(a.name);
  for (const auto& [name, value] : given)
    if (std::find(known.begin(), known.end(), name) == known.end())
      faults.push_back(
          {{}, {}, fmt::format("{} has no argument '{}'; it has {}", rule.name, name, list_of(known)), did_you_mean(name, known)});
  Arguments all;
  for (const StructureArgument& a : rule.arguments) {
    const auto it = given.find(a.name);
    const std::string otherwise = a.otherwise;
    if (it != given.end())
      all[a.name] = it->second;
    else if (otherwise.empty())
      faults.push_back({{}, {}, fmt::format("{} needs the argument '{}'{}{}", rule.name, a.name, *a.about ? ": " : "", a.about), {}});
    else
      all[a.name] = otherwise[0] >= '0' && otherwise[0] <= '9' ? std::stoll(otherwise) : all.contains(otherwise) ? all[otherwise] : 1;
  }
  const auto within = [&](const char* name, std::int64_t least, std::int64_t most) {
    if (const auto it = all.find(name); it != all.end() && (it->second < least || it->second > most))
      faults.push_back({{}, {}, fmt::format("{} of {} is {}, expected {} to {}", name, rule.name, it->second, least, most), {}});
  };
  within("rows", 1, kMostRows);
  within("cols", 1, std::string_view(rule.name) == "zipf" ? kMostGenerated : kMostRows);  // each has a weight
  for (const char* name : {"window", "global", "random", "below", "above", "mean"}) within(name, 0, kMostRows);
  within("skew", std::string_view(rule.name) == "powerlaw" ? 101 : 0, kMostPercent);
  within("each", 0, std::string_view(rule.name) == "uniform" && all.contains("cols") ? all["cols"] : kMostRows);
  return all;
}

}  // namespace

std::span<const StructureRule> structure_rules() { return rules(); }

std::span<const StructurePart> structure_parts() {
  static constexpr StructurePart kParts[] = {{"rowptr", "where each row's entries begin, and the end"},
                                             {"colidx", "the column of each entry"},
                                             {"rows", "the row of each entry"},
                                             {"lengths", "entries of each row"},
                                             {"order", "the rows, longest first"}};
  return kParts;
}

Result<std::vector<std::int32_t>> make_structure(std::string_view name, const Arguments& given, std::string_view part) {
  Error error;
  std::vector<std::string> rule_names, part_names;
  const StructureRule* rule = nullptr;
  for (const StructureRule& r : rules()) {
    rule_names.emplace_back(r.name);
    if (name == r.name) rule = &r;
  }
  for (const StructurePart& p : structure_parts()) part_names.emplace_back(p.name);
  if (!rule)
    error.faults.push_back({{},
                            {},
                            fmt::format("unknown generator '{}' (known: {})", name, list_of(rule_names)),
                            did_you_mean(std::string(name), rule_names)});
  if (std::find(part_names.begin(), part_names.end(), part) == part_names.end())
    error.faults.push_back({{},
                            {},
                            fmt::format("a structure has no part '{}'; it has {}", part, list_of(part_names)),
                            did_you_mean(std::string(part), part_names)});
  const Arguments arguments = rule ? complete(*rule, given, error.faults) : Arguments{};
  if (!error.faults.empty()) return error;
  Maker maker(rule->name, arguments);
  const bool by_entry = part == "colidx" || part == "rows";
  if (const std::int64_t entries = by_entry ? maker.most_entries() : maker.rows(); entries > kMostGenerated)
    return Error::input(fmt::format("{} asks for up to {} entries; at most {} are made", name, entries, kMostGenerated),
                        "choose fewer rows or shorter ones");
  Columns numbers;
  if (part == "rowptr") {
    std::int64_t sum = 0;
    numbers.push_back(0);
    for (std::int64_t row = 0; row < maker.rows(); ++row) {
      sum += maker.length(row);
      if (sum > kMostGenerated)
        return Error::input(fmt::format("{} makes more than {} entries", name, kMostGenerated), "choose fewer rows or shorter ones");
      numbers.push_back(static_cast<std::int32_t>(sum));
    }
  } else if (part == "lengths" || part == "order") {
    for (std::int64_t row = 0; row < maker.rows(); ++row) numbers.push_back(static_cast<std::int32_t>(maker.length(row)));
    if (part == "order") {
      const Columns lengths = numbers;
      std::iota(numbers.begin(), numbers.end(), 0);
      std::stable_sort(numbers.begin(), numbers.end(), [&](std::int32_t a, std::int32_t b) {
        return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
      });
    }
  } else {
    for (std::int64_t row = 0; row < maker.rows() && static_cast<std::int64_t>(numbers.size()) <= kMostGenerated; ++row) {
      if (part == "colidx")
        maker.append(row, numbers);
      else
        numbers.insert(numbers.end(), static_cast<std::size_t>(maker.length(row)), static_cast<std::int32_t>(row));
    }
    if (numbers.empty()) numbers.push_back(-1);  // a tensor has at least one element
  }
  return numbers;
}

}  // namespace heddle
