// Reads operands and numbers of a PTX text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/text/module.h"
#include "ptx/text/names.h"
#include "ptx/text/tokens.h"

namespace heddle::ptx {

/// The bits of a number, decimal, hexadecimal, octal or binary, with or without U; of a float written as bits (0f3F800000, 0d...), or as
/// decimals, whose type is `type`. Nothing: it is no number, or one of more than 64 bits.
std::optional<std::uint64_t> number_bits(std::string_view word, Scalar type = Scalar::F64);

/// "%tid.x" -> TidX; names that PTX has and Heddle does not -> Other; None: no special register.
Special special_of(std::string_view word);

/// Where operands stand: what names mean there, and whose they are.
struct OperandPlace {
  PtxTokens& tokens;
  PtxNames& names;
  PtxFunction& function;
  Scalar type = Scalar::None;  ///< of decimal floats
};

/// What is wrong with it; "" where nothing is. Tokens behind the fault are left for who skips them.
std::string read_operand(OperandPlace& place, PtxOperand& operand);
/// A name that stands for a label or a function, and nothing else.
std::string read_label(OperandPlace& place, PtxOperand& operand);

}  // namespace heddle::ptx
