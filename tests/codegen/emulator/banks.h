// Who counts how threads meet shared memory, while the text runs: per line of the text and per kind of access, how many instructions of a
// warp, how many phases, and how long the port is held. Each lane notes the addresses that it gives; the i-th of every lane of a warp on
// one line are one instruction. Plain counting, bank by bank: nothing here knows how anybody else predicts it.
#pragma once

#include <array>
#include <map>
#include <set>
#include <source_location>
#include <string>
#include <tuple>

#include "block.h"

using Where = std::source_location;

namespace banks {

enum class Kind { Load, Store, MatrixLoad, MatrixStore, Product, BoxLoad, BoxStore };
inline const char* name_of(Kind kind) {
  constexpr const char* kNames[] = {"load", "store", "matrix_load", "matrix_store", "product", "box_load", "box_store"};
  return kNames[static_cast<int>(kind)];
}

/// Off: nothing is noted.
inline bool on = false;
/// Lanes that go to memory together, by the bytes that each moves.
inline int lanes_for_4 = 32, lanes_for_8 = 16, lanes_for_16 = 8;

struct Key {
  int line = 0;
  Kind kind = Kind::Load;
  int bytes = 4;
  auto operator<=>(const Key&) const = default;
};
struct Count {
  long instructions = 0;  ///< of a warp; of a warpgroup for products; boxes
  long phases = 0, port = 0;
  int ways = 1;
  std::set<int> warps;
  bool ragged = false;  ///< lanes that took part did so differently often
};
inline std::map<Key, Count> counts;

/// What the lanes of a warp gave so far, by line.
inline std::map<std::pair<int, Key>, std::array<std::vector<u32>, 32>> noted;

inline int warp_number() { return threads_of_block / 32 * here + threadIdx.x / 32; }

inline void note(Kind kind, u32 address, int bytes, const Where& where) {
  if (on)
    noted[{warp_number(), {static_cast<int>(where.line()), kind, bytes}}][static_cast<std::size_t>(threadIdx.x % 32)].push_back(address);
}
/// Of what no lanes take part in: products and boxes, which take 128 bytes a cycle.
inline void note_bytes(Kind kind, long bytes, int line) {
  if (!on) return;
  Count& count = counts[{line, kind, 16}];
  ++count.instructions;
  count.phases += (bytes + 127) / 128;
  count.port += (bytes + 127) / 128;
  count.warps.insert(warp_number());
}

/// Most different words of one bank among those of a phase.
inline int ways_of(const std::vector<u32>& addresses, int bytes) {
  std::array<std::set<u32>, 32> words;
  for (const u32 address : addresses)
    for (u32 byte = 0; byte < static_cast<u32>(bytes); ++byte) words[(address + byte) / 4 % 32].insert((address + byte) / 4);
  std::size_t most = 0;
  for (const auto& bank : words) most = std::max(most, bank.size());
  return static_cast<int>(most);
}

/// Everything that was noted becomes counts.
inline void settle_counts() {
  for (const auto& [who, lanes] : noted) {
    const Key& key = who.second;
    const int together = key.bytes <= 4 ? lanes_for_4 : key.bytes <= 8 ? lanes_for_8 : lanes_for_16;
    std::size_t most = 0;
    for (const auto& lane : lanes) most = std::max(most, lane.size());
    Count& count = counts[key];
    count.warps.insert(who.first);
    for (const auto& lane : lanes) count.ragged = count.ragged || (!lane.empty() && lane.size() != most);
    for (std::size_t i = 0; i < most; ++i) {
      ++count.instructions;
      for (int first = 0; first < 32; first += together) {
        std::vector<u32> addresses;
        for (int lane = first; lane < first + together; ++lane)
          if (i < lanes[static_cast<std::size_t>(lane)].size()) addresses.push_back(lanes[static_cast<std::size_t>(lane)][i]);
        if (addresses.empty()) continue;
        const int ways = ways_of(addresses, key.bytes);
        ++count.phases;
        count.port += ways;
        count.ways = std::max(count.ways, ways);
      }
    }
  }
  noted.clear();
}

/// "line kind bytes instructions phases port ways warps ragged", a line each.
inline void write_counts(const std::string& path) {
  settle_counts();
  std::ofstream file(path);
  for (const auto& [key, c] : counts)
    file << key.line << ' ' << name_of(key.kind) << ' ' << key.bytes << ' ' << c.instructions << ' ' << c.phases << ' ' << c.port << ' '
         << c.ways << ' ' << c.warps.size() << ' ' << c.ragged << '\n';
}

/// A product's operands from shared memory; one thread of the warpgroup says it.
inline void note_product(long bytes, int line) {
  if (threadIdx.x % 128 == 0) note_bytes(Kind::Product, bytes, line);
}

}  // namespace banks
