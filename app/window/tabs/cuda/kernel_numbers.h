// Numbers that a schedule and the kernel written for it both have, and why they differ: in one place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/session/document.h"
#include "codegen/program/program.h"

namespace heddle::app {

struct KernelNumber {
  std::string name;                ///< "warps"
  std::string scheduled, written;  ///< "9", "12"
  std::string because;
};

/// Those that differ. `smem_bytes`: that the launch asks for.
std::vector<KernelNumber> kernel_numbers(const ScheduleEntry& entry, const codegen::Program& program, std::int64_t smem_bytes);

}  // namespace heddle::app
