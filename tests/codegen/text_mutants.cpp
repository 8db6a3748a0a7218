// Numbers become others, lanes become their neighbours, calls become calls of what does it the other way.
#include "tests/codegen/text_mutants.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace heddle::test {

using namespace codegen;

namespace {

/// Calls that say where something lies, and what stands for them: how many mutants of a call there are, and their function
/// (tests/codegen/emulator/mutants.h).
struct Call {
  std::string_view name, otherwise;
  int mutants = 0;
};
constexpr Call kCalls[] = {{"store_matrices", "mutated_store_matrices", 3},
                           {"store_pair", "mutated_store_pair", 1},
                           {"store_words", "mutated_store_words", 2},
                           {"load_words", "mutated_load_words", 1},
                           {"load_matrices", "mutated_load_matrices", 3},
                           {"load_matrices_transposed", "mutated_load_matrices_transposed", 3},
                           {"matrix", "mutated_matrix", 2},
                           {"matrix_64", "mutated_matrix_64", 2},
                           {"matrix_32", "mutated_matrix_32", 2},
                           {"bytes_of", "mutated_bytes_of", 2},
                           {"from_lane", "mutated_from_lane", 2},
                           {"bf16_of_i4", "mutated_bf16_of_i4", 3},
                           {"bf16_of_i4_halves", "mutated_bf16_of_i4_halves", 3},
                           {"store_word", {}, 0},
                           {"load_word", {}, 0},
                           {"store_two", {}, 0},
                           {"load_two", {}, 0},
                           {"store_half", {}, 0},
                           {"store_byte", {}, 0},
                           {"tma_load", {}, 0},
                           {"tma_store", {}, 0},
                           {"tma_add", {}, 0},
                           {"behind", {}, 0}};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Every place of the line where a call of that name begins.
std::vector<std::size_t> calls_in(std::string_view line, std::string_view name) {
  std::vector<std::size_t> found;
  for (std::size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1))
    if ((at == 0 || !in_word(line[at - 1])) && at + name.size() < line.size() && line[at + name.size()] == '(') found.push_back(at);
  return found;
}

class Mutator {
 public:
  explicit Mutator(const std::string& source) : source_(source) {}

  void line(int number, std::size_t begin, std::size_t end, bool accesses) {
    const std::string_view all(source_);
    std::string_view text = all.substr(begin, end - begin);
    if (const std::size_t comment = text.find("//"); comment != std::string_view::npos) text = text.substr(0, comment);
    const std::size_t first = text.find_first_not_of(' ');
    if (first == std::string_view::npos || text[first] == '#') return;
    if (const std::size_t loop = text.find("k < "); loop != std::string_view::npos)
      bound_ = std::atoi(std::string(text.substr(loop + 4, 6)).c_str());
    line_ = fmt::format("line {}: {}", number, text.substr(first, 90));
    const bool declares = text.find("u32 to = ") != std::string_view::npos || text.find("u32 from = ") != std::string_view::npos ||
                          text.find("const bool odd = ") != std::string_view::npos || text.find("u64 a = ") != std::string_view::npos ||
                          text.find("u64 b = ") != std::string_view::npos;
    bool boxes = false, any = declares;
    for (const Call& call : kCalls)
      for (const std::size_t at : calls_in(text, call.name)) {
        any = true;
        boxes = boxes || call.name.starts_with("tma_");
        for (int m = 0; m < call.mutants; ++m)
          all_.push_back({fmt::format("{} the other way ({}), {}", call.name, m, line_),
                          begin + at,
                          call.name.size(),
                          {},
                          m == 0 ? std::string(call.otherwise) : std::string(),
                          {}});
      }
    if (!any || !(accesses || declares)) return;
    if (boxes)
      boxes_of(begin, text);
    else
      tokens_of(begin, text);
  }

  std::vector<TextMutant> take() { return std::move(all_); }
  void add(TextMutant mutant) { all_.push_back(std::move(mutant)); }

 private:
  void replace(std::size_t at, std::size_t length, std::string otherwise) {
    all_.push_back(
        {fmt::format("{} becomes {}, {}", source_.substr(at, length), otherwise, line_), at, length, std::move(otherwise), {}, {}});
  }

