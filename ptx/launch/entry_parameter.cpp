#include "ptx/launch/entry_parameter.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::ptx {

std::vector<EntryParameter> entry_parameters(const PtxFunction& function) {
  std::vector<EntryParameter> entry;
  for (const PtxParameter& parameter : function.parameters) {
    const bool scalar = parameter.bytes <= 8 && parameter.align == parameter.bytes;
    entry.push_back({std::string(parameter.name), parameter.at, parameter.bytes, parameter.align, parameter.pointer,
                     scalar ? fmt::format("b{}", 8 * parameter.bytes) : std::string()});
  }
  return entry;
}

const EntryParameter* find_parameter(const std::vector<EntryParameter>& entry, std::string_view word) {
  const auto whole = std::ranges::find(entry, word, &EntryParameter::name);
  if (whole != entry.end()) return &*whole;
  const auto end = std::ranges::find_if(entry, [&](const EntryParameter& p) { return p.name.ends_with("_" + std::string(word)); });
  return end != entry.end() && !word.empty() ? &*end : nullptr;
}

}  // namespace heddle::ptx
