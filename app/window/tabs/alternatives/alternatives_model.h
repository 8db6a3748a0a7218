// Schedules that are as good, as a table, with what each does differently in words.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/answers/alternatives.h"
#include "core/problem/problem.h"

namespace heddle::app {

struct AlternativeRow {
  std::size_t index = 0;  ///< into Alternatives::found, behind these into its programs
  std::string name;       ///< "alternative 2", "program 2": what its row in the list of schedules is called
  std::string if_off, distance, nearest, period, stages, length, margin, critical;
  std::string contended;                 ///< period where warp groups take time from each other; empty where it does not decide
  std::string differs;                   ///< "alternative 2 differs from 1"
  std::vector<std::string> differences;  ///< from the first; empty for it
};

struct AlternativesModel {
  std::string headline;              ///< "exactly 3 schedules, proved", "at least 10 schedules; there are more"
  std::string terms;                 ///< what they have in common, what tells them apart, up to how many stages
  bool proved = false;               ///< the count is exact
  bool periods = false;              ///< rows have a contended period
  std::vector<AlternativeRow> rows;  ///< the most robust first, then programs of nearly the least period, the shortest first
};

const Schedule& schedule_of(const Alternatives& answer, const AlternativeRow& row);

AlternativesModel build_alternatives(const Problem& problem, const Alternatives& answer);
/// Tab-separated with a header line.
std::string alternatives_as_text(const AlternativesModel& model);
/// "groups, order, stages and ring depths": what the aspect looks at.
const char* about(Aspect aspect);

}  // namespace heddle::app
