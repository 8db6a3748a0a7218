// Triton's bases: a list per axis, as #ttg.linear prints them, and with the repeats and the shape that they have no word for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "core/base/saturate.h"
#include "core/base/suggest.h"
#include "core/base/words.h"
#include "core/layout/notation_parts.h"

namespace heddle {
namespace {

constexpr std::size_t kMostRead = 64;  // bases on an axis; more is a fault of the layout already

class BasesReader {
 public:
  BasesReader(NotationText& text, const LayoutContext& context) : text_(text), context_(context) {}

  Result<Layout> read() {
    bool wrapped = false;
    if (text_.peek() == '#') {
      std::string_view name = text_.word();
      if (text_.take('=')) name = text_.word();  // "#linear = #ttg.linear<...>"
      const std::string_view last = name.substr(std::min(name.size(), name.find_last_of(".#") + 1));
      if (last != "linear" && last != "shared_linear") {
        text_.say(fmt::format("{} is no list of bases", quoted_part(name)), "#ttg.linear<{register = ..., lane = ..., warp = ...}>");
        return text_.error();
      }
      if (!text_.expect('<')) return text_.error();
      wrapped = true;
    }
    if (!text_.expect('{')) return text_.error();
    if (!text_.take('}')) {
      do {
        if (!read_member()) return text_.error();
      } while (text_.take(','));
      if (!text_.expect('}')) return text_.error();
    }
    if (wrapped) {
      // "alignment = 16", which moves nothing.
      while (text_.take(',')) {
        text_.word();
        if (!text_.expect('=') || !text_.number()) return text_.error();
      }
      if (!text_.expect('>')) return text_.error();
    }
    if (!text_.done()) {
      text_.wrong("the end");
      return text_.error();
    }
    if (blocks_ > 0) text_.say(fmt::format("has {} bases of blocks: one block holds the tile", blocks_), "block = []");
    if (layout_.shape.empty()) shape();
    return text_.checked(std::move(layout_), context_);
  }

 private:
  bool read_member() {
    const std::string_view name = text_.word();
    const std::vector<std::string> axes = words_up_to(LayoutAxis::Offset);
    const auto axis = parse_word(name, LayoutAxis::Offset);
    std::vector<std::string> known = axes;
    known.insert(known.end(), {"block", "repeat", "shape"});
    if (std::ranges::find(known, name) == known.end()) {
      text_.say(fmt::format("expected {}, found {}", list_of(known), name.empty() ? quoted_part({}) : quoted_part(name)),
                name.size() <= 64 ? did_you_mean(name, known) : std::string());
      return false;
    }
    if (!seen_.insert(std::string(name)).second) {
      text_.say(fmt::format("says {} twice", quoted_part(name)));
      return false;
    }
    if (!text_.expect('=') || !text_.expect('[')) return false;
    if (name == "shape") return text_.take(']') || read_numbers(layout_.shape);
    std::vector<Coordinates> rows;
    if (text_.take(']')) return true;
    do {
      if (rows.size() > kMostRead) {
        text_.say(fmt::format("{} has more than {} parts", name, kMostRead), "a basis is a bit of the index: 5 for 32 lanes");
        return false;
      }
      if (!text_.expect('[')) return false;
      if (name == "repeat") {
        if (!read_repeat()) return false;
        rows.emplace_back();
      } else if (Coordinates& row = rows.emplace_back(); !text_.take(']') && !read_numbers(row)) {
        return false;
      }
    } while (text_.take(','));
    if (!text_.expect(']')) return false;
    if (axis) layout_.of(*axis) = std::move(rows);
    if (name == "block") blocks_ = rows.size();
    return true;
  }

  /// Up to the bracket.
  bool read_numbers(std::vector<std::int64_t>& to) {
    do {
      const auto number = text_.number();
      if (!number) return false;
      if (to.size() > kMostLayoutDimensions) {
        text_.say(fmt::format("expected at most {} numbers, found more", kMostLayoutDimensions));
        return false;
      }
      to.push_back(*number);
    } while (text_.take(','));
    return text_.expect(']');
  }

