// A loop of a Triton text and what it becomes by either reading, lowered when that is asked for first and once for all who ask: command,
// audit, comparison and export share it.
#pragma once

#include <cstddef>
#include <memory>

#include "core/base/result.h"
#include "core/triton/kernel/native.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

/// Immutable; copies share everything.
class LoweredLoop {
 public:
  /// Pre: `loop` is an index of program->loops.
  LoweredLoop(std::shared_ptr<const TritonProgram> program, std::size_t loop);

  const std::shared_ptr<const TritonProgram>& shared_program() const;
  const TritonProgram& program() const { return *shared_program(); }
  std::size_t index() const;
  const LoopSite& site() const { return program().loops[index()]; }

  /// Any thread may ask. Faults: those of to_native().
  const Result<std::shared_ptr<const Native>>& by(TextReading reading) const;

  /// The same loop of the same program, lowered here or elsewhere.
  bool operator==(const LoweredLoop& other) const { return shared_program() == other.shared_program() && index() == other.index(); }

 private:
  struct Parts;
  std::shared_ptr<const Parts> parts_;
};

}  // namespace heddle::triton
