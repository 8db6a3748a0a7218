#include "core/kernel/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "core/base/random.h"
#include "core/base/saturate.h"
#include "core/base/suggest.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostRows = std::int64_t{1} << 30, kMostShares = std::int64_t{1} << 20, kMostPercent = 10'000;

using Arguments = std::map<std::string, std::int64_t>;
using Columns = std::vector<std::int32_t>;

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

/// A structure row by row, each for itself; what a row has costs nothing until it is asked for. Pre: arguments within their limits.
class StructureRows {
 public:
  explicit StructureRows(const Arguments& arguments)
      : arguments_(arguments), rows_(of("rows")), columns_(arguments.contains("cols") ? of("cols") : rows_) {}
  virtual ~StructureRows() = default;

  std::int64_t rows() const { return rows_; }
  /// All rows together have no more.
  virtual std::int64_t most_entries() const = 0;
  /// Length of a row, without making it where that is possible.
  virtual std::int64_t length(std::int64_t row) {
    Columns made;
    append(row, made);
    return static_cast<std::int64_t>(made.size());
  }
  virtual void append(std::int64_t row, Columns& columns) = 0;

 protected:
  std::int64_t of(const char* name) const { return arguments_.at(name); }
  SplitMix64 random_of(std::int64_t row) const { return of_row(of("seed"), row); }
  void run(std::int64_t from, std::int64_t to, Columns& columns) const {
    for (std::int64_t c = std::max<std::int64_t>(from, 0); c < std::min(to, columns_); ++c) columns.push_back(static_cast<std::int32_t>(c));
  }

  const Arguments& arguments_;
  const std::int64_t rows_, columns_;
};

/// Row r of ROWS sees the columns up to its own, aligned at the lower right.
class Causal : public StructureRows {
 public:
  using StructureRows::StructureRows;
  std::int64_t most_entries() const override { return sat_mul(rows_, columns_); }
  std::int64_t length(std::int64_t row) override { return std::clamp<std::int64_t>(row + 1 + columns_ - rows_, 0, columns_); }
  void append(std::int64_t row, Columns& columns) override { run(0, length(row), columns); }
};

/// Columns from `below` before the diagonal to `above` after it.
class Banded : public StructureRows {
 public:
  using StructureRows::StructureRows;
  std::int64_t most_entries() const override { return sat_mul(rows_, std::min(columns_, sat_add(sat_add(of("below"), of("above")), 1))); }
  void append(std::int64_t row, Columns& columns) override { run(row - of("below"), row + of("above") + 1, columns); }
};

/// The first rows and columns whole, and a window on both sides of the diagonal.
class Longformer : public StructureRows {
 public:
  explicit Longformer(const Arguments& arguments) : Longformer(arguments, arguments.at("window"), arguments.at("window")) {}
  std::int64_t most_entries() const override { return most_entries(left_ + right_ + 1); }
  void append(std::int64_t row, Columns& columns) override {
    if (row < of("global")) return run(0, columns_, columns);
    const std::int64_t global = std::min(of("global"), columns_);
    run(0, global, columns);
    run(std::max(row - left_, global), row + right_ + 1, columns);
  }

 protected:
  Longformer(const Arguments& arguments, std::int64_t left, std::int64_t right) : StructureRows(arguments), left_(left), right_(right) {}
  /// `others`: columns of a row beside the first ones.
  std::int64_t most_entries(std::int64_t others) const {
    const std::int64_t whole = std::min(of("global"), rows_);
    return sat_add(sat_mul(whole, columns_), sat_mul(rows_ - whole, std::min(columns_, sat_add(of("global"), others))));
  }

 private:
  const std::int64_t left_, right_;
};

/// The same with a window around the diagonal, and random columns, which may fall into the window.
class BigBird : public Longformer {
 public:
  explicit BigBird(const Arguments& arguments) : Longformer(arguments, arguments.at("window") / 2, (arguments.at("window") - 1) / 2) {}
  std::int64_t most_entries() const override { return Longformer::most_entries(of("window") + of("random")); }
  void append(std::int64_t row, Columns& columns) override {
    const std::size_t begin = columns.size();
    Longformer::append(row, columns);
    if (row < of("global")) return;
    const std::int64_t global = std::min(of("global"), columns_);
    SplitMix64 random = random_of(row);
    choose(std::min(of("random"), columns_ - global), global, columns_, random, columns);
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(begin);
    std::sort(first, columns.end());
    columns.erase(std::unique(first, columns.end()), columns.end());
  }
};

