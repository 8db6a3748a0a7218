// Conversions between f32 and pairs of 16-bit floats, and the special functions, all in the unit's own precision.
#pragma once
#include "types.cuh"

DEVICE u32 pack_bf16(float low, float high) {
  u32 r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
DEVICE u32 pack_f16(float low, float high) {
  u32 r;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}
DEVICE float low_bf16(u32 x) { return __uint_as_float(x << 16); }
DEVICE float high_bf16(u32 x) { return __uint_as_float(x & 0xffff0000u); }
DEVICE float low_f16(u32 x) {
  float y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, l; }" : "=f"(y) : "r"(x));
  return y;
}
DEVICE float high_f16(u32 x) {
  float y;
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.f32.f16 %0, h; }" : "=f"(y) : "r"(x));
  return y;
}
DEVICE float exp2_(float x) { float y; asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float log2_(float x) { float y; asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float recip_(float x) { float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float rsqrt_(float x) { float y; asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float sqrt_(float x) { float y; asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float tanh_(float x) { float y; asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
DEVICE float sigmoid_(float x) { return recip_(1.0f + exp2_(-1.44269504f * x)); }
/// Less 2 pi as often as it fits: the unit itself knows but one turn well.
DEVICE float sin_(float x) {
  float y;
  x = fmaf(rintf(x * 0.15915494f), -6.2831855f, x);
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
DEVICE float round_bf16_(float x) { return low_bf16(pack_bf16(x, 0.0f)); }
DEVICE float round_f16_(float x) { return low_f16(pack_f16(x, 0.0f)); }
DEVICE float round_e4m3_(float x) {
  float y;
  asm("{ .reg .b16 p, l, h; .reg .b32 w; cvt.rn.satfinite.e4m3x2.f32 p, %2, %1; cvt.rn.f16x2.e4m3x2 w, p; mov.b32 {l, h}, w; cvt.f32.f16 %0, l; }" : "=f"(y) : "f"(x), "f"(0.0f));
  return y;
}
DEVICE float round_e5m2_(float x) {
  float y;
  asm("{ .reg .b16 p, l, h; .reg .b32 w; cvt.rn.satfinite.e5m2x2.f32 p, %2, %1; cvt.rn.f16x2.e5m2x2 w, p; mov.b32 {l, h}, w; cvt.f32.f16 %0, l; }" : "=f"(y) : "f"(x), "f"(0.0f));
  return y;
}
/// 2^x without the special function unit, to 1.1e-4 of itself: a cubic for what is left of x beside the nearest whole number, which goes into the
/// exponent. Never less than 2^-126.
DEVICE float exp2_poly_(float x) {
  const float large = 12582912.0f;  // 1.5 * 2^23: what is added to it is rounded to a whole number, in the low bits
  x = fmaxf(x, -126.0f);
  const float whole = x + large, rest = x - (whole - large);
  const float y = fmaf(fmaf(fmaf(0.05500913f, rest, 0.24221146f), rest, 0.69328296f), rest, 1.0f);
  return __uint_as_float(__float_as_uint(y) + (__float_as_uint(whole) << 23));
}
