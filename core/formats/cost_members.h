// The members that kernel and machine files share: uses of units. For .cpp files only, like members.h.
#pragma once

#include "core/formats/members.h"
#include "core/kernel/kernel.h"

namespace heddle {

template <class Io>
void visit(Io& io, UnitCost& use) {
  io.part("use", "What an op holds of one functional unit.");
  io.required("unit", use.unit, as::name);
  io.optional("offset", use.offset, "cycles after the issue of the op; default 0");
  io.always("duration", use.duration, "cycles reserved; default 1");
  io.unless(use.amount.text() == "1", "amount", use.amount, "share of the capacity in use; default 1");
  io.optional("in_sum", use.in_sum,
              "cycles that the unit needs for it in sum, wherever they fall, where that is more than the duration; default 0");
}

}  // namespace heddle
