// Which ops are selected. One selection for the whole window: chart, table, inspector and lists all read and change
// this one.
#pragma once

#include <algorithm>
#include <vector>

#include "core/base/id.h"

namespace heddle::app {

struct Selection {
  std::vector<OpId> ops;  ///< in the order of selecting; the last one is the primary one

  bool empty() const { return ops.empty(); }
  bool contains(OpId op) const { return std::find(ops.begin(), ops.end(), op) != ops.end(); }
  /// The op that the inspector shows; invalid when nothing is selected.
  OpId primary() const { return ops.empty() ? OpId{} : ops.back(); }
};

}  // namespace heddle::app
