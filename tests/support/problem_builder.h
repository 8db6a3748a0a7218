// Small problems in a few lines of C++, for tests that want exact numbers and no files.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"

namespace heddle::test {

/// A machine with the given units (capacity 1 each), roomy limits, and an empty problem on it.
class ProblemBuilder {
 public:
  explicit ProblemBuilder(std::vector<std::string> units = {"TC", "EXP"});

  /// A synchronous op that holds `unit` for `cycles`, is usable after as long, and whose window is `window`.
  OpId op(const std::string& name, const std::string& unit, Cycle cycles, Cycle window = 0);
  /// The same, but its group goes on and its readers wait.
  OpId async_op(const std::string& name, const std::string& unit, Cycle occupancy, Cycle latency, Cycle window = 1);
  /// A variable-latency load: lives in the producer group.
  OpId load(const std::string& name, const std::string& unit, Cycle occupancy, Cycle latency);
  /// An edge without a value.
  void edge(OpId from, OpId to, int distance = 0, Cycle handoff = 0);
  /// A register value read by `readers`, with the edges that follow.
  ValueId registers(OpId producer, int per_thread, std::vector<std::pair<OpId, int>> readers, Cycle handoff = 0);
  /// A shared-memory ring of `bytes` per slot, written by `producer`, with the edges that follow.
  ChannelId ring(OpId producer, std::int64_t bytes, std::vector<std::pair<OpId, int>> readers, Cycle signal = 0);

  Problem problem;
};

/// Figure 1 of the Twill paper: S and O on the tensor core, P between them, O carried; one cycle each.
Problem toy_problem();

}  // namespace heddle::test
