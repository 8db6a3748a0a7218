#include "core/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/saturate.h"
#include "core/layout/reader.h"

namespace heddle {
namespace {

constexpr std::array<LayoutAxis, kLayoutAxes> kAllAxes{LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp, LayoutAxis::Offset};
constexpr std::size_t kMostFaults = 16;  // a person reads no more of them

std::string coordinates_text(const std::vector<std::int64_t>& x) { return fmt::format("({})", fmt::join(x, ", ")); }

/// What indices an axis has above its atom and the repeats so far; saturating.
std::int64_t span_of(const Layout& layout, LayoutAxis axis) {
  std::int64_t span = std::int64_t{1} << layout.of(axis).size();
  for (const LayoutRepeat& r : layout.repeats)
    if (r.axis == axis) span = sat_add(span, sat_mul(r.extent - 1, r.pitch));
  return span;
}

class Faults {
 public:
  explicit Faults(const Layout& layout) : layout_(layout) {}

  std::vector<Fault> take() {
    if (sizes()) {
      axes();
      repeats();
      if (faults_.empty()) cover();
    }
    return std::move(faults_);
  }

 private:
  void say(std::string pointer, std::string message, std::string hint = {}) {
    if (faults_.size() < kMostFaults) faults_.push_back({{}, std::move(pointer), std::move(message), std::move(hint)});
  }

  /// False: nothing else can be said.
  bool sizes() {
    const std::size_t rank = layout_.shape.size();
    if (rank == 0 || rank > kMostLayoutDimensions) {
      say("/shape", fmt::format("expected 1 to {} dimensions, found {}", kMostLayoutDimensions, rank));
      return false;
    }
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < rank; ++d) {
      if (layout_.shape[d] < 1)
        say(fmt::format("/shape/{}", d), fmt::format("expected an extent of at least 1, found {}", layout_.shape[d]));
      elements = sat_mul(elements, std::max<std::int64_t>(layout_.shape[d], 1));
    }
    if (elements > kMostLayoutElements)
      say("/shape", fmt::format("a tile has at most {} elements, and {} are more", kMostLayoutElements, coordinates_text(layout_.shape)));
    for (const LayoutAxis axis : kAllAxes)
      if (layout_.of(axis).size() > kMostLayoutBits)
        say(fmt::format("/bases/{}", to_string(axis)),
            fmt::format("expected at most {} bases, found {}", kMostLayoutBits, layout_.of(axis).size()),
            "a basis is a bit of the index: 5 for 32 lanes");
    if (layout_.repeats.size() > kMostLayoutRepeats)
      say("/repeats", fmt::format("expected at most {} repeats, found {}", kMostLayoutRepeats, layout_.repeats.size()));
    const auto has = [&](LayoutAxis axis) {
      return !layout_.of(axis).empty() || std::ranges::any_of(layout_.repeats, [&](const LayoutRepeat& r) { return r.axis == axis; });
    };
    if (has(LayoutAxis::Offset) && (has(LayoutAxis::Register) || has(LayoutAxis::Lane) || has(LayoutAxis::Warp)))
      say("/bases/offset", "a layout is of memory (offset) or of threads (register, lane, warp), and this has both");
    return faults_.empty();
  }

  void axes() {
    for (const LayoutAxis axis : kAllAxes)
      for (std::size_t i = 0; i < layout_.of(axis).size(); ++i) {
        const Coordinates& basis = layout_.of(axis)[i];
        const std::string pointer = fmt::format("/bases/{}/{}", to_string(axis), i);
        if (basis.size() != layout_.shape.size()) {
          say(pointer, fmt::format("expected {} coordinates, one per dimension of the tile, found {}", layout_.shape.size(), basis.size()));
          continue;
        }
        for (std::size_t d = 0; d < basis.size(); ++d)
          if (basis[d] < 0 || basis[d] >= layout_.shape[d])
            say(pointer, fmt::format("moves by {} in dimension {}, which has {} elements", basis[d], d, layout_.shape[d]));
      }
  }

