// The literal form: Figures 4, 5 and 6 as printed, one Boolean per op, copy and cycle.
#include <algorithm>
#include <vector>

#include "solver/paper/joint_form.h"
#include "solver/paper/warps.h"

namespace heddle::solver::paper {
namespace {

/// More clauses than this are not attempted: they would take gigabytes.
constexpr std::int64_t kMostLiteralClauses = 6'000'000;

class Literal {
 public:
  Literal(Backend& backend, const PaperGraph& graph, const Options& options, const JointQuery& query)
      : backend_(backend),
        graph_(graph),
        options_(options),
        ii_(query.ii),
        copies_(copies_of(query.ii, query.length)),
        end_((copies_ - 1) * query.ii + query.length),
        warps_(backend, graph, options, query.pool > 0 ? query.pool : graph.pool) {
    make_unknowns();
    uniqueness();
    consistency();
    completion();
    dependence();
    capacity();
    liveness();
    memory_capacity();
    register_limit();
    cross_warp_spills();
    concurrency();
    for (const auto& starts : query.excluded) exclude(starts);
  }

  static std::int64_t size(const PaperGraph& graph, const JointQuery& query) {
    const std::int64_t copies = copies_of(query.ii, query.length), end = (copies - 1) * query.ii + query.length;
    std::int64_t clauses = 0;
    for (const Arc& arc : graph.arcs)
      clauses += std::max<std::int64_t>(0, copies - arc.distance) * end * std::min(end, end / 2 + arc.delay);
    return clauses;
  }

  JointSchedule schedule() const {
    JointSchedule result;
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v) {
      Cycle start = 0;
      while (!backend_.value(op(v, 0, start))) ++start;
      result.starts.push_back(start);
      result.warps.push_back(warps_.members(v));
    }
    return result;
  }

 private:
  std::size_t index(std::size_t v, Cycle i, Cycle t, Cycle width) const {
    return (v * static_cast<std::size_t>(copies_) + static_cast<std::size_t>(i)) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(t);
  }
  /// False outside [0, T); copies outside [0, N) must not be asked for.
  Lit op(std::size_t v, Cycle i, Cycle t) const { return t < 0 || t >= end_ ? kFalse : op_[index(v, i, t, end_)]; }
  Lit live(std::size_t v, Cycle i, Cycle t) const { return live_[index(v, i, t, end_ + 1)]; }

  template <class Do>
  void each(Do&& what) const {
    for (std::size_t v = 0; v < graph_.nodes.size(); ++v)
      for (Cycle i = 0; i < copies_; ++i) what(v, i);
  }

  void make_unknowns() {
    const std::size_t instances = graph_.nodes.size() * static_cast<std::size_t>(copies_);
    for (std::size_t n = instances * static_cast<std::size_t>(end_); n > 0; --n) op_.push_back(backend_.new_lit());
    for (std::size_t n = instances * static_cast<std::size_t>(end_ + 1); n > 0; --n) live_.push_back(backend_.new_lit());
  }

  void uniqueness() {
    each([&](std::size_t v, Cycle i) {
      std::vector<Lit> any;
      std::vector<WeightedLit> count;
      for (Cycle t = 0; t < end_; ++t) {
        any.push_back(op(v, i, t));
        count.push_back({1, op(v, i, t)});
      }
      backend_.add_clause(any);
      backend_.add_at_most(std::move(count), 1);
    });
  }

  void consistency() {
    each([&](std::size_t v, Cycle i) {
      for (Cycle t = 0; i > 0 && t < end_; ++t) backend_.add_clause({-op(v, 0, t), op(v, i, t + i * ii_)});
    });
  }

  void completion() {
    each([&](std::size_t v, Cycle i) {
      for (Cycle t = 0; t < end_; ++t)
        if (t + graph_.nodes[v].cycles > end_) backend_.add_clause({-op(v, i, t)});
    });
  }

  void dependence() {
    for (const Arc& arc : graph_.arcs)
      for (Cycle i = 0; i + arc.distance < copies_; ++i)
        for (Cycle t = 0; t < end_; ++t)
          for (Cycle s = 0; s < std::min(end_, t + arc.delay); ++s)
            backend_.add_clause({-op(arc.from, i, t), -op(arc.to, i + arc.distance, s)});
  }

  void capacity() {
    for (std::size_t unit = 0; unit < graph_.unit_capacity.size(); ++unit)
      for (Cycle t = 0; t < end_; ++t) {
        std::vector<WeightedLit> sum;
        each([&](std::size_t v, Cycle i) {
          for (const TableUse& use : graph_.nodes[v].table) {
            if (use.unit != unit) continue;
            for (Cycle c = use.offset; c < use.offset + use.duration; ++c)
              if (op(v, i, t - c) != kFalse) sum.push_back({use.amount, op(v, i, t - c)});
          }
        });
        backend_.add_at_most(std::move(sum), graph_.unit_capacity[unit]);
      }
  }

