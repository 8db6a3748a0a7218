// The low 9 bits name the operation, three more the form of its operands. Names as nvdisasm writes them.
#include "codegen/machine_code/opcode.h"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace heddle::codegen {
namespace {

struct Operation {
  int code;  ///< low 9 bits
  OpClass what;
};
constexpr std::array kOperations = std::to_array<Operation>({
    {0x1f0, OpClass::Product},        // HGMMA
    {0x1f3, OpClass::Product},        // QGMMA
    {0x009, OpClass::Float},          // FMNMX
    {0x00b, OpClass::Float},          // FSETP
    {0x008, OpClass::Float},          // FSEL
    {0x020, OpClass::Float},          // FMUL
    {0x021, OpClass::Float},          // FADD
    {0x023, OpClass::Float},          // FFMA
    {0x030, OpClass::Float},          // HADD2
    {0x03b, OpClass::SharedMemory},   // LDSM
    {0x03e, OpClass::Convert},        // F2FP
    {0x105, OpClass::Convert},        // F2I
    {0x106, OpClass::Convert},        // I2F
    {0x108, OpClass::Special},        // MUFU
    {0x189, OpClass::Shuffle},        // SHFL
    {0x184, OpClass::SharedMemory},   // LDS
    {0x188, OpClass::SharedMemory},   // STS
    {0x044, OpClass::SharedMemory},   // STSM
    {0x181, OpClass::GlobalMemory},   // LDG
    {0x183, OpClass::LocalMemory},    // LDL
    {0x187, OpClass::LocalMemory},    // STL
    {0x1b4, OpClass::BulkCopy},       // UTMALDG
    {0x1b5, OpClass::BulkCopy},       // UTMASTG
    {0x1b6, OpClass::BulkCopy},       // UTMAREDG
    {0x1b7, OpClass::BulkCopy},       // UTMACMDFLUSH
    {0x1b9, OpClass::BulkCopy},       // UTMACCTL
    {0x1a7, OpClass::BarrierArrive},  // SYNCS; try_wait by its key below
    {0x1b2, OpClass::BarrierArrive},  // SYNCS.EXCH: initialisation
    {0x11d, OpClass::NamedBarrier},   // BAR
    {0x087, OpClass::Uniform},        // USEL
    {0x08c, OpClass::Uniform},        // UISETP
    {0x090, OpClass::Uniform},        // UIADD3
    {0x091, OpClass::Uniform},        // ULEA
    {0x092, OpClass::Uniform},        // ULOP3
    {0x099, OpClass::Uniform},        // USHF
    {0x0a4, OpClass::Uniform},        // UIMAD
    {0x0a5, OpClass::Uniform},        // UIMAD.WIDE
    {0x082, OpClass::Uniform},        // UMOV
    {0x0b9, OpClass::Uniform},        // ULDC
    {0x1c3, OpClass::Uniform},        // S2UR
    {0x0ca, OpClass::Uniform},        // R2UR
    {0x007, OpClass::Move},           // SEL
    {0x002, OpClass::Move},           // MOV
    {0x016, OpClass::Move},           // PRMT
    {0x005, OpClass::Move},           // CS2R
    {0x119, OpClass::Move},           // S2R
    {0x182, OpClass::Move},           // LDC
    {0x035, OpClass::Move},           // HFMA2 with a constant
    {0x00c, OpClass::Integer},        // ISETP
    {0x036, OpClass::Integer},        // VIADD
    {0x046, OpClass::Integer},        // VIADDMNMX
    {0x086, OpClass::Uniform},        // VOTEU
    {0x146, OpClass::Branch},         // YIELD
    {0x010, OpClass::Integer},        // IADD3
    {0x011, OpClass::Integer},        // LEA
    {0x012, OpClass::Integer},        // LOP3
    {0x019, OpClass::Integer},        // SHF
    {0x01c, OpClass::Integer},        // PLOP3
    {0x024, OpClass::Integer},        // IMAD
    {0x025, OpClass::Integer},        // IMAD.WIDE
    {0x027, OpClass::Integer},        // IMAD.HI
    {0x013, OpClass::Integer},        // IABS
    {0x048, OpClass::Integer},        // VIMNMX
    {0x02f, OpClass::Integer},        // ELECT
    {0x145, OpClass::Branch},         // BSSY
    {0x141, OpClass::Branch},         // BSYNC
    {0x147, OpClass::Branch},         // BRA
    {0x148, OpClass::Branch},         // WARPSYNC
    {0x14d, OpClass::Branch},         // EXIT
    {0x1c6, OpClass::CtaFence},       // FENCE.VIEW.ASYNC
    {0x1ab, OpClass::GpuFence},       // ERRBAR, CGAERRBAR
    {0x18f, OpClass::GpuFence},       // CCTL
    // Blackwell's own, found by compiling single PTX instructions for sm_100a with CUDA 13.0.
    {0x1ea, OpClass::TensorProduct},  // UTCHMMA, UTCQMMA
    {0x1e9, OpClass::TensorSignal},   // UTCBAR
    {0x1ee, OpClass::TensorLoad},     // LDTM
    {0x1ed, OpClass::TensorStore},    // STTM
    {0x049, OpClass::Float},          // FFMA2
    {0x04a, OpClass::Float},          // FMUL2
    {0x04b, OpClass::Float},          // FADD2
    {0x076, OpClass::Float},          // FMNMX3
    {0x00f, OpClass::Integer},        // VIMNMX3
    {0x031, OpClass::Move},           // HFMA2 with a constant
    {0x1ac, OpClass::Uniform},        // LDCU
    {0x0bd, OpClass::Uniform},        // UFLO
    {0x1c4, OpClass::Uniform},        // REDUX
});

constexpr int kProductControl = 0x1c5, kMemoryBarrier = 0x192, kTryWait = 0x5a7, kViewFence = 0x1c6;

constexpr std::array<const char*, kOpClasses> kNames{"wgmma",
                                                     "wgmma fence",
                                                     "wgmma wait",
                                                     "float",
                                                     "conversion",
                                                     "MUFU",
                                                     "shuffle",
                                                     "shared memory",
                                                     "global memory",
                                                     "spill",
                                                     "TMA",
                                                     "barrier wait",
                                                     "arrival",
                                                     "named barrier",
                                                     "uniform",
                                                     "integer",
                                                     "move",
                                                     "branch",
                                                     "CTA fence",
                                                     "GPU fence",
                                                     "tcgen05.mma",
                                                     "tcgen05.commit",
                                                     "tensor memory load",
                                                     "tensor memory store",
                                                     "tensor memory wait",
                                                     "other"};

}  // namespace

