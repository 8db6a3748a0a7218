// What every op of Triton's dialects is to Heddle: one line per op (core/triton/read/ops.cpp). An op that is not in the table is index
// arithmetic if it has scalar results only, else it is refused by name.
#pragma once

#include <string>
#include <string_view>

#include "core/mlir/module.h"

namespace heddle::triton {

enum class OpRole {
  Elements,        ///< computes element by element: `words` is its expression over x0, x1 ...
  Convert,         ///< the same numbers in another element type
  DescriptorLoad,  ///< a box of a global tensor, copied by TMA
  PointerLoad,     ///< a tile of pointers read
  Gather,
  DescriptorStore,
  DescriptorReduce,  ///< adds into global memory, by TMA
  PointerStore,
  Atomic,
  Product,        ///< accumulator in registers: A, B, C
  TensorProduct,  ///< accumulator in tensor memory: A, B, D[token], use, predicate
  TensorLoad,     ///< tensor memory to registers
  TensorStore,    ///< registers to tensor memory
  TensorAlloc,    ///< storage in tensor memory; with an operand a store too
  SharedAlloc,    ///< storage in shared memory; with an operand a store, or the place that a load fills
  SharedLoad,
  SharedStore,
  Reduce,
  View,      ///< the same numbers under another shape or layout
  Constant,  ///< defines numbers that the text knows
  Index,     ///< integer arithmetic: of scalars, or offsets and bounds of tiles
  Sync,      ///< barriers, fences and waits: final forms only
  Opaque,    ///< works on tiles in a way that no kind here has; `words`: instructions per element, an estimate
  Control,   ///< scf.for and its like; terminators
  Refused,   ///< `words` says why
};

struct OpWord {
  std::string_view name;
  OpRole role;
  std::string_view words = {};
};

/// Null when the table does not have it. Names of Triton 3.2's dialects mean what their successors mean.
const OpWord* find_op(std::string_view name);

/// "tt.load", of "triton_gpu.local_alloc" "ttg.local_alloc": the present name.
std::string present_name(std::string_view name);
/// `ttng.tc_gen5_mma` and its like.
bool is_tensor_product(std::string_view name);

/// The expression of an elementwise op over x0, x1 ...: of a compare by its predicate, of a call into libdevice by its symbol; empty where
/// it has none.
std::string expression_of(const mlir::Op& op);

/// "<" of a compare of integers whose words begin with "slt"; null where it is unsigned.
const char* integer_predicate(const mlir::Op& compare);

/// What a region of `tt.reduce` combines: "sum", "max", "min", "xor", "argmax"; empty: something else, or several operands.
std::string reduction_of(const mlir::Module& module, const mlir::Op& op);

/// "load" of "tt.load".
constexpr std::string_view without_dialect(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace heddle::triton
