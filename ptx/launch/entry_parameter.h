// What a PTX text says of a parameter of its entry: where it lies in the block, and no name of the program's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/launch/launch.h"
#include "ptx/launch/launch_rules.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

struct EntryParameter {
  std::string name;      ///< "kernel_param_3"
  std::uint64_t at = 0;  ///< byte of the block
  std::uint64_t bytes = 4, align = 4;
  bool pointer = false;  ///< the text says `.ptr`
  std::string type{};    ///< of a scalar, "b32"; empty of an array of bytes
  std::uint64_t end() const { return at + bytes; }
  /// A tensor map by itself: an array of 128 bytes that is aligned as a map has to be.
  bool map() const { return bytes == kMapBytes && align >= 64; }
};

/// What the text's types are beyond their size is not known: a float is b32.
std::vector<EntryParameter> entry_parameters(const PtxFunction& function);

/// Bytes of the whole block.
inline std::uint64_t block_bytes(const std::vector<EntryParameter>& entry) { return entry.empty() ? 0 : entry.back().end(); }

/// The parameter that a word means: its name, or the end of its name behind the kernel's ("param_3"). nullptr: none.
const EntryParameter* find_parameter(const std::vector<EntryParameter>& entry, std::string_view word);

}  // namespace heddle::ptx