  void repeats() {
    std::array<std::int64_t, kLayoutAxes> span{}, count{};
    for (const LayoutAxis axis : kAllAxes)
      span[static_cast<std::size_t>(axis)] = count[static_cast<std::size_t>(axis)] = std::int64_t{1} << layout_.of(axis).size();
    for (std::size_t i = 0; i < layout_.repeats.size(); ++i) {
      const LayoutRepeat& r = layout_.repeats[i];
      const std::string pointer = fmt::format("/repeats/{}", i);
      if (static_cast<std::size_t>(r.axis) >= kLayoutAxes || r.dimension >= layout_.shape.size()) {
        say(pointer, fmt::format("expected a dimension below {}, found {}", layout_.shape.size(), r.dimension));
        continue;
      }
      if (r.extent < 1 || r.pitch < 1 || r.step < 0) {
        say(pointer, fmt::format("expected an extent and a pitch of at least 1 and a step of at least 0, found {}, {} and {}", r.extent,
                                 r.pitch, r.step));
        continue;
      }
      auto& inside = span[static_cast<std::size_t>(r.axis)];
      if (r.pitch < inside)
        say(pointer, fmt::format("copies are {} apart, and what lies inside them takes {}: they overlap", r.pitch, inside));
      inside = sat_add(inside, sat_mul(r.extent - 1, r.pitch));
      auto& all = count[static_cast<std::size_t>(r.axis)];
      all = sat_mul(all, r.extent);
      if (inside > kMostSpan) say(pointer, fmt::format("reaches beyond {} on the axis {}", kMostSpan, to_string(r.axis)));
      if (sat_mul(r.extent - 1, r.step) >= layout_.shape[r.dimension])
        say(pointer, fmt::format("{} copies, {} further each, leave dimension {} of {} elements", r.extent, r.step, r.dimension,
                                 layout_.shape[r.dimension]));
    }
    places_ = 1;
    for (const std::int64_t n : count) places_ = sat_mul(places_, n);
    if (places_ > kMostPlaces) say("/bases", fmt::format("has more than {} places", kMostPlaces));
  }

  bool memory() const { return layout_.in_memory(); }

  /// Exactly, by algebra where repeats are digits above the atom, else place by place.
  void cover() {
    const AtomAlgebra algebra = algebra_of(layout_);
    const std::int64_t elements = layout_.elements();
    if (memory() && !algebra.kernel.empty()) {
      const AtomAlgebra::Column& column = algebra.columns[static_cast<std::size_t>(std::bit_width(algebra.kernel.front()) - 1)];
      const Coordinates& basis = layout_.of(LayoutAxis::Offset)[column.bit];
      const bool zero = std::ranges::all_of(basis, [](std::int64_t x) { return x == 0; });
      say(fmt::format("/bases/offset/{}", column.bit),
          zero ? "moves nothing, so two places of memory hold one element"
               : fmt::format("moves by {}, as others together do, so two places of memory hold one element", coordinates_text(basis)));
      return;
    }
    if (memory() && places_ > elements) {
      say("/bases/offset", fmt::format("has {} places for {} elements: memory holds an element once", places_, elements));
      return;
    }
    if (places_ < elements) {
      say("/bases", fmt::format("has {} places for {} elements of the tile", places_, elements),
          "every element of the tile lies somewhere: more bases or repeats, or a smaller tile");
      return;
    }
    if (nested(layout_, algebra)) return;
    if (places_ > kMostLayoutElements) {
      say("/bases", fmt::format("has more than {} places and is no simple repetition of its bases", kMostLayoutElements));
      return;
    }
    enumerate();
  }