  /// INIT, LIVEPROP, DEADPROP.
  void liveness() {
    each([&](std::size_t v, Cycle i) {
      const auto& reads = graph_.nodes[v].reads;
      const bool alive_at_end = std::any_of(reads.begin(), reads.end(), [&](const Read& read) {
        return options_.init == Init::LastCopy ? i == copies_ - 1 && read.distance > 0 : i + read.distance >= copies_;
      });
      backend_.add_clause({alive_at_end ? live(v, i, end_) : -live(v, i, end_)});
      for (Cycle t = end_; t > 0; --t) {
        const Lit now = live(v, i, t), before = live(v, i, t - 1), issued = op(v, i, t);
        backend_.add_clause({-now, issued, before});
        backend_.add_clause({-now, -issued, -before});
        const Lit guard = options_.same_cycle_guard ? issued : kFalse;  // a use in the cycle of the definition is no use
        std::vector<Lit> none{now, -before};
        for (const Read& read : reads) {
          if (i + read.distance >= copies_) continue;
          const Lit use = op(read.op, i + read.distance, t);
          backend_.add_clause({now, -use, guard, before});
          none.push_back(use);
        }
        backend_.add_clause(none);
        if (options_.same_cycle_guard) backend_.add_clause({now, -issued, -before});
      }
    });
  }

  void memory_capacity() {
    for (std::size_t m = 0; m < graph_.memory_capacity.size(); ++m)
      for (Cycle t = 0; t < end_; ++t) {
        std::vector<WeightedLit> sum;
        each([&](std::size_t v, Cycle i) { sum.push_back({graph_.nodes[v].footprint[m], live(v, i, t)}); });
        backend_.add_at_most(std::move(sum), graph_.memory_capacity[m]);
      }
  }

  void register_limit() {
    for (int w = 0; w < warps_.pool(); ++w)
      for (Cycle t = 0; t < end_; ++t) {
        std::vector<WeightedLit> sum;
        each([&](std::size_t v, Cycle i) {
          if (graph_.nodes[v].registers == 0 || warps_.on(v, w) == kFalse) return;
          const Lit both = backend_.new_lit();
          backend_.add_clause({-live(v, i, t), -warps_.on(v, w), both});
          sum.push_back({graph_.nodes[v].registers, both});
        });
        backend_.add_at_most(std::move(sum), graph_.register_limit);
      }
  }

  void cross_warp_spills() {
    for (const Arc& arc : graph_.arcs) {
      const Cycle spill = graph_.nodes[arc.from].spill;
      if (spill == 0) continue;
      const Lit cross = warps_.cross(arc.from, arc.to);
      if (cross == kFalse) continue;
      for (Cycle i = 0; i + arc.distance < copies_; ++i)
        for (Cycle t = 0; t < end_; ++t)
          for (Cycle s = 0; s < spill; ++s)
            backend_.add_clause({-op(arc.from, i, t), -cross, -op(arc.to, i + arc.distance, t + arc.delay + s)});
    }
  }

  void blocks(std::size_t v, Lit condition) {
    for (std::size_t o = 0; o < graph_.nodes.size(); ++o) {
      const PaperNode& node = graph_.nodes[o];
      const bool issue_only = options_.concurrency == Concurrency::Issue && node.asynchronous;
      const Cycle cycles = issue_only ? std::min<Cycle>(node.cycles, 1) : node.cycles;
      if (o == v || cycles == 0) continue;
      const Lit share = warps_.share(v, o);
      for (Cycle i = 0; i < copies_; ++i)
        for (Cycle other = 0; other < copies_; ++other)
          for (Cycle t = 0; t < end_; ++t)
            for (Cycle c = 0; c < cycles; ++c) backend_.add_clause({-condition, -share, -op(v, i, t), -op(o, other, t - c)});
    }
  }

  void concurrency() {
    for (const Arc& arc : graph_.arcs) {
      if (arc.blocking)
        blocks(arc.to, kTrue);
      else if (options_.spill_concurrency && graph_.nodes[arc.from].spill > 0)
        blocks(arc.to, warps_.cross(arc.from, arc.to));
    }
  }

  void exclude(const std::vector<Cycle>& starts) {
    std::vector<Lit> clause;
    for (std::size_t v = 0; v < starts.size(); ++v) clause.push_back(-op(v, 0, starts[v]));
    backend_.add_clause(clause);
  }

  Backend& backend_;
  const PaperGraph& graph_;
  const Options& options_;
  Cycle ii_, copies_, end_;
  Warps warps_;
  std::vector<Lit> op_, live_;
};

}  // namespace

JointAnswer joint_literal(const PaperGraph& graph, const Options& options, const JointQuery& query, const QueryLimits& limits) {
  return ask_form<Literal>(graph, options, query, limits, kMostLiteralClauses);
}

}  // namespace heddle::solver::paper
