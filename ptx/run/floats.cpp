// Instructions of floating point: computed in f32 and f64 where operands are known (constants, parameters), unknown else but for a sign
// that does not hang on the numbers (exponentials, squares, sums of such: kernels hang addresses on it to keep an order).
#include <bit>
#include <cmath>
#include <limits>

#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

using Word = std::uint64_t;
using D = DecodedInstruction;
using Sources = const LaneValues* const*;

float single(Word bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
Word bits_of_single(float value) { return std::isnan(value) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(value); }
double twice(Word bits) { return std::bit_cast<double>(bits); }
Word bits_of_twice(double value) { return std::bit_cast<Word>(value); }

constexpr Word sign_of(int bits) { return 1ull << (bits - 1); }
/// All bits but those of signs that are known to be 0.
KnownBits without_sign(const D& d) { return {0, low_bits(d.result_bits) & ~(d.word != 0 ? d.word : sign_of(d.bits))}; }
KnownBits nothing(const D& d) { return {0, low_bits(d.result_bits)}; }
bool positive(const KnownBits& value, Word sign) { return ((value.bits | value.unknown) & sign) == 0; }

// Signs. `word` holds the sign bits of all the numbers in a register (two in bf16x2).
Word signs(const D& d) { return d.word != 0 ? d.word : sign_of(d.bits); }
KnownBits known_positive(const D& d, const KnownBits*) { return without_sign(d); }
KnownBits known_both(const D& d, const KnownBits* s) {
  return positive(s[0], signs(d)) && positive(s[1], signs(d)) ? without_sign(d) : nothing(d);
}
KnownBits known_either(const D& d, const KnownBits* s) {
  return positive(s[0], signs(d)) || positive(s[1], signs(d)) ? without_sign(d) : nothing(d);
}
KnownBits known_fma(const D& d, const KnownBits* s) {
  return positive(s[0], signs(d)) && positive(s[1], signs(d)) && positive(s[2], signs(d)) ? without_sign(d) : nothing(d);
}
KnownBits known_one(const D& d, const KnownBits* s) { return positive(s[0], signs(d)) ? without_sign(d) : nothing(d); }
/// cvt to a pair: the first operand is the upper half.
KnownBits known_pack(const D& d, const KnownBits* s) {
  const Word sign = sign_of(d.from_bits);
  const int half = d.result_bits / 2;
  Word unknown = low_bits(d.result_bits);
  if (positive(s[0], sign)) unknown &= ~sign_of(2 * half);
  if (positive(s[1], sign)) unknown &= ~sign_of(half);
  return {0, unknown};
}
KnownBits known_cvt(const D& d, const KnownBits* s) {
  return positive(s[0], sign_of(d.from_bits)) && d.mode == 0 ? KnownBits{0, low_bits(d.result_bits) & ~sign_of(d.bits)} : nothing(d);
}
KnownBits known_neg(const D& d, const KnownBits* s) {
  return {((s[0].bits & ~s[0].unknown) ^ signs(d)) & ~s[0].unknown & low_bits(d.bits), s[0].unknown & low_bits(d.bits)};
}

template <class F>
void floats(const D& d, Sources s, Word* out, const F& f) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const auto at = [&](int k) { return k < d.count ? s[k]->bits[i] : 0; };
    out[i] = d.bits == 64 ? bits_of_twice(f(twice(at(0)), twice(at(1)), twice(at(2))))
                          : bits_of_single(static_cast<float>(f(single(at(0)), single(at(1)), single(at(2)))));
  }
}

void fn_add(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return a + b; });
}
void fn_sub(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return a - b; });
}
void fn_mul(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return a * b; });
}
void fn_div(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return a / b; });
}
void fn_fma(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto c) { return std::fma(a, b, c); });
}
void fn_max(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return std::fmax(a, b); });
}
void fn_min(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto b, auto) { return std::fmin(a, b); });
}
void fn_rcp(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto, auto) { return 1 / a; });
}
void fn_sqrt(const D& d, Sources s, Word* out) {
  floats(d, s, out, [](auto a, auto, auto) { return std::sqrt(a); });
}
void fn_neg(const D& d, Sources s, Word* out) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = (s[0]->bits[i] ^ signs(d)) & low_bits(d.bits);
}
void fn_abs(const D& d, Sources s, Word* out) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = s[0]->bits[i] & ~signs(d) & low_bits(d.bits);
}
KnownBits known_abs(const D& d, const KnownBits* s) {
  const Word keep = low_bits(d.bits) & ~signs(d);
  return {s[0].bits & keep & ~s[0].unknown, s[0].unknown & keep};
}
/// copysign a, b: b with a's sign.
void fn_copysign(const D& d, Sources s, Word* out) {
  const Word sign = signs(d);
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = ((s[0]->bits[i] & sign) | (s[1]->bits[i] & ~sign)) & low_bits(d.bits);
}

