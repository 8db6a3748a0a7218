// Programs with one thing wrong, to see whether the interpreter notices.
#pragma once

#include <string>
#include <vector>

#include "codegen/program/program.h"
#include "core/kernel/kernel.h"

namespace heddle::test {

struct Mutant {
  std::string what;  ///< "loop of consumer A: dropped 'wait full k[i]'"
  codegen::Program program;
};

/// Every step dropped that waits, signals or closes; every wait with the other phase, or without its fence; arrivals, depths, copies,
/// groups left in flight and registers off by one; every signal a step too early and every wait a step too late. Of tensor memory: every
/// signal of products, wait for loads or stores, and fence dropped or on the other side of what it is there for; pieces with another
/// number; columns too few, at another place, never given back; a role that begins a warp later.
std::vector<Mutant> mutants(const Kernel& kernel, const codegen::Program& program);

}  // namespace heddle::test
