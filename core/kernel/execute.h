// Runs a kernel on the CPU: every block of the grid, prologue, all trips of the loop, epilogue, in program order. This is
// the meaning of a kernel file; schedules and generated code must agree with it.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/array.h"
#include "core/kernel/kernel.h"

namespace heddle {

struct ExecutionCount {
  std::int64_t blocks = 0, trips = 0;  ///< trips per block, the most
  std::int64_t ops = 0;                ///< tile instructions executed
  std::int64_t work = 0;               ///< multiply-adds, and elements of the other kinds
  bool cancelled = false;
};

/// More work than this is refused: the executor does about 1e9 multiply-adds a second.
inline constexpr std::int64_t kMaxWork = 20'000'000'000;

/// Parameter values: the kernel's defaults (or, if `small`, its evaluation sizes), then `overrides`; unknown names and broken conditions
/// are faults.
Result<Scope> parameter_scope(const Kernel& kernel, const Scope& overrides, bool small);

/// What `execute` would do, or why it would not even start; runs nothing.
Result<ExecutionCount> plan_execution(const Kernel& kernel, const Scope& scope, TensorMap& tensors);

/// Hears how many of the grid's blocks are done, a thousand times at most.
using BlockListener = std::function<void(std::int64_t done, std::int64_t blocks)>;

/// Reads and writes `tensors`, which must hold every tensor of the kernel in the shape that `scope` gives. Input errors
/// name the op: unknown kinds and values, shapes that do not fit, values read before they are defined, too much work. Asked to
/// stop, it does so within one tile instruction.
Result<ExecutionCount> execute(const Kernel& kernel, const Scope& scope, TensorMap& tensors, const std::stop_token& stop = {},
                               const BlockListener& listener = {});

}  // namespace heddle
