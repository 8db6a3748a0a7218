// What tcgen05 keeps of a run: tensor memory of each CTA, the queue of products and copies of each CTA, and each warp's loads and stores.
#pragma once

#include <map>
#include <vector>

#include "ptx/judge/tensor_shadow.h"
#include "ptx/run/cluster.h"
#include "ptx/units/descriptor.h"

namespace heddle::ptx {

/// Products, copies and shifts of one CTA. Products with one accumulator and shape are done in the order in which they were issued; that
/// others are, the ISA does not promise (9.7.16.6.2).
struct TensorQueue {
  struct Pipeline {
    std::uint64_t accumulator = 0;
    int m = 0, n = 0, k = 0;
    Component component = 0;
  };
  Component component = 0;  ///< of copies and shifts
  std::vector<Pipeline> pipelines;
  Epoch issued = 0;
  Time free = 0;  ///< when the tensor cores take the next one

  /// Raises all of its components.
  void raise(Clock& clock, Epoch epoch) const {
    clock.raise(component, epoch);
    for (const Pipeline& one : pipelines) clock.raise(one.component, epoch);
  }
};

struct TensorUnit : UnitState {
  std::vector<TensorShadow> memories;            ///< by CTA
  std::vector<TensorQueue> queues;               ///< by CTA
  std::vector<std::vector<FragmentId>> waiting;  ///< by CTA: for columns
  Footprints footprints;
  std::map<PtxProductSize, Time> times;
};
TensorUnit& tensor_unit(ClusterRun& run);

/// Loads or stores of one warp: asynchronous until tcgen05.wait.
struct TensorMoves {
  Component component = 0;
  Epoch issued = 0, over = 0;
  Time end = 0;
};

struct WarpTensor : UnitState {
  TensorMoves loads, stores;
  std::vector<RegisterId> loading;  ///< registers of loads that are not waited for
  Epoch issued = 0;                 ///< the last product or copy by this warp, in its CTA's queue
  Time end = 0;                     ///< of that
  Clock fenced;                     ///< what it knew at its last fence::after_thread_sync
};
WarpTensor& tensor_of(ClusterRun& run, Warp& warp);

/// What accesses of tensor memory by this warp know: all, and what was fenced on both sides (TensorShadow).
KnownClocks tensor_known(ClusterRun& run, Warp& warp);

constexpr int column_of(std::uint64_t tensor_address) { return static_cast<int>(tensor_address & 0xFFFF); }
constexpr int lane_of(std::uint64_t tensor_address) { return static_cast<int>(tensor_address >> 16 & 0x7FFF); }

/// 1 or 2: how many CTAs work together ("cta_group::2"). A pair in a cluster of one CTA is a finding, and taken as 1.
int ctas_of(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction);

}  // namespace heddle::ptx
