// Trees are built depth first, and a constraint is tested at the first level where all its names have values.
#include "core/tuning_space/tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr std::size_t kMostTests = 5'000'000;  // of constraints, two or three seconds

struct TreeNode {
  std::int64_t value = 0;   ///< of its level's parameter
  std::int64_t before = 0;  ///< leaves of its elder siblings
  std::int64_t leaves = 0;
  std::vector<TreeNode> children;
};

}  // namespace

struct ChainOfTrees::Group {
  std::vector<std::size_t> parameters;  ///< in the order of levels
  bool free = false;                    ///< one parameter, no constraint: its values need no nodes
  TreeNode root;
};

namespace {

struct Growing {
  const SearchSpace& space;
  const std::vector<std::size_t>& levels;
  std::vector<std::vector<const Expr*>> tests;  ///< at each level
  const std::stop_token& stop;
  Scope scope;
  std::size_t nodes = 0, tested = 0;
  bool over = false;

  /// Children of `node`, whose level is `level - 1`; its leaves.
  std::int64_t grow(TreeNode& node, std::size_t level) {
    if (level == levels.size()) return node.leaves = 1;
    const Parameter& p = space.parameters[levels[level]];
    std::int64_t sum = 0;
    for (std::int64_t value = 0; value < p.count() && !over; ++value) {
      add_to_scope(space, levels[level], static_cast<double>(value), scope);
      tested += 1 + tests[level].size();
      if (tested > kMostTests || ((tested & 1023) == 0 && stop.stop_requested())) over = true;
      if (over || !std::all_of(tests[level].begin(), tests[level].end(), [&](const Expr* e) { return holds(*e, scope); })) continue;
      TreeNode child;
      child.value = value;
      child.before = sum;
      const std::int64_t leaves = grow(child, level + 1);
      if (leaves == 0) continue;
      if (++nodes > kMostNodes) over = true;
      sum += leaves;
      node.children.push_back(std::move(child));
    }
    return node.leaves = sum;
  }

  static constexpr std::size_t kMostNodes = ChainOfTrees::kMostNodes;
};

/// Parameters joined by constraints: the number of each one's group.
std::vector<std::size_t> components(const SearchSpace& space, const std::vector<std::vector<std::size_t>>& about) {
  std::vector<std::size_t> group(space.parameters.size());
  std::iota(group.begin(), group.end(), 0);
  for (const auto& members : about)
    for (const std::size_t p : members) {
      const std::size_t from = std::max(group[p], group[members.front()]), to = std::min(group[p], group[members.front()]);
      std::replace(group.begin(), group.end(), from, to);
    }
  return group;
}

}  // namespace

const std::vector<std::size_t>& ChainOfTrees::parameters_of(std::size_t tree) const { return groups_[tree]->parameters; }

std::int64_t ChainOfTrees::leaves(std::size_t tree) const {
  const Group& group = *groups_[tree];
  return group.free ? space_->parameters[group.parameters.front()].count() : group.root.leaves;
}

