// The rows of a machine's instruction catalogue. Machines are copied whenever a problem is made of one, and nobody changes a row: copies
// share them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/machine/instruction.h"

namespace heddle {

class Catalogue {
 public:
  Catalogue() = default;
  // Not explicit: a catalogue is its rows.
  Catalogue(std::vector<Instruction> rows) : rows_(std::make_shared<const std::vector<Instruction>>(std::move(rows))) {}

  const std::vector<Instruction>& rows() const;
  auto begin() const { return rows().begin(); }
  auto end() const { return rows().end(); }
  std::size_t size() const { return rows().size(); }
  bool empty() const { return rows().empty(); }
  const Instruction& operator[](std::size_t i) const { return rows()[i]; }
  const Instruction* find(std::string_view name) const;  ///< nullptr: it has none of that name
  /// Lives as long as somebody holds it, whatever becomes of the catalogue.
  std::shared_ptr<const Instruction> share(std::string_view name) const {
    const Instruction* row = find(name);
    return row ? std::shared_ptr<const Instruction>(rows_, row) : nullptr;
  }
  void push_back(Instruction row);  ///< of this copy only

 private:
  std::shared_ptr<const std::vector<Instruction>> rows_;
};

}  // namespace heddle
