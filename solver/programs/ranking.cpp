#include "solver/programs/ranking.h"

#include <algorithm>
#include <utility>

namespace heddle::programs {

bool within(const motion::MotionPeriod& a, const motion::MotionPeriod& b, double percent) {
  return a.iterations > 0 && a.cycles() <= b.cycles() * (1 + percent / 100);
}

bool Ranking::too_long(const motion::MotionPeriod& period) const {
  if (period.iterations <= 0) return true;
  if (kept_.empty()) return false;
  if (!within(period, kept_.front().period, percent_)) return true;
  return kept_.size() == most_ && !motion::shorter(period, kept_.back().period);
}

namespace {

bool same(const timing::LoopProgram& a, const timing::LoopProgram& b) {
  const auto same_stream = [](const std::vector<timing::StreamStep>& x, const std::vector<timing::StreamStep>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                      [](const timing::StreamStep& s, const timing::StreamStep& t) { return s.op == t.op && s.stage == t.stage; });
  };
  return a.depths == b.depths && a.turns == b.turns &&
         std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(), same_stream);
}

}  // namespace

void Ranking::add(Ranked found) {
  if (too_long(found.period)) return;
  if (std::any_of(kept_.begin(), kept_.end(), [&](const Ranked& known) { return same(known.program, found.program); })) return;
  const auto place = std::upper_bound(kept_.begin(), kept_.end(), found,
                                      [](const Ranked& a, const Ranked& b) { return motion::shorter(a.period, b.period); });
  kept_.insert(place, std::move(found));
  while (kept_.size() > most_ || !within(kept_.back().period, kept_.front().period, percent_)) kept_.pop_back();
}

}  // namespace heddle::programs
