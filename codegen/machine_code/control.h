// What the bits of an sm_90a instruction say beside its operation: the control code that ptxas gave it, the registers that it reads, and
// the sizes of wgmmas, barriers and accesses to shared memory.
//
// Found by compiling kernels of a few instructions for sm_90a with CUDA 13.0 (a load and its use near and far, sums in a chain, operands
// that repeat, each width of an access, wgmmas of each kind and size, barriers with the number in the text and in a register), and by
// comparing their bytes with what nvdisasm prints. Bits of the upper word (105 to 125 of the 128):
//
//   41..44  stall: cycles until the warp's next instruction may be issued
//   45      0: the scheduler may turn to another warp
//   46..48  write barrier: the scoreboard that falls when the result is there; 7: none
//   49..51  read barrier: the scoreboard that falls when the operands have been read; 7: none
//   52..57  wait mask: scoreboards that must have fallen first
//   58..60  reuse: the operand stays in the latch of its read port a, b or c for the warp's next instruction
//
// Register operands lie in bits 24..31 (a), 32..39 (b) of the lower word and 0..7 of the upper one (c); 255 is no register. The three bits
// above the operation say what takes b's or c's place (2: immediate, 3: constant, 7: uniform register for c, b then lies where c did;
// 4, 5, 6 the same for b).
#pragma once

#include <array>
#include <optional>

#include "codegen/machine_code/instructions.h"

namespace heddle::codegen {

inline constexpr int kScoreboards = 6;
inline constexpr int kReadPorts = 3;

struct Control {
  int stall = 0;
  bool yields = false;
  std::optional<int> write_barrier, read_barrier;  ///< below kScoreboards
  unsigned wait = 0;                               ///< bit i: scoreboard i
  unsigned reuse = 0;                              ///< bit i: read port i
};
Control control_of(const MachineInstruction& instruction);

/// Where arithmetic runs: Fma takes a warp's instruction in one cycle, Alu (comparisons, logic, moves, packing of floats) in two.
enum class IssuePipe { Fma, Alu };

/// Of arithmetic on registers; absent for every other kind, known or not.
struct Arithmetic {
  IssuePipe pipe = IssuePipe::Alu;
  std::array<int, kReadPorts> reads{-1, -1, -1};  ///< register by read port; -1: none, or the register that is always zero
};
std::optional<Arithmetic> arithmetic_of(const MachineInstruction& instruction);

/// A wgmma of 64 rows.
struct WgmmaShape {
  int columns = 0;
  bool registers = false;     ///< A lies in registers, else in shared memory
  bool closes_group = false;  ///< what a wait counts ends with it
};
/// Pre: of class Product.
WgmmaShape wgmma_shape(const MachineInstruction& product);

/// Threads that meet at a named barrier. Pre: of class NamedBarrier.
int barrier_threads(const MachineInstruction& named_barrier);

/// 32-bit words of a lane. Pre: of class SharedMemory.
int shared_words(const MachineInstruction& access);

}  // namespace heddle::codegen
