// Integer, logic and bit instructions of PTX on 32 lanes, and what is known of their results where bits of an operand are not.
#include <algorithm>
#include <bit>

#include "ptx/run/inside.h"

namespace heddle::ptx {

namespace {

using Word = std::uint64_t;
using D = DecodedInstruction;
using Sources = const LaneValues* const*;
__extension__ using Wide = __int128;

Word field(const D& d, Word value) { return value & low_bits(d.bits); }
std::int64_t number(const D& d, Word value) {
  return d.is_signed ? sign_extend(value, d.bits) : static_cast<std::int64_t>(field(d, value));
}

template <class F>
void map1(Sources s, Word* out, const F& f) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = f(s[0]->bits[i]);
}
template <class F>
void map2(Sources s, Word* out, const F& f) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = f(s[0]->bits[i], s[1]->bits[i]);
}
template <class F>
void map3(Sources s, Word* out, const F& f) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = f(s[0]->bits[i], s[1]->bits[i], s[2]->bits[i]);
}
template <class F>
void map4(Sources s, Word* out, const F& f) {
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = f(s[0]->bits[i], s[1]->bits[i], s[2]->bits[i], s[3]->bits[i]);
}

// modes
enum Part : std::int16_t { kLow, kHigh, kWideProduct, kSaturate, kPairs };
enum ShiftMode : std::int16_t { kClamp, kWrap };

// --- what is known where bits are not

KnownBits all_unknown(const D& d) { return {0, low_bits(d.result_bits)}; }

/// Sums and low halves of products: below the lowest unknown bit everything is known.
KnownBits known_below(const D& d, Word value, Word unknown) {
  const Word mask = unknown == 0 ? 0 : ~low_bits(std::countr_zero(unknown));
  return {value & low_bits(d.bits) & ~mask, mask & low_bits(d.bits)};
}

