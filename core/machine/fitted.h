// Numbers of a machine file that measurements of whole kernels may move: the few that nothing measures alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/machine/machine.h"

namespace heddle {

struct FittedField {
  const char* name;  ///< where it stands in a machine file, "shared.l2_bytes"
  std::int64_t (*get)(const Machine&);
  void (*set)(Machine&, std::int64_t);
};

std::span<const FittedField> fitted_fields();
/// nullptr when there is none of this name.
const FittedField* find_fitted_field(std::string_view name);

/// Where the number may lie, by the machine file; at its present value where the file does not say. Pre: the name is known.
FittedNumber fitted_range(const Machine& machine, const std::string& name);

}  // namespace heddle
