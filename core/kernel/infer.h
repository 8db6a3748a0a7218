// What a value is, as far as the op that defines it says: a kernel file need not repeat it. "biased" = add of "acc" and "bias" is an f32
// tile of acc's shape in registers, so its entry in "values" may leave these out, or be missing altogether.
#pragma once

#include <map>
#include <string>

#include "core/kernel/kernel.h"

namespace heddle {

/// Which of a value's members are left out.
struct OmittedMembers {
  bool dtype = false, shape = false, space = false;
  bool any() const { return dtype || shape || space; }
};
using OmittedByValue = std::map<std::string, OmittedMembers, std::less<>>;

/// Fills in what follows; `left_out` keeps what does not.
///   dtype   of loads the tensor's; of products, reductions and element-by-element kinds f32; of moves the operand's
///   shape   that of the operand with most dimensions; of products M x N; of reductions without the axis that goes
///   space   shared memory of tma_load and smem_store, tensor memory of tmem_store, registers of everything else
/// The shape of what is loaded, filled or broadcast does not follow, nor the type that `convert` converts to.
void infer_values(Kernel& kernel, OmittedByValue& left_out);

/// What could be left out of each value so that infer_values() finds it again.
OmittedByValue what_follows(const Kernel& kernel);

}  // namespace heddle
