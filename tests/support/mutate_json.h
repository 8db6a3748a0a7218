// Damages JSON text the way people and programs do: tokens deleted, repeated, exchanged, retyped, enlarged, text cut
// off. For tests that want readers to survive anything.
#pragma once

#include <random>
#include <string>

namespace heddle::test {
/// One to three random mutations.
std::string mutate_json(const std::string& text, std::mt19937_64& random);
}  // namespace heddle::test
