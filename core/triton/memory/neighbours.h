// How many elements of a load by pointer are known to be neighbours in memory: what decides whether Triton can copy it asynchronously.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/triton/read/program.h"

namespace heddle::triton {

/// What is known of a tile of integers or addresses along one dimension.
struct Axis {
  std::int64_t contiguity = 1;    ///< so many elements in a row count up by one
  std::int64_t divisibility = 1;  ///< the first element of each such row is a multiple of it; of addresses in bytes
  std::int64_t constancy = 1;     ///< so many elements in a row are equal
};

class Neighbours {
 public:
  explicit Neighbours(const TritonProgram& program);

  /// Bytes that a thread copies at once by what addresses and mask of a `tt.load` let it know, at most what its layout gives it in a row;
  /// without bound where the layout is not understood.
  std::int64_t copied_at_once(const mlir::Op& load) const;

 private:
  struct Known {
    std::vector<Axis> axes;  ///< empty: nothing has reached it yet
    std::optional<std::int64_t> constant;
  };

  Known nothing(mlir::ValueId value) const;
  std::optional<Known> result_of(const mlir::Op& op) const;
  Known binary(const mlir::Op& op, const Known& a, const Known& b) const;
  Known compared(const mlir::Op& op, const Known& a, const Known& b) const;
  bool join(mlir::ValueId into, const Known& known);
  bool visit(mlir::OpId id);

  const TritonProgram& program_;
  const mlir::Module& module_;
  std::vector<Known> known_;
};

}  // namespace heddle::triton
