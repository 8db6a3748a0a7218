// What a tcgen05.mma is by its mnemonic and its instruction descriptor: shape, kinds of numbers, where operands and results lie.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ptx/judge/tensor_shadow.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

/// By the mnemonic alone.
struct TensorForm {
  bool known = false;         ///< a kind that this program knows
  bool a_in_memory = false;   ///< operand A in tensor memory
  bool weights = false;       ///< .ws
  bool scaled = false;        ///< .block_scale
  bool integers = false;      ///< .kind::i8
  int k_bytes = 32;           ///< of one row of A or B
  int shared_bits = 16;       ///< of one number as it lies in shared memory
  std::size_t enable_at = 4;  ///< operand: enable-input-d
};
TensorForm tensor_form(const PtxInstruction& instruction);

/// One product.
struct TensorShape {
  int m = 0, n = 0, k = 0;
  bool a_transposed = false, b_transposed = false, sparse = false;
  int ctas = 1;

  int rows_of_cta() const { return m / ctas; }
  int columns_of_cta() const { return n / ctas; }  ///< of operand B
};
/// By the instruction descriptor (PTX ISA 9.7.16.4.2).
TensorShape tensor_shape(const TensorForm& form, std::uint32_t descriptor, int ctas);
/// What is not allowed about it; "": nothing (PTX ISA, tcgen05.mma: matrix shapes).
std::string wrong_shape(const TensorForm& form, const TensorShape& shape);

/// Cells of D in each CTA, at its address (PTX ISA, tcgen05: data path layouts A to G).
TensorCells result_cells(const TensorForm& form, const TensorShape& shape, std::uint64_t address);
/// Cells of operand A.
TensorCells operand_cells(const TensorForm& form, const TensorShape& shape, std::uint64_t address);
/// Cells of the scales of so many rows: 32 rows a column.
TensorCells scale_cells(int rows, std::uint64_t address);

}  // namespace heddle::ptx
