// Numbers of 8 and of 4 bits, several in a register, lowest first: from f32, and to pairs of f16 or bf16. Whole numbers become floats without a
// conversion: their bits are put under an exponent with which the last bit of the mantissa is worth 1, and what that adds is taken away.
// Every 16-bit step is exact.
#pragma once
#include "types.cuh"
#include "math.cuh"

DEVICE u32 pack_e4m3(float a, float b, float c, float d) {
  u32 r;
  asm("{ .reg .b16 l, h; cvt.rn.satfinite.e4m3x2.f32 l, %2, %1; cvt.rn.satfinite.e4m3x2.f32 h, %4, %3; mov.b32 %0, {l, h}; }" : "=r"(r) : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}
DEVICE u32 pack_e5m2(float a, float b, float c, float d) {
  u32 r;
  asm("{ .reg .b16 l, h; cvt.rn.satfinite.e5m2x2.f32 l, %2, %1; cvt.rn.satfinite.e5m2x2.f32 h, %4, %3; mov.b32 %0, {l, h}; }" : "=r"(r) : "f"(a), "f"(b), "f"(c), "f"(d));
  return r;
}
/// As pairs of f16, which has every number of both types.
DEVICE void f16_of_e4m3(u32 x, u32& a, u32& b) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h; }" : "=r"(a), "=r"(b) : "r"(x));
}
DEVICE void f16_of_e5m2(u32 x, u32& a, u32& b) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e5m2x2 %0, l; cvt.rn.f16x2.e5m2x2 %1, h; }" : "=r"(a), "=r"(b) : "r"(x));
}
DEVICE u32 less_bf16(u32 x, u32 y) { u32 r; asm("sub.rn.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); return r; }
DEVICE u32 less_f16(u32 x, u32 y) { u32 r; asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); return r; }
/// (x & 0x000f000f) ^ exponent: one instruction. The exponents below have bit 3 set in both halves, which makes n + 8 of the number n.
DEVICE u32 nibbles_under(u32 x, u32 exponent) {
  u32 r;
  asm("lop3.b32 %0, %1, %2, %3, 0x6a;" : "=r"(r) : "r"(x), "n"(0x000f000f), "r"(exponent));
  return r;
}
/// Bytes of x and y, four numbers of which byte: 0 to 3 of x, 4 to 7 of y.
DEVICE u32 bytes_of(u32 x, u32 y, u32 which) { u32 r; asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(x), "r"(y), "r"(which)); return r; }
/// Eight numbers, in their order: a byte has two neighbours, so that each goes into both halves of a register first.
DEVICE void bf16_of_i4(u32 x, u32& a, u32& b, u32& c, u32& d) {
  const u32 y = x >> 4;
  a = less_bf16(nibbles_under(bytes_of(x, y, 0x0400), 0x43084308), 0x43084308);
  b = less_bf16(nibbles_under(bytes_of(x, y, 0x0501), 0x43084308), 0x43084308);
  c = less_bf16(nibbles_under(bytes_of(x, y, 0x0602), 0x43084308), 0x43084308);
  d = less_bf16(nibbles_under(bytes_of(x, y, 0x0703), 0x43084308), 0x43084308);
}
DEVICE void f16_of_i4(u32 x, u32& a, u32& b, u32& c, u32& d) {
  const u32 y = x >> 4;
  a = less_f16(nibbles_under(bytes_of(x, y, 0x0400), 0x64086408), 0x64086408);
  b = less_f16(nibbles_under(bytes_of(x, y, 0x0501), 0x64086408), 0x64086408);
  c = less_f16(nibbles_under(bytes_of(x, y, 0x0602), 0x64086408), 0x64086408);
  d = less_f16(nibbles_under(bytes_of(x, y, 0x0703), 0x64086408), 0x64086408);
}
/// Pair i is nibbles i and i + 4: no bytes are moved.
DEVICE void bf16_of_i4_halves(u32 x, u32& a, u32& b, u32& c, u32& d) {
  a = less_bf16(nibbles_under(x, 0x43084308), 0x43084308);
  b = less_bf16(nibbles_under(x >> 4, 0x43084308), 0x43084308);
  c = less_bf16(nibbles_under(x >> 8, 0x43084308), 0x43084308);
  d = less_bf16(nibbles_under(x >> 12, 0x43084308), 0x43084308);
}
DEVICE void f16_of_i4_halves(u32 x, u32& a, u32& b, u32& c, u32& d) {
  a = less_f16(nibbles_under(x, 0x64086408), 0x64086408);
  b = less_f16(nibbles_under(x >> 4, 0x64086408), 0x64086408);
  c = less_f16(nibbles_under(x >> 8, 0x64086408), 0x64086408);
  d = less_f16(nibbles_under(x >> 12, 0x64086408), 0x64086408);
}
/// Four numbers: n + 128 under the exponent of 1024.
DEVICE void f16_of_i8(u32 x, u32& a, u32& b) {
  x ^= 0x80808080;
  a = less_f16(bytes_of(x, 0x64646464, 0x4140), 0x64806480);
  b = less_f16(bytes_of(x, 0x64646464, 0x4342), 0x64806480);
}
/// bf16 has one bit too few for that; f32 under the exponent of 2^23 has them.
DEVICE float f32_of_i8(u32 x, int which) {
  return __uint_as_float(bytes_of(x ^ 0x80808080, 0x4b000000, 0x7440 + which)) - 8388736.0f;
}
DEVICE int whole(float x) { int r; asm("cvt.rni.s32.f32 %0, %1;" : "=r"(r) : "f"(x)); return r; }
/// The nearest whole numbers, ties to even, no further than the type goes.
DEVICE u32 pack_i8(float a, float b, float c, float d) {
  u32 r;
  asm("{ .reg .b32 h; cvt.pack.sat.s8.s32.b32 h, %4, %3, 0; cvt.pack.sat.s8.s32.b32 %0, %2, %1, h; }" : "=r"(r) : "r"(whole(a)), "r"(whole(b)), "r"(whole(c)), "r"(whole(d)));
  return r;
}
