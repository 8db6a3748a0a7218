// Tensor memory of one CTA: which columns are allocated, who wrote each cell last and who may still read it. A cell is one column of 16
// lanes: products of 64 rows and tcgen05.ld of 16 lanes reach half of a warp's quarter.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ptx/judge/barriers.h"
#include "ptx/judge/clock.h"
#include "ptx/judge/finding.h"
#include "ptx/judge/shadow.h"

namespace heddle::ptx {

constexpr int kTensorColumns = 512;
constexpr int kTensorLanes = 128;

/// Sixteens of lanes, one bit each (bit i: lanes 16 i to 16 i + 15), and columns [column, column + columns).
struct TensorCells {
  std::uint8_t sixteens = 0xFF;
  int column = 0, columns = 0;
};

/// Columns that tcgen05.alloc gave, and to whom.
struct TensorAllocation {
  int column = 0, columns = 0;
  Barriers::By by;
};

class TensorShadow {
 public:
  TensorShadow(const Components& components, Findings& findings);
  ~TensorShadow();
  TensorShadow(TensorShadow&& other) noexcept;

  // allocation (tcgen05.alloc, dealloc, relinquish_alloc_permit)
  /// The first column, or nothing where so many are not free now: the warp waits. A number that is no power of two from 32 to 512 and an
  /// allocation after the permit was given up are findings (and take the next number that would do).
  std::optional<int> allocate(int columns, const Barriers::By& by);
  /// Columns that were not allocated like this are a finding; so is an access that the warp does not know to be over.
  void free(int column, int columns, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by);
  void relinquish() { may_allocate_ = false; }
  /// At the end of the kernel: what was never freed.
  void check_end();

  // accesses; all say what lies outside of allocated columns
  /// What is read must be known to be written: to `known.seen`, and to `known.tensor` by tcgen05.fence (else a doubt). Accesses of one
  /// component are in order among themselves (the queue of products and copies).
  void read(std::span<const TensorCells> where, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by);
  void write(std::span<const TensorCells> where, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by);
  /// A warp reaches lanes 32 (its number modulo 4) and up with tcgen05.ld and st, and no others. `lane`: the address's.
  void check_lanes(int lane, int warp_in_cta, const Barriers::By& by);

 private:
  struct Inside;

  void find(CheckRule rule, const Barriers::By& by, std::string sentence, std::int64_t other, std::vector<RelatedPlace> related = {});
  /// `where` within the columns that there are; columns that are not allocated are a finding.
  std::vector<TensorCells> inside_allocations(std::span<const TensorCells> where, const char* what, const Barriers::By& by);
  void use(std::span<const TensorCells> where, bool write, const ShadowAccess& access, const KnownClocks& known, const Barriers::By& by);

  Findings* findings_;
  std::vector<TensorAllocation> allocations_;  ///< by column
  bool may_allocate_ = true;
  std::unique_ptr<Inside> inside_;
};

}  // namespace heddle::ptx
