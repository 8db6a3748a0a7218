// Sub-tiling: one dimension of a kernel's tiles cut into equal parts, so that the scheduler can give the parts to different
// warp groups, or overlap one part's products with another part's softmax.
//
// The dimension is named by a parameter: every on-chip value whose shape mentions it is split. What then happens to an op:
//
//   replicated   its result has the dimension (or it stores a value that has it): one op per part; coordinates of loads and
//                stores move along
//   chained      it contracts over the dimension (K of an mma, the axis of a reduction): the parts accumulate
//                one after the other, the first onto what the op accumulated onto, the last into the op's own result
//   shared       it touches no split value: loads of K and V for all query sub-tiles
//
// The result is an ordinary kernel that computes the same (up to the rounding of a different order of addition), so that
// resolving, solving and executing need not know about sub-tiles.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"

namespace heddle {

struct Subtile {
  std::string param;
  std::int64_t factor = 1;
};

inline constexpr std::int64_t kMostSubtiles = 64;

/// `params` replaces defaults (names the kernel does not have are ignored: they are somebody else's fault to report); the
/// extents that they give must divide exactly. The result is valid for these values only. Its name is "NAME[PARAM/factor]",
/// that of factor 1 is unchanged. Replicas are named by a trailing number: QK -> QK0, QK1. Faults, all at once: a parameter
/// that is no tile dimension, extents that do not divide, values that have the dimension twice, ops that cannot be cut
/// (a mean, a place of a maximum, a part of an mma's columns, numbers in place of a rule). Pre: the kernel is valid
/// (core/kernel/validate.h).
Result<Kernel> subtile(const Kernel& kernel, const Subtile& request, const Scope& params = {});

/// How a cut is written after a kernel's name: "[Q_ROWS/2]".
std::string cut_suffix(const Subtile& cut);

/// What "attention_forward_tile_hopper[Q_ROWS/2]" says: a kernel and how it is cut, in this order.
struct CutName {
  std::string kernel;
  std::vector<Subtile> cuts;
};
CutName split_cuts(const std::string& name);

}  // namespace heddle
