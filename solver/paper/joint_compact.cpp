// The compact form: one start per op.
#include <algorithm>
#include <map>

#include "solver/paper/joint_form.h"
#include "solver/paper/starts.h"
#include "solver/paper/warps.h"

namespace heddle::solver::paper {
namespace {

/// More clauses than this are not attempted: they would take gigabytes. Native cycles get there.
constexpr std::int64_t kMostClauses = 12'000'000;

class Compact {
 public:
  static std::int64_t size(const PaperGraph& graph, const JointQuery& query) {
    const auto ops = static_cast<std::int64_t>(graph.nodes.size()), arcs = static_cast<std::int64_t>(graph.arcs.size());
    const std::int64_t copies = copies_of(query.ii, query.length), end = (copies - 1) * query.ii + query.length;
    std::int64_t busy = 0;
    for (const PaperNode& node : graph.nodes) busy += std::min(node.cycles, query.ii);
    return ops * query.length * 4 + arcs * query.length * 2 + copies * end * (arcs + ops * graph.pool) + (ops + busy) * query.ii * ops;
  }

  Compact(Backend& backend, const PaperGraph& graph, const Options& options, const JointQuery& query)
      : backend_(backend),
        graph_(graph),
        options_(options),
        ii_(query.ii),
        copies_(copies_of(query.ii, query.length)),
        end_((copies_ - 1) * query.ii + query.length),
        starts_(backend, graph, query.ii, query.length),
        warps_(backend, graph, options, query.pool > 0 ? query.pool : graph.pool) {
    if (!starts_.possible()) return;
    starts_.capacity();
    dependences();
    memory();
    registers();
    concurrency();
    for (const auto& starts : query.excluded) starts_.exclude(starts);
  }

  JointSchedule schedule() const {
    JointSchedule result{starts_.values(), {}};
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v) result.warps.push_back(warps_.members(v));
    return result;
  }

 private:
  /// DEPENDENCE and CROSS-WARP SPILLS; what would need a copy beyond the last is not stated.
  void dependences() {
    for (const Arc& arc : graph_.arcs) {
      if (arc.distance >= copies_) continue;
      starts_.depend(arc, arc.delay);
      const Cycle spill = graph_.nodes[arc.from].spill;
      if (spill == 0) continue;
      const Lit cross = warps_.cross(arc.from, arc.to);
      if (cross != kFalse) starts_.depend(arc, arc.delay + spill, cross);
    }
  }

  /// Whether the result of (v, last copy ...) survives the end.
  bool outlives(std::size_t v, Cycle copy) const {
    return std::any_of(graph_.nodes[v].reads.begin(), graph_.nodes[v].reads.end(), [&](const Read& read) {
      return options_.init == Init::LastCopy ? copy == copies_ - 1 && read.distance > 0 : copy + read.distance >= copies_;
    });
  }

  /// Implied whenever the result of v in this copy is live at time t; kFalse when it never is.
  const std::vector<Lit>& live(std::size_t v, Cycle copy) {
    const auto found = live_.find({v, copy});
    if (found != live_.end()) return found->second;
    std::vector<Lit>& row = live_[{v, copy}];
    const bool outlives_end = outlives(v, copy);
    const Cycle base = copy * ii_;
    std::vector<Read> reads;
    for (const Read& read : graph_.nodes[v].reads)
      if (copy + read.distance < copies_) reads.push_back(read);
    for (Cycle t = 0; t < end_; ++t) {
      const Lit not_issued = starts_.at_least(v, t - base + 1);
      if (not_issued == kTrue) {
        row.push_back(kFalse);
        continue;
      }
      Lit lit = kFalse;
      const auto need = [&](Lit unless) {
        if (unless == kTrue) return;
        if (lit == kFalse) lit = backend_.new_lit();
        backend_.add_clause({not_issued, unless, lit});
      };
      if (outlives_end) need(kFalse);
      for (const Read& read : reads) need(-starts_.at_least(read.op, t + 1 - (copy + read.distance) * ii_));
      row.push_back(lit);
    }
    if (!options_.same_cycle_guard && !outlives_end && !reads.empty()) ghosts(v, copy, reads, row);
    return row;
  }

