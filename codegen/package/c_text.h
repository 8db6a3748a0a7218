// Names, sentences and expressions of a kernel file on their way into a package's C and C++.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/expr.h"

namespace heddle::codegen {

/// The name with everything but letters, digits and underscores replaced; no keyword of C or C++.
std::string c_name(std::string_view name);
/// "like \"this\"", in quotes; what is not printable is replaced.
std::string c_string(std::string_view text);
/// Of one line, for a comment of either kind.
std::string c_comment(std::string_view text);
/// The expression over those of its names that are in `variables`; all other names are numbers. It may call ceil_div, min and max. Nothing
/// where it says more than C does (look-ups), or cannot be evaluated.
std::optional<std::string> c_formula(const Expr& expr, const Scope& scope, const std::vector<std::string>& variables);
/// `name` stands in `text` as a word.
bool has_word(std::string_view text, std::string_view name);

}  // namespace heddle::codegen
