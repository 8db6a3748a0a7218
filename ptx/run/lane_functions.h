// Functions on 32 lanes that instructions of integers and bits are decoded to (decode_integers.cpp), and what is known of their results
// where bits of an operand are not.
#pragma once

#include <bit>

#include "ptx/run/inside.h"

namespace heddle::ptx::lanes {

using Word = std::uint64_t;
using D = DecodedInstruction;
using Sources = const LaneValues* const*;
__extension__ using Wide = __int128;

/// DecodedInstruction::mode of sums and products, of shifts.
enum ProductPart : std::int16_t { kLow, kHigh, kWideProduct, kSaturate, kPairs };
enum ShiftMode : std::int16_t { kClamp, kWrap };

inline Word field(const D& d, Word value) { return value & low_bits(d.bits); }
inline std::int64_t number(const D& d, Word value) {
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

/// cvt: the source with its sign, cut to the destination's type (`word`: twice its bits, and 1 where it is signed), with that one's sign.
inline Word widened(const D& d, Word value) {
  return d.is_signed ? static_cast<Word>(sign_extend(value, d.from_bits)) : value & low_bits(d.from_bits);
}
inline Word cut(const D& d, Word value) {
  const int to = static_cast<int>(d.word >> 1);
  const Word bits = value & low_bits(to);
  return ((d.word & 1) != 0 ? static_cast<Word>(sign_extend(bits, to)) : bits) & low_bits(d.result_bits);
}
/// shf: `word` is 1 to the left.
inline Word funnel(const D& d, Word a, Word b, Word c) {
  const Word by = d.mode == kWrap ? c & 31 : std::min<Word>(c & 0xFFFFFFFFu, 32);
  const Word both = (b & 0xFFFFFFFFu) << 32 | (a & 0xFFFFFFFFu);
  return (d.word != 0 ? (by == 0 ? both : both << by) >> 32 : both >> by) & 0xFFFFFFFFu;
}

inline bool compare(PtxComparison comparison, std::int64_t a, std::int64_t b, bool is_signed) {
  const bool less = is_signed ? a < b : static_cast<Word>(a) < static_cast<Word>(b);
  switch (comparison) {
    case PtxComparison::Eq: return a == b;
    case PtxComparison::Ne: return a != b;
    case PtxComparison::Lt: return less;
    case PtxComparison::Le: return less || a == b;
    case PtxComparison::Gt: return !less && a != b;
    case PtxComparison::Ge: return !less;
    default: return false;
  }
}

inline Word join(const D& d, Word result, Word other) {
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

// what lanes do
void fn_min(const D& d, Sources s, Word* out);
void fn_max(const D& d, Sources s, Word* out);
void fn_add(const D& d, Sources s, Word* out);
void fn_sub(const D& d, Sources s, Word* out);
void fn_mul(const D& d, Sources s, Word* out);
void fn_mad(const D& d, Sources s, Word* out);
void fn_mul24(const D& d, Sources s, Word* out);
void fn_mad24(const D& d, Sources s, Word* out);
void fn_div(const D& d, Sources s, Word* out);
void fn_rem(const D& d, Sources s, Word* out);
void fn_neg(const D& d, Sources s, Word* out);
void fn_abs(const D& d, Sources s, Word* out);
void fn_sad(const D& d, Sources s, Word* out);
void fn_dp4a(const D& d, Sources s, Word* out);
void fn_dp2a(const D& d, Sources s, Word* out);
void fn_and(const D& d, Sources s, Word* out);
void fn_or(const D& d, Sources s, Word* out);
void fn_xor(const D& d, Sources s, Word* out);
void fn_not(const D& d, Sources s, Word* out);
void fn_cnot(const D& d, Sources s, Word* out);
void fn_lop3(const D& d, Sources s, Word* out);
void fn_shl(const D& d, Sources s, Word* out);
void fn_shr(const D& d, Sources s, Word* out);
void fn_shf(const D& d, Sources s, Word* out);
void fn_bfe(const D& d, Sources s, Word* out);
void fn_bfi(const D& d, Sources s, Word* out);
void fn_bfind(const D& d, Sources s, Word* out);
void fn_clz(const D& d, Sources s, Word* out);
void fn_popc(const D& d, Sources s, Word* out);
void fn_brev(const D& d, Sources s, Word* out);
void fn_bmsk(const D& d, Sources s, Word* out);
void fn_szext(const D& d, Sources s, Word* out);
void fn_fns(const D& d, Sources s, Word* out);
void fn_prmt(const D& d, Sources s, Word* out);
void fn_mov(const D& d, Sources s, Word* out);
void fn_cvta(const D& d, Sources s, Word* out);  ///< `word`: where its window begins
void fn_selp(const D& d, Sources s, Word* out);
void fn_slct(const D& d, Sources s, Word* out);
void fn_setp(const D& d, Sources s, Word* out);
void fn_set(const D& d, Sources s, Word* out);
void fn_cvt(const D& d, Sources s, Word* out);

// what is known of one
KnownBits known_and(const D& d, const KnownBits* s);
KnownBits known_or(const D& d, const KnownBits* s);
KnownBits known_xor(const D& d, const KnownBits* s);
KnownBits known_not(const D& d, const KnownBits* s);
KnownBits known_lop3(const D& d, const KnownBits* s);
KnownBits known_move(const D& d, const KnownBits* s);
KnownBits known_add(const D& d, const KnownBits* s);
KnownBits known_sub(const D& d, const KnownBits* s);
KnownBits known_mul(const D& d, const KnownBits* s);
KnownBits known_shl(const D& d, const KnownBits* s);
KnownBits known_shr(const D& d, const KnownBits* s);
KnownBits known_selp(const D& d, const KnownBits* s);
KnownBits known_cvt(const D& d, const KnownBits* s);
KnownBits known_bfe(const D& d, const KnownBits* s);
KnownBits known_bfi(const D& d, const KnownBits* s);
KnownBits known_prmt(const D& d, const KnownBits* s);
KnownBits known_mad(const D& d, const KnownBits* s);
KnownBits known_shf(const D& d, const KnownBits* s);
KnownBits known_set(const D& d, const KnownBits* s);
KnownBits known_setp(const D& d, const KnownBits* s);

}  // namespace heddle::ptx::lanes
