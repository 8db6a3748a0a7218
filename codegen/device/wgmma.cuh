// What stands around a wgmma: fence, commit and wait, descriptors of its operands, and pins that keep registers where it needs them.
// The wgmma itself, whose operands depend on the tile's width, is written by product_text() of the emitter. A descriptor has room
// for an address in the block only: the rank that shared_address() has in a cluster would end up among the bits of `leading`.
#pragma once
#include "types.cuh"

DEVICE void product_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
DEVICE void product_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> DEVICE void product_wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
/// Uses of registers stay behind the wait that precedes this; no instruction.
template <int N> DEVICE void pin(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+f"(d[i]) :: "memory");
}
/// What the registers hold is of no use any more, although a wgmma that does not add names them as input; no instruction.
template <int N> DEVICE void fresh(float (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "=f"(d[i]));
}
/// Registers that a wgmma in flight reads are not given to anything else before this; no instruction.
template <int N> DEVICE void keep(u32 (&d)[N]) {
#pragma unroll
  for (int i = 0; i < N; ++i) asm volatile("" : "+r"(d[i]) :: "memory");
}
/// Holds `x` in a register here, so that what follows from it is computed where it is used and not before the loop; no instruction.
DEVICE void keep_in_register(u32& x) { asm volatile("" : "+r"(x)); }
/// Matrix descriptor of a tile with 128-byte swizzle, whose 8 rows are 1024 bytes apart. Shared memory ends below 256 KB, so that offsets in
/// bytes / 16 can be added to the address in it, which has no rank of a cluster.
DEVICE u64 matrix(u32 address, u32 leading) {
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(1024 >> 4) << 32) | (1ull << 62);
}
/// The same with 64-byte and with 32-byte swizzle, whose 8 rows are 512 and 256 bytes apart.
DEVICE u64 matrix_64(u32 address, u32 leading) {
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(512 >> 4) << 32) | (2ull << 62);
}
DEVICE u64 matrix_32(u32 address, u32 leading) {
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(256 >> 4) << 32) | (3ull << 62);
}
/// Of what lies `offset` bytes behind the beginning of a tile: one addition, where a new descriptor is five instructions.
DEVICE u64 behind(u64 matrix, u32 offset) { return matrix + (offset >> 4); }
