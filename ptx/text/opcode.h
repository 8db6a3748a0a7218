// The instructions of PTX that Heddle knows, one row each with the section of the PTX ISA (9.0) that defines it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heddle::ptx {

/// What an instruction is, whatever its types and qualifiers.
enum class Opcode : std::uint8_t {
  Unknown,
  // arithmetic, logic, moves: results hang on operands only
  Abs,
  Add,
  Addc,
  And,
  Bfe,
  Bfi,
  Bfind,
  Bmsk,
  Brev,
  Clz,
  Cnot,
  Copysign,
  Cos,
  Createpolicy,
  Cvt,
  Cvta,
  Div,
  Dp2a,
  Dp4a,
  Ex2,
  Fma,
  Fns,
  Getctarank,
  Isspacep,
  Lg2,
  Lop3,
  Mad,
  Mad24,
  Madc,
  Mapa,
  Max,
  Min,
  Mov,
  Mul,
  Mul24,
  Neg,
  Not,
  Or,
  Popc,
  Prmt,
  Rcp,
  Rem,
  Rsqrt,
  Sad,
  Selp,
  Set,
  Setp,
  Shf,
  Shl,
  Shr,
  Sin,
  Slct,
  Sqrt,
  Sub,
  Subc,
  Szext,
  Tanh,
  Testp,
  Xor,
  // lanes of a warp together
  Activemask,
  Elect,
  Match,
  Movmatrix,
  Redux,
  Shfl,
  Vote,
  // memory
  Applypriority,
  Atom,
  Discard,
  Ld,
  Ldmatrix,
  Ldu,
  Prefetch,
  Red,
  RedAsync,
  St,
  StAsync,
  StBulk,
  Stmatrix,
  // control
  Bra,
  Brkpt,
  Brx,
  Call,
  Exit,
  Nanosleep,
  Pmevent,
  Ret,
  Trap,
  // synchronization
  Bar,
  BarArrive,
  BarRed,
  BarWarpSync,
  BarrierClusterArrive,
  BarrierClusterWait,
  Fence,
  Griddepcontrol,
  Membar,
  MbarrierArrive,
  MbarrierArriveDrop,
  MbarrierCompleteTx,
  MbarrierExpectTx,
  MbarrierInit,
  MbarrierInval,
  MbarrierPendingCount,
  MbarrierTestWait,
  MbarrierTryWait,
  Setmaxnreg,
  // copies that run by themselves
  CpAsync,
  CpAsyncBulk,
  CpAsyncBulkCommit,
  CpAsyncBulkPrefetch,
  CpAsyncBulkTensor,
  CpAsyncBulkWait,
  CpAsyncCommit,
  CpAsyncMbarrierArrive,
  CpAsyncWaitAll,
  CpAsyncWaitGroup,
  CpReduceAsyncBulk,
  CpReduceAsyncBulkTensor,
  TensormapCpFence,
  TensormapReplace,
  // products
  Mma,
  MmaSparse,
  WgmmaCommit,
  WgmmaFence,
  WgmmaMma,
  WgmmaMmaSparse,
  WgmmaWait,
  WmmaLoad,
  WmmaMma,
  WmmaStore,
  Tcgen05Alloc,
  Tcgen05Commit,
  Tcgen05Cp,
  Tcgen05Dealloc,
  Tcgen05Fence,
  Tcgen05Ld,
  Tcgen05Mma,
  Tcgen05MmaWs,
  Tcgen05Relinquish,
  Tcgen05Shift,
  Tcgen05St,
  Tcgen05Wait,
  // work handed out by the hardware
  ClcQueryCancel,
  ClcTryCancel,
};

/// The pipe of a quarter of an SM that an instruction of threads takes.
enum class ThreadPipe : std::uint8_t { None, Fma, Alu, Special, LoadStore };

struct OpcodeRow {
  Opcode opcode;
  std::string_view words;    ///< "mbarrier.try_wait": the first words of the mnemonic; the longest row that fits is meant
  std::string_view section;  ///< of the PTX ISA
  bool pure;                 ///< nothing but its destinations changes, and they hang on nothing but its operands
};

std::span<const OpcodeRow> opcode_rows();
/// The row whose words are the longest beginning of the mnemonic's ("add.s32" -> add); nullptr where there is none.
const OpcodeRow* find_opcode(std::string_view mnemonic);

}  // namespace heddle::ptx
