// Every number is a hash of seed, tensor and place, so that none needs another one.
#include "codegen/run/data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "codegen/run/error_pattern.h"
#include "core/base/hash.h"
#include "core/base/random.h"
#include "core/kernel/packed.h"
#include "core/kernel/rounding.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kOutlierRows = 61;
constexpr float kOutlierFactor = 4;
/// FlashAttention's tests allow twice the error of a plain program (tests/test_flash_attn.py of Dao-AILab/flash-attention), and
/// the noise of rounding in its type, seen by adding 0.3 and taking it away.
constexpr double kPlainErrors = 2;
constexpr float kNoiseProbe = 0.3f;

std::uint32_t bits_of_float(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
float float_of_bits(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

float f16_value(std::uint16_t h) {
  const std::uint32_t sign = (h & 0x8000u) << 16, exponent = (h >> 10) & 31, fraction = h & 1023;
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * std::ldexp(static_cast<float>(fraction), -24);
  return float_of_bits(sign | ((exponent == 31 ? 255 : exponent + 112) << 23) | (fraction << 13));
}
/// Of a number that f16 has.
std::uint16_t f16_bits(float x) {
  const std::uint32_t bits = bits_of_float(x), sign = (bits >> 16) & 0x8000u;
  const int exponent = static_cast<int>((bits >> 23) & 255) - 112;
  if (std::isnan(x)) return 0x7fff;
  if (exponent >= 31) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (exponent <= 0) return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::ldexp(std::fabs(x), 24)));
  return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent) << 10 | ((bits >> 13) & 1023));
}

/// Of a number that e4m3 has: 4 bits of exponent, 3 of mantissa, no infinities.
std::uint8_t e4m3_bits(float x) {
  const auto sign = static_cast<std::uint8_t>(std::signbit(x) ? 0x80 : 0);
  if (std::isnan(x)) return 0x7f;
  if (x == 0) return sign;
  int exponent = 0;
  std::frexp(x, &exponent);
  exponent = std::max(exponent + 6, 0);  // as it is stored; 0: of numbers below 2^-6, whose last bit is 2^-9
  const auto steps = static_cast<int>(std::ldexp(std::fabs(x), 10 - std::max(exponent, 1)));
  return static_cast<std::uint8_t>(sign | (exponent == 0 ? steps : exponent << 3 | (steps - 8)));
}
float e4m3_value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<float>::quiet_NaN();
  const float x = std::ldexp(static_cast<float>(exponent == 0 ? mantissa : mantissa + 8), std::max(exponent, 1) - 10);
  return bits & 0x80 ? -x : x;
}

/// Two of 4 bits share a byte, the first of them its lower half.
void put_nibble(std::vector<std::uint8_t>& bytes, std::int64_t at, float x) {
  std::uint8_t& byte = bytes[static_cast<std::size_t>(at / 2)];
  const int shift = at % 2 * 4, bits = static_cast<int>(x) & 15;
  byte = static_cast<std::uint8_t>((byte & ~(15 << shift)) | bits << shift);
}
float nibble(std::uint8_t byte, std::int64_t at) {
  const int bits = byte >> (at % 2 * 4) & 15;
  return static_cast<float>(bits < 8 ? bits : bits - 16);
}

void put(DType dtype, std::vector<std::uint8_t>& bytes, std::int64_t at, float x) {
  const auto store = [&](auto word) { std::memcpy(bytes.data() + static_cast<std::size_t>(at) * sizeof word, &word, sizeof word); };
  x = round_to(dtype, x);
  switch (dtype) {
    case DType::F32: return store(x);
    case DType::Bf16: return store(static_cast<std::uint16_t>(std::isnan(x) ? 0x7fff : bits_of_float(x) >> 16));
    case DType::F16: return store(f16_bits(x));
    case DType::I32: return store(static_cast<std::int32_t>(x));
    case DType::F8e4m3: return store(e4m3_bits(x));
    case DType::F8e5m2: return store(static_cast<std::uint8_t>(f16_bits(x) >> 8));  // f16 with a shorter mantissa
    case DType::I8: return store(static_cast<std::int8_t>(x));
    case DType::I4: return put_nibble(bytes, at, x);
  }
}

