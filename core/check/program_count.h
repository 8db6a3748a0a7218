// The checker's own count of the programs among which a search claims to have the least. It shares no code with the search
// (solver/programs): both count, both digest, and the two must agree.
//
// A program of one or two warp groups is, for each group, a circle: an order of the group's ops, and where the group takes turns on the
// tensor core. What is counted:
//
//   group     ops without variable latency that edges connect; one such set stays in one group. At most kMostOps ops each, at most two
//             groups. Two groups are copies if their ops, in the order of the problem, are alike and connected alike.
//   order     a permutation of the group's ops, its first product first (without products its first op). Stages are the least ones:
//             stage(to) >= stage(from) - distance + (1 if `to` stands before `from`). It counts if no more than the asked number of
//             stages are needed ("keeps the dependences") ...
//   registers ... and if its registers fit the budget: at every op the copies of register values alive, with residents and overhead.
//             RegisterUse of core/problem/problem.h, with places on the circle for cycles; a product holds registers that it reads
//             (Edge::hold) until the op before which a wait covers it.
//   turns     between two groups that both have products and arithmetic: one turn for all products of a group, begun with any of them; or
//             two turns, cut before any two of them. Both groups have equally many. Else there are none.
//   circle    the steps of an order with its turns as the compiler makes them (period_circle.h). Circles with one signature are one; the
//             order that comes first stands for it, orders being compared op by op by the ops' numbers.
//   program   a circle for each group, with equally many turns. For copies (a, b) is (b, a), and has the shorter
//             period of the two.
//
// Signature. Ops are called by their number in the group's ops in the order of the problem, from 0. A circle begins at the first turn that
// its order takes, without turns at the first product. Its steps in words, with one blank between:
//
//   t, p            takes, passes a turn
//   i0              issues product 0; where arithmetic runs inside it: f0 its first instruction, l0 each part after it
//   w0              waits for the newest product 0 that was issued; w0-1: for the one before that
//   a{1,2,4/2}      a stretch of arithmetic: its ops by number; 4/2 is a part of op 4
//   c3              starts an asynchronous op of another unit
//   |               a wait for another group that parts two stretches of arithmetic; other waits for other groups are not written
//
// Digest. Hash (core/base/hash.h) to which the signatures of all circles of a group are added as strings, sorted by their bytes and each
// once; of two groups that are not copies the first group's and then the second's. In hexadecimal.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/check/period_rule.h"
#include "core/problem/problem.h"

namespace heddle::check_period {

inline constexpr std::size_t kMostOps = 11;

struct CountedSpace {
  int stages = 3;
  std::int64_t registers = 0;  ///< per thread of a group; 0: as many as a thread may have
};

struct ProgramCount {
  std::string refused;   ///< why these programs cannot be counted here; else empty
  bool stopped = false;  ///< before the end: no number is right
  std::size_t groups = 0;
  bool copies = false;
  std::int64_t in_stages = 0;  ///< orders that keep the dependences, of one group where they are copies, else of both
  std::int64_t orders = 0;     ///< of these, those that fit the registers
  std::int64_t circles = 0;    ///< that differ, where each group has one turn begun with its first product, or none
  std::int64_t programs = 0;
  std::string digest;
  std::vector<std::string> signatures;  ///< what the digest is made of
};

ProgramCount count_programs(const Problem& problem, const CountedSpace& space, std::stop_token stop = {});

/// Every program that is counted, as a loop without the producer's group. `visit` returns false to end.
ProgramCount visit_programs(const Problem& problem, const CountedSpace& space, const std::function<bool(const JudgedProgram&)>& visit,
                            std::stop_token stop = {});

struct LeastByRule {
  ProgramCount count;
  RuledPeriod period;     ///< no iterations: none of them runs
  JudgedProgram program;  ///< the first of those that have it
};
/// All programs in the checker's rule of motion, one after the other: some ten thousand in a few seconds.
LeastByRule least_by_rule(const Problem& problem, const CountedSpace& space, std::stop_token stop = {});

/// Whether the loop's groups but the producer's are circles that were counted.
bool is_counted(const Problem& problem, const ProgramCount& count, const JudgedProgram& loop);

/// The least stages of ops in this order around a circle, in the order of `circle`; empty where no number of stages keeps the dependences.
std::vector<int> least_stages(const Problem& problem, const std::vector<OpId>& circle);

}  // namespace heddle::check_period