  /// Without the guard: a result whose uses are all in the cycle of its definition counts as live from cycle 0 up to it.
  void ghosts(std::size_t v, Cycle copy, const std::vector<Read>& reads, std::vector<Lit>& row) {
    Lit later = kFalse;  // live at the time above
    for (Cycle t = end_ - 1; t >= 0; --t) {
      // At time t: live if the definition is at t + 1 with no use after it.
      const Cycle start = t + 1 - copy * ii_;
      const Lit defined = starts_.at(v, start);
      if (defined == kFalse && later == kFalse) continue;
      Lit& lit = row[static_cast<std::size_t>(t)];
      const Lit ghost = backend_.new_lit();
      if (later != kFalse) backend_.add_clause({-later, ghost});
      if (defined != kFalse) {
        std::vector<Lit> clause{-defined, ghost};
        for (const Read& read : reads) clause.push_back(starts_.at_least(read.op, t + 2 - (copy + read.distance) * ii_));
        backend_.add_clause(clause);
      }
      if (lit == kFalse) lit = backend_.new_lit();
      backend_.add_clause({-ghost, lit});
      later = ghost;
    }
  }

  void memory() {
    for (std::size_t m = 0; m < graph_.memory_capacity.size(); ++m) {
      std::vector<std::vector<WeightedLit>> rows(static_cast<std::size_t>(end_));
      for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
        const std::int64_t size = graph_.nodes[v].footprint[m];
        if (size > 0) add_live(rows, v, size);
      }
      for (auto& row : rows) backend_.add_at_most(std::move(row), graph_.memory_capacity[m]);
    }
  }

  void add_live(std::vector<std::vector<WeightedLit>>& rows, std::size_t v, std::int64_t amount) {
    for (Cycle copy = 0; copy < copies_; ++copy) {
      const auto& row = live(v, copy);
      for (std::size_t t = 0; t < row.size(); ++t)
        if (row[t] != kFalse) rows[t].push_back({amount, row[t]});
    }
  }

  /// REGISTER LIMIT per member of the pool; terms are live[v,i,t] and opw[v,w].
  void registers() {
    for (int w = 0; w < warps_.pool(); ++w) {
      std::vector<std::vector<WeightedLit>> rows(static_cast<std::size_t>(end_));
      for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
        const Lit on = warps_.on(v, w);
        if (graph_.nodes[v].registers == 0 || on == kFalse) continue;
        for (Cycle copy = 0; copy < copies_; ++copy) {
          const auto& row = live(v, copy);
          for (std::size_t t = 0; t < row.size(); ++t) {
            if (row[t] == kFalse) continue;
            const Lit held = backend_.new_lit();
            backend_.add_clause({-row[t], -on, held});
            rows[t].push_back({graph_.nodes[v].registers, held});
          }
        }
      }
      for (auto& row : rows) backend_.add_at_most(std::move(row), graph_.register_limit);
    }
  }

  /// How long `o` keeps its warp from blocking.
  Cycle window(std::size_t o) const {
    const PaperNode& node = graph_.nodes[o];
    const bool issue_only = options_.concurrency == Concurrency::Issue && node.asynchronous;
    return issue_only ? std::min<Cycle>(node.cycles, 1) : node.cycles;
  }

  /// v may not start while another op of its warp executes, if `condition` holds.
  void blocks(std::size_t v, Lit condition) {
    for (std::size_t o = 0; o < graph_.nodes.size(); ++o) {
      const Cycle cycles = std::min(window(o), ii_);
      if (o == v || cycles == 0) continue;
      if (graph_.nodes[o].variable_latency != graph_.nodes[v].variable_latency) continue;  // never on one warp
      const Lit share = warps_.share(v, o);
      for (Cycle r = 0; r < ii_; ++r) {
        const Lit now = starts_.slot(v, r);
        if (now == kFalse) continue;
        for (Cycle c = 0; c < cycles; ++c) {
          const Lit running = starts_.slot(o, ((r - c) % ii_ + ii_) % ii_);
          if (running != kFalse) backend_.add_clause({-condition, -share, -now, -running});
        }
      }
    }
  }

  void concurrency() {
    std::vector<bool> done(graph_.nodes.size(), false);
    for (const Arc& arc : graph_.arcs) {
      if (!arc.blocking || done[arc.to]) continue;
      done[arc.to] = true;
      blocks(arc.to, kTrue);
    }
    if (!options_.spill_concurrency) return;
    for (const Arc& arc : graph_.arcs) {
      if (done[arc.to] || graph_.nodes[arc.from].spill == 0) continue;
      const Lit cross = warps_.cross(arc.from, arc.to);
      if (cross != kFalse) blocks(arc.to, cross);
    }
  }

  Backend& backend_;
  const PaperGraph& graph_;
  const Options& options_;
  Cycle ii_, copies_, end_;
  Starts starts_;
  Warps warps_;
  std::map<std::pair<std::size_t, Cycle>, std::vector<Lit>> live_;
};

}  // namespace

JointAnswer joint_compact(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits) {
  return ask_form<Compact>(graph, options, query, limits, kMostClauses);
}

}  // namespace heddle::solver::paper
