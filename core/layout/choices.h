// Which layouts and instructions somebody chose for a kernel, by name, as schedule files and demands say it. What is not said is the
// default (core/layout/plan.h).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace heddle {

/// Lanes with the bit `lane` of their number move, at each issue, what the others move at the issue whose registers differ in the bit
/// `register_bit`: a select per register and no more than a select, by which rows that share banks no longer meet. -1: nobody does.
struct LaneExchange {
  int lane = -1, register_bit = -1;
  bool used() const { return lane >= 0; }
  bool operator==(const LaneExchange&) const = default;
};

struct InstructionChoice {
  std::string name;       ///< of the catalogue
  LaneExchange exchange;  ///< stores only
  bool operator==(const InstructionChoice&) const = default;
};

/// How an axis, or the bytes of a tensor, are ordered that the kernel leaves free; natural is the default.
inline constexpr std::string_view kNaturalOrder = "natural", kRelabelledOrder = "relabelled", kPrepackedOrder = "prepacked",
                                  kPrepackedLines = "prepacked lines";

struct LayoutChoices {
  /// Value: text as parse_layout() reads it. Free axis of the kernel, tensor that may be packed: its order.
  std::map<std::string, std::string> layouts;
  std::map<std::string, InstructionChoice> instructions;  ///< op
  bool empty() const { return layouts.empty() && instructions.empty(); }
  bool operator==(const LayoutChoices&) const = default;
};

/// Both; of what both speak of, what `more` says.
LayoutChoices merged(LayoutChoices choices, const LayoutChoices& more);

}  // namespace heddle
