// CuTe's notation: shape, stride and a swizzle of the offset. Sw<b,m,s> exchanges bits m .. m + b - 1 of the offset by exclusive or with
// the bits s above them (NVIDIA CUTLASS, include/cute/swizzle.hpp).
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/saturate.h"
#include "core/layout/notation_parts.h"

namespace heddle {
namespace {

constexpr int kDeepest = 8, kHighestBit = 30;

struct Tuple {
  std::int64_t number = 0;
  std::vector<Tuple> parts;  ///< empty: a number
};

struct Swizzle {
  std::int64_t bits = 0, base = 0, shift = 0;
  bool bytes = false;        ///< of addresses, as CuTe has it for a pointer to shared memory
  std::int64_t element = 0;  ///< its bits, where the text says them
};

/// One extent and stride, with the dimension that it is a digit of.
struct Mode {
  std::int64_t extent = 1, stride = 0, step = 1;
  std::size_t dimension = 0;
};

class CuteReader {
 public:
  CuteReader(NotationText& text, const LayoutContext& context) : text_(text), context_(context) {}

  Result<Layout> read() {
    Swizzle swizzle;
    if (text_.peek() == 'S' && !read_swizzle(swizzle)) return text_.error();
    Tuple shape, stride;
    if (!read_tuple(shape, 0) || !text_.expect(':') || !read_tuple(stride, 0)) return text_.error();
    if (!text_.done()) {
      text_.wrong("the end");
      return text_.error();
    }
    Layout layout;
    std::vector<Mode> modes;
    const std::vector<Tuple> shapes = shape.parts.empty() ? std::vector<Tuple>{shape} : shape.parts;
    const std::vector<Tuple> strides = stride.parts.empty() && shape.parts.empty() ? std::vector<Tuple>{stride} : stride.parts;
    if (shapes.size() != strides.size()) {
      unlike(shapes.size(), strides.size());
      return text_.error();
    }
    if (shapes.size() > kMostLayoutDimensions) {
      text_.say(fmt::format("expected at most {} dimensions, found {}", kMostLayoutDimensions, shapes.size()));
      return text_.error();
    }
    for (std::size_t d = 0; d < shapes.size(); ++d) {
      std::int64_t step = 1;
      if (!flatten(shapes[d], strides[d], d, step, modes)) return text_.error();
      layout.shape.push_back(step);
    }
    if (modes.size() > kMostLayoutRepeats) {
      text_.say(fmt::format("expected at most {} extents, found {}", kMostLayoutRepeats, modes.size()));
      return text_.error();
    }
    std::ranges::stable_sort(modes, {}, &Mode::stride);
    for (const Mode& m : modes) layout.repeats.push_back({LayoutAxis::Offset, m.extent, m.stride, m.dimension, m.step});
    Result<Layout> plain = text_.checked(std::move(layout), context_);
    if (!plain || swizzle.bits == 0) return plain;
    return swizzled(*std::move(plain), swizzle);
  }

 private:
  void unlike(std::size_t extents, std::size_t strides) {
    text_.say(fmt::format("expected a stride for every extent, found {} extents and {} strides side by side", extents, strides));
  }

  bool read_swizzle(Swizzle& to) {
    const std::string_view word = text_.word();
    if (word != "Sw" && word != "S" && word != "Swizzle") {
      text_.say(fmt::format("expected Sw<b,m,s>, found {}", quoted_part(word)));
      return false;
    }
    std::array<std::int64_t*, 3> numbers{&to.bits, &to.base, &to.shift};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!text_.expect(i == 0 ? '<' : ',')) return false;
      const auto number = text_.number();
      if (!number) return false;
      *numbers[i] = *number;
    }
    if (!text_.expect('>')) return false;
    // Its offset, or a pointer: bits of the byte's address then.
    while (text_.take('o')) {
      if (text_.take("smem_ptr[")) {
        const auto bits = text_.number();
        if (!bits || !text_.expect('b') || !text_.expect(']') || !text_.expect('(')) return false;
        text_.word();
        if (!text_.expect(')')) return false;
        to.bytes = true, to.element = *bits;
        continue;
      }
      if (text_.peek() == '(') return in_range(to);
      // "Sw<3,4,3> o 0 o (64,64):(64,1)" is a swizzle, its offset, a layout; "Sw<3,4,3> o 64:1" a swizzle and a layout.
      NotationText ahead = text_;
      const auto offset = ahead.number();
      if (!offset || ahead.peek() == ':') return in_range(to);
      text_ = ahead;
      if (*offset != 0) {
        text_.say(fmt::format("expected an offset of 0 after the swizzle, found {}", *offset));
        return false;
      }
    }
    text_.wrong("'o' and a layout");
    return false;
  }

