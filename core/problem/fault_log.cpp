#include "core/problem/fault_log.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle {

void FaultLog::add(const FaultPlace& place, std::string message, std::string hint) {
  const bool known = std::any_of(faults_.begin(), faults_.end(), [&](const Fault& f) {
    return f.pointer == place.pointer && f.message == message && f.file == place.file;
  });
  if (!known) faults_.push_back({place.file, place.pointer, std::move(message), std::move(hint)});
}

std::optional<std::int64_t> FaultLog::number(const Expr& expr, const Scope& scope, Range range, const FaultPlace& place,
                                             const std::string& what) {
  const Result<std::int64_t> value = expr.evaluate(scope);
  if (!value) {
    for (const Fault& fault : value.error().faults) add(place, fmt::format("{}: {}", what, fault.message), fault.hint);
    return std::nullopt;
  }
  if (*value < range.low || *value > range.high) {
    const std::string formula = expr.is_constant() ? "" : fmt::format(" (\"{}\")", expr.text());
    add(place, fmt::format("{} is {}{}, expected {} to {}", what, *value, formula, range.low, range.high));
    return std::nullopt;
  }
  return *value;
}

}  // namespace heddle
