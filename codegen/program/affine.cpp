#include "codegen/program/affine.h"

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
  for (std::int64_t probe = 1; probe <= 24; ++probe) {
    std::int64_t expected = affine.constant;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      point[v] = (probe * (7 + 5 * static_cast<std::int64_t>(v)) + probe * probe) % 97;
      expected += affine.coefficients[v] * point[v];
    }
    if (at(point) != expected) return std::nullopt;
  }
  return affine;
}

}  // namespace heddle::codegen
