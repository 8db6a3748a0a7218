// How far predictions can be trusted, by the validation that is shipped.
#pragma once

#include <string>

#include "core/answers/validation.h"

namespace heddle {

/// Of this kind of kernel on this architecture; nothing is said where the validation cannot be read.
/// `changed`: numbers of kernel or machine are not those of the files; nothing was validated with others.
Trust trust_in(const std::string& kind, const std::string& arch, bool changed);

}  // namespace heddle
