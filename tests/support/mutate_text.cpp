#include "tests/support/mutate_text.h"

#include <algorithm>
#include <array>

namespace heddle::test {
namespace {

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t count) { return count == 0 ? 0 : static_cast<std::size_t>(random() % count); }

struct Range {
  std::size_t begin = 0, end = 0;
};

Range line_at(const std::string& text, std::size_t at) {
  const std::size_t before = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return {before == std::string::npos ? 0 : before + 1, std::min(text.find('\n', at), text.size())};
}

std::string some_line(const std::string& text, Random& random) {
  const Range line = line_at(text, below(random, text.size()));
  return text.substr(line.begin, line.end - line.begin) + "\n";
}

/// A run of characters of `kind`, the first behind a random place.
template <class Kind>
Range run_of(const std::string& text, Random& random, Kind kind) {
  Range run;
  run.begin = below(random, text.size());
  while (run.begin < text.size() && !kind(text[run.begin])) ++run.begin;
  run.end = run.begin;
  while (run.end < text.size() && kind(text[run.end])) ++run.end;
  return run;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool in_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '%' || c == '#' || c == '!';
}

void mutate_once(std::string& text, const std::vector<std::string>& others, Random& random) {
  static const std::array<std::string, 18> kNumbers = {"0",
                                                       "1",
                                                       "2",
                                                       "3",
                                                       "7",
                                                       "16",
                                                       "64",
                                                       "256",
                                                       "1024",
                                                       "4096",
                                                       "-1",
                                                       "65536",
                                                       "99999",
                                                       "2147483647",
                                                       "4294967296",
                                                       "9223372036854775807",
                                                       "99999999999999999999",
                                                       "1e400"};
  static const std::array<std::string, 24> kWords = {"f32",
                                                     "f16",
                                                     "bf16",
                                                     "f8E4M3FN",
                                                     "f64",
                                                     "i1",
                                                     "i8",
                                                     "i64",
                                                     "tensor<4xf32>",
                                                     "!tt.ptr<f16>",
                                                     "#blocked",
                                                     "#mma",
                                                     "tt.load",
                                                     "arith.addf",
                                                     "scf.for",
                                                     "scf.while",
                                                     "tt.call",
                                                     "ttng.tmem_load",
                                                     "ttg.local_alloc",
                                                     "tt.reduce",
                                                     "loop.stage",
                                                     "loop.cluster",
                                                     "ttg.partition",
                                                     "index"};
  if (text.empty()) return;
  const std::string& other = others[below(random, others.size())];
  const std::size_t at = below(random, text.size());
  switch (below(random, 17)) {
    case 0: text[at] = static_cast<char>(random()); break;
    case 1: text.erase(at, 1 + below(random, 40)); break;
    case 2: text.insert(at, text.substr(below(random, text.size()), 1 + below(random, 60))); break;
    case 3: {  // a line less
      const Range line = line_at(text, at);
      text.erase(line.begin, line.end - line.begin + 1);
      break;
    }
    case 4: {  // a line more, sometimes of another text
      const std::string line = some_line(random() % 2 == 0 ? text : other, random);
      text.insert(line_at(text, at).begin, line);
      break;
    }
    case 5: text.resize(at); break;
    case 6:
    case 7:
    case 8: {  // another number
      const Range number = run_of(text, random, is_digit);
      if (number.end > number.begin) text.replace(number.begin, number.end - number.begin, kNumbers[below(random, kNumbers.size())]);
      break;
    }
    case 9:
    case 10: {  // one name in the place of another
      const Range name = run_of(text, random, in_name), from = run_of(text, random, in_name);
      const std::string word = text.substr(from.begin, from.end - from.begin);
      if (name.end > name.begin) text.replace(name.begin, name.end - name.begin, word);
      break;
    }
    case 11: {
      const Range name = run_of(text, random, in_name);
      if (name.end > name.begin) text.replace(name.begin, name.end - name.begin, kWords[below(random, kWords.size())]);
      break;
    }
    case 12: {  // two values change places
      std::size_t first = text.find('%', at), second = text.find('%', below(random, text.size()));
      if (first == std::string::npos || second == std::string::npos || first == second) break;
      if (first > second) std::swap(first, second);
      const auto end_of = [&](std::size_t begin) {
        std::size_t end = begin + 1;
        while (end < text.size() && in_name(text[end]) && text[end] != '%') ++end;
        return end;
      };
      const std::string a = text.substr(first, end_of(first) - first), b = text.substr(second, end_of(second) - second);
      if (first + a.size() > second) break;
      text.replace(second, b.size(), a);
      text.replace(first, a.size(), b);
      break;
    }
    case 13: {  // a block of lines again
      const std::size_t begin = line_at(text, at).begin;
      const std::size_t end = std::min(line_at(text, std::min(text.size() - 1, begin + below(random, 4000))).end + 1, text.size());
      text.insert(begin, text.substr(begin, end - begin));
      break;
    }
    case 14: {  // deep
      static const std::array<std::string, 6> kDeep = {"(", "{", "<", "scf.if %true {\n", "[{", "loc(callsite("};
      const std::string& piece = kDeep[below(random, kDeep.size())];
      std::string pile;
      for (std::size_t i = 1 + below(random, random() % 8 == 0 ? 5000 : 80); i > 0; --i) pile += piece;
      text.insert(at, pile);
      break;
    }
    case 15: {  // the same number everywhere
      const Range number = run_of(text, random, is_digit);
      const std::string old = text.substr(number.begin, number.end - number.begin), fresh = kNumbers[below(random, kNumbers.size())];
      if (old.empty() || old.size() > 4) break;
      std::string changed;
      std::size_t from = 0;
      for (std::size_t i = 0; (i = text.find(old, from)) != std::string::npos; from = i + old.size())
        changed += text.substr(from, i - from) + fresh;
      text = changed + text.substr(from);
      break;
    }
    default: {  // an attribute less or more, with a number of its own
      const std::size_t brace = text.find("{loop", at);
      if (brace == std::string::npos) break;
      text.insert(brace + 1,
                  (random() % 2 == 0 ? "loop.stage = " : "loop.cluster = ") + kNumbers[below(random, kNumbers.size())] + " : i32, ");
      break;
    }
  }
}

}  // namespace

std::string mutate_text(const std::string& text, const std::vector<std::string>& others, std::mt19937_64& random) {
  std::string changed = text;
  for (std::size_t i = 1 + below(random, 4); i > 0; --i) mutate_once(changed, others, random);
  return changed;
}

}  // namespace heddle::test
