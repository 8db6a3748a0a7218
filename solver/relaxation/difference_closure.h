// All-pairs longest paths over difference bounds s(v) - s(u) >= at(u, v), kept closed while bounds come and go in stack
// order, with the history of every entry: which bounds an entry follows from can be asked for any moment of the past, which
// is what explaining a propagation after the fact takes.
//
// Adding a bound touches only the rows and columns that it improves (at most n * n additions). No positive cycle may be
// added; the caller looks first (`contradicts`).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle::solver {

class DifferenceClosure {
 public:
  using Value = std::int32_t;
  /// A moment of one entry: who changed it, to what, and what it was before.
  using Moment = std::int32_t;

  struct Bound {
    int from = 0, to = 0;
    Value weight = 0;        ///< s(to) - s(from) >= weight
    std::int32_t cause = 0;  ///< the caller's; handed back by explain
  };

  struct Change {
    int from = 0, to = 0;
    Value before = 0, after = 0;
    Moment moment = 0;
  };

  /// `closed`: a closed matrix without positive cycles, row by row; its entries need no explanation.
  DifferenceClosure(std::size_t size, const std::vector<Value>& closed);

  std::size_t size() const { return size_; }
  Value at(int u, int v) const { return value_[cell(u, v)]; }
  Moment now(int u, int v) const { return head_[cell(u, v)]; }
  Value value_at(Moment moment) const { return history_[static_cast<std::size_t>(moment)].value; }

  bool contradicts(const Bound& bound) const { return at(bound.to, bound.from) + bound.weight > 0; }
  /// Pre: contradicts(bound) is false. Calls on_change(Change) for every entry that rises.
  template <class OnChange>
  void add(const Bound& bound, OnChange&& on_change) {
    if (at(bound.from, bound.to) >= bound.weight) return;
    const auto via = static_cast<std::int32_t>(bounds_.size());
    bounds_.push_back(bound);
    gather(bound);
    const Value* from_to = &value_[cell(bound.to, 0)];
    for (const int u : rows_) {
      const Value reach = at(u, bound.from) + bound.weight;
      Value* row = &value_[cell(u, 0)];
      for (const int v : columns_) {
        const Value after = reach + from_to[v];
        const Value before = row[v];
        if (after <= before) continue;
        const std::size_t c = cell(u, v);
        history_.push_back({after, via, head_[c], static_cast<std::int32_t>(c)});
        head_[c] = static_cast<Moment>(history_.size() - 1);
        row[v] = after;
        on_change(Change{u, v, before, after, head_[c]});
      }
    }
  }

  struct Mark {
    std::size_t bounds = 0, history = 0;
  };
  Mark mark() const { return {bounds_.size(), history_.size()}; }
  void undo_to(const Mark& mark);

  /// Appends the causes of the added bounds from which the entry at that moment follows, weakened by up to `slack`: what
  /// was known earlier is preferred where it still suffices. Bounds below `floor` are taken for granted.
  void explain(Moment moment, Value slack, std::size_t floor, std::vector<std::int32_t>& causes);

 private:
  struct Version {
    Value value = 0;
    std::int32_t via = -1;  ///< index of the bound; -1: from the beginning
    Moment previous = -1;
    std::int32_t cell = 0;
  };

  std::size_t cell(int u, int v) const { return static_cast<std::size_t>(u) * size_ + static_cast<std::size_t>(v); }
  void gather(const Bound& bound);
  Moment before(std::size_t cell, std::int32_t via) const;

  std::size_t size_;
  std::vector<Value> value_;
  std::vector<Moment> head_;
  std::vector<Version> history_;
  std::vector<Bound> bounds_;
  std::vector<int> rows_, columns_;  // scratch of add
  std::vector<Moment> pending_;      // scratch of explain
};

}  // namespace heddle::solver
