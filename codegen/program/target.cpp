// The one architecture that emission knows.
#include "codegen/program/target.h"

#include <fmt/format.h>

namespace heddle::codegen {

std::optional<Refusal> refuse_machine(const Machine& machine) {
  if (machine.arch == "sm_90a") return std::nullopt;
  return Refusal{"arch", {}, fmt::format("kernels are written for sm_90a; machine '{}' is not one", machine.name), std::nullopt};
}

}  // namespace heddle::codegen
