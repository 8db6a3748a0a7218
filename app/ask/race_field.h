// Who takes part in a race beside those that are known: what heuristics make of the kernel, and the model's programs.
#pragma once

#include <vector>

#include "app/ask/race.h"

namespace heddle::app {

/// known_racers(), heuristics, the best programs by the model, and some of the good ones that differ most from those. Heuristics whose
/// schedule breaks a rule take part by name only. Pre: the subject has a schedule, whose groups the model's programs keep.
std::vector<RaceEntry> race_field(const Subject& subject, const RaceOptions& options, const RaceWatch& watch);

}  // namespace heddle::app
