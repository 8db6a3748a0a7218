#include "core/machine/machine.h"

#include <algorithm>
#include <array>
#include <utility>

namespace heddle {
namespace {
constexpr std::array<std::pair<UnitRole, const char*>, 9> kRoles{{{UnitRole::Tensor, "tensor"},
                                                                  {UnitRole::Copy, "copy"},
                                                                  {UnitRole::Special, "special"},
                                                                  {UnitRole::Float, "float"},
                                                                  {UnitRole::Alu, "alu"},
                                                                  {UnitRole::Smem, "smem"},
                                                                  {UnitRole::Tmem, "tmem"},
                                                                  {UnitRole::Sync, "sync"},
                                                                  {UnitRole::Other, "other"}}};
}

const char* to_string(UnitRole role) {
  for (const auto& [value, name] : kRoles)
    if (value == role) return name;
  return "other";
}

const Unit* Machine::find_unit(std::string_view wanted) const {
  const auto it = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == wanted; });
  return it == units.end() ? nullptr : &*it;
}

const Instruction* Machine::find_instruction(std::string_view wanted) const { return instructions.find(wanted); }

const CostRule* Machine::find_rule(std::string_view wanted) const {
  const auto it = std::find_if(rules.begin(), rules.end(), [&](const CostRule& r) { return r.kind == wanted; });
  return it == rules.end() ? nullptr : &*it;
}

}  // namespace heddle
