#include "codegen/machine_code/control.h"

#include <algorithm>

namespace heddle::codegen {
namespace {

constexpr int kNoRegister = 255;

/// Which of a, b and c an operation has. Sum: a and one more, which stands where b does and is read through c's port.
enum class Has { None, B, AB, ABC, Sum };

struct OperandRow {
  int code;  ///< low 9 bits
  IssuePipe pipe;
  Has has;
};
constexpr std::array kArithmetic = std::to_array<OperandRow>({
    {0x021, IssuePipe::Fma, Has::Sum},   // FADD
    {0x030, IssuePipe::Fma, Has::Sum},   // HADD2
    {0x020, IssuePipe::Fma, Has::AB},    // FMUL
    {0x032, IssuePipe::Fma, Has::AB},    // HMUL2
    {0x023, IssuePipe::Fma, Has::ABC},   // FFMA
    {0x035, IssuePipe::Fma, Has::ABC},   // HFMA2
    {0x024, IssuePipe::Fma, Has::ABC},   // IMAD
    {0x025, IssuePipe::Fma, Has::ABC},   // IMAD.WIDE
    {0x026, IssuePipe::Fma, Has::ABC},   // IDP
    {0x027, IssuePipe::Fma, Has::ABC},   // IMAD.HI
    {0x03e, IssuePipe::Alu, Has::ABC},   // F2FP
    {0x009, IssuePipe::Alu, Has::AB},    // FMNMX
    {0x040, IssuePipe::Alu, Has::AB},    // HMNMX2
    {0x00b, IssuePipe::Alu, Has::AB},    // FSETP
    {0x008, IssuePipe::Alu, Has::AB},    // FSEL
    {0x007, IssuePipe::Alu, Has::AB},    // SEL
    {0x00c, IssuePipe::Alu, Has::AB},    // ISETP
    {0x036, IssuePipe::Alu, Has::AB},    // VIADD
    {0x048, IssuePipe::Alu, Has::AB},    // VIMNMX
    {0x046, IssuePipe::Alu, Has::ABC},   // VIADDMNMX
    {0x010, IssuePipe::Alu, Has::ABC},   // IADD3
    {0x011, IssuePipe::Alu, Has::ABC},   // LEA
    {0x012, IssuePipe::Alu, Has::ABC},   // LOP3
    {0x015, IssuePipe::Alu, Has::ABC},   // VABSDIFF4
    {0x016, IssuePipe::Alu, Has::ABC},   // PRMT
    {0x019, IssuePipe::Alu, Has::ABC},   // SHF
    {0x002, IssuePipe::Alu, Has::B},     // MOV
    {0x013, IssuePipe::Alu, Has::B},     // IABS
    {0x045, IssuePipe::Alu, Has::B},     // I2FP
    {0x005, IssuePipe::Alu, Has::None},  // CS2R
    {0x01c, IssuePipe::Alu, Has::None},  // PLOP3
    {0x086, IssuePipe::Alu, Has::None},  // VOTEU
});

std::uint64_t bits(std::uint64_t word, int first, int count) { return word >> first & ((std::uint64_t{1} << count) - 1); }

int register_at(std::uint64_t word, int first) {
  const int found = static_cast<int>(bits(word, first, 8));
  return found == kNoRegister ? -1 : found;
}

std::optional<int> barrier_at(std::uint64_t word, int first) {
  const int found = static_cast<int>(bits(word, first, 3));
  if (found >= kScoreboards) return std::nullopt;
  return found;
}

}  // namespace

Control control_of(const MachineInstruction& instruction) {
  const std::uint64_t word = instruction.high;
  Control control;
  control.stall = static_cast<int>(bits(word, 41, 4));
  control.yields = bits(word, 45, 1) == 0;
  control.write_barrier = barrier_at(word, 46);
  control.read_barrier = barrier_at(word, 49);
  control.wait = static_cast<unsigned>(bits(word, 52, kScoreboards));
  control.reuse = static_cast<unsigned>(bits(word, 58, kReadPorts));
  return control;
}

std::optional<Arithmetic> arithmetic_of(const MachineInstruction& instruction) {
  const int key = instruction.key();
  const auto* found = std::find_if(kArithmetic.begin(), kArithmetic.end(), [&](const OperandRow& o) { return o.code == (key & 0x1ff); });
  if (found == kArithmetic.end()) return std::nullopt;
  Arithmetic result{found->pipe, {-1, -1, -1}};
  const int form = key >> 9;
  const int a = register_at(instruction.low, 24), b = register_at(instruction.low, 32), c = register_at(instruction.high, 0);
  const bool b_is_register = form == 1, c_is_b = form == 2 || form == 3 || form == 7;
  switch (found->has) {
    case Has::None: break;
    case Has::B: result.reads[1] = b_is_register ? b : -1; break;
    case Has::Sum: result.reads = {a, -1, b_is_register ? b : -1}; break;
    case Has::AB: result.reads = {a, b_is_register ? b : c_is_b ? c : -1, -1}; break;
    case Has::ABC: result.reads = {a, b_is_register ? b : c_is_b ? c : -1, c_is_b ? -1 : c}; break;
  }
  return result;
}

WgmmaShape wgmma_shape(const MachineInstruction& product) {
  constexpr int kFromRegisters = 6;  // else 4
  return {8 * (static_cast<int>(bits(product.low, 53, 5)) + 1), product.key() >> 9 == kFromRegisters, bits(product.high, 20, 3) != 7};
}

int barrier_threads(const MachineInstruction& named_barrier) { return static_cast<int>(bits(named_barrier.low, 42, 12)); }

int shared_words(const MachineInstruction& access) {
  const int code = access.key() & 0x1ff;
  if (code == 0x03b || code == 0x044) return 1 << bits(access.high, 8, 2);  // LDSM, STSM: 1, 2 or 4 matrices
  const auto size = bits(access.high, 9, 3);                                // below 4: bytes and halves
  return size < 5 ? 1 : size == 5 ? 2 : 4;
}

}  // namespace heddle::codegen