  void enumerate() {
    const LayoutReader reader(layout_);
    std::vector<std::uint32_t> held(static_cast<std::size_t>(layout_.elements()), 0);
    bool beyond = false;
    LayoutPlace first;
    reader.each_place([&](const LayoutPlace& place, std::int64_t element) {
      if (element >= 0) {
        ++held[static_cast<std::size_t>(element)];
      } else if (!beyond) {
        beyond = true;
        first = place;
      }
    });
    if (beyond)
      return say("/bases", fmt::format("{} holds what is beyond the tile of {}", place_text(first), coordinates_text(layout_.shape)));
    const auto [least, most] = std::ranges::minmax_element(held);
    if (*least == *most) return;
    const auto at = [&](auto where) {
      std::int64_t e = where - held.begin();
      Coordinates x(layout_.shape.size());
      for (std::size_t d = x.size(); d-- > 0;) x[d] = e % layout_.shape[d], e /= layout_.shape[d];
      return coordinates_text(x);
    };
    if (*least == 0)
      say("/bases", fmt::format("no place holds the element {}", at(least)),
          "every element of the tile lies somewhere: more bases or repeats, or a smaller tile");
    else
      say("/bases", fmt::format("the element {} lies in {} places, and the element {} in {}", at(least), *least, at(most), *most));
  }

  std::string place_text(const LayoutPlace& place) const {
    if (memory()) return fmt::format("offset {}", place[LayoutAxis::Offset]);
    return fmt::format("register {} of lane {} of warp {}", place[LayoutAxis::Register], place[LayoutAxis::Lane], place[LayoutAxis::Warp]);
  }

  static constexpr std::int64_t kMostSpan = std::int64_t{1} << 30;    // an index fits 32 bits
  static constexpr std::int64_t kMostPlaces = std::int64_t{1} << 24;  // elements and their copies

  const Layout& layout_;
  std::vector<Fault> faults_;
  std::int64_t places_ = 1;
};

/// Repeats of an axis with neighbours made one.
std::vector<LayoutRepeat> merged(const Layout& layout, LayoutAxis axis) {
  std::vector<LayoutRepeat> repeats;
  for (const LayoutRepeat& r : layout.repeats) {
    if (r.axis != axis || r.extent == 1) continue;
    if (!repeats.empty()) {
      LayoutRepeat& inner = repeats.back();
      const bool same = r.dimension == inner.dimension || (r.step == 0 && inner.step == 0);
      if (same && r.pitch == inner.pitch * inner.extent && r.step == inner.step * inner.extent) {
        inner.extent *= r.extent;
        continue;
      }
    }
    repeats.push_back(r);
    if (r.step == 0) repeats.back().dimension = 0;
  }
  return repeats;
}

/// Repeats that can be bases become bases, from the innermost; those that are left.
std::vector<LayoutRepeat> absorbed(Layout& to, LayoutAxis axis, std::vector<LayoutRepeat> repeats, std::vector<std::int64_t>& masks) {
  std::vector<Coordinates>& bases = to.of(axis);
  std::size_t at = 0;
  for (; at < repeats.size(); ++at) {
    LayoutRepeat& r = repeats[at];
    bool whole = true;
    while (r.extent > 1) {
      const bool disjoint = (masks[r.dimension] & r.step) == 0 && (r.step == 0 || std::has_single_bit(static_cast<std::uint64_t>(r.step)));
      if (r.extent % 2 != 0 || r.pitch != std::int64_t{1} << bases.size() || bases.size() >= kMostLayoutBits || !disjoint) {
        whole = false;
        break;
      }
      Coordinates basis(to.shape.size(), 0);
      basis[r.dimension] = r.step;
      masks[r.dimension] |= r.step;
      bases.push_back(std::move(basis));
      r.extent /= 2;
      r.pitch *= 2;
      r.step *= 2;
    }
    if (!whole) break;
  }
  repeats.erase(repeats.begin(), repeats.begin() + static_cast<std::ptrdiff_t>(at));
  return repeats;
}

}  // namespace

const char* to_string(LayoutAxis axis) {
  switch (axis) {
    case LayoutAxis::Register: return "register";
    case LayoutAxis::Lane: return "lane";
    case LayoutAxis::Warp: return "warp";
    case LayoutAxis::Offset: return "offset";
  }
  return "?";
}

std::int64_t Layout::extent(LayoutAxis axis) const { return span_of(*this, axis); }

std::int64_t Layout::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count = sat_mul(count, extent);
  return count;
}

bool Layout::in_memory() const {
  return !of(LayoutAxis::Offset).empty() ||
         std::ranges::any_of(repeats, [](const LayoutRepeat& r) { return r.axis == LayoutAxis::Offset; });
}

