// A list that opens, to choose one of several from. Where it is long a few letters find an entry, and Enter takes the first one found.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace heddle::app {

struct ChoiceRow {
  std::string label;
  std::string id;     ///< the probe knows it as PREFIX + id
  std::string about;  ///< shown beside the mouse; may be empty
  bool current = false;
  bool can_be_chosen = true;
};

/// `name` is the probe's, `shown` what the closed list says. The index of the row that was chosen, when it is not the current one.
std::optional<std::size_t> choose(const std::string& name, std::string_view prefix, const std::string& shown,
                                  std::span<const ChoiceRow> rows, float width);

}  // namespace heddle::app
