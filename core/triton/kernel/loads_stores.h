// Loads and stores of a loop as ops of a kernel: what of shared memory or registers they fill, and the order that memory asks for.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/triton/kernel/kernel_draft.h"
#include "core/triton/memory/latencies.h"
#include "core/triton/memory/memory.h"

namespace heddle::triton {

/// Triton's rings, and who reads what loads bring: what decides where a load puts its tile.
struct LoadUses {
  std::map<std::string, TritonBuffer> rings;  ///< by name of the load's result; empty in the free reading
  std::map<mlir::OpId, std::vector<std::pair<mlir::OpId, mlir::ValueId>>> readers;  ///< of loads: ops of the loop, and by which operand
  /// What Triton does with each load; where the loop has no mma, what it would do if the loop asked for stages.
  std::map<mlir::OpId, LoadLatency> latencies;
  /// Triton's stages are known: those of the text, or one where Triton leaves the loop alone. False in the free reading.
  bool scheduled = false;
};
LoadUses load_uses(const LoopText& text);

/// The load of a node, and the move into registers or memory that goes with it: the draft's last ops.
void add_load(LoopKernelDraft& draft, const LoadUses& uses, std::size_t node);
/// Offsets and bounds of a tile of pointers that are computed in the loop: an instruction for each 16 bytes that are moved, two where it
/// is a pointer of 64 bits. Heddle's own kernels compute addresses from scalars, so that only Triton pays. `name`: the load's.
void add_index_work(LoopKernelDraft& draft, std::size_t node, const std::string& name);
/// `value` may be of an earlier iteration.
void add_store(LoopKernelDraft& draft, const OpSite& site, const std::string& name, const Operand& value);
void note_padding(LoopKernelDraft& draft, const mlir::Op& load);
/// A number stored alone is no tile: it is not part of the kernel here, which is said.
void note_scalar_store(LoopKernelDraft& draft, const mlir::Op& store);
/// What the loop stores it may load again: in the order of the text, and in the next iteration. What uses the same tensor keeps the order
/// of the text, and the loop's next turn comes behind it.
void order_memory(LoopKernelDraft& draft);
/// Loads and stores wait for the numbers that were loaded for their addresses and masks.
void order_addresses(LoopKernelDraft& draft);

}  // namespace heddle::triton
