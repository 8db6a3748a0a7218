// What a row means, seen from the present II.
#include "core/answers/sensitivity.h"

#include <algorithm>
#include <cstdlib>

namespace heddle {
namespace {

bool moves_ii(const SensitivitySide& side, Cycle ii) {
  if (side.same_problem) return false;
  return !side.fault.empty() || side.lower_bound > ii || side.ii < ii;
}

bool open(const SensitivitySide& side) { return !side.same_problem && side.fault.empty() && !side.proved(); }

Cycle swing_of(const SensitivitySide& side, Cycle ii) {
  if (side.same_problem || !side.fault.empty()) return 0;
  if (side.lower_bound >= kNoFiniteII) return kNoFiniteII;
  if (side.lower_bound > ii) return side.lower_bound - ii;
  return side.ii < ii ? ii - side.ii : 0;
}

}  // namespace

SensitivityEffect Sensitivity::effect(const SensitivityRow& row) const {
  const SensitivitySide* sides[] = {&row.less, &row.more};
  const auto any = [&](auto&& judge) { return std::any_of(std::begin(sides), std::end(sides), [&](auto* s) { return judge(*s); }); };
  if (any([&](const SensitivitySide& s) { return moves_ii(s, ii); })) return SensitivityEffect::II;
  if (any(open)) return SensitivityEffect::Undecided;
  if (row.less.same_problem && row.more.same_problem) return SensitivityEffect::TooSmall;
  if (any([](const SensitivitySide& s) { return !s.same_problem && s.order_goes(); })) return SensitivityEffect::Order;
  if (any([](const SensitivitySide& s) { return !s.same_problem && !s.order_stays(); })) return SensitivityEffect::Undecided;
  return SensitivityEffect::None;
}

Cycle Sensitivity::swing(const SensitivityRow& row) const { return std::max(swing_of(row.less, ii), swing_of(row.more, ii)); }

bool Sensitivity::complete() const {
  return !cancelled && !timed_out && schedule && status == Status::Optimal &&
         std::none_of(rows.begin(), rows.end(), [](const SensitivityRow& r) { return open(r.less) || open(r.more); });
}

void sort_rows(Sensitivity& answer) {
  std::stable_sort(answer.rows.begin(), answer.rows.end(), [&](const SensitivityRow& a, const SensitivityRow& b) {
    const Cycle swing_a = answer.swing(a), swing_b = answer.swing(b);
    if (swing_a != swing_b) return swing_a > swing_b;
    return static_cast<int>(answer.effect(a)) > static_cast<int>(answer.effect(b));
  });
}

}  // namespace heddle
