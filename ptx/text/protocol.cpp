#include "ptx/text/protocol.h"

#include <set>
#include <vector>

namespace heddle::ptx {

const char* part_in_protocol(Opcode opcode) {
  switch (opcode) {
    case Opcode::MbarrierTryWait:
    case Opcode::MbarrierTestWait:
    case Opcode::CpAsyncBulkWait:
    case Opcode::CpAsyncWaitAll:
    case Opcode::CpAsyncWaitGroup:
    case Opcode::WgmmaWait:
    case Opcode::Tcgen05Wait:
    case Opcode::BarrierClusterWait: return "wait";
    case Opcode::Bar:
    case Opcode::BarRed: return "barrier";
    case Opcode::BarArrive:
    case Opcode::MbarrierArrive:
    case Opcode::MbarrierArriveDrop:
    case Opcode::MbarrierExpectTx:
    case Opcode::MbarrierCompleteTx:
    case Opcode::CpAsyncMbarrierArrive:
    case Opcode::Tcgen05Commit:
    case Opcode::BarrierClusterArrive: return "arrive";
    case Opcode::CpAsync:
    case Opcode::CpAsyncBulk:
    case Opcode::CpAsyncBulkTensor:
    case Opcode::CpReduceAsyncBulk:
    case Opcode::CpReduceAsyncBulkTensor:
    case Opcode::StAsync:
    case Opcode::RedAsync:
    case Opcode::Tcgen05Cp: return "copy";
    case Opcode::Mma:
    case Opcode::WgmmaMma:
    case Opcode::Tcgen05Mma:
    case Opcode::Tcgen05MmaWs:
    case Opcode::WmmaMma: return "product";
    default: return "";
  }
}

bool guards_something(const PtxFunction& function, int branch) {
  if (*part_in_protocol(function.code[static_cast<std::size_t>(branch)].opcode) != '\0') return true;
  const int end = function.code[static_cast<std::size_t>(branch)].meet;
  std::set<int> seen;
  std::vector<int> open = function.code[static_cast<std::size_t>(branch)].targets;
  open.push_back(branch + 1);
  while (!open.empty()) {
    const int pc = open.back();
    open.pop_back();
    if (pc == end || pc < 0 || pc >= static_cast<int>(function.code.size()) || !seen.insert(pc).second) continue;
    const PtxInstruction& at = function.code[static_cast<std::size_t>(pc)];
    if (*part_in_protocol(at.opcode) != '\0') return true;
    open.insert(open.end(), at.targets.begin(), at.targets.end());
    const bool leaves = at.opcode == Opcode::Bra || at.opcode == Opcode::Brx || at.opcode == Opcode::Ret || at.opcode == Opcode::Exit;
    if (!leaves || at.guard.valid()) open.push_back(pc + 1);
  }
  return false;
}

}  // namespace heddle::ptx
