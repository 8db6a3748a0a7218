// Blackwell's tensor memory, on top of gpu.h: columns that are allocated and given back, loads and stores that need their wait, products
// under both descriptors, signals, and what a pair of blocks does together. Products add in the order in which `heddle eval` does.
#pragma once

#include "descriptors.h"
#include "gpu.h"

constexpr int kLanes = 128, kColumns = 512;
constexpr u32 kNothing = 0xffffffff;  ///< NaN as f32 and as two bf16
inline u32 cells[kMostBlocks][kLanes][kColumns];

struct Allocation {
  u32 first = 0, columns = 0;
  int warp = 0;
  bool pair = false, freed = false;
};
inline std::vector<Allocation> allocations[kMostBlocks];

/// What a thread's registers get, or its lane's columns, when it waits.
struct Move {
  void* to = nullptr;
  std::vector<u32> words;
};
inline std::map<int, std::vector<Move>> loads, stores;  ///< by fiber

inline const bool tensor_memory_joins = [] {
  on_begin = [] {
    std::memset(cells, 0xff, sizeof cells);
    for (auto& block : allocations) block.clear();
    loads.clear(), stores.clear();
  };
  on_end = [] {
    for (const auto& block : allocations)
      for (const Allocation& a : block)
        if (!a.freed) die("a block ends with " + std::to_string(a.columns) + " columns of tensor memory");
    for (const auto* moves : {&loads, &stores})
      for (const auto& [fiber, left] : *moves)
        if (!left.empty()) die("a block ends with loads or stores of tensor memory that nobody waited for");
  };
  return true;
}();

/// All lanes of the warp, for the same thing.
inline void together(u64 what) {
  static u64 first[32 * kMostBlocks];
  const int key = 3000 + threadIdx.x / 32;
  u64& agreed = first[warp_index()];
  if (meetings[key + 10000 * here].arrived == 0) agreed = what;
  if (agreed != what) die("lanes of a warp do not agree on what they do with tensor memory");
  meet(key, 32);
}

// ---- allocation

inline void one_kind(bool pair) {
  for (const auto& block : allocations)
    for (const Allocation& a : block)
      if (a.pair != pair) die("cta_group::1 and cta_group::2 in one kernel");
}
inline void allocate(u32 to, u32 columns, bool pair) {
  if (columns < 32 || columns > kColumns || (columns & (columns - 1)) != 0) die(std::to_string(columns) + " columns cannot be allocated");
  if (pair && blocks_of_cluster != 2) die("a pair without a second block");
  one_kind(pair);
  together(u64{to} << 32 | columns);
  if (threadIdx.x % 32 == 0) {
    if (!allocations[here].empty()) die("allocates after it gave up the permit");
    // As far behind as they fit, so that nobody takes the first column for 0.
    allocations[here].push_back({kColumns - columns, columns, threadIdx.x / 32, pair, false});
    store_shared(to, kColumns - columns);
  }
  together(columns);
}
inline void give_back(u32 tensor, u32 columns, bool pair) {
  one_kind(pair);
  together(u64{tensor} << 32 | columns);
  if (threadIdx.x % 32 == 0) {
    if (allocations[here].empty()) die("gives back what was not allocated");
    Allocation& a = allocations[here].front();
    if (a.freed) die("gives tensor memory back twice");
    if (a.first != tensor || a.columns != columns) die("gives back other columns than were allocated");
    if (a.warp != threadIdx.x / 32) die("another warp gives tensor memory back");
    a.freed = true;
  }
  together(columns);
}
inline void tensor_allocate(u32 to, u32 columns) { allocate(to, columns, false); }
inline void tensor_free(u32 tensor, u32 columns) { give_back(tensor, columns, false); }
inline void tensor_allocate_pair(u32 to, u32 columns) { allocate(to, columns, true); }
inline void tensor_free_pair(u32 tensor, u32 columns) { give_back(tensor, columns, true); }

/// The first of `count` columns of a lane.
inline u32* columns_at(u32 address, u32 count, int lane, int block = here) {
  const u32 first = address & 0xffff;
  for (const Allocation& a : allocations[block])
    if (!a.freed && first >= a.first && first + count <= a.first + a.columns) return &cells[block][lane][first];
  die("columns " + std::to_string(first) + " to " + std::to_string(first + count) + " of tensor memory are not allocated");
}

// ---- loads and stores

