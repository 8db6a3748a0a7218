// Which registers an instruction reads and writes.
#include <cstddef>

#include "ptx/text/module.h"

namespace heddle::ptx {

namespace {

void collect(const PtxOperand& operand, std::vector<RegisterId>& registers) {
  if (operand.reg.valid()) registers.push_back(operand.reg);
  for (const PtxOperand& part : operand.parts) collect(part, registers);
}

/// Operands before the first address: of "tcgen05.ld.red r, v, [a]" two.
std::size_t before_address(const PtxInstruction& instruction) {
  std::size_t count = 0;
  while (count < instruction.operands.size() && instruction.operands[count].kind != PtxOperand::Kind::Address) ++count;
  return count;
}

/// How many operands, from the first, are written.
std::size_t written_operands(const PtxInstruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Applypriority:
    case Opcode::Discard:
    case Opcode::Prefetch:
    case Opcode::Red:
    case Opcode::RedAsync:
    case Opcode::St:
    case Opcode::StAsync:
    case Opcode::StBulk:
    case Opcode::Stmatrix:
    case Opcode::Bra:
    case Opcode::Brkpt:
    case Opcode::Brx:
    case Opcode::Exit:
    case Opcode::Nanosleep:
    case Opcode::Pmevent:
    case Opcode::Ret:
    case Opcode::Trap:
    case Opcode::Bar:
    case Opcode::BarArrive:
    case Opcode::BarWarpSync:
    case Opcode::BarrierClusterArrive:
    case Opcode::BarrierClusterWait:
    case Opcode::Fence:
    case Opcode::Griddepcontrol:
    case Opcode::Membar:
    case Opcode::MbarrierCompleteTx:
    case Opcode::MbarrierExpectTx:
    case Opcode::MbarrierInit:
    case Opcode::MbarrierInval:
    case Opcode::Setmaxnreg:
    case Opcode::CpAsync:
    case Opcode::CpAsyncBulk:
    case Opcode::CpAsyncBulkCommit:
    case Opcode::CpAsyncBulkPrefetch:
    case Opcode::CpAsyncBulkTensor:
    case Opcode::CpAsyncBulkWait:
    case Opcode::CpAsyncCommit:
    case Opcode::CpAsyncMbarrierArrive:
    case Opcode::CpAsyncWaitAll:
    case Opcode::CpAsyncWaitGroup:
    case Opcode::CpReduceAsyncBulk:
    case Opcode::CpReduceAsyncBulkTensor:
    case Opcode::TensormapCpFence:
    case Opcode::TensormapReplace:
    case Opcode::WgmmaCommit:
    case Opcode::WgmmaFence:
    case Opcode::WgmmaWait:
    case Opcode::WmmaStore:
    case Opcode::Tcgen05Alloc:
    case Opcode::Tcgen05Commit:
    case Opcode::Tcgen05Cp:
    case Opcode::Tcgen05Dealloc:
    case Opcode::Tcgen05Fence:
    case Opcode::Tcgen05Mma:
    case Opcode::Tcgen05MmaWs:
    case Opcode::Tcgen05Relinquish:
    case Opcode::Tcgen05Shift:
    case Opcode::Tcgen05St:
    case Opcode::Tcgen05Wait:
    case Opcode::ClcTryCancel: return 0;
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop:
    case Opcode::Tcgen05Ld: return before_address(instruction);
    case Opcode::Call:  // "call (r), f, (a)"
      return instruction.operands.size() > 1 && instruction.operands[0].kind == PtxOperand::Kind::Vector ? 1 : 0;
    default: return 1;
  }
}

}  // namespace

TouchedRegisters registers_of(const PtxInstruction& instruction) {
  TouchedRegisters touched;
  const std::size_t written = written_operands(instruction);
  for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
    const PtxOperand& operand = instruction.operands[i];
    collect(operand, i < written && operand.kind != PtxOperand::Kind::Address ? touched.written : touched.read);
  }
  const bool accumulates = instruction.opcode == Opcode::WgmmaMma || instruction.opcode == Opcode::WgmmaMmaSparse;
  if (accumulates) touched.read.insert(touched.read.end(), touched.written.begin(), touched.written.end());
  return touched;
}

}  // namespace heddle::ptx
