// The members of a reading of contention, in a file of its own and in what heddle bench keeps. For the visitors of core/formats/members.h.
#pragma once

#include "core/formats/members.h"
#include "core/records/contention_reading.h"

namespace heddle {

template <class Io>
void visit(Io& io, ContentionReading& r) {
  io.part("reading");
  io.always("experiment", r.experiment);
  io.always("number", r.number, as::text, "of the machine file's contention; period: of a loop by the rule of motion; empty: none");
  io.always("of", r.of, as::text, "what was measured");
  io.always("unit", r.unit);
  io.always("measured", r.measured, as::Number{});
  io.always("value", r.value, as::real, "of the machine file; of a period what the rule of motion says");
  io.always("least", r.least, as::real, "the range that the machine file states; of a period what the rule says within all ranges");
  io.always("most", r.most, as::real);
  io.always("verdict", r.verdict, as::word("verdict", ReadingVerdict::Open), "measured, rounded, against the range");
}

}  // namespace heddle
