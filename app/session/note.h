// A remark of the user's, at an op or at a cycle.
#pragma once

#include <string>

#include "core/base/id.h"

namespace heddle::app {

struct Note {
  std::string text;
  std::string op;  ///< empty: at a cycle
  Cycle at = 0;
  bool operator==(const Note&) const = default;
};

}  // namespace heddle::app
