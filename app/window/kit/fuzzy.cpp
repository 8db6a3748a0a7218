// Matching by dynamic programming over (letter of the pattern, byte of the text).
#include "app/window/kit/fuzzy.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "core/base/letters.h"

namespace heddle::app {
namespace {

constexpr int kNone = std::numeric_limits<int>::min() / 2;
constexpr std::size_t kLongest = 256;  // bytes of a text that are looked at

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || (static_cast<unsigned char>(c) & 0x80); }

int worth(std::string_view text, std::size_t at) {
  if (at == 0) return 12;
  const auto before = static_cast<unsigned char>(text[at - 1]), here = static_cast<unsigned char>(text[at]);
  if (!is_word(text[at - 1])) return 9;
  if ((std::islower(before) && std::isupper(here)) || (std::isalpha(before) && std::isdigit(here))) return 6;
  return 1;
}

}  // namespace

std::optional<FuzzyMatch> fuzzy_match(std::string_view text, std::string_view pattern) {
  text = text.substr(0, kLongest);
  std::string letters;
  for (const char c : pattern)
    if (c != ' ') letters += lower_case(c);
  if (letters.empty()) return FuzzyMatch{};
  const std::size_t n = letters.size(), m = text.size();
  if (n > m) return std::nullopt;
  // best[i][j]: letters 0..i matched, the last of them at byte j.
  std::vector<int> best(n * m, kNone);
  std::vector<std::size_t> from(n * m, 0);
  for (std::size_t i = 0; i < n; ++i) {
    int reach = kNone;  // the best of the row above, before j, less one per byte skipped
    std::size_t reached = 0;
    for (std::size_t j = i; j < m; ++j) {
      if (i > 0 && j > 0) {
        reach = std::max(reach - 1, kNone);
        if (j >= 2 && best[(i - 1) * m + j - 2] - 3 > reach) reach = best[(i - 1) * m + j - 2] - 3, reached = j - 2;
      }
      if (lower_case(text[j]) != letters[i]) continue;
      const int here = worth(text, j);
      int& score = best[i * m + j];
      if (i == 0) {
        score = here - static_cast<int>(std::min<std::size_t>(j, 6));
        continue;
      }
      const int run = j > 0 ? best[(i - 1) * m + j - 1] : kNone;
      if (run > kNone / 2 && run + 8 >= reach) {
        score = run + 8 + here;
        from[i * m + j] = j - 1;
      } else if (reach > kNone / 2) {
        score = reach + here;
        from[i * m + j] = reached;
      }
    }
  }
  const auto last = best.begin() + static_cast<std::ptrdiff_t>((n - 1) * m);
  const auto found = std::max_element(last, best.end());
  if (*found <= kNone / 2) return std::nullopt;
  FuzzyMatch match;
  match.score = *found - static_cast<int>(m / 8);
  match.letters.resize(n);
  auto at = static_cast<std::size_t>(found - last);
  for (std::size_t i = n; i-- > 0; at = from[i * m + at]) match.letters[i] = at;
  return match;
}

/// Each word of the pattern is in the label, in the details or in the kind: none is made of letters of two of them.
static bool has_words(const Choice& choice, std::string_view pattern) {
  while (!pattern.empty()) {
    const std::string_view word = pattern.substr(0, pattern.find(' '));
    pattern.remove_prefix(std::min(pattern.size(), word.size() + 1));
    if (!fuzzy_match(choice.label, word) && !fuzzy_match(choice.detail, word) && !fuzzy_match(choice.kind, word)) return false;
  }
  return true;
}

std::vector<RankedChoice> rank(const std::vector<Choice>& choices, std::string_view pattern, const std::vector<std::string>& used) {
  struct Found {
    int score;
    std::size_t use;
    RankedChoice choice;
  };
  std::vector<Found> found;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[i];
    std::optional<FuzzyMatch> match = fuzzy_match(choice.label, pattern);
    // Letters of the details, and the kind, count too, but less.
    if (!match && !choice.kind.empty() && has_words(choice, pattern))
      if (match = fuzzy_match(choice.label + " " + choice.detail + " " + choice.kind, pattern); match) {
        match->score -= 25;
        std::erase_if(match->letters, [&](std::size_t at) { return at >= choice.label.size(); });
      }
    if (!match) continue;
    const auto use = std::find(used.begin(), used.end(), choice.id);
    found.push_back({match->score, static_cast<std::size_t>(use - used.begin()), {i, std::move(match->letters)}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Found& a, const Found& b) { return a.score != b.score ? a.score > b.score : a.use < b.use; });
  std::vector<RankedChoice> ranked;
  for (Found& f : found) ranked.push_back(std::move(f.choice));
  return ranked;
}

}  // namespace heddle::app
