#include "core/answers/found_period.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle {
namespace {

constexpr double kTicksOfCycle = 256;
constexpr double kDigits = 0.001;

}  // namespace

double FoundPeriod::cycles() const {
  return static_cast<double>(proof.period) / kTicksOfCycle / static_cast<double>(std::max<std::int64_t>(1, proof.iterations));
}

double period_difference(const FoundPeriod& cheap, const FoundPeriod& dear) {
  const double difference = dear.cycles() - cheap.cycles();
  return std::abs(difference) <= kDigits * cheap.cycles() ? 0 : difference;
}

std::string period_text(const FoundPeriod& found) { return fmt::format("{:.1f} cycles, {}", found.cycles(), standing_text(found.proof)); }

}  // namespace heddle
