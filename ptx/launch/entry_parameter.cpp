#include "ptx/launch/entry_parameter.h"

#include <algorithm>

namespace heddle::ptx {

const EntryParameter* find_parameter(const std::vector<EntryParameter>& entry, std::string_view word) {
  const auto whole = std::ranges::find(entry, word, &EntryParameter::name);
  if (whole != entry.end()) return &*whole;
  const auto end = std::ranges::find_if(entry, [&](const EntryParameter& p) { return p.name.ends_with("_" + std::string(word)); });
  return end != entry.end() && !word.empty() ? &*end : nullptr;
}

}  // namespace heddle::ptx