/// As many different columns in every row, all equally likely.
class Uniform : public StructureRows {
 public:
  using StructureRows::StructureRows;
  std::int64_t most_entries() const override { return sat_mul(rows_, of("each")); }
  std::int64_t length(std::int64_t) override { return of("each"); }
  void append(std::int64_t row, Columns& columns) override {
    SplitMix64 random = random_of(row);
    choose(of("each"), 0, columns_, random, columns);
  }
};

/// As many columns in every row, popular ones more often, with repeats: column k with weight 1 / (k + 1)^(skew / 100).
class Zipf : public StructureRows {
 public:
  using StructureRows::StructureRows;
  std::int64_t most_entries() const override { return sat_mul(rows_, of("each")); }
  std::int64_t length(std::int64_t) override { return of("each"); }
  void append(std::int64_t row, Columns& columns) override {
    if (weights_.empty()) weigh();
    SplitMix64 random = random_of(row);
    const std::int64_t each = of("each");
    for (std::int64_t k = 0; k < each; ++k) columns.push_back(weighed(unit(random) * weights_.back()));
  }

 private:
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

  std::vector<double> weights_;      ///< summed up
  std::vector<std::int32_t> first_;  ///< the first column in or after each slice of the weights
};

/// Few long rows, many short ones (a Pareto distribution of lengths), with different columns, all equally likely.
class PowerLaw : public StructureRows {
 public:
  using StructureRows::StructureRows;
  std::int64_t most_entries() const override {
    std::int64_t sum = 0;
    for (std::int64_t row = 0; row < rows_; ++row) sum = sat_add(sum, length_of(row));
    return sum;
  }
  std::int64_t length(std::int64_t row) override { return length_of(row); }
  void append(std::int64_t row, Columns& columns) override {
    SplitMix64 random = random_of(row);
    (void)random.next();  // the length's
    choose(length_of(row), 0, columns_, random, columns);
  }

 private:
  /// A Pareto distribution of exponent a with the mean asked for begins at mean (a - 1) / a. No row has more than all columns.
  std::int64_t length_of(std::int64_t row) const {
    SplitMix64 random = random_of(row);
    const double exponent = static_cast<double>(of("skew")) / 100, mean = static_cast<double>(of("mean"));
    const double length = mean * (exponent - 1) / exponent * std::pow(unit(random), -1 / exponent);
    return static_cast<std::int64_t>(std::min<double>(std::floor(length + 0.5), static_cast<double>(columns_)));
  }
};

/// Rows whose lengths add up to a number, each from its first column on. What is left is shared at random: a row has up to twice the mean,
/// and no more than all columns.
class Shares : public StructureRows {
 public:
  explicit Shares(const Arguments& arguments) : StructureRows(arguments) {
    SplitMix64 random = random_of(0);
    std::int64_t left = of("total");
    for (std::int64_t after = rows_; after-- > 0;) {
      const std::int64_t least = std::max<std::int64_t>(0, left - sat_mul(after, columns_)), most = std::min(left, columns_),
                         wanted = after == 0 ? left : below(2 * left / (after + 1) + 1, random);
      lengths_.push_back(std::clamp(wanted, least, most));
      left -= lengths_.back();
    }
  }
  std::int64_t most_entries() const override { return of("total"); }
  std::int64_t length(std::int64_t row) override { return lengths_[static_cast<std::size_t>(row)]; }
  void append(std::int64_t row, Columns& columns) override { run(0, length(row), columns); }

 private:
  std::vector<std::int64_t> lengths_;
};

struct StructureArgument {
  const char* name;
  const char* otherwise;  ///< its value where none is given, a number or the name of another argument; empty: it must be given
  const char* about;
  std::int64_t least = 0, most = kMostRows;
  const char* most_of = "";  ///< another argument that it is at most, or the product of two
};

struct StructureRule {
  const char* name;
  std::vector<StructureArgument> arguments;
  std::unique_ptr<StructureRows> (*make)(const Arguments& arguments);
};

template <class Rows>
std::unique_ptr<StructureRows> make_rows(const Arguments& arguments) {
  return std::make_unique<Rows>(arguments);
}

