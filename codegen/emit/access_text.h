// How a group of warps moves a tile between registers and shared memory, as text: from the layouts of both sides and an instruction, where
// a lane begins, how far each issue is from there, and which registers it moves. Nothing is chosen here: what cannot be written so is
// refused with the reason.
//
// Addresses come from access_of() (core/layout/access.h), lane by lane and issue by issue. They are then said by their bits: every bit of
// the lane's number and of the issue's moves the address by a step; steps that share bits are exclusive-ored (swizzles), all others added.
// The formula is compared with every address before it is written, so what is written is what was counted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/layout/choices.h"
#include "core/layout/layout.h"
#include "core/machine/instruction.h"

namespace heddle::codegen {

/// Instructions between registers and shared memory that a wrapper of codegen/device/shared_memory.cuh stands for, by the names that
/// catalogues have for them. Nothing for all others.
std::optional<heddle::Instruction> written_instruction(std::string_view name);

struct AccessQuestion {
  const Layout* registers = nullptr;
  const Layout* memory = nullptr;
  int bits = 16;  ///< of an element
  InstructionChoice instruction;
  int piece = 0, pieces = 1;      ///< of equal pieces of the tile: this one, which lies where the first of them would
  bool own_registers = false;     ///< a piece has an array of its own, else the whole tile's
  std::int64_t alignment = 1024;  ///< of the address at which the tile begins
  /// What the machine's catalogue says of the instruction; null: nothing. What it counts by must be what the wrapper does.
  const heddle::Instruction* row = nullptr;
};

struct AccessText {
  heddle::Instruction instruction;
  int issues = 0;
  std::string lanes;    ///< bytes from the tile's first one at which the lane begins, of `warp`, `lane` and `tid`; "0" where it is nothing
  std::string address;  ///< of issue j, of `at`: the tile's address and `lanes`
  /// Bits are exchanged that the tile's address may have: `lanes`, `at` and `address` count from the tile's first byte, less `base`.
  bool in_tile = false;
  std::int64_t base = 0;  ///< of `lanes`: what no lane or issue changes
  /// Per register of an issue, its index in the array as text of j; of lanes that exchange, in `exchanged`, else that is empty.
  std::vector<std::string> registers, exchanged;
  /// Moves of less than a register: by how many bits the element stands higher, as text of j.
  std::string shift;
  int exchange_lane = -1;  ///< bit of the lanes that exchange
  std::int64_t first = 0;  ///< of a piece: where it would begin in the tile, in bytes
};

struct AccessTextResult {
  std::optional<AccessText> text;
  std::string refusal;
};
/// `at`: the name of the variable in the text.
AccessTextResult access_text(const AccessQuestion& question, std::string_view at);

struct RegisterArray {
  std::string name;
  bool floats = false;  ///< else u32
  int words = 0;
};
/// The statements: the tile begins at `slot`. `note` follows the loop's head.
std::vector<std::string> lines_of(const AccessText& text, const RegisterArray& registers, const std::string& slot,
                                  const std::string& note = {});

/// The number of a register's or memory's place as text: `index` (of one coordinate) as a function of `tid`, `lane`, `warp` and element e.
/// Nothing where it follows no pattern of bits.
std::optional<std::string> coordinate_text(const Layout& registers, std::size_t dimension);

}  // namespace heddle::codegen
