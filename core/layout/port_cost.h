// What products, copies and hand-overs take of the port of shared memory, by the catalogue; what lanes that meet take is access.h's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/kernel/kernel.h"
#include "core/layout/access.h"
#include "core/machine/machine.h"

namespace heddle {

/// D is m x n; `bits` are those of an element of A. The operands are values of the kernel.
struct ProductSize {
  std::int64_t m = 0, n = 0, k = 0;
  int bits = 16;
  std::size_t a = 0, b = 0, d = 0;
  bool a_transposed = false, b_transposed = false;  ///< A lies as [k, m], B as [n, k]
};

/// Of two accesses together: everything added up, the worst ways; known where both are.
AccessCost sum_of(const AccessCost& a, const AccessCost& b);

/// Cycles of the port that a tile takes without bank conflicts: bytes / 128, rounded up.
std::int64_t port_of_bytes(std::int64_t bytes);

/// "wgmma.rs.bf16": the product's row in a catalogue, `a` where A lies.
std::string product_name(bool tensor_products, Space a, DType type);
/// What a product takes of the port for its operands, by the catalogue: `a` where A lies, sizes as the cost rules have them. Not known
/// where the machine has no such row.
AccessCost product_cost(const Machine& machine, Space a, DType type, const ProductSize& size);

/// What handing `registers` per thread from one group to another takes of the port, thread by thread: a store of each in `instruction`
/// ("st.shared.4": word by word) and the load of as many bytes that goes with it, both counted; `issues` are those of one side. Not known
/// where the machine has no such instruction, or not the load.
AccessCost hand_over_cost(const Machine& machine, std::int64_t registers, std::int64_t threads, std::string_view instruction);

}  // namespace heddle
