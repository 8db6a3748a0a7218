// The rules are those of Triton's lib/Analysis/Allocation.cpp and TensorMemoryAllocation.cpp (2026), so that totals are the same to the
// byte.
#include "core/triton/memory/allocate.h"

#include <algorithm>
#include <limits>
#include <map>

#include "core/base/saturate.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostPieces = 400;
constexpr int kMostRounds = 200;

std::int64_t aligned(std::int64_t offset, std::int64_t alignment) {
  return alignment <= 1 ? offset : sat_mul(sat_add(offset, alignment - 1) / alignment, alignment);
}

bool meet_in_place(const MemoryPiece& a, const MemoryPiece& b) {
  return a.offset < sat_add(b.offset, b.bytes) && b.offset < sat_add(a.offset, a.bytes);
}

bool conflict(const MemoryPiece& a, const MemoryPiece& b) {
  if (!meet_in_place(a, b)) return false;
  if (a.life.meets(b.life)) return true;
  return a.specialize >= 0 && a.specialize == b.specialize && a.region != b.region;
}

/// First places: slots of (offset, stretch of time), lowest offset first; the largest pieces first, each into the lowest slot where it fits
/// in time ("Algorithms for Compile-Time Memory Optimization", Gergov 1999, Buchsbaum and others).
void first_places(std::vector<MemoryPiece*> waiting) {
  std::multimap<std::int64_t, Life> slots;
  slots.insert({0, {0, std::numeric_limits<std::int64_t>::max()}});
  while (!waiting.empty() && !slots.empty()) {
    const auto [offset, slot] = *slots.begin();
    slots.erase(slots.begin());
    const auto chosen = std::ranges::find_if(waiting, [&, slot = slot](const MemoryPiece* piece) {
      return piece->life.meets(slot) && std::ranges::none_of(slots, [&](const auto& other) { return piece->life.meets(other.second); });
    });
    if (chosen == waiting.end()) continue;
    MemoryPiece& piece = **chosen;
    waiting.erase(chosen);
    piece.offset = aligned(offset, piece.alignment);
    slots.insert({sat_add(piece.offset, piece.bytes), {std::max(slot.begin, piece.life.begin), std::min(slot.end, piece.life.end)}});
    if (slot.begin < piece.life.begin) slots.insert({offset, {slot.begin, piece.life.end}});
    if (piece.life.end < slot.end) slots.insert({offset, {piece.life.begin, slot.end}});
  }
}

/// One round of moving pieces that still overlap in time and place: they are coloured, and those of other colours than the first move
/// behind what they overlap. False when none do.
bool move_apart(const std::vector<MemoryPiece*>& pieces) {
  std::vector<std::vector<std::size_t>> against(pieces.size());
  bool any = false;
  for (std::size_t i = 0; i < pieces.size(); ++i)
    for (std::size_t j = 0; j < pieces.size(); ++j)
      if (i != j && conflict(*pieces[i], *pieces[j])) against[i].push_back(j), any = true;
  if (!any) return false;
  std::vector<int> colours(pieces.size(), -1);
  colours.front() = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::vector<bool> taken(pieces.size() + 1);
    for (const std::size_t j : against[i])
      if (colours[j] >= 0) taken[static_cast<std::size_t>(colours[j])] = true;
    colours[i] = static_cast<int>(std::ranges::find(taken, false) - taken.begin());
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (colours[i] == 0) continue;
    std::int64_t behind = 0;
    for (const std::size_t j : against[i]) behind = std::max(behind, sat_add(pieces[j]->offset, pieces[j]->bytes));
    pieces[i]->offset = aligned(behind, pieces[i]->alignment);
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> allocate(std::vector<MemoryPiece>& pieces) {
  if (pieces.size() > kMostPieces) return std::nullopt;
  std::vector<MemoryPiece*> order;
  for (MemoryPiece& piece : pieces) order.push_back(&piece);
  std::ranges::stable_sort(order, [](const MemoryPiece* a, const MemoryPiece* b) { return a->bytes > b->bytes; });
  first_places(order);
  int rounds = 0;
  while (move_apart(order))
    if (++rounds > kMostRounds) return std::nullopt;
  std::int64_t size = 0;
  for (const MemoryPiece& piece : pieces) size = std::max(size, sat_add(piece.offset, piece.bytes));
  return size;
}

// First fit in program order, over columns and two halves of the lanes.
std::int64_t allocate(std::vector<TensorPiece>& pieces) {
  std::int64_t total = 0;
  std::map<int, std::int64_t> row_of;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    TensorPiece& piece = pieces[i];
    const bool half = piece.rows <= 64;
    const auto blocks = [&](const TensorPiece& other) {
      return other.life.meets(piece.life) ||
             (other.specialize >= 0 && other.specialize == piece.specialize && other.region != piece.region);
    };
    // Only the ends of earlier pieces can be where this one begins, rounded up to 4 columns.
    std::vector<std::int64_t> columns{0};
    for (std::size_t j = 0; j < i; ++j)
      if (blocks(pieces[j])) columns.push_back(aligned(sat_add(pieces[j].column, pieces[j].columns), 4));
    std::ranges::sort(columns);
    const auto free_at = [&](std::int64_t column, std::int64_t row) {
      for (std::size_t j = 0; j < i; ++j) {
        const TensorPiece& other = pieces[j];
        if (!blocks(other)) continue;
        const bool rows_meet = !half || other.rows > 64 || other.row == row;
        if (rows_meet && column < sat_add(other.column, other.columns) && other.column < sat_add(column, piece.columns)) return false;
      }
      return true;
    };
    const auto wanted = row_of.find(piece.tied);
    bool found = false;
    for (const std::int64_t column : columns) {
      for (const std::int64_t row : {0, 64}) {
        if (found || (row != 0 && !half)) continue;
        if (half && piece.tied >= 0 && wanted != row_of.end() && wanted->second != row) continue;
        if (!free_at(column, row)) continue;
        piece.column = column;
        piece.row = row;
        found = true;
      }
      if (found) break;
    }
    if (piece.tied >= 0) row_of.insert({piece.tied, piece.row});
    total = std::max(total, sat_add(piece.column, piece.columns));
  }
  return total;
}

}  // namespace heddle::triton
