// The families of core/problem/problem.h, one judge each. A judge appends what it finds; all rely on a
// schedule whose form is sound (form.h).
#pragma once

#include <string>
#include <vector>

#include "core/check/checker.h"

namespace heddle {

struct Case {
  const Problem& problem;
  const Schedule& schedule;
  std::vector<Violation>& found;

  const std::string& name(OpId op) const { return problem.op(op).name; }
  /// "group 1 (consumer A)"
  std::string group_name(GroupId group) const;
  bool same_group(OpId a, OpId b) const { return schedule.group(a) == schedule.group(b); }
};

// timing.cpp
void check_dependences(const Case& c);
void check_units(const Case& c);
void check_issue(const Case& c);
void check_blocking(const Case& c);

// resources.cpp
void check_group_count(const Case& c);
void check_variable_latency(const Case& c);
void check_warps(const Case& c);
void check_registers(const Case& c);
void check_memory(const Case& c);
void check_channels(const Case& c);  ///< depth and credit

// layouts.cpp
void check_layouts(const Case& c);

// user.cpp
void check_user(const Case& c, const Constraints& constraints);

/// The register budget of a group: as decided, or the smallest legal one when undecided.
std::int64_t budget_of_group(const Problem& problem, const Schedule& schedule, std::size_t group, std::int64_t use);
/// Groups that hold at least one op.
int groups_in_use(const Schedule& schedule);

}  // namespace heddle
