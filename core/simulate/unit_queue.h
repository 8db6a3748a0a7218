// A functional unit that serves requests in the order in which they come: a use begins as soon as there is room for its amount,
// and never before the use asked for before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/id.h"

namespace heddle {

class UnitQueue {
 public:
  explicit UnitQueue(std::int64_t capacity) : capacity_(capacity) {}

  /// When a use of this amount, asked for at `time`, can begin.
  Cycle earliest(Cycle time, std::int64_t amount) {
    time = std::max(time, last_begin_);
    std::erase_if(active_, [&](const Active& a) { return a.end <= last_begin_; });
    std::int64_t used = 0;
    for (const Active& a : active_)
      if (a.end > time) used += a.amount;
    while (used > 0 && used + amount > capacity_) {
      Cycle next = -1;
      for (const Active& a : active_)
        if (a.end > time && (next < 0 || a.end < next)) next = a.end;
      for (const Active& a : active_)
        if (a.end == next) used -= a.amount;
      time = next;
    }
    return time;
  }

  void take(Cycle begin, Cycle duration, std::int64_t amount) {
    last_begin_ = std::max(last_begin_, begin);
    active_.push_back({begin + duration, amount});
  }

  /// It will serve as `before` would, everything later by `shift`.
  bool repeats(const UnitQueue& before, Cycle shift) const {
    return last_begin_ - before.last_begin_ == shift &&
           std::equal(active_.begin(), active_.end(), before.active_.begin(), before.active_.end(),
                      [&](const Active& a, const Active& b) { return a.end - b.end == shift && a.amount == b.amount; });
  }

 private:
  struct Active {
    Cycle end = 0;
    std::int64_t amount = 0;
  };
  std::int64_t capacity_;
  Cycle last_begin_ = 0;
  std::vector<Active> active_;
};

}  // namespace heddle
