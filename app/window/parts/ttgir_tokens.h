// What of a TTGIR text has a colour of its own. It knows no op; what it does not understand stays as it is.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace heddle::app {

struct TtgirToken {
  /// `%name`; `dialect.op`; `loop.stage = 1 : i32`; "text"; 128; types, aliases and locations.
  enum class Kind { Value, Op, Decision, String, Number, Rest } kind = Kind::Rest;
  std::size_t begin = 0, end = 0;  ///< bytes
};

/// Ascending, without overlaps.
std::vector<TtgirToken> ttgir_tokens(std::string_view text);

}  // namespace heddle::app