KnownBits known_and(const D&, const KnownBits* s) {
  const Word one = (s[0].bits | s[0].unknown) & (s[1].bits | s[1].unknown);
  const Word sure = s[0].bits & s[1].bits;
  return {sure, one & ~sure};
}
KnownBits known_or(const D&, const KnownBits* s) {
  const Word sure = s[0].bits | s[1].bits;
  return {sure, (s[0].unknown | s[1].unknown) & ~sure};
}
KnownBits known_xor(const D&, const KnownBits* s) {
  const Word unknown = s[0].unknown | s[1].unknown;
  return {(s[0].bits ^ s[1].bits) & ~unknown, unknown};
}
KnownBits known_not(const D& d, const KnownBits* s) {
  return {~s[0].bits & ~s[0].unknown & low_bits(d.bits), s[0].unknown & low_bits(d.bits)};
}
KnownBits known_lop3(const D& d, const KnownBits* s) {
  // A bit is known where both of its possible values agree over all choices of the unknown ones.
  Word can_be_one = 0, can_be_zero = 0;
  for (unsigned row = 0; row < 8; ++row) {
    Word possible = ~0ull;
    for (unsigned i = 0; i < 3; ++i) {
      const bool one = (row >> (2 - i) & 1) != 0;
      possible &= one ? (s[i].bits | s[i].unknown) : ~s[i].bits;
    }
    ((d.word >> row & 1) != 0 ? can_be_one : can_be_zero) |= possible;
  }
  const Word mask = low_bits(d.bits);
  return {can_be_one & ~can_be_zero & mask, can_be_one & can_be_zero & mask};
}
KnownBits known_move(const D& d, const KnownBits* s) {
  return {s[0].bits & ~s[0].unknown & low_bits(d.bits), s[0].unknown & low_bits(d.bits)};
}
KnownBits known_add(const D& d, const KnownBits* s) {
  if (d.mode == kPairs || d.mode == kSaturate) return all_unknown(d);
  return known_below(d, s[0].bits + s[1].bits, s[0].unknown | s[1].unknown);
}
KnownBits known_sub(const D& d, const KnownBits* s) {
  if (d.mode == kPairs || d.mode == kSaturate) return all_unknown(d);
  return known_below(d, s[0].bits - s[1].bits, s[0].unknown | s[1].unknown);
}
KnownBits known_mul(const D& d, const KnownBits* s) {
  if (d.mode != kLow) return all_unknown(d);
  for (int i = 0; i < 2; ++i)
    if (s[i].unknown == 0 && field(d, s[i].bits) == 0) return {0, 0};
  // A multiple of 2^n stays one.
  const int zeros = std::min(64, std::countr_zero(s[0].bits | s[0].unknown) + std::countr_zero(s[1].bits | s[1].unknown));
  const Word unknown = s[0].unknown | s[1].unknown;
  const int known = std::max(std::countr_zero(unknown), zeros);
  return {s[0].bits * s[1].bits & low_bits(known) & low_bits(d.bits), low_bits(d.bits) & ~low_bits(known)};
}
KnownBits known_shl(const D& d, const KnownBits* s) {
  if (s[1].unknown != 0) return all_unknown(d);
  const Word by = s[1].bits & 0xFFFFFFFFu;
  if (by >= static_cast<Word>(d.bits)) return {0, 0};
  return {field(d, (s[0].bits & ~s[0].unknown) << by), field(d, s[0].unknown << by)};
}
KnownBits known_shr(const D& d, const KnownBits* s) {
  if (s[1].unknown != 0) return all_unknown(d);
  const int by = static_cast<int>(std::min<Word>(s[1].bits & 0xFFFFFFFFu, static_cast<Word>(d.bits)));
  const auto shift = [&](Word value) {
    if (d.is_signed) return field(d, static_cast<Word>(sign_extend(value, d.bits) >> std::min(by, 63)));
    return by >= 64 ? 0 : field(d, value) >> by;
  };
  return {shift(s[0].bits & ~s[0].unknown), shift(s[0].unknown)};
}
KnownBits known_selp(const D& d, const KnownBits* s) {
  if (s[2].unknown == 0) return (s[2].bits & 1) != 0 ? KnownBits{field(d, s[0].bits), field(d, s[0].unknown)} : KnownBits{field(d, s[1].bits), field(d, s[1].unknown)};
  const Word unknown = s[0].unknown | s[1].unknown | (s[0].bits ^ s[1].bits);
  return {field(d, s[0].bits & ~unknown), field(d, unknown)};
}
/// cvt: the source with its sign, cut to the destination's type (`word`: twice its bits, and 1 where it is signed), with that one's sign.
Word widened(const D& d, Word value) { return d.is_signed ? static_cast<Word>(sign_extend(value, d.from_bits)) : value & low_bits(d.from_bits); }
Word cut(const D& d, Word value) {
  const int to = static_cast<int>(d.word >> 1);
  const Word bits = value & low_bits(to);
  return ((d.word & 1) != 0 ? static_cast<Word>(sign_extend(bits, to)) : bits) & low_bits(d.result_bits);
}
KnownBits known_cvt(const D& d, const KnownBits* s) {
  if (d.mode == kSaturate) return all_unknown(d);
  const Word unknown = cut(d, widened(d, s[0].unknown));
  return {cut(d, widened(d, s[0].bits)) & ~unknown, unknown};
}
KnownBits known_bfe(const D& d, const KnownBits* s) {
  if ((s[1].unknown | s[2].unknown) != 0 || d.is_signed) return all_unknown(d);
  const Word at = s[1].bits & 0xFF, length = s[2].bits & 0xFF;
  const auto take = [&](Word value) { return at >= 64 ? 0 : field(d, value) >> at & low_bits(static_cast<int>(std::min<Word>(length, 64))); };
  return {take(s[0].bits & ~s[0].unknown), take(s[0].unknown)};
}
KnownBits known_bfi(const D& d, const KnownBits* s) {
  if ((s[2].unknown | s[3].unknown) != 0) return all_unknown(d);
  const Word at = s[2].bits & 0xFF, length = s[3].bits & 0xFF;
  if (at >= static_cast<Word>(d.bits)) return {field(d, s[1].bits), field(d, s[1].unknown)};
  const Word mask = low_bits(static_cast<int>(std::min<Word>(length, 64))) << at;
  const auto put = [&](Word value, Word under) { return field(d, (under & ~mask) | (value << at & mask)); };
  return {put(s[0].bits & ~s[0].unknown, s[1].bits & ~s[1].unknown), put(s[0].unknown, s[1].unknown)};
}
KnownBits known_prmt(const D& d, const KnownBits* s) {
  if (d.mode != 0 || s[2].unknown != 0) return all_unknown(d);
  const Word value = (s[1].bits & 0xFFFFFFFFu) << 32 | (s[0].bits & 0xFFFFFFFFu);
  const Word unknown = (s[1].unknown & 0xFFFFFFFFu) << 32 | (s[0].unknown & 0xFFFFFFFFu);
  KnownBits out;
  for (int k = 0; k < 4; ++k) {
    const Word pick = s[2].bits >> (4 * k) & 15;
    const auto take = [&](Word from) {
      const Word byte = from >> (8 * (pick & 7)) & 0xFF;
      return (pick & 8) == 0 ? byte : (byte & 0x80) != 0 ? Word{0xFF} : Word{0};
    };
    out.bits |= take(value & ~unknown) << (8 * k);
    out.unknown |= take(unknown) << (8 * k);
  }
  return out;
}
KnownBits known_shf(const D& d, const KnownBits* s);

bool compare(Comparison comparison, std::int64_t a, std::int64_t b, bool is_signed) {
  const bool less = is_signed ? a < b : static_cast<Word>(a) < static_cast<Word>(b);
  switch (comparison) {
    case Comparison::Eq: return a == b;
    case Comparison::Ne: return a != b;
    case Comparison::Lt: return less;
    case Comparison::Le: return less || a == b;
    case Comparison::Gt: return !less && a != b;
    case Comparison::Ge: return !less;
    default: return false;
  }
}

