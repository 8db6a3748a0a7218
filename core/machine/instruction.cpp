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

Catalogue::Catalogue(std::vector<Instruction> rows) {
  auto table = std::make_shared<Table>();
  table->rows = std::move(rows);
  for (std::size_t i = 0; i < table->rows.size(); ++i) table->by_name.push_back(i);
  std::stable_sort(table->by_name.begin(), table->by_name.end(),
                   [&](std::size_t a, std::size_t b) { return table->rows[a].name < table->rows[b].name; });
  table_ = std::move(table);
}

const std::vector<Instruction>& Catalogue::rows() const {
  static const std::vector<Instruction> none;
  return table_ ? table_->rows : none;
}

const Instruction* Catalogue::find(std::string_view name) const {
  if (!table_) return nullptr;
  const auto it = std::lower_bound(table_->by_name.begin(), table_->by_name.end(), name,
                                   [&](std::size_t row, std::string_view wanted) { return table_->rows[row].name < wanted; });
  return it != table_->by_name.end() && table_->rows[*it].name == name ? &table_->rows[*it] : nullptr;
}

void Catalogue::push_back(Instruction row) {
  std::vector<Instruction> all = rows();
  all.push_back(std::move(row));
  *this = Catalogue(std::move(all));
}

}  // namespace heddle
