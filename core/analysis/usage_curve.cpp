#include "core/analysis/usage_curve.h"

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle {

void ModuloUsage::add(Cycle begin, Cycle length, std::int64_t amount) {
  if (length <= 0) return;
  always_ = sat_add(always_, sat_mul(amount, length / ii_));
  const Cycle rest = length % ii_;
  if (rest == 0) return;
  const Cycle at = modulo(begin, ii_);
  changes_.push_back({at, amount});
  if (at + rest < ii_) {
    changes_.push_back({at + rest, -amount});
  } else {
    always_ = sat_add(always_, amount);
    changes_.push_back({at + rest - ii_, -amount});
  }
}

UsageCurve ModuloUsage::steps() const {
  auto changes = changes_;
  std::sort(changes.begin(), changes.end(), [](const UsageStep& a, const UsageStep& b) { return a.at < b.at; });
  UsageCurve result{{0, always_}};
  std::int64_t value = always_;
  // A wrapped interval counts as always there, minus the gap between its end and its beginning.
  for (std::size_t i = 0; i < changes.size();) {
    const Cycle at = changes[i].at;
    for (; i < changes.size() && changes[i].at == at; ++i) value = sat_add(value, changes[i].value);
    if (at == 0)
      result.front().value = value;
    else if (value != result.back().value)
      result.push_back({at, value});
  }
  return result;
}

std::int64_t peak(const UsageCurve& profile) {
  return std::max_element(profile.begin(), profile.end(), [](const UsageStep& a, const UsageStep& b) { return a.value < b.value; })->value;
}

}  // namespace heddle
