// warps: group widths fit the CTA. load: the windows of a group fit II (implied by `issue`, but without it "too few groups"
// is a pigeonhole proof that takes minutes). symmetry: consumer groups are numbered in order of first use.
#include "solver/encoding/families.h"
#include "solver/encoding/user.h"

namespace heddle::solver {

namespace {

std::vector<WeightedLit> warp_terms(const Model& model) {
  std::vector<WeightedLit> terms;
  for (std::size_t g = 0; g < model.group_count(); ++g) {
    int below = 0;
    for (std::size_t i = 0; i < model.widths().size(); ++i) {
      terms.push_back({model.widths()[i] - below, model.width_at_least(g, i)});
      below = model.widths()[i];
    }
  }
  return terms;
}

}  // namespace

void require_warps_at_most(Model& model, std::int64_t most, Lit condition) {
  Backend& backend = model.backend();
  backend.add_at_most(warp_terms(model), most, condition);
  // Implied, but said at once it spares the search many guesses (attention backward on B200: 8581 conflicts to 5348): two ops
  // that are too wide for two groups share one.
  const int producer = model.uses_producer_group() ? 1 : 0;
  for (std::size_t a = 0; a < model.op_count(); ++a)
    for (std::size_t b = a + 1; b < model.op_count(); ++b) {
      const Op& u = model.problem().ops[a];
      const Op& v = model.problem().ops[b];
      if (u.variable_latency || v.variable_latency || u.warps + v.warps + producer <= most) continue;
      backend.add_clause({-condition, model.same_group(OpId(a), OpId(b))});
    }
}

void add_groups(Model& model) {
  const Problem& problem = model.problem();
  Backend& backend = model.backend();

  model.name(ConstraintFamily::Warps);
  require_warps_at_most(model, problem.limits.warps_per_cta);

  for (std::size_t g = 0; g < model.group_count(); ++g) {
    std::vector<WeightedLit> load;
    for (std::size_t v = 0; v < problem.ops.size(); ++v) load.push_back({problem.ops[v].window, model.in_group(OpId(v), g)});
    model.name(ConstraintFamily::Issue, g);
    backend.add_at_most(std::move(load), model.ii());
  }

  const std::size_t first = model.uses_producer_group() ? 1 : 0;
  if (names_groups(model.constraints()) || model.group_count() <= first + 1) return;
  const Backend::Guarded symmetry(backend, model.symmetry());
  std::vector<Lit> seen(model.group_count(), kFalse);  // some earlier op is in that group
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    if (problem.ops[v].variable_latency) continue;
    const OpId op{v};
    for (std::size_t g = first + 1; g < model.group_count(); ++g) backend.add_clause({-model.in_group(op, g), seen[g - 1]});
    for (std::size_t g = first; g < model.group_count(); ++g) {
      const Lit now = backend.new_lit();
      backend.add_clause({-seen[g], now});
      backend.add_clause({-model.in_group(op, g), now});
      backend.add_clause({-now, seen[g], model.in_group(op, g)});
      seen[g] = now;
    }
  }
}

}  // namespace heddle::solver
