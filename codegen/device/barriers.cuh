// Barriers in shared memory (mbarrier), of the cluster and of some warps of a block (named barriers), fences, and the registers that a
// warpgroup takes or gives. One line of PTX per wrapper; instructions and operands are those of PTX ISA 9.0, here and in the other files.
// An address of shared memory has, in a cluster, the block's rank in bits 24 and up (seen on an H100): instructions want it so.
#pragma once
#include "types.cuh"

DEVICE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }
DEVICE void barrier_init(u32 barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
DEVICE void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
DEVICE void arrive_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
DEVICE void arrive(u32 barrier) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory"); }
DEVICE bool phase_over(u32 barrier, u32 parity) {
  u32 over;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
      : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
  return over;
}
DEVICE void wait(u32 barrier, u32 parity) {
  while (!phase_over(barrier, parity)) {}
}
/// The same, behind the instructions that make `ready`, whose signs are positive, which ptxas cannot know: the address needs all of them.
/// Otherwise it spreads them over the wgmmas that follow.
template <int N> DEVICE void wait_with(u32 barrier, u32 parity, const float (&ready)[N]) {
  u32 signs = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) signs |= __float_as_uint(ready[i]);
  wait(barrier + (signs >> 31), parity);
}
DEVICE void wait_cluster(u32 barrier, u32 parity) {  // for arrivals of other blocks
  u32 over = 0;
  while (!over)
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(over) : "r"(barrier), "r"(parity) : "memory");
}
/// At the barrier of the same address in block `rank` of the cluster, after wgmmas that read what it guards are complete: nothing that
/// threads wrote is handed over, so no fence is needed.
DEVICE void arrive_at_after_products(u32 barrier, u32 rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
               "r"(rank) : "memory");
}
/// The same after loads and stores of this thread.
DEVICE void arrive_at(u32 barrier, u32 rank) {
  asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(
                   barrier), "r"(rank) : "memory");
}
/// All threads of all blocks of the cluster.
DEVICE void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
template <int Id, int Threads> DEVICE void role_sync() { asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
template <int Id, int Threads> DEVICE void take_turn() { asm volatile("bar.sync %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
/// The same, behind the instructions that make `ready`, whose signs are positive. ptxas orders nothing but memory around a barrier; that the
/// sign bits are zero it cannot know, so the barrier's number, and with it the turn, needs all of them.
template <int Id, int Threads, int N> DEVICE void take_turn_with(const u32 (&ready)[N]) {
  u32 signs = 0;
#pragma unroll
  for (int i = 0; i < N; ++i) signs |= ready[i];
  asm volatile("bar.sync %0, %1;" ::"r"(Id + (signs >> 31)), "n"(Threads) : "memory");
}
template <int Id, int Threads> DEVICE void pass_turn() { asm volatile("bar.arrive %0, %1;" ::"n"(Id), "n"(Threads) : "memory"); }
/// One lane of the warp, which must be converged; always the same.
DEVICE bool elected() {
  u32 one;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xFFFFFFFF; selp.u32 %0, 1, 0, p; }" : "=r"(one));
  return one;
}
DEVICE void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
template <int N> DEVICE void more_registers() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> DEVICE void fewer_registers() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }
