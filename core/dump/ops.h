// The program behind a dumped graph - every op of the kernel function with operands and types - and what follows from it
// for the graph: names for people, what travels along each edge, storage from outside the loop, occupancies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/dump/dump.h"

namespace heddle::dump {

struct OperandRef {
  enum class Kind { Op, Arg, IterArg, Other };
  Kind kind = Kind::Other;
  std::size_t op = 0;                ///< Op: index into OpTable::ops
  std::int64_t result = 0;           ///< Op: which of its results
  std::string arg;                   ///< Arg: its name
  std::int64_t loop = 0, index = 0;  ///< IterArg
};

struct OpInfo {
  std::string kind;
  std::int64_t loop = -1;  ///< nearest scheduled loop around it; -1: the function
  std::vector<OperandRef> operands;
  std::vector<TileType> results;
};

struct OpTable {
  std::vector<OpInfo> ops;  ///< in the file's order, which is that of the program
};

/// `node_ops[i]` is the op of node i of the loop, -1 for none. Sets names, descriptions, results, occupancies that the file
/// lacks, carriers of edges, and residents. Without a table (joint-solver files) nodes are named by unit and number.
void describe(DumpLoop& loop, const OpTable& table, const std::vector<int>& node_ops);

/// Which loop of the dump an `scf.for` runs: the one whose yield precedes it. -1 when that cannot be told.
std::int64_t loop_run_by(const OpTable& table, std::size_t op);

/// Cycles the op's unit is held, by the compiler's published rules (its latency model for B200), from types alone; 0 where
/// they say no more than `self_latency` does.
Cycle published_occupancy(const OpInfo& op, const OpTable& table);

}  // namespace heddle::dump