const std::vector<StructureRule>& rules() {
  using Number = std::numeric_limits<std::int64_t>;
  static const StructureArgument rows{"rows", "", "rows", 1}, columns{"cols", "rows", "columns", 1},
      seed{"seed", "1", "of the random numbers", Number::min(), Number::max()};
  static const std::vector<StructureRule> rules{
      {"bigbird",
       {rows,
        columns,
        {"window", "3", "columns around the diagonal"},
        {"global", "2", "first rows and columns that are whole"},
        {"random", "2", "random columns of each other row"},
        seed},
       make_rows<BigBird>},
      {"longformer",
       {rows, {"window", "64", "columns on each side"}, {"global", "1", "first rows and columns that are whole"}},
       make_rows<Longformer>},
      {"causal", {rows, columns}, make_rows<Causal>},
      {"banded", {rows, columns, {"below", "1", ""}, {"above", "1", ""}}, make_rows<Banded>},
      {"uniform", {rows, columns, {"each", "", "columns of a row", 0, Number::max(), "cols"}, seed}, make_rows<Uniform>},
      {"zipf",
       {rows,
        {"cols", "rows", "columns", 1, kMostGenerated},  // each has a weight
        {"each", "", "columns of a row"},
        {"skew", "100", "percent; 0: all alike", 0, kMostPercent},
        seed},
       make_rows<Zipf>},
      {"powerlaw",
       {rows,
        columns,
        {"mean", "", "columns of a row, about"},
        {"skew", "150", "percent, above 100; smaller is more uneven", 101, kMostPercent},
        seed},
       make_rows<PowerLaw>},
      {"shares",
       {{"rows", "", "rows", 1, kMostShares}, columns, {"total", "", "columns of all rows together", 0, Number::max(), "rows*cols"}, seed},
       make_rows<Shares>},
  };
  return rules;
}

constexpr std::array kParts{"rowptr",   // where each row's entries begin, and the end
                            "colidx",   // the column of each entry
                            "rows",     // the row of each entry
                            "lengths",  // entries of each row
                            "order"};   // the rows, longest first

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
  for (const char* name : {"rows", "cols", "window", "global", "random", "below", "above", "mean", "skew", "each", "total"})
    for (const StructureArgument& a : rule.arguments) {
      if (std::string_view(a.name) != name || !all.contains(name)) continue;
      const std::string_view most_of = a.most_of;
      const std::size_t times = most_of.find('*');
      const std::int64_t value = all[name], most = most_of.empty()                   ? a.most
                                                   : times == std::string_view::npos ? all[std::string(most_of)]
                                                                                     : sat_mul(all[std::string(most_of.substr(0, times))],
                                                                                               all[std::string(most_of.substr(times + 1))]);
      if (value < a.least || value > most)
        faults.push_back({{}, {}, fmt::format("{} of {} is {}, expected {} to {}", name, rule.name, value, a.least, most), {}});
    }
  return all;
}

}  // namespace

Result<std::vector<std::int32_t>> make_structure(std::string_view name, const Arguments& given, std::string_view part) {
  Error error;
  std::vector<std::string> rule_names;
  const std::vector<std::string> part_names(kParts.begin(), kParts.end());
  const StructureRule* rule = nullptr;
  for (const StructureRule& r : rules()) {
    rule_names.emplace_back(r.name);
    if (name == r.name) rule = &r;
  }
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
  const std::unique_ptr<StructureRows> maker = rule->make(arguments);
  const bool by_entry = part == "colidx" || part == "rows";
  if (const std::int64_t entries = by_entry ? maker->most_entries() : maker->rows(); entries > kMostGenerated)
    return Error::input(fmt::format("{} asks for up to {} entries; at most {} are made", name, entries, kMostGenerated),
                        "choose fewer rows or shorter ones");
  Columns numbers;
  if (part == "rowptr") {
    std::int64_t sum = 0;
    numbers.push_back(0);
    for (std::int64_t row = 0; row < maker->rows(); ++row) {
      sum += maker->length(row);
      if (sum > kMostGenerated)
        return Error::input(fmt::format("{} makes more than {} entries", name, kMostGenerated), "choose fewer rows or shorter ones");
      numbers.push_back(static_cast<std::int32_t>(sum));
    }
  } else if (part == "lengths" || part == "order") {
    for (std::int64_t row = 0; row < maker->rows(); ++row) numbers.push_back(static_cast<std::int32_t>(maker->length(row)));
    if (part == "order") {
      const Columns lengths = numbers;
      std::iota(numbers.begin(), numbers.end(), 0);
      std::stable_sort(numbers.begin(), numbers.end(), [&](std::int32_t a, std::int32_t b) {
        return lengths[static_cast<std::size_t>(a)] > lengths[static_cast<std::size_t>(b)];
      });
    }
  } else {
    for (std::int64_t row = 0; row < maker->rows() && static_cast<std::int64_t>(numbers.size()) <= kMostGenerated; ++row) {
      if (part == "colidx")
        maker->append(row, numbers);
      else
        numbers.insert(numbers.end(), static_cast<std::size_t>(maker->length(row)), static_cast<std::int32_t>(row));
    }
    if (numbers.empty()) numbers.push_back(-1);  // a tensor has at least one element
  }
  return numbers;
}

}  // namespace heddle