std::vector<Fault> faults_of(const Layout& layout) { return Faults(layout).take(); }

std::int64_t copies(const Layout& layout) {
  std::int64_t places = 1;
  for (const LayoutAxis axis : kAllAxes) places = sat_mul(places, std::int64_t{1} << layout.of(axis).size());
  for (const LayoutRepeat& r : layout.repeats) places = sat_mul(places, r.extent);
  return places / layout.elements();
}

Layout canonical(const Layout& layout) {
  Layout result;
  result.shape = layout.shape;
  result.bases = layout.bases;
  std::vector<std::int64_t> masks(layout.shape.size(), 0);
  for (const auto& axis : layout.bases)
    for (const Coordinates& basis : axis)
      for (std::size_t d = 0; d < masks.size(); ++d) masks[d] |= basis[d];
  for (const LayoutAxis axis : kAllAxes)
    for (const LayoutRepeat& r : absorbed(result, axis, merged(layout, axis), masks)) result.repeats.push_back(r);
  return result;
}

bool same_places(const Layout& a, const Layout& b) {
  if (a.shape != b.shape) return false;
  const Layout one = canonical(a), other = canonical(b);
  if (one == other) return true;
  if (one.repeats.empty() && other.repeats.empty()) return false;
  if (copies(one) != copies(other)) return false;
  for (const LayoutAxis axis : kAllAxes)
    if (one.extent(axis) != other.extent(axis)) return false;
  const LayoutReader reader(other), own(one);
  // Most that differ do so in a single move.
  for (const LayoutAxis axis : kAllAxes)
    for (std::int64_t index = 1; index < one.extent(axis); index *= 2) {
      LayoutPlace place;
      place[axis] = index;
      if (reader.element(place) != own.element(place)) return false;
    }
  bool same = true;
  own.each_place([&](const LayoutPlace& place, std::int64_t element) { same = same && reader.element(place) == element; });
  return same;
}

Layout transposed(const Layout& layout) {
  Layout result = layout;
  std::reverse(result.shape.begin(), result.shape.end());
  for (auto& axis : result.bases)
    for (Coordinates& basis : axis) std::reverse(basis.begin(), basis.end());
  for (LayoutRepeat& repeat : result.repeats) repeat.dimension = result.shape.size() - 1 - repeat.dimension;
  return result;
}

Layout without_dimension(const Layout& layout, std::size_t dimension) {
  Layout result;
  for (std::size_t d = 0; d < layout.shape.size(); ++d)
    if (d != dimension) result.shape.push_back(layout.shape[d]);
  if (result.shape.empty()) result.shape.push_back(1);
  const auto left = [&](const Coordinates& basis) {
    Coordinates out;
    for (std::size_t d = 0; d < basis.size(); ++d)
      if (d != dimension) out.push_back(basis[d]);
    out.resize(result.shape.size(), 0);
    return out;
  };
  for (const LayoutAxis axis : {LayoutAxis::Lane, LayoutAxis::Warp, LayoutAxis::Offset})
    for (const Coordinates& basis : layout.of(axis)) result.of(axis).push_back(left(basis));
  // Registers that hold what a sum of earlier ones holds are copies.
  for (const Coordinates& basis : layout.of(LayoutAxis::Register)) {
    Layout with;
    with.shape = result.shape;
    with.of(LayoutAxis::Register) = result.of(LayoutAxis::Register);
    with.of(LayoutAxis::Register).push_back(left(basis));
    if (algebra_of(with).kernel.empty()) result.of(LayoutAxis::Register) = std::move(with.of(LayoutAxis::Register));
  }
  std::int64_t registers = std::int64_t{1} << result.of(LayoutAxis::Register).size();
  for (LayoutRepeat r : layout.repeats) {
    if (r.dimension == dimension || layout.shape.size() == 1) r.step = 0, r.dimension = 0;
    if (r.dimension > dimension) --r.dimension;
    if (r.axis == LayoutAxis::Register) {
      if (r.step == 0) continue;
      r.pitch = registers;
      registers *= r.extent;
    }
    result.repeats.push_back(r);
  }
  return canonical(result);
}

}  // namespace heddle
