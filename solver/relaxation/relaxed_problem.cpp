// Rules come first, then components, then one closed matrix for each independent part.
#include "solver/relaxation/relaxed_problem.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/base/integer_division.h"
#include "solver/encoding/closure.h"

namespace heddle::solver {
namespace {

class Relaxer {
 public:
  Relaxer(const Problem& problem, const Constraints& constraints, Cycle ii, const RelaxOptions& options)
      : problem_(problem), constraints_(constraints), ii_(ii), options_(options), n_(problem.ops.size()) {
    out_.ii = ii;
    out_.op_count = n_;
  }

  RelaxedProblem run() {
    if (options_.kept == Kept::FullestUnit) {
      if (!problem_.units.empty()) add_unit(fullest_unit());
    } else {
      for (std::size_t i = 0; i < problem_.units.size(); ++i) add_unit(i);
      add_streams();
    }
    if (!out_.refuted) add_differences();
    if (!out_.refuted) split();
    return std::move(out_);
  }

 private:
  struct Use {
    std::size_t op;
    Cycle offset, duration;
    std::int64_t amount;
  };

  std::size_t fullest_unit() const;
  void add_unit(std::size_t i);
  void add_streams();
  void exclude(const Use& a, const Use& b);
  void add_exclusive(const std::vector<Use>& uses);
  void add_differences();
  void split();
  RelaxedPart make_part(const std::vector<std::size_t>& ops) const;
  void order_alike(RelaxedPart& part, const std::vector<bool>& alone) const;
  bool together(std::size_t u, std::size_t v) const { return out_.component[u] == out_.component[v]; }