  void tokens_of(std::size_t begin, std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
      if (!in_word(text[i])) {
        ++i;
        continue;
      }
      std::size_t end = i;
      while (end < text.size() && in_word(text[end])) ++end;
      const std::string_view word = text.substr(i, end - i);
      const std::size_t at = begin + i;
      // Slots of rings are numbers of the program, not of a layout.
      const bool of_slot = i >= 5 && text.substr(i - 3, 3) == " * " && text[i - 4] != ')' &&
                           std::isdigit(static_cast<unsigned char>(text[i - 4])) &&
                           text.substr(0, i - 3).find_last_of('s') != std::string_view::npos && slot_before(text, i - 3);
      const bool in_template = i > 0 && text[i - 1] == '<', loop = text.substr(0, i).ends_with("< ");
      if (std::isdigit(static_cast<unsigned char>(word[0])) &&
          std::all_of(word.begin(), word.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; })) {
        const long value = std::stol(std::string(word));
        // A matrix along K has no leading distance, and a row of K that is one panel has no next one.
        const bool leading = value == 16 && text.substr(end).starts_with(")") && text.find("u64 ") != std::string_view::npos;
        const bool next_panel =
            (bound_ <= 4 && text.substr(0, i).ends_with("k / 4 * ")) || (bound_ <= 2 && text.substr(0, i).ends_with("k / 2 * "));
        if (!of_slot && !in_template && !leading && !of_declared(text, i) && !next_panel && !same_bytes(text.substr(0, i)) &&
            !(loop && value < 2) && value > 0 && value < 65536)
          replace(at, word.size(), std::to_string(value / 2));
      } else if (word == "lane" || word == "tid") {
        for (const int bit : {1, 4, 16})
          if (counts(text.substr(end), bit)) replace(at, word.size(), fmt::format("({} ^ {})", word, bit));
      } else if (word == "warp" && counts(text.substr(end), 1)) {
        replace(at, word.size(), "(warp ^ 1)");
      } else if (word == "odd" && text.find("bool odd") == std::string_view::npos) {
        replace(at, word.size(), "(!odd)");
      }
      i = end;
    }
  }
  /// That the bit of the number is among those that what follows leaves: " & 7", " % 8", " >> 4", " >> 1 & 1", " / 8".
  static bool counts(std::string_view rest, int bit) {
    if (rest.size() < 4) return true;
    const auto number = [&](std::size_t at) { return std::atoi(std::string(rest.substr(at, 6)).c_str()); };
    if (rest.starts_with(" & ")) return (number(3) & bit) != 0;
    if (rest.starts_with(" % ")) return bit < number(3);
    if (rest.starts_with(" >> ")) {
      const int left = bit >> number(4);
      const std::size_t next = std::min(rest.find_first_not_of("0123456789", 4), rest.size());
      return rest.substr(next).starts_with(" & ") ? (left & number(next + 3)) != 0 : left != 0;
    }
    if (rest.starts_with(" / ")) return bit / std::max(number(3), 1) != 0;
    return true;
  }
  /// That the shift follows of "bytes_of(w, w, 0 | (1 + 4) << 4)": by 2 it says bytes 4 and 1, which of one word twice are 0 and 1 too.
  static bool same_bytes(std::string_view before) {
    constexpr std::string_view end = ", 0 | (1 + 4) << ";
    if (!before.ends_with(end)) return false;
    before.remove_suffix(end.size());
    const std::size_t comma = before.rfind(", ");
    return comma != std::string_view::npos && before.substr(0, comma).ends_with("bytes_of(" + std::string(before.substr(comma + 2)));
  }
  /// That the number is the size of an array: "float taken[1]".
  static bool of_declared(std::string_view text, std::size_t at) {
    if (at == 0 || text[at - 1] != '[') return false;
    std::size_t begin = at - 1;
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    return text.substr(0, begin).ends_with("float ") || text.substr(0, begin).ends_with("u32 ");
  }
  static bool slot_before(std::string_view text, std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 && in_word(text[begin - 1])) --begin;
    return text[begin] == 's';
  }

  /// Distances of panels: what is added to addresses and coordinates, before the last argument, which is the barrier of a load.
  void boxes_of(std::size_t begin, std::string_view text) {
    const std::size_t most = std::min(text.rfind(','), text.size());
    for (std::size_t at = text.find(" + "); at < most; at = text.find(" + ", at + 1)) {
      std::size_t end = at + 3;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]))) ++end;
      if (end == at + 3 || in_word(text[end]) || text.substr(end).starts_with(" * ")) continue;
      const long value = std::stol(std::string(text.substr(at + 3, end - at - 3)));
      if (value > 0 && value < 65536) replace(begin + at + 3, end - at - 3, std::to_string(value / 2));
    }
  }

  const std::string& source_;
  std::string line_;
  int bound_ = 0;  ///< of the last loop over steps of K
  std::vector<TextMutant> all_;
};

}  // namespace

std::vector<TextMutant> text_mutants(const Emission& emission) {
  Mutator mutator(emission.source);
  int number = 1;
  for (std::size_t at = 0; at < emission.source.size(); ++number) {
    const std::size_t end = std::min(emission.source.find('\n', at), emission.source.size());
    const auto span = std::find_if(emission.lines.begin(), emission.lines.end(),
                                   [&](const SourceSpan& s) { return s.first_line <= number && number <= s.last_line; });
    if (span != emission.lines.end())
      mutator.line(number, at, end, span->kind == StepKind::Compute || span->kind == StepKind::Issue || span->kind == StepKind::Put);
    at = end + 1;
  }
  return mutator.take();
}

std::string with_switches(const std::string& source, const std::vector<TextMutant>& mutants) {
  std::map<std::size_t, std::vector<std::size_t>> by_place;
  for (std::size_t m = 0; m < mutants.size(); ++m)
    if (mutants[m].length > 0) by_place[mutants[m].at].push_back(m);
  std::string text;
  std::size_t done = 0;
  for (const auto& [at, here] : by_place) {
    text += source.substr(done, at - done);
    const std::string was = source.substr(at, mutants[here.front()].length);
    done = at + was.size();
    if (!mutants[here.front()].call.empty()) {
      text += fmt::format("{}<{}>", mutants[here.front()].call, here.front() + 1);
      continue;
    }
    text += '(';
    for (const std::size_t m : here) text += fmt::format("emulated_mutant == {} ? {} : ", m + 1, mutants[m].otherwise);
    text += was + ')';
  }
  return text + source.substr(done);
}

}  // namespace heddle::test
