#include "core/analysis/stage_bound.h"

#include <algorithm>
#include <vector>

#include "core/base/saturate.h"

namespace heddle {
namespace {

constexpr Cycle kUnreachable = -(Cycle{1} << 60);
constexpr Cycle kTooFar = Cycle{1} << 55;
constexpr std::size_t kMostOps = 600;  ///< paths between all pairs take the cube of it: a fraction of a second

/// A dependence as the argument needs it: start(to) - start(from) >= least, and at most `tight` where it is tight.
struct Arc {
  std::size_t from, to;
  Cycle least, tight;
};

bool shifts_freely(const Constraints& constraints) {
  return std::none_of(constraints.begin(), constraints.end(), [](const UserConstraint& c) {
    return c.enabled && ((c.kind == ConstraintKind::Pin && c.low != 0) || c.kind == ConstraintKind::Range ||
                         c.kind == ConstraintKind::SameStage || c.kind == ConstraintKind::MaxStages);
  });
}

/// Ops that stay at cycle 0: those pinned there, and the first one where stages are counted from it.
std::int64_t held_at_zero(const Constraints& constraints) {
  std::int64_t held = 0;
  for (const UserConstraint& c : constraints)
    if (c.enabled) held += c.kind == ConstraintKind::Pin ? static_cast<std::int64_t>(c.ops.size()) : c.kind == ConstraintKind::MaxStageSmem;
  return held;
}

std::vector<Arc> dependences(const Problem& problem, const Constraints& constraints, Cycle ii) {
  std::vector<Arc> arcs;
  const auto add = [&](OpId from, OpId to, Cycle least, Cycle extra) {
    if (from != to) arcs.push_back({from.index(), to.index(), least, sat_add(sat_add(least, extra), ii - 1)});
  };
  for (const Edge& e : problem.edges) add(e.from, e.to, e.latency - sat_mul(e.distance, ii), e.handoff);
  for (const UserConstraint& c : constraints)
    if (const bool stages = c.kind == ConstraintKind::EarlierStage;
        c.enabled && (stages || c.kind == ConstraintKind::Before) && c.ops.size() == 2) {
      const OpId from = problem.find_op(c.ops[0]), to = problem.find_op(c.ops[1]);
      if (!from.valid() || !to.valid()) continue;  // one that names no op is a fault that others tell
      // Tight where the stages lie just so many apart: the starts are up to that many and one more II apart, less a cycle.
      if (stages)
        add(from, to, sat_add(sat_mul(c.low - 1, ii), 1), ii - 1);
      else
        add(from, to, c.low, 0);
    }
  return arcs;
}

/// Longest paths between all pairs of ops.
class Paths {
 public:
  Paths(std::size_t size, const std::vector<Arc>& arcs) : size_(size), longest_(size * size, kUnreachable) {
    for (std::size_t v = 0; v < size; ++v) at(v, v) = 0;
    for (const Arc& arc : arcs) at(arc.from, arc.to) = std::max(at(arc.from, arc.to), arc.least);
    for (std::size_t m = 0; m < size; ++m)
      for (std::size_t u = 0; u < size; ++u) {
        const Cycle first = at(u, m);
        if (first == kUnreachable) continue;
        for (std::size_t v = 0; v < size; ++v)
          if (at(m, v) != kUnreachable) at(u, v) = std::max(at(u, v), first + at(m, v));
      }
  }
  Cycle& at(std::size_t u, std::size_t v) { return longest_[u * size_ + v]; }
  Cycle at(std::size_t u, std::size_t v) const { return longest_[u * size_ + v]; }
  bool reaches(std::size_t u, std::size_t v) const { return at(u, v) != kUnreachable; }
  bool contradiction() const {
    for (std::size_t v = 0; v < size_; ++v)
      if (at(v, v) > 0) return true;
    return false;
  }

 private:
  std::size_t size_;
  std::vector<Cycle> longest_;
};

/// Greatest distance of two starts once no set can be shifted. `always` bounds differences inside the parts; `arcs` are the
/// dependences, of which some tight ones connect the parts.
Cycle greatest_span(std::size_t size, const std::vector<Arc>& always, const std::vector<Arc>& arcs) {
  const Paths paths(size, always);
  if (paths.contradiction()) return 0;  // no schedule at all
  std::vector<std::size_t> part(size);
  for (std::size_t v = 0; v < size; ++v) {
    part[v] = 0;
    while (!(paths.reaches(part[v], v) && paths.reaches(v, part[v]))) ++part[v];
  }
  std::vector<Cycle> inside(size, 0), leaving(size, 0);  // by the part's first op
  for (std::size_t u = 0; u < size; ++u)
    for (std::size_t v = 0; v < size; ++v)
      if (part[u] == part[v]) inside[part[u]] = std::max(inside[part[u]], -paths.at(u, v));
  const auto leave = [&](std::size_t from, std::size_t to, Cycle cost) {
    if (part[from] != part[to]) leaving[part[from]] = std::max(leaving[part[from]], cost);
  };
  for (const Arc& arc : arcs) {
    leave(arc.from, arc.to, arc.tight);
    leave(arc.to, arc.from, -arc.least);
  }
  Cycle span = 0;
  for (std::size_t v = 0; v < size; ++v) span = sat_add(span, sat_add(inside[v], leaving[v]));
  return span;
}

}  // namespace

std::optional<int> stage_bound(const Problem& problem, const Constraints& constraints, Cycle ii) {
  if (!shifts_freely(constraints)) return std::nullopt;
  const std::size_t size = problem.ops.size();
  if (size > kMostOps) return std::nullopt;
  const std::vector<Arc> arcs = dependences(problem, constraints, ii);
  for (const Arc& arc : arcs)
    if (std::max(std::abs(arc.least), std::abs(arc.tight)) > kTooFar / static_cast<Cycle>(size + 1)) return std::nullopt;
  const Paths paths(size, arcs);
  std::vector<Arc> with_refills = arcs;
  for (const Channel& c : problem.channels)
    for (const Reader& r : c.readers) {
      if (!paths.reaches(c.writer.index(), r.op.index())) return std::nullopt;
      if (c.only_if_crossing || r.op == c.writer) continue;
      const Cycle least = r.release + sat_mul(r.distance - c.max_depth, ii);
      with_refills.push_back({r.op.index(), c.writer.index(), least, 0});
    }
  for (const UserConstraint& c : constraints)
    for (const StageRing& ring : c.rings)
      for (const std::string& reader : ring.readers)
        if (c.enabled && c.kind == ConstraintKind::MaxStageSmem &&
            !paths.reaches(problem.find_op(ring.writer).index(), problem.find_op(reader).index()))
          return std::nullopt;
  // Ops that nothing connects are shifted into the first stage each on their own: one more II covers where they start in it.
  const Cycle span = sat_add(std::min(greatest_span(size, arcs, arcs), greatest_span(size, with_refills, arcs)),
                             sat_mul(held_at_zero(constraints), ii - 1));
  const Cycle stages = span / ii + 2;
  if (stages > 1'000'000) return std::nullopt;
  return static_cast<int>(stages);
}

}  // namespace heddle
