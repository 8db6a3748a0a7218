#include "ptx/launch/parameter_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/assert.h"
#include "core/base/scanner.h"
#include "core/kernel/rounding.h"

namespace heddle::ptx {
namespace {

/// Of f16, of a float that it can hold exactly.
std::uint16_t half_bits(float x) {
  const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isnan(x)) return sign | 0x7e00;
  if (std::isinf(x)) return sign | 0x7c00;
  int exponent = 0;
  const float fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
  if (fraction == 0) return sign;
  if (exponent < -13) return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(fraction, exponent + 24)));
  return static_cast<std::uint16_t>(sign | ((exponent + 14) << 10) | (static_cast<int>(std::ldexp(fraction, 11)) & 0x3ff));
}

float half_value(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 0x3ff);
  float value = exponent == 31 ? (fraction != 0 ? NAN : INFINITY)
                : exponent > 0 ? std::ldexp(static_cast<float>(fraction + 1024), exponent - 25)
                               : std::ldexp(static_cast<float>(fraction), -24);
  return (bits & 0x8000) != 0 ? -value : value;
}

std::optional<std::uint64_t> float_bits(const ParameterType& type, std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (type.name == "f64") return std::bit_cast<std::uint64_t>(value);
  const auto narrow = static_cast<float>(value);
  if (type.name == "f32") return std::bit_cast<std::uint32_t>(narrow);
  if (type.name == "bf16") return std::bit_cast<std::uint32_t>(round_to(DType::Bf16, narrow)) >> 16;
  return half_bits(round_to(DType::F16, narrow));
}

double float_value(const ParameterType& type, std::uint64_t bits) {
  if (type.name == "f64") return std::bit_cast<double>(bits);
  if (type.name == "f32") return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (type.name == "bf16") return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16)));
  return static_cast<double>(half_value(bits));
}

std::optional<std::uint64_t> read_bits(std::string_view text) {
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  std::uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + 2, end, bits, 16);
  return error == std::errc() && stop == end ? std::optional(bits) : std::nullopt;
}

bool fits(std::uint64_t bits, std::size_t bytes) { return bytes >= 8 || bits >> (8 * bytes) == 0; }

std::optional<std::uint64_t> integer_bits(const ParameterType& type, std::string_view text) {
  const int width = static_cast<int>(8 * type.bytes);
  if (text.starts_with("-")) {
    const auto value = read_number<std::int64_t>(text);
    if (!value || type.name[0] == 'u' || *value < std::numeric_limits<std::int64_t>::min() >> (64 - width)) return std::nullopt;
    return static_cast<std::uint64_t>(*value) & (~std::uint64_t{0} >> (64 - width));
  }
  const auto value = read_number<std::uint64_t>(text);
  if (!value || !fits(*value, type.bytes) || (type.has_sign() && *value >> (width - 1) != 0)) return std::nullopt;
  return *value;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

const std::vector<std::string>& parameter_type_words() {
  static const std::vector<std::string> words = {"u8", "u16", "u32", "u64", "s8",  "s16",  "s32", "s64",
                                                 "b8", "b16", "b32", "b64", "f16", "bf16", "f32", "f64"};
  return words;
}

std::optional<ParameterType> parameter_type(std::string_view word) {
  std::string name(word);
  if (name.starts_with(".")) name.erase(0, 1);
  if (name.starts_with("i")) name[0] = 's';
  if (std::ranges::find(parameter_type_words(), name) == parameter_type_words().end()) return std::nullopt;
  const std::size_t bits = number_in_front<std::size_t>(name == "bf16" ? "16" : name.substr(1));
  return ParameterType{std::move(name), bits / 8};
}

std::optional<std::vector<std::uint8_t>> value_bytes(const ParameterType& type, std::string_view text) {
  std::optional<std::uint64_t> bits = read_bits(text);
  if (!bits) bits = type.integer() ? integer_bits(type, text) : float_bits(type, text);
  if (!bits || !fits(*bits, type.bytes)) return std::nullopt;
  return bytes_of(*bits, type.bytes);
}

std::string value_text(const ParameterType& type, std::span<const std::uint8_t> bytes) {
  const std::uint64_t bits = number_of(bytes);
  if (type.integer()) {
    if (!type.has_sign() || bits >> (8 * type.bytes - 1) == 0) return fmt::format("{}", bits);
    return fmt::format("{}", static_cast<std::int64_t>(bits | (type.bytes < 8 ? ~std::uint64_t{0} << (8 * type.bytes) : 0)));
  }
  const double value = float_value(type, bits);
  std::string text = type.name == "f64" ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (!std::isfinite(value)) text.clear();
  if (const auto again = value_bytes(type, text); again && number_of(*again) == bits) return text;
  return fmt::format("0x{:x}", bits);  // infinite, or not a number
}

std::uint64_t number_of(std::span<const std::uint8_t> bytes) {
  HEDDLE_ASSERT(bytes.size() <= 8, "a word of a parameter block has at most 8 bytes");
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) number |= std::uint64_t{bytes[i]} << (8 * i);
  return number;
}

std::vector<std::uint8_t> bytes_of(std::uint64_t number, std::size_t bytes) {
  std::vector<std::uint8_t> out(bytes);
  for (std::size_t i = 0; i < bytes && i < 8; ++i) out[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return out;
}

std::optional<std::uint64_t> read_address(std::string_view text) {
  if (const auto bits = read_bits(text)) return bits;
  return read_number<std::uint64_t>(text);
}

std::string address_text(std::uint64_t address) { return fmt::format("0x{:x}", address); }

std::optional<std::vector<std::uint8_t>> read_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<std::uint8_t>(16 * high + low));
  }
  return bytes;
}

std::string hex_text(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) text += kDigits[byte >> 4], text += kDigits[byte & 15];
  return text;
}

}  // namespace heddle::ptx
