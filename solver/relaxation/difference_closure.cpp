// The history is one list of versions, chained per entry, so that to undo is to shorten it.
#include "solver/relaxation/difference_closure.h"

namespace heddle::solver {

DifferenceClosure::DifferenceClosure(std::size_t size, const std::vector<Value>& closed) : size_(size), value_(closed) {
  head_.resize(size * size);
  history_.resize(size * size);
  for (std::size_t c = 0; c < head_.size(); ++c) {
    head_[c] = static_cast<Moment>(c);
    history_[c] = {closed[c], -1, -1, static_cast<std::int32_t>(c)};
  }
}

void DifferenceClosure::gather(const Bound& bound) {
  // A pair can only improve if its way to the bound's ends does.
  rows_.clear();
  columns_.clear();
  const Value* p = value_.data();
  for (std::size_t u = 0; u < size_; ++u, p += size_)
    if (p[bound.from] + bound.weight > p[bound.to]) rows_.push_back(static_cast<int>(u));
  const Value* direct = &value_[cell(bound.from, 0)];
  const Value* beyond = &value_[cell(bound.to, 0)];
  for (std::size_t v = 0; v < size_; ++v)
    if (bound.weight + beyond[v] > direct[v]) columns_.push_back(static_cast<int>(v));
}

void DifferenceClosure::undo_to(const Mark& mark) {
  while (history_.size() > mark.history) {
    const Version& last = history_.back();
    const auto c = static_cast<std::size_t>(last.cell);
    head_[c] = last.previous;
    value_[c] = history_[static_cast<std::size_t>(last.previous)].value;
    history_.pop_back();
  }
  bounds_.resize(mark.bounds);
}

DifferenceClosure::Moment DifferenceClosure::before(std::size_t cell, std::int32_t via) const {
  Moment moment = head_[cell];
  while (history_[static_cast<std::size_t>(moment)].via >= via) moment = history_[static_cast<std::size_t>(moment)].previous;
  return moment;
}

void DifferenceClosure::explain(Moment moment, Value slack, std::size_t floor, std::vector<std::int32_t>& causes) {
  pending_.assign(1, moment);
  while (!pending_.empty()) {
    const Version* version = &history_[static_cast<std::size_t>(pending_.back())];
    pending_.pop_back();
    while (version->previous >= 0) {
      const Version& older = history_[static_cast<std::size_t>(version->previous)];
      if (version->value - older.value > slack) break;
      slack -= version->value - older.value;
      version = &older;
    }
    if (version->via < static_cast<std::int32_t>(floor)) continue;
    const Bound& bound = bounds_[static_cast<std::size_t>(version->via)];
    causes.push_back(bound.cause);
    const int u = static_cast<int>(static_cast<std::size_t>(version->cell) / size_);
    const int v = static_cast<int>(static_cast<std::size_t>(version->cell) % size_);
    const std::int32_t via = version->via;
    if (u != bound.from) pending_.push_back(before(cell(u, bound.from), via));
    if (bound.to != v) pending_.push_back(before(cell(bound.to, v), via));
  }
}

}  // namespace heddle::solver
