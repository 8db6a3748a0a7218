// Warm re-solve: what one edit costs after a kernel has been solved. Every op dragged by 200 cycles either way, dragged again
// with the first pin still there, put into every group; caps; and each edit taken back.
#pragma once

#include <string>
#include <vector>

#include "core/problem/problem.h"
#include "tests/bench/table.h"

namespace heddle::bench {

struct WarmOptions {
  double timeout = 60;   ///< seconds per edit
  bool log = false;      ///< every edit with its times to stderr
  bool compare = false;  ///< solve each edit from scratch too, and complain where the answers differ
};

Line warm_header();
/// One line per class of edits.
std::vector<Line> warm_lines(const std::string& label, const Problem& problem, const WarmOptions& options);

}  // namespace heddle::bench
