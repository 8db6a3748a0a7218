// Why a schedule cannot become a kernel: the rule that stands in the way, in words, and where there is one the demand
// under which the solver finds a schedule that can.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/schedule/constraints.h"

namespace heddle::codegen {

struct Refusal {
  std::string rule;              ///< a short stable name: "epilogue_crosses_roles", "wgmma_wait" ...
  std::vector<std::string> ops;  ///< of the kernel file, as written there
  std::string sentence;          ///< may contain names from files: printable() before showing
  std::optional<UserConstraint> constraint;  ///< enabled, named after its sentence (core/schedule/constraint_text.h)
};

}  // namespace heddle::codegen
