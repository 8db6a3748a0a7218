#include "solver/paper/warps.h"

#include <algorithm>

namespace heddle::solver::paper {

Warps::Warps(Backend& backend, const PaperGraph& graph, const Options& options, int pool)
    : backend_(backend), graph_(graph), options_(options), pool_(std::min(pool, graph.pool)) {
  for (const PaperNode& node : graph.nodes) {
    std::vector<Lit> row;
    for (int w = 0; w < pool_; ++w) {
      // VARIABLE LATENCY: member 0 is W_vl and holds exactly these ops.
      const bool reserved = graph.has_variable_latency && w == 0;
      const bool can = node.variable_latency ? reserved : !reserved;
      row.push_back(can ? backend.new_lit() : kFalse);
    }
    on_.push_back(std::move(row));
  }
  for (std::size_t v = 0; v < graph.nodes.size(); ++v) unique(v, options.pool == Pool::Warps ? graph.nodes[v].warps : 1);
  if (options.pool == Pool::Groups) break_symmetry();
  for (const Arc& arc : graph.arcs) {
    const bool forbidden = options.cross_warp == CrossWarp::Never || (options.cross_warp == CrossWarp::NoRegisters && arc.registers);
    if (forbidden) backend.add_clause({-cross(arc.from, arc.to)});
  }
}

/// WARP UNIQUENESS: exactly as many members as the op needs. W_vl is one warp, whatever the op asks for.
void Warps::unique(std::size_t op, int needed) {
  if (graph_.nodes[op].variable_latency) needed = 1;
  std::vector<WeightedLit> in, out;
  for (const Lit lit : on_[op]) {
    if (lit == kFalse) continue;
    in.push_back({1, lit});
    out.push_back({1, -lit});
  }
  const auto available = static_cast<std::int64_t>(in.size());
  if (available < needed) return backend_.add_clause({});
  if (needed == 1) {
    std::vector<Lit> any;
    for (const WeightedLit& t : in) any.push_back(t.lit);
    backend_.add_clause(any);
  } else {
    backend_.add_at_most(std::move(out), available - needed);
  }
  backend_.add_at_most(std::move(in), needed);
}

/// Groups are interchangeable: a group is opened only by an op after the one that opens the group before it.
void Warps::break_symmetry() {
  const int first = graph_.has_variable_latency ? 1 : 0;
  std::vector<std::size_t> ops;
  for (std::size_t v = 0; v < graph_.nodes.size(); ++v)
    if (!graph_.nodes[v].variable_latency) ops.push_back(v);
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (int w = first + 1; w < pool_; ++w) {
      std::vector<Lit> clause{-on(ops[i], w)};
      for (std::size_t j = 0; j < i; ++j) clause.push_back(on(ops[j], w - 1));
      backend_.add_clause(clause);
    }
}

Lit Warps::share(std::size_t a, std::size_t b) {
  const auto [entry, fresh] = share_.try_emplace(std::minmax(a, b), kFalse);
  if (!fresh) return entry->second;
  const Lit lit = backend_.new_lit();
  for (int w = 0; w < pool_; ++w)
    if (on(a, w) != kFalse && on(b, w) != kFalse) backend_.add_clause({-on(a, w), -on(b, w), lit});
  return entry->second = lit;
}

/// False whenever some member of `inner` is not one of `outer`.
Lit Warps::contains(std::size_t outer, std::size_t inner) {
  const auto [entry, fresh] = contains_.try_emplace({outer, inner}, kFalse);
  if (!fresh) return entry->second;
  const Lit lit = backend_.new_lit();
  for (int w = 0; w < pool_; ++w) backend_.add_clause({-on(inner, w), on(outer, w), -lit});
  return contains_[{outer, inner}] = lit;
}

Lit Warps::cross(std::size_t from, std::size_t to) {
  if (from == to && options_.same_warp != SameWarp::Literal) return kFalse;
  const auto found = cross_.find({from, to});
  if (found != cross_.end()) return found->second;
  const Lit lit = backend_.new_lit();
  cross_[{from, to}] = lit;
  if (options_.pool == Pool::Groups || options_.same_warp == SameWarp::Equal) {
    // Sets of equal size: one contains the other only if they are equal; different sizes always differ.
    for (int w = 0; w < pool_; ++w) {
      backend_.add_clause({-on(from, w), on(to, w), lit});
      backend_.add_clause({-on(to, w), on(from, w), lit});
    }
  } else if (options_.same_warp == SameWarp::Contain) {
    backend_.add_clause({contains(from, to), contains(to, from), lit});
  } else {
    for (int w = 0; w < pool_; ++w)
      for (int x = 0; x < pool_; ++x)
        if (w != x && on(from, w) != kFalse && on(to, x) != kFalse) backend_.add_clause({-on(from, w), -on(to, x), lit});
  }
  return lit;
}

std::vector<int> Warps::members(std::size_t op) const {
  std::vector<int> list;
  for (int w = 0; w < pool_; ++w)
    if (backend_.value(on(op, w))) list.push_back(w);
  return list;
}

}  // namespace heddle::solver::paper