  bool read_repeat() {
    const std::string_view word = text_.word();
    const auto axis = parse_word(word, LayoutAxis::Offset);
    if (!axis) {
      text_.say(fmt::format("expected a repeat to begin with {}, found {}", list_of(words_up_to(LayoutAxis::Offset)), quoted_part(word)),
                "repeat = [[register, extent, pitch, dimension, step]]");
      return false;
    }
    std::vector<std::int64_t> numbers;
    if (!text_.expect(',') || !read_numbers(numbers)) return false;
    if (numbers.size() != 4) {
      text_.say(fmt::format("expected an axis and 4 numbers in a repeat, found {}", numbers.size()),
                "repeat = [[register, extent, pitch, dimension, step]]");
      return false;
    }
    layout_.repeats.push_back({*axis, numbers[0], numbers[1], static_cast<std::size_t>(numbers[2]), numbers[3]});
    return true;
  }

  /// The tile that the text does not say: the given one, or what the bases reach.
  void shape() {
    if (!context_.shape.empty()) {
      layout_.shape = context_.shape;
      return;
    }
    std::size_t rank = 0;
    for (const auto& axis : layout_.bases)
      for (const Coordinates& basis : axis) rank = std::max(rank, basis.size());
    for (const LayoutRepeat& r : layout_.repeats) rank = std::max(rank, std::min(r.dimension, kMostLayoutDimensions) + 1);
    layout_.shape.assign(std::max<std::size_t>(rank, 1), 1);
    std::vector<std::int64_t> masks(layout_.shape.size(), 0);
    for (const auto& axis : layout_.bases)
      for (const Coordinates& basis : axis)
        for (std::size_t d = 0; d < basis.size(); ++d) masks[d] |= basis[d];
    for (std::size_t d = 0; d < masks.size(); ++d)
      layout_.shape[d] =
          masks[d] >= kMostLayoutElements ? masks[d] : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(masks[d]) + 1));
    for (const LayoutRepeat& r : layout_.repeats)
      if (r.dimension < layout_.shape.size())
        layout_.shape[r.dimension] = sat_add(layout_.shape[r.dimension], sat_mul(sat_add(r.extent, -1), r.step));
  }

  NotationText& text_;
  const LayoutContext& context_;
  Layout layout_;
  std::set<std::string> seen_;
  std::size_t blocks_ = 0;
};

std::string list_text(const std::vector<Coordinates>& bases) {
  std::string text;
  for (const Coordinates& basis : bases) text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(basis, ", "));
  return "[" + text + "]";
}

}  // namespace

Result<Layout> parse_bases(NotationText& text, const LayoutContext& context) { return BasesReader(text, context).read(); }

std::string bases_text(const Layout& layout) {
  const Layout one = canonical(layout);
  std::string text;
  const auto add = [&](std::string_view name, const std::string& list) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, list);
  };
  if (one.in_memory()) {
    add(to_string(LayoutAxis::Offset), list_text(one.of(LayoutAxis::Offset)));
  } else {
    for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp}) add(to_string(axis), list_text(one.of(axis)));
  }
  if (!one.repeats.empty()) {
    std::string list;
    for (const LayoutRepeat& r : one.repeats)
      list += fmt::format("{}[{}, {}, {}, {}, {}]", list.empty() ? "" : ", ", to_string(r.axis), r.extent, r.pitch, r.dimension, r.step);
    add("repeat", "[" + list + "]");
  }
  // Where the bases do not reach it, or have no coordinates to reach.
  std::vector<std::int64_t> reached(one.shape.size(), 0);
  bool any = false;
  for (const auto& axis : one.bases)
    for (const Coordinates& basis : axis) {
      any = true;
      for (std::size_t d = 0; d < basis.size(); ++d) reached[d] |= basis[d];
    }
  for (std::int64_t& x : reached) x = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(x) + 1));
  for (const LayoutRepeat& r : one.repeats) reached[r.dimension] += (r.extent - 1) * r.step;
  if (!any || reached != one.shape) add("shape", fmt::format("[{}]", fmt::join(one.shape, ", ")));
  return "{" + text + "}";
}

std::string triton_text(const Layout& layout) { return canonical(layout).repeats.empty() ? bases_text(layout) : std::string(); }

}  // namespace heddle
