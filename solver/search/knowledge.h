// What many questions about one problem have proved so far. User constraints only ever take schedules away, so what is proved
// for a set of them holds for every larger set: a refutation, a lower bound, the least value of an objective. A schedule found
// for one set is simply shown to the checker with another.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/schedule/certificate.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"

namespace heddle::solver {

/// What a constraint demands, whatever it is called: equal keys, equal constraints.
std::string key_of(const UserConstraint& constraint);

/// The enabled constraints of a question. `pinned`: they fix the rotation, and then fewer stage numbers are looked at, so what
/// is proved with them holds only for questions that are pinned too.
struct Demands {
  std::set<std::string> keys;
  bool pinned = false;

  Demands() = default;
  explicit Demands(const Constraints& constraints);
  /// What is proved for this holds for `other`.
  bool covers(const Demands& other) const;
};

struct KnownBound {
  Demands demands;
  Cycle bound = 0;  ///< no schedule has a smaller II; kNoFiniteII: there is none at all
  BoundReason reason = BoundReason::None;
  std::string why;
  std::optional<int> stages = {};  ///< it speaks of schedules of at most so many stages; none: of all
};

class Knowledge {
 public:
  void add(KnownBound fact);
  /// The greatest bound that holds; 0 when nothing is known.
  KnownBound bound_for(const Demands& demands) const;

  /// At this II no schedule is lexicographically below these values of the first objectives.
  void add_floor(const Demands& demands, Cycle ii, std::vector<std::int64_t> values);
  std::vector<std::int64_t> floor_for(const Demands& demands, Cycle ii) const;

  void add(Schedule schedule);
  /// The newest first.
  const std::deque<Schedule>& schedules() const { return schedules_; }

 private:
  struct Floor {
    Demands demands;
    Cycle ii = 0;
    std::vector<std::int64_t> values;
  };
  std::deque<KnownBound> bounds_;
  std::deque<Floor> floors_;
  std::deque<Schedule> schedules_;
};

}  // namespace heddle::solver
