// The limits of a machine by name: one table for files, for changes and for whoever goes through all of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/machine/machine.h"

namespace heddle {

struct LimitField {
  const char* name;  ///< in machine files
  std::int64_t Limits::*field;
  std::int64_t low, high;  ///< what it may be, both ends included
  bool required;           ///< machine files must give it
  const char* about = "";
};

std::span<const LimitField> limit_fields();

/// nullptr when there is none of this name.
const LimitField* find_limit(std::string_view name);

}  // namespace heddle
