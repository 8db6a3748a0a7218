#include "core/mlir/locations.h"

#include <algorithm>
#include <utility>

#include "core/base/scanner.h"

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

int take_number(Scanner& in) {
  in.skip_blanks();
  int number = 0;
  for (const char digit : in.run(is_digit)) number = number > 100'000'000 ? number : number * 10 + (digit - '0');
  return number;
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
  Scanner in(alias->second);
  Location location = read(in, depth + 1);
  const std::size_t size = size_of(location);
  if (size > left_) return {};
  left_ -= size;
  return known_[name] = std::move(location);
}

Location Locations::read(Scanner& in, int depth) {
  if (in.done() || depth >= kDeepestLocation) return {};
  if (in.here() == '#') return read_alias(in.run([](char c) { return c != ' ' && c != ')' && c != ',' && c != ']'; }), depth);
  if (in.here() == '"') {
    std::string string = unquoted(in.string());
    if (in.take(":")) {
      Location location{.file = std::move(string), .line = take_number(in), .column = 0, .name = {}, .callers = {}};
      if (in.take(":")) location.column = take_number(in);
      if (in.take("to")) {  // a range: where it begins is kept
        take_number(in);
        if (in.take(":")) take_number(in);
      }
      return location;
    }
    Location location;
    if (in.take("(")) {
      location = read(in, depth + 1);
      in.take(")");
    }
    location.name = std::move(string);
    return location;
  }
  if (in.take("callsite(")) {
    Location inner = read(in, depth + 1);
    in.take("at");
    Location outer = read(in, depth + 1);
    in.take(")");
    return called(std::move(inner), std::move(outer));
  }
  if (in.take("fused")) {
    if (in.take("<")) in.run([](char c) { return c != '['; });
    Location best;
    if (in.take("[")) {
      do {
        const std::size_t before = in.at();
        Location part = read(in, depth + 1);
        if (!known(best) && (known(part) || best.name.empty())) best = std::move(part);
        if (in.at() == before) break;
      } while (in.take(","));
      in.take("]");
    }
    return best;
  }
  if (in.take("loc(")) {
    Location location = read(in, depth + 1);
    in.take(")");
    return location;
  }
  in.take("unknown");
  return {};
}

Locations::Resolved Locations::resolve() {
  Resolved resolved;
  resolved.locations.emplace_back();
  for (const std::string_view text : asked_) {
    Scanner in(text);
    Location location = read(in, 0);
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
