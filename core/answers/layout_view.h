// What there is to see of how a tile lies: a grid of cells that say warp, lane, register, byte and bank at once, the phases of the
// instruction that moves it, and what else could be chosen. For the command, the tab, and pictures alike.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/text_style.h"
#include "core/instance/instance.h"
#include "core/layout/plan.h"

namespace heddle {

struct LayoutCell {
  std::int32_t warp = -1, lane = -1, reg = -1;  ///< of the first place in registers that holds the element; -1: it lies in none
  std::int32_t copies = 0;                      ///< places in registers
  std::int64_t byte = -1;                       ///< in memory; -1: it lies in none
  std::int32_t bank = -1;
  std::int32_t issue = -1, phase = -1;  ///< of the access, among its warp's; -1: no access
  std::int32_t ways = 0;                ///< different words that this phase wants of its bank, this one included; 0: no access
  bool meets() const { return ways > 1; }
};

struct LayoutView {
  std::string title;             ///< "dqs0 of attention_backward_hopper", or the text that was given
  std::string value, other;      ///< the value, and the one on the other side of the access; may be empty
  bool value_in_memory = false;  ///< the value is the access's in shared memory, `other` the one in registers
  std::string op;                ///< of the access
  DType dtype = DType::F16;
  int bits = 16;
  std::int64_t rows = 1, columns = 1;
  std::optional<Layout> registers, memory;
  std::string registers_text, memory_text;  ///< layout_text()
  std::string instruction;
  bool assumed = false;  ///< how its lanes take turns is an assumption, not measured
  std::optional<Access> access;
  AccessCost cost;
  std::string why;                ///< why_text(), or why there is nothing to say: "no op moves it between registers and shared memory"
  std::vector<LayoutCell> cells;  ///< rows * columns, row by row
  std::vector<LayoutAlternative> alternatives;
  /// Least II that the loop's arithmetic bounds leave with an alternative; 0: not asked. As many as alternatives.
  std::vector<Cycle> bounds;

  const LayoutCell& at(std::int64_t row, std::int64_t column) const { return cells[static_cast<std::size_t>(row * columns + column)]; }
};

/// Of a layout by itself. `access`: a name of the catalogue, or empty. Where `with` is empty, how a tile in memory lies in registers is
/// what the instruction's own fragment says (registers_for()). Machines know instructions; without one there are none.
struct LayoutQuestion {
  std::string text;
  std::vector<std::int64_t> shape;  ///< empty: as the text says
  DType dtype = DType::F16;
  std::string access;
  std::string with;              ///< the layout on the other side: registers where `text` is memory, memory where it is registers
  std::optional<Layout> layout;  ///< what `text` stands for, where somebody else has read it (a printed Triton layout)
};
Result<LayoutView> view_of(const LayoutQuestion& question, const Machine& machine);

/// How one warp holds a tile in memory that it reads or writes by the instruction, again and again from left to right, then downwards.
/// Matrix kinds: as their fragment says, whose rows are rows of the tile; further matrices below, then beside. Others: a lane has `bytes`
/// side by side in a row; lanes go along the row, as many of them as a power of two that divides it, then down. Refused where the tile is
/// no whole number of instructions.
Result<Layout> registers_for(const Layout& memory, int bits, const Instruction& instruction);

/// Of a value of a kernel, as the plan has it; `op`: the access that is meant, empty: the first that moves the value.
/// Pre: the problem has a plan. `alternatives`: with their bounds, for which a problem is made of each.
Result<LayoutView> view_of(const Instance& instance, const std::string& value, const std::string& op, bool alternatives);

/// A word of a bank that lanes want in one phase. The port serves one word of each bank per cycle.
struct ServedWord {
  std::int64_t word = 0;   ///< byte address / 4, from the tile's first byte
  std::vector<int> lanes;  ///< ascending
};
/// One phase: cycle c serves word c of every bank that has so many.
struct BankStrip {
  int warp = 0, issue = 0, phase = 0;
  int first_lane = 0, lanes = 0;
  std::array<std::vector<ServedWord>, kBanks> banks;  ///< each in the order of its lanes
  int ways = 1;
};
/// Of `access.all[one]`. Pre: both exist.
BankStrip bank_strip(const Access& access, std::size_t one, int phase);
/// The first of the phases with the most ways.
BankStrip worst_strip(const Access& access);
int phases(const Access& access);  ///< of one instruction

/// "taken", why it cannot be, or what is worse with it than with the one taken; "better: ..." where nothing is.
std::string not_taken_text(const LayoutView& view, std::size_t alternative);

/// Values and ops of a kernel that have a layout to look at, in the order of the file.
struct LayoutListRow {
  std::string value, space, shape, layout, op, instruction;  ///< space: "register", "smem" ...; shape: "64 x 128 bf16"
  InstructionChoice choice;                                  ///< the same as `instruction` says in words
  AccessCost cost;
  bool accessed = false;  ///< the op meets shared memory there, and `cost` says how
  bool charged = true;    ///< the cycles are the op's cost
  std::string unknown;    ///< why layout or instruction are not known
};
/// "ldmatrix.x4", "st.shared.16, lane bit 0 exchanging register bit 1".
std::string choice_text(const InstructionChoice& choice);
std::vector<LayoutListRow> layout_list(const Kernel& kernel, const Problem& problem);

enum class LayoutColour { Warp, Lane, Register, Bank, Phase };
const char* to_string(LayoutColour colour);
std::optional<LayoutColour> parse_layout_colour(std::string_view word);
/// What a cell says under the colour: -1 where it has none.
std::int64_t colour_index(const LayoutCell& cell, const LayoutView& view, LayoutColour colour);
/// The grid fitted to the width, the banks of the worst phase, sentence and alternatives. `all`: nothing is left out of the grid.
std::string layout_summary(const LayoutView& view, const TextStyle& style, LayoutColour colour = LayoutColour::Lane, bool all = false);
/// Facts and grids of two, one below the other, and what differs.
std::string layout_pair_summary(const LayoutView& a, const LayoutView& b, const TextStyle& style);
std::string layout_list_summary(const std::vector<LayoutListRow>& rows, const TextStyle& style);
/// {title, value, op, dtype, rows, columns, registers, memory, instruction, port, least, ways, why, alternatives, phases}
Json layout_json(const LayoutView& view);
Json layout_schema();
/// row,column,warp,lane,register,copies,byte,bank,issue,phase
std::string layout_csv(const LayoutView& view);

}  // namespace heddle
