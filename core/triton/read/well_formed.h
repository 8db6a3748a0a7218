// Whether ops have the operands and results that their names promise, and loops what they carry: what MLIR itself makes sure of before it
// prints. Texts that were edited or damaged are refused here, so that readers behind it can rely on it.
#pragma once

#include <vector>

#include "core/base/result.h"
#include "core/mlir/module.h"

namespace heddle::triton {

/// At most 64 faults, each with the line. Ops that are not in the table of ops may have anything.
std::vector<Fault> malformed_ops(const mlir::Module& module);

}  // namespace heddle::triton
