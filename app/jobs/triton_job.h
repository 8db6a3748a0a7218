// What is asked about a Triton kernel in the background: its own schedule, and the comparison with the best ones. Tests put others in.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/read/program.h"

namespace heddle::app {

struct TritonQuestion {
  std::shared_ptr<const triton::Program> program;
  std::size_t loop = 0;  ///< index
  std::shared_ptr<const Machine> machine;
  bool operator==(const TritonQuestion&) const = default;
};

using ComparisonListener = std::function<void(const triton::Comparison&)>;

struct TritonTools {
  /// Empty: nothing is compared.
  std::function<Result<triton::Comparison>(const TritonQuestion&, std::stop_token, const ComparisonListener&)> compare;
  /// Triton's own schedule with the cycles that its order sustains, at once. Empty: there is none.
  std::function<std::optional<Schedule>(const triton::Native&, const Problem&)> own;
};
TritonTools built_in_triton_tools();

}  // namespace heddle::app
