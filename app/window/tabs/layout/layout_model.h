// What the Layout tab shows of a view: cells of one number as blocks, what is said of a cell, the phases one after the other, and the
// alternatives as rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/window/kit/column.h"
#include "core/answers/layout_choice.h"
#include "core/answers/layout_view.h"

namespace heddle::app {

/// Neighbouring cells that say the same, as a rectangle.
struct LayoutBlock {
  std::int32_t row = 0, column = 0, rows = 1, columns = 1;
  std::int64_t index = -1;  ///< colour_index(); -1: none
  bool operator==(const LayoutBlock&) const = default;
};
struct LayoutBlocks {
  std::vector<LayoutBlock> blocks;  ///< every cell is in one; by row, then by column
  std::int64_t count = 1;           ///< numbers that there are: one above the greatest
};
LayoutBlocks blocks_of(const LayoutView& view, LayoutColour colour);

/// Why cells have no such number; empty: some have.
std::string why_no_colour(const LayoutView& view, LayoutColour colour);
/// The colour itself, else the next best one that says something of this view.
LayoutColour usable_colour(const LayoutView& view, LayoutColour wanted);

/// What a click chose: a lane of a warp with all its registers, or a register of all lanes.
struct LayoutPick {
  bool whole_register = false;
  std::int32_t warp = -1, lane = -1, reg = -1;
  bool operator==(const LayoutPick&) const = default;
  bool has(const LayoutCell& cell) const { return whole_register ? cell.reg == reg : cell.warp == warp && cell.lane == lane; }
};
/// Nothing where the element lies in no register.
std::optional<LayoutPick> pick_of(const LayoutCell& cell, bool whole_register);
/// "lane 12 of warp 0 holds 32 of these elements", "register 5 holds 128 of these elements, one in each lane"
std::string pick_text(const LayoutPick& pick, const LayoutView& view);

/// "row 8, column 3 · warp 0, lane 12, register 5, 4 copies · byte 1 056, bank 8 · instruction 2, phase 1": what is known of it.
std::string cell_text(const LayoutView& view, std::int64_t row, std::int64_t column);
/// Facts of the whole: "64 x 64 f32 · registers: accumulator · memory: panels 128 · st.shared.8: 256 cycles of the port, 128 without
/// conflicts, 2-way".
std::string head_text(const LayoutView& view);

/// Phases of all instructions of all warps, one after the other.
std::int64_t phase_steps(const LayoutView& view);
BankStrip phase_at(const LayoutView& view, std::int64_t step);
/// The step in which the cell is moved, or the first one with the most ways.
std::optional<std::int64_t> step_of(const LayoutView& view, const LayoutCell& cell);
std::int64_t worst_step(const LayoutView& view);
/// "warp 0, instruction 3 of 32, phase 2 of 4: 2-way, lanes meet in 16 banks"
std::string phase_text(const LayoutView& view, const BankStrip& strip);

struct LayoutChoiceRow {
  std::size_t index = 0;  ///< of LayoutView::alternatives
  std::string layout, instruction;
  std::string brief;  ///< the instruction in few letters
  AccessCost cost;
  std::int64_t issues = 0;  ///< of each warp, selects of an exchange among them
  std::int64_t bytes = 0;
  int registers = 0;
  Cycle bound = 0;  ///< 0: not known
  bool current = false, possible = true;
  std::string why;  ///< it was not taken
};
std::vector<LayoutChoiceRow> layout_choice_rows(const LayoutView& view);
std::span<const Column<LayoutChoiceRow>> layout_choice_columns();
/// Of the value in shared memory that the view's op moves, and of the op: what using the alternative says.
LayoutUse use_of(const LayoutView& view, const LayoutAlternative& alternative);

/// "dqs0 · store_dq0 · st.shared.8"
std::string list_label(const LayoutListRow& row);
/// The row of that op, else of that value; nothing where there is none.
std::optional<std::size_t> find_row(const std::vector<LayoutListRow>& rows, const std::string& value, const std::string& op);

/// "64 x 64", "64,64", "(64, 64)"; a fault's words in `fault` where it is none of them. Empty text: empty shape.
std::vector<std::int64_t> read_shape(std::string_view text, std::string& fault);

}  // namespace heddle::app
