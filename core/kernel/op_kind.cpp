// The catalogue itself. Adding a kind means: one line here, one function in core/kernel/op_semantics.cpp, and a rule in the
// machine files that can run it.
#include "core/kernel/op_kind.h"

#include <algorithm>
#include <array>

namespace heddle {
namespace {

constexpr std::array<OpKind, 21> kKinds{{
    {"tma_load", 0, 0, 1, true, false, "variant",
     "Copies a box of a global tensor into a tile, asynchronously; elements outside the tensor read as zero."},
    {"tma_store", 1, 1, 0, false, true, "variant",
     "Copies a tile into a box of a global tensor, asynchronously; elements outside the tensor are dropped."},
    {"load", 0, 0, 1, true, false, "variant", "Reads a box of a global tensor into a tile; elements outside read as zero."},
    {"store", 1, 1, 0, false, true, "variant", "Writes a tile into a box of a global tensor; elements outside are dropped."},
    {"mma", 2, 3, 1, false, false, "transpose_a transpose_b column row variant",
     "D = A B + C in 32-bit accumulation, with A [M,K], B [K,N]; a transposed operand is stored [K,M] or [N,K]; without C "
     "the start is zero; a narrower D takes the columns of B from `column` on, a narrower A (in K) its rows from `row` on."},
    {"tmem_load", 1, 1, 1, false, false, "column variant",
     "Tensor memory to registers; a narrower result takes its columns from `column` on."},
    {"tmem_store", 1, 1, 1, false, false, "variant", "Registers to tensor memory."},
    {"smem_load", 1, 1, 1, false, false, "variant", "Shared memory to registers."},
    {"smem_store", 1, 1, 1, false, false, "variant", "Registers to shared memory."},
    {"reduce_max", 1, 2, 1, false, false, "axis scale variant",
     "r = max over a tile's axis (default 1: along rows) of scale * tile; with a second input also the maximum with it."},
    {"reduce_sum", 1, 3, 1, false, false, "axis scale mean variant",
     "r = sum over a tile's axis of scale * tile (divided by the extent if `mean`); a second input is added, a third "
     "multiplies the second first."},
    {"exp2", 1, 2, 1, false, false, "axis emulated scale variant",
     "r = 2^(scale * a), with a second input 2^(scale * a - b); `emulated`: percent to compute without MUFU (cost only)."},
    {"elementwise", 1, 3, 1, false, false, "fn value scale axis variant",
     "r = fn(scale * a, b, c) per element; a vector operand runs along `axis` (default 0: one element per row); `value` "
     "stands for a missing last operand."},
    {"mask", 1, 1, 1, false, false, "value variant",
     "r = a where its column is at most its row, else `value`; `at` has the row and the column of the tile's first element "
     "(causal attention: the key comes after the query)."},
    {"convert", 1, 1, 1, false, false, "variant", "The same numbers in another element type, rounded to nearest even."},
    {"copy", 1, 1, 1, false, false, "variant", "The same tile under another name or in another space."},
    {"fill", 0, 0, 1, false, false, "value variant", "A tile of one constant."},
    {"broadcast", 1, 1, 1, false, false, "axis variant",
     "A vector repeated into a tile; it runs along `axis` (default 0: one element per row)."},
    {"atomic_add", 1, 1, 0, false, true, "variant",
     "Adds a tile into a box of a global tensor element by element; elements outside are dropped."},
    {"gather", 1, 1, 1, true, false, "variant",
     "Reads rows of a global tensor: row r of the result is row index[r], from column `at` on; rows outside read as zero."},
    {"opaque", 0, 64, OpKind::kAnyOutputs, false, false, "variant stands_for",
     "An op of a graph that has only numbers; it can be scheduled but not executed or emitted. `stands_for`: the kind that "
     "tables and pictures show for it."},
}};

constexpr std::array<std::string_view, 21> kElementwise{"add",    "sub",  "mul",     "div",  "max",   "min",  "fma",
                                                        "scale",  "copy", "neg",     "abs",  "recip", "sqrt", "rsqrt",
                                                        "square", "log2", "sigmoid", "silu", "tanh",  "relu", "gelu"};

}  // namespace

std::span<const OpKind> op_kinds() { return kKinds; }

const OpKind* find_op_kind(std::string_view name) {
  const auto it = std::find_if(kKinds.begin(), kKinds.end(), [&](const OpKind& kind) { return name == kind.name; });
  return it == kKinds.end() ? nullptr : &*it;
}

std::vector<std::string_view> elementwise_functions() { return {kElementwise.begin(), kElementwise.end()}; }

}  // namespace heddle
