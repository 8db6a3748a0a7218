// Each integer, bit and conversion instruction of a PTX run against C++ that was written from the PTX ISA, on random and extreme numbers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/ptx/run/small_run.h"

using namespace heddle;
using namespace heddle::test;

namespace {

using U = std::uint64_t;
using S = std::int64_t;
using U32 = std::uint32_t;
using S32 = std::int32_t;
__extension__ using S128 = __int128;
__extension__ using U128 = unsigned __int128;

/// Numbers that are floats are kept only where more than data hangs on them: nanosleep's time does.
/// r0 r1 r2, d10 d11 d12 and s0 s1 s2 hold the low bits of a, b and c; the result is in r9, d9 or s9.
struct Case {
  std::string text;
  U (*expect)(U a, U b, U c);
};

U low(U value) { return value & 0xFFFFFFFFu; }
U of(S32 value) { return static_cast<U32>(value); }
S32 i32(U value) { return static_cast<S32>(static_cast<U32>(value)); }
U32 u32(U value) { return static_cast<U32>(value); }
S i64(U value) { return static_cast<S>(value); }
U clamped(S value) { return of(static_cast<S32>(std::clamp<S>(value, INT32_MIN, INT32_MAX))); }

U bit_field(U value, U at, U length, int bits, bool sign) {
  at &= 255;
  length &= 255;
  if (length == 0) return 0;
  const auto bit = [&](U i) { return i < static_cast<U>(bits) ? value >> i & 1 : 0; };
  const U last = std::min<U>(at + length - 1, static_cast<U>(bits) - 1);
  U result = 0;
  for (U i = 0; i < static_cast<U>(bits); ++i) {
    U one = sign ? bit(last) : 0;
    if (i < length && at + i < static_cast<U>(bits)) one = bit(at + i);
    result |= one << i;
  }
  return result;
}

U insert(U a, U b, U c, U d, int bits) {
  c &= 255;
  d &= 255;
  U result = b;
  for (U i = 0; i < d && c + i < static_cast<U>(bits); ++i) result = (result & ~(1ull << (c + i))) | ((i < 64 ? a >> i & 1 : 0) << (c + i));
  return result;
}

U permuted(U a, U b, U c) {
  const U both = low(b) << 32 | low(a);
  U result = 0;
  for (int k = 0; k < 4; ++k) {
    const U pick = c >> 4 * k & 15;
    U byte = both >> 8 * (pick & 7) & 255;
    if ((pick & 8) != 0) byte = byte >= 128 ? 255 : 0;
    result |= byte << 8 * k;
  }
  return result;
}

U picked(U a, U b, const int (&table)[4][4], U c) {
  const U both = low(b) << 32 | low(a);
  U result = 0;
  for (int k = 0; k < 4; ++k) result |= (both >> 8 * table[c & 3][k] & 255) << 8 * k;
  return result;
}

U reversed(U value, int bits) {
  U result = 0;
  for (int i = 0; i < bits; ++i)
    if ((value >> i & 1) != 0) result |= 1ull << (bits - 1 - i);
  return result;
}

const Case kSums[] = {
    {"add.s32 r9, r0, r1;", [](U a, U b, U) { return low(a + b); }},
    {"add.sat.s32 r9, r0, r1;", [](U a, U b, U) { return clamped(S{i32(a)} + i32(b)); }},
    {"add.u16 s9, s0, s1;", [](U a, U b, U) { return (a + b) & 0xFFFF; }},
    {"add.s64 d9, d10, d11;", [](U a, U b, U) { return a + b; }},
    {"add.u16x2 r9, r0, r1;", [](U a, U b, U) { return ((a + b) & 0xFFFF) | ((((a >> 16) + (b >> 16)) & 0xFFFF) << 16); }},
    {"sub.u32 r9, r0, r1;", [](U a, U b, U) { return low(a - b); }},
    {"sub.sat.s32 r9, r0, r1;", [](U a, U b, U) { return clamped(S{i32(a)} - i32(b)); }},
    {"sub.s64 d9, d10, d11;", [](U a, U b, U) { return a - b; }},
    {"mul.lo.s32 r9, r0, r1;", [](U a, U b, U) { return low(low(a) * low(b)); }},
    {"mul.hi.s32 r9, r0, r1;", [](U a, U b, U) { return low(static_cast<U>((S{i32(a)} * i32(b)) >> 32)); }},
    {"mul.hi.u32 r9, r0, r1;", [](U a, U b, U) { return low(a) * low(b) >> 32; }},
    {"mul.lo.u16 s9, s0, s1;", [](U a, U b, U) { return a * b & 0xFFFF; }},
    {"mul.wide.s32 d9, r0, r1;", [](U a, U b, U) { return static_cast<U>(S{i32(a)} * i32(b)); }},
    {"mul.wide.u32 d9, r0, r1;", [](U a, U b, U) { return low(a) * low(b); }},
    {"mul.wide.s16 r9, s0, s1;",
     [](U a, U b, U) { return of(static_cast<std::int16_t>(a) * static_cast<std::int16_t>(b)); }},
    {"mul.wide.u16 r9, s0, s1;", [](U a, U b, U) { return (a & 0xFFFF) * (b & 0xFFFF); }},
    {"mul.lo.s64 d9, d10, d11;", [](U a, U b, U) { return a * b; }},
    {"mul.hi.s64 d9, d10, d11;", [](U a, U b, U) { return static_cast<U>(static_cast<S128>(i64(a)) * i64(b) >> 64); }},
    {"mul.hi.u64 d9, d10, d11;", [](U a, U b, U) { return static_cast<U>(static_cast<U128>(a) * b >> 64); }},
    {"mad.lo.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return low(a * b + c); }},
    {"mad.hi.u32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((low(a) * low(b) >> 32) + c); }},
    {"mad.hi.sat.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return clamped((S{i32(a)} * i32(b) >> 32) + i32(c)); }},
    {"mad.wide.s32 d9, r0, r1, d12;", [](U a, U b, U c) { return static_cast<U>(S{i32(a)} * i32(b)) + c; }},
    {"mad.wide.u32 d9, r0, r1, d12;", [](U a, U b, U c) { return low(a) * low(b) + c; }},
    {"mul24.lo.u32 r9, r0, r1;", [](U a, U b, U) { return low((a & 0xFFFFFF) * (b & 0xFFFFFF)); }},
    {"mul24.hi.s32 r9, r0, r1;",
     [](U a, U b, U) { return low(static_cast<U>((S{i32(a << 8)} >> 8) * (S{i32(b << 8)} >> 8) >> 16)); }},
    {"mad24.lo.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((a & 0xFFFFFF) * (b & 0xFFFFFF) + c -
                                                                   ((a >> 23 & 1) != 0 ? (b & 0xFFFFFF) << 24 : 0) -
                                                                   ((b >> 23 & 1) != 0 ? (a & 0xFFFFFF) << 24 : 0)); }},
    {"div.s32 r9, r0, r1;",
     [](U a, U b, U) { return low(b) == 0 ? 0xFFFFFFFFu : i32(b) == -1 ? low(0 - a) : of(i32(a) / i32(b)); }},
    {"div.u32 r9, r0, r1;", [](U a, U b, U) { return low(b) == 0 ? 0xFFFFFFFFu : low(a) / low(b); }},
    {"div.u64 d9, d10, d11;", [](U a, U b, U) { return b == 0 ? ~U{0} : a / b; }},
    {"rem.s32 r9, r0, r1;", [](U a, U b, U) { return low(b) == 0 ? low(a) : i32(b) == -1 ? 0 : of(i32(a) % i32(b)); }},
    {"rem.u32 r9, r0, r1;", [](U a, U b, U) { return low(b) == 0 ? low(a) : low(a) % low(b); }},
    {"rem.s64 d9, d10, d11;", [](U a, U b, U) { return b == 0 ? a : i64(b) == -1 ? 0 : static_cast<U>(i64(a) % i64(b)); }},
    {"neg.s32 r9, r0;", [](U a, U, U) { return low(0 - a); }},
    {"abs.s32 r9, r0;", [](U a, U, U) { return i32(a) < 0 ? low(0 - a) : low(a); }},
    {"min.s32 r9, r0, r1;", [](U a, U b, U) { return of(std::min(i32(a), i32(b))); }},
    {"max.s32 r9, r0, r1;", [](U a, U b, U) { return of(std::max(i32(a), i32(b))); }},
    {"max.relu.s32 r9, r0, r1;", [](U a, U b, U) { return of(std::max({i32(a), i32(b), 0})); }},
    {"min.u32 r9, r0, r1;", [](U a, U b, U) { return U{std::min(u32(a), u32(b))}; }},
    {"max.u64 d9, d10, d11;", [](U a, U b, U) { return std::max(a, b); }},
    {"min.s64 d9, d10, d11;", [](U a, U b, U) { return static_cast<U>(std::min(i64(a), i64(b))); }},
    {"max.s16x2 r9, r0, r1;",
     [](U a, U b, U) {
       const auto most = [](U x, U y) { return U{static_cast<std::uint16_t>(std::max(static_cast<std::int16_t>(x), static_cast<std::int16_t>(y)))}; };
       return most(a, b) | most(a >> 16, b >> 16) << 16;
     }},
    {"sad.u32 r9, r0, r1, r2;", [](U a, U b, U c) { return low(c + (low(a) < low(b) ? low(b) - low(a) : low(a) - low(b))); }},
    {"sad.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return low(c + (i32(a) < i32(b) ? b - a : a - b)); }},
    {"add.cc.u32 r8, r0, r1; addc.u32 r9, r2, 0;", [](U a, U b, U c) { return low(c + (low(a) + low(b) > 0xFFFFFFFFu ? 1 : 0)); }},
    {"sub.cc.u32 r8, r0, r1; subc.u32 r9, r2, 0;", [](U a, U b, U c) { return low(c - (low(a) < low(b) ? 1 : 0)); }},
    {"add.cc.u32 r8, r0, r1; addc.cc.u32 r7, r2, r2; addc.u32 r9, 0, 0;",
     [](U a, U b, U c) { return (low(a) + low(b) > 0xFFFFFFFFu ? 1 : 0) + 2 * low(c) > 0xFFFFFFFFu ? U{1} : U{0}; }},
    {"mad.lo.cc.u32 r8, r0, r1, r2; madc.hi.u32 r9, r0, r1, 0;", [](U a, U b, U c) { return low((low(a) * low(b) + low(c)) >> 32); }},
    {"dp4a.u32.u32 r9, r0, r1, r2;",
     [](U a, U b, U c) {
       for (int k = 0; k < 32; k += 8) c += (a >> k & 255) * (b >> k & 255);
       return low(c);
     }},
    {"dp4a.s32.u32 r9, r0, r1, r2;",
     [](U a, U b, U c) {
       for (int k = 0; k < 32; k += 8) c += static_cast<U>(S{static_cast<std::int8_t>(a >> k)} * static_cast<S>(b >> k & 255));
       return low(c);
     }},
    {"dp2a.hi.u32.u32 r9, r0, r1, r2;",
     [](U a, U b, U c) { return low(c + (a & 0xFFFF) * (b >> 16 & 255) + (a >> 16 & 0xFFFF) * (b >> 24 & 255)); }},
};

const Case kBits[] = {
    {"and.b32 r9, r0, r1;", [](U a, U b, U) { return low(a & b); }},
    {"or.b64 d9, d10, d11;", [](U a, U b, U) { return a | b; }},
    {"xor.b16 s9, s0, s1;", [](U a, U b, U) { return (a ^ b) & 0xFFFF; }},
    {"not.b32 r9, r0;", [](U a, U, U) { return low(~a); }},
    {"cnot.b32 r9, r0;", [](U a, U, U) { return low(a) == 0 ? U{1} : U{0}; }},
    {"lop3.b32 r9, r0, r1, r2, 0x96;", [](U a, U b, U c) { return low(a ^ b ^ c); }},
    {"lop3.b32 r9, r0, r1, r2, 0xEA;", [](U a, U b, U c) { return low((a & b) | c); }},
    {"lop3.b32 r9, r0, r1, r2, 0x1A;", [](U a, U b, U c) { return low((a & b) | c) ^ low(a); }},
    {"shl.b32 r9, r0, r1;", [](U a, U b, U) { return low(b) > 31 ? 0 : low(a << low(b)); }},
    {"shl.b64 d9, d10, r1;", [](U a, U b, U) { return low(b) > 63 ? 0 : a << low(b); }},
    {"shr.u32 r9, r0, r1;", [](U a, U b, U) { return low(b) > 31 ? 0 : low(a) >> low(b); }},
    {"shr.s32 r9, r0, r1;", [](U a, U b, U) { return of(i32(a) >> std::min<U>(low(b), 31)); }},
    {"shr.s64 d9, d10, r1;", [](U a, U b, U) { return static_cast<U>(i64(a) >> std::min<U>(low(b), 63)); }},
    {"shr.s16 s9, s0, r1;", [](U a, U b, U) { return static_cast<U>(static_cast<std::int16_t>(a) >> std::min<U>(low(b), 15)) & 0xFFFF; }},
    {"shf.l.wrap.b32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((low(b) << 32 | low(a)) << (c & 31) >> 32); }},
    {"shf.r.wrap.b32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((low(b) << 32 | low(a)) >> (c & 31)); }},
    {"shf.l.clamp.b32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((low(b) << 32 | low(a)) << std::min<U>(low(c), 32) >> 32); }},
    {"shf.r.clamp.b32 r9, r0, r1, r2;", [](U a, U b, U c) { return low((low(b) << 32 | low(a)) >> std::min<U>(low(c), 32)); }},
    {"bfe.u32 r9, r0, r1, r2;", [](U a, U b, U c) { return bit_field(low(a), b, c, 32, false); }},
    {"bfe.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return bit_field(low(a), b, c, 32, true); }},
    {"bfe.s64 d9, d10, r1, r2;", [](U a, U b, U c) { return bit_field(a, b, c, 64, true); }},
    {"bfi.b32 r9, r0, r1, r2, 7;", [](U a, U b, U c) { return insert(low(a), low(b), c, 7, 32); }},
    {"bfi.b64 d9, d10, d11, r2, 40;", [](U a, U b, U c) { return insert(a, b, c, 40, 64); }},
    {"bfind.u32 r9, r0;", [](U a, U, U) { return low(a) == 0 ? 0xFFFFFFFFu : static_cast<U>(31 - std::countl_zero(u32(a))); }},
    {"bfind.s32 r9, r0;",
     [](U a, U, U) {
       const U32 value = i32(a) < 0 ? ~u32(a) : u32(a);
       return value == 0 ? 0xFFFFFFFFu : static_cast<U>(31 - std::countl_zero(value));
     }},
    {"bfind.shiftamt.u64 r9, d10;", [](U a, U, U) { return a == 0 ? 0xFFFFFFFFu : static_cast<U>(std::countl_zero(a)); }},
    {"clz.b32 r9, r0;", [](U a, U, U) { return static_cast<U>(std::countl_zero(u32(a))); }},
    {"clz.b64 r9, d10;", [](U a, U, U) { return static_cast<U>(std::countl_zero(a)); }},
    {"popc.b64 r9, d10;", [](U a, U, U) { return static_cast<U>(std::popcount(a)); }},
    {"brev.b32 r9, r0;", [](U a, U, U) { return reversed(a, 32); }},
    {"brev.b64 d9, d10;", [](U a, U, U) { return reversed(a, 64); }},
    {"bmsk.clamp.b32 r9, r0, r1;",
     [](U a, U b, U) { return low(a) > 31 ? 0 : low((low(b) > 31 ? 0xFFFFFFFFu : (1ull << low(b)) - 1) << low(a)); }},
    {"bmsk.wrap.b32 r9, r0, r1;", [](U a, U b, U) { return low(((1ull << (b & 31)) - 1) << (a & 31)); }},
    {"szext.wrap.s32 r9, r0, r1;", [](U a, U b, U) { return (b & 31) == 0 ? 0 : of(i32(a << (32 - (b & 31))) >> (32 - (b & 31))); }},
    {"prmt.b32 r9, r0, r1, r2;", [](U a, U b, U c) { return permuted(a, b, c); }},
    {"prmt.b32.f4e r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}, c);
     }},
    {"prmt.b32.b4e r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}, c);
     }},
    {"prmt.b32.rc8 r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}, c);
     }},
    {"prmt.b32.ecl r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}, c);
     }},
    {"prmt.b32.ecr r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}, c);
     }},
    {"prmt.b32.rc16 r9, r0, r1, r2;",
     [](U a, U b, U c) {
       return picked(a, b, {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}, c);
     }},
};

const Case kMoves[] = {
    {"mov.b32 r9, r0;", [](U a, U, U) { return low(a); }},
    {"mov.b64 d9, {r0, r1};", [](U a, U b, U) { return low(b) << 32 | low(a); }},
    {"mov.b64 {r8, r9}, d10;", [](U a, U, U) { return a >> 32; }},
    {"mov.b32 {s9, s8}, r0;", [](U a, U, U) { return a & 0xFFFF; }},
    {"mov.b32 r9, {s0, s1};", [](U a, U b, U) { return (a & 0xFFFF) | (b & 0xFFFF) << 16; }},
    {"setp.lt.s32 p0, r0, r1; selp.b32 r9, r1, r2, p0;", [](U a, U b, U c) { return i32(a) < i32(b) ? low(b) : low(c); }},
    {"setp.hi.u32 p0|p1, r0, r1; selp.u32 r9, 5, 6, p1;", [](U a, U b, U) { return low(a) > low(b) ? U{6} : U{5}; }},
    {"setp.ge.u64 p0, d10, d11; setp.ne.and.s32 p1, r1, r2, p0; selp.u32 r9, 1, 0, p1;",
     [](U a, U b, U c) { return a >= b && low(b) != low(c) ? U{1} : U{0}; }},
    {"setp.ge.s64 p0, d10, d11; setp.eq.or.s32 p0, r1, r2, !p0; selp.u32 r9, 1, 0, p0;",
     [](U a, U b, U c) { return low(b) == low(c) || !(i64(a) >= i64(b)) ? U{1} : U{0}; }},
    {"setp.ge.s64 p0, d10, d11; setp.lt.xor.u16 p2|p3, s1, s2, p0; selp.u32 r9, 1, 0, p3;",
     [](U a, U b, U c) { return ((b & 0xFFFF) < (c & 0xFFFF) ? 0 : 1) != (i64(a) >= i64(b) ? 1 : 0) ? U{1} : U{0}; }},
    {"set.lt.u32.s32 r9, r0, r1;", [](U a, U b, U) { return i32(a) < i32(b) ? 0xFFFFFFFFu : U{0}; }},
    {"slct.b32.s32 r9, r0, r1, r2;", [](U a, U b, U c) { return i32(c) >= 0 ? low(a) : low(b); }},
    {"cvt.u64.u32 d9, r0;", [](U a, U, U) { return low(a); }},
    {"cvt.s64.s32 d9, r0;", [](U a, U, U) { return static_cast<U>(S{i32(a)}); }},
    {"cvt.u32.u64 r9, d10;", [](U a, U, U) { return low(a); }},
    {"cvt.u16.u32 s9, r0;", [](U a, U, U) { return a & 0xFFFF; }},
    {"cvt.s32.s16 r9, s0;", [](U a, U, U) { return of(static_cast<std::int16_t>(a)); }},
    {"cvt.s32.s8 r9, r0;", [](U a, U, U) { return of(static_cast<std::int8_t>(a)); }},
    {"cvt.s8.s32 r9, r0;", [](U a, U, U) { return of(static_cast<std::int8_t>(a)); }},
    {"cvt.u8.u32 r9, r0;", [](U a, U, U) { return a & 0xFF; }},
    {"cvt.u32.s16 r9, s0;", [](U a, U, U) { return of(static_cast<std::int16_t>(a)); }},
    {"cvt.sat.u8.s32 r9, r0;", [](U a, U, U) { return static_cast<U>(std::clamp(i32(a), 0, 255)); }},
    {"cvt.sat.s16.s32 r9, r0;", [](U a, U, U) { return of(std::clamp(i32(a), -32768, 32767)); }},
    {"cvt.sat.s32.u32 r9, r0;", [](U a, U, U) { return std::min<U>(low(a), INT32_MAX); }},
    {"cvt.rn.f32.s32 f0, r0; cvt.rzi.s32.f32 r9, f0;",
     [](U a, U, U) {
       const float value = static_cast<float>(i32(a));
       return value >= 2147483648.0f ? U{INT32_MAX} : of(static_cast<S32>(value));
     }},
    {"mov.b32 f0, 0f3FC00000; cvt.rn.f32.u32 f1, r0; mul.rn.f32 f2, f0, f1; add.f32 f3, f2, 0f3F800000; mov.b32 r9, f3;",
     [](U a, U, U) { return U{std::bit_cast<U32>(static_cast<float>(u32(a)) * 1.5f + 1.0f)}; }},
};

std::vector<U> some_numbers(std::mt19937_64& random, std::size_t count) {
  static constexpr U extremes[] = {0,
                                   1,
                                   2,
                                   7,
                                   31,
                                   32,
                                   33,
                                   63,
                                   64,
                                   255,
                                   256,
                                   0x7FFF,
                                   0x8000,
                                   0xFFFF,
                                   0x7FFFFFFF,
                                   0x80000000,
                                   0xFFFFFFFF,
                                   0x7FFFFFFFFFFFFFFF,
                                   0x8000000000000000,
                                   0xFFFFFFFFFFFFFFFF};
  std::vector<U> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    const U kind = random() % 4;
    numbers.push_back(kind == 0 ? extremes[random() % std::size(extremes)] : kind == 1 ? random() % 70 : random());
  }
  return numbers;
}

void check(const Case& one, U seed) {
  std::mt19937_64 random(seed);
  const std::vector<U> numbers = some_numbers(random, 96);
  SmallRunOptions options;
  options.numbers = numbers;
  const std::string result = one.text.find("d9") != std::string::npos   ? "mov.b64 d50, d9;"
                             : one.text.find("s9") != std::string::npos ? "cvt.u64.u16 d50, s9;"
                                                                        : "cvt.u64.u32 d50, r9;";
  SmallRun run(
      "mul.wide.u32 d2, t, 8; add.s64 d3, d0, d2; ld.global.u64 d10, [d3]; ld.global.u64 d11, [d3+256];"
      "ld.global.u64 d12, [d3+512]; cvt.u32.u64 r0, d10; cvt.u32.u64 r1, d11; cvt.u32.u64 r2, d12; cvt.u16.u64 s0, d10;"
      "cvt.u16.u64 s1, d11; cvt.u16.u64 s2, d12;" +
          one.text + result + "cvt.u32.u64 r59, d50; nanosleep.u32 r59; add.s64 d4, d1, d2; st.global.u64 [d4], d50;",
      options);
  INFO(one.text << " seed " << seed);
  REQUIRE(run.said() == "");
  for (std::size_t lane = 0; lane < 32; ++lane) {
    const U a = numbers[lane], b = numbers[32 + lane], c = numbers[64 + lane];
    INFO("lane " << lane << std::hex << ": a " << a << ", b " << b << ", c " << c);
    REQUIRE(run.out(lane) == one.expect(a, b, c));
  }
}

}  // namespace

TEST_CASE("Sums, products and quotients of a PTX run are the ISA's, on random numbers", "[ptx]") {
  for (const Case& one : kSums)
    for (U seed = 1; seed <= 8; ++seed) check(one, seed);
}

TEST_CASE("Logic, shifts and fields of bits of a PTX run are the ISA's, on random numbers", "[ptx]") {
  for (const Case& one : kBits)
    for (U seed = 11; seed <= 18; ++seed) check(one, seed);
}

TEST_CASE("Moves, comparisons and conversions of a PTX run are the ISA's, on random numbers", "[ptx]") {
  for (const Case& one : kMoves)
    for (U seed = 21; seed <= 28; ++seed) check(one, seed);
}
