#include "ptx/units/tensor_form.h"

#include <fmt/format.h>

#include "ptx/units/tensor_unit.h"

namespace heddle::ptx {

TensorForm tensor_form(const PtxInstruction& instruction) {
  TensorForm form;
  for (const std::string_view word : instruction.words) {
    if (word == "ws") form.weights = true;
    if (word == "block_scale") form.scaled = true;
    if (!word.starts_with("kind::")) continue;
    const std::string_view kind = word.substr(6);
    form.known = true;
    if (kind == "f16")
      form.shared_bits = 16;
    else if (kind == "tf32")
      form.shared_bits = 32;
    else if (kind == "f8f6f4" || kind == "i8" || kind == "mxf8f6f4")
      form.shared_bits = 8;
    else if (kind == "mxf4" || kind == "mxf4nvf4")
      form.shared_bits = 4;
    else
      form.known = false;
    form.scaled = form.scaled || kind.starts_with("mx");
    form.integers = kind == "i8";
  }
  const auto& operands = instruction.operands;
  form.a_in_memory = operands.size() > 1 && operands[1].kind == PtxOperand::Kind::Address;
  if (form.scaled) form.enable_at = 6;
  if (!form.scaled && operands.size() > 5 && operands[4].kind == PtxOperand::Kind::Vector) form.enable_at = 5;
  return form;
}

TensorShape tensor_shape(const TensorForm& form, std::uint32_t descriptor, int ctas) {
  TensorShape shape;
  shape.ctas = ctas;
  shape.n = static_cast<int>(descriptor >> 17 & 63) * 8;
  // Scaled kinds keep M / 128 in bits 27 and 28, which are the upper ones of M / 16.
  shape.m = static_cast<int>(descriptor >> 24 & (form.scaled ? 0x18 : 0x1F)) * 16;
  shape.k = form.k_bytes * 8 / form.shared_bits;
  if (form.shared_bits == 4 && (descriptor >> 31 & 1) != 0) shape.k = 96;
  shape.a_transposed = (descriptor >> 15 & 1) != 0;
  shape.b_transposed = (descriptor >> 16 & 1) != 0;
  shape.sparse = (descriptor >> 2 & 1) != 0;
  return shape;
}

namespace {

/// 128 rows of one CTA take columns in steps of 16, but where blocks are scaled; integers in steps of 16 and, of two CTAs, 32.
int columns_step(const TensorForm& form, const TensorShape& shape) {
  if (shape.ctas == 2) return form.integers ? 32 : 16;
  return form.integers || (shape.m == 128 && !form.scaled) ? 16 : 8;
}

}  // namespace

std::string wrong_shape(const TensorForm& form, const TensorShape& shape) {
  const bool rows = form.weights ? shape.m == 32 || shape.m == 64 || shape.m == 128
                                 : shape.rows_of_cta() == 128 || (shape.rows_of_cta() == 64 && (!form.scaled || shape.ctas == 2));
  if (!rows)
    return fmt::format("its instruction descriptor says {} rows, which {} {} does not do", shape.m,
                       form.weights ? "tcgen05.mma.ws" : "tcgen05.mma", shape.ctas == 2 ? "of two CTAs" : "of one CTA");
  const int step = columns_step(form, shape);
  const bool small = form.integers && shape.ctas == 1 && (shape.n == 8 || shape.n == 24);
  const bool columns = form.weights ? shape.n == 64 || shape.n == 128 || shape.n == 256
                                    : small || (shape.n >= step && shape.n <= 256 && shape.n % step == 0);
  if (!columns)
    return form.weights ? fmt::format("its instruction descriptor says {} columns: tcgen05.mma.ws does 64, 128 or 256", shape.n)
                        : fmt::format("its instruction descriptor says {} columns: up to 256 in steps of {}", shape.n, step);
  return "";
}

namespace {

/// Half of each warp's lanes: rows 16 i to 16 i + 15 in lanes 32 i and up, or 32 i + 16 and up by the address.
std::uint8_t half_of_lanes(std::uint64_t address) { return lane_of(address) / 16 % 2 == 0 ? 0x55 : 0xAA; }

}  // namespace

TensorCells result_cells(const TensorForm& form, const TensorShape& shape, std::uint64_t address) {
  const int column = column_of(address);
  if (form.weights) return {0xFF, column, shape.m >= 128 ? shape.n : shape.m == 64 ? shape.n / 2 : shape.n / 4};
  if (shape.ctas == 2) return {0xFF, column, shape.rows_of_cta() >= 128 ? shape.n : shape.n / 2};
  return {shape.m >= 128 ? std::uint8_t{0xFF} : half_of_lanes(address), column, shape.n};
}

TensorCells operand_cells(const TensorForm& form, const TensorShape& shape, std::uint64_t address) {
  const int columns = shape.k * form.shared_bits / 32;
  const bool half = !form.weights && shape.ctas == 1 && shape.m < 128;
  return {half ? half_of_lanes(address) : std::uint8_t{0xFF}, column_of(address), columns};
}

TensorCells scale_cells(int rows, std::uint64_t address) { return {0xFF, column_of(address), (rows + 31) / 32}; }

}  // namespace heddle::ptx
