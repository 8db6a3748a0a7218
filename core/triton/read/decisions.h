// What Triton's later passes are told about the ops of one loop, as a table that can be changed;
// core/triton/back/write_decisions.h writes it back into the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

/// Of one op. Absent: the text says nothing of it.
struct Decision {
  std::optional<std::int64_t> stage, cluster;
  std::vector<std::int64_t> partitions;      ///< `ttg.partition`
  std::optional<std::int64_t> latency;       ///< `tt.latency`: stages from a load to its use, in a text that is still to be scheduled
  std::optional<std::int64_t> self_latency;  ///< `tt.self_latency` of an mma: stages until it is waited for; 0 between partitions
  bool operator==(const Decision&) const = default;
};

struct Decisions {
  std::vector<Decision> ops;  ///< parallel to the ops of the loop's body
  /// `ttg.partition` of ops inside of the loop's ops, as far as it is to be set: those of a reduction.
  std::vector<std::pair<mlir::OpId, std::vector<std::int64_t>>> inside;
  std::optional<std::int64_t> max_stage;                         ///< `tt.scheduled_max_stage`
  std::vector<std::pair<std::string, std::string>> of_the_loop;  ///< further attributes of the loop to set: name, value as printed
};

Decisions decisions_of(const TritonProgram& program, const LoopSite& loop);

/// Whether two ops run in different partitions. One without a list may run in any.
bool apart(const std::vector<std::int64_t>& partitions, const std::vector<std::int64_t>& others);

/// The numbers of "array<i32: 1, 0>", and of "0 : i32" of Triton 3.4.
std::vector<std::int64_t> partition_numbers(std::string_view list);
/// Those of `ttg.partition`; empty where the op has none.
std::vector<std::int64_t> partitions_of_op(const mlir::Op& op);

}  // namespace heddle::triton