bool compare(const D& d, double a, double b) {
  const bool none = std::isnan(a) || std::isnan(b);
  if (d.comparison == PtxComparison::Number) return !none;
  if (d.comparison == PtxComparison::NotNumber) return none;
  if (none) return d.unordered;
  switch (d.comparison) {
    case PtxComparison::Eq: return a == b;
    case PtxComparison::Ne: return a != b;
    case PtxComparison::Lt: return a < b;
    case PtxComparison::Le: return a <= b;
    case PtxComparison::Gt: return a > b;
    default: return a >= b;
  }
}
Word joined(const D& d, Word result, Word other) {
  if (d.second) result ^= 1;
  if (d.join_negated) other ^= 1;
  if (d.join == BoolJoin::And) return result & other & 1;
  if (d.join == BoolJoin::Or) return (result | other) & 1;
  if (d.join == BoolJoin::Xor) return (result ^ other) & 1;
  return result;
}
void fn_setp(const D& d, Sources s, Word* out) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Word a = s[0]->bits[i], b = s[1]->bits[i];
    const bool is = d.bits == 64 ? compare(d, twice(a), twice(b)) : compare(d, single(a), single(b));
    out[i] = joined(d, is ? 1 : 0, d.join == BoolJoin::None ? 0 : s[2]->bits[i]);
  }
}
KnownBits known_setp(const D& d, const KnownBits* s) {
  if (d.join == BoolJoin::None || d.join == BoolJoin::Xor || s[2].unknown != 0) return {0, 1};
  const Word other = (s[2].bits ^ (d.join_negated ? 1 : 0)) & 1;
  const Word decides = d.join == BoolJoin::Or ? 1 : 0;
  return other == decides ? KnownBits{decides, 0} : KnownBits{0, 1};
}
void fn_set(const D& d, Sources s, Word* out) {
  fn_setp(d, s, out);
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = out[i] != 0 ? d.word : 0;
}

// Conversions. mode: 1 nearest, 2 to zero, 3 down, 4 up (to integers).
void fn_from_integer(const D& d, Sources s, Word* out) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Word bits = s[0]->bits[i] & low_bits(d.from_bits);
    const std::int64_t value = sign_extend(bits, d.from_bits);
    if (d.bits == 64)
      out[i] = bits_of_twice(d.is_signed ? static_cast<double>(value) : static_cast<double>(bits));
    else
      out[i] = bits_of_single(d.is_signed ? static_cast<float>(value) : static_cast<float>(bits));
  }
}
double rounded(const D& d, double value) {
  switch (d.mode) {
    case 2: return std::trunc(value);
    case 3: return std::floor(value);
    case 4: return std::ceil(value);
    default: return std::nearbyint(value);
  }
}
void fn_to_integer(const D& d, Sources s, Word* out) {
  const double most = std::ldexp(1.0, d.is_signed ? d.bits - 1 : d.bits), least = d.is_signed ? -most : 0.0;
  for (std::size_t i = 0; i < kLanes; ++i) {
    const double value = rounded(d, d.from_bits == 64 ? twice(s[0]->bits[i]) : single(s[0]->bits[i]));
    Word result = 0;
    if (value >= most)
      result = low_bits(d.is_signed ? d.bits - 1 : d.bits);
    else if (value <= least)
      result = d.is_signed ? 1ull << (d.bits - 1) : 0;
    else if (!std::isnan(value))
      result = d.is_signed ? static_cast<Word>(static_cast<std::int64_t>(value)) : static_cast<Word>(value);
    result &= low_bits(d.bits);
    out[i] = (d.is_signed ? static_cast<Word>(sign_extend(result, d.bits)) : result) & low_bits(d.result_bits);
  }
}
void fn_resize(const D& d, Sources s, Word* out) {
  for (std::size_t i = 0; i < kLanes; ++i) {
    double value = d.from_bits == 64 ? twice(s[0]->bits[i]) : single(s[0]->bits[i]);
    if (d.mode != 0) value = rounded(d, value);
    out[i] = d.bits == 64 ? bits_of_twice(value) : bits_of_single(static_cast<float>(value));
  }
}

