#include "ptx/run/costs.h"

#include <algorithm>
#include <optional>

namespace heddle::ptx {
namespace {

constexpr Time kThousand = 1000;  // a cycle

/// A rule's formula; nothing where the rule or one of its names is not there.
std::optional<std::int64_t> evaluate(const Expr& formula, const Scope& scope) {
  const Result<std::int64_t> value = formula.evaluate(scope);
  return value ? std::optional(*value) : std::nullopt;
}

const Expr* use_of(const heddle::Machine& machine, const CostRule& rule, UnitRole role) {
  for (const UnitCost& use : rule.uses) {
    const Unit* unit = machine.find_unit(use.unit);
    if (unit != nullptr && unit->role == role) return &use.duration;
  }
  return nullptr;
}

void copies_of(const heddle::Machine& machine, Costs& costs) {
  const CostRule* rule = machine.find_rule("tma_load");
  if (rule == nullptr) return;
  if (const auto latency = evaluate(rule->latency, {{"bytes", 0}})) costs.copy_latency = *latency * kThousand;
  if (const auto window = evaluate(rule->window, {{"bytes", 0}})) costs.copy_issue = *window * kThousand;
  constexpr std::int64_t kMany = 1 << 20;  // the rate, whatever one copy takes at least
  const Expr* engine = use_of(machine, *rule, UnitRole::Copy);
  if (engine == nullptr) return;
  if (const auto duration = evaluate(*engine, {{"bytes", kMany}}); duration && *duration > 0)
    costs.copy_bytes_per_cycle = std::max<std::int64_t>(1, kMany / *duration);
}

/// From the end of a product on the tensor cores until who waits for it goes on.
void drain_of(const heddle::Machine& machine, Costs& costs) {
  const CostRule* rule = machine.find_rule("mma.ss");
  if (rule == nullptr) return;
  const Scope scope{{"M", 128}, {"N", 128}, {"K", 16}, {"bits", 16}};
  const Expr* tensor = use_of(machine, *rule, UnitRole::Tensor);
  if (tensor == nullptr) return;
  const auto latency = evaluate(rule->latency, scope), busy = evaluate(*tensor, scope);
  if (latency && busy) costs.product_drain = std::max<std::int64_t>(0, *latency - *busy) * kThousand;
}

/// Whether 64 bits are moved or computed: two passes of a pipe of 32 bits.
bool is_wide(const PtxInstruction& instruction) { return !instruction.words.empty() && bits_of(scalar_of(instruction.words.back())) == 64; }

bool computes_floats(const PtxInstruction& instruction) {
  return !instruction.words.empty() && is_float(scalar_of(instruction.words.back()));
}

/// Bytes of one lane's access: its type times the width of its vector.
std::int64_t lane_bytes(const PtxInstruction& instruction) {
  std::int64_t bits = instruction.words.empty() ? 32 : std::max(bits_of(scalar_of(instruction.words.back())), 8);
  for (const std::string_view word : instruction.words)
    if (word.size() == 2 && word[0] == 'v' && word[1] >= '2' && word[1] <= '8') bits *= word[1] - '0';
  return bits / 8;
}

PipeUse floats(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Max:
    case Opcode::Min:
    case Opcode::Copysign:
    case Opcode::Testp: return {ThreadPipe::Alu, 2 * kThousand};
    default: return {ThreadPipe::Fma, instruction.words.back() == "f32x2" || is_wide(instruction) ? 2 * kThousand : kThousand};
  }
}

}  // namespace

Costs costs_of(const heddle::Machine* machine) {
  Costs costs;
  if (machine == nullptr) return costs;
  costs.known = true;
  costs.machine = machine;
  costs.arithmetic_percent = machine->streams.arithmetic_percent;
  costs.wait = machine->streams.wait * kThousand;
  costs.arrive = machine->streams.arrive * kThousand;
  if (machine->streams.turn > 0) costs.turn = machine->streams.turn * kThousand;
  copies_of(*machine, costs);
  drain_of(*machine, costs);
  costs.registers_per_cta = machine->limits.registers_per_sm;
  if (machine->limits.smem_bytes > 0) costs.shared_bytes = static_cast<std::uint64_t>(machine->limits.smem_bytes);
  if (machine->limits.tmem_columns > 0) costs.tensor_columns = machine->limits.tmem_columns;
  costs.sm_count = static_cast<int>(machine->sm_count);
  return costs;
}

