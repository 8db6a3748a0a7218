// Steps that form a staircase, found greedily from the left.
#include "core/answers/latency.h"

#include <algorithm>

namespace heddle {
namespace {

bool rises_by_one(const LatencySegment& s) {
  return s.step.proved() && ((s.rise == 1 && s.every == 1) || s.step.low == s.step.high);
}

/// Neighbours that rise by 1 with every cycle are one segment, single latencies among them too.
std::vector<LatencySegment> joined(std::vector<LatencySegment> segments) {
  std::vector<LatencySegment> found;
  for (LatencySegment& next : segments) {
    LatencySegment* last = found.empty() ? nullptr : &found.back();
    const bool joins = last && rises_by_one(*last) && rises_by_one(next) && next.step.ii == last->last_ii() + 1 &&
                       (last->rise == 1 || next.rise == 1);
    if (!joins) {
      found.push_back(std::move(next));
      continue;
    }
    if (last->rise == 0) last->step.why = next.step.why;
    last->rise = last->every = 1;
    last->step.high = next.step.high;
  }
  return found;
}

}  // namespace

std::vector<LatencySegment> segments_of(const std::vector<LatencyStep>& steps) {
  constexpr std::size_t kFewest = 3;
  const auto width = [&](std::size_t i) { return steps[i].high - steps[i].low + 1; };
  std::vector<LatencySegment> segments;
  for (std::size_t i = 0; i < steps.size();) {
    std::size_t end = i + 1;  // steps i to end - 1 are one staircase; the last may be cut short by the range asked about
    while (end < steps.size() && steps[i].rise == 0 && steps[end].rise == 0 && steps[end - 1].proved() && steps[end].status() == Status::Optimal && width(end - 1) == width(i) &&
           width(end) <= width(i) && steps[end].ii - steps[end - 1].ii == steps[i + 1].ii - steps[i].ii)
      ++end;
    // A narrower step in the middle ends the staircase but belongs to what follows, unless nothing does.
    if (end < steps.size() && end - i > 1 && width(end - 1) < width(i)) --end;
    LatencySegment& segment = segments.emplace_back(LatencySegment{steps[i], 0, 0});
    if (steps[i].rise > 0) {
      segment.rise = steps[i].rise;
      segment.every = 1;
      ++i;
    } else if (end - i >= kFewest) {
      segment.rise = steps[i + 1].ii - steps[i].ii;
      segment.every = width(i);
      segment.step.high = steps[end - 1].high;
      i = end;
    } else {
      ++i;
    }
  }
  return joined(std::move(segments));
}

bool LatencyRange::complete() const {
  return fault.empty() && !steps.empty() && std::all_of(steps.begin(), steps.end(), [](const LatencyStep& s) { return s.proved(); }) &&
         (!schedule || valid_to.has_value());
}

}  // namespace heddle
