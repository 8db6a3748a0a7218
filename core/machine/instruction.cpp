// The catalogue's words, and its rows by name.
#include "core/machine/instruction.h"

#include <algorithm>

#include "core/machine/catalogue.h"

namespace heddle {

const char* to_string(InstructionKind kind) {
  switch (kind) {
    case InstructionKind::SharedLoad: return "shared_load";
    case InstructionKind::SharedStore: return "shared_store";
    case InstructionKind::MatrixLoad: return "matrix_load";
    case InstructionKind::MatrixStore: return "matrix_store";
    case InstructionKind::Product: return "product";
    case InstructionKind::BulkCopy: return "bulk_copy";
    case InstructionKind::AsyncCopy: return "async_copy";
    case InstructionKind::GlobalLoad: return "global_load";
    case InstructionKind::GlobalStore: return "global_store";
    case InstructionKind::Shuffle: return "shuffle";
    case InstructionKind::BytePermute: return "byte_permute";
    case InstructionKind::TensorLoad: return "tensor_load";
    case InstructionKind::TensorStore: break;
  }
  return "tensor_store";
}

const std::vector<Instruction>& Catalogue::rows() const {
  static const std::vector<Instruction> none;
  return rows_ ? *rows_ : none;
}

const Instruction* Catalogue::find(std::string_view name) const {
  const auto it = std::find_if(begin(), end(), [&](const Instruction& row) { return row.name == name; });
  return it == end() ? nullptr : &*it;
}

void Catalogue::push_back(Instruction row) {
  std::vector<Instruction> rows = this->rows();
  rows.push_back(std::move(row));
  rows_ = std::make_shared<const std::vector<Instruction>>(std::move(rows));
}

}  // namespace heddle