Result<ChainOfTrees> ChainOfTrees::build(const SearchSpace& space, const std::stop_token& stop) {
  ChainOfTrees chain;
  chain.space_ = std::make_shared<const SearchSpace>(space);
  const SearchSpace& kept = *chain.space_;
  // What each constraint is about.
  std::vector<std::vector<std::size_t>> about(kept.constraints.size());
  for (std::size_t c = 0; c < kept.constraints.size(); ++c)
    for (const std::string& name : kept.constraints[c].names())
      for (std::size_t p = 0; p < kept.parameters.size(); ++p) {
        const auto names = scope_names(kept.parameters[p]);
        if (std::find(names.begin(), names.end(), name) != names.end() && std::find(about[c].begin(), about[c].end(), p) == about[c].end())
          about[c].push_back(p);
      }
  const Scope words = words_scope(kept);
  for (std::size_t c = 0; c < about.size(); ++c)
    if (about[c].empty() && !holds(kept.constraints[c], words))
      return Error{ErrorKind::Input,
                   {{"", fmt::format("/constraints/{}", c), fmt::format("\"{}\" never holds", kept.constraints[c].text()), ""}}};

  const std::vector<std::size_t> component = components(kept, about);
  for (std::size_t first = 0; first < kept.parameters.size(); ++first) {
    if (component[first] != first) continue;
    if (!kept.parameters[first].finite()) {
      chain.reals_.push_back(first);
      continue;
    }
    auto group = std::make_shared<Group>();
    for (std::size_t p = first; p < kept.parameters.size(); ++p)
      if (component[p] == first) group->parameters.push_back(p);
    std::int64_t product = 1;
    for (const std::size_t p : group->parameters) product = sat_mul(product, kept.parameters[p].count());
    chain.unconstrained_ = sat_mul(chain.unconstrained_, product);
    const bool constrained =
        std::any_of(about.begin(), about.end(), [&](const auto& a) { return !a.empty() && component[a.front()] == first; });
    group->free = !constrained;
    if (constrained) {
      Growing growing{kept, group->parameters, std::vector<std::vector<const Expr*>>(group->parameters.size()), stop, words};
      for (std::size_t c = 0; c < about.size(); ++c) {
        if (about[c].empty() || component[about[c].front()] != first) continue;
        const std::size_t last = *std::max_element(about[c].begin(), about[c].end());
        const auto level = std::find(group->parameters.begin(), group->parameters.end(), last) - group->parameters.begin();
        growing.tests[static_cast<std::size_t>(level)].push_back(&kept.constraints[c]);
      }
      growing.grow(group->root, 0);
      if (growing.over)
        return Error::input(stop.stop_requested()
                                ? "stopped while listing the configurations"
                                : fmt::format("constraints tie together {} combinations of values, more than can be listed", product),
                            "give the parameters fewer values, or constrain fewer of them at a time");
      if (group->root.leaves == 0) {
        Error error;
        for (std::size_t c = 0; c < about.size(); ++c)
          if (!about[c].empty() && component[about[c].front()] == first)
            error.faults.push_back({"", fmt::format("/constraints/{}", c),
                                    fmt::format("no combination satisfies \"{}\"{}", kept.constraints[c].text(),
                                                about.size() > 1 ? " together with the others" : ""),
                                    ""});
        return error;
      }
    }
    chain.size_ = sat_mul(chain.size_, group->free ? product : group->root.leaves);
    chain.groups_.push_back(std::move(group));
  }
  return chain;
}

Config ChainOfTrees::at(std::int64_t number) const {
  Config config = default_config(*space_);
  for (std::size_t g = groups_.size(); g-- > 0;) {
    const Group& group = *groups_[g];
    std::int64_t leaf = number % leaves(g);
    number /= leaves(g);
    if (group.free) {
      config[group.parameters.front()] = static_cast<double>(leaf);
      continue;
    }
    const TreeNode* node = &group.root;
    for (const std::size_t p : group.parameters) {
      auto child = std::upper_bound(node->children.begin(), node->children.end(), leaf,
                                    [](std::int64_t l, const TreeNode& n) { return l < n.before; });
      node = &*--child;
      leaf -= node->before;
      config[p] = static_cast<double>(node->value);
    }
  }
  return config;
}

std::optional<std::int64_t> ChainOfTrees::number_of(const Config& config) const {
  std::int64_t number = 0;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const Group& group = *groups_[g];
    std::int64_t leaf = 0;
    if (group.free) {
      leaf = static_cast<std::int64_t>(config[group.parameters.front()]);
      if (leaf < 0 || leaf >= leaves(g)) return std::nullopt;
    } else {
      const TreeNode* node = &group.root;
      for (const std::size_t p : group.parameters) {
        const auto value = static_cast<std::int64_t>(config[p]);
        const auto child = std::lower_bound(node->children.begin(), node->children.end(), value,
                                            [](const TreeNode& n, std::int64_t v) { return n.value < v; });
        if (child == node->children.end() || child->value != value) return std::nullopt;
        node = &*child;
        leaf += node->before;
      }
    }
    number = sat_add(sat_mul(number, leaves(g)), leaf);
  }
  return number;
}

}  // namespace heddle
