#include "core/analysis/least_depths.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "core/analysis/channels.h"

namespace heddle {
namespace {

class DepthSearch {
 public:
  DepthSearch(const Problem& problem, const Schedule& schedule, const std::vector<DepthRange>& ranges, const BracketJudge& judge,
              const std::stop_token& stop)
      : problem_(problem), tried_(schedule), ranges_(ranges), judge_(judge), stop_(stop) {}

  LeastDepths run() {
    std::vector<int> most, need;
    for (const DepthRange& range : ranges_) most.push_back(range.most);
    if (!good(most)) return finish(LeastDepths::End::None);
    for (std::size_t i = 0; i < ranges_.size(); ++i) need.push_back(needed(i, most));

    // Each choice is reached once: after a ring was made deeper only that one and those behind it are.
    std::priority_queue<Choice, std::vector<Choice>, Later> open;
    open.push({bytes(need), need, 0});
    while (!open.empty()) {
      const Choice next = open.top();
      open.pop();
      if (answer_.tried >= kMostDepths || stop_.stop_requested()) {
        answer_.excluded = next.bytes;
        return finish(LeastDepths::End::GaveUp);
      }
      if (good(next.depths)) return finish(LeastDepths::End::Found);
      for (std::size_t i = next.last; i < ranges_.size(); ++i) {
        if (next.depths[i] >= ranges_[i].most) continue;
        Choice deeper = next;
        ++deeper.depths[i];
        deeper.last = i;
        deeper.bytes = bytes(deeper.depths);
        open.push(std::move(deeper));
      }
    }
    return finish(LeastDepths::End::None);  // not reached: the greatest depths do
  }

 private:
  struct Choice {
    std::int64_t bytes = 0;
    std::vector<int> depths;
    std::size_t last = 0;
  };
  struct Later {
    bool operator()(const Choice& a, const Choice& b) const { return std::tie(a.bytes, a.depths) > std::tie(b.bytes, b.depths); }
  };

  void set(const std::vector<int>& depths) {
    for (std::size_t i = 0; i < ranges_.size(); ++i) tried_.depths[ranges_[i].ring.index()] = depths[i];
  }
  std::int64_t bytes(const std::vector<int>& depths) {
    set(depths);
    return allocated(problem_, tried_, Space::Smem);
  }
  bool good(const std::vector<int>& depths) {
    set(depths);
    ++answer_.tried;
    answer_.bracket = period_bracket(problem_, tried_);
    return answer_.bracket.missing.empty() && judge_(answer_.bracket);
  }

  /// The fewest slots of one ring that do beside the most of all others.
  int needed(std::size_t ring, std::vector<int> depths) {
    int low = ranges_[ring].least, high = ranges_[ring].most;
    while (low < high && !stop_.stop_requested()) {
      depths[ring] = low + (high - low) / 2;
      if (good(depths))
        high = depths[ring];
      else
        low = depths[ring] + 1;
    }
    return low;
  }

  LeastDepths finish(LeastDepths::End end) {
    answer_.end = end;
    answer_.depths = tried_.depths;
    answer_.bytes = allocated(problem_, tried_, Space::Smem);
    return std::move(answer_);
  }

  const Problem& problem_;
  Schedule tried_;
  const std::vector<DepthRange>& ranges_;
  const BracketJudge& judge_;
  const std::stop_token& stop_;
  LeastDepths answer_;
};

}  // namespace

LeastDepths least_depths(const Problem& problem, const Schedule& schedule, const std::vector<DepthRange>& ranges, const BracketJudge& judge,
                         const std::stop_token& stop) {
  return DepthSearch(problem, schedule, ranges, judge, stop).run();
}

}  // namespace heddle
