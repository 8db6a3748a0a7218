// What kinds of instructions a compiled kernel for sm_90a or sm_100a is made of, and how long each keeps a warp's issue slot.
#pragma once

#include <array>
#include <string>

#include "codegen/machine_code/instructions.h"
#include "core/problem/problem.h"

namespace heddle::codegen {

enum class OpClass {
  Product,       ///< wgmma
  ProductFence,  ///< before the first wgmma of a batch (WARPGROUP.ARRIVE)
  ProductWait,   ///< until few enough wgmmas are in flight (WARPGROUP.DEPBAR)
  Float,         ///< FADD, FMUL, FFMA, FMNMX, their packed (FFMA2), three-operand (FMNMX3) and half forms
  Convert,       ///< F2FP and other conversions
  Special,       ///< MUFU: exponential, reciprocal
  Shuffle,
  SharedMemory,  ///< LDS, STS, LDSM, STSM
  GlobalMemory,  ///< LDG, STG, atomics
  LocalMemory,   ///< LDL, STL: spills, arrays on the stack
  BulkCopy,      ///< TMA, either way
  BarrierWait,   ///< mbarrier try_wait
  BarrierArrive,
  NamedBarrier,   ///< bar.sync, bar.arrive
  Uniform,        ///< on the uniform datapath: addresses, descriptors, loop control
  Integer,        ///< the same on the vector datapath; predicates
  Move,           ///< MOV, SEL, PRMT
  Branch,         ///< BRA, BSSY, BSYNC, EXIT
  CtaFence,       ///< MEMBAR.CTA, fence to the asynchronous proxy
  GpuFence,       ///< MEMBAR beyond the block, ERRBAR, CCTL.IVALL: hundreds of cycles
  TensorProduct,  ///< tcgen05.mma (UTCHMMA, UTCQMMA)
  TensorSignal,   ///< tcgen05.commit (UTCBAR)
  TensorLoad,     ///< tcgen05.ld (LDTM); tcgen05.wait::ld is a scoreboard and no instruction
  TensorStore,    ///< tcgen05.st (STTM)
  TensorWait,     ///< tcgen05.wait::st (FENCE.VIEW.ASYNC.T)
  Other,
};
inline constexpr int kOpClasses = static_cast<int>(OpClass::Other) + 1;

OpClass class_of(const MachineInstruction& instruction);
const char* to_string(OpClass what);

/// wgmma or tcgen05.mma.
bool is_product(OpClass what);

/// Arithmetic and data movement that ops of the kernel ask for, not what the compiler adds to find their operands.
bool is_work(OpClass what);

/// Cycles until the warp's quarter of the SM can issue the next instruction of that kind: 128 / results per cycle and SM, at least 1
/// (CUDA C++ Programming Guide, "Arithmetic Instructions", compute capability 9.0).
Cycle issue_cycles(OpClass what);

/// Of a tcgen05.mma or its signal: it works for a pair of blocks.
bool for_pair(const MachineInstruction& tensor_op);
/// Wgmmas that may still be in flight behind a ProductWait.
int wgmmas_left(const MachineInstruction& wait);
/// A named barrier's instruction that only arrives and goes on.
bool only_arrives(const MachineInstruction& named_barrier);

/// How many instructions of each kind.
struct ClassCounts {
  std::array<int, kOpClasses> of{};
  int& operator[](OpClass what) { return of[static_cast<std::size_t>(what)]; }
  int operator[](OpClass what) const { return of[static_cast<std::size_t>(what)]; }
  int all() const;
  Cycle issue() const;  ///< cycles, one after the other
  bool operator==(const ClassCounts&) const = default;
};

/// "64 float, 32 conversion"; "nothing".
std::string to_string(const ClassCounts& counts);

}  // namespace heddle::codegen
