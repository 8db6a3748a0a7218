// What a kernel is written in (core/library/source.h), and what therefore cannot be asked about it.
#pragma once

#include <cstdint>

namespace heddle {

enum class SourceKind : std::uint8_t {
  Kernel,    ///< a file of ours, a shipped name, or nothing that is known
  Project,   ///< told by the ending of its name
  Dump,      ///< of Meta's fork (core/library/dump_text.h), told by its content
  Solution,  ///< of a joint-solver problem of that fork: a schedule, and no kernel
  Triton,    ///< core/library/triton_text.h
};

/// What can be done with a kernel of ours, and not with every other.
enum class SourceUse : std::uint8_t { Family, Layouts, Tuning, Cuts, KernelText, MachineText, OtherMachine, WholeKernel, OrderByTime };
/// Why it cannot be; empty: it can.
const char* why_not(SourceKind kind, SourceUse use);

}  // namespace heddle
