// What every generated text begins with: short names for integers, the host's tensor map, and how a wrapper is declared.
#pragma once

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;
struct alignas(64) TensorMap { u64 opaque[16]; };  // the 128 bytes of a CUtensorMap
#define DEVICE __device__ __forceinline__