  bool in_range(Swizzle& swizzle) {
    if (swizzle.bytes) {
      const auto bits = swizzle.element;
      if (bits < 8 || bits > 128 || !std::has_single_bit(static_cast<std::uint64_t>(bits)) ||
          swizzle.base < std::countr_zero(static_cast<std::uint64_t>(bits / 8))) {
        text_.say(fmt::format("Sw<{},{},{}> of addresses does not keep elements of {} bits whole", swizzle.bits, swizzle.base,
                              swizzle.shift, bits));
        return false;
      }
      swizzle.base -= std::countr_zero(static_cast<std::uint64_t>(bits / 8));
    }
    if (sat_add(sat_add(swizzle.bits, swizzle.base), swizzle.shift) > kHighestBit) {
      text_.say(fmt::format("Sw<{},{},{}> exchanges bits up to {}, and offsets have {}", swizzle.bits, swizzle.base, swizzle.shift,
                            sat_add(sat_add(swizzle.bits, swizzle.base), swizzle.shift), kHighestBit),
                "b + m + s is at most 30");
      return false;
    }
    if (swizzle.bits > 0 && swizzle.shift < swizzle.bits) {
      text_.say(fmt::format("Sw<{},{},{}> exchanges bits with themselves: s is at least b", swizzle.bits, swizzle.base, swizzle.shift));
      return false;
    }
    return true;
  }

  bool read_tuple(Tuple& to, int depth) {
    if (depth > kDeepest) {
      text_.say(fmt::format("a shape has at most {} levels", kDeepest));
      return false;
    }
    if (!text_.take('(')) {
      const auto number = text_.number();
      to.number = number.value_or(0);
      return number.has_value();
    }
    do {
      if (to.parts.size() == kMostLayoutRepeats) {
        text_.say(fmt::format("expected at most {} extents, found more", kMostLayoutRepeats));
        return false;
      }
      if (!read_tuple(to.parts.emplace_back(), depth + 1)) return false;
    } while (text_.take(','));
    return text_.expect(')');
  }

  bool flatten(const Tuple& shape, const Tuple& stride, std::size_t dimension, std::int64_t& step, std::vector<Mode>& to) {
    if (shape.parts.empty() != stride.parts.empty() || shape.parts.size() != stride.parts.size()) {
      unlike(std::max<std::size_t>(1, shape.parts.size()), std::max<std::size_t>(1, stride.parts.size()));
      return false;
    }
    if (!shape.parts.empty()) {
      for (std::size_t i = 0; i < shape.parts.size(); ++i)
        if (!flatten(shape.parts[i], stride.parts[i], dimension, step, to)) return false;
      return true;
    }
    if (shape.number < 1 || shape.number > kMostLayoutElements) {
      text_.say(fmt::format("expected extents of 1 to {}, found {}", kMostLayoutElements, shape.number));
      return false;
    }
    if (shape.number > 1 && stride.number == 0) {
      text_.say(fmt::format("{} elements have stride 0: memory holds each in a place of its own", shape.number));
      return false;
    }
    if (shape.number > 1) to.push_back({shape.number, stride.number, step, dimension});
    step = sat_mul(step, shape.number);
    return true;
  }

  Result<Layout> swizzled(Layout layout, const Swizzle& swizzle) {
    std::vector<Coordinates>& bases = layout.of(LayoutAxis::Offset);
    const auto top = swizzle.bits + swizzle.base + swizzle.shift;
    for (const LayoutRepeat& r : layout.repeats)
      if (r.pitch % (std::int64_t{1} << top) != 0) {
        text_.say(
            fmt::format("Sw<{},{},{}> exchanges bits below {} of the offset, and only {} of them are bits of coordinates: {} elements of "
                        "dimension {} are {} apart",
                        swizzle.bits, swizzle.base, swizzle.shift, top, bases.size(), r.extent, r.dimension, r.pitch),
            "extents and strides that are powers of two below the swizzle");
        return text_.error();
      }
    for (std::int64_t i = 0; i < swizzle.bits; ++i) {
      const auto from = static_cast<std::size_t>(swizzle.base + swizzle.shift + i), to = static_cast<std::size_t>(swizzle.base + i);
      if (from >= bases.size()) break;  // no offset has the bit
      for (std::size_t d = 0; d < layout.shape.size(); ++d) bases[from][d] ^= bases[to][d];
    }
    return layout;
  }