OpClass class_of(const MachineInstruction& instruction) {
  const int key = instruction.key(), code = key & 0x1ff;
  if (code == kProductControl) return (instruction.low >> 47 & 1) != 0 ? OpClass::ProductWait : OpClass::ProductFence;
  if (code == kMemoryBarrier) return (instruction.high >> 12 & 0xf) == 8 ? OpClass::CtaFence : OpClass::GpuFence;
  if (key == kTryWait) return OpClass::BarrierWait;
  if (code == kViewFence && (instruction.high >> 9 & 1) != 0) return OpClass::TensorWait;
  const auto* found = std::find_if(kOperations.begin(), kOperations.end(), [&](const Operation& o) { return o.code == code; });
  return found == kOperations.end() ? OpClass::Other : found->what;
}

const char* to_string(OpClass what) { return kNames[static_cast<std::size_t>(what)]; }

bool is_product(OpClass what) { return what == OpClass::Product || what == OpClass::TensorProduct; }

bool is_work(OpClass what) {
  switch (what) {
    case OpClass::TensorLoad:
    case OpClass::TensorStore:
    case OpClass::Float:
    case OpClass::Convert:
    case OpClass::Special:
    case OpClass::Shuffle:
    case OpClass::SharedMemory:
    case OpClass::GlobalMemory: return true;
    default: return false;
  }
}

Cycle issue_cycles(OpClass what) {
  switch (what) {
    case OpClass::Special: return 8;
    case OpClass::Shuffle: return 4;
    case OpClass::Convert: return 2;
    default: return 1;
  }
}

bool for_pair(const MachineInstruction& tensor_op) { return (tensor_op.high >> 21 & 1) != 0; }
int wgmmas_left(const MachineInstruction& wait) { return static_cast<int>(wait.high >> 8 & 7); }
bool only_arrives(const MachineInstruction& named_barrier) { return (named_barrier.high >> 13 & 1) != 0; }

int ClassCounts::all() const { return std::accumulate(of.begin(), of.end(), 0); }

Cycle ClassCounts::issue() const {
  Cycle cycles = 0;
  for (int c = 0; c < kOpClasses; ++c) cycles += of[static_cast<std::size_t>(c)] * issue_cycles(static_cast<OpClass>(c));
  return cycles;
}

std::string to_string(const ClassCounts& counts) {
  std::string text;
  for (int c = 0; c < kOpClasses; ++c)
    if (const int count = counts.of[static_cast<std::size_t>(c)])
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(static_cast<OpClass>(c)));
  return text.empty() ? "nothing" : text;
}

}  // namespace heddle::codegen
