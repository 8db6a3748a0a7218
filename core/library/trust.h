// How far predictions can be trusted, by the validation that is shipped.
#pragma once

#include <string>

namespace heddle {

/// Of this kind of kernel on this architecture; "" where nothing is known.
std::string trust_in(const std::string& kind, const std::string& arch);

}  // namespace heddle
