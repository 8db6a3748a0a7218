// The member "instructions" of machine files: the rows of the catalogue (core/machine/instruction.h).
#pragma once

#include "core/base/json_reader.h"
#include "core/machine/catalogue.h"
#include "core/machine/machine.h"

namespace heddle {

inline constexpr std::size_t kMostInstructions = 1024;

namespace as {
/// As the other kinds of members (core/formats/members.h).
struct Rows {
  void read(const Cursor& at, Catalogue& catalogue) const;
  Json write(const Catalogue& catalogue) const;
  Json schema(const Catalogue&, Json& definitions) const;
};
inline constexpr Rows rows;
}  // namespace as

/// What the rows say against each other and against the machine: names given twice, units that no one declared, sizes that their kind
/// cannot have, fragments that are no layouts, formulas that cannot be evaluated.
void judge_instructions(const Machine& machine, ReadLog& log);

}  // namespace heddle
