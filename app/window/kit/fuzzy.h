// Finding things by a few of their letters: "wni" finds "Why not II", "cqk" finds "consumer QK0".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::app {

struct FuzzyMatch {
  int score = 0;                     ///< larger is better; only comparable for one pattern
  std::vector<std::size_t> letters;  ///< bytes of the text that were matched, ascending
};

/// All of the pattern's letters occur in the text in this order, whatever the case; spaces of the pattern do not count. Of
/// all ways to match, the one with the best score: beginnings of words and unbroken runs. Nothing when they do not occur. An
/// empty pattern matches everything with score 0.
std::optional<FuzzyMatch> fuzzy_match(std::string_view text, std::string_view pattern);

/// What a list for choosing holds.
struct Choice {
  std::string id;      ///< "action/solve", "op/QK0": what is remembered
  std::string kind;    ///< "command", "op", ...: shown at the right; without one only the label is matched
  std::string label;   ///< what is matched first
  std::string detail;  ///< dim, beside it; a match in it counts less
};

struct RankedChoice {
  std::size_t index = 0;             ///< in the list
  std::vector<std::size_t> letters;  ///< of the label
};

/// Those that match, best first. Among equals, and without a pattern, those in `used` come first, newest first, then the
/// order of the list.
std::vector<RankedChoice> rank(const std::vector<Choice>& choices, std::string_view pattern, const std::vector<std::string>& used);

}  // namespace heddle::app
