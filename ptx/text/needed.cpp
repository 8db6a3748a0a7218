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

  /// Whether what it writes is floats, whatever it reads.
  bool makes_floats(const PtxInstruction& instruction) const {
    if (vectors_are_data(instruction.opcode)) return true;
    if (instruction.opcode == Opcode::Ld || instruction.opcode == Opcode::Ldu) return is_float(scalar_of(instruction.words.back()));
    if (!pure(instruction) || instruction.opcode == Opcode::Setp || instruction.opcode == Opcode::Testp) return false;
    for (const std::string_view word : instruction.words) {
      const Scalar type = scalar_of(word);  // the first one is what is written
      if (type != Scalar::None) return is_float(type);
    }
    return false;
  }

  /// Moves numbers of the text only: with what else a register gets, a first value that says nothing about it.
  bool moves_constants(std::size_t pc) const {
    const PtxInstruction& instruction = code_[pc];
    const auto known = [](const PtxOperand& operand) { return operand.kind == PtxOperand::Kind::Immediate; };
    return instruction.opcode == Opcode::Mov && instruction.operands.size() == 2 && touched_[pc].read.empty() &&
           (known(instruction.operands[1]) ||
            std::all_of(instruction.operands[1].parts.begin(), instruction.operands[1].parts.end(), known)) &&
           instruction.operands[1].kind != PtxOperand::Kind::Special && instruction.operands[1].index < 0;
  }

  /// Goes from register to register by `writes(pc)`: what an instruction writes is marked, and who reads it is asked again.
  template <class Writes>
  void spread(const ByRegister& readers, std::vector<bool>& marks, Writes writes) const {
    std::vector<std::size_t> open;
    const auto look = [&](std::size_t pc) {
      if (touched_[pc].written.empty() || !writes(pc)) return;
      for (const RegisterId reg : touched_[pc].written) {
        if (marks[reg.index()]) continue;
        marks[reg.index()] = true;
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

  /// Registers that get floats, or what is made of them, and never an integer: what is stored of them is nothing that control hangs on.
  void find_data() {
    const ByRegister readers(carry_ + 1, code_.size(), [&](std::size_t pc, auto found) {
      for (const RegisterId reg : touched_[pc].read) found(reg.index());
    });
    std::vector<bool> floats(carry_ + 1, false), integers(carry_ + 1, false);
    const auto reads = [&](std::size_t pc, auto which) {
      const auto& read = touched_[pc].read;
      return std::any_of(read.begin(), read.end(), [&](RegisterId reg) { return which(reg.index()); });
    };
    spread(readers, floats, [&](std::size_t pc) {
      return makes_floats(code_[pc]) || (pure(code_[pc]) && reads(pc, [&](std::size_t reg) { return floats[reg]; }));
    });
    spread(readers, integers, [&](std::size_t pc) {
      if (makes_floats(code_[pc]) || moves_constants(pc)) return false;
      if (!pure(code_[pc])) return true;
      if (reads(pc, [&](std::size_t reg) { return floats[reg] && !integers[reg]; })) return false;
      return code_[pc].opcode != Opcode::Mov || touched_[pc].read.empty() || reads(pc, [&](std::size_t reg) { return integers[reg]; });
    });
    for (std::size_t reg = 0; reg < carry_; ++reg) data_[reg] = floats[reg] && !integers[reg];
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
