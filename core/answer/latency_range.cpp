// Steps that form a staircase, found greedily from the left.
#include "core/answer/latency_range.h"

#include <algorithm>

namespace heddle {

std::vector<LatencySegment> segments_of(const std::vector<LatencyStep>& steps) {
  constexpr std::size_t kFewest = 3;
  const auto width = [&](std::size_t i) { return steps[i].high - steps[i].low + 1; };
  std::vector<LatencySegment> segments;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;  // steps i to end - 1 are one staircase; the last may be cut short by the range asked about
    while (end < steps.size() && steps[end - 1].proved() && steps[end].status() == Status::Optimal && width(end - 1) == width(i) &&
           width(end) <= width(i) && steps[end].ii - steps[end - 1].ii == steps[i + 1].ii - steps[i].ii)
      ++end;
    // A narrower step in the middle ends the staircase but belongs to what follows, unless nothing does.
    if (end < steps.size() && end - i > 1 && width(end - 1) < width(i)) --end;
    LatencySegment& segment = segments.emplace_back(LatencySegment{steps[i], 0, 0});
    if (end - i >= kFewest) {
      segment.rise = steps[i + 1].ii - steps[i].ii;
      segment.every = width(i);
      segment.step.high = steps[end - 1].high;
      i = end;
    } else {
      ++i;
    }
  }
  return segments;
}

bool LatencyRange::complete() const {
  return fault.empty() && !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const LatencyStep& s) { return s.proved(); }) &&
         (!schedule || valid_to.has_value());
}

}  // namespace heddle
