// dependence: s(to) + distance*II >= s(from) + latency, plus the hand-off when the value crosses warp groups.
#include <fmt/format.h>

#include "solver/encoding/families.h"

namespace heddle::solver {

void add_dependences(Model& model) {
  const Problem& problem = model.problem();
  for (const Edge& e : problem.edges) {
    const Cycle apart = e.latency - e.distance * model.ii();
    model.name("dependence", [&] {
      return fmt::format("{} -> {}: latency {}{}", problem.op(e.from).name, problem.op(e.to).name, e.latency,
                         e.distance ? fmt::format(", {} iterations later", e.distance) : "");
    });
    model.require_apart(e.from, e.to, apart);
    if (e.handoff == 0 || e.from == e.to) continue;
    model.name("hand-off", [&] {
      return fmt::format("{} -> {}: {} cycles between groups", problem.op(e.from).name, problem.op(e.to).name, e.handoff);
    });
    const Lit together = model.same_group(e.from, e.to);
    if (together == kFalse)
      model.require_apart(e.from, e.to, apart + e.handoff);
    else
      model.require_apart(e.from, e.to, apart + e.handoff, {together});
  }
}

}  // namespace heddle::solver
