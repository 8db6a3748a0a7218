// What the Machine tab remembers between frames.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "app/session/source_text.h"
#include "core/formats/machine_numbers.h"

namespace heddle::app {

struct MachineTabState {
  std::shared_ptr<const SourceText> of;  ///< whose numbers these are
  std::vector<MachineNumber> numbers;
  char filter[64] = "";
  std::optional<std::size_t> edited;  ///< the number whose value is a field now
  bool edit_opened = false;
  char value[512] = "";
};

}  // namespace heddle::app
