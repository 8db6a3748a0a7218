// Choosing among the texts of a file or folder by the words of an address.
#pragma once

#include <string>
#include <vector>

#include "core/triton/read/files.h"
#include "core/triton/read/found_texts.h"

namespace heddle::triton {

inline constexpr std::size_t kHeadBytes = std::size_t{1} << 18;  ///< what is looked at to tell what a file is

/// The beginning of a regular file; empty of anything else.
std::string head_of(const std::string& path, std::size_t bytes);
/// The text that the words mean; without any the usual one. Faults: unknown words, several kernels.
Result<const FoundText*> choose_text(const std::vector<FoundText>& texts, const TextAddress& address);
/// What to write after # to mean it; empty where it is the only one.
std::string address_words(const FoundText& text, const std::vector<FoundText>& texts);

}  // namespace heddle::triton
