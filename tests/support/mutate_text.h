// Texts of a compiler damaged at random: bytes, lines and numbers, and changes after which a text is still well formed but means something
// else.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace heddle::test {

/// One to four changes of `text`; lines and words may be taken from `others`.
std::string mutate_text(const std::string& text, const std::vector<std::string>& others, std::mt19937_64& random);

}  // namespace heddle::test
