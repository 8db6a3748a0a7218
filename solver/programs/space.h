// All programs of a problem whose groups hold the ops that a seed schedule gives them: for every consumer all orders of its ops on a
// circle, equal ones once, and the ways to take turns on the tensor cores.
//
// A circle begins with the group's first mma (its first op where it has none). Stages are the least that keep the dependences. A turn holds
// one mma or several that follow each other on the circle: with m of them in each group there are the ways to cut the circle of them into
// 1, 2 ... m turns, as many in all groups, which alternate; of two or more turns the first is the one that begins first on the circle.
// Kernels whose turns no barrier keeps have none. Circles that differ only in how many iterations ops lag behind their loads are one
// program; the one of the fewest stages stands for them, because a lag only keeps a ring's slot longer.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/motion/bound.h"
#include "solver/programs/assembly.h"

namespace heddle::programs {

struct OrderCounts {
  std::int64_t seen = 0;              ///< all circular orders
  std::int64_t keep_dependences = 0;  ///< of these, in so many stages; demands are kept too
  std::int64_t fit = 0;               ///< of these, that fit the registers of a thread
  std::int64_t differ = 0;            ///< of these, with other steps than all before; with turns: for each way to cut, the most
};

/// A program of one group.
struct GroupProgram {
  Order order;
  Runs runs;
  std::int64_t registers = 0;
  motion::Ticks bound = 0;  ///< no program with this circle has a shorter period
  std::string signature;
};

struct GroupSpace {
  OrderCounts counts;
  std::vector<GroupProgram> circles;  ///< that differ; by number of turns, bound, signature
};

struct SpaceLimits {
  std::int64_t most_orders = 2'000'000;  ///< that are looked at, whole or not, in one group
  std::stop_token stop{};
};

struct ProgramSpace {
  std::string refusal;             ///< why not all circles are here; empty: they are
  std::vector<GroupSpace> groups;  ///< per consumer of the assembly
  /// All consumers have the same circles, and two circles are one program, whichever group has which: the shorter period of both ways
  /// counts. Turns that follow each other otherwise (A1 B2 A2 B1) are not among the programs.
  bool copies = false;
  std::string digest;  ///< of the signatures (signature.h) of a group, each once and sorted, group by group; of copies of one
};

ProgramSpace program_space(const Assembly& assembly, const SpaceLimits& limits = {});

}  // namespace heddle::programs
