// A block of Hopper on the CPU, enough to run the text of a generated kernel as C++: every thread is a fiber, and the PTX
// wrappers of the text are replaced by what the PTX ISA says they do - mbarriers, TMA with its 128-byte swizzle, wgmma with
// matrix descriptors and register fragments, stmatrix, shuffles, named barriers. wgmma finishes at once; TMA, and products in tensor
// memory, at once or as late as they can. Order and waiting are the interpreter's business, addresses and layouts are this one's.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cmath>
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
struct Index {
  int x = 0;
};
inline Index threadIdx, blockIdx, gridDim;
inline int here = 0;  ///< of this thread: the block's place in its cluster
inline int threads_of_block = 0, blocks_of_cluster = 1;

// ---- fibers

struct Fiber {
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
};
inline ucontext_t scheduler;
inline std::vector<Fiber> fibers;
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
  swapcontext(&fibers[me].context, &scheduler);
  go_to(me);
}
inline void start_fiber() {
  const int me = fiber();
  body();
  fibers[me].done = true;
  ++progress;
  swapcontext(&fibers[me].context, &scheduler);
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
  constexpr std::size_t kStack = 256 << 10;
  here = 0;
  threads_of_block = threads;
  blocks_of_cluster = cluster;
  blockIdx.x = block;
  gridDim.x = blocks;
  body = std::move(kernel);
  std::memset(memory, 0xff, sizeof memory);  // bf16 and f32 NaN
  meetings.clear();                          // a turn may be left over
  on_begin();
  store_groups.clear();
  fibers.clear();
  fibers.resize(threads * cluster);
  for (Fiber& f : fibers) {
    f.stack = std::make_unique<char[]>(kStack);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.get();
    f.context.uc_stack.ss_size = kStack;
    makecontext(&f.context, start_fiber, 0);
  }
  for (long idle = 0; idle < 1000;) {
    const long before = progress;
    bool any = false;
    for (int t = 0; t < threads * cluster; ++t) {
      if (fibers[t].done) continue;
      any = true;
      go_to(t);
      swapcontext(&scheduler, &fibers[t].context);
    }
    if (!any) return expect_quiet();
    idle = progress == before ? idle + 1 : 0;
    if (idle == 0 || in_flight.empty()) continue;
    const Pending next = std::move(in_flight.front());
    in_flight.erase(in_flight.begin());
    go_to(next.fiber);
    next.finish();
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
inline std::map<std::pair<int, u32>, Phase> phases;  ///< block, address
inline Phase& phase_at(u32 address, int block = here) {
  if (address % 8 != 0 || !phases.contains({block, address})) die("no barrier lies at " + std::to_string(address));
  return phases[{block, address}];
}
inline void settle(Phase& p) {
  ++progress;
  if (p.pending < 0) die("more arrivals than the barrier expects");
  if (p.pending == 0 && p.bytes == 0) ++p.completed, p.pending = p.expected;
}
inline u32 shared_address(const void* p) { return static_cast<u32>(static_cast<const unsigned char*>(p) - shared); }
inline void barrier_init(u32 b, u32 n) { phases[{here, b}] = {static_cast<int>(n), static_cast<int>(n), 0, 0}; }
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

// ---- numbers

inline float bf16_value(std::uint16_t x) {
  const u32 bits = u32{x} << 16;
  float y;
  std::memcpy(&y, &bits, 4);
  return y;
}
inline std::uint16_t bf16_bits(float x) {
  u32 bits;
  std::memcpy(&bits, &x, 4);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
inline u32 pack_bf16(float low, float high) { return bf16_bits(low) | u32{bf16_bits(high)} << 16; }
inline float low_bf16(u32 x) { return bf16_value(static_cast<std::uint16_t>(x)); }
inline float high_bf16(u32 x) { return bf16_value(static_cast<std::uint16_t>(x >> 16)); }
inline u32 __float_as_uint(float x) {
  u32 bits;
  std::memcpy(&bits, &x, 4);
  return bits;
}
inline float __uint_as_float(u32 bits) {
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
inline float exp2_(float x) { return std::exp2(x); }
inline float log2_(float x) { return std::log2(x); }
inline float recip_(float x) { return 1.0f / x; }
inline float rsqrt_(float x) { return 1.0f / std::sqrt(x); }
inline float sqrt_(float x) { return std::sqrt(x); }
inline float tanh_(float x) { return std::tanh(x); }
inline float sigmoid_(float x) { return 1.0f / (1.0f + std::exp(-x)); }

// ---- shared memory

inline unsigned char* at(u32 address, u32 bytes, int block = here) {
  if (u64{address} + bytes > sizeof shared || address % bytes != 0) die("bad shared address " + std::to_string(address));
  return memory[block] + address;
}
/// The 128-byte swizzle exchanges address bits: 4 to 6 with their exclusive or with 7 to 9.
inline u32 swizzled(u32 address) { return address ^ ((address >> 3) & 0x70); }
template <class T>
T load_shared(u32 address) {
  T x;
  std::memcpy(&x, at(address, sizeof(T)), sizeof(T));
  return x;
}
template <class T>
void store_shared(u32 address, T x) {
  std::memcpy(at(address, sizeof(T)), &x, sizeof(T));
}
inline void store_word(u32 a, float x) { store_shared(a, x); }
inline void store_word(u32 a, u32 x) { store_shared(a, x); }
inline void load_word(u32 a, float& x) { x = load_shared<float>(a); }
inline void load_word(u32 a, u32& x) { x = load_shared<u32>(a); }
inline int warp_index() { return threads_of_block / 32 * here + threadIdx.x / 32; }
/// Addresses of each lane's pair stores in turn; lanes of a warp issue them together.
inline std::vector<u32> pair_stores[32 * kMostBlocks][32];
/// How often 16 lanes that store pairs at the same time meet in one of the 32 banks, at worst. 0: nobody stored pairs.
inline int pair_store_ways() {
  int worst = 0;
  for (const auto& lanes : pair_stores)
    for (std::size_t i = 0; i < lanes[0].size(); ++i)
      for (int half = 0; half < 32; half += 16) {
        int met[32] = {};
        for (int lane = half; lane < half + 16; ++lane)
          for (u32 word = 0; word < 2; ++word) worst = std::max(worst, ++met[(lanes[lane].at(i) / 4 + word) % 32]);
      }
  return worst;
}
inline void store_pair(u32 a, float x, float y) {
  at(a, 8);
  pair_stores[warp_index()][threadIdx.x % 32].push_back(a);
  store_shared(a, x), store_shared(a + 4, y);
}
inline void store_words(u32 a, u32 x, u32 y, u32 z, u32 w) {
  at(a, 16);
  store_shared(a, x), store_shared(a + 4, y), store_shared(a + 8, z), store_shared(a + 12, w);
}
inline void load_words(u32 a, float& x, float& y) {
  at(a, 8);
  x = load_shared<float>(a), y = load_shared<float>(a + 4);
}
inline void load_words(u32 a, u32& x, u32& y, u32& z, u32& w) {
  at(a, 16);
  x = load_shared<u32>(a), y = load_shared<u32>(a + 4), z = load_shared<u32>(a + 8), w = load_shared<u32>(a + 12);
}

inline u32 load_pair(const std::uint16_t* from) {
  if (reinterpret_cast<std::uintptr_t>(from) % 4 != 0) die("a pair of 16-bit numbers at an odd place");
  return from[0] | u32{from[1]} << 16;
}
inline void load_pair(const float* from, float& x, float& y) { x = from[0], y = from[1]; }

inline float exchange[32 * kMostBlocks][32];
inline float __shfl_sync(u32, float x, int lane) {
  if (lane != threadIdx.x % 32) die("a shuffle from another lane");
  return x;
}
inline float __shfl_xor_sync(u32, float x, int mask) {
  const int warp = warp_index(), lane = threadIdx.x % 32;
  exchange[warp][lane] = x;
  meet(warp_key(), 32);
  const float y = exchange[warp][lane ^ mask];
  meet(warp_key(), 32);
  return y;
}
inline bool __any_sync(u32, bool one) {
  float any = one ? 1.0f : 0.0f;
  for (int mask = 16; mask > 0; mask /= 2) any = std::max(any, __shfl_xor_sync(0, any, mask));
  return any > 0;
}

/// stmatrix x4: thread 8m + r gives the address of row r of matrix m; thread t holds of each matrix row t/4, columns 2(t%4)
/// and the next, as the halves of one register.
inline u32 rows_of[32 * kMostBlocks][32];
inline void store_matrices(u32 a, u32 r0, u32 r1, u32 r2, u32 r3) {
  const int warp = warp_index(), lane = threadIdx.x % 32;
  at(a, 16);
  rows_of[warp][lane] = a;
  meet(warp_key(), 32);
  const u32 registers[4] = {r0, r1, r2, r3};
  for (int m = 0; m < 4; ++m) store_shared(rows_of[warp][8 * m + lane / 4] + lane % 4 * 4, registers[m]);
  meet(warp_key(), 32);
}

// ---- TMA

struct Plan {
  void* data = nullptr;
  int size = 2;                    ///< bytes of an element
  std::vector<long> extents, box;  ///< innermost first
  bool swizzle = false;
};
struct TensorMap {
  const Plan* plan = nullptr;
};
inline void prefetch_map(const TensorMap*) {}

/// visit(shared address, element or null outside the tensor) for every element of the box.
template <class Visit>
void walk_box(const Plan& plan, u32 base, std::vector<long> start, Visit visit) {
  if (base % 128 != 0 || (plan.swizzle && base % 1024 != 0)) die("a tile begins at " + std::to_string(base));
  long count = 1;
  for (const long side : plan.box) count *= side;
  for (long n = 0; n < count; ++n) {
    long rest = n, offset = 0, stride = 1;
    bool inside = true;
    for (std::size_t d = 0; d < plan.box.size(); ++d) {
      const long x = start[d] + rest % plan.box[d];
      rest /= plan.box[d];
      inside = inside && x >= 0 && x < plan.extents[d];
      offset += x * stride;
      stride *= plan.extents[d];
    }
    const u32 address = base + static_cast<u32>(plan.size * n);
    visit(plan.swizzle ? swizzled(address) : address, inside ? static_cast<char*>(plan.data) + plan.size * offset : nullptr);
  }
}
/// Into `block`; the barrier is that of `signalled`.
inline void load_box(u32 to, const TensorMap* map, std::vector<long> start, u32 barrier, int block, int signalled) {
  long bytes = 0;
  const u32 size = static_cast<u32>(map->plan->size);
  walk_box(*map->plan, to, std::move(start), [&](u32 a, const char* x) {
    if (x)
      std::memcpy(at(a, size, block), x, size);
    else
      std::memset(at(a, size, block), 0, size);
    bytes += size;
  });
  Phase& p = phase_at(barrier, signalled);
  p.bytes -= bytes;
  if (p.bytes < 0 && blocks_of_cluster == 1) die("more bytes than were expected");
  settle(p);
}
inline void store_box(const TensorMap* map, u32 from, std::vector<long> start, bool add) {
  const u32 size = static_cast<u32>(map->plan->size);
  walk_box(*map->plan, from, std::move(start), [&](u32 a, char* x) {
    if (!x) return;
    if (!add)
      std::memcpy(x, at(a, size), size);
    else
      *reinterpret_cast<float*>(x) += load_shared<float>(a);
  });
}
inline void load(u32 to, const TensorMap* m, std::vector<long> at, u32 b, int block, int signalled) {
  start(late_copies, [=, map = *m] { load_box(to, &map, at, b, block, signalled); });
}
inline void tma_load(u32 to, const TensorMap* m, int x, int y, u32 b) { load(to, m, {x, y}, b, here, here); }
inline void tma_load(u32 to, const TensorMap* m, int x, int y, int z, u32 b) { load(to, m, {x, y, z}, b, here, here); }
inline void load_boxes(u32 to, const TensorMap* m, std::vector<long> at, u32 b, unsigned blocks) {
  for (int block = 0; block < blocks_of_cluster; ++block)
    if (blocks >> block & 1) expect_alive(block), load(to, m, at, b, block, block);
}
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, u32 b, unsigned blocks) { load_boxes(to, m, {x, y}, b, blocks); }
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, int z, u32 b, unsigned blocks) {
  load_boxes(to, m, {x, y, z}, b, blocks);
}

inline void store(const TensorMap* m, u32 from, std::vector<long> at, bool add) {
  auto& groups = store_groups[fiber()];
  if (groups.empty()) groups.emplace_back();
  const auto read = [=, map = *m] { store_box(&map, from, at, add); };
  if (late_copies)
    groups.back().push_back(read);
  else
    read();
}
inline void store_commit() { store_groups[fiber()].emplace_back(); }
inline void read_stores(std::size_t keep) {
  auto& groups = store_groups[fiber()];
  while (groups.size() > keep + 1) {
    for (const auto& read : groups.front()) read();
    groups.erase(groups.begin());
  }
}
inline void tma_add(const TensorMap* m, u32 from, int x, int y) { store(m, from, {x, y}, true); }
inline void tma_add(const TensorMap* m, u32 from, int x, int y, int z) { store(m, from, {x, y, z}, true); }
inline void tma_store(const TensorMap* m, u32 from, int x, int y) { store(m, from, {x, y}, false); }
inline void tma_store(const TensorMap* m, u32 from, int x, int y, int z) { store(m, from, {x, y, z}, false); }
template <int N>
void store_wait_read() {
  read_stores(N);
}
inline void store_wait_all() { read_stores(0); }

// ---- wgmma

inline void product_fence() {}
inline void product_commit() {}
template <int N>
void product_wait() {}
template <int N>
void pin(float (&)[N]) {}
template <int N>
void fresh(float (&d)[N]) {
  std::fill(d, d + N, NAN);
}
template <int N>
void keep(u32 (&)[N]) {}
inline void keep_in_register(u32&) {}
inline u64 matrix(u32 address, u32 leading) {
  if (address >= 1u << 18) die("a matrix beyond shared memory");
  return (u64)(address >> 4) | ((u64)(leading >> 4) << 16) | ((u64)(1024 >> 4) << 32) | (1ull << 62);
}
inline u64 behind(u64 matrix, u32 offset) {
  if ((matrix & 0x3fff) + (offset >> 4) > 0x3fff || offset % 16 != 0) die("an offset that leaves the address of a matrix");
  return matrix + (offset >> 4);
}
/// Element of an operand under a descriptor with 128-byte swizzle. K-major: 8 rows of 128 bytes, then `stride` to the next 8.
/// The other way round: 8 values of k, then `stride`; 64 columns, then `leading`.
inline float element(u64 descriptor, int row, int k, bool mn_major) {
  const u32 start = static_cast<u32>(descriptor & 0x3fff) << 4, leading = static_cast<u32>((descriptor >> 16) & 0x3fff) << 4,
            stride = static_cast<u32>((descriptor >> 32) & 0x3fff) << 4;
  const u32 address = mn_major ? start + static_cast<u32>(row / 64) * leading + static_cast<u32>(k / 8) * stride +
                                     static_cast<u32>(k % 8 * 128 + row % 64 * 2)
                               : start + static_cast<u32>(row / 8) * stride + static_cast<u32>(row % 8 * 128 + k * 2);
  return bf16_value(load_shared<std::uint16_t>(swizzled(address)));
}
/// m64nNk16 for this thread: a_row(row, k) is A.
template <int N, class A>
void multiply(float* d, A a, u64 b, int add, bool mn_major) {
  const int t = threadIdx.x % 128, top = t / 32 * 16 + t % 32 / 4, q = t % 4;
  float rows[2][16];
  for (int h = 0; h < 2; ++h)
    for (int k = 0; k < 16; ++k) rows[h][k] = a(top + 8 * h, k);
  for (int j = 0; j < N / 8; ++j)
    for (int e = 0; e < 2; ++e) {
      float column[16];
      for (int k = 0; k < 16; ++k) column[k] = element(b, 8 * j + 2 * q + e, k, mn_major);
      for (int h = 0; h < 2; ++h) {
        float sum = add ? d[4 * j + 2 * h + e] : 0.0f;
        for (int k = 0; k < 16; ++k) sum += rows[h][k] * column[k];
        d[4 * j + 2 * h + e] = sum;
      }
    }
}
template <int N, bool AMnMajor, bool MnMajor>
void product(float (&d)[N / 2], u64 a, u64 b, int add) {
  multiply<N>(
      d, [&](int row, int k) { return element(a, row, k, AMnMajor); }, b, add, MnMajor);
}
inline u32 fragments[8 * kMostBlocks][128][4];
template <int N, bool, bool MnMajor>
void product(float (&d)[N / 2], u32 a0, u32 a1, u32 a2, u32 a3, u64 b, int add) {
  // Register i of thread t: i & 1 is rows + 8, i & 2 is columns + 8.
  const int group = warp_index() / 4, t = threadIdx.x % 128;
  const u32 own[4] = {a0, a1, a2, a3};
  std::copy(own, own + 4, fragments[group][t]);
  meet(group_key(), 128);
  const auto a = [&](int row, int k) {
    const int owner = row / 16 * 32 + row % 8 * 4 + k % 8 / 2;
    const u32 pair = fragments[group][owner][(row % 16 / 8) + 2 * (k / 8)];
    return k % 2 ? high_bf16(pair) : low_bf16(pair);
  };
  multiply<N>(d, a, b, add, MnMajor);
  meet(group_key(), 128);
}

// ---- files of floats

inline std::vector<float> read_floats(const std::string& path) {
  std::FILE* f = std::fopen(path.c_str(), "rb");
  if (!f) die("cannot read " + path);
  std::fseek(f, 0, SEEK_END);
  std::vector<float> x(static_cast<std::size_t>(std::ftell(f)) / 4);
  std::rewind(f);
  if (std::fread(x.data(), 4, x.size(), f) != x.size()) die("cannot read " + path);
  std::fclose(f);
  return x;
}
inline std::vector<std::uint16_t> read_bf16(const std::string& path) {
  std::vector<std::uint16_t> bits;
  for (const float x : read_floats(path)) bits.push_back(bf16_bits(x));
  return bits;
}
inline void write_floats(const std::string& path, const std::vector<float>& x) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f || std::fwrite(x.data(), 4, x.size(), f) != x.size()) die("cannot write " + path);
  std::fclose(f);
}
inline void write_bf16(const std::string& path, const std::vector<std::uint16_t>& bits) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) die("cannot write " + path);
  for (const std::uint16_t b : bits) {
    const float x = bf16_value(b);
    std::fwrite(&x, 4, 1, f);
  }
  std::fclose(f);
}
