// Tokens found by a scanner that does not care whether the text is JSON.
#include "tests/support/mutate_json.h"

#include <cctype>
#include <vector>

namespace heddle::test {
namespace {

struct Token {
  std::size_t begin, end;
};

std::vector<Token> tokens_of(const std::string& text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i++;
    const char c = text[begin];
    if (std::isspace(static_cast<unsigned char>(c))) continue;
    if (c == '"') {
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      i = std::min(i + 1, text.size());
    } else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-') {
      while (i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '.' || text[i] == '+')) ++i;
    }
    tokens.push_back({begin, i});
  }
  return tokens;
}

const char* const kForeign[] = {"null",
                                "true",
                                "\"\"",
                                "\"x\"",
                                "-1",
                                "0",
                                "1",
                                "1.5",
                                "1e99",
                                "1e999",
                                "NaN",
                                "{}",
                                "[]",
                                "[[[[]]]]",
                                "9223372036854775807",
                                "-9223372036854775808",
                                "99999999999999999999999",
                                "2147483648",
                                "1099511627776",
                                "4294967296",
                                "\"1/0\"",
                                "\"9223372036854775807 + 1\"",
                                "\"((((1))))\"",
                                "\"N * N\"",
                                "\"o[-1]\"",
                                "\"o[-99999]\"",
                                "\"\\u0000\"",
                                "\"\xff\"",
                                "opaque",
                                "\"opaque\"",
                                "\"mma\"",
                                "\"tma_load\"",
                                "\"register\"",
                                "\"tmem\"",
                                "\"alias_of\"",
                                ",",
                                ":",
                                "{",
                                "}",
                                "]"};

}  // namespace

std::string mutate_json(const std::string& original, std::mt19937_64& random) {
  std::string text = original;
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t round = 1 + below(3); round > 0 && !text.empty(); --round) {
    const auto tokens = tokens_of(text);
    if (tokens.empty()) break;
    const Token a = tokens[below(tokens.size())], b = tokens[below(tokens.size())];
    const auto part = [&](const Token& t) { return text.substr(t.begin, t.end - t.begin); };
    switch (below(8)) {
      case 0: text.erase(a.begin, a.end - a.begin); break;
      case 1: text.insert(a.end, (below(2) ? "," : " ") + part(a)); break;
      case 2: text.replace(a.begin, a.end - a.begin, part(b)); break;
      case 3: text.replace(a.begin, a.end - a.begin, kForeign[below(std::size(kForeign))]); break;
      case 4: text.resize(below(text.size())); break;
      case 5: text[below(text.size())] = static_cast<char>(random()); break;
      case 6: {
        // From one token to another, moved elsewhere: whole members and list items among them.
        const std::size_t begin = std::min(a.begin, b.begin), end = std::max(a.end, b.end);
        const std::string moved = text.substr(begin, std::min<std::size_t>(end - begin, 400));
        text.insert(tokens[below(tokens.size())].begin, moved);
        break;
      }
      case 7: {
        // A number retyped as a string, or a string's quotes lost.
        const std::string old = part(a);
        text.replace(a.begin, a.end - a.begin, old.front() == '"' ? old.substr(1, old.size() - 2) : '"' + old + '"');
        break;
      }
    }
  }
  return text;
}

}  // namespace heddle::test
