// Decodes the instructions of a function for one run, once.
#include <algorithm>

#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

void register_list(const PtxOperand& operand, std::vector<RegisterId>& into) {
  if (operand.kind == PtxOperand::Kind::Register) into.push_back(operand.reg);
  for (const PtxOperand& part : operand.parts) register_list(part, into);
}

bool reads_clock(const PtxOperand& operand) {
  if (operand.kind != PtxOperand::Kind::Special) return false;
  return operand.special == Special::Clock || operand.special == Special::Clock64 || operand.special == Special::Globaltimer;
}

bool is_move(const PtxInstruction& instruction) { return instruction.opcode == Opcode::Mov; }

/// Instructions whose doing others may see: after one of these a wait that failed is tried afresh.
bool has_effect(Opcode opcode) {
  switch (opcode) {
    case Opcode::MbarrierTestWait:
    case Opcode::MbarrierTryWait:
    case Opcode::Nanosleep:
    case Opcode::Bra:
    case Opcode::Brx:
    case Opcode::Ld:
    case Opcode::Ldu:
    case Opcode::Prefetch:
    case Opcode::Pmevent:
    case Opcode::BarWarpSync:
    case Opcode::Fence:
    case Opcode::Membar: return false;
    default: return true;
  }
}

/// What all lanes of a warp have to execute together.
bool wants_all_lanes(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Setmaxnreg: return true;
    case Opcode::Bar:
    case Opcode::BarArrive:
    case Opcode::BarRed: return instruction.words.front() == "bar" || instruction.has("aligned");
    case Opcode::BarrierClusterArrive:
    case Opcode::BarrierClusterWait: return instruction.has("aligned");
    default: return false;
  }
}

}  // namespace

int DecodedText::constant(std::uint64_t value) {
  const auto [found, made] = constant_at_.try_emplace(value, static_cast<int>(constants.size()));
  if (made) constants.push_back(LaneValues::all(value));
  return ~found->second;
}

int DecodedText::slot_of(const PtxOperand& operand, DecodedInstruction& decoded) {
  switch (operand.kind) {
    case PtxOperand::Kind::Register: {
      const int slot = register_slot(operand.reg);
      return slot >= 0 ? slot : ~0;  // constant 0 is the unknown one
    }
    case PtxOperand::Kind::Immediate: return constant(operand.immediate);
    case PtxOperand::Kind::Parameter:
      if (operand.index >= 0 && static_cast<std::size_t>(operand.index) < run.function.parameters.size())
        return constant(kParameterWindow + run.function.parameters[static_cast<std::size_t>(operand.index)].at +
                        static_cast<std::uint64_t>(operand.offset));
      return ~0;
    case PtxOperand::Kind::Special:
    case PtxOperand::Kind::Variable: {
      if (reads_clock(operand)) decoded.clock = true;
      const int variable = operand.kind == PtxOperand::Kind::Variable ? operand.index : -1;
      for (const MachineSlot& known : machine_slots)
        if (known.special == operand.special && known.variable == variable && known.offset == operand.offset) return known.slot;
      machine_slots.push_back({operand.special, variable, operand.offset, slot_count++});
      return machine_slots.back().slot;
    }
    default: return ~0;
  }
}

