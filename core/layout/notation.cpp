#include "core/layout/notation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.h"
#include "core/layout/known.h"
#include "core/layout/notation_parts.h"

namespace heddle {
namespace {

constexpr std::size_t kLongestText = std::size_t{1} << 16;  // 24 bases per axis are some hundred characters

Result<Layout> named(std::string_view text, const LayoutContext& context, NotationText& in) {
  const std::string name(text);
  if (!context.shape.empty()) {
    std::optional<Layout> layout = known_layout(text, context.shape, context.bits);
    if (layout && faults_of(*layout).empty()) return *std::move(layout);
  }
  const std::vector<std::string> names = known_names();
  const std::string first = name.substr(0, name.find(' '));
  const bool known = std::ranges::any_of(names, [&](const std::string& n) { return n.substr(0, n.find(' ')) == first; });
  if (!known)
    in.say(fmt::format("no layout is called {}", quoted_part(text)),
           name.size() <= 64 && !did_you_mean(name, names).empty()
               ? did_you_mean(name, names)
               : fmt::format("a name: {}; CuTe's notation, Triton's bases", list_of(names)));
  else if (context.shape.empty())
    in.say(fmt::format("{} needs the shape of the tile", quoted_part(text)), "a shape, or CuTe's notation, which says it");
  else
    in.say(fmt::format("{} does not fit a tile of ({}) with elements of {} bits", quoted_part(text), fmt::join(context.shape, ", "),
                       context.bits));
  return in.error();
}

}  // namespace

std::string quoted_part(std::string_view text) {
  std::string part(text.substr(0, 40));
  for (char& c : part)
    if (c < ' ' || c > '~') c = '?';
  return fmt::format("'{}{}'", part, text.size() > 40 ? "..." : "");
}

bool NotationText::expect(char c) {
  if (take(c)) return true;
  wrong(fmt::format("'{}'", c));
  return false;
}
std::string_view NotationText::word() {
  skip_blanks();
  return run([](char c) { return in_name(c) || c == '.' || c == '#'; });
}
std::optional<std::int64_t> NotationText::number() {
  if (peek() == '_' && is_digit(here(1))) go(at() + 1);
  const std::size_t begin = at();
  const bool minus = here() == '-';
  std::int64_t value = 0;
  const std::errc error = Scanner::number(value);
  if (error == std::errc() && !minus) return value;
  go(begin);
  wrong(error == std::errc::result_out_of_range ? "a smaller number" : "a number of at least 0");
  return std::nullopt;
}

void NotationText::wrong(const std::string& what) {
  if (!faults_.empty()) return;
  const std::string found = done() ? "the end" : quoted_part(rest().substr(0, 12));
  say(fmt::format("expected {} at character {} of the layout, found {}", what, at() + 1, found),
      "like Sw<3,3,3> o (64,64):(64,1), or {register = [[0, 1]], lane = [...], warp = [...]}");
}
void NotationText::say(std::string message, std::string hint) { faults_.push_back({file_, pointer_, std::move(message), std::move(hint)}); }

Result<Layout> NotationText::checked(Layout layout, const LayoutContext& context) {
  if (!ok()) return error();
  for (Fault& fault : faults_of(layout)) {
    std::string where = fault.pointer.empty() ? std::string() : fault.pointer.substr(1);
    std::ranges::replace(where, '/', ' ');
    say(where.empty() ? fault.message : fmt::format("{}: {}", where, fault.message), std::move(fault.hint));
  }
  if (ok() && !context.shape.empty() && context.shape != layout.shape)
    say(fmt::format("is a layout of ({}), and the tile is ({})", fmt::join(layout.shape, ", "), fmt::join(context.shape, ", ")));
  if (!ok()) return error();
  return canonical(layout);
}

Result<Layout> parse_layout(std::string_view text, const LayoutContext& context, const std::string& file, const std::string& pointer) {
  NotationText in(text, file, pointer);
  if (text.size() > kLongestText) {
    in.say(fmt::format("a layout is said in at most {} characters, and these are {}", kLongestText, text.size()));
    return in.error();
  }
  if (in.done()) {
    in.say("expected a layout, found nothing", fmt::format("a name ({}), CuTe's notation, or Triton's bases", list_of(known_names())));
    return in.error();
  }
  text = in.rest().substr(0, in.rest().find_last_not_of(Scanner::kBlanks) + 1);
  const char c = text.front();
  if (c == '{' || c == '#') return parse_bases(in, context);
  if (c == '(' || c == '_' || c == '-' || is_digit(c) || text.starts_with("Sw") || text.starts_with("S<")) return parse_cute(in, context);
  return named(text, context, in);
}

std::string layout_text(const Layout& layout, int bits) {
  std::string text = known_name(layout, bits);
  if (text.empty()) text = cute_text(layout);
  if (text.empty()) text = bases_text(layout);
  return text;
}

}  // namespace heddle
