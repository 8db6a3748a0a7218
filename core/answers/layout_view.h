// What there is to see of how a tile lies: a grid of cells that say warp, lane, register, byte and bank at once, the phases of the
// instruction that moves it, and what else could be chosen. For the command, the tab, and pictures alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/layout/plan.h"
#include "core/problem/problem.h"

namespace heddle {

struct LayoutCell {
  std::int32_t warp = -1, lane = -1, reg = -1;  ///< of the first place in registers that holds the element; -1: it lies in none
  std::int32_t copies = 0;                      ///< places in registers
  std::int64_t byte = -1;                       ///< in memory; -1: it lies in none
  std::int32_t bank = -1;
  std::int32_t issue = -1, phase = -1;  ///< of the access, among its warp's; -1: no access
};

struct LayoutView {
  std::string title;         ///< "dqs0 of attention_backward_hopper", or the text that was given
  std::string value, other;  ///< the value, and the one on the other side of the access; may be empty
  std::string op;            ///< of the access
  DType dtype = DType::F16;
  int bits = 16;
  std::int64_t rows = 1, columns = 1;
  std::optional<Layout> registers, memory;
  std::string registers_text, memory_text;  ///< layout_text()
  std::string instruction;
  std::optional<Access> access;
  AccessCost cost;
  std::string why;                ///< why_text(), or why there is nothing to say: "no op moves it between registers and shared memory"
  std::vector<LayoutCell> cells;  ///< rows * columns, row by row
  std::vector<LayoutAlternative> alternatives;
  /// Least II that the loop's arithmetic bounds leave with an alternative; 0: not asked. As many as alternatives.
  std::vector<Cycle> bounds;

  const LayoutCell& at(std::int64_t row, std::int64_t column) const { return cells[static_cast<std::size_t>(row * columns + column)]; }
};

/// Of a layout by itself. `access`: a name of the catalogue, or empty; how a tile in memory lies in registers for it is what the
/// instruction's own fragment says. Machines know instructions; without one there are none.
struct LayoutQuestion {
  std::string text;
  std::vector<std::int64_t> shape;  ///< empty: as the text says
  DType dtype = DType::F16;
  std::string access;
};
Result<LayoutView> view_of(const LayoutQuestion& question, const Machine& machine);

/// Of a value of a kernel, as the plan has it; `op`: the access that is meant, empty: the first that moves the value.
/// Pre: the problem has a plan. `alternatives`: with their bounds, which resolves the kernel once for each.
Result<LayoutView> view_of(const Kernel& kernel, const Machine& machine, const Problem& problem, const std::string& value,
                           const std::string& op, bool alternatives);

/// Values and ops of a kernel that have a layout to look at, in the order of the file.
struct LayoutListRow {
  std::string value, space, layout, op, instruction;
  AccessCost cost;
};
std::vector<LayoutListRow> layout_list(const Kernel& kernel, const Problem& problem);

std::string layout_summary(const LayoutView& view, const TextStyle& style);
std::string layout_list_summary(const std::vector<LayoutListRow>& rows, const TextStyle& style);
/// {title, value, op, dtype, rows, columns, registers, memory, instruction, port, least, ways, why, alternatives, phases}
Json layout_json(const LayoutView& view);
/// row,column,warp,lane,register,copies,byte,bank,issue,phase
std::string layout_csv(const LayoutView& view);
enum class LayoutColour { Warp, Lane, Register, Bank, Phase };
std::optional<LayoutColour> parse_layout_colour(std::string_view word);
/// The grid, and the banks of the worst phase below it.
std::string layout_svg(const LayoutView& view, LayoutColour colour);

}  // namespace heddle
