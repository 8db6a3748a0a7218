// Tensor memory and the mmas that add up there (tcgen05, for sm_100a and its like): 512 columns of 128 lanes with 32 bits each per SM; an
// address is a column, and a lane in bits 16 and up. Loads and stores, whose operands depend on their width, are written by
// tensor_load_text() and tensor_store_text() of the emitter. What ends in _pair is for both blocks of a cluster of two.
#pragma once
#include "types.cuh"

/// A whole warp: where the columns begin is written to shared memory at `to`. Then others may allocate.
DEVICE void tensor_allocate(u32 to, u32 columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
}
DEVICE void tensor_free(u32 tensor, u32 columns) {
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tensor), "r"(columns) : "memory");
}
/// A warp of each block; the same columns in both.
DEVICE void tensor_allocate_pair(u32 to, u32 columns) {
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to), "r"(columns) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}
DEVICE void tensor_free_pair(u32 tensor, u32 columns) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(tensor), "r"(columns) : "memory");
}
DEVICE void tensor_await_loads() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
DEVICE void tensor_await_stores() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
DEVICE void tensor_fence_before() { asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory"); }
/// Of the block; read where it stands, and not kept in a register from where it was needed before.
DEVICE int this_thread() {
  int t;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(t));
  return t;
}
DEVICE void tensor_fence_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

/// Descriptor of a matrix in shared memory with 128-byte swizzle, whose groups of 8 rows are 1024 bytes apart; `leading` is the distance of
/// panels. `address` is that in the block, without the rank that it has in a cluster in bits 24 and up. Shared memory ends below 256 KB, so
/// that offsets in bytes / 16 can be added to the address in it.
DEVICE u64 tensor_matrix(u32 address, u32 leading) {
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(1024 >> 4) << 32) | (1ull << 46) | (2ull << 61);
}
/// D += A B by one thread, D in tensor memory; `add` 0: D = A B. `shape` is the instruction descriptor: formats, majors, widths.
DEVICE void tensor_product(u32 d, u64 a, u64 b, u32 shape, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a), "l"(b),
               "r"(shape), "r"(add) : "memory");
}
/// A in tensor memory too, two numbers to a column.
DEVICE void tensor_product_ts(u32 d, u32 a, u64 b, u32 shape, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p; }" ::"r"(d), "r"(a), "l"(b),
               "r"(shape), "r"(add) : "memory");
}
/// Of numbers of 8 bits.
DEVICE void tensor_product_f8(u32 d, u64 a, u64 b, u32 shape, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f8f6f4 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a), "l"(b),
               "r"(shape), "r"(add) : "memory");
}
/// By a thread of the first block. Each block has its half of A's rows, of D's rows and of B's columns at the addresses given.
DEVICE void tensor_product_pair(u32 d, u64 a, u64 b, u32 shape, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a), "l"(b),
               "r"(shape), "r"(add) : "memory");
}
DEVICE void tensor_product_f8_pair(u32 d, u64 a, u64 b, u32 shape, int add) {
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::2.kind::f8f6f4 [%0], %1, %2, %3, p; }" ::"r"(d), "l"(a), "l"(b),
               "r"(shape), "r"(add) : "memory");
}
/// Arrives on the barrier when the mmas that this thread has issued are complete.
DEVICE void tensor_signal(u32 barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier) : "memory");
}
/// On the barrier of this address in both blocks.
DEVICE void tensor_signal_pair(u32 barrier) {
  asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(barrier),
               "h"((unsigned short)3) : "memory");
}
/// On the barrier of this address in the first block.
DEVICE void arrive_leader(u32 barrier) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, 0; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
                   barrier) : "memory");
}
/// Relaxed: the caller has written nothing for others to see, and a release would be a fence beyond the block.
DEVICE void arrive_expect_leader(u32 barrier, u32 bytes) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, 0; mbarrier.arrive.expect_tx.relaxed.cluster.shared::cluster.b64 _, [there], %1; }" ::"r"(
          barrier), "r"(bytes) : "memory");
}
/// Into this block, signalled at the first block's barrier.
DEVICE void tma_load_pair(u32 to, const TensorMap* map, int x, int y, u32 barrier) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, 0;\n"
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%3, %4}], [there]; }" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y) : "memory");
}
DEVICE void tma_load_pair(u32 to, const TensorMap* map, int x, int y, int z, u32 barrier) {
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %2, 0;\n"
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%0], [%1, {%3, %4, %5}], [there]; }" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z) : "memory");
}
DEVICE float max3_(float a, float b, float c) { float y; asm("max.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(a), "f"(b), "f"(c)); return y; }
