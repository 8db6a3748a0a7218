// Threads of a block, or of a cluster, as fibers, and the barriers at which they meet. What is late finishes only when no thread can go on
// without it.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

using u32 = unsigned;
using u64 = unsigned long long;
using i64 = long long;
#define DEVICE inline
#define __global__
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __shared__
#define __align__(n)
using std::max;
using std::min;

constexpr int kMostBlocks = 2;                      ///< of a cluster
alignas(1024) inline unsigned char shared[232448];  ///< only its address is asked for
alignas(1024) inline unsigned char memory[kMostBlocks][sizeof shared];
inline long shared_writes = 0;  ///< into `memory`, so far
struct Index {
  int x = 0;
};
inline Index threadIdx, blockIdx, gridDim;
inline int here = 0;  ///< of this thread: the block's place in its cluster
inline int threads_of_block = 0, blocks_of_cluster = 1;

/// A context of the library's starts a fiber; jumps go on with it, because they ask nothing of the operating system.
struct Fiber {
  std::jmp_buf place;
  bool begun = false, done = false;
};
inline std::jmp_buf scheduler;
inline std::vector<Fiber> fibers;
inline std::vector<std::unique_ptr<char[]>> stacks;  ///< kept from block to block: making them takes longer than most of what runs on them
inline std::function<void()> body;
inline long progress = 0;

/// What finishes only when no thread can go on without it.
inline bool late_copies = false, late_products = false;
struct Pending {
  int fiber = 0;
  std::function<void()> finish;
};
inline std::vector<Pending> in_flight;
/// Groups of TMA stores of a fiber, the last one open; what is late reads shared memory when it is waited for.
inline std::map<int, std::vector<std::vector<std::function<void()>>>> store_groups;

[[noreturn]] inline void die(const std::string& why) {
  std::fprintf(stderr, "%s (thread %d)\n", why.c_str(), threadIdx.x);
  std::_Exit(3);  // what ends a program frees the stack on which this runs
}
inline void go_to(int fiber) {
  const int first = blockIdx.x - here;
  here = fiber / threads_of_block;
  threadIdx.x = fiber % threads_of_block;
  blockIdx.x = first + here;
}
inline int fiber() { return here * threads_of_block + threadIdx.x; }
/// `finish` may call what the thread itself may call.
inline void start(bool late, std::function<void()> finish) {
  if (late)
    in_flight.push_back({fiber(), std::move(finish)});
  else
    finish();
}
inline void yield() {
  const int me = fiber();
  if (_setjmp(fibers[me].place) == 0) _longjmp(scheduler, 1);
  go_to(me);
}
inline void start_fiber() {
  const int me = fiber();
  body();
  fibers[me].done = true;
  ++progress;
  _longjmp(scheduler, 1);
}
/// Until it yields or ends.
inline void resume(int fiber) {
  constexpr std::size_t kStack = 256 << 10;
  go_to(fiber);
  if (_setjmp(scheduler) != 0) return;
  if (fibers[fiber].begun) _longjmp(fibers[fiber].place, 1);
  fibers[fiber].begun = true;
  while (stacks.size() <= static_cast<std::size_t>(fiber)) stacks.push_back(std::make_unique_for_overwrite<char[]>(kStack));
  ucontext_t context;
  getcontext(&context);
  context.uc_stack.ss_sp = stacks[fiber].get();
  context.uc_stack.ss_size = kStack;
  makecontext(&context, start_fiber, 0);
  setcontext(&context);
}
/// Nobody may write to a block that has ended.
inline void expect_alive(int block);
/// Of a cluster: what else there is of it.
inline std::function<void()> on_begin = [] {}, on_end = [] {};

struct Meeting {
  int arrived = 0;
  long turn = 0;
};
inline std::map<int, Meeting> meetings;

inline void expect_quiet() {
  if (!in_flight.empty()) die("a block ends with something in flight");
  for (const auto& [fiber, groups] : store_groups)
    for (const auto& group : groups)
      if (!group.empty()) die("a block ends before its stores have read");
  on_end();
}

/// The cluster that begins with `block`.
inline void run_block(int block, int blocks, int threads, int cluster, std::function<void()> kernel) {
  here = 0;
  threads_of_block = threads;
  blocks_of_cluster = cluster;
  blockIdx.x = block;
  gridDim.x = blocks;
  body = std::move(kernel);
  std::memset(memory, 0xff, sizeof memory);  // bf16 and f32 NaN
  ++shared_writes;
  meetings.clear();  // a turn may be left over
  on_begin();
  store_groups.clear();
  fibers.assign(threads * cluster, {});
  for (long idle = 0; idle < 1000;) {
    const long before = progress;
    bool any = false;
    for (int t = 0; t < threads * cluster; ++t) {
      if (fibers[t].done) continue;
      any = true;
      resume(t);
    }
    if (!any) return expect_quiet();
    idle = progress == before ? idle + 1 : 0;
    if (idle == 0 || in_flight.empty()) continue;
    const Pending next = std::move(in_flight.front());
    in_flight.erase(in_flight.begin());
    go_to(next.fiber);
    next.finish();
    idle = 0;  // somebody may wait for many of them
  }
  die("deadlock");
}

// ---- barriers

inline void expect_alive(int block) {
  bool alive = false;
  for (int t = 0; t < threads_of_block; ++t) alive = alive || !fibers[block * threads_of_block + t].done;
  if (!alive) die("writes to a block that has ended");
}
inline void meet(int key, int threads) {
  Meeting& m = meetings[key + 10000 * here];
  const long turn = m.turn;
  ++progress;
  if (++m.arrived == threads)
    m.arrived = 0, ++m.turn;
  else
    while (m.turn == turn) yield();
}
inline int warp_key() { return 1000 + threadIdx.x / 32; }
inline int group_key() { return 2000 + threadIdx.x / 128; }
inline void __syncthreads() { meet(0, threads_of_block); }
inline void cluster_sync() {
  Meeting& m = meetings[-1];  // one for all blocks
  const long turn = m.turn;
  ++progress;
  if (++m.arrived == static_cast<int>(fibers.size()))
    m.arrived = 0, ++m.turn;
  else
    while (m.turn == turn) yield();
}
inline void __syncwarp() { meet(warp_key(), 32); }
template <int Id, int Threads>
void role_sync() {
  static_assert(Id > 0 && Id < 16 && Threads % 32 == 0);
  meet(Id, Threads);
}

/// Named barriers again: half of the threads wait, the other half only arrives.
template <int Id, int Threads>
void take_turn() {
  meet(Id, Threads);
}
template <int Id, int Threads, std::size_t N>
void take_turn_with(const u32 (&ready)[N]) {
  u32 signs = 0;
  for (const u32 word : ready) signs |= word;
  if (signs >> 31 != 0) die("a sign that the number of a turn's barrier counts as zero");
  meet(Id, Threads);
}
inline bool elected() { return threadIdx.x % 32 == 0; }
template <int Id, int Threads>
void pass_turn() {
  Meeting& m = meetings[Id + 10000 * here];
  ++progress;
  if (++m.arrived == Threads) m.arrived = 0, ++m.turn;
}

struct Phase {
  int expected = 0, pending = 0;
  long bytes = 0, completed = 0;
};
/// An address of shared memory has the block's rank in its cluster above the place in the block (seen on an H100; CUTLASS masks it out of
/// descriptors).
constexpr u32 kWindow = 1u << 24;
inline u32 shared_address(const void* p) {
  return static_cast<u32>(here) * kWindow + static_cast<u32>(static_cast<const unsigned char*>(p) - shared);
}
/// Where in its block the thread's own address is.
inline u32 place_in_block(u32 address) {
  if (static_cast<int>(address / kWindow) != here) die("an address of block " + std::to_string(address / kWindow) + " in another block");
  return address % kWindow;
}
inline std::map<std::pair<int, u32>, Phase> phases;  ///< block, place
/// At the place of the thread's own address, in `block`.
inline Phase& phase_at(u32 address, int block = here) {
  const u32 place = place_in_block(address);
  const auto at = phases.find({block, place});
  if (at == phases.end() || place % 8 != 0) die("no barrier lies at " + std::to_string(place));
  return at->second;
}
inline void settle(Phase& p) {
  ++progress;
  if (p.pending < 0) die("more arrivals than the barrier expects");
  if (p.pending == 0 && p.bytes == 0) ++p.completed, p.pending = p.expected;
}
inline void barrier_init(u32 b, u32 n) { phases[{here, place_in_block(b)}] = {static_cast<int>(n), static_cast<int>(n), 0, 0}; }
inline void barrier_init_fence() {}
inline void arrive(u32 b) {
  Phase& p = phase_at(b);
  --p.pending;
  settle(p);
}
inline void arrive_expect(u32 b, u32 bytes) {
  Phase& p = phase_at(b);
  --p.pending;
  p.bytes += bytes;
  settle(p);
}
inline void arrive_at(u32 b, u32 block) {
  expect_alive(static_cast<int>(block));
  Phase& p = phase_at(b, static_cast<int>(block));
  --p.pending;
  settle(p);
}
inline void arrive_at_after_products(u32 b, u32 block) { arrive_at(b, block); }
inline void wait(u32 b, u32 parity) {
  while ((phase_at(b).completed & 1) == static_cast<long>(parity & 1)) yield();
}
template <std::size_t N>
void wait_with(u32 b, u32 parity, const float (&ready)[N]) {
  for (const float x : ready)
    if (std::signbit(x)) die("a sign that the address of a barrier counts as zero");
  wait(b, parity);
}
inline void wait_cluster(u32 b, u32 parity) { wait(b, parity); }
inline void fence_async() {}
template <int N>
void more_registers() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256);
}
template <int N>
void fewer_registers() {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256);
}
