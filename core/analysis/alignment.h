// How two schedules are laid over each other to be compared.
#pragma once

#include "core/base/id.h"

namespace heddle {

/// Which cycle of B stands over which cycle of A.
struct Alignment {
  enum class At {
    IiStart,  ///< the first op of an iteration starts at the same cycle, whichever it is
    Most,     ///< as many ops as possible start at the same cycle
    Op        ///< this op does
  };
  At at = At::IiStart;
  OpId op;
  bool operator==(const Alignment&) const = default;
};

}  // namespace heddle