Word join(const D& d, Word result, Word other) {
  if (d.second) result ^= 1;
  if (d.join_negated) other ^= 1;
  switch (d.join) {
    case BoolJoin::And: return result & other & 1;
    case BoolJoin::Or: return (result | other) & 1;
    case BoolJoin::Xor: return (result ^ other) & 1;
    case BoolJoin::None: break;
  }
  return result;
}

KnownBits join_known(const D& d, KnownBits result, KnownBits other) {
  if (d.second && result.unknown == 0) result.bits ^= 1;
  if (d.join == BoolJoin::None) return result;
  if (d.join_negated && other.unknown == 0) other.bits ^= 1;
  const Word decides = d.join == BoolJoin::Or ? 1 : 0;
  if (d.join != BoolJoin::Xor) {
    if (result.unknown == 0 && result.bits == decides) return {decides, 0};
    if (other.unknown == 0 && (other.bits & 1) == decides) return {decides, 0};
  }
  if ((result.unknown | other.unknown) != 0) return {0, 1};
  D plain = d;
  plain.second = plain.join_negated = false;
  return {join(plain, result.bits, other.bits & 1), 0};
}

/// Comparisons are known where the least and the greatest that the operands can be agree.
KnownBits compare_known(const D& d, const KnownBits* s) {
  const Word mask = low_bits(d.bits);
  const Word a = s[0].bits & ~s[0].unknown & mask, b = s[1].bits & ~s[1].unknown & mask;
  const Word ua = s[0].unknown & mask, ub = s[1].unknown & mask;
  if ((ua | ub) == 0) return {compare(d.comparison, number(d, a), number(d, b), d.is_signed) ? 1u : 0u, 0};
  const bool differ = ((a ^ b) & ~(ua | ub)) != 0;
  if (d.comparison == Comparison::Eq || d.comparison == Comparison::Ne) {
    if (differ) return {d.comparison == Comparison::Ne ? 1u : 0u, 0};
    return {0, 1};
  }
  const Word sign = d.is_signed ? 1ull << (d.bits - 1) : 0;
  const auto least = [&](Word known, Word unknown) { return number(d, known | (unknown & sign)); };
  const auto most = [&](Word known, Word unknown) { return number(d, known | (unknown & ~sign)); };
  const std::int64_t low_a = least(a, ua), high_a = most(a, ua), low_b = least(b, ub), high_b = most(b, ub);
  const bool upward = d.comparison == Comparison::Gt || d.comparison == Comparison::Ge;
  const bool one = compare(d.comparison, upward ? low_a : high_a, upward ? high_b : low_b, d.is_signed);
  const bool other = compare(d.comparison, upward ? high_a : low_a, upward ? low_b : high_b, d.is_signed);
  if (one) return {1, 0};
  if (!other) return {0, 0};
  return {0, 1};
}
KnownBits known_setp(const D& d, const KnownBits* s) { return join_known(d, compare_known(d, s), s[2]); }

// --- arithmetic

template <class F>
Word in_halves(Word a, Word b, const F& f) {
  return (f(a & 0xFFFF, b & 0xFFFF) & 0xFFFF) | (f(a >> 16 & 0xFFFF, b >> 16 & 0xFFFF) & 0xFFFF) << 16;
}

std::int64_t clamp32(std::int64_t value) { return std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX); }

