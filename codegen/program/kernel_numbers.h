// Numbers that a schedule and the kernel written for it both have, and why they differ where they do: in one place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/program/program.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle::codegen {

struct KernelNumber {
  std::string name;                ///< "warps"
  std::string scheduled, written;  ///< "9", "12"
  std::string because;             ///< empty where they are the same
  bool differs() const { return scheduled != written; }
};

/// Warps and shared memory of the block; registers, stages and order of every role. `smem_bytes`: that the launch asks for. Names from
/// files are printable. Pre: the program was made of this schedule.
std::vector<KernelNumber> kernel_numbers(const Problem& problem, const Schedule& schedule, const Program& program, std::int64_t smem_bytes);

/// Aligned text: number, scheduled, written; the reasons below.
std::string kernel_numbers_text(const std::vector<KernelNumber>& numbers, int width);

}  // namespace heddle::codegen