bool set(DecodedInstruction& d, LaneFunction function, KnownBitsFunction known) {
  d.function = function;
  d.known_bits = known;
  return true;
}

/// A float of any kind, by its bits; 0: no float. `pair`: two (or more) in one register.
int float_bits(std::string_view word, bool& pair) {
  const Scalar type = scalar_of(word);
  if (type == Scalar::None || !is_float(type)) {
    pair = word.size() > 2 && word.find('x') != std::string_view::npos &&
           (word[0] == 'e' || word[0] == 'u' || word[0] == 'b' || word[0] == 'f');
    return pair ? 32 : 0;
  }
  pair = word.size() > 2 && word.substr(word.size() - 2) == "x2";
  return bits_of(type);
}

std::int16_t rounding_of(const PtxInstruction& i) {
  if (i.has("rni")) return 1;
  if (i.has("rzi")) return 2;
  if (i.has("rmi")) return 3;
  if (i.has("rpi")) return 4;
  return 0;
}

bool integer_word(std::string_view word, int& bits, bool& is_signed) {
  const Scalar type = scalar_of(word);
  if (type == Scalar::None || type == Scalar::Pred || is_float(type) || bits_of(type) > 64) return false;
  bits = bits_of(type);
  is_signed = ptx::is_signed(type);
  return true;
}

bool decode_cvt(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 3) return false;
  std::string_view to = i.words[i.words.size() - 2], from = i.words.back();
  bool to_pair = false, from_pair = false, is_signed = false;
  if (i.words.size() > 3 && i.opcode == Opcode::Cvt && from == "scaled::n2::ue8m0") {
    from = to;
    to = i.words[i.words.size() - 3];
  }
  int to_bits = float_bits(to, to_pair), from_bits = float_bits(from, from_pair), bits = 0;
  d.mode = rounding_of(i);
  d.bits = static_cast<std::int8_t>(to_bits);
  d.from_bits = static_cast<std::int8_t>(from_bits);
  if (to_bits == 0 && from_bits != 0 && integer_word(to, bits, is_signed)) {
    d.bits = static_cast<std::int8_t>(bits);
    d.is_signed = is_signed;
    if (!from_pair && (from == "f32" || from == "f64")) return d.count >= 1 && set(d, fn_to_integer, nullptr);
    return set(d, nullptr, nullptr);
  }
  if (to_bits != 0 && from_bits == 0 && integer_word(from, bits, is_signed)) {
    d.from_bits = static_cast<std::int8_t>(bits);
    d.is_signed = is_signed;
    if (!to_pair && (to == "f32" || to == "f64")) return d.count >= 1 && set(d, fn_from_integer, nullptr);
    return set(d, nullptr, nullptr);
  }
  if (to_bits == 0 || from_bits == 0) return false;
  if (to_pair && !from_pair && d.count == 2) return set(d, nullptr, known_pack);
  if (to_pair || from_pair) return set(d, nullptr, nullptr);
  const bool computed = (to == "f32" || to == "f64") && (from == "f32" || from == "f64");
  d.mode = computed ? d.mode : 0;
  return set(d, computed ? fn_resize : nullptr, known_cvt);
}

