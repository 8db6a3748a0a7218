#include "core/mlir/locations.h"

#include <algorithm>
#include <utility>

namespace heddle::mlir {
namespace {

constexpr int kDeepestLocation = 32;      // locations in locations; what is deeper is unknown
constexpr std::size_t kMostCallers = 16;  // kept of each location

std::size_t size_of(const Location& location) {
  std::size_t size = sizeof location + location.file.size() + location.name.size();
  for (const auto& [file, line] : location.callers) size += sizeof file + sizeof line + file.size();
  return size;
}

bool known(const Location& location) { return location.line > 0 || !location.file.empty(); }

void skip_blank(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t' || text.front() == '\n' || text.front() == '\r'))
    text.remove_prefix(1);
}

bool take(std::string_view& text, std::string_view word) {
  skip_blank(text);
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

int take_number(std::string_view& text) {
  skip_blank(text);
  int number = 0;
  for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1))
    number = number > 100'000'000 ? number : number * 10 + (text.front() - '0');
  return number;
}

std::string_view take_string(std::string_view& text) {  // at its opening quote; with both quotes
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' && end + 1 < text.size() ? 2 : 1;
  end = std::min(end + 1, text.size());
  const std::string_view string = text.substr(0, end);
  text.remove_prefix(end);
  return string;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// `inner` was called from `outer`.
Location called(Location inner, Location outer) {
  if (!known(inner)) {
    if (!inner.name.empty()) outer.name = std::move(inner.name);
    return outer;
  }
  if (inner.name.empty()) inner.name = std::move(outer.name);
  if (known(outer) && inner.callers.size() < kMostCallers) inner.callers.emplace_back(std::move(outer.file), outer.line);
  for (auto& caller : outer.callers)
    if (inner.callers.size() < kMostCallers) inner.callers.push_back(std::move(caller));
  return inner;
}

}  // namespace

std::string unquoted(std::string_view text) {
  if (text.starts_with('"')) text.remove_prefix(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      out += text[i];
      continue;
    }
    const char next = text[++i];
    const int high = hex_digit(next), low = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
    if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      ++i;
    } else {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next;
    }
  }
  return out;
}

std::size_t Locations::ask(std::string_view text) {
  const auto [at, fresh] = numbers_.try_emplace(text, asked_.size());
  if (fresh) asked_.push_back(text);
  return at->second;
}

Location Locations::read_alias(std::string_view name, int depth) {
  if (const auto done = known_.find(name); done != known_.end()) return done->second;
  const auto alias = aliases_.find(name);
  if (alias == aliases_.end() || depth >= kDeepestLocation) return {};
  known_[name] = {};
  std::string_view text = alias->second;
  Location location = read(text, depth + 1);
  const std::size_t size = size_of(location);
  if (size > left_) return {};
  left_ -= size;
  return known_[name] = std::move(location);
}

Location Locations::read(std::string_view& text, int depth) {
  skip_blank(text);
  if (text.empty() || depth >= kDeepestLocation) return {};
  if (text.front() == '#') {
    std::size_t end = 1;
    while (end < text.size() && text[end] != ' ' && text[end] != ')' && text[end] != ',' && text[end] != ']') ++end;
    const std::string_view name = text.substr(0, end);
    text.remove_prefix(end);
    return read_alias(name, depth);
  }
  if (text.front() == '"') {
    std::string string = unquoted(take_string(text));
    if (take(text, ":")) {
      Location location{.file = std::move(string), .line = take_number(text), .column = 0, .name = {}, .callers = {}};
      if (take(text, ":")) location.column = take_number(text);
      if (take(text, "to")) {  // a range: where it begins is kept
        take_number(text);
        if (take(text, ":")) take_number(text);
      }
      return location;
    }
    Location location;
    if (take(text, "(")) {
      location = read(text, depth + 1);
      take(text, ")");
    }
    location.name = std::move(string);
    return location;
  }
  if (take(text, "callsite(")) {
    Location inner = read(text, depth + 1);
    take(text, "at");
    Location outer = read(text, depth + 1);
    take(text, ")");
    return called(std::move(inner), std::move(outer));
  }
  if (take(text, "fused")) {
    if (take(text, "<")) text.remove_prefix(std::min(text.find('['), text.size()));
    Location best;
    if (take(text, "[")) {
      do {
        const std::size_t before = text.size();
        Location part = read(text, depth + 1);
        if (!known(best) && (known(part) || best.name.empty())) best = std::move(part);
        if (text.size() == before) break;
      } while (take(text, ","));
      take(text, "]");
    }
    return best;
  }
  if (take(text, "loc(")) {
    Location location = read(text, depth + 1);
    take(text, ")");
    return location;
  }
  take(text, "unknown");
  return {};
}

Locations::Resolved Locations::resolve() {
  Resolved resolved;
  resolved.locations.emplace_back();
  for (std::string_view text : asked_) {
    Location location = read(text, 0);
    const std::size_t size = size_of(location);
    if (size > left_) location = {};
    left_ -= std::min(size, left_);
    if (!known(location) && location.name.empty()) {
      resolved.of_number.push_back(0);
    } else {
      resolved.of_number.push_back(resolved.locations.size());
      resolved.locations.push_back(std::move(location));
    }
  }
  return resolved;
}

}  // namespace heddle::mlir