  const Problem& problem_;
  const Constraints& constraints_;
  Cycle ii_;
  const RelaxOptions options_;
  std::size_t n_;
  RelaxedProblem out_;
  std::vector<Residue> residues_;
  std::map<std::pair<int, int>, std::size_t> plain_;  // residues without offsets, to merge
  std::vector<Exclusive> exclusives_;
};

void Relaxer::exclude(const Use& a, const Use& b) {
  if (a.op == b.op) {
    out_.refuted |= a.duration + b.duration > ii_;
    const Cycle apart = modulo(b.offset - a.offset, ii_);
    out_.refuted |= apart < a.duration || apart > ii_ - b.duration;
    return;
  }
  const Use& first = a.op < b.op ? a : b;
  const Use& second = a.op < b.op ? b : a;
  const Cycle shift = first.offset - second.offset;
  Residue r{static_cast<int>(first.op), static_cast<int>(second.op), first.duration + shift, ii_ - second.duration + shift};
  if (shift == 0) {
    const auto [at, fresh] = plain_.try_emplace({r.u, r.v}, residues_.size());
    if (!fresh) {
      Residue& known = residues_[at->second];
      known.low = std::max(known.low, r.low);
      known.high = std::min(known.high, r.high);
      out_.refuted |= known.low > known.high;
      return;
    }
  }
  out_.refuted |= r.low > r.high;
  residues_.push_back(r);
}

void Relaxer::add_exclusive(const std::vector<Use>& uses) {
  Exclusive e;
  Cycle total = 0;
  for (const Use& use : uses) {
    total += use.duration;
    const auto known = std::find_if(e.members.begin(), e.members.end(), [&](const auto& m) { return m.op == static_cast<int>(use.op); });
    if (known == e.members.end())
      e.members.push_back({static_cast<int>(use.op), use.offset, use.duration});
    else if (use.duration > known->duration)
      *known = {known->op, use.offset, use.duration};
  }
  out_.refuted |= total > ii_;
  if (e.members.size() > 2) exclusives_.push_back(std::move(e));
}

std::size_t Relaxer::fullest_unit() const {
  std::vector<double> load(problem_.units.size(), 0);
  for (const Op& op : problem_.ops)
    for (const UnitUse& use : op.uses)
      load[use.unit.index()] +=
          static_cast<double>(use.duration) * static_cast<double>(use.amount) / static_cast<double>(problem_.unit(use.unit).capacity);
  return static_cast<std::size_t>(std::max_element(load.begin(), load.end()) - load.begin());
}

void Relaxer::add_unit(std::size_t i) {
  std::int64_t capacity = problem_.units[i].capacity;
  std::vector<Use> uses;
  // What lasts longer than II is on floor(duration / II) times over for good; only the rest moves.
  for (std::size_t v = 0; v < n_; ++v)
    for (const UnitUse& use : problem_.ops[v].uses) {
      if (use.unit != UnitId(i) || use.amount == 0) continue;
      capacity -= use.duration / ii_ * use.amount;
      if (use.duration % ii_ > 0) uses.push_back({v, use.offset, use.duration % ii_, use.amount});
    }
  out_.refuted |= capacity < 0;
  std::vector<Use> wide;
  for (const Use& use : uses) {
    out_.refuted |= use.amount > capacity;
    if (2 * use.amount > capacity) wide.push_back(use);
  }
  for (std::size_t a = 0; a < uses.size(); ++a)
    for (std::size_t b = a + 1; b < uses.size(); ++b)
      if (uses[a].amount + uses[b].amount > capacity) exclude(uses[a], uses[b]);
  add_exclusive(wide);
}

/// The producer group is one instruction stream; so are all other ops where only one group is left for them.
void Relaxer::add_streams() {
  std::int64_t groups = problem_.max_groups;
  for (const UserConstraint& c : constraints_)
    if (c.enabled && c.kind == ConstraintKind::MaxGroups) groups = std::min(groups, c.high);
  for (const bool variable : {true, false}) {
    if (!variable && groups - (problem_.has_producer_group() ? 1 : 0) > 1) continue;
    std::vector<Use> windows;
    for (std::size_t v = 0; v < n_; ++v)
      if (problem_.ops[v].variable_latency == variable && problem_.ops[v].window > 0) windows.push_back({v, 0, problem_.ops[v].window, 1});
    for (std::size_t a = 0; a < windows.size(); ++a)
      for (std::size_t b = a + 1; b < windows.size(); ++b) exclude(windows[a], windows[b]);
    add_exclusive(windows);
  }
}

void Relaxer::add_differences() {
  std::vector<Cycle>& d = out_.longest;
  d.assign(n_ * n_, options_.stages > 0 ? -(ii_ * options_.stages - 1) : kNoPath);
  const auto raise = [&](std::size_t u, std::size_t v, Cycle apart) { d[u * n_ + v] = std::max(d[u * n_ + v], apart); };
  for (const StartDifference& x : certain_differences(problem_, ii_)) raise(x.from.index(), x.to.index(), x.apart);
  for (const UserConstraint& c : constraints_)
    if (c.enabled && c.kind == ConstraintKind::Before && c.ops.size() == 2)
      raise(problem_.find_op(c.ops[0]).index(), problem_.find_op(c.ops[1]).index(), c.low);
    else if (c.enabled && c.kind == ConstraintKind::EarlierStage && c.ops.size() == 2)
      raise(problem_.find_op(c.ops[0]).index(), problem_.find_op(c.ops[1]).index(), (c.low - 1) * ii_ + 1);
  for (std::size_t m = 0; m < n_; ++m)
    for (std::size_t u = 0; u < n_; ++u) {
      const Cycle first = d[u * n_ + m];
      if (first == kNoPath) continue;
      for (std::size_t v = 0; v < n_; ++v)
        if (d[m * n_ + v] != kNoPath) raise(u, v, first + d[m * n_ + v]);
    }
  for (std::size_t v = 0; v < n_; ++v) {
    out_.refuted |= d[v * n_ + v] > 0;
    d[v * n_ + v] = 0;
  }
  out_.component.resize(n_);
  std::iota(out_.component.begin(), out_.component.end(), 0);
  for (std::size_t u = 0; u < n_; ++u)
    for (std::size_t v = 0; v < u; ++v) {
      if (out_.component[u] == out_.component[v] || out_.path(u, v) == kNoPath || out_.path(v, u) == kNoPath) continue;
      if (-out_.path(u, v) - out_.path(v, u) > options_.widest) continue;
      const std::size_t from = out_.component[u], to = out_.component[v];
      std::replace(out_.component.begin(), out_.component.end(), std::max(from, to), std::min(from, to));
    }
}

void Relaxer::split() {
  std::vector<bool> ruled(n_, false);
  std::vector<std::size_t> part(n_);
  std::iota(part.begin(), part.end(), 0);
  const auto find = [&](std::size_t v) {
    while (part[v] != v) v = part[v] = part[part[v]];
    return v;
  };
  for (const Residue& r : residues_) {
    const auto u = static_cast<std::size_t>(r.u), v = static_cast<std::size_t>(r.v);
    ruled[u] = ruled[v] = true;
    part[find(u)] = find(v);
  }
  for (std::size_t u = 0; u < n_; ++u)
    for (std::size_t v = u + 1; v < n_; ++v)
      if (ruled[u] && ruled[v] && together(u, v)) part[find(u)] = find(v);
  if (options_.kept == Kept::Whole) {
    ruled.assign(n_, true);
    part.assign(n_, 0);
  }
  std::map<std::size_t, std::vector<std::size_t>> members;
  for (std::size_t v = 0; v < n_; ++v)
    if (ruled[v]) members[find(v)].push_back(v);
  for (const auto& [root, ops] : members) out_.parts.push_back(make_part(ops));
  // The smallest first: should it refute, the others are not needed.
  std::stable_sort(out_.parts.begin(), out_.parts.end(),
                   [](const RelaxedPart& a, const RelaxedPart& b) { return a.ops.size() < b.ops.size(); });
}

RelaxedPart Relaxer::make_part(const std::vector<std::size_t>& ops) const {
  RelaxedPart part;
  const std::size_t n = ops.size();
  std::vector<int> index(n_, -1);
  for (std::size_t i = 0; i < n; ++i) {
    index[ops[i]] = static_cast<int>(i);
    part.ops.push_back(OpId(ops[i]));
    part.component.push_back(out_.component[ops[i]]);
  }
  for (Residue r : residues_) {
    if (index[static_cast<std::size_t>(r.u)] < 0) continue;
    r.u = index[static_cast<std::size_t>(r.u)];
    r.v = index[static_cast<std::size_t>(r.v)];
    part.residues.push_back(r);
  }
  for (Exclusive e : exclusives_) {
    if (index[static_cast<std::size_t>(e.members.front().op)] < 0) continue;
    for (Exclusive::Member& m : e.members) m.op = index[static_cast<std::size_t>(m.op)];
    part.exclusives.push_back(std::move(e));
  }

  // Components, each by its first member; the anchor is that of the largest.
  std::vector<std::size_t> component(n);
  std::vector<std::size_t> size(n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    component[i] = i;
    for (std::size_t j = 0; j < i && component[i] == i; ++j)
      if (together(ops[i], ops[j])) component[i] = component[j];
    ++size[component[i]];
  }
  const auto anchor = static_cast<std::size_t>(std::max_element(size.begin(), size.end()) - size.begin());
  part.closed.assign(n * n, kNoPath);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (component[i] == component[j]) part.closed[i * n + j] = out_.path(ops[i], ops[j]);
  std::vector<bool> alone(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    alone[i] = size[i] == 1 && component[i] == i && i != anchor;
    if (component[i] != i || i == anchor) continue;
    part.closed[anchor * n + i] = 0;
    part.closed[i * n + anchor] = -(ii_ - 1);
  }
  if (options_.kept != Kept::Whole) order_alike(part, alone);  // groups tell apart what differences do not
  for (std::size_t m = 0; m < n; ++m)
    for (std::size_t u = 0; u < n; ++u) {
      const Cycle first = part.closed[u * n + m];
      if (first == kNoPath) continue;
      for (std::size_t v = 0; v < n; ++v)
        if (part.closed[m * n + v] != kNoPath) part.closed[u * n + v] = std::max(part.closed[u * n + v], first + part.closed[m * n + v]);
    }
  return part;
}

/// Ops that no difference holds and whose residues are alike can trade places: any one order of them stands for all.
void Relaxer::order_alike(RelaxedPart& part, const std::vector<bool>& alone) const {
  const std::size_t n = part.ops.size();
  using Rule = std::tuple<int, Cycle, Cycle>;  // the other op, and the residue of that minus this
  std::vector<std::vector<Rule>> rules(n);
  for (const Residue& r : part.residues) {
    rules[static_cast<std::size_t>(r.u)].push_back({r.v, r.low, r.high});
    rules[static_cast<std::size_t>(r.v)].push_back({r.u, ii_ - r.high, ii_ - r.low});
  }
  for (auto& list : rules) std::sort(list.begin(), list.end());
  const auto without = [](std::vector<Rule> list, std::size_t op) {
    std::erase_if(list, [&](const Rule& rule) { return std::get<0>(rule) == static_cast<int>(op); });
    return list;
  };
  const auto between = [&](std::size_t i, std::size_t j) {
    std::vector<Rule> list = rules[i];
    std::erase_if(list, [&](const Rule& rule) { return std::get<0>(rule) != static_cast<int>(j); });
    return list;
  };
  for (std::size_t j = 0; j < n; ++j) {
    if (!alone[j]) continue;
    for (std::size_t i = j; i-- > 0;) {
      if (!alone[i] || without(rules[i], j) != without(rules[j], i)) continue;
      const std::vector<Rule> pair = between(i, j);
      // The same seen from either side, and they exclude each other.
      if (pair.size() != 1 || std::get<1>(pair[0]) + std::get<2>(pair[0]) != ii_ || std::get<1>(pair[0]) <= 0) continue;
      part.closed[i * n + j] = std::get<1>(pair[0]);
      break;
    }
  }
}

}  // namespace

RelaxedProblem relax(const Problem& problem, const Constraints& constraints, Cycle ii, const RelaxOptions& options) {
  return Relaxer(problem, constraints, ii, options).run();
}

}  // namespace heddle::solver
