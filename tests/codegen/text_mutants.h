// A generated text with things wrong in how its tiles lie, all of them in one text: each wrong thing is switched on by its number when the
// text runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "codegen/emit/emit.h"

namespace heddle::test {

struct TextMutant {
  std::string what;  ///< "line 214, 8192 becomes 4096: store_matrices(...)"
  /// Characters of the source that are something else when it is on. Several mutants may have the same ones.
  std::size_t at = 0, length = 0;
  std::string otherwise;
  /// What is called in place of the function that stands there, with the mutant's number before its arguments; `otherwise` is empty then.
  std::string call;
  std::string environment;  ///< "HEDDLE_LANES_8=32": nothing of the text changes, but a rule of the emulator's
};

/// Addresses, strides, swizzles, fragments, registers and descriptors of every line that moves a tile between registers and shared memory,
/// copies one, or multiplies; of the rule of phases; spans of the maps.
std::vector<TextMutant> text_mutants(const codegen::Emission& emission);

/// The source, where mutant n is on if emulated_mutant == n; counted from 1.
std::string with_switches(const std::string& source, const std::vector<TextMutant>& mutants);

}  // namespace heddle::test
