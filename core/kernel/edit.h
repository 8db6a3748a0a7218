// Changes of a kernel as a person thinks of them at its graph: an op more, one less, another kind, other operands. What comes of them may
// have faults, which a reader of its text then tells; nothing here refuses.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel/kernel.h"

namespace heddle {

enum class OpList { Prologue, Body, Epilogue };

/// Where an op stands in a kernel.
struct OpPlace {
  OpList list = OpList::Body;
  std::size_t index = 0;
};

std::vector<TileOp>& ops_of(Kernel& kernel, OpList list);
const std::vector<TileOp>& ops_of(const Kernel& kernel, OpList list);
std::optional<OpPlace> find_place(const Kernel& kernel, std::string_view op);

/// Takes an op out. Who read its result reads its first operand instead, or one operand less where it had none. What only it
/// defined goes with it.
void remove_op(Kernel& kernel, OpPlace place);

/// Puts a new op of that kind right behind `place` and answers its name. It reads what that op defines; who read that before, in the same
/// list and later, reads the new op's result, where it has one.
std::string insert_op_behind(Kernel& kernel, OpPlace place, std::string_view kind);

/// Another name; orders follow.
void rename_op(Kernel& kernel, OpPlace place, const std::string& name);

/// Another kind: attributes and the tensor that it does not know go, a function that it needs is chosen.
void set_kind(Kernel& kernel, OpPlace place, std::string_view kind);

/// The values that an op at this place can read: what is defined before it, and of the body also what the iteration before has left.
std::vector<Operand> operands_for(const Kernel& kernel, OpPlace place);

}  // namespace heddle