namespace {

bool simple(const PtxOperand& operand) {
  switch (operand.kind) {
    case PtxOperand::Kind::Register:
    case PtxOperand::Kind::Immediate:
    case PtxOperand::Kind::Special:
    case PtxOperand::Kind::Variable:
    case PtxOperand::Kind::Parameter: return true;
    default: return false;
  }
}

int register_bits(const DecodedText& inside, RegisterId reg) {
  const Scalar type = inside.run.function.registers[reg.index()].type;
  return type == Scalar::Pred ? 1 : std::max(1, bits_of(type));
}

/// Destinations and sources of an instruction that works on lanes; false where they do not have that form.
bool decode_operands(DecodedText& inside, const PtxInstruction& instruction, DecodedInstruction& decoded) {
  if (instruction.operands.empty()) return false;
  const PtxOperand* destination = &instruction.operands[0];
  const PtxOperand* second = nullptr;
  if (destination->kind == PtxOperand::Kind::Pair && destination->parts.size() == 2) {
    second = &destination->parts[1];
    destination = &destination->parts[0];
  }
  if (destination->kind == PtxOperand::Kind::Register) {
    decoded.destination = inside.register_slot(destination->reg);
    decoded.result_bits = static_cast<std::int8_t>(std::min(64, register_bits(inside, destination->reg)));
  } else if (destination->kind != PtxOperand::Kind::Sink) {
    return false;
  }
  if (instruction.operands.size() - 1 > decoded.sources.size()) return false;
  decoded.count = static_cast<std::uint8_t>(instruction.operands.size() - 1);
  for (std::size_t i = 1; i < instruction.operands.size(); ++i) {
    const PtxOperand& operand = instruction.operands[i];
    if (!simple(operand)) return false;
    decoded.sources[i - 1] = inside.slot_of(operand, decoded);
  }
  if (decoded.count > 0) decoded.join_negated = instruction.operands.back().negated;
  if (second != nullptr && second->kind == PtxOperand::Kind::Register) {
    const int slot = inside.register_slot(second->reg);
    if (slot >= 0) {
      DecodedInstruction twin = decoded;
      twin.destination = slot;
      twin.result_bits = static_cast<std::int8_t>(std::min(64, register_bits(inside, second->reg)));
      decoded.twin = static_cast<int>(inside.twins.size());
      inside.twins.push_back(twin);
    }
  }
  return true;
}

/// mov between registers and vectors, and other forms that read operands as they stand, are actions.
bool decode_lanes(DecodedText& inside, const PtxInstruction& instruction, DecodedInstruction& decoded) {
  DecodedInstruction lanes = decoded;
  if (!decode_operands(inside, instruction, lanes)) return false;
  if (!decode_integers(instruction, lanes) && !decode_floats(instruction, lanes)) return false;
  lanes.kind = DecodedInstruction::Kind::Lanes;
  if (instruction.opcode == Opcode::Addc || instruction.opcode == Opcode::Subc || instruction.opcode == Opcode::Madc ||
      instruction.has("cc"))
    return false;
  if (lanes.twin >= 0) {
    DecodedInstruction& twin = inside.twins[static_cast<std::size_t>(lanes.twin)];
    const int slot = twin.destination;
    const std::int8_t bits = twin.result_bits;
    twin = lanes;
    twin.twin = -1;
    twin.destination = slot;
    twin.result_bits = bits;
    twin.second = true;
  }
  decoded = lanes;
  return true;
}

void decode_kind(DecodedText& inside, const PtxInstruction& instruction, DecodedInstruction& decoded) {
  using Kind = DecodedInstruction::Kind;
  if (!instruction.fault.empty()) return;
  switch (instruction.opcode) {
    case Opcode::Unknown: return;
    case Opcode::Bra: decoded.kind = instruction.targets.empty() ? Kind::Refused : Kind::Branch; return;
    case Opcode::Brx: {
      if (instruction.targets.empty() || instruction.operands.empty()) return;
      decoded.kind = Kind::Table;
      decoded.sources[0] = inside.slot_of(instruction.operands[0], decoded);
      return;
    }
    case Opcode::Exit:
    case Opcode::Ret:
    case Opcode::Trap: decoded.kind = Kind::Exit; return;
    default: break;
  }
  decoded.action = run_action(instruction);
  if (decoded.action == nullptr) {
    decoded.action = unit_action(instruction);
    decoded.of_unit = decoded.action != nullptr;
  }
  if (decoded.action != nullptr) {
    decoded.kind = Kind::Act;
    decoded.effect = has_effect(instruction.opcode) && !(instruction.row != nullptr && instruction.row->pure);
    decoded.converged = wants_all_lanes(instruction);
    return;
  }
  if (decode_lanes(inside, instruction, decoded)) return;
  decoded.action = move_action(instruction);
  if (decoded.action != nullptr) decoded.kind = Kind::Act;
}

/// Lanes wait for each other there, needed or not what it gives them.
bool lanes_meet(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Shfl:
    case Opcode::Vote:
    case Opcode::Match:
    case Opcode::Redux: return instruction.has("sync");
    default: return false;
  }
}

bool is_unneeded(const DecodedText& inside, int pc) {
  const PtxInstruction& instruction = inside.run.function.code[static_cast<std::size_t>(pc)];
  if (lanes_meet(instruction)) return false;
  if (instruction.row == nullptr || !instruction.row->pure || !instruction.fault.empty()) return false;
  return std::ranges::none_of(inside.touched[static_cast<std::size_t>(pc)].written,
                              [&](RegisterId reg) { return inside.register_slot(reg) >= 0; });
}

void find_runs(DecodedText& inside) {
  const PtxFunction& function = inside.run.function;
  const int size = static_cast<int>(function.code.size());
  inside.run_at.assign(function.code.size(), -1);
  std::vector<bool> leads(function.code.size() + 1, false);
  for (const int leader : function.leaders)
    if (leader >= 0 && leader <= size) leads[static_cast<std::size_t>(leader)] = true;
  for (int pc = 0; pc < size;) {
    if (!is_unneeded(inside, pc)) {
      ++pc;
      continue;
    }
    UnneededRun unneeded;
    unneeded.begin = pc;
    for (; pc < size && (pc == unneeded.begin || !leads[static_cast<std::size_t>(pc)]) && is_unneeded(inside, pc); ++pc) {
      const DecodedInstruction& decoded = inside.code[static_cast<std::size_t>(pc)];
      if (decoded.cost == 0) continue;
      if (!unneeded.charges.empty() && unneeded.charges.back().pipe == decoded.pipe) {
        unneeded.charges.back().cost += decoded.cost;
        ++unneeded.charges.back().count;
      } else {
        unneeded.charges.push_back({decoded.pipe, decoded.cost, decoded.cost, 1});
      }
    }
    unneeded.end = pc;
    inside.run_at[static_cast<std::size_t>(unneeded.begin)] = static_cast<int>(inside.runs.size());
    inside.runs.push_back(std::move(unneeded));
  }
}

