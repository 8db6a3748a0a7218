// What is asked about a Triton kernel in the background: how its own schedule compares with the best ones. Tests put others in.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "core/base/result.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/kernel/lowered.h"

namespace heddle::app {

struct TritonQuestion {
  triton::LoweredLoop loop;
  std::shared_ptr<const Machine> machine;
  bool operator==(const TritonQuestion&) const = default;
};

using ComparisonListener = std::function<void(const triton::Comparison&)>;

struct TritonTools {
  /// Empty: nothing is compared.
  std::function<Result<triton::Comparison>(const TritonQuestion&, std::stop_token, const ComparisonListener&)> compare;
};
TritonTools built_in_triton_tools();

}  // namespace heddle::app
