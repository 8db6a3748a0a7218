// Trees are grown to the end, each split the best by the Gini index.
#include "solver/tune/forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "solver/tune/random.h"

namespace heddle::solver {
namespace {

constexpr int kTrees = 50;
constexpr double kFeatureShare = 0.75, kFeasibleWeight = 0.8, kInfeasibleWeight = 0.2;

}  // namespace

class ForestGrower {
 public:
  ForestGrower(std::size_t columns, const std::vector<double>& rows, const std::vector<char>& feasible, TuneRandom& random)
      : columns_(columns), rows_(rows), feasible_(feasible), random_(random) {}

  std::vector<FeasibilityForest::Node> tree() {
    nodes_.clear();
    std::vector<std::size_t> all(feasible_.size());
    std::iota(all.begin(), all.end(), 0);
    grow(all);
    return nodes_;
  }

 private:
  using Node = FeasibilityForest::Node;

  double weight(std::size_t row) const { return feasible_[row] ? kFeasibleWeight : kInfeasibleWeight; }
  double at(std::size_t row, std::size_t column) const { return rows_[row * columns_ + column]; }

  /// Weight times Gini impurity.
  static double impurity(double good, double bad) { return good + bad > 0 ? 2 * good * bad / (good + bad) : 0; }

  std::uint32_t grow(std::vector<std::size_t>& rows) {
    const auto self = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    double good = 0, bad = 0;
    for (const std::size_t r : rows) (feasible_[r] ? good : bad) += weight(r);
    nodes_[self].share = good / (good + bad);
    if (good == 0 || bad == 0) return self;
    double best = impurity(good, bad) - 1e-12;
    int column = -1;
    double threshold = 0;
    for (const std::size_t c : some_columns()) {
      std::sort(rows.begin(), rows.end(), [&](std::size_t a, std::size_t b) { return at(a, c) != at(b, c) ? at(a, c) < at(b, c) : a < b; });
      double left_good = 0, left_bad = 0;
      for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
        (feasible_[rows[i]] ? left_good : left_bad) += weight(rows[i]);
        const double here = at(rows[i], c), next = at(rows[i + 1], c);
        if (here == next) continue;
        const double split = impurity(left_good, left_bad) + impurity(good - left_good, bad - left_bad);
        if (split < best) best = split, column = static_cast<int>(c), threshold = here + (next - here) / 2;
      }
    }
    if (column < 0) return self;
    std::vector<std::size_t> left, right;
    for (const std::size_t r : rows) (at(r, static_cast<std::size_t>(column)) <= threshold ? left : right).push_back(r);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    nodes_[self].column = column;
    nodes_[self].threshold = threshold;
    const std::uint32_t l = grow(left);
    const std::uint32_t r = grow(right);
    nodes_[self].left = l;
    nodes_[self].right = r;
    return self;
  }

  std::vector<std::size_t> some_columns() {
    std::vector<std::size_t> order(columns_);
    std::iota(order.begin(), order.end(), 0);
    const auto wanted = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(kFeatureShare * static_cast<double>(columns_))));
    for (std::size_t i = 0; i < wanted; ++i)
      std::swap(order[i], order[i + static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(columns_ - i)))]);
    order.resize(wanted);
    return order;
  }

  std::size_t columns_;
  const std::vector<double>& rows_;
  const std::vector<char>& feasible_;
  TuneRandom& random_;
  std::vector<Node> nodes_;
};

FeasibilityForest FeasibilityForest::fit(std::size_t columns, const std::vector<double>& rows, const std::vector<char>& feasible,
                                         std::uint64_t seed) {
  FeasibilityForest forest;
  TuneRandom random(seed, 2);
  ForestGrower grower(columns, rows, feasible, random);
  for (int t = 0; t < kTrees; ++t) forest.trees_.push_back(grower.tree());
  return forest;
}

double FeasibilityForest::probability(const double* row) const {
  if (trees_.empty()) return 1;
  double sum = 0;
  for (const std::vector<Node>& tree : trees_) {
    const Node* node = &tree.front();
    while (node->column >= 0) node = &tree[row[node->column] <= node->threshold ? node->left : node->right];
    sum += node->share;
  }
  return sum / static_cast<double>(trees_.size());
}

}  // namespace heddle::solver
