// What the CUDA tab remembers between frames.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "app/jobs/kernel_job.h"
#include "core/base/id.h"

namespace heddle::app {

struct CudaTabState {
  char find[64] = "";
  std::vector<std::size_t> matches;        ///< lines with it
  std::size_t match = 0;                   ///< the one that Enter brought into view
  std::shared_ptr<const KernelText> seen;  ///< whose matches and lines these are
  std::optional<std::size_t> go_to;        ///< a line that the next frame brings into view
  std::optional<std::size_t> marked;       ///< a line that was asked for by number, by a message or by the find field
  std::vector<OpId> followed;              ///< the selection that was last brought into view
  OpId tinted;                             ///< op of the line under the mouse; invalid: none
  OpId hovered;                            ///< the same for the chart, which takes it away
  bool seen_steps = false;                 ///< whether they were those of the steps
  bool steps = false;                      ///< the program's steps are shown instead of its CUDA
  char trips[16] = "";                     ///< in the field; what is in force is the session's
  bool facts = false;                      ///< where there is no room beside the text: they are shown instead of it
};

}  // namespace heddle::app
