// A schedule's program run with real data, at the kernel's evaluation sizes, under many orders of events: whatever order that
// is, every element must be the one that the kernel's graph computes (core/kernel), bit for bit, because each element has the
// same operations in the same order.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "codegen/interpret/interpret.h"
#include "codegen/program/build.h"
#include "core/instance/instance.h"

namespace heddle::codegen {

struct DataRequest {
  Instance instance;  ///< the schedule is of its problem
  Scope params;       ///< that were asked for; of the others tile sizes are the schedule's and problem sizes small
  const Schedule& schedule;
  BuildOptions options;
  std::uint64_t seed = 1;  ///< of the data, and of the first order of events
  std::int64_t times = 3;  ///< orders of events
};

struct DataCheck {
  std::int64_t done = 0;    ///< orders of events; with a fault or something wrong, the last of them is to blame
  std::int64_t blocks = 0;  ///< tiles of the whole grid
  std::int64_t trips = 0;   ///< of the loop, the most
  std::size_t roles = 0;
  std::optional<ProgramFault> fault;
  std::string tensor;    ///< no fault, but an element of it is another one than the graph computes
  std::string wrong;     ///< which, as a sentence
  bool stopped = false;  ///< before all orders were tried

  bool good() const { return !fault && wrong.empty(); }
  /// "interleaving 3: deadlock: ..."; empty where all is well.
  std::string sentence() const;
};

/// Input error: the kernel cannot be executed, or not be written at its evaluation sizes. `said` hears how many orders are done.
Result<DataCheck> verify_with_data(const DataRequest& request, const std::stop_token& stop = {},
                                   const std::function<void(std::int64_t)>& said = {});

}  // namespace heddle::codegen
