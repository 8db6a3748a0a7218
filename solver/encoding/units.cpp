// unit: at every slot modulo II the amounts in use on a unit stay within its capacity.
//
// A use longer than II is always on floor(duration / II) times over; that part comes off the capacity once, and only the
// rest moves. Two uses that do not fit together exclude each other pairwise. Where three or more could add up, the start of
// every use counts what is active then: a peak always begins at the start of some use.
#include <algorithm>

#include "core/base/saturate.h"
#include "solver/encoding/families.h"

namespace heddle::solver {
namespace {

struct Use {
  OpId op;
  Cycle offset, duration;
  std::int64_t amount;
};

void exclude(Model& model, const Use& a, const Use& b) {
  // start(b) - start(a) mod II in [a.duration, II - b.duration], shifted by the offsets
  model.require_residue(a.op, b.op, a.duration + a.offset - b.offset, model.ii() - a.duration - b.duration, {});
}

void count_at_starts(Model& model, const std::vector<Use>& uses, std::int64_t capacity) {
  for (const Use& at : uses) {
    std::vector<const Use*> others;
    std::int64_t total = at.amount;
    for (const Use& other : uses)
      if (&other != &at && other.amount + at.amount <= capacity) {
        others.push_back(&other);
        total += other.amount;
      }
    if (total <= capacity) continue;
    std::vector<WeightedLit> terms;
    for (const Use* other : others) {
      const Lit active = model.backend().new_lit();
      // either active, or start(at) lies outside [start(other), start(other) + duration) modulo II
      const Backend::Unguarded definition(model.backend());
      model.require_residue(other->op, at.op, other->duration + other->offset - at.offset, model.ii() - 1 - other->duration, {active});
      terms.push_back({other->amount, active});
    }
    model.backend().add_at_most(std::move(terms), capacity - at.amount);
  }
}

}  // namespace

void add_units(Model& model) {
  const Problem& problem = model.problem();
  for (std::size_t i = 0; i < problem.units.size(); ++i) {
    std::int64_t capacity = problem.units[i].capacity, in_sum = 0;
    std::vector<Use> uses;
    for (std::size_t v = 0; v < problem.ops.size(); ++v)
      for (const UnitUse& use : problem.ops[v].uses) {
        if (use.unit != UnitId(i) || use.amount == 0) continue;
        in_sum = sat_add(in_sum, sat_mul(use.amount, use.work()));
        capacity -= use.duration / model.ii() * use.amount;
        if (use.duration % model.ii() > 0) uses.push_back({OpId(v), use.offset, use.duration % model.ii(), use.amount});
      }
    model.name(ConstraintFamily::Unit, i);
    for (const Use& use : uses)
      if (use.amount > capacity) model.backend().add_clause({});
    if (capacity < 0 || in_sum > sat_mul(problem.units[i].capacity, model.ii())) model.backend().add_clause({});
    for (std::size_t a = 0; a < uses.size(); ++a)
      for (std::size_t b = a + 1; b < uses.size(); ++b) {
        if (uses[a].amount + uses[b].amount <= capacity) continue;
        model.name(ConstraintFamily::Unit, i, {uses[a].op, uses[b].op});
        exclude(model, uses[a], uses[b]);
      }
    model.name(ConstraintFamily::Unit, i);
    count_at_starts(model, uses, capacity);
  }
}

}  // namespace heddle::solver