/// Where an element is kept, counted in elements.
std::int64_t kept_at(const TensorPlan& tensor, std::int64_t at) {
  if (tensor.packed == 0) return at;
  return packed_place(at / tensor.shape.back(), at % tensor.shape.back(), tensor.shape.back(), bits_of(tensor.dtype),
                      tensor.packed == 2 ? PackedOrder::Lines : PackedOrder::Threads);
}

std::string place(const TensorPlan& tensor, std::int64_t at) {
  std::string text;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    text = fmt::format("{}{}{}", at % tensor.shape[d], text.empty() ? "" : ", ", text);
    at /= tensor.shape[d];
  }
  return fmt::format("{}[{}]", tensor.name, text);
}

/// All bits set: what the memory was filled with. -1 looks the same, so that whole numbers are never said to be so.
bool is_untouched(const TensorPlan& tensor, std::span<const std::uint8_t> bytes, std::int64_t at) {
  if (tensor.dtype == DType::I32 || tensor.dtype == DType::I8 || tensor.dtype == DType::I4) return false;
  const std::size_t size = static_cast<std::size_t>(bits_of(tensor.dtype) / 8), begin = static_cast<std::size_t>(at) * size;
  for (std::size_t i = 0; i < size; ++i)
    if (bytes[begin + i] != 0xff) return false;
  return true;
}

}  // namespace

std::vector<std::uint8_t> make_data(const TensorPlan& tensor, const CasePlan& what, std::size_t index, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(tensor.bytes()));
  if (tensor.role == TensorRole::Index) {
    std::memcpy(bytes.data(), tensor.indices.data(), std::min(bytes.size(), tensor.indices.size() * sizeof(std::int32_t)));
    return bytes;
  }
  if (what.data == CasePlan::Data::Given) {
    const std::vector<float>& given = what.given.at(index);
    for (std::size_t i = 0; i < given.size(); ++i) put(tensor.dtype, bytes, kept_at(tensor, static_cast<std::int64_t>(i)), given[i]);
    return bytes;
  }
  if (is_written(tensor.role)) return bytes;
  const std::uint64_t stream = Hash().add(seed).add(tensor.name).value();
  const std::int64_t count = tensor.elements(), columns = tensor.shape.empty() ? 1 : tensor.shape.back();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = SplitMix64(stream + static_cast<std::uint64_t>(i)).next();  // needs no other element
    float x = what.data == CasePlan::Data::Integers ? static_cast<float>(static_cast<int>(bits % 5) - 2) : near_normal(bits);
    if (what.data == CasePlan::Data::Outliers && i / columns % kOutlierRows == 0) x *= kOutlierFactor;
    put(tensor.dtype, bytes, kept_at(tensor, i), x);
  }
  return bytes;
}

float element(const TensorPlan& tensor, std::span<const std::uint8_t> bytes, std::int64_t at) {
  at = kept_at(tensor, at);
  const auto load = [&]<class Word>(Word word) {
    std::memcpy(&word, bytes.data() + static_cast<std::size_t>(at) * sizeof word, sizeof word);
    return word;
  };
  switch (tensor.dtype) {
    case DType::F32: return load(0.0f);
    case DType::Bf16: return float_of_bits(std::uint32_t{load(std::uint16_t{0})} << 16);
    case DType::F16: return f16_value(load(std::uint16_t{0}));
    case DType::I32: return static_cast<float>(load(std::int32_t{0}));
    case DType::F8e4m3: return e4m3_value(load(std::uint8_t{0}));
    case DType::F8e5m2: return f16_value(static_cast<std::uint16_t>(load(std::uint8_t{0}) << 8));
    case DType::I8: return static_cast<float>(load(std::int8_t{0}));
    case DType::I4: return nibble(bytes[static_cast<std::size_t>(at / 2)], at);
  }
  return std::numeric_limits<float>::quiet_NaN();
}

