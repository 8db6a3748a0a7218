#include "codegen/program/target.h"

#include <fmt/format.h>

namespace heddle::codegen {

std::optional<Refusal> refuse_machine(const Machine& machine) {
  for (const char* arch : {"sm_90a", "sm_100a", "sm_100f", "sm_103a"})
    if (machine.arch == arch) return std::nullopt;
  return Refusal{
      "arch", {}, fmt::format("kernels are written for sm_90a and sm_100a; machine '{}' is neither", machine.name), std::nullopt};
}

}  // namespace heddle::codegen