Time product_time(const Costs& costs, const PtxProductSize& size) {
  if (costs.machine != nullptr) {
    const CostRule* rule =
        costs.machine->find_rule(size.a_near ? (costs.machine->limits.tmem_columns > 0 ? "mma.ts" : "mma.rs") : "mma.ss");
    const Expr* tensor = rule == nullptr ? nullptr : use_of(*costs.machine, *rule, UnitRole::Tensor);
    if (tensor != nullptr)
      if (const auto cycles = evaluate(*tensor, {{"M", size.m}, {"N", size.n}, {"K", size.k}, {"bits", size.bits}}))
        return *cycles * kThousand;
  }
  // Without a machine: four tensor cores that do 64 x 2 x 256 bits in a cycle.
  return std::max<Time>(1, static_cast<Time>(size.m + 63) / 64 * (static_cast<Time>(size.k) * size.bits + 255) / 256 * size.n / 2) *
         kThousand;
}

PipeUse pipe_use(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Unknown:
    case Opcode::Mov:
    case Opcode::Cvta:
    case Opcode::Createpolicy: return {};
    case Opcode::Ex2:
    case Opcode::Lg2:
    case Opcode::Rcp:
    case Opcode::Rsqrt:
    case Opcode::Sqrt:
    case Opcode::Tanh:
    case Opcode::Sin:
    case Opcode::Cos: return {ThreadPipe::Special, 8 * kThousand};
    case Opcode::Div:
      return computes_floats(instruction) ? PipeUse{ThreadPipe::Special, 8 * kThousand} : PipeUse{ThreadPipe::Alu, 20 * kThousand};
    case Opcode::Rem: return {ThreadPipe::Alu, 20 * kThousand};
    case Opcode::Mul:
    case Opcode::Mad:
    case Opcode::Mul24:
    case Opcode::Mad24:
    case Opcode::Madc:
      if (!computes_floats(instruction)) return {ThreadPipe::Fma, 2 * kThousand};
      return floats(instruction);
    case Opcode::Mma:
    case Opcode::MmaSparse:
    case Opcode::WmmaMma:
    case Opcode::Dp2a:
    case Opcode::Dp4a:
    case Opcode::Sad: return {ThreadPipe::Fma, 8 * kThousand};
    case Opcode::Cvt:
    case Opcode::Popc:
    case Opcode::Clz:
    case Opcode::Brev:
    case Opcode::Bfind: return {ThreadPipe::Alu, 2 * kThousand};
    case Opcode::Fns: return {ThreadPipe::Alu, 10 * kThousand};
    case Opcode::Shfl:
    case Opcode::Movmatrix: return {ThreadPipe::LoadStore, 2 * kThousand};
    case Opcode::Ldmatrix:
    case Opcode::Stmatrix: return {ThreadPipe::LoadStore, 4 * kThousand * (instruction.has("x4") ? 4 : instruction.has("x2") ? 2 : 1)};
    case Opcode::WmmaLoad:
    case Opcode::WmmaStore: return {ThreadPipe::LoadStore, 16 * kThousand};
    case Opcode::Ld:
    case Opcode::Ldu:
      if (instruction.has("param")) return {};
      return {ThreadPipe::LoadStore, 4 * kThousand};
    case Opcode::St: return {ThreadPipe::LoadStore, 4 * kThousand * std::max<Time>(1, lane_bytes(instruction) / 4)};
    case Opcode::Atom:
    case Opcode::Red:
    case Opcode::CpAsync: return {ThreadPipe::LoadStore, 4 * kThousand};
    case Opcode::Add:
    case Opcode::Sub:
    case Opcode::Fma:
    case Opcode::Max:
    case Opcode::Min:
    case Opcode::Neg:
    case Opcode::Abs:
    case Opcode::Copysign:
    case Opcode::Testp:
      if (computes_floats(instruction)) return floats(instruction);
      return {ThreadPipe::Alu, is_wide(instruction) ? 2 * kThousand : kThousand};
    default: break;
  }
  if (instruction.row != nullptr && instruction.row->pure) return {ThreadPipe::Alu, is_wide(instruction) ? 2 * kThousand : kThousand};
  if (instruction.opcode <= Opcode::Vote || (instruction.opcode >= Opcode::Bra && instruction.opcode <= Opcode::Ret))
    return {ThreadPipe::Alu, kThousand};
  return {};
}

}  // namespace heddle::ptx
