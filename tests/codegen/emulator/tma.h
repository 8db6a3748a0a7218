// TMA with its swizzles and multicast: loads signal barriers, stores are waited for in groups.
#pragma once

#include "shared_memory.h"

struct Plan {
  void* data = nullptr;
  int size = 2;                    ///< bytes of an element
  std::vector<long> extents, box;  ///< innermost first
  int swizzle = 0;                 ///< bytes of a row: 128, 64, 32; 0: none
  std::vector<long> strides;       ///< elements between neighbours; empty: one extent behind the other
  long stride(std::size_t d) const {
    long packed = 1;
    for (std::size_t inner = 0; inner < d; ++inner) packed *= extents[inner];
    return strides.empty() ? packed : strides[d];
  }
};
struct TensorMap {
  const Plan* plan = nullptr;
};
inline void prefetch_map(const TensorMap*) {}

/// That the driver would make such a map, and that a box may lie there.
inline void expect_legal(const Plan& plan, u32 base) {
  if (plan.swizzle != 0 && plan.swizzle != 32 && plan.swizzle != 64 && plan.swizzle != 128)
    die("a map with a swizzle of " + std::to_string(plan.swizzle) + " bytes");
  const long inner = plan.box[0] * plan.size;
  if (inner % 16 != 0 || (plan.swizzle > 0 && inner > plan.swizzle))
    die("rows of " + std::to_string(inner) + " bytes in a box with a swizzle of " + std::to_string(plan.swizzle));
  for (const long side : plan.box)
    if (side < 1 || side > 256) die("a box of " + std::to_string(side));
  // Patterns repeat after 8 rows; a box begins with one, if it has more rows than one.
  const bool one_row = std::all_of(plan.box.begin() + 1, plan.box.end(), [](long side) { return side == 1; });
  if (base % 128 != 0 || (plan.swizzle > 0 && !one_row && base % static_cast<u32>(8 * plan.swizzle) != 0))
    die("a tile begins at " + std::to_string(base));
}
inline long bytes_of(const Plan& plan) {
  long bytes = plan.size;
  for (const long side : plan.box) bytes *= side;
  return bytes;
}
/// In global memory a box begins at a multiple of 16 bytes, or the hardware reports an illegal instruction (seen on an H100).
inline void expect_aligned(const Plan& plan, const std::vector<long>& start) {
  long offset = 0;
  for (std::size_t d = 0; d < start.size(); ++d) offset += start[d] * plan.stride(d) * plan.size;
  if (offset % 16 != 0) die("a box begins " + std::to_string(offset) + " bytes behind its tensor, which is no multiple of 16");
}
/// visit(shared address, element or null outside the tensor) for every element of the box.
template <class Visit>
void walk_box(const Plan& plan, u32 base, std::vector<long> start, Visit visit) {
  expect_legal(plan, base);
  expect_aligned(plan, start);
  const long columns = plan.box[0], rows = bytes_of(plan) / (plan.size * columns), step = plan.stride(0);
  u32 address = base;
  for (long n = 0; n < rows; ++n) {
    long rest = n, offset = start[0] * step;
    bool inside = true;
    for (std::size_t d = 1; d < plan.box.size(); ++d) {
      const long x = start[d] + rest % plan.box[d];
      rest /= plan.box[d];
      inside = inside && x >= 0 && x < plan.extents[d];
      offset += x * plan.stride(d);
    }
    for (long x = start[0]; x < start[0] + columns; ++x, offset += step, address += static_cast<u32>(plan.size))
      visit(swizzled(address, plan.swizzle),
            inside && x >= 0 && x < plan.extents[0] ? static_cast<char*>(plan.data) + plan.size * offset : nullptr);
  }
}
/// Into `block`; the barrier is that of `signalled`.
inline void load_box(u32 to, const TensorMap* map, std::vector<long> start, u32 barrier, int block, int signalled) {
  long bytes = 0;
  ++shared_writes;
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
inline void note_box(banks::Kind kind, const TensorMap* map, const Where& where) {
  banks::note_bytes(kind, bytes_of(*map->plan), static_cast<int>(where.line()));
}
inline void load(u32 to, const TensorMap* m, std::vector<long> at, u32 b, int block, int signalled, const Where& where) {
  note_box(banks::Kind::BoxLoad, m, where);
  start(late_copies, [=, map = *m] { load_box(to, &map, at, b, block, signalled); });
}
inline void tma_load(u32 to, const TensorMap* m, int x, int y, u32 b, HERE) { load(to, m, {x, y}, b, here, here, where); }
inline void tma_load(u32 to, const TensorMap* m, int x, int y, int z, u32 b, HERE) { load(to, m, {x, y, z}, b, here, here, where); }
inline void tma_load(u32 to, const TensorMap* m, int x, int y, int z, int v, u32 b, HERE) {
  load(to, m, {x, y, z, v}, b, here, here, where);
}
inline void tma_load(u32 to, const TensorMap* m, int x, int y, int z, int v, int w, u32 b, HERE) {
  load(to, m, {x, y, z, v, w}, b, here, here, where);
}
inline void load_boxes(u32 to, const TensorMap* m, std::vector<long> at, u32 b, unsigned blocks, const Where& where) {
  for (int block = 0; block < blocks_of_cluster; ++block)
    if (blocks >> block & 1) expect_alive(block), load(to, m, at, b, block, block, where);
}
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, u32 b, unsigned short blocks, HERE) {
  load_boxes(to, m, {x, y}, b, blocks, where);
}
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, int z, u32 b, unsigned short blocks, HERE) {
  load_boxes(to, m, {x, y, z}, b, blocks, where);
}
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, int z, int v, u32 b, unsigned short blocks, HERE) {
  load_boxes(to, m, {x, y, z, v}, b, blocks, where);
}
inline void tma_load_all(u32 to, const TensorMap* m, int x, int y, int z, int v, int w, u32 b, unsigned short blocks, HERE) {
  load_boxes(to, m, {x, y, z, v, w}, b, blocks, where);
}

inline void store(const TensorMap* m, u32 from, std::vector<long> at, bool add, const Where& where) {
  note_box(banks::Kind::BoxStore, m, where);
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
inline void tma_add(const TensorMap* m, u32 from, int x, int y, HERE) { store(m, from, {x, y}, true, where); }
inline void tma_add(const TensorMap* m, u32 from, int x, int y, int z, HERE) { store(m, from, {x, y, z}, true, where); }
inline void tma_add(const TensorMap* m, u32 from, int x, int y, int z, int v, HERE) { store(m, from, {x, y, z, v}, true, where); }
inline void tma_store(const TensorMap* m, u32 from, int x, int y, HERE) { store(m, from, {x, y}, false, where); }
inline void tma_store(const TensorMap* m, u32 from, int x, int y, int z, HERE) { store(m, from, {x, y, z}, false, where); }
inline void tma_store(const TensorMap* m, u32 from, int x, int y, int z, int v, HERE) { store(m, from, {x, y, z, v}, false, where); }
template <int N>
void store_wait_read() {
  read_stores(N);
}
inline void store_wait_all() { read_stores(0); }
