// What a period consists of, for people and as a part of JSON answers.
#pragma once

#include <string>

#include "core/base/text_style.h"
#include "core/motion/period_parts.h"

namespace heddle {

/// "period 2405.0 cycles with contention: tensor work 2048, register reads 210 ...", on one line.
std::string period_parts_line(const motion::PeriodParts& parts);
/// A line and a table: part, cycles, the period without that part.
std::string period_parts_table(const motion::PeriodParts& parts, const TextStyle& style);

namespace motion {

template <class Io>
void visit(Io& io, const PeriodPart& part) {
  io.part("period_part");
  io.written("name", part.name), io.written("what", part.what), io.written("cycles", part.cycles);
  io.written("without", part.without, "the period when this alone is set to nothing; null where it is no number of the machine");
}

template <class Io>
void visit(Io& io, const PeriodAtEnds& row) {
  io.part("period_at_ends");
  io.written("number", row.number), io.written("value", row.value);
  io.written("least", row.least, "of the range that is stated"), io.written("most", row.most);
  io.written("period_at_least", row.at_least), io.written("period_at_most", row.at_most);
}

template <class Io>
void visit(Io& io, const PeriodParts& parts) {
  io.part("period_parts");
  io.written("period", parts.period, "cycles an iteration, in the rule of motion; all parts together");
  io.written("parts", parts.parts);
}

}  // namespace motion
}  // namespace heddle
