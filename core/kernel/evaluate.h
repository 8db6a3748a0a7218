// `heddle eval`: a kernel executed on random inputs and compared with its direct formula. This is how we
// know that a graph means what its name says.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/execute.h"
#include "core/kernel/kernel.h"
#include "core/kernel/reference.h"

namespace heddle {

/// One output tensor against the formula.
struct TensorComparison {
  std::string tensor;
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;
  bool compared = false;        ///< false when the kernel names no formula
  double rms_value = 0;         ///< of what was computed
  std::int64_t not_finite = 0;  ///< elements that are NaN or infinite
  double max_abs_error = 0;
  double max_rel_error = 0;  ///< over elements at least as large as the root mean square of the reference
  double rms_error = 0;      ///< root mean square of the error over that of the reference
  std::int64_t beyond = 0;   ///< elements further off than the tolerance
  std::string worst;         ///< "[0,17,3]: 0.25, expected 0.125": the element with the largest error
  Tolerance tolerance;
  bool pass = false;  ///< without a formula: all elements are finite
};

struct EvalReport {
  std::string kernel;
  Scope params;           ///< as used
  std::string reference;  ///< empty: the kernel names none, so nothing was compared
  std::string formula;    ///< in words
  std::uint64_t seed = 0;
  ExecutionCount count;
  double seconds = 0;  ///< execution and comparison
  std::vector<TensorComparison> tensors;
  bool cancelled = false;  ///< stopped on request: nothing was compared
  bool pass = false;       ///< every tensor passed; without a formula that is no agreement with anything
};

/// "agrees" or "differs"; without a formula nothing agrees with anything: "finite, not compared" or "not finite, not compared".
const char* eval_verdict(bool compared, bool pass);

/// Parameters not in `overrides` take their evaluation sizes. Asked to stop, it does so soon, and the report is cancelled.
Result<EvalReport> evaluate(const Kernel& kernel, const Scope& overrides = {}, std::uint64_t seed = 1, const std::stop_token& stop = {},
                            const BlockListener& listener = {});

/// Tensors of a kernel: inputs about normally distributed, rounded to their type, the same for the same seed everywhere;
/// outputs that are written once start as NaN, so that elements that are never written show; accumulated ones as zero. Asked to stop, it
/// leaves the rest of an input at zero.
Result<TensorMap> make_tensors(const Kernel& kernel, const Scope& scope, std::uint64_t seed, const std::stop_token& stop = {});

}  // namespace heddle
