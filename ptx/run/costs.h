// What instructions, copies, products and waits take, from a machine file (core/machine), in thousandths of a cycle.
#pragma once

#include <compare>
#include <cstdint>

#include "core/machine/machine.h"
#include "ptx/run/trace.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

/// One instruction's m x n x k, of numbers of so many bits. `a_near`: its first operand is in registers or tensor memory.
struct PtxProductSize {
  int m = 0, n = 0, k = 0, bits = 16;
  bool a_near = false;
  auto operator<=>(const PtxProductSize&) const = default;
};

struct Costs {
  bool known = false;  ///< false: no machine file for the text's target; times are then only an order
  std::int64_t arithmetic_percent = 100;
  Time wait = 30'000, arrive = 20'000, turn = 40'000;
  Time copy_issue = 30'000, copy_latency = 450'000;
  std::int64_t copy_bytes_per_cycle = 64;
  Time product_drain = 30'000, product_issue = 4'000;
  std::int64_t registers_per_cta = 65536;
  std::uint64_t shared_bytes = 232448;
  std::int64_t tensor_columns = 512;
  int sm_count = 132;
  const heddle::Machine* machine = nullptr;  ///< whose rules say what products take; outlives this
};
/// What the tensor cores of one SM take for it.
Time product_time(const Costs& costs, const PtxProductSize& size);
/// `machine` may be null: costs that keep an order, `known` false.
Costs costs_of(const heddle::Machine* machine);

/// Pipe and time that an instruction of threads takes of its quarter of the SM, for one warp.
struct PipeUse {
  ThreadPipe pipe = ThreadPipe::None;
  Time time = 0;
};
PipeUse pipe_use(const PtxInstruction& instruction);

}  // namespace heddle::ptx
