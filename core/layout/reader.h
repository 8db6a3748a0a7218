// A layout prepared for many questions: which element a place holds, and which places hold an element, without an allocation per question.
// Elements are numbered row by row.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/layout/layout.h"

namespace heddle {

/// From places to elements. Pre: no faults (or none that faults_of() finds before it enumerates).
class LayoutReader {
 public:
  static constexpr std::int64_t kNothing = -1, kBeyond = -2;

  explicit LayoutReader(const Layout& layout);

  /// Number of the element; kNothing in padding or beyond the ends, kBeyond where bases and repeats add up to more than the tile has.
  std::int64_t element(const LayoutPlace& place) const;
  std::int64_t elements() const { return elements_; }

  /// Every place once, with its element: f(place, element).
  template <class F>
  void each_place(F&& f) const {
    std::array<std::vector<Step>, kLayoutAxes> steps;
    for (std::size_t a = 0; a < kLayoutAxes; ++a) steps[a] = steps_of(a);
    LayoutPlace place;
    for (const Step& r : steps[0]) {
      place.index[0] = r.index;
      for (const Step& l : steps[1]) {
        place.index[1] = l.index;
        for (const Step& w : steps[2]) {
          place.index[2] = w.index;
          for (const Step& o : steps[3]) {
            place.index[3] = o.index;
            f(place, checked_ ? number_of(r.word ^ l.word ^ w.word ^ o.word, r.more + l.more + w.more + o.more) : element(place));
          }
        }
      }
    }
  }

 private:
  struct Dimension {
    int shift = 0;
    std::uint64_t mask = 0;
    std::int64_t extent = 1, stride = 1;
  };
  struct Repeat {
    std::int64_t extent = 1, pitch = 1, step = 0;
    std::size_t dimension = 0;
  };
  struct Axis {
    std::vector<std::uint64_t> words;  ///< bases, the coordinates side by side
    std::vector<Repeat> repeats;       ///< outermost first
  };
  struct Step {
    std::int64_t index = 0;
    std::uint64_t word = 0;
    std::int64_t more = 0;  ///< elements that repeats add
  };

  std::vector<Step> steps_of(std::size_t axis) const;
  std::int64_t number_of(std::uint64_t word, std::int64_t more) const {
    for (const Dimension& d : dimensions_) more += static_cast<std::int64_t>(word >> d.shift & d.mask) * d.stride;
    return more;
  }

  std::vector<Dimension> dimensions_;
  std::array<Axis, kLayoutAxes> axes_;
  std::int64_t elements_ = 1;
  bool checked_ = false;  ///< no place is beyond the tile
};

/// From elements to places. Pre: no faults.
class PlaceReader {
 public:
  explicit PlaceReader(const Layout& layout);

  /// The least place that holds the element. Pre: 0 <= element < elements.
  LayoutPlace first(std::int64_t element) const;
  /// Every place that holds it, in no order.
  template <class F>
  void each(std::int64_t element, F&& f) const {
    if (!nested_) {
      for (std::size_t i = begins_[static_cast<std::size_t>(element)]; i < begins_[static_cast<std::size_t>(element) + 1]; ++i)
        f(listed_[i]);
      return;
    }
    const Part part = find(element);
    for (const Part& copy : copies_) {
      LayoutPlace place;
      for (std::size_t a = 0; a < kLayoutAxes; ++a)
        place.index[a] = (part.atom.index[a] ^ copy.atom.index[a]) + part.more.index[a] + copy.more.index[a];
      f(place);
    }
  }
  std::int64_t copies() const { return copies_count_; }
  /// Inverse of the atom is linear and repeats are digits of the coordinates.
  bool nested() const { return nested_; }

 private:
  struct Digit {
    std::int64_t step = 1, extent = 1, pitch = 1;
    std::size_t axis = 0;
  };
  /// Where a coordinate of a dimension puts an element.
  struct Part {
    LayoutPlace atom, more;
  };
  struct Dimension {
    std::int64_t extent = 1;
    int shift = 0;
    std::vector<Digit> digits;  ///< largest step first
    std::vector<Part> parts;    ///< of each coordinate, where there are few
  };
  Part part_of(const Dimension& dimension, std::int64_t coordinate) const;
  Part find(std::int64_t element) const;

  bool nested_ = false;
  std::int64_t copies_count_ = 1;
  std::vector<Dimension> dimensions_;
  std::vector<LayoutPlace> moves_;  ///< of each bit of the atom's coordinates
  std::vector<Part> copies_;
  std::vector<LayoutPlace> listed_;  ///< not nested: places, element after element
  std::vector<std::size_t> begins_;
};

/// Whole tiles at once, for grids.
struct LayoutTable {
  std::vector<LayoutPlace> first;    ///< least place of each element, row by row
  std::vector<std::int32_t> copies;  ///< places that hold it
};
LayoutTable table_of(const Layout& layout);
/// Of memory: the offset of each element, row by row.
std::vector<std::int64_t> offsets_of(const Layout& memory);

/// What the algebra of an atom finds. Pre: bases within the tile.
struct AtomAlgebra {
  std::vector<int> bits, shift;  ///< per dimension: of its coordinates; where they begin in a word of all coordinates
  int total = 0, rank = 0;
  struct Column {
    std::size_t axis = 0, bit = 0;
    std::uint64_t word = 0;
  };
  std::vector<Column> columns;         ///< all bases: offset, warp, lane, register, bit by bit
  std::vector<std::uint64_t> kernel;   ///< sums of columns that move nothing; the highest column of each is in no other
  std::vector<std::uint64_t> inverse;  ///< columns that move by each bit of a word; only where rank = total
};
AtomAlgebra algebra_of(const Layout& layout);
/// The atom covers its box and the repeats of each dimension are digits above it: every element is covered, equally often.
bool nested(const Layout& layout, const AtomAlgebra& algebra);

}  // namespace heddle
