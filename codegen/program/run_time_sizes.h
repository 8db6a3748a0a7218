// Which parameters of a kernel a text can take as an argument, so that one text serves every size: those that only tensors' extents, the
// grid, numbers of trips and coordinates depend on. Tiles, rings and registers follow from the others, which stay literals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/expr.h"
#include "core/kernel/kernel.h"

namespace heddle::codegen {

/// Trips of the tile that a program for every size is written down for: enough for every part of a pipeline to be there, and a multiple of
/// every number of iterations that a pass may have (4 at most).
inline constexpr std::int64_t kTripsAsWritten = 240;

struct RunTimeParam {
  std::string name;
  std::string fixed_by;  ///< why it stays a literal: "the shape of tile 'b' depends on it"; empty: the text takes it as an argument
};

/// Of every parameter, in the kernel's order.
std::vector<RunTimeParam> run_time_params(const Kernel& kernel);
/// Their names only.
std::vector<std::string> run_time_names(const Kernel& kernel);

/// What the host computes with sizes: numbers of trips, the grid, extents of tensors; each with what it is, for messages.
struct SizeExpr {
  const Expr* expr;
  std::string what;  ///< "the number of trips"
};
std::vector<SizeExpr> size_exprs(const Kernel& kernel);

/// Sizes near the kernel's own, not below them, for which everything is there that some sizes need (core/kernel/switches.h): a text that is
/// written with them serves all. Pre: the kernel is settled with `params`. Empty: all is there already, or no sizes near will do.
Scope sizes_with_all(const Kernel& kernel, const Scope& params);

/// Why more trips than the kernel's own would change a result, as a sentence; empty: they change none. A load beyond its tensor gives
/// zeros, and a tile of zeros, or one that is masked whole, adds nothing to a sum and leaves a maximum as it is. Where a load or a mask
/// ends is tried on many sizes, not proved.
std::string harm_of_more_trips(const Kernel& kernel, const Scope& params);

}  // namespace heddle::codegen