Word high_product(const D& d, Word a, Word b) {
  if (d.is_signed) return static_cast<Word>(static_cast<Wide>(number(d, a)) * number(d, b) >> d.bits);
  __extension__ using Unsigned = unsigned __int128;
  return static_cast<Word>(static_cast<Unsigned>(field(d, a)) * field(d, b) >> d.bits);
}
Word product(const D& d, Word a, Word b) {
  if (d.mode == kHigh || d.mode == kSaturate) return high_product(d, a, b);
  if (d.mode == kWideProduct) return static_cast<Word>(number(d, a)) * static_cast<Word>(number(d, b)) & low_bits(2 * d.bits);
  return a * b;
}
void fn_add(const D& d, Sources s, Word* out) {
  if (d.mode == kPairs) return map2(s, out, [](Word a, Word b) { return in_halves(a, b, [](Word x, Word y) { return x + y; }); });
  if (d.mode == kSaturate)
    return map2(s, out, [&](Word a, Word b) { return field(d, static_cast<Word>(clamp32(sign_extend(a, 32) + sign_extend(b, 32)))); });
  const Word mask = low_bits(d.bits);
  map2(s, out, [mask](Word a, Word b) { return (a + b) & mask; });
}
void fn_sub(const D& d, Sources s, Word* out) {
  if (d.mode == kSaturate)
    return map2(s, out, [&](Word a, Word b) { return field(d, static_cast<Word>(clamp32(sign_extend(a, 32) - sign_extend(b, 32)))); });
  const Word mask = low_bits(d.bits);
  map2(s, out, [mask](Word a, Word b) { return (a - b) & mask; });
}
void fn_mul(const D& d, Sources s, Word* out) {
  const Word mask = d.mode == kWideProduct ? low_bits(2 * d.bits) : low_bits(d.bits);
  if (d.mode == kLow) return map2(s, out, [mask](Word a, Word b) { return a * b & mask; });
  map2(s, out, [&](Word a, Word b) { return product(d, a, b) & mask; });
}
void fn_mad(const D& d, Sources s, Word* out) {
  const Word mask = d.mode == kWideProduct ? low_bits(2 * d.bits) : low_bits(d.bits);
  if (d.mode == kSaturate)
    return map3(s, out, [&](Word a, Word b, Word c) {
      return field(d, static_cast<Word>(clamp32(sign_extend(high_product(d, a, b), 32) + sign_extend(c, 32))));
    });
  map3(s, out, [&](Word a, Word b, Word c) { return (product(d, a, b) + c) & mask; });
}
KnownBits known_mad(const D& d, const KnownBits* s) {
  if (d.mode != kLow) return all_unknown(d);
  const KnownBits times = known_mul(d, s);
  return known_below(d, times.bits + s[2].bits, times.unknown | s[2].unknown);
}
/// 24 bits each; the low 32 of the product's 48, or the high ones (shifted by 16).
Word product24(const D& d, Word a, Word b) {
  const std::int64_t x = d.is_signed ? sign_extend(a, 24) : static_cast<std::int64_t>(a & 0xFFFFFF);
  const std::int64_t y = d.is_signed ? sign_extend(b, 24) : static_cast<std::int64_t>(b & 0xFFFFFF);
  return static_cast<Word>(d.mode == kHigh ? x * y >> 16 : x * y) & 0xFFFFFFFFu;
}
void fn_mul24(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return product24(d, a, b); });
}
void fn_mad24(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return (product24(d, a, b) + c) & 0xFFFFFFFFu; });
}
Word quotient(const D& d, Word a, Word b, bool rest) {
  const Word divisor = field(d, b);
  if (divisor == 0) return rest ? field(d, a) : low_bits(d.bits);  // what GPUs give; PTX leaves it open
  if (!d.is_signed) return rest ? field(d, a) % divisor : field(d, a) / divisor;
  const std::int64_t x = number(d, a), y = number(d, b);
  if (y == -1) return rest ? 0 : field(d, 0 - static_cast<Word>(x));
  return field(d, static_cast<Word>(rest ? x % y : x / y));
}
void fn_div(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return quotient(d, a, b, false); });
}
void fn_rem(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return quotient(d, a, b, true); });
}
void fn_neg(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return field(d, 0 - a); });
}
void fn_abs(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return number(d, a) < 0 ? field(d, 0 - a) : field(d, a); });
}
template <bool kMost>
void fn_extreme(const D& d, Sources s, Word* out) {
  const bool relu = d.word != 0;
  if (d.mode == kPairs)
    return map2(s, out, [&](Word a, Word b) {
      return in_halves(a, b, [&](Word x, Word y) {
        const std::int64_t p = d.is_signed ? sign_extend(x, 16) : static_cast<std::int64_t>(x);
        const std::int64_t q = d.is_signed ? sign_extend(y, 16) : static_cast<std::int64_t>(y);
        const std::int64_t r = kMost ? std::max(p, q) : std::min(p, q);
        return static_cast<Word>(relu ? std::max<std::int64_t>(r, 0) : r);
      });
    });
  map2(s, out, [&](Word a, Word b) {
    const bool less = d.is_signed ? number(d, a) < number(d, b) : field(d, a) < field(d, b);
    const Word pick = field(d, less != kMost ? a : b);
    return relu && number(d, pick) < 0 ? 0 : pick;
  });
}
void fn_sad(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) {
    const bool less = d.is_signed ? number(d, a) < number(d, b) : field(d, a) < field(d, b);
    return field(d, c + (less ? b - a : a - b));
  });
}

// --- logic, bits

