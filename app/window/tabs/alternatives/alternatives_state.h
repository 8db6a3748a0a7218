// What the Alternatives tab remembers between frames: the question as it will be asked.
#pragma once

#include <cstddef>

#include "app/window/kit/column.h"
#include "core/analysis/signature.h"

namespace heddle::app {

struct AlternativesTabState {
  int count = 10;
  Aspect aspect = Aspect::Any;
  bool ii_only = false;
  std::size_t picked = 0;
  TableOrder order;  ///< of what was found
};

}  // namespace heddle::app
