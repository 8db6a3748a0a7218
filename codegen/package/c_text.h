// Names and sentences of a kernel file on their way into a package's C and C++.
#pragma once

#include <string>
#include <string_view>

namespace heddle::codegen {

/// The name with everything but letters, digits and underscores replaced; no keyword of C or C++.
std::string c_name(std::string_view name);
/// "like \"this\"", in quotes; what is not printable is replaced.
std::string c_string(std::string_view text);
/// Of one line, for a comment of either kind.
std::string c_comment(std::string_view text);
/// `name` stands in `text` as a word.
bool has_word(std::string_view text, std::string_view name);

}  // namespace heddle::codegen