void fn_and(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return field(d, a & b); });
}
void fn_or(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return field(d, a | b); });
}
void fn_xor(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return field(d, a ^ b); });
}
void fn_not(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return field(d, ~a); });
}
void fn_cnot(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return field(d, a) == 0 ? Word{1} : Word{0}; });
}
Word lop3(Word a, Word b, Word c, Word table) {
  Word result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0) result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  return result;
}
void fn_lop3(const D& d, Sources s, Word* out) {
  const Word mask = low_bits(d.bits);
  map3(s, out, [&](Word a, Word b, Word c) { return lop3(a, b, c, d.word) & mask; });
  if (!d.second) return;
  // lop3.or.b32 d|p: whether the result is not 0, joined with q
  for (std::size_t i = 0; i < kLanes; ++i) {
    const Word some = out[i] != 0 ? 1 : 0, other = (s[4]->bits[i] ^ (d.join_negated ? 1 : 0)) & 1;
    out[i] = d.join == BoolJoin::And ? some & other : some | other;
  }
}
void fn_shl(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return (b & 0xFFFFFFFFu) >= static_cast<Word>(d.bits) ? 0 : field(d, a << (b & 63)); });
}
void fn_shr(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) {
    const Word by = std::min<Word>(b & 0xFFFFFFFFu, static_cast<Word>(d.bits));
    if (d.is_signed) return field(d, static_cast<Word>(number(d, a) >> std::min<Word>(by, 63)));
    return by >= 64 ? 0 : field(d, a) >> by;
  });
}
Word funnel(const D& d, Word a, Word b, Word c) {
  const Word by = d.mode == kWrap ? c & 31 : std::min<Word>(c & 0xFFFFFFFFu, 32);
  const Word both = (b & 0xFFFFFFFFu) << 32 | (a & 0xFFFFFFFFu);
  return (d.word != 0 ? (by == 0 ? both : both << by) >> 32 : both >> by) & 0xFFFFFFFFu;
}
void fn_shf(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return funnel(d, a, b, c); });
}
KnownBits known_shf(const D& d, const KnownBits* s) {
  if (s[2].unknown != 0) return all_unknown(d);
  const Word unknown = funnel(d, s[0].unknown, s[1].unknown, s[2].bits);
  return {funnel(d, s[0].bits, s[1].bits, s[2].bits) & ~unknown, unknown};
}
void fn_bfe(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) -> Word {
    const int at = static_cast<int>(b & 0xFF), length = static_cast<int>(c & 0xFF), top = d.bits - 1;
    if (length == 0) return 0;
    const Word value = field(d, a);
    const bool negative = d.is_signed && (value >> std::min(at + length - 1, top) & 1) != 0;
    Word bits = at > top ? 0 : value >> at & low_bits(std::min(length, 64));
    // beyond the operand's end its sign is taken
    const int have = std::max(0, std::min(length, d.bits - at));
    if (negative) bits |= ~low_bits(have);
    return field(d, bits);
  });
}
void fn_bfi(const D& d, Sources s, Word* out) {
  map4(s, out, [&](Word a, Word b, Word c, Word e) {
    const Word at = c & 0xFF;
    const int length = static_cast<int>(std::min<Word>(e & 0xFF, 64));
    if (at >= static_cast<Word>(d.bits)) return field(d, b);
    const Word mask = low_bits(length) << at;
    return field(d, (b & ~mask) | (a << at & mask));
  });
}
void fn_bfind(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) -> Word {
    const Word value = number(d, a) < 0 && d.is_signed ? field(d, ~a) : field(d, a);
    if (value == 0) return 0xFFFFFFFFu;
    const int top = 63 - std::countl_zero(value);
    return static_cast<Word>(d.mode == 1 ? d.bits - 1 - top : top);
  });
}
void fn_clz(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return static_cast<Word>(std::countl_zero(field(d, a)) - (64 - d.bits)); });
}
void fn_popc(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return static_cast<Word>(std::popcount(field(d, a))); });
}
void fn_brev(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) {
    Word result = 0;
    for (int i = 0; i < d.bits; ++i) result |= (a >> i & 1) << (d.bits - 1 - i);
    return result;
  });
}
void fn_bmsk(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) {
    const Word at = d.mode == kWrap ? a & 31 : a & 0xFFFFFFFFu, length = d.mode == kWrap ? b & 31 : std::min<Word>(b & 0xFFFFFFFFu, 32);
    return at >= 32 ? 0 : low_bits(static_cast<int>(length)) << at & 0xFFFFFFFFu;
  });
}
void fn_szext(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) -> Word {
    const Word length = d.mode == kWrap ? b & 31 : std::min<Word>(b & 0xFFFFFFFFu, 32);
    if (length == 0) return 0;
    const Word value = a & low_bits(static_cast<int>(length));
    return (d.is_signed ? static_cast<Word>(sign_extend(value, static_cast<int>(length))) : value) & 0xFFFFFFFFu;
  });
}
void fn_fns(const D&, Sources s, Word* out) {
  map3(s, out, [](Word mask, Word base, Word offset) -> Word {
    const int first = static_cast<int>(base & 31), wanted = static_cast<int>(sign_extend(offset, 32));
    if (wanted == 0) return (mask >> first & 1) != 0 ? static_cast<Word>(first) : 0xFFFFFFFFu;
    int left = std::abs(wanted);
    for (int at = first; at >= 0 && at < 32; at += wanted > 0 ? 1 : -1)
      if ((mask >> at & 1) != 0 && --left == 0) return static_cast<Word>(at);
    return 0xFFFFFFFFu;
  });
}
/// Bytes that prmt picks in its special modes, by the low two bits of its third operand (PTX ISA, prmt).
Word permute(const D& d, Word a, Word b, Word c) {
  const Word value = (b & 0xFFFFFFFFu) << 32 | (a & 0xFFFFFFFFu);
  Word result = 0;
  for (int k = 0; k < 4; ++k) {
    const int i = static_cast<int>(c & 3);
    int pick = static_cast<int>(c >> (4 * k) & 15);
    switch (d.mode) {
      case 1: pick = (i + k) & 7; break;            // f4e
      case 2: pick = (i - k) & 7; break;            // b4e
      case 3: pick = i; break;                      // rc8
      case 4: pick = std::max(i, k); break;         // ecl
      case 5: pick = std::min(i, k); break;         // ecr
      case 6: pick = (i & 1) * 2 + (k & 1); break;  // rc16
      default: break;
    }
    Word byte = value >> (8 * (pick & 7)) & 0xFF;
    if (d.mode == 0 && (pick & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    result |= byte << (8 * k);
  }
  return result;
}
void fn_prmt(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return permute(d, a, b, c); });
}
/// dp4a and dp2a: `word` bit 0: a is signed, bit 1: b is; mode: dp2a takes b's low or high half (kHigh).
void fn_dp4a(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) {
    std::int64_t sum = static_cast<std::int64_t>(c);
    for (int k = 0; k < 4; ++k) {
      const Word x = a >> (8 * k) & 0xFF, y = b >> (8 * k) & 0xFF;
      sum += ((d.word & 1) != 0 ? sign_extend(x, 8) : static_cast<std::int64_t>(x)) *
             ((d.word & 2) != 0 ? sign_extend(y, 8) : static_cast<std::int64_t>(y));
    }
    return static_cast<Word>(sum) & 0xFFFFFFFFu;
  });
}
void fn_dp2a(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) {
    std::int64_t sum = static_cast<std::int64_t>(c);
    for (int k = 0; k < 2; ++k) {
      const Word x = a >> (16 * k) & 0xFFFF, y = b >> (8 * (k + (d.mode == kHigh ? 2 : 0))) & 0xFF;
      sum += ((d.word & 1) != 0 ? sign_extend(x, 16) : static_cast<std::int64_t>(x)) *
             ((d.word & 2) != 0 ? sign_extend(y, 8) : static_cast<std::int64_t>(y));
    }
    return static_cast<Word>(sum) & 0xFFFFFFFFu;
  });
}

