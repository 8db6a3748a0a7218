// Both look at the decisions one by one, and at the ops of a decision in the kernel's order; neither knows lanes that exchange what they
// store. An instruction is the wider, the fewer of it move the tile.
#include "solver/baselines/greedy_layouts.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

namespace heddle::solver {
namespace {

constexpr std::size_t kHexcuteCandidates = 4;  ///< per copy, where its search stops early

const InstructionChoice& instruction_of(const LayoutDecision& decision, std::size_t candidate, std::size_t op) {
  return decision.candidates[candidate].choices.instructions.at(decision.ops[op]);
}

bool exchanges(const LayoutDecision& decision, std::size_t candidate) {
  for (std::size_t k = 0; k < decision.ops.size(); ++k)
    if (instruction_of(decision, candidate, k).exchange.used()) return true;
  return false;
}

/// Instructions of an op among these candidates, the widest first.
std::vector<std::string> instructions_of(const LayoutDecision& decision, const std::vector<std::size_t>& candidates, std::size_t op) {
  std::vector<std::pair<std::int64_t, std::string>> found;
  for (const std::size_t c : candidates) {
    const std::string& name = instruction_of(decision, c, op).name;
    const auto same = [&](const auto& each) { return each.second == name; };
    if (std::none_of(found.begin(), found.end(), same)) found.emplace_back(decision.candidates[c].costs[op].issues, name);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [issues, name] : found) names.push_back(std::move(name));
  return names;
}

std::vector<std::size_t> without_exchange(const LayoutDecision& decision, const std::function<bool(const std::string&)>& known) {
  std::vector<std::size_t> left;
  for (std::size_t c = 0; c < decision.candidates.size(); ++c) {
    bool fits = !exchanges(decision, c);
    for (std::size_t k = 0; k < decision.ops.size() && fits; ++k) fits = known(instruction_of(decision, c, k).name);
    if (fits) left.push_back(c);
  }
  return left;
}

/// Of the candidates with these instructions the one whose accesses' ways sum up to least: the first of those.
std::optional<std::size_t> least_ways(const LayoutDecision& decision, const std::vector<std::size_t>& candidates,
                                      const std::vector<std::string>& instructions) {
  std::optional<std::size_t> best;
  int least = std::numeric_limits<int>::max();
  for (const std::size_t c : candidates) {
    int ways = 0;
    bool same = true;
    for (std::size_t k = 0; k < decision.ops.size(); ++k) {
      same = same && instruction_of(decision, c, k).name == instructions[k];
      ways += decision.candidates[c].costs[k].ways;
    }
    if (same && ways < least) best = c, least = ways;
  }
  return best;
}

/// Depth first over the ops, each with its widest instructions; at a leaf the swizzle with the least sum of ways; the cheapest leaf wins,
/// the first of those. Its table has a latency for each instruction, multiplied by its ways; here the number of instructions stands for it.
std::size_t hexcute(const LayoutDecision& decision) {
  // Its public catalogue has no stmatrix.
  const std::vector<std::size_t> candidates =
      without_exchange(decision, [](const std::string& name) { return !name.starts_with("stmatrix"); });
  std::optional<std::size_t> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> taken;
  const std::function<void()> go_on = [&] {
    if (taken.size() == decision.ops.size()) {
      const auto leaf = least_ways(decision, candidates, taken);
      if (!leaf) return;
      std::int64_t cost = 0;
      for (const AccessCost& each : decision.candidates[*leaf].costs) cost += each.issues * each.ways;
      if (cost < least) best = leaf, least = cost;
      return;
    }
    std::vector<std::string> next = instructions_of(decision, candidates, taken.size());
    if (next.size() > kHexcuteCandidates) next.resize(kHexcuteCandidates);
    for (const std::string& name : next) {
      taken.push_back(name);
      go_on();
      taken.pop_back();
    }
  };
  go_on();
  return best.value_or(0);
}

/// The widest instruction that any layout allows, op by op; then the layout under which the fewest lanes meet.
std::size_t triton(const LayoutDecision& decision) {
  std::vector<std::size_t> candidates = without_exchange(decision, [](const std::string&) { return true; });
  std::vector<std::string> taken;
  for (std::size_t k = 0; k < decision.ops.size(); ++k) {
    const std::vector<std::string> widest = instructions_of(decision, candidates, k);
    if (widest.empty()) return 0;
    taken.push_back(widest.front());
    std::erase_if(candidates, [&](std::size_t c) { return instruction_of(decision, c, k).name != widest.front(); });
  }
  return least_ways(decision, candidates, taken).value_or(0);
}

template <std::size_t (*Choose)(const LayoutDecision&)>
std::vector<std::size_t> each_by_itself(const OpenLayouts& layouts) {
  std::vector<std::size_t> chosen;
  for (const LayoutDecision& decision : layouts.decisions) chosen.push_back(Choose(decision));
  return chosen;
}

}  // namespace

const std::vector<LayoutBaseline>& layout_baselines() {
  static const std::vector<LayoutBaseline> all{
      {"hexcute",
       "layouts as Hexcute chooses them: the widest instructions first, at most 4 per copy, depth first, the swizzle with the least sum of "
       "ways, the cheapest leaf",
       "Hexcute, arXiv 2504.16214, and its code (hidet f962fc3); instructions are counted instead of looked up in its table of latencies",
       each_by_itself<hexcute>},
      {"triton-layouts", "layouts as Triton chooses them: vectorised as far as possible first, then the swizzle with the fewest conflicts",
       "Linear Layouts, arXiv 2505.23819", each_by_itself<triton>}};
  return all;
}

}  // namespace heddle::solver