std::vector<std::uint8_t> as_bytes(const TensorPlan& tensor, std::span<const float> values) {
  std::vector<std::uint8_t> bytes((values.size() * static_cast<std::size_t>(bits_of(tensor.dtype)) + 7) / 8);
  for (std::size_t i = 0; i < values.size(); ++i) put(tensor.dtype, bytes, kept_at(tensor, static_cast<std::int64_t>(i)), values[i]);
  return bytes;
}

OutputCheck check_output(const TensorPlan& tensor, const std::string& input, const Expected& expected,
                         std::span<const std::uint8_t> computed, std::span<const float> reference, std::span<const float> rounded) {
  OutputCheck check;
  check.tensor = tensor.name;
  check.input = input;
  check.elements = tensor.elements();
  double bound = 0;
  switch (expected.criterion) {
    case Criterion::Exact: check.criterion = fmt::format("bit for bit the exact result rounded to {}", to_string(tensor.dtype)); break;
    case Criterion::Tolerance:
      check.criterion = fmt::format("|{0} - reference| <= {1:.3g} + {2:.3g} |reference|, root mean square below {3:.3g} of the reference's",
                                    tensor.name, expected.absolute, expected.relative, expected.rms);
      break;
    case Criterion::Attention: {
      double plain = 0, noise = 0;
      for (std::size_t i = 0; i < reference.size(); ++i) {
        plain = std::max(plain, std::fabs(static_cast<double>(rounded[i]) - reference[i]));
        const float there = reference[i] + kNoiseProbe;
        noise = std::max(noise, std::fabs(static_cast<double>(there - kNoiseProbe) - reference[i]));
      }
      bound = kPlainErrors * (plain + noise);
      check.criterion = fmt::format("largest error at most twice that of a plain {} program ({:.3g}) plus rounding noise ({:.3g})",
                                    to_string(tensor.dtype), plain, noise);
    }
  }
  const auto exact = [&](std::int64_t i) {
    const float wanted = reference[static_cast<std::size_t>(i)];
    return expected.criterion == Criterion::Exact ? static_cast<double>(round_to(tensor.dtype, wanted)) : static_cast<double>(wanted);
  };
  const auto allowed_at = [&](std::int64_t i) {
    const double wanted = reference[static_cast<std::size_t>(i)];
    return expected.criterion == Criterion::Tolerance ? expected.absolute + expected.relative * std::fabs(wanted) : bound;
  };
  WrongElements output{tensor.shape.empty() ? 1 : tensor.shape.back(), std::max(bits_of(tensor.dtype) / 8, 1),
                       std::vector<bool>(static_cast<std::size_t>(check.elements)), [&](std::int64_t at, std::int64_t from) {
                         return std::fabs(element(tensor, computed, at) - exact(from)) <= allowed_at(from);
                       }};
  double error_squares = 0, value_squares = 0, worst = -1;
  for (std::int64_t i = 0; i < check.elements; ++i) {
    const double wanted = reference[static_cast<std::size_t>(i)];
    if (std::isnan(wanted)) continue;
    const double error = std::fabs(element(tensor, computed, i) - exact(i)), allowed = allowed_at(i);
    if (!(error <= allowed)) ++check.wrong, output.wrong[static_cast<std::size_t>(i)] = true;  // so that NaN counts as wrong
    if (is_untouched(tensor, computed, i)) ++check.untouched;
    const double size = std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
    error_squares += size * size;
    value_squares += wanted * wanted;
    const double severity = allowed > 0 ? size / allowed : size;
    if (severity > worst) {
      worst = severity;
      check.worst = size;
      check.bound = allowed;
      check.at = place(tensor, i);
    }
  }
  check.passed = check.wrong == 0;
  check.pattern = pattern_of(output);
  if (expected.criterion == Criterion::Tolerance && expected.rms > 0 && value_squares > 0 &&
      !(error_squares <= expected.rms * expected.rms * value_squares))
    check.passed = false;
  return check;
}

}  // namespace heddle::codegen
