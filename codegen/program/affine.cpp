#include "codegen/program/affine.h"

#include <algorithm>

namespace heddle::codegen {

std::optional<Affine> affine_of(const Expr& expr, const Scope& params, const std::vector<std::string>& variables) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 31;
  const auto at = [&](const std::vector<std::int64_t>& point) -> std::optional<std::int64_t> {
    Scope scope = params;
    for (std::size_t v = 0; v < variables.size(); ++v) scope[variables[v]] = point[v];
    const auto value = expr.evaluate(scope);
    if (!value.ok() || *value >= kLargest || *value <= -kLargest) return std::nullopt;
    return *value;
  };
  std::vector<std::int64_t> point(variables.size(), 0);
  const auto zero = at(point);
  if (!zero) return std::nullopt;
  Affine affine{*zero, {}};
  for (std::size_t v = 0; v < variables.size(); ++v) {
    point[v] = 1;
    const auto one = at(point);
    if (!one) return std::nullopt;
    affine.coefficients.push_back(*one - *zero);
    point[v] = 0;
  }
  const auto holds = [&] {
    std::int64_t expected = affine.constant;
    for (std::size_t v = 0; v < variables.size(); ++v) expected += affine.coefficients[v] * point[v];
    return expected >= kLargest || expected <= -kLargest || at(point) == expected;
  };
  for (std::int64_t probe = 1; probe <= 24; ++probe) {
    for (std::size_t v = 0; v < variables.size(); ++v) point[v] = (probe * (7 + 5 * static_cast<std::int64_t>(v)) + probe * probe) % 97;
    if (!holds()) return std::nullopt;
  }
  // Quotients and remainders show at multiples of what they divide by: one variable after the other, far out.
  std::fill(point.begin(), point.end(), 0);
  for (std::int64_t& value : point) {
    for (value = 1; value <= 4096; ++value)
      if (!holds()) return std::nullopt;
    for (value = 8192; value <= 1 << 20; value *= 2)
      if (!holds()) return std::nullopt;
    value = 0;
  }
  return affine;
}

}  // namespace heddle::codegen