// --- moves, comparisons, conversions

void fn_mov(const D& d, Sources s, Word* out) {
  const Word mask = low_bits(d.bits);
  map1(s, out, [mask](Word a) { return a & mask; });
}
void fn_selp(const D& d, Sources s, Word* out) {
  const Word mask = low_bits(d.bits);
  map3(s, out, [mask](Word a, Word b, Word p) { return ((p & 1) != 0 ? a : b) & mask; });
}
void fn_slct(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return field(d, sign_extend(c, 32) >= 0 ? a : b); });
}
void fn_setp(const D& d, Sources s, Word* out) {
  const LaneValues* const third = s[d.join == BoolJoin::None ? 0 : 2];
  for (std::size_t i = 0; i < kLanes; ++i) {
    const bool is = compare(d.comparison, number(d, s[0]->bits[i]), number(d, s[1]->bits[i]), d.is_signed);
    out[i] = join(d, is ? 1 : 0, third->bits[i]);  // `out` may be the third source
  }
}
void fn_set(const D& d, Sources s, Word* out) {
  fn_setp(d, s, out);
  for (std::size_t i = 0; i < kLanes; ++i) out[i] = out[i] != 0 ? d.word : 0;
}
KnownBits known_set(const D& d, const KnownBits* s) {
  const KnownBits known = known_setp(d, s);
  return known.unknown != 0 ? KnownBits{0, d.word} : KnownBits{known.bits != 0 ? d.word : 0, 0};
}
void fn_cvt(const D& d, Sources s, Word* out) {
  if (d.mode != kSaturate) return map1(s, out, [&](Word a) { return cut(d, widened(d, a)); });
  map1(s, out, [&](Word a) {
    const bool to_signed = (d.word & 1) != 0;
    const int to = static_cast<int>(d.word >> 1);
    const Word wide = widened(d, a);
    const Wide value = d.is_signed ? static_cast<Wide>(static_cast<std::int64_t>(wide)) : static_cast<Wide>(wide);
    const Wide most = static_cast<Wide>(low_bits(to_signed ? to - 1 : to)), least = to_signed ? -most - 1 : Wide{0};
    return cut(d, static_cast<Word>(value < least ? least : value > most ? most : value));
  });
}

