// Logic, shifts, fields of bits, moves, comparisons and conversions of integers on 32 lanes.
#include <algorithm>
#include <cstdlib>

#include "ptx/run/lane_functions.h"

namespace heddle::ptx::lanes {

namespace {

Word lop3(Word a, Word b, Word c, Word table) {
  Word result = 0;
  for (unsigned row = 0; row < 8; ++row)
    if ((table >> row & 1) != 0) result |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
  return result;
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

}  // namespace

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
void fn_shf(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return funnel(d, a, b, c); });
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
    for (int at = first; at >= 0 && at<32; at += wanted> 0 ? 1 : -1)
      if ((mask >> at & 1) != 0 && --left == 0) return static_cast<Word>(at);
    return 0xFFFFFFFFu;
  });
}
void fn_prmt(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return permute(d, a, b, c); });
}

void fn_mov(const D& d, Sources s, Word* out) {
  const Word mask = low_bits(d.bits);
  map1(s, out, [mask](Word a) { return a & mask; });
}
void fn_cvta(const D& d, Sources s, Word* out) {
  map1(s, out, [&](Word a) { return a | d.word; });
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

}  // namespace heddle::ptx::lanes
