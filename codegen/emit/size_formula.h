// Expressions of kernel files as C for the host, over the sizes that a text takes at run time. What is written here reads back as an
// expression of kernel files too, which is how tests evaluate it.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/base/expr_node.h"

namespace heddle::codegen {

/// A size as every generated text calls it: its name where that is of capitals, digits and underscores, which words of C, C++ and Python
/// and names in those texts are not; others, and macros of C, get an underscore.
std::string size_name(const std::string& param);

/// "ceil_div(K, 64)": names of `texts` become their text, which needs no parentheses; everything else is a number of `params`. Nothing
/// where C has no such operator: choices, cube roots, look-ups (run_time_params() keeps parameters literal that these are about).
std::optional<std::string> size_formula(const Expr& expr, const Scope& params, const std::map<std::string, std::string>& texts);

}  // namespace heddle::codegen
