#include "core/dump/text_patch.h"

#include <algorithm>

#include "core/base/scanner.h"

namespace heddle::dump {
namespace {

/// Where a value and its parts stand in a text that was read as JSON before.
class Index {
 public:
  /// A byte order mark is no part of the value.
  explicit Index(std::string_view text) : in_(text) { in_.go(text.starts_with("\xEF\xBB\xBF") ? 3 : 0); }

  TextSpan value() {
    TextSpan span;
    const char first = in_.peek();
    span.begin = in_.at();
    if (first == '{') {
      list('}', [&] {
        in_.skip_blanks();
        const std::string_view key = in_.string();
        in_.take(':');
        span.members.push_back(value());
        span.members.back().key = key.substr(1, key.size() - 2);
      });
    } else if (first == '[') {
      list(']', [&] { span.items.push_back(value()); });
    } else if (first == '"') {
      in_.string();
    } else {
      in_.run([](char c) { return std::string_view(",]} \t\r\n").find(c) == std::string_view::npos; });
    }
    span.end = in_.at();
    return span;
  }

 private:
  template <class Item>
  void list(char close, Item item) {
    for (in_.go(in_.at() + 1); !in_.done() && in_.here() != close;) {
      in_.take(',');
      item();
    }
    in_.go(in_.at() + 1);
  }

  Scanner in_;
};

}  // namespace

const TextSpan* TextSpan::find(std::string_view key) const {
  const auto it = std::find_if(members.begin(), members.end(), [&](const TextSpan& m) { return m.key == key; });
  return it == members.end() ? nullptr : &*it;
}

TextSpan index_text(std::string_view text) { return Index(text).value(); }

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
