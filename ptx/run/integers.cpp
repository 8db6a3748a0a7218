// Sums, products, quotients of integers on 32 lanes.
#include <algorithm>

#include "ptx/run/lane_functions.h"

namespace heddle::ptx::lanes {

namespace {

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

/// 24 bits each; the low 32 of the product's 48, or the high ones (shifted by 16).
Word product24(const D& d, Word a, Word b) {
  const std::int64_t x = d.is_signed ? sign_extend(a, 24) : static_cast<std::int64_t>(a & 0xFFFFFF);
  const std::int64_t y = d.is_signed ? sign_extend(b, 24) : static_cast<std::int64_t>(b & 0xFFFFFF);
  return static_cast<Word>(d.mode == kHigh ? x * y >> 16 : x * y) & 0xFFFFFFFFu;
}

Word quotient(const D& d, Word a, Word b, bool rest) {
  const Word divisor = field(d, b);
  if (divisor == 0) return rest ? field(d, a) : low_bits(d.bits);  // what GPUs give; PTX leaves it open
  if (!d.is_signed) return rest ? field(d, a) % divisor : field(d, a) / divisor;
  const std::int64_t x = number(d, a), y = number(d, b);
  if (y == -1) return rest ? 0 : field(d, 0 - static_cast<Word>(x));
  return field(d, static_cast<Word>(rest ? x % y : x / y));
}

template <bool kMost>
void extreme(const D& d, Sources s, Word* out) {
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

}  // namespace

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
void fn_mul24(const D& d, Sources s, Word* out) {
  map2(s, out, [&](Word a, Word b) { return product24(d, a, b); });
}
void fn_mad24(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) { return (product24(d, a, b) + c) & 0xFFFFFFFFu; });
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
void fn_min(const D& d, Sources s, Word* out) { extreme<false>(d, s, out); }
void fn_max(const D& d, Sources s, Word* out) { extreme<true>(d, s, out); }
void fn_sad(const D& d, Sources s, Word* out) {
  map3(s, out, [&](Word a, Word b, Word c) {
    const bool less = d.is_signed ? number(d, a) < number(d, b) : field(d, a) < field(d, b);
    return field(d, c + (less ? b - a : a - b));
  });
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

}  // namespace heddle::ptx::lanes