bool is_group_product(const PtxInstruction& instruction) {
  return instruction.opcode == Opcode::WgmmaMma || instruction.opcode == Opcode::WgmmaMmaSparse;
}

/// Which instructions touch accumulators or operand A of a product, needed or not (an address may hang on a sign of theirs).
void note_product_registers(DecodedText& inside) {
  const PtxFunction& function = inside.run.function;
  std::vector<bool> of_products(function.registers.size(), false);
  for (const PtxInstruction& instruction : function.code) {
    if (!is_group_product(instruction)) continue;
    for (const PtxOperand& operand : instruction.operands)
      for (const PtxOperand& part : operand.parts)
        if (part.kind == PtxOperand::Kind::Register) of_products[part.reg.index()] = true;
  }
  const auto of_product = [&](RegisterId reg) { return of_products[reg.index()]; };
  for (std::size_t pc = 0; pc < function.code.size(); ++pc)
    inside.code[pc].touches =
        !is_move(function.code[pc]) && !is_group_product(function.code[pc]) &&
        (std::ranges::any_of(inside.touched[pc].read, of_product) || std::ranges::any_of(inside.touched[pc].written, of_product));
}

}  // namespace

void DecodedText::decode() {
  const PtxFunction& function = run.function;
  slots.assign(function.registers.size(), -1);
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (i < function.needed.size() && function.needed[i]) slots[i] = slot_count++;
  carry_slot = slot_count++;
  constants.push_back(LaneValues::unknown_value(-1, ~0ull));
  const std::int64_t percent = run.costs.arithmetic_percent;
  code.resize(function.code.size());
  touched.resize(function.code.size());
  for (std::size_t pc = 0; pc < function.code.size(); ++pc) {
    const PtxInstruction& instruction = function.code[pc];
    DecodedInstruction& decoded = code[pc];
    touched[pc] = registers_of(instruction);
    has_products |= instruction.opcode == Opcode::WgmmaMma || instruction.opcode == Opcode::WgmmaMmaSparse;
    const PipeUse use = pipe_use(instruction);
    decoded.pipe = use.pipe;
    decoded.cost = use.time * percent / 100;
    decode_kind(*this, instruction, decoded);
    if (instruction.guard.valid()) {
      decoded.guard = register_slot(instruction.guard);
      if (decoded.guard < 0) decoded.guard = ~0;  // the unknown constant; -1 is no guard
      decoded.negated = instruction.guard_negated;
    }
  }
  note_product_registers(*this);
  find_runs(*this);
}

namespace {

void add_touched(const DecodedText& inside, int pc, std::vector<RegisterId>& into) {
  if (is_move(inside.run.function.code[static_cast<std::size_t>(pc)])) return;
  const TouchedRegisters& touched = inside.touched[static_cast<std::size_t>(pc)];
  into.insert(into.end(), touched.read.begin(), touched.read.end());
  into.insert(into.end(), touched.written.begin(), touched.written.end());
}

}  // namespace

int ClusterRun::touched_since_fence(const WarpFragment& fragment, const PtxInstruction& product, const std::vector<RegisterId>& registers) {
  const Warp& warp = warps[static_cast<std::size_t>(fragment.warp)];
  for (const int begin : warp.touched_since) {
    const std::uint64_t key = static_cast<std::uint64_t>(pc_of(product)) << 32 | static_cast<std::uint32_t>(begin);
    const auto [found, made] = inside_->touch_cache.try_emplace(key, -1);
    if (made) {
      const int run = inside_->run_at[static_cast<std::size_t>(begin)];
      const int end = run >= 0 ? inside_->runs[static_cast<std::size_t>(run)].end : begin + 1;
      std::vector<bool> wanted(function.registers.size(), false);
      for (const RegisterId reg : registers) wanted[reg.index()] = true;
      for (int pc = begin; pc < end && found->second < 0; ++pc) {
        std::vector<RegisterId> touched;
        add_touched(*inside_, pc, touched);
        if (std::ranges::any_of(touched, [&](RegisterId reg) { return wanted[reg.index()]; })) found->second = pc;
      }
    }
    if (found->second >= 0) return found->second;
  }
  return -1;
}

void ClusterRun::fence_registers(const WarpFragment& fragment) {
  warp_of(fragment).touched_since.clear();
  ++inside_->fences[static_cast<std::size_t>(fragment.warp)];
}

}  // namespace heddle::ptx
