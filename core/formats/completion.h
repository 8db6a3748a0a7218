// What may be typed at a place of a kernel's or machine's text: the members, words and names that fit there, by the schema of its format
// and by what the text itself defines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"

namespace heddle {

struct Completion {
  std::string word;    ///< as it is called: "kind", "mma", "c0[-1]"
  std::string insert;  ///< what replaces what is typed, quotes and colon included where they are missing
  std::string about;   ///< one sentence; may be empty
};

struct Completions {
  std::size_t begin = 0, end = 0;  ///< bytes of the text that they replace
  std::vector<Completion> items;   ///< those that begin with what is typed first; empty: nothing to offer
};

/// `schema` is what kernel_schema() or machine_schema() gives; `offset` is the byte of the caret.
Completions complete(const Json& schema, std::string_view text, std::size_t offset);

}  // namespace heddle
