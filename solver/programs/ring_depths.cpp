#include "solver/programs/ring_depths.h"

#include <algorithm>

#include "core/analysis/channels.h"

namespace heddle::programs {
namespace {

class Depths {
 public:
  Depths(const Problem& problem, const Schedule& groups, const Constraints& constraints) : problem_(problem), tried_(groups) {
    smem_ = problem.limits.smem_bytes;
    tmem_ = problem.limits.tmem_columns;
    for (const Channel& channel : problem.channels) {
      const bool exists = channel_exists(channel, groups);
      most_.push_back(exists ? std::max(1, channel.max_depth) : 0);
    }
    for (const UserConstraint& demand : constraints) {
      if (!demand.enabled) continue;
      if (demand.kind == ConstraintKind::MaxSmem) smem_ = std::min(smem_, demand.high);
      if (demand.kind == ConstraintKind::MaxTmem) tmem_ = std::min(tmem_, demand.high);
      if (demand.kind != ConstraintKind::MaxDepth) continue;
      for (std::size_t c = 0; c < most_.size(); ++c)
        if (problem.channels[c].name == demand.channel && demand.high < most_[c])
          most_[c] = static_cast<int>(std::max<std::int64_t>(0, demand.high));
    }
  }

  RingDepths all() {
    RingDepths found;
    found.deepest = most_;
    std::vector<int> depths;
    for (const int most : most_) depths.push_back(std::min(1, most));
    if (!fits(depths)) return found;
    found.choices.push_back(even(depths));
    if (found.choices.front() == most_) return found;
    add_maximal(0, depths, found);
    return found;
  }

 private:
  bool fits(const std::vector<int>& depths) {
    tried_.depths = depths;
    return allocated(problem_, tried_, Space::Smem) <= smem_ && rounded_columns(allocated(problem_, tried_, Space::Tmem)) <= tmem_;
  }

  bool fits_deeper(std::vector<int> depths, std::size_t ring) { return ++depths[ring] <= most_[ring] && fits(depths); }

  std::vector<int> even(std::vector<int> depths) {
    while (true) {
      std::size_t next = depths.size();
      for (std::size_t c = 0; c < depths.size(); ++c)
        if ((next == depths.size() || depths[c] < depths[next]) && most_[c] > 0 && fits_deeper(depths, c)) next = c;
      if (next == depths.size()) return depths;
      ++depths[next];
    }
  }

  /// Rings before `ring` are decided.
  void add_maximal(std::size_t ring, std::vector<int>& depths, RingDepths& found) {
    if (ring == depths.size()) {
      for (std::size_t c = 0; c < depths.size(); ++c)
        if (most_[c] > 0 && fits_deeper(depths, c)) return;
      if (depths == found.choices.front()) return;
      if (found.choices.size() >= kMostDepthChoices)
        found.all = false;
      else
        found.choices.push_back(depths);
      return;
    }
    const int least = depths[ring];
    for (; found.all && depths[ring] <= most_[ring] && fits(depths); ++depths[ring]) {
      add_maximal(ring + 1, depths, found);
      if (most_[ring] == 0) break;
    }
    depths[ring] = least;
  }

  const Problem& problem_;
  Schedule tried_;
  std::int64_t smem_ = 0, tmem_ = 0;
  std::vector<int> most_;  ///< per channel; 0: it does not exist
};

}  // namespace

RingDepths ring_depths(const Problem& problem, const Schedule& groups, const Constraints& constraints) {
  return Depths(problem, groups, constraints).all();
}

}  // namespace heddle::programs
