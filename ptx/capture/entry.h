// What a launch has to know of a PTX text: the entries, where their parameters lie, what the text is for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::ptx::capture {

struct CapturedParameter {
  std::uint64_t at = 0, bytes = 0;  ///< in the parameter block
  std::string type;                 ///< "u64"; of an array of bytes "b8"
  bool array = false;
};

struct CapturedEntry {
  std::string name;
  std::vector<CapturedParameter> parameters;
  std::uint64_t block_bytes = 0;                  ///< of all parameters
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< .reqnctapercluster
  std::uint32_t most_threads = 1024;              ///< of .reqntid or .maxntid
};

/// Every .entry that has a body, in the order of the text. Parameters lie as C would lay them in a struct (PTX ISA, "Kernel Function
/// Parameters"); a list that cannot be read ends the entry before it.
std::vector<CapturedEntry> entries_of(std::string_view text);

/// "sm_90a" of ".target sm_90a"; "" where it has none.
std::string target_of(std::string_view text);

/// Whether a device of `target` can run a text for `text_target`: the same, or, where the text is not for one architecture alone, not
/// newer.
bool runs_on(const std::string& text_target, const std::string& target);

}  // namespace heddle::ptx::capture
