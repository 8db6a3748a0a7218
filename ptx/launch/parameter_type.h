// What a word of a parameter block may be, and its value between text and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ptx {

/// A scalar type of PTX (PTX ISA, "Fundamental types").
struct ParameterType {
  std::string name;  ///< "u32", as PTX writes it
  std::size_t bytes = 4;
  bool integer() const { return name[0] != 'f' && name != "bf16"; }
  bool has_sign() const { return name[0] == 's'; }
};

/// u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64; i8 to i64 are s8 to s64. Nothing for other words.
std::optional<ParameterType> parameter_type(std::string_view word);
const std::vector<std::string>& parameter_type_words();

/// The bytes of a value, lowest first: "320", "-1", "0x3E000000" (the bits of any type), of floats also "0.125", "inf". Nothing where
/// it is no such number, or does not fit.
std::optional<std::vector<std::uint8_t>> value_bytes(const ParameterType& type, std::string_view text);
/// The way back: a text that gives the same bytes again.
std::string value_text(const ParameterType& type, std::span<const std::uint8_t> bytes);

/// The number in some bytes, lowest first. Pre: at most 8.
std::uint64_t number_of(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> bytes_of(std::uint64_t number, std::size_t bytes);

/// "0x1f", or decimal; nothing else.
std::optional<std::uint64_t> read_address(std::string_view text);
std::string address_text(std::uint64_t address);

/// "00ff", two digits a byte; nothing where it is something else.
std::optional<std::vector<std::uint8_t>> read_hex(std::string_view text);
std::string hex_text(std::span<const std::uint8_t> bytes);

}  // namespace heddle::ptx