  NotationText& text_;
  const LayoutContext& context_;
};

/// The dimension that a move along one power of two is in.
std::optional<std::size_t> pure(const Coordinates& basis) {
  std::optional<std::size_t> dimension;
  for (std::size_t d = 0; d < basis.size(); ++d) {
    if (basis[d] == 0) continue;
    if (dimension || !std::has_single_bit(static_cast<std::uint64_t>(basis[d]))) return std::nullopt;
    dimension = d;
  }
  return dimension;
}

Coordinates exclusive(const Coordinates& a, const Coordinates& b) {
  Coordinates x = a;
  for (std::size_t d = 0; d < x.size(); ++d) x[d] ^= b[d];
  return x;
}

/// The swizzle by which all bases become moves along one dimension; they are changed so.
std::optional<Swizzle> swizzle_of(std::vector<Coordinates>& bases) {
  std::size_t first = 0;
  while (first < bases.size() && pure(bases[first])) ++first;
  std::size_t last = bases.size();
  while (last > first && pure(bases[last - 1])) --last;
  if (first == last) return Swizzle{};
  const std::size_t count = last - first;
  for (std::size_t shift = count; shift <= first; ++shift) {
    std::vector<Coordinates> plain = bases;
    bool fits = true;
    for (std::size_t i = first; fits && i < last; ++i) {
      plain[i] = exclusive(bases[i], bases[i - shift]);
      fits = pure(plain[i]).has_value();
    }
    if (!fits) continue;
    bases = std::move(plain);
    return Swizzle{static_cast<std::int64_t>(count), static_cast<std::int64_t>(first - shift), static_cast<std::int64_t>(shift), false, 0};
  }
  return std::nullopt;
}

}  // namespace

Result<Layout> parse_cute(NotationText& text, const LayoutContext& context) { return CuteReader(text, context).read(); }

std::string cute_text(const Layout& layout) {
  Layout one = canonical(layout);
  for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp})
    if (one.extent(axis) > 1) return {};
  std::vector<Coordinates>& bases = one.of(LayoutAxis::Offset);
  const std::optional<Swizzle> swizzle = swizzle_of(bases);
  if (!swizzle) return {};
  const std::int64_t top = std::int64_t{1} << (swizzle->bits + swizzle->base + swizzle->shift);
  std::vector<Mode> modes;
  for (std::size_t bit = 0; bit < bases.size(); ++bit) {
    const std::size_t d = *pure(bases[bit]);
    modes.push_back({2, std::int64_t{1} << bit, bases[bit][d], d});
  }
  for (const LayoutRepeat& r : one.repeats) {
    if (swizzle->bits > 0 && r.pitch % top != 0) return {};
    modes.push_back({r.extent, r.pitch, r.step, r.dimension});
  }
  std::ranges::stable_sort(modes, {}, &Mode::step);
  std::vector<std::string> shapes, strides;
  for (std::size_t d = 0; d < one.shape.size(); ++d) {
    std::vector<std::int64_t> extents, steps;
    std::int64_t span = 1;
    for (const Mode& m : modes) {
      if (m.dimension != d) continue;
      if (m.step != span) return {};
      span *= m.extent;
      if (!extents.empty() && steps.back() * extents.back() == m.stride)
        extents.back() *= m.extent;
      else
        extents.push_back(m.extent), steps.push_back(m.stride);
    }
    if (extents.empty()) extents.push_back(1), steps.push_back(0);
    const bool several = extents.size() > 1;
    shapes.push_back(several ? fmt::format("({})", fmt::join(extents, ",")) : std::to_string(extents.front()));
    strides.push_back(several ? fmt::format("({})", fmt::join(steps, ",")) : std::to_string(steps.front()));
  }
  return fmt::format("{}({}):({})",
                     swizzle->bits > 0 ? fmt::format("Sw<{},{},{}> o ", swizzle->bits, swizzle->base, swizzle->shift) : std::string(),
                     fmt::join(shapes, ","), fmt::join(strides, ","));
}

}  // namespace heddle
