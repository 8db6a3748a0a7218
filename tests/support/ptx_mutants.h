// Mistakes of synchronization planted one at a time into a PTX text, and changes of it that change nothing.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::test {

struct PtxMutant {
  std::string kind;  ///< "drop_arrive"
  int line = 0;      ///< of the text, where the mistake stands; lines keep their numbers
  std::string text;
};

/// All of them at instructions that begin on a line of `executed`.
std::vector<PtxMutant> ptx_mutants(std::string_view text, const std::set<int>& executed);

/// `count` edits, each of the text as it was: registers with other names, independent arithmetic in the other order, moves of a register to
/// itself, comments, blank lines, waits twice, a fence more, labels more.
std::vector<PtxMutant> harmless_ptx_edits(std::string_view text, int count, std::uint64_t seed);

}  // namespace heddle::test