/// The lane of this thread, if the address names its warp's.
inline int own_lane(u32 address) {
  const int warp = threadIdx.x / 32 % 4;
  if (static_cast<int>(address >> 16) != 32 * warp)
    die("lane " + std::to_string(address >> 16) + " of tensor memory from warp " + std::to_string(warp) + " of a warpgroup");
  return 32 * warp + threadIdx.x % 32;
}
template <int N, int At, class T, int M>
void tensor_load(u32 from, T (&r)[M]) {
  static_assert(At + N <= M && sizeof(T) == 4);
  together(u64{from} << 32 | N);
  const u32* columns = columns_at(from, N, own_lane(from));
  loads[fiber()].push_back({r + At, {columns, columns + N}});
  std::memset(r + At, 0xff, 4 * N);
}
template <int N, int At, class T, int M>
void tensor_store(u32 to, const T (&r)[M]) {
  static_assert(At + N <= M && sizeof(T) == 4);
  together(u64{to} << 32 | 1 << 16 | N);
  Move move{columns_at(to, N, own_lane(to)), std::vector<u32>(N)};
  std::memcpy(move.words.data(), r + At, 4 * N);
  stores[fiber()].push_back(std::move(move));
}
inline void finish(std::vector<Move>& moves) {
  for (const Move& m : moves) std::memcpy(m.to, m.words.data(), 4 * m.words.size());
  moves.clear();
}
inline void tensor_await_loads() {
  together(1);
  finish(loads[fiber()]);
}
inline void tensor_await_stores() {
  together(2);
  finish(stores[fiber()]);
}
inline void tensor_fence_before() {}
inline void tensor_fence_after() {}
inline int this_thread() { return threadIdx.x; }
#define WIDTH(N)                                   \
  template <int At, class T, int M>                \
  void tensor_load_n##N(u32 from, T(&r)[M]) {      \
    tensor_load<N, At>(from, r);                   \
  }                                                \
  template <int At, class T, int M>                \
  void tensor_store_n##N(u32 to, const T(&r)[M]) { \
    tensor_store<N, At>(to, r);                    \
  }
WIDTH(1);
WIDTH(2);
WIDTH(4);
WIDTH(8);
WIDTH(16);
WIDTH(32);
WIDTH(64);
WIDTH(128);
#undef WIDTH

// ---- products

