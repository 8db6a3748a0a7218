// A loop of a Triton kernel as a kernel of Heddle's own, in either reading (core/triton/read/program.h), with what Triton decided about it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/schedule/schedule.h"
#include "core/triton/kernel/graph.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// Where an op of the kernel comes from.
struct Origin {
  std::string op;                                         ///< of the kernel
  std::vector<mlir::OpId> of;                             ///< in the order of the text; the first one gives the op its line
  std::string file;                                       ///< of the source program (Python)
  int line = 0;                                           ///< there; 0: not known
  int text_line = 0;                                      ///< in the TTGIR text
  std::optional<std::int64_t> stage, cluster, partition;  ///< Triton's decision
  bool waits = false;  ///< a load for a ring that stands in the stage of its use: Triton waits for it there
  /// Of a load that Triton's scheduler could put ahead: loads between it and what it is for; of an index 1.
  std::optional<std::int64_t> level;
};

/// A ring as Triton allocates it.
struct OwnRing {
  std::string value;  ///< of the kernel, the loaded tile
  std::int64_t bytes = 0;
  int depth = 1;
};

struct Native {
  Kernel kernel;
  std::vector<Origin> origins;                              ///< parallel to kernel.body
  std::vector<std::string> notes;                           ///< what the text does not say and was assumed: sizes, scalars, addresses
  std::vector<OwnRing> rings;                               ///< triton reading, scheduled texts
  bool has_own = false;                                     ///< the text has Triton's own schedule
  bool left_alone = false;                                  ///< which is one stage: Triton schedules nothing in it
  std::string why_no_own;                                   ///< else: why not
  std::size_t ops = 0, tile_ops = 0, edges = 0, fused = 0;  ///< counted by loop_graph: "26 ops, 17 of tiles, 23 edges; 12 after fusing"
  /// Free reading: how its tiles should be cut so that each warp group of the text gets its own rows; factor 1: not at all.
  Subtile cut;
};

/// Faults: what loop_graph refuses, and what only this reading cannot express.
Result<Native> to_native(const TritonProgram& program, const LoopSite& loop, TextReading reading);

/// What is wrong with a kernel made of a text (`kernel`: native.kernel, or that cut), said of the text: its file, the line of the op, and
/// not a pointer into a kernel that is in no file. `hint`: for faults that have none.
Error said_of_text(Error error, const TritonProgram& program, const Native& native, const Kernel& kernel, const std::string& hint);
/// The same of what resolve() says, which depends on parameters.
Error unresolved_text(Error error, const TritonProgram& program, const Native& native, const Kernel& kernel);

/// The kernel as its reading is solved: cut in the free one, whole where its tiles cannot be cut so.
Kernel kernel_of(const Native& native);

/// Whether a channel is the ring of a load: in shared memory, of a copy.
bool filled_by_load(const Problem& problem, const Channel& channel);

/// Slots of a ring as Triton builds it, of the stage of every op: one for every stage from the write to the last read, and one more where a
/// mma still reads; at least 1, at most what the channel allows.
int ring_slots(const Problem& problem, const Channel& channel, const std::vector<int>& stage);

/// Triton's own schedule as an order: for every warp group (partition) the ops of one turn of its loop, by cluster and then by their place
/// in the text, each with the iterations by which it lags behind, and the depth of every channel of the problem. What cycles it sustains
/// follows (solver/questions/triton.h). Pre: native.has_own, and the problem was made from native.kernel in the triton reading.
struct OwnOrder {
  std::vector<std::vector<std::pair<heddle::OpId, int>>> streams;
  std::vector<int> depths;
};
OwnOrder own_order(const Native& native, const Problem& problem);

/// What a schedule must obey to be one that Triton's passes build: a load in an earlier stage than its use, rings of as many slots as there
/// are stages between load and last reader, plus one, within shared memory; on Hopper one group. Empty in the free reading. Triton's own
/// schedule need not: it waits for loads that it has not pipelined.
Constraints triton_rules(const TritonProgram& program, const Native& native, const Problem& problem);

}  // namespace heddle::triton
