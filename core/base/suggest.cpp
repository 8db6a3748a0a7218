#include "core/base/suggest.h"

#include <algorithm>

#include "core/base/letters.h"

namespace heddle {
namespace {

constexpr std::size_t kLongestWord = 64;  ///< longer words are no typing mistakes, and the distance is quadratic

/// Those of which the word is the beginning, give or take one typing mistake; none when they are too many to be a
/// guess.
std::vector<std::string> completions(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kShortestWord = 3, kMost = 4;
  std::vector<std::string> found;
  if (word.size() < kShortestWord || word.size() > kLongestWord) return found;
  for (const std::string& candidate : candidates) {
    bool begins = false;
    for (std::size_t size = word.size() - 1; size <= word.size() + 1 && size <= candidate.size(); ++size)
      begins = begins || edit_distance(word, std::string_view(candidate).substr(0, size)) <= 1;
    if (begins) found.push_back(candidate);
  }
  return found.size() > kMost ? std::vector<std::string>() : found;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> before(width), last(width), row(width);
  for (std::size_t j = 0; j < width; ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = lower_case(a[i - 1]) == lower_case(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower_case(a[i - 1]) == lower_case(b[j - 2]) && lower_case(a[i - 2]) == lower_case(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty() || word.size() > kLongestWord) return {};
  std::size_t best = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string found;
  for (const std::string& candidate : candidates) {
    const std::size_t longer = std::max(word.size(), candidate.size()), shorter = std::min(word.size(), candidate.size());
    if (candidate.size() > kLongestWord || longer - shorter >= best) continue;
    // A single letter is not a typing mistake of every other single letter.
    if (word.size() == 1 && candidate.size() == 1 && lower_case(word[0]) != lower_case(candidate[0])) continue;
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  std::vector<std::string> meant{nearest(word, candidates)};
  if (meant.front().empty()) meant = completions(word, candidates);
  if (meant.empty()) return {};
  for (std::string& name : meant) name = "'" + name + "'";
  return "did you mean " + list_of(meant) + "?";
}

std::string list_of(const std::vector<std::string>& items, std::size_t limit) {
  std::string text;
  const std::size_t shown = std::min(items.size(), limit);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == items.size() ? " or " : ", ";
    text += items[i];
  }
  if (shown < items.size()) text += ", ...";
  return text;
}

}  // namespace heddle
