// The rows of a machine's instruction catalogue. Machines are copied whenever a problem is made of one, and nobody changes a row: copies
// share them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "core/machine/instruction.h"

namespace heddle {

class Catalogue {
 public:
  Catalogue() = default;
  // Not explicit: a catalogue is its rows.
  Catalogue(std::vector<Instruction> rows);

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
    return row ? std::shared_ptr<const Instruction>(table_, row) : nullptr;
  }
  void push_back(Instruction row);  ///< of this copy only

 private:
  struct Table {
    std::vector<Instruction> rows;
    std::vector<std::size_t> by_name;  ///< the first of each name; problems look rows up again and again
  };
  std::shared_ptr<const Table> table_;
};

}  // namespace heddle