inline u32 number_in_shared(u32 place, int bytes, int block) {
  u32 x = 0;
  std::memcpy(&x, at_place(place, static_cast<u32>(bytes), block), static_cast<std::size_t>(bytes));
  return x;
}
inline emulator::Matrix sound_matrix(u64 bits) {
  const emulator::Matrix m = emulator::matrix_of(bits);
  if (!m.fault.empty()) die(m.fault);
  return m;
}
/// number(block, row, k) is A, as bits.
template <class A>
void multiply_into(u32 d, A number, u64 b, const emulator::Shape& shape, int add, bool pair) {
  if (!shape.fault.empty()) die(shape.fault);
  if (d >> 16 != 0) die("a product into lane " + std::to_string(d >> 16) + " of tensor memory");
  if (pair && (here != 0 || blocks_of_cluster != 2)) die("a product for a pair from its second block");
  one_kind(pair);
  const emulator::Matrix right = sound_matrix(b);
  std::vector<float> columns(static_cast<std::size_t>(shape.n * shape.k));
  const int per_block = pair ? shape.n / 2 : shape.n;
  for (int j = 0; j < shape.n; ++j)
    for (int k = 0; k < shape.k; ++k) {
      const int block = pair ? j / per_block : here;
      const u32 place = emulator::place_of(right, j % per_block, k, shape.b_mn_major, shape.bytes);
      const float x = emulator::value_of(shape.b, number_in_shared(place, shape.bytes, block));
      columns[static_cast<std::size_t>(j * shape.k + k)] = shape.negate_b ? -x : x;
    }
  for (int block = pair ? 0 : here; block <= (pair ? 1 : here); ++block)
    for (int row = 0; row < kLanes; ++row) {
      float a[32];
      for (int k = 0; k < shape.k; ++k) {
        const float x = emulator::value_of(shape.a, number(block, row, k));
        a[k] = shape.negate_a ? -x : x;
      }
      u32* to = columns_at(d, static_cast<u32>(shape.n), row, block);
      for (int j = 0; j < shape.n; ++j) {
        const float* column = &columns[static_cast<std::size_t>(j * shape.k)];
        float sum = add ? __uint_as_float(to[j]) : 0.0f;
        for (int k = 0; k < shape.k; ++k) sum += a[k] * column[k];
        to[j] = __float_as_uint(sum);
      }
    }
  ++progress;
}
inline void multiply_shared(u32 d, u64 a, u64 b, u32 bits, int add, bool eight, bool pair) {
  const emulator::Matrix left = sound_matrix(a);
  const emulator::Shape shape = emulator::shape_of(bits, eight, pair);
  multiply_into(
      d,
      [&](int block, int row, int k) {
        return number_in_shared(emulator::place_of(left, row, k, shape.a_mn_major, shape.bytes), shape.bytes, block);
      },
      b, shape, add, pair);
}
/// Both operands from shared memory, or B alone; each block of a pair reads its own rows of A and its half of B.
inline void note_product(u32 shape, bool a_too, bool eight, bool pair, const Where& where) {
  const int columns = emulator::shape_of(shape, eight, pair).n / (pair ? 2 : 1);
  banks::note_bytes(banks::Kind::Product, 32L * (columns + (a_too ? kLanes : 0)), static_cast<int>(where.line()));
}
inline void start_product(u32 d, u64 a, u64 b, u32 shape, int add, bool eight, bool pair, const Where& where) {
  note_product(shape, true, eight, pair, where);
  start(late_products, [=] { multiply_shared(d, a, b, shape, add, eight, pair); });
}
inline void tensor_product(u32 d, u64 a, u64 b, u32 shape, int add, HERE) { start_product(d, a, b, shape, add, false, false, where); }
inline void tensor_product_pair(u32 d, u64 a, u64 b, u32 shape, int add, HERE) { start_product(d, a, b, shape, add, false, true, where); }
inline void tensor_product_f8(u32 d, u64 a, u64 b, u32 shape, int add, HERE) { start_product(d, a, b, shape, add, true, false, where); }
inline void tensor_product_f8_pair(u32 d, u64 a, u64 b, u32 shape, int add, HERE) { start_product(d, a, b, shape, add, true, true, where); }
/// Two numbers of A to a column.
inline void multiply_tensor(u32 d, u32 a, u64 b, u32 bits, int add) {
  const emulator::Shape shape = emulator::shape_of(bits, false, false);
  if (shape.a_mn_major) die("an operand in tensor memory that is transposed");
  if (a >> 16 != 0) die("an operand in lane " + std::to_string(a >> 16) + " of tensor memory");
  multiply_into(
      d,
      [&](int block, int row, int k) {
        const u32 pair = columns_at(a, static_cast<u32>(shape.k / 2), row, block)[k / 2];
        return k % 2 ? pair >> 16 : pair & 0xffff;
      },
      b, shape, add, false);
}

inline void tensor_product_ts(u32 d, u32 a, u64 b, u32 shape, int add, HERE) {
  note_product(shape, false, false, false, where);
  start(late_products, [=] { multiply_tensor(d, a, b, shape, add); });
}

inline void tensor_signal(u32 barrier) {
  one_kind(false);
  start(late_products, [=] { arrive(barrier); });
}
inline void tensor_signal_pair(u32 barrier) {
  one_kind(true);
  start(late_products, [=] { arrive_at(barrier, 0), arrive_at(barrier, 1); });
}

/// tcgen05.cp with 128x256b: 8 columns of every lane, from rows of 32 bytes.
inline void tensor_copy(u32 to, u64 from) {
  const emulator::Matrix m = sound_matrix(from);
  if (to >> 16 != 0) die("a copy to lane " + std::to_string(to >> 16) + " of tensor memory");
  for (int row = 0; row < kLanes; ++row)
    for (int c = 0; c < 8; ++c) columns_at(to, 8, row)[c] = number_in_shared(emulator::place_of(m, row, c, false, 4), 4, here);
}

// ---- pairs of blocks

inline void arrive_leader(u32 barrier) { arrive_at(barrier, 0); }
inline void arrive_expect_leader(u32 barrier, u32 bytes) {
  expect_alive(0);
  Phase& p = phase_at(barrier, 0);
  --p.pending;
  p.bytes += bytes;
  settle(p);
}
inline void tma_load_pair(u32 to, const TensorMap* m, int x, int y, u32 b, HERE) {
  expect_alive(0), load(to, m, {x, y}, b, here, 0, where);
}
inline void tma_load_pair(u32 to, const TensorMap* m, int x, int y, int z, u32 b, HERE) {
  expect_alive(0), load(to, m, {x, y, z}, b, here, 0, where);
}

/// The larger of three; what is not a number does not count.
inline float max3_(float a, float b, float c) { return std::fmax(std::fmax(a, b), c); }
