// Types and layouts of Triton's GPU dialect as they are printed: shape, element, place, and how elements lie over registers, lanes and
// warps. Dialect names of Triton 3.2 (`triton_gpu`, `!tt.memdesc`) mean what their successors mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/mlir/module.h"
#include "core/mlir/tile_type.h"

namespace heddle::triton {

/// How the elements of a tile lie. What is not understood is Other and says so by its name.
struct TritonLayout {
  enum class Kind { None, Blocked, NvidiaMma, DotOperand, Slice, Linear, SharedSwizzled, SharedNvmma, TensorMemory, Other };
  Kind kind = Kind::None;
  std::string name;  ///< "nvidia_mma", as printed after the dialect
  std::vector<std::int64_t> size_per_thread, threads_per_warp, warps_per_cta, order, instr_shape;
  std::vector<std::vector<std::int64_t>> registers, lanes, warps, blocks;  ///< bases of a linear layout
  std::int64_t version = 0;                                                ///< of nvidia_mma: 2 or 3
  std::int64_t dim = 0;                                                    ///< of a slice
  std::int64_t op_idx = 0, k_width = 0;                                    ///< of a dot operand
  std::int64_t swizzle_bytes = 0, element_bits = 0;                        ///< of nvmma_shared
  bool transposed = false, fp4_padded = false;
  std::int64_t block_m = 0, block_n = 0, col_stride = 1;  ///< of tensor memory
  std::vector<TritonLayout> parent;                       ///< none, or one: of slices and dot operands
  bool operator==(const TritonLayout&) const = default;
};

struct Type {
  dump::TileType tile;      ///< shape, element, place; `!ttg.async.token`: Token; pointers and scalars: no place
  TritonLayout layout;      ///< of tensors and memdescs
  bool descriptor = false;  ///< `!tt.tensordesc<...>`: shape and element of its box are in `tile`
  bool pointer = false;     ///< `!tt.ptr<...>`: its element is in `tile.element`, and tiles of pointers have a shape
  bool barrier = false;     ///< a memdesc that holds mbarriers
  std::string pointee;      ///< of pointers: "f16"
};

/// Aliases are those of the module. Never fails: what is not known is a type without a place.
Type parse_type(std::string_view text, const mlir::Module& module);
TritonLayout parse_layout(std::string_view text, const mlir::Module& module);

/// Elements of a tile in each thread, replicas included: 2^(register bases) of a linear layout, and so on. 0 where the layout is not
/// understood.
std::int64_t elements_per_thread(const Type& type, std::int64_t warps);
/// 32-bit registers of each thread that hold the tile; 0 where that is not known.
std::int64_t registers_per_thread(const Type& type, std::int64_t warps);
/// Warps that lie over the rows (dimension 0): a tile of 128 rows under [8, 1] gives each of two warp groups 64. 1 where not known.
std::int64_t warps_over_rows(const TritonLayout& layout);
/// Whether moving a register tile from one layout to the other needs shared memory (both known); register-to-register moves within one
/// mma's layouts do not.
bool needs_shared_memory(const Type& from, const Type& to);

/// The type of every value of the module: what is printed, and where the printed form leaves it out, what follows from the op (a compare
/// gives i1 of its operand's shape, `tt.load` the pointee, a store into tensor memory a token ...). Parallel to `module.values`.
std::vector<Type> value_types(const mlir::Module& module);

}  // namespace heddle::triton