struct NumberType {
  int bits = 0;
  char kind = 0;  ///< s u b p
  bool pairs = false;
};
NumberType type_of(std::string_view word) {
  if (word == "pred") return {1, 'p', false};
  if (word.size() < 2 || (word[0] != 's' && word[0] != 'u' && word[0] != 'b')) return {};
  NumberType type{0, word[0], false};
  std::size_t at = 1;
  for (; at < word.size() && word[at] >= '0' && word[at] <= '9' && type.bits < 1000; ++at) type.bits = type.bits * 10 + (word[at] - '0');
  if (word.substr(at) == "x2" && type.bits == 16)
    type.pairs = true, type.bits = 32;
  else if (at != word.size())
    return {};
  if (type.bits != 8 && type.bits != 16 && type.bits != 32 && type.bits != 64) return {};
  return type;
}

bool comparison_of(std::string_view word, DecodedInstruction& d) {
  struct Row {
    std::string_view word;
    Comparison comparison;
    bool is_unsigned;
  };
  static constexpr Row rows[] = {{"eq", Comparison::Eq, false}, {"ne", Comparison::Ne, false}, {"lt", Comparison::Lt, false},
                                 {"le", Comparison::Le, false}, {"gt", Comparison::Gt, false}, {"ge", Comparison::Ge, false},
                                 {"lo", Comparison::Lt, true},  {"ls", Comparison::Le, true},  {"hi", Comparison::Gt, true},
                                 {"hs", Comparison::Ge, true}};
  for (const Row& row : rows)
    if (row.word == word) {
      d.comparison = row.comparison;
      if (row.is_unsigned) d.is_signed = false;
      return true;
    }
  return false;
}

BoolJoin join_of(const PtxInstruction& instruction, std::size_t from) {
  for (std::size_t i = from; i + 1 < instruction.words.size(); ++i) {
    if (instruction.words[i] == "and") return BoolJoin::And;
    if (instruction.words[i] == "or") return BoolJoin::Or;
    if (instruction.words[i] == "xor") return BoolJoin::Xor;
  }
  return BoolJoin::None;
}

bool set(DecodedInstruction& d, int count, LaneFunction function, KnownBitsFunction known = nullptr) {
  if (d.count < count) return false;
  d.function = function;
  d.known_bits = known;
  return true;
}

bool decode_compare(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 3 || !comparison_of(i.words[1], d)) return false;
  d.join = join_of(i, 2);
  const int count = d.join == BoolJoin::None ? 2 : 3;
  if (d.join == BoolJoin::None) d.join_negated = false;
  if (i.opcode == Opcode::Setp) return set(d, count, fn_setp, known_setp);
  const std::string_view to = i.words[i.words.size() - 2];
  d.word = to == "f32" ? 0x3F800000u : 0xFFFFFFFFu;
  return set(d, count, fn_set, known_set);
}

bool decode_cvt(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 3) return false;
  const NumberType to = type_of(i.words[i.words.size() - 2]), from = type_of(i.words.back());
  if (to.bits == 0 || from.bits == 0 || to.pairs || from.pairs) return false;
  d.from_bits = static_cast<std::int8_t>(from.bits);
  d.is_signed = from.kind == 's';
  d.bits = d.result_bits;
  d.word = static_cast<Word>(to.bits) << 1 | (to.kind == 's' ? 1 : 0);
  d.mode = i.has("sat") ? kSaturate : kLow;
  return set(d, 1, fn_cvt, known_cvt);
}

bool decode_permute(const PtxInstruction& i, DecodedInstruction& d) {
  static constexpr std::string_view modes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (std::int16_t mode = 1; mode < 7; ++mode)
    if (i.has(modes[mode])) d.mode = mode;
  return set(d, 3, fn_prmt, known_prmt);
}

bool decode_logic(const PtxInstruction& i, DecodedInstruction& d) {
  switch (i.opcode) {
    case Opcode::And: return set(d, 2, fn_and, known_and);
    case Opcode::Or: return set(d, 2, fn_or, known_or);
    case Opcode::Xor: return set(d, 2, fn_xor, known_xor);
    case Opcode::Not: return set(d, 1, fn_not, known_not);
    case Opcode::Cnot: return set(d, 1, fn_cnot);
    case Opcode::Lop3: {
      const std::size_t at = 4;
      if (i.operands.size() <= at || i.operands[at].kind != PtxOperand::Kind::Immediate) return false;
      d.word = i.operands[at].immediate & 0xFF;
      d.join = join_of(i, 1);
      return set(d, d.join == BoolJoin::None ? 4 : 5, fn_lop3, d.join == BoolJoin::None ? known_lop3 : nullptr);
    }
    case Opcode::Shl: return set(d, 2, fn_shl, known_shl);
    case Opcode::Shr: return set(d, 2, fn_shr, known_shr);
    case Opcode::Shf: {
      d.mode = i.has("wrap") ? kWrap : kClamp;
      d.word = i.has("l") ? 1 : 0;
      d.bits = 32;
      return set(d, 3, fn_shf, known_shf);
    }
    case Opcode::Bfe: return set(d, 3, fn_bfe, known_bfe);
    case Opcode::Bfi: return set(d, 4, fn_bfi, known_bfi);
    case Opcode::Bfind: d.mode = i.has("shiftamt") ? 1 : 0; return set(d, 1, fn_bfind);
    case Opcode::Clz: return set(d, 1, fn_clz);
    case Opcode::Popc: return set(d, 1, fn_popc);
    case Opcode::Brev: return set(d, 1, fn_brev);
    case Opcode::Bmsk: d.mode = i.has("wrap") ? kWrap : kClamp; return set(d, 2, fn_bmsk);
    case Opcode::Szext: d.mode = i.has("wrap") ? kWrap : kClamp; return set(d, 2, fn_szext);
    case Opcode::Fns: return set(d, 3, fn_fns);
    case Opcode::Prmt: return decode_permute(i, d);
    default: return false;
  }
}

