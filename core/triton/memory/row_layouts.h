// Which register tiles get another layout after the pipeliner. With two warp groups a tile read from tensor memory is cut by columns, so
// that a sum along a row crosses warps. Triton reads tiles that are reduced along rows in another way, whole rows for each warp, and
// converts where they meet tiles that are not.
#pragma once

#include <set>
#include <vector>

#include "core/triton/memory/places.h"
#include "core/triton/memory/plan.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

class RowLayouts {
 public:
  RowLayouts(const TritonProgram& program, const Places& places);
  /// Scratch of an op under the layouts that it will have.
  void scratch(MemoryPlan& plan, mlir::OpId op) const;

 private:
  bool reduced_along_rows(mlir::OpId load) const;
  /// The reads of tensor memory that a tile is computed from, element by element.
  std::vector<mlir::OpId> origins(mlir::ValueId value) const;
  bool by_rows(mlir::ValueId value) const;
  Type relaid(const Type& type) const;

  const TritonProgram& program_;
  const Places& places_;
  std::set<std::size_t> loads_;         ///< ops whose result lies by rows
  std::vector<TritonLayout> original_;  ///< their layouts as printed
};

}  // namespace heddle::triton
