#include "core/dump/text_patch.h"

#include <algorithm>

namespace heddle::dump {
namespace {

class Scanner {
 public:
  /// A byte order mark is no part of the value.
  explicit Scanner(std::string_view text) : text_(text), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  TextSpan value() {
    blank();
    TextSpan span;
    span.begin = at_;
    if (at_ < text_.size() && text_[at_] == '{') {
      list('}', [&] {
        blank();
        const std::size_t begin = at_;
        string();
        const std::string_view key = text_.substr(begin + 1, at_ - begin - 2);
        blank();
        ++at_;  // the colon
        span.members.push_back(value());
        span.members.back().key = key;
      });
    } else if (at_ < text_.size() && text_[at_] == '[') {
      list(']', [&] { span.items.push_back(value()); });
    } else if (at_ < text_.size() && text_[at_] == '"') {
      string();
    } else {
      while (at_ < text_.size() && std::string_view(",]} \t\r\n").find(text_[at_]) == std::string_view::npos) ++at_;
    }
    span.end = at_;
    return span;
  }

 private:
  void blank() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  void string() {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }
  template <class Item>
  void list(char close, Item item) {
    ++at_;
    for (blank(); at_ < text_.size() && text_[at_] != close; blank()) {
      if (text_[at_] == ',') ++at_;
      item();
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  std::size_t at_;
};

}  // namespace

const TextSpan* TextSpan::find(std::string_view key) const {
  const auto it = std::find_if(members.begin(), members.end(), [&](const TextSpan& m) { return m.key == key; });
  return it == members.end() ? nullptr : &*it;
}

TextSpan index_text(std::string_view text) { return Scanner(text).value(); }

void TextPatch::replace(const TextSpan* at, std::string with) {
  if (at && at->in(text_) != with) changes_.push_back({at->begin, at->end, std::move(with)});
}

void TextPatch::replace_all(const TextSpan* at, std::string with) {
  std::erase_if(changes_, [&](const Change& c) { return c.begin >= at->begin && c.end <= at->end; });
  replace(at, std::move(with));
}

void TextPatch::insert(std::size_t at, std::string what) { changes_.push_back({at, at, std::move(what)}); }

std::string TextPatch::apply() const { return apply(0, text_.size()); }
std::string TextPatch::apply(const TextSpan& part) const { return apply(part.begin, part.end); }

std::string TextPatch::apply(std::size_t begin, std::size_t end) const {
  std::vector<Change> changes = changes_;
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) { return a.begin < b.begin; });
  std::string out;
  for (const Change& c : changes) {
    if (c.begin < begin || c.end > end) continue;
    out += text_.substr(begin, c.begin - begin);
    out += c.with;
    begin = c.end;
  }
  return out + std::string(text_.substr(begin, end - begin));
}

}  // namespace heddle::dump
