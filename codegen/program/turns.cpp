// Whose turn it is on the tensor core.
#include <algorithm>
#include <set>

#include "codegen/program/builder.h"

namespace heddle::codegen {
namespace {

constexpr std::size_t kMostSwitches = 4;  ///< from role to role per iteration; each costs about 30 cycles, and more of them order nothing worth it

}  // namespace

std::map<std::pair<std::size_t, std::int64_t>, TurnOrder::Turn> TurnOrder::of(std::int64_t trips, std::size_t* first, std::size_t* last) const {
  struct Issue {
    Cycle time;
    std::size_t op, role;
    std::int64_t iteration;
  };
  std::vector<Issue> issues;
  for (const Product& p : products)
    for (std::int64_t i = 0; i < trips; ++i) issues.push_back({p.start + i * ii, p.op, p.role, i});
  std::sort(issues.begin(), issues.end(), [](const Issue& a, const Issue& b) { return std::tie(a.time, a.op) < std::tie(b.time, b.op); });
  std::map<std::pair<std::size_t, std::int64_t>, Turn> turns;
  for (std::size_t k = 0; k < issues.size(); ++k) {
    const Issue &before = issues[(k + issues.size() - 1) % issues.size()], &after = issues[(k + 1) % issues.size()];
    Turn turn{before.role != issues[k].role, {}};
    if (after.role != issues[k].role) turn.pass = after.role;
    turns[{issues[k].op, issues[k].iteration}] = turn;
  }
  if (first && !issues.empty()) *first = issues.front().role;
  if (last && !issues.empty()) *last = issues.back().role;
  return turns;
}

void Builder::order_turns() {
  turns_.products.clear();
  turns_.ii = schedule_.ii;
  std::set<std::size_t> works;  // roles that do more in the loop than issue wgmmas
  for (std::size_t r = 0; r < drafts_.size(); ++r)
    for (const LoopStep& s : drafts_[r].loop) {
      if (s.step.kind == StepKind::Compute) works.insert(r);
      if (s.step.kind == StepKind::Issue && s.step.engine == Engine::Mma)
        turns_.products.push_back({s.step.op.index, r, schedule_.ops[s.step.op.index].start});
    }
  std::set<std::size_t> roles;
  for (const TurnOrder::Product& p : turns_.products) roles.insert(p.role);
  std::size_t switches = 0;
  std::vector<std::pair<Cycle, std::size_t>> window;
  for (const TurnOrder::Product& p : turns_.products) window.emplace_back(p.start % schedule_.ii, p.role);
  std::sort(window.begin(), window.end());
  for (std::size_t k = 0; k < window.size(); ++k) switches += window[k].second != window[(k + 1) % window.size()].second;
  const bool wanted = options_.turns && roles.size() > 1 && drafts_.size() < 8 && switches <= kMostSwitches &&
                      std::all_of(roles.begin(), roles.end(), [&](std::size_t r) { return works.contains(r) && warps_of(r) == 4; });
  if (!wanted) return turns_.products.clear();
  Turns turns{{roles.begin(), roles.end()}, 0, 0};
  (void)turns_.of(program_.trips, &turns.first, &turns.last);
  program_.turns = std::move(turns);
}

}  // namespace heddle::codegen
