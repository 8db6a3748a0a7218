// Which registers are more than data: a slice backwards from control flow, addresses, barriers, counts and descriptors.
#include <algorithm>
#include <cstddef>
#include <span>

#include "ptx/text/control.h"

namespace heddle::ptx {

namespace {

/// Instructions by register, in one array.
class ByRegister {
 public:
  /// `touch(pc, found)` calls found(register) for each.
  template <class Touch>
  ByRegister(std::size_t registers, std::size_t code, Touch touch) : begin_(registers + 1, 0) {
    for (std::size_t pc = 0; pc < code; ++pc) touch(pc, [&](std::size_t reg) { ++begin_[reg + 1]; });
    for (std::size_t reg = 0; reg < registers; ++reg) begin_[reg + 1] += begin_[reg];
    instructions_.resize(begin_.back());
    std::vector<std::size_t> end(begin_.begin(), begin_.end() - 1);
    for (std::size_t pc = 0; pc < code; ++pc) touch(pc, [&](std::size_t reg) { instructions_[end[reg]++] = pc; });
  }
  std::span<const std::size_t> operator[](std::size_t reg) const {
    return {instructions_.data() + begin_[reg], begin_[reg + 1] - begin_[reg]};
  }

 private:
  std::vector<std::size_t> begin_, instructions_;
};

bool pure(const PtxInstruction& instruction) { return instruction.row && instruction.row->pure; }

/// Of an instruction whose vectors are numbers of a matrix: nothing hangs on them but other numbers.
bool vectors_are_data(Opcode opcode) {
  switch (opcode) {
    case Opcode::WgmmaMma:
    case Opcode::WgmmaMmaSparse:
    case Opcode::Mma:
    case Opcode::MmaSparse:
    case Opcode::WmmaLoad:
    case Opcode::WmmaMma:
    case Opcode::WmmaStore:
    case Opcode::Ldmatrix:
    case Opcode::Stmatrix:
    case Opcode::Tcgen05Ld:
    case Opcode::Tcgen05St: return true;
    default: return false;
  }
}

bool stores(Opcode opcode) {
  switch (opcode) {
    case Opcode::St:
    case Opcode::StAsync:
    case Opcode::Red:
    case Opcode::RedAsync:
    case Opcode::Atom: return true;
    default: return false;
  }
}

class NeededRegisters {
 public:
  explicit NeededRegisters(PtxFunction& function)
      : function_(function), code_(function.code), carry_(function.registers.size()), touched_(touch_all()), data_(carry_ + 1, false) {
    function.needed.assign(carry_ + 1, false);
  }

  void find() {
    find_data();
    for (std::size_t pc = 0; pc < code_.size(); ++pc) {
      if (!pure(code_[pc])) seed(pc);
    }
    const ByRegister writers(carry_ + 1, code_.size(), [&](std::size_t pc, auto found) {
      if (!pure(code_[pc])) return;
      for (const RegisterId reg : touched_[pc].written) found(reg.index());
      if (code_[pc].has("cc")) found(carry_);
    });
    std::vector<bool> done(code_.size(), false);
    while (!open_.empty()) {
      const std::size_t reg = open_.back();
      open_.pop_back();
      for (const std::size_t pc : writers[reg]) {
        if (done[pc]) continue;
        done[pc] = true;
        need_all(touched_[pc].read);
        need(code_[pc].guard);
        if (reads_carry(code_[pc])) need(RegisterId(carry_));
        if (reg == carry_) need_all(touched_[pc].written);
      }
    }
    function_.needed.pop_back();
  }

 private:
  std::vector<TouchedRegisters> touch_all() const {
    std::vector<TouchedRegisters> all;
    all.reserve(code_.size());
    for (const PtxInstruction& instruction : code_) all.push_back(registers_of(instruction));
    return all;
  }
  static bool reads_carry(const PtxInstruction& instruction) {
    return instruction.opcode == Opcode::Addc || instruction.opcode == Opcode::Subc || instruction.opcode == Opcode::Madc;
  }

  void need(RegisterId reg) {
    if (!reg.valid() || function_.needed[reg.index()]) return;
    function_.needed[reg.index()] = true;
    open_.push_back(reg.index());
  }
  void need_all(const std::vector<RegisterId>& registers) {
    for (const RegisterId reg : registers) need(reg);
  }
  void need_all(const PtxOperand& operand) {
    need(operand.reg);
    for (const PtxOperand& part : operand.parts) need_all(part);
  }

  void seed(std::size_t pc) {
    const PtxInstruction& instruction = code_[pc];
    need(instruction.guard);
    if (vectors_are_data(instruction.opcode)) {
      for (const PtxOperand& operand : instruction.operands) {
        if (operand.kind != PtxOperand::Kind::Vector) need_all(operand);
      }
    } else if (stores(instruction.opcode)) {
      for (const PtxOperand& operand : instruction.operands) {
        if (operand.kind == PtxOperand::Kind::Address) need_all(operand);
      }
      if (is_float(scalar_of(instruction.words.back()))) return;
      for (const RegisterId reg : touched_[pc].read) {
        if (!data_[reg.index()]) need(reg);
      }
    } else {
      need_all(touched_[pc].read);
    }
  }

  /// Whether what it writes is floats, or made of floats.
  bool writes_data(std::size_t pc) const {
    const PtxInstruction& instruction = code_[pc];
    if (instruction.opcode == Opcode::Unknown) return false;
    if (vectors_are_data(instruction.opcode)) return true;
    if (instruction.opcode == Opcode::Ld || instruction.opcode == Opcode::Ldu) return is_float(scalar_of(instruction.words.back()));
    if (!pure(instruction)) return false;
    for (const std::string_view word : instruction.words) {
      const Scalar type = scalar_of(word);  // the first type is what is written, but for comparisons
      if (type == Scalar::None) continue;
      if (is_float(type) && instruction.opcode != Opcode::Setp && instruction.opcode != Opcode::Isspacep) return true;
      break;
    }
    const auto& read = touched_[pc].read;
    return std::any_of(read.begin(), read.end(), [&](RegisterId reg) { return data_[reg.index()]; });
  }

  /// Registers of which every writer writes data: what is stored of them is nothing that control hangs on.
  void find_data() {
    for (const TouchedRegisters& touched : touched_) {
      for (const RegisterId reg : touched.written) data_[reg.index()] = true;
    }
    const ByRegister readers(carry_ + 1, code_.size(), [&](std::size_t pc, auto found) {
      for (const RegisterId reg : touched_[pc].read) found(reg.index());
    });
    std::vector<std::size_t> open;
    const auto look = [&](std::size_t pc) {
      if (touched_[pc].written.empty() || writes_data(pc)) return;
      for (const RegisterId reg : touched_[pc].written) {
        if (!data_[reg.index()]) continue;
        data_[reg.index()] = false;
        open.push_back(reg.index());
      }
    };
    for (std::size_t pc = 0; pc < code_.size(); ++pc) look(pc);
    while (!open.empty()) {
      const std::size_t reg = open.back();
      open.pop_back();
      for (const std::size_t pc : readers[reg]) look(pc);
    }
  }

  PtxFunction& function_;
  const std::vector<PtxInstruction>& code_;
  std::size_t carry_;  ///< the flag of add.cc and the like, behind the registers
  std::vector<TouchedRegisters> touched_;
  std::vector<bool> data_;
  std::vector<std::size_t> open_;
};

}  // namespace

void find_needed(PtxFunction& function) { NeededRegisters(function).find(); }

}  // namespace heddle::ptx
