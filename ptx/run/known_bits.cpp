// What is known of a result where bits of an operand are not: masks, shifts, packed halves, comparisons that no choice of them changes.
#include <algorithm>

#include "ptx/run/lane_functions.h"

namespace heddle::ptx::lanes {

namespace {

KnownBits all_unknown(const D& d) { return {0, low_bits(d.result_bits)}; }

/// Sums and low halves of products: below the lowest unknown bit everything is known.
KnownBits known_below(const D& d, Word value, Word unknown) {
  const Word mask = unknown == 0 ? 0 : ~low_bits(std::countr_zero(unknown));
  return {value & low_bits(d.bits) & ~mask, mask & low_bits(d.bits)};
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
  if (d.comparison == PtxComparison::Eq || d.comparison == PtxComparison::Ne) {
    if (differ) return {d.comparison == PtxComparison::Ne ? 1u : 0u, 0};
    return {0, 1};
  }
  const Word sign = d.is_signed ? 1ull << (d.bits - 1) : 0;
  const auto least = [&](Word known, Word unknown) { return number(d, known | (unknown & sign)); };
  const auto most = [&](Word known, Word unknown) { return number(d, known | (unknown & ~sign)); };
  const std::int64_t low_a = least(a, ua), high_a = most(a, ua), low_b = least(b, ub), high_b = most(b, ub);
  const bool upward = d.comparison == PtxComparison::Gt || d.comparison == PtxComparison::Ge;
  const bool one = compare(d.comparison, upward ? low_a : high_a, upward ? high_b : low_b, d.is_signed);
  const bool other = compare(d.comparison, upward ? high_a : low_a, upward ? low_b : high_b, d.is_signed);
  if (one) return {1, 0};
  if (!other) return {0, 0};
  return {0, 1};
}

}  // namespace

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
  if (s[2].unknown == 0)
    return (s[2].bits & 1) != 0 ? KnownBits{field(d, s[0].bits), field(d, s[0].unknown)}
                                : KnownBits{field(d, s[1].bits), field(d, s[1].unknown)};
  const Word unknown = s[0].unknown | s[1].unknown | (s[0].bits ^ s[1].bits);
  return {field(d, s[0].bits & ~unknown), field(d, unknown)};
}
KnownBits known_cvt(const D& d, const KnownBits* s) {
  if (d.mode == kSaturate) return all_unknown(d);
  const Word unknown = cut(d, widened(d, s[0].unknown));
  return {cut(d, widened(d, s[0].bits)) & ~unknown, unknown};
}
KnownBits known_bfe(const D& d, const KnownBits* s) {
  if ((s[1].unknown | s[2].unknown) != 0 || d.is_signed) return all_unknown(d);
  const Word at = s[1].bits & 0xFF, length = s[2].bits & 0xFF;
  const auto take = [&](Word value) {
    return at >= 64 ? 0 : field(d, value) >> at & low_bits(static_cast<int>(std::min<Word>(length, 64)));
  };
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
KnownBits known_mad(const D& d, const KnownBits* s) {
  if (d.mode != kLow) return all_unknown(d);
  const KnownBits times = known_mul(d, s);
  return known_below(d, times.bits + s[2].bits, times.unknown | s[2].unknown);
}
KnownBits known_shf(const D& d, const KnownBits* s) {
  if (s[2].unknown != 0) return all_unknown(d);
  const Word unknown = funnel(d, s[0].unknown, s[1].unknown, s[2].bits);
  return {funnel(d, s[0].bits, s[1].bits, s[2].bits) & ~unknown, unknown};
}

KnownBits known_setp(const D& d, const KnownBits* s) { return join_known(d, compare_known(d, s), s[2]); }

KnownBits known_set(const D& d, const KnownBits* s) {
  const KnownBits known = known_setp(d, s);
  return known.unknown != 0 ? KnownBits{0, d.word} : KnownBits{known.bits != 0 ? d.word : 0, 0};
}

}  // namespace heddle::ptx::lanes
