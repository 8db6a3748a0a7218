// What a search for the least period begins with, and how it is heard.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/listener.h"
#include "app/ask/subject.h"
#include "solver/programs/least_program.h"

namespace heddle::app {

/// Whether questions about the subject are answered for the period too (core/simulate/forecast.h): where the default answer is chosen by
/// it.
bool asks_for_period(const Subject& subject);

/// Hand schedules that ship with the problem's kernel, whether they are legal or not.
std::vector<programs::KnownProgram> hand_programs(const Problem& problem);
/// And every heuristic's order, in so many seconds. `doing` hears which.
std::vector<programs::KnownProgram> known_programs(const Problem& problem, double seconds, const std::stop_token& stop,
                                                   const std::function<void(const std::string& doing)>& doing = {});

/// How far the search has come.
News news_of(const programs::EnumerationProgress& progress);

}  // namespace heddle::app
