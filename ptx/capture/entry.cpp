#include "ptx/capture/entry.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace heddle::ptx::capture {
namespace {

/// Words of a text from `at` on: names, numbers, ".words", and single signs; comments are skipped. "" at the end.
class EntryWords {
 public:
  EntryWords(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::string_view next() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || text_[at_] == '$' ||
                                  (text_[at_] == '.' && at_ == begin)))
      ++at_;
    if (at_ == begin && at_ < text_.size()) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_;
};

std::uint64_t number(std::string_view word) { return std::strtoull(std::string(word).c_str(), nullptr, 0); }

/// Bytes of ".u64"; 0: it is no type.
std::uint64_t type_bytes(std::string_view word) {
  if (word.size() < 3 || word[0] != '.' || std::string_view("usbf").find(word[1]) == std::string_view::npos) return 0;
  const std::string_view bits = word.substr(2);
  return bits == "8" || bits == "16" || bits == "32" || bits == "64" || bits == "128" ? number(bits) / 8 : 0;
}

/// After ".param": [.align N] .type [.ptr .space .align N] name [[N]]. Gives the sign behind it.
std::string_view read_parameter(EntryWords& words, CapturedEntry& entry) {
  CapturedParameter parameter;
  std::uint64_t align = 0;
  bool pointer = false;
  std::string_view word = words.next();
  for (; !word.empty() && word[0] == '.'; word = words.next()) {
    if (word == ".align") {
      const std::uint64_t said = number(words.next());
      if (!pointer) align = said;
    } else if (word == ".ptr") {
      pointer = true;
    } else if (type_bytes(word)) {
      parameter.type = word.substr(1);
      parameter.bytes = type_bytes(word);
    }
  }
  align = std::max({align, parameter.bytes, std::uint64_t{1}});
  word = words.next();
  if (word == "[") {
    parameter.array = true;
    parameter.bytes *= number(words.next());
    words.next();
    word = words.next();
  }
  parameter.at = (entry.block_bytes + align - 1) / align * align;
  entry.block_bytes = parameter.at + parameter.bytes;
  entry.parameters.push_back(parameter);
  return word;
}

std::array<std::uint32_t, 3> read_three(EntryWords& words, std::string_view& after) {
  std::array<std::uint32_t, 3> three{1, 1, 1};
  for (std::size_t k = 0; k < 3; ++k) {
    three[k] = static_cast<std::uint32_t>(number(words.next()));
    after = words.next();
    if (after != ",") break;
  }
  return three;
}

/// Whether it has a body.
bool read_entry(EntryWords& words, CapturedEntry& entry) {
  entry.name = words.next();
  std::string_view word = words.next();
  if (word == "(")
    for (word = words.next(); word == ".param" || word == ",";) word = word == "," ? words.next() : read_parameter(words, entry);
  if (word == ")") word = words.next();
  while (!word.empty() && word != "{" && word != ";") {
    if (word == ".reqnctapercluster") {
      entry.cluster = read_three(words, word);
    } else if (word == ".reqntid" || word == ".maxntid") {
      const auto threads = read_three(words, word);
      entry.most_threads = threads[0] * threads[1] * threads[2];
    } else {
      word = words.next();
    }
  }
  return word == "{";
}

}  // namespace

std::vector<CapturedEntry> entries_of(std::string_view text) {
  std::vector<CapturedEntry> entries;
  for (std::size_t at = text.find(".entry"); at != std::string_view::npos; at = text.find(".entry", at + 6)) {
    const std::size_t line = text.rfind('\n', at) + 1;  // npos + 1 is 0
    if (text.substr(line, at - line).find("//") != std::string_view::npos) continue;
    EntryWords words(text, at + 6);
    CapturedEntry entry;
    if (read_entry(words, entry)) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string target_of(std::string_view text) {
  for (std::size_t at = text.find(".target"); at != std::string_view::npos; at = text.find(".target", at + 7))
    if (at == 0 || text[at - 1] == '\n') return std::string(EntryWords(text, at + 7).next());
  return "";
}

bool runs_on(const std::string& text_target, const std::string& target) {
  if (text_target.size() < 5 || target.size() < 5) return false;
  const auto version = [](const std::string& name) { return std::atoi(name.c_str() + 3); };
  switch (text_target.back()) {
    case 'a': return text_target.back() == target.back() && version(text_target) == version(target);
    case 'f': return version(text_target) / 10 == version(target) / 10 && version(text_target) <= version(target);
    default: return version(text_target) <= version(target);
  }
}

}  // namespace heddle::ptx::capture
