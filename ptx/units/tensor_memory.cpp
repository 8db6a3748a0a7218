// Loads and stores are over when the warp has waited for them: until then they are of components of their own. What both fences say goes
// through a clock of its own, with what barriers hand on.
#include "ptx/units/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "ptx/judge/reference.h"
#include "ptx/run/shared_memory.h"
#include "ptx/units/lane_reader.h"
#include "ptx/units/tensor_unit.h"

namespace heddle::ptx {
namespace {

/// Cells of one tcgen05.ld or st, whose registers say how many columns there are: each of the 32 threads has a cell in each (two where
/// halves are packed).
std::vector<TensorCells> cells_of(const PtxInstruction& instruction, std::uint64_t address, int registers, std::uint64_t split) {
  const bool packed = instruction.has("pack::16b") || instruction.has("unpack::16b");
  const bool two_halves = instruction.has("16x32bx2");
  const bool all_lanes = two_halves || instruction.has("32x32b");
  const int columns = registers * (packed ? 2 : 1) * (all_lanes ? 1 : 2);
  const int sixteen = lane_of(address) / 16 % 8, column = column_of(address);
  const auto bit = [](int at) { return static_cast<std::uint8_t>(1u << (at & 7)); };
  // A split beyond all columns (512) is out of what any CTA has.
  const int second = column + static_cast<int>(std::min<std::uint64_t>(split, 512));
  if (two_halves) return {{bit(sixteen), column, columns}, {bit(sixteen + 1), second, columns}};
  if (all_lanes) return {{static_cast<std::uint8_t>(bit(sixteen) | bit(sixteen + 1)), column, columns}};
  return {{bit(sixteen), column, columns}};
}

/// Which registers of a store come from loads that nobody has waited for.
void judge_loading(ClusterRun& run, const WarpFragment& fragment, const PtxInstruction& instruction,
                   const std::vector<RegisterId>& registers) {
  const Warp& warp = run.warps[static_cast<std::size_t>(fragment.warp)];
  if (warp.in_flight_count == 0) return;
  for (const RegisterId reg : registers) {
    if (reg.index() >= warp.in_flight.size() || (warp.in_flight[reg.index()] & kLoadInFlight) == 0) continue;
    run.find(CheckRule::LoadNotWaited, fragment, instruction,
             fmt::format("{} comes from a tcgen05.ld that no tcgen05.wait::ld has waited for", register_reference(reg.index())));
    return;
  }
}

void mark_loading(ClusterRun& run, Warp& warp, WarpTensor& tensor, const std::vector<RegisterId>& registers) {
  warp.in_flight.resize(std::max(warp.in_flight.size(), run.function.registers.size()));
  for (const RegisterId reg : registers) {
    if (warp.in_flight[reg.index()] == 0) ++warp.in_flight_count;
    warp.in_flight[reg.index()] = kLoadInFlight | tensor.loads.issued;
    tensor.loading.push_back(reg);
  }
}

void loads_are_over(Warp& warp, WarpTensor& tensor) {
  for (const RegisterId reg : tensor.loading)
    if (std::uint32_t& by = warp.in_flight[reg.index()]; by != 0) {
      by = 0;
      --warp.in_flight_count;
    }
  tensor.loading.clear();
}

}  // namespace

ActionEnd tensor_alloc(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  ctas_of(run, fragment, instruction);
  if (instruction.operands.size() < 2) return ActionEnd::Go;
  const auto to = run.one_value(fragment, instruction.operands[0], lanes, instruction, "the address that tcgen05.alloc writes to");
  const auto columns = run.one_value(fragment, instruction.operands[1], lanes, instruction, "the number of columns");
  if (!to || !columns) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  TensorUnit& unit = tensor_unit(run);
  const auto cta = static_cast<std::size_t>(warp.cta);
  const Barriers::By by = run.by(fragment, instruction);
  const int wanted = static_cast<int>(std::min<std::uint64_t>(*columns, 1 << 20));
  const std::optional<int> column = unit.memories[cta].allocate(wanted, by);
  if (!column) {
    unit.waiting[cta].push_back(fragment.id);
    fragment.awaits = {WarpFragment::Awaits::What::TensorColumns, 0, false, wanted, by.pc, fragment.time};
    return ActionEnd::Again;
  }
  if (const auto range = shared_range(run, fragment, instruction, *to, 4)) {
    const auto there = static_cast<std::size_t>(cta_of(*to));
    ShadowAccess access{warp.component, warp.epoch, Proxy::Generic, by.pc, warp.index, "tcgen05.alloc"};
    access.cycle = by.cycle;
    write_shared(run, cta_of(*to), {&*range, 1}, access, warp.known);
    run.shared[there].write(range->begin, 4, static_cast<std::uint64_t>(*column));
  }
  if (RunEvent* event = run.event(EventKind::TensorAlloc, fragment, instruction)) {
    event->address = static_cast<std::uint64_t>(*column);
    event->amount = wanted;
  }
  return ActionEnd::Go;
}

ActionEnd tensor_free(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  if (instruction.operands.size() < 2) return ActionEnd::Go;
  const auto address = run.one_value(fragment, instruction.operands[0], lanes, instruction, "the address in tensor memory");
  const auto columns = run.one_value(fragment, instruction.operands[1], lanes, instruction, "the number of columns");
  if (!address || !columns) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  TensorUnit& unit = tensor_unit(run);
  const auto cta = static_cast<std::size_t>(warp.cta);
  const Barriers::By by = run.by(fragment, instruction);
  ShadowAccess access{warp.component, warp.epoch, Proxy::Generic, by.pc, warp.index, "tcgen05.dealloc"};
  access.cycle = by.cycle;
  KnownClocks known = tensor_known(run, warp);
  known.tensor = known.seen;  // no fence is asked for before the memory is given back
  unit.memories[cta].free(column_of(*address), static_cast<int>(std::min<std::uint64_t>(*columns, 1 << 20)), access, known, by);
  run.wake(unit.waiting[cta], std::max(fragment.time, run.now()));
  unit.waiting[cta].clear();
  if (RunEvent* event = run.event(EventKind::TensorFree, fragment, instruction)) {
    event->address = static_cast<std::uint64_t>(column_of(*address));
    event->amount = static_cast<std::int64_t>(*columns);
  }
  return ActionEnd::Go;
}

ActionEnd tensor_relinquish(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  tensor_unit(run).memories[static_cast<std::size_t>(run.warp_of(fragment).cta)].relinquish();
  return ActionEnd::Go;
}

ActionEnd tensor_move(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  const bool loads = instruction.opcode == Opcode::Tcgen05Ld;
  const auto& operands = instruction.operands;
  if (operands.size() < 2 || instruction.has("red")) {
    run.stop(instruction, fmt::format("{} is not known", instruction.mnemonic));
    return ActionEnd::Go;
  }
  const std::size_t address_at = loads ? 1 : 0, split_at = address_at + 1;
  const bool has_split = instruction.has("16x32bx2") && operands.size() > 2;
  const PtxOperand& values = loads ? operands[0] : operands[has_split ? 2 : 1];
  const auto address = run.one_value(fragment, operands[address_at], lanes, instruction, "the address in tensor memory");
  if (!address) return ActionEnd::Go;
  Warp& warp = run.warp_of(fragment);
  WarpTensor& tensor = tensor_of(run, warp);
  TensorShadow& memory = tensor_unit(run).memories[static_cast<std::size_t>(warp.cta)];
  const Barriers::By by = run.by(fragment, instruction);
  memory.check_lanes(lane_of(*address), warp.in_cta, by);
  const int count = values.kind == PtxOperand::Kind::Vector ? static_cast<int>(values.parts.size()) : 1;
  const auto cells = cells_of(instruction, *address, count, has_split ? operands[split_at].immediate : 0);
  std::vector<RegisterId> registers;
  registers_in(values, registers);
  TensorMoves& moves = loads ? tensor.loads : tensor.stores;
  ShadowAccess access{moves.component, ++moves.issued, Proxy::Generic, by.pc, warp.index, loads ? "tcgen05.ld" : "tcgen05.st"};
  access.cycle = by.cycle;
  if (loads) {
    memory.read(cells, access, tensor_known(run, warp), by);
    forget_results(run, fragment, instruction, values, lanes);
    mark_loading(run, warp, tensor, registers);
  } else {
    judge_loading(run, fragment, instruction, registers);
    memory.write(cells, access, tensor_known(run, warp), by);
  }
  const Time begin = std::max(fragment.time, moves.end - 30 * kCycle);  // one after the other, 30 cycles on their way
  moves.end = begin + (30 + count) * kCycle;
  fragment.time = begin + count * kCycle;
  if (RunEvent* event = run.event(loads ? EventKind::TensorLoad : EventKind::TensorStore, fragment, instruction)) {
    event->begin = begin;
    event->end = moves.end;
    event->address = *address;
    event->amount = count;
  }
  return ActionEnd::Go;
}

ActionEnd tensor_wait(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask lanes) {
  converged(run, fragment, instruction, lanes);
  Warp& warp = run.warp_of(fragment);
  WarpTensor& tensor = tensor_of(run, warp);
  const bool loads = instruction.has("wait::ld");
  TensorMoves& moves = loads ? tensor.loads : tensor.stores;
  RunEvent* event = run.event(EventKind::TensorWait, fragment, instruction);
  fragment.time = std::max(fragment.time, moves.end);
  if (event != nullptr) event->end = fragment.time;
  moves.over = moves.issued;
  warp.known.seen.raise(moves.component, moves.over);
  if (loads) loads_are_over(warp, tensor);
  return ActionEnd::Go;
}

void unit_load_used(ClusterRun& run, Warp& warp, Epoch load) {
  TensorMoves& moves = tensor_of(run, warp).loads;
  moves.over = std::max(moves.over, load);
  warp.known.seen.raise(moves.component, moves.over);
}

ActionEnd tensor_fence(ClusterRun& run, WarpFragment& fragment, const PtxInstruction& instruction, LaneMask) {
  Warp& warp = run.warp_of(fragment);
  WarpTensor& tensor = tensor_of(run, warp);
  // Both order tensor memory across relaxed arrivals and waits, too: the ISA's own patterns are made of those.
  if (instruction.has("fence::before_thread_sync")) {
    warp.known.tensor.raise(tensor.loads.component, tensor.loads.over);
    warp.known.tensor.raise(tensor.stores.component, tensor.stores.over);
    warp.fenced.tensor.join(warp.known.tensor);
  } else {
    tensor.fenced = warp.known.tensor;
    warp.known.seen.join(warp.known.tensor);
  }
  return ActionEnd::Go;
}

void judge_tensor_memory_at_end(ClusterRun& run) {
  if (run.tensor_memory == nullptr) return;
  for (TensorShadow& memory : tensor_unit(run).memories) memory.check_end();
}

}  // namespace heddle::ptx
