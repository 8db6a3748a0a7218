// What the editor beside the chart remembers between frames.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/session/source_text.h"
#include "app/window/kit/code_field.h"
#include "core/base/json.h"
#include "core/base/json_outline.h"

namespace heddle::app {

struct EditorState {
  std::optional<SourceOf> of;  ///< what `field` holds
  std::uint64_t document = 0;
  CodeField field;
  std::string known;  ///< the session's text as this last heard it, or sent it
  std::shared_ptr<const Json> schema;

  // Made of the text, anew when it changes.
  std::string outlined;
  std::vector<JsonToken> tokens;
  std::string followed;                                    ///< the op that was last brought into view
  std::optional<std::pair<std::size_t, std::size_t>> lit;  ///< its lines
  bool wants_keys = false;
};

}  // namespace heddle::app
