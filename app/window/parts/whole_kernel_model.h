// The whole kernel of a schedule in words: what is predicted for it on the whole machine, on what terms, and how far that can be trusted.
#pragma once

#include <string>
#include <vector>

#include "app/session/session.h"

namespace heddle::app {

struct WholeKernelModel {
  std::string speed;     ///< "1.52 ms · 726 TFLOP/s"; empty: nothing is known
  std::string terms;     ///< "1 CTA per SM · 1559 MHz · validated, spread 8 %"
  std::string why_not;   ///< a sentence, where nothing can be said; empty while it is being worked out
  bool awaited = false;  ///< nothing is known yet, and something will be
  struct Fact {
    std::string label, value;
  };
  std::vector<Fact> facts;  ///< time, speed, tiles, waves, CTAs, clock
  std::string trust;        ///< a sentence
  bool known() const { return !speed.empty(); }
};

/// Pre: the entry is of the session's list.
WholeKernelModel whole_kernel(const Session& session, const ScheduleEntry& entry);
/// "726 TFLOP/s", or the time where there is no such number; empty: not known.
std::string whole_kernel_speed(const Session& session, const ScheduleEntry& entry);

}  // namespace heddle::app
