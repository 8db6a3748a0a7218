// Every number of a machine file's text, with where it stands and where it comes from; and the text with another value in its place. The
// rest of the text stays as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle {

struct MachineNumber {
  std::string part;      ///< what it belongs to: "mma.ss", "TC", "limits", "streams"
  std::string name;      ///< "latency", "SMEM duration", "turn"
  std::string value;     ///< as it stands there: "512", "450 + ceil_div(bytes, 64)"
  std::string unit;      ///< "cycles", "MHz", "bytes"; empty: a plain count
  std::string standing;  ///< the first word of its source where it is one of these: published, derived, measured, fitted, assumption
  std::string source;    ///< all that is said; empty: nothing
  std::size_t begin = 0, end = 0;  ///< the bytes that hold it, quotes included
  bool expression = false;         ///< may be a formula in tile dimensions
};

/// In the text's order. A text that is no JSON: as far as it can be read.
std::vector<MachineNumber> machine_numbers(std::string_view text);

/// The text with this value in place of the number's: an integer as it is, anything else as a formula in quotes. Nothing is checked:
/// reading the text again does that.
std::string with_number(std::string_view text, const MachineNumber& number, std::string_view value);

}  // namespace heddle
