// The layouts that kernels use most, each with the name that files and tables call it by.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/layout.h"
#include "core/machine/instruction.h"

namespace heddle {

/// "accumulator": wgmma's result of a warpgroup, 64 rows: thread t, w = t / 32, g = t % 32 / 4, q = t % 4 holds of row 16 w + g the
/// columns 8 j + 2 q + {0, 1} in registers 4 j + {0, 1}, of row 16 w + g + 8 in 4 j + {2, 3}. (PTX ISA, wgmma register fragments.)
Layout accumulator_layout(std::int64_t columns);
/// "operand": A of a wgmma from registers: per 16 * (16 / bits) columns of k. Of 16 bits it is the accumulator's own places.
Layout operand_layout(std::int64_t columns, int bits);
/// "warp_rows": warp w holds rows w * rows / 4 ..., 32 / L of them at a time, L lanes each, the most that 8 columns a lane divide into: 32
/// for multiples of 256, 16 for 128, 8 for 64 and 192. Lane l holds of each 8 L columns those from l % L * 8 on. Pre: fits_warp_rows().
Layout warp_rows_layout(std::int64_t rows, std::int64_t columns);
/// L. Pre: columns are a multiple of 8.
std::int64_t lanes_of_row(std::int64_t columns);
bool fits_warp_rows(std::int64_t rows, std::int64_t columns);
/// "thread_rows": thread t holds row t, as it reads lane t of tensor memory.
Layout thread_rows_layout(std::int64_t rows, std::int64_t columns);
/// "quads_down", "quads_across": 8-bit tiles of 128 threads on their way to being transposed, rows and columns multiples of 128. A register
/// has four of a column, or of a row; a thread has blocks of 4 x 4, so that one becomes the other inside the thread. Most lanes go along a
/// diagonal of blocks: from "panels 128" of the transposed tile to the former, and from the latter to "panels 128", no lanes meet in a
/// bank.
std::optional<Layout> quads_layout(std::int64_t rows, std::int64_t columns, bool across);
/// "panels S": memory as TMA's boxes leave it, S = 128, 64, 32: rows of S bytes, pieces of 16 bytes exchanged by the row (byte address bits
/// 4.. with bits 7..: 3, 2, 1 of them), panel after panel of S / element columns. S = 0: rows of at most 256 elements, no swizzle.
/// Nothing where the columns are no whole panels. `atom`: bytes of a piece; with 128 it can be 32, kAtomsOf32.
std::optional<Layout> panels_layout(std::int64_t rows, std::int64_t columns, int bits, int swizzle, int atom = 16);
/// As TMA's mode CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B leaves a tile (address bits 5, 6 with 7, 8), where a machine has it.
inline constexpr std::string_view kAtomsOf32 = "panels 128 atoms 32";
/// Memory in the order in which threads take a tile `bytes` at once: a thread has its first registers side by side, then the next lane has
/// its, then the next warp, and what they take with the next instruction follows. So no two lanes meet in a bank, and no instruction is
/// wasted. Nothing where the registers that a lane takes at once are no power of two.
std::optional<Layout> taken_at_once(const Layout& registers, std::int64_t bytes, int bits);
/// "packed_operand": numbers of 4 bits in registers, from which wgmma's A of 16 bits is made in place: the same elements in each thread as
/// an "accumulator" has, but two that share a register once they are 16 bits wide stand 16 bits apart, so that one mask takes both.
Layout packed_operand_layout(std::int64_t columns);
/// "packed": memory as packed tensors lie in it (core/kernel/packed.h), 64 rows and whole blocks of columns: of 4 bits from where a
/// "packed_operand" is taken 16 bytes at once, wider where an "accumulator" goes. Nothing where columns are no whole blocks.
std::optional<Layout> packed_layout(std::int64_t columns, int bits);
/// "packed lines": of 32 bits the other order of packed results, each register of an "accumulator" in a line of its warp's 32 lanes.
std::optional<Layout> packed_lines_layout(std::int64_t columns);
/// "accumulator relabelled", "panels 128 relabelled": the same, of each 16 columns of the accumulator, or rows in memory, in another
/// order: at place 8 j + 2 q + i stands 4 q + 2 j + i, for i, j < 2, q < 4. As numbers of 8 bits the accumulator then is an
/// "operand" up to the order of its registers. Nothing where the dimension is no multiple of 16.
std::optional<Layout> relabelled(const Layout& layout, std::size_t dimension);
/// S, where it is "panels S relabelled".
std::optional<int> relabelled_swizzle(const Layout& layout, int bits);
/// "rows": row after row; `pitch` elements apart, where it is not the number of columns ("rows 72").
Layout rows_layout(std::int64_t rows, std::int64_t columns, std::int64_t pitch = 0);

/// Of a name with its numbers ("panels 64"); nothing where no such name is known, or it does not fit the shape.
std::optional<Layout> known_layout(std::string_view name, const std::vector<std::int64_t>& shape, int bits);
/// The name that known_layout() gives it back for; empty: none.
std::string known_name(const Layout& layout, int bits);
/// S of "panels S", where the layout is one.
std::optional<int> swizzle_of(const Layout& layout, int bits);
/// S of either: of the boxes by which TMA brings it.
std::optional<int> box_swizzle(const Layout& layout, int bits);
std::vector<std::string> known_names();  ///< for hints: "accumulator", "panels 128" ...

/// What a copy or conversion may be told to be written as, in place of an instruction: it does not go through shared memory.
inline constexpr std::string_view kInRegisters = "registers";

/// A catalogue row's fragment, over a tile of its own size.
std::optional<Layout> layout_of(const Fragment& fragment);

}  // namespace heddle
