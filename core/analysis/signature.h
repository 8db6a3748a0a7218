// What makes two schedules of one problem different programs, and not one program with other idle times.
//
// Every group issues one endless stream of instructions, op v of iteration i at s(v) + i*II; at equal cycles an op without
// an issue window goes first, then the op with the smaller number. The signature of a schedule is
//
//   groups   which ops share a group, whatever the groups are called
//   order    for every group the cyclic order in which its ops come in the stream, whatever iteration they belong to
//   stages   for every dependence inside a group the lag of its two ends, floor((s(to) - s(from)) / II) with that tie rule;
//            and the depth of every ring, which says how far one group runs ahead of another
//   any      the streams themselves, so the order and which iteration each op belongs to beside every other; and the depths
//
// It does not change when all starts shift by a constant, when groups are renumbered, or when an op moves within the idle
// time between its neighbours in the stream. Two groups are tied to each other by their rings alone: their relative phase
// is not part of any program.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

/// What people call a group: its role, with the number where several share it or there is none.
std::string group_name(const Schedule& schedule, GroupId group);

/// What is told apart; `groups` always is.
enum class Aspect { Groups, Order, Stages, Any };
const char* to_string(Aspect aspect);

/// One group's stream, from its op with the smallest number to that op's next iteration.
struct Stream {
  struct Step {
    OpId op;
    std::int64_t lap = 0;  ///< iteration of the op here, less that of the first
    auto operator<=>(const Step&) const = default;
  };
  std::vector<Step> steps;
  auto operator<=>(const Stream&) const = default;
};

/// Comparable; only what the aspect looks at is filled in, the rest is the same for all.
struct Signature {
  std::vector<Stream> streams;     ///< by the smallest op
  std::vector<std::int64_t> lags;  ///< of the dependences inside groups
  std::vector<int> depths;
  auto operator<=>(const Signature&) const = default;
};

/// Whether, when both start at the same cycle of one stream, `a` comes before `b`.
bool first_at_tie(const Problem& problem, OpId a, OpId b);

/// floor((s(v) - s(u)) / II) with the tie rule: v of iteration i comes between u of iteration i + lag and i + lag + 1.
std::int64_t stream_lag(const Problem& problem, const Schedule& schedule, OpId u, OpId v);

/// The stream of these ops of one group from `first`, one of them, on.
Stream stream_from(const Problem& problem, const Schedule& schedule, OpId first, const std::vector<OpId>& ops);

/// In order of the smallest op.
std::vector<Stream> streams_of(const Problem& problem, const Schedule& schedule);

Signature signature_of(const Problem& problem, const Schedule& schedule, Aspect aspect);

/// How many pairs of ops relate differently (in one group or not; in one group, their lag), plus rings of another depth.
int signature_distance(const Problem& problem, const Schedule& a, const Schedule& b);

/// Renumbers the groups of `schedule`, keeping roles with their groups' numbers, so that as many ops as possible have the
/// number they have in `reference`. The producer group stays the first.
void align_groups(const Problem& problem, const Schedule& reference, Schedule& schedule);

/// What `other` does differently from `reference`, one short sentence each: groups first, then iterations, order, depths.
/// Pre: align_groups.
std::vector<std::string> differences(const Problem& problem, const Schedule& reference, const Schedule& other);

}  // namespace heddle
