// Which part of which tensor a load or a store of a text touches.
#pragma once

#include <string>
#include <vector>

#include "core/triton/kernel/kernel_draft.h"

namespace heddle::triton {

struct TensorBox {
  std::string tensor;
  std::vector<std::string> at;
  bool transposed = false;  ///< the tile is held the other way round

  void put(TileOp& op) const;
};

/// Of an op that moves a tile by a descriptor or by pointers; its tensor is in the kernel then. What the text does not say is a parameter
/// or a note.
TensorBox box_of(LoopKernelDraft& draft, const mlir::Op& op, const Type& tile);

}  // namespace heddle::triton
