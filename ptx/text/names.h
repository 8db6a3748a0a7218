// What the names of a PTX text mean where they stand: registers, variables, parameters, functions, by scope.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/text/module.h"

namespace heddle::ptx {

struct PtxSymbol {
  enum class Kind : std::uint8_t { Register, Variable, Parameter, Function } kind = Kind::Register;
  int index = -1;    ///< into the vector of its kind
  int depth = 0;     ///< of the scope that declares it
  int shadows = -1;  ///< the symbol of this name that is meant again when the scope closes
  std::string_view name;
};

/// Scopes are a stack: 0 is the module's own. Registers declared by the number ("%r<90>") come to be where they are first used.
class PtxNames {
 public:
  PtxNames() : declared_(1), families_of_(1) {}

  void open();
  void close();
  int depth() const { return static_cast<int>(declared_.size()) - 1; }

  void declare(std::string_view name, PtxSymbol::Kind kind, int index) { declare_at(depth(), name, kind, index); }
  void declare_registers(std::string_view prefix, std::uint64_t count, Scalar type);
  /// nullptr: unknown. A register that is used the first time is added to `registers`.
  const PtxSymbol* find(std::string_view name, std::vector<RegisterName>& registers);

 private:
  struct Family {
    std::string_view prefix;
    std::uint64_t count = 0;
    Scalar type = Scalar::None;
    int depth = 0, shadows = -1;
  };
  void declare_at(int depth, std::string_view name, PtxSymbol::Kind kind, int index);
  const Family* family_of(std::string_view name) const;

  std::vector<PtxSymbol> symbols_;
  std::vector<Family> families_;
  std::unordered_map<std::string_view, int> top_, top_family_;
  std::vector<std::vector<int>> declared_, families_of_;  ///< by depth
  bool digits_in_prefixes_ = false;                       ///< "%r1<5>": more than one way to read "%r12"
};

}  // namespace heddle::ptx
