// The instructions of a PTX text as pieces of it, for tests that change them. Knows nothing of what they mean.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

struct PtxStatement {
  std::size_t begin = 0, end = 0;  ///< of the text, with the guard and the semicolon
  int line = 0;                    ///< where it begins, from 1
  std::string_view guard;          ///< "@%p1 "; empty: none
  std::string_view mnemonic;
  std::vector<std::string_view> operands;  ///< what stands between commas that are in no brackets
  bool follows = false;                    ///< nothing but blanks, comments and places in the source lie between it and the one before

  bool is(std::string_view beginning) const { return mnemonic.starts_with(beginning); }
};

/// Of all functions, in the order of the text.
std::vector<PtxStatement> ptx_statements(std::string_view text);

}  // namespace heddle::test
