// Short lists, searched from end to end: a user makes tens of edits, not thousands.
#include "solver/search/knowledge.h"

#include <fmt/format.h>

#include <algorithm>

#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

constexpr std::size_t kMostFacts = 256, kMostSchedules = 48;

template <class T>
void remember(std::deque<T>& list, T item, std::size_t most) {
  list.push_front(std::move(item));
  if (list.size() > most) list.pop_back();
}

}  // namespace

std::string key_of(const UserConstraint& c) {
  return fmt::format("{}|{}|{}|{}|{}", to_string(c.kind), fmt::join(c.ops, "\x1f"), c.channel, c.low, c.high);
}

Demands::Demands(const Constraints& constraints) : pinned(fixes_rotation(constraints)) {
  for (const UserConstraint& c : constraints)
    if (c.enabled) keys.insert(key_of(c));
}

bool Demands::covers(const Demands& other) const {
  return (!pinned || other.pinned) && std::includes(other.keys.begin(), other.keys.end(), keys.begin(), keys.end());
}

void Knowledge::add(KnownBound fact) {
  if (bound_for(fact.demands).bound < fact.bound) remember(bounds_, std::move(fact), kMostFacts);
}

KnownBound Knowledge::bound_for(const Demands& demands) const {
  KnownBound best;
  for (const KnownBound& fact : bounds_)
    if (fact.bound > best.bound && fact.demands.covers(demands)) best = fact;
  return best;
}

void Knowledge::add_floor(const Demands& demands, Cycle ii, std::vector<std::int64_t> values) {
  if (floor_for(demands, ii) < values) remember(floors_, Floor{demands, ii, std::move(values)}, kMostFacts);
}

std::vector<std::int64_t> Knowledge::floor_for(const Demands& demands, Cycle ii) const {
  std::vector<std::int64_t> best;
  for (const Floor& floor : floors_)
    if (floor.ii == ii && best < floor.values && floor.demands.covers(demands)) best = floor.values;
  return best;
}

void Knowledge::add(Schedule schedule) {
  schedule.certificate.reset();  // it speaks of the question that the schedule was found for
  const auto same = [&](const Schedule& known) {
    return known.ii == schedule.ii &&
           std::equal(known.ops.begin(), known.ops.end(), schedule.ops.begin(), schedule.ops.end(),
                      [](const Placement& a, const Placement& b) { return a.start == b.start && a.group == b.group; });
  };
  std::erase_if(schedules_, same);
  // It has more stages than these speak of.
  std::erase_if(bounds_, [&](const KnownBound& fact) { return fact.stages && fact.bound > schedule.ii; });
  remember(schedules_, std::move(schedule), kMostSchedules);
}

}  // namespace heddle::solver
