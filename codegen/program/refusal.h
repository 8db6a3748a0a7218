// Why a schedule cannot become a kernel: the rule that stands in the way, in words, and where there is one the demand
// under which the solver finds a schedule that can.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/subtile.h"
#include "core/schedule/constraints.h"

namespace heddle::codegen {

struct Program;

struct Refusal {
  std::string rule;                          ///< a short stable name: "epilogue_crosses_roles", "wgmma_wait" ...
  std::vector<std::string> ops;              ///< of the kernel file, as written there
  std::string sentence;                      ///< may contain names from files: printable() before showing
  std::optional<UserConstraint> constraint;  ///< enabled, named after its sentence (core/schedule/constraint_text.h)
  std::optional<Subtile> cut{};              ///< of the kernel, that avoids it
};

/// A refusal with its demand, which gets its describing sentence as name.
Refusal refusal(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint = {});

UserConstraint same_group(std::vector<std::string> ops);
/// One stage less than the schedule has. Pre: it has more than one.
UserConstraint fewer_stages(const Program& program);

/// Why no demand avoids what is refused by this rule, where a refusal has none; a clause without a full stop.
std::string_view why_no_demand(std::string_view rule);

}  // namespace heddle::codegen
