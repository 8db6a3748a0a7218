// A schedule is a value and a file of its own: solver, hand, baseline and import all produce the same thing, and everything
// downstream (checker, pictures, code generation) reads it without asking where it came from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/id.h"
#include "core/layout/choices.h"
#include "core/problem/problem.h"
#include "core/schedule/certificate.h"

namespace heddle {

struct ScheduleGroup {
  std::string role;  ///< "producer", "consumer A" ...
  int warps = 0;
  int registers = 0;  ///< budget per thread; 0: not decided
  bool operator==(const ScheduleGroup&) const = default;
};

struct Placement {
  Cycle start = 0;  ///< stage * II + slot; >= 0
  GroupId group;
  bool operator==(const Placement&) const = default;
};

struct Provenance {
  std::string kind = "solver";  ///< solver | hand | baseline | imported | edited
  std::string author;           ///< program and version, or person
  std::string note;             ///< source, and what was simplified
};

/// Indexed like the problem's ops and channels.
struct Schedule {
  std::string name;
  std::string kernel, machine;
  Scope params;
  Cycle ii = 1;
  std::vector<Placement> ops;
  std::vector<ScheduleGroup> groups;
  std::vector<int> depths;  ///< per channel; 0 where a register value does not cross
  bool turns = true;        ///< barriers keep the order of groups on the tensor cores (core/analysis/turns.h says where)
  LayoutChoices layouts{};  ///< what its file chooses; the problem that it is read against was resolved with them
  Provenance provenance;
  std::optional<Certificate> certificate;  ///< what this process has proved
  /// What the file says that the schedule was read from. A certificate only after this process has proved it again; until then it
  /// is shown as what the file says (core/check/claim.h tells what is wrong with it for free).
  std::optional<Certificate> claim;

  Cycle start(OpId op) const { return ops[op.index()].start; }
  GroupId group(OpId op) const { return ops[op.index()].group; }
  Cycle slot(OpId op) const { return start(op) % ii; }
  int stage(OpId op) const { return static_cast<int>(start(op) / ii); }
  int depth(ChannelId channel) const { return depths[channel.index()]; }
};

/// The same program: II, starts, groups, depths, turns and layouts; names and certificates aside.
bool same_program(const Schedule& a, const Schedule& b);
/// Stages in use: 1 + the largest stage.
int stage_count(const Schedule& schedule);
/// What a group does: its role, or "group 2" where it has none.
std::string role_name(const Schedule& schedule, std::size_t group);
/// One iteration from its first start to the end of its last op (latency, window or unit use, whichever ends last).
Cycle schedule_length(const Problem& problem, const Schedule& schedule);
/// Shifts all starts by one constant so that the earliest is in [0, II) of stage 0 with the fewest stages: earliest = 0.
void normalize_starts(Schedule& schedule);
/// Warps per group from its widest op, roles by what a group does; registers are left alone. Unused groups are dropped and
/// the rest renumbered, group 0 staying the producer when the problem has one - unless the numbers mean something to the
/// user, who may have put an op into group 2: then unused groups stay, with no warps.
enum class UnusedGroups { Drop, Keep };
void derive_groups(const Problem& problem, Schedule& schedule, UnusedGroups unused = UnusedGroups::Drop);

}  // namespace heddle
