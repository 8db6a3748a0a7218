// A row of a machine's instruction catalogue ("instructions" in its file): what one instruction of a warp or of a warpgroup moves or
// multiplies, how its lanes take turns at shared memory, and what it costs. Cost rules say what an op takes of its units; the catalogue
// says in which instructions an op can be written, and so how often its lanes meet in a bank (core/layout/access.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/kernel/kernel.h"

namespace heddle {

enum class InstructionKind {
  SharedLoad,   ///< ld.shared: each lane gives an address and takes `bytes` from there
  SharedStore,  ///< st.shared
  MatrixLoad,   ///< ldmatrix: 8 lanes give the addresses of the 8 rows of 16 bytes of a matrix; `matrices` of them
  MatrixStore,  ///< stmatrix
  Product,      ///< wgmma: fragments of `m` rows and of any n
  BulkCopy,     ///< TMA: a box whose rows have at most `swizzle` bytes (0: no swizzle)
  AsyncCopy,    ///< cp.async: `bytes` per lane from global to shared memory
  GlobalLoad,   ///< ld.global
  GlobalStore,  ///< st.global
  Shuffle,      ///< a register of another lane
  BytePermute,  ///< bytes of two registers in another order
  TensorLoad,   ///< tcgen05.ld: a warp's 32 lanes of tensor memory
  TensorStore   ///< tcgen05.st
};
/// Each lane gives an address in shared memory.
constexpr bool is_shared_access(InstructionKind kind) {
  return kind == InstructionKind::SharedLoad || kind == InstructionKind::SharedStore || kind == InstructionKind::MatrixLoad ||
         kind == InstructionKind::MatrixStore;
}
const char* to_string(InstructionKind kind);

/// Where the elements of an instruction's operand lie, over GF(2): bit i of a register's, lane's or warp's number moves the element by
/// basis i, a coordinate per dimension (rows, columns). Elements are those of the operand's own type.
struct Fragment {
  std::string name;  ///< "a", "b", "d" of a product; "" where there is one
  std::vector<std::vector<std::int64_t>> registers, lanes, warps;
  bool operator==(const Fragment&) const = default;
};

struct Instruction {
  std::string name;  ///< as choices and tables call it: "st.shared.8", "ldmatrix.x4.trans", "wgmma.rs.bf16"
  std::string ptx;   ///< what is written: "st.shared.v2.b32"
  InstructionKind kind = InstructionKind::SharedLoad;
  int bytes = 0;             ///< per lane and instruction; matrix kinds: of a row
  int matrices = 0;          ///< MatrixLoad, MatrixStore: 1, 2 or 4
  bool transposed = false;   ///< the same; moves elements of 16 bits only
  int lanes_per_phase = 32;  ///< that go to shared memory together: all up to 4 bytes, a half warp for 8, a quarter for 16
  bool assumed = true;       ///< the phase rule (lanes_per_phase, cycles) is an assumption, not measured on this machine
  std::string unit;          ///< that its phases hold; empty: none
  Expr cycles{1};            ///< of the unit, per phase without conflicts; of `n`, `k` and `bits` for products, of `bytes` for boxes
  Expr issue{1};             ///< cycles of its warp's scheduler
  Expr latency{1};
  int registers = 0;  ///< of 32 bits per lane
  // Products.
  std::vector<DType> types;  ///< of A and B; empty: any
  bool a_registers = false;
  int m = 0, k = 0;                         ///< of one instruction
  int n_least = 0, n_most = 0, n_step = 0;  ///< N
  // Boxes.
  int swizzle = 0;      ///< bytes of the span that is swizzled: 0, 32, 64, 128
  int inner_bytes = 0;  ///< most bytes of a row of the box; 0: any
  std::vector<Fragment> fragments;
  std::string source;
};

}  // namespace heddle
