// What a kernel should have computed, as a direct formula in double precision over whole tensors. Written without the
// interpreter's functions: it is the other half of a comparison.
#pragma once

#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/array.h"
#include "core/kernel/scalars.h"

namespace heddle {

/// How far a computed tensor may be from the formula: everywhere within absolute + relative * |reference|, and in the
/// root mean square within `rms` times that of the reference, unless that is 0.
struct Tolerance {
  double relative = 0, absolute = 0, rms = 0;
  std::string reason;  ///< where the rounding comes from
};

inline constexpr double kBf16Unit = 1.0 / 256.0;    ///< distance of neighbours at 1, twice the rounding error
inline constexpr double kF32Sum = 1.0 / (1 << 22);  ///< per term of a sum of products in f32, generously

struct ExpectedTensor {
  std::string tensor;
  std::vector<double> values;  ///< NaN: whatever is there will do
  Tolerance tolerance;
};

/// What a formula is told beside the tensors.
struct FormulaNumbers {
  Scope params;
  ScalarValues scalars{};                  ///< of the kernel, as scalars_of() has them
  double of(std::string_view name) const;  ///< 0: there is no such number
};
/// The kernel's argument `scale`; without one 1/sqrt(d).
double softmax_scale(const FormulaNumbers& numbers, std::int64_t d);

struct Reference {
  const char* name;
  const char* tensors;  ///< space-separated names with their rank ("A:2 B:2 C:2")
  const char* about;    ///< the formula
  /// Fills inputs that depend on other inputs (row statistics for a backward pass); may be null.
  void (*prepare)(TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop);
  /// Shapes have been checked for rank; returns why they do not fit each other, or empty. Once `stop` is requested it
  /// returns soon and what it has found is incomplete.
  std::string (*compute)(const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                         std::vector<ExpectedTensor>& expected);
};

std::span<const Reference> references();
/// nullptr when unknown.
const Reference* find_reference(std::string_view name);
/// Faults when the kernel's tensors are not the ones the formula is about.
Result<Ok> check_tensors(const Reference& reference, const TensorMap& tensors);

}  // namespace heddle
