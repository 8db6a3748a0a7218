// Numbers of a kernel's ops that whoever calls a written kernel may choose, such as the factor of a softmax. An op names the number that
// its attribute `scale` is made of, "argument": "scale * 1.44269504"; the attribute itself is what it is unless somebody says otherwise.
// A `map` may have an argument too: its expression is then its one input times a number, and that number is the argument's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr.h"
#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

/// Beyond these bounds a mask hides nothing any more (core/kernel/op_semantics.h), or powers of two overflow.
inline constexpr double kLeastScalar = 1e-9, kMostScalar = 1e6;

/// What an op's factor is made of.
struct ScalarUse {
  std::string name;
  double factor = 1;
  std::string text() const;  ///< "scale * 1.44269504"
};
/// Nothing where the op names none, or what it says cannot be read.
std::optional<ScalarUse> scalar_use(const TileOp& op);

/// The number that the op multiplies by as its file says it, where it names an argument. Of a map: at these parameters.
std::optional<double> own_factor(const TileOp& op, const Scope& params);

using ScalarValues = std::map<std::string, double, std::less<>>;
/// All that a kernel's ops name, with the numbers that their files say.
ScalarValues scalars_of(const Kernel& kernel, const Scope& params);
/// Whether one of its ops names it.
bool has_scalar(const Kernel& kernel, std::string_view name);

/// The kernel with other numbers in its ops. Faults: names that it does not have, numbers out of bounds.
Result<Kernel> with_scalars(const Kernel& kernel, const ScalarValues& given);

/// Arguments that cannot be read or have no number, and ops that say different numbers of one.
std::vector<Fault> validate_scalars(const Kernel& kernel);

}  // namespace heddle
