// issue: inside one group no two issue windows overlap modulo II, because a group is one in-order instruction stream.
// blocking: an op that waits never starts strictly inside another op's window on its group. For ops with a window of their
// own the first rule says so already; only ops without one (tokens, views) need the second.
#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

bool waits(const Problem& problem, OpId op) {
  for (const Edge& e : problem.edges)
    if (e.to == op && (e.waits || never_same_group(problem.op(e.from), problem.op(op)))) return true;
  return false;
}

/// Literals of which one is true whenever `op` takes something from another group.
std::vector<Lit> incoming_together(Model& model, OpId op) {
  std::vector<Lit> together;
  for (const Edge& e : model.problem().edges)
    if (e.to == op && e.from != op) together.push_back(model.same_group(e.from, op));
  return together;
}

}  // namespace

void add_issue(Model& model) {
  const Problem& problem = model.problem();
  for (std::size_t a = 0; a < problem.ops.size(); ++a)
    for (std::size_t b = a + 1; b < problem.ops.size(); ++b) {
      const OpId u{a}, v{b};
      const Cycle wu = problem.ops[a].window, wv = problem.ops[b].window;
      if (wu > 0 && wv > 0) {
        const Lit together = model.same_group(u, v);
        if (together == kFalse) continue;
        model.name(ConstraintFamily::Issue, 0, {u, v});
        model.require_residue(u, v, wu, model.ii() - wu - wv, {-together});
        continue;
      }
      for (const auto& [busy, waiter] : {std::pair(u, v), std::pair(v, u)}) {
        const Cycle window = problem.op(busy).window;
        if (window <= 1 || problem.op(waiter).window > 0) continue;
        const Lit together = model.same_group(busy, waiter);
        if (together == kFalse) continue;
        model.name(ConstraintFamily::Blocking, 0, {waiter, busy});
        // start(waiter) - start(busy) mod II is 0 or at least the window
        if (waits(problem, waiter)) {
          model.require_residue(busy, waiter, window, model.ii() - window, {-together});
        } else {
          for (Lit from_same : incoming_together(model, waiter))
            model.require_residue(busy, waiter, window, model.ii() - window, {-together, from_same});
        }
      }
    }
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (problem.ops[v].window > model.ii()) {
      model.name(ConstraintFamily::Issue, 0, {OpId(v)});
      model.backend().add_clause({});
    }
}

}  // namespace heddle::solver