bool decode_sums(const PtxInstruction& i, DecodedInstruction& d) {
  switch (i.opcode) {
    case Opcode::Add: return set(d, 2, fn_add, known_add);
    case Opcode::Sub: return set(d, 2, fn_sub, known_sub);
    case Opcode::Mul: return set(d, 2, fn_mul, known_mul);
    case Opcode::Mad: return set(d, 3, fn_mad, known_mad);
    case Opcode::Mul24: return set(d, 2, fn_mul24);
    case Opcode::Mad24: return set(d, 3, fn_mad24);
    case Opcode::Div: return set(d, 2, fn_div);
    case Opcode::Rem: return set(d, 2, fn_rem);
    case Opcode::Neg: return set(d, 1, fn_neg);
    case Opcode::Abs: return set(d, 1, fn_abs);
    case Opcode::Min: return set(d, 2, fn_extreme<false>);
    case Opcode::Max: return set(d, 2, fn_extreme<true>);
    case Opcode::Sad: return set(d, 3, fn_sad);
    default: return false;
  }
}

}  // namespace

bool decode_integers(const PtxInstruction& i, DecodedInstruction& d) {
  if (i.words.size() < 2) return false;
  const NumberType type = type_of(i.words.back());
  if (i.opcode == Opcode::Cvt) return decode_cvt(i, d);
  if (i.opcode == Opcode::Mov || i.opcode == Opcode::Selp) {
    // moves of floats are moves of bits
    const int bits = type.bits != 0 ? type.bits : bits_of(scalar_of(i.words.back()));
    if (bits <= 0 || bits > 64) return false;
    d.bits = static_cast<std::int8_t>(bits);
    if (i.opcode == Opcode::Mov) return d.count == 1 && set(d, 1, fn_mov, known_move);
    return set(d, 3, fn_selp, known_selp);
  }
  if (i.opcode == Opcode::Cvta) {
    // Addresses of all spaces are generic ones already.
    d.bits = d.result_bits;
    return set(d, 1, fn_mov, known_move);
  }
  if (i.opcode == Opcode::Slct && i.words.back() == "s32" && i.words.size() > 2) {
    const int bits = bits_of(scalar_of(i.words[i.words.size() - 2]));
    d.bits = static_cast<std::int8_t>(bits);
    return bits > 0 && bits <= 64 && set(d, 3, fn_slct);
  }
  if (type.bits == 0) return false;
  d.bits = static_cast<std::int8_t>(type.bits);
  d.is_signed = type.kind == 's';
  if (i.opcode == Opcode::Setp || i.opcode == Opcode::Set) return decode_compare(i, d);
  if (i.opcode == Opcode::Dp4a || i.opcode == Opcode::Dp2a) {
    if (i.words.size() < 3) return false;
    d.word = (i.words[i.words.size() - 2] == "s32" ? 1u : 0u) | (i.words.back() == "s32" ? 2u : 0u);
    d.mode = i.has("hi") ? kHigh : kLow;
    return set(d, 3, i.opcode == Opcode::Dp4a ? fn_dp4a : fn_dp2a);
  }
  if (type.pairs) {
    if (i.opcode != Opcode::Add && i.opcode != Opcode::Min && i.opcode != Opcode::Max) return false;
    d.mode = kPairs;
  } else if (i.has("wide")) {
    d.mode = kWideProduct;
    if (type.bits > 32) return false;
  } else if (i.has("hi")) {
    d.mode = i.has("sat") ? kSaturate : kHigh;
  } else if (i.has("sat")) {
    d.mode = kSaturate;
  }
  if (i.opcode == Opcode::Min || i.opcode == Opcode::Max) d.word = i.has("relu") ? 1 : 0;
  return decode_sums(i, d) || decode_logic(i, d);
}

}  // namespace heddle::ptx
