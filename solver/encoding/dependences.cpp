// dependence: s(to) + distance*II >= s(from) + latency, plus the hand-off when the value crosses warp groups.
#include "solver/encoding/families.h"

namespace heddle::solver {

void add_dependences(Model& model) {
  const Problem& problem = model.problem();
  for (std::size_t i = 0; i < problem.edges.size(); ++i) {
    const Edge& e = problem.edges[i];
    const Cycle apart = e.latency - e.distance * model.ii();
    model.name(ConstraintFamily::Dependence, i, {e.from, e.to});
    model.require_apart(e.from, e.to, apart);
    if (e.handoff == 0 || e.from == e.to) continue;
    model.name(ConstraintFamily::HandOff, i, {e.from, e.to});
    const Lit together = model.same_group(e.from, e.to);
    if (together == kFalse)
      model.require_apart(e.from, e.to, apart + e.handoff);
    else
      model.require_apart(e.from, e.to, apart + e.handoff, {together});
  }
}

}  // namespace heddle::solver