bool decode_compare(const PtxInstruction& i, DecodedInstruction& d, bool computed) {
  struct Row {
    std::string_view word;
    PtxComparison comparison;
    bool unordered;
  };
  static constexpr Row rows[] = {
      {"eq", PtxComparison::Eq, false},      {"ne", PtxComparison::Ne, false},        {"lt", PtxComparison::Lt, false},
      {"le", PtxComparison::Le, false},      {"gt", PtxComparison::Gt, false},        {"ge", PtxComparison::Ge, false},
      {"equ", PtxComparison::Eq, true},      {"neu", PtxComparison::Ne, true},        {"ltu", PtxComparison::Lt, true},
      {"leu", PtxComparison::Le, true},      {"gtu", PtxComparison::Gt, true},        {"geu", PtxComparison::Ge, true},
      {"num", PtxComparison::Number, false}, {"nan", PtxComparison::NotNumber, false}};
  if (i.words.size() < 3) return false;
  const Row* found = nullptr;
  for (const Row& row : rows)
    if (row.word == i.words[1]) found = &row;
  if (found == nullptr) return false;
  d.comparison = found->comparison;
  d.unordered = found->unordered;
  d.join = i.has("and") ? BoolJoin::And : i.has("or") ? BoolJoin::Or : i.has("xor") ? BoolJoin::Xor : BoolJoin::None;
  if (d.count < (d.join == BoolJoin::None ? 2 : 3)) return false;
  if (d.join == BoolJoin::None) d.join_negated = false;
  if (i.opcode == Opcode::Setp) return set(d, computed ? fn_setp : nullptr, known_setp);
  const std::string_view to = i.words[i.words.size() - 2];
  d.word = to == "f32" ? 0x3F800000u : 0xFFFFFFFFu;
  return set(d, computed && (to == "u32" || to == "s32" || to == "f32") ? fn_set : nullptr, nullptr);
}

}  // namespace

bool decode_floats(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 2) return false;
  if (i.opcode == Opcode::Cvt) return decode_cvt(i, d);
  bool pair = false;
  const int bits = float_bits(i.words.back(), pair);
  if (bits == 0 || bits > 64) return false;
  d.bits = static_cast<std::int8_t>(bits);
  // A half of a register pair has its own sign; f32x2 has two of 32 bits.
  d.word = !pair ? sign_of(bits) : bits == 64 ? 0x8000000080000000ull : 0x80008000ull;
  const std::string_view type = i.words.back();
  // Flushed and saturated results, and other ways to round, are not worked out.
  const bool plain =
      !i.has("ftz") && !i.has("sat") && !i.has("rz") && !i.has("rm") && !i.has("rp") && !i.has("approx") && !i.has("xorsign");
  const bool computed = (type == "f32" || type == "f64") && plain;
  const auto result = [&](int count, LaneFunction function, KnownBitsFunction known) {
    return d.count >= count && set(d, computed ? function : nullptr, known);
  };
  switch (i.opcode) {
    case Opcode::Add: return result(2, fn_add, known_both);
    case Opcode::Sub: return result(2, fn_sub, nullptr);
    case Opcode::Mul: return result(2, fn_mul, known_both);
    case Opcode::Div: return result(2, fn_div, known_both);
    case Opcode::Fma:
    case Opcode::Mad: return result(3, fn_fma, known_fma);
    case Opcode::Max:
      return result(2, d.count == 2 && !i.has("NaN") && !i.has("abs") ? fn_max : nullptr, d.count == 2 ? known_either : nullptr);
    case Opcode::Min:
      return result(2, d.count == 2 && !i.has("NaN") && !i.has("abs") ? fn_min : nullptr, d.count == 2 ? known_both : nullptr);
    case Opcode::Rcp: return result(1, fn_rcp, known_one);
    case Opcode::Sqrt: return result(1, fn_sqrt, known_one);
    case Opcode::Neg: return d.count >= 1 && set(d, fn_neg, known_neg);
    case Opcode::Abs: return d.count >= 1 && set(d, fn_abs, known_abs);
    case Opcode::Copysign: return d.count >= 2 && set(d, fn_copysign, nullptr);
    case Opcode::Ex2: return set(d, nullptr, known_positive);
    case Opcode::Tanh:
    case Opcode::Rsqrt: return set(d, nullptr, known_one);
    case Opcode::Lg2:
    case Opcode::Sin:
    case Opcode::Cos:
    case Opcode::Testp:
    case Opcode::Slct: return set(d, nullptr, nullptr);
    case Opcode::Setp:
    case Opcode::Set: return decode_compare(i, d, computed);
    default: return false;
  }
}

}  // namespace heddle::ptx
