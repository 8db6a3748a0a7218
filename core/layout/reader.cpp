// What is linear is algebra on words, repeats are digits, and what is neither is a list.
#include "core/layout/reader.h"

#include <algorithm>

#include "core/base/saturate.h"

namespace heddle {
namespace {

std::vector<std::int64_t> masks_of(const Layout& layout) {
  std::vector<std::int64_t> masks(layout.shape.size(), 0);
  for (const std::vector<Coordinates>& axis : layout.bases)
    for (const Coordinates& basis : axis)
      for (std::size_t d = 0; d < masks.size(); ++d) masks[d] |= basis[d];
  return masks;
}

/// From the highest bit of a place's number to the lowest: registers count most, so that the least place is found first.
constexpr std::array<LayoutAxis, kLayoutAxes> kFromLeast{LayoutAxis::Offset, LayoutAxis::Warp, LayoutAxis::Lane, LayoutAxis::Register};

}  // namespace

AtomAlgebra algebra_of(const Layout& layout) {
  AtomAlgebra algebra;
  for (const std::int64_t mask : masks_of(layout)) {
    algebra.shift.push_back(algebra.total);
    algebra.bits.push_back(std::bit_width(static_cast<std::uint64_t>(mask)));
    algebra.total += algebra.bits.back();
  }
  for (const LayoutAxis axis : kFromLeast)
    for (std::size_t bit = 0; bit < layout.of(axis).size(); ++bit) {
      AtomAlgebra::Column column{static_cast<std::size_t>(axis), bit, 0};
      for (std::size_t d = 0; d < layout.shape.size(); ++d)
        column.word |= static_cast<std::uint64_t>(layout.of(axis)[bit][d]) << algebra.shift[d];
      algebra.columns.push_back(column);
    }
  // Rows in reduced form: row i is the only one with its leading bit. Each says of which columns it is the sum.
  struct Row {
    std::uint64_t word, sum;
    int lead;
  };
  std::vector<Row> rows;
  for (std::size_t c = 0; c < algebra.columns.size(); ++c) {
    Row row{algebra.columns[c].word, std::uint64_t{1} << c, -1};
    for (const Row& r : rows)
      if (row.word >> r.lead & 1) row.word ^= r.word, row.sum ^= r.sum;
    if (row.word == 0) {
      algebra.kernel.push_back(row.sum);
      continue;
    }
    row.lead = std::bit_width(row.word) - 1;
    for (Row& r : rows)
      if (r.word >> row.lead & 1) r.word ^= row.word, r.sum ^= row.sum;
    rows.push_back(row);
  }
  algebra.rank = static_cast<int>(rows.size());
  if (algebra.rank == algebra.total) {
    algebra.inverse.resize(rows.size());
    for (const Row& r : rows) algebra.inverse[static_cast<std::size_t>(r.lead)] = r.sum;
  }
  return algebra;
}

bool nested(const Layout& layout, const AtomAlgebra& algebra) {
  if (algebra.rank != algebra.total) return false;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    std::vector<std::pair<std::int64_t, std::int64_t>> digits;  // step, extent
    for (const LayoutRepeat& r : layout.repeats)
      if (r.dimension == d && r.step > 0 && r.extent > 1) digits.emplace_back(r.step, r.extent);
    std::ranges::sort(digits);
    std::int64_t span = std::int64_t{1} << algebra.bits[d];
    for (const auto& [step, extent] : digits) {
      if (step != span) return false;
      span = sat_mul(span, extent);
    }
    if (span != layout.shape[d]) return false;
  }
  return true;
}

LayoutReader::LayoutReader(const Layout& layout) {
  int shift = 0;
  const std::vector<std::int64_t> masks = masks_of(layout);
  dimensions_.resize(layout.shape.size());
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    dimensions_[d].extent = layout.shape[d];
    dimensions_[d].stride = elements_;
    elements_ *= layout.shape[d];
  }
  std::vector<std::int64_t> most(masks.size());
  for (std::size_t d = 0; d < masks.size(); ++d) {
    const int width = std::bit_width(static_cast<std::uint64_t>(masks[d]));
    dimensions_[d].shift = shift;
    dimensions_[d].mask = (std::uint64_t{1} << width) - 1;
    most[d] = static_cast<std::int64_t>(dimensions_[d].mask);
    shift += width;
  }
  for (std::size_t a = 0; a < kLayoutAxes; ++a) {
    for (const Coordinates& basis : layout.bases[a]) {
      std::uint64_t word = 0;
      for (std::size_t d = 0; d < basis.size(); ++d) word |= static_cast<std::uint64_t>(basis[d]) << dimensions_[d].shift;
      axes_[a].words.push_back(word);
    }
    for (const LayoutRepeat& r : layout.repeats)
      if (static_cast<std::size_t>(r.axis) == a) {
        axes_[a].repeats.insert(axes_[a].repeats.begin(), Repeat{r.extent, r.pitch, r.step, r.dimension});
        most[r.dimension] = sat_add(most[r.dimension], sat_mul(r.extent - 1, r.step));
      }
  }
  checked_ = true;
  for (std::size_t d = 0; d < most.size(); ++d) checked_ = checked_ && most[d] < layout.shape[d];
}

std::int64_t LayoutReader::element(const LayoutPlace& place) const {
  std::uint64_t word = 0;
  std::array<std::int64_t, kMostLayoutDimensions> more{};
  for (std::size_t a = 0; a < kLayoutAxes; ++a) {
    std::int64_t index = place.index[a];
    if (index < 0) return kNothing;
    for (const Repeat& r : axes_[a].repeats) {
      const std::int64_t x = index / r.pitch;
      if (x >= r.extent) return kNothing;
      index -= x * r.pitch;
      more[r.dimension] += x * r.step;
    }
    if (index >> axes_[a].words.size() != 0) return kNothing;
    for (std::size_t bit = 0; index != 0; ++bit, index >>= 1)
      if (index & 1) word ^= axes_[a].words[bit];
  }
  std::int64_t element = 0;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    const std::int64_t x = static_cast<std::int64_t>(word >> dimensions_[d].shift & dimensions_[d].mask) + more[d];
    if (x >= dimensions_[d].extent) return kBeyond;
    element += x * dimensions_[d].stride;
  }
  return element;
}

std::vector<LayoutReader::Step> LayoutReader::steps_of(std::size_t axis) const {
  std::int64_t expected = std::int64_t{1} << axes_[axis].words.size();
  for (const Repeat& r : axes_[axis].repeats) expected *= r.extent;
  std::vector<Step> steps;
  steps.reserve(static_cast<std::size_t>(expected));
  steps.emplace_back();
  for (std::size_t bit = 0; bit < axes_[axis].words.size(); ++bit) {
    const std::size_t count = steps.size();
    for (std::size_t i = 0; i < count; ++i)
      steps.push_back({steps[i].index | std::int64_t{1} << bit, steps[i].word ^ axes_[axis].words[bit], 0});
  }
  for (auto r = axes_[axis].repeats.rbegin(); r != axes_[axis].repeats.rend(); ++r) {
    const std::size_t count = steps.size();
    const std::int64_t step = r->step * dimensions_[r->dimension].stride;
    for (std::int64_t x = 1; x < r->extent; ++x)
      for (std::size_t i = 0; i < count; ++i) steps.push_back({steps[i].index + x * r->pitch, steps[i].word, steps[i].more + x * step});
  }
  return steps;
}

PlaceReader::PlaceReader(const Layout& layout) {
  const AtomAlgebra algebra = algebra_of(layout);
  nested_ = heddle::nested(layout, algebra);
  if (!nested_) {
    const LayoutReader reader(layout);
    std::vector<std::pair<std::int64_t, LayoutPlace>> all;
    reader.each_place([&](const LayoutPlace& place, std::int64_t element) { all.emplace_back(element, place); });
    std::ranges::sort(all);
    begins_.assign(static_cast<std::size_t>(reader.elements()) + 1, all.size());
    for (std::size_t i = all.size(); i-- > 0;) begins_[static_cast<std::size_t>(all[i].first)] = i;
    for (const auto& [element, place] : all) listed_.push_back(place);
    copies_count_ = static_cast<std::int64_t>(all.size()) / reader.elements();
    return;
  }
  const auto place_of = [&](std::uint64_t sum) {
    LayoutPlace place;
    for (std::size_t c = 0; c < algebra.columns.size(); ++c)
      if (sum >> c & 1) place.index[algebra.columns[c].axis] ^= std::int64_t{1} << algebra.columns[c].bit;
    return place;
  };
  for (const std::uint64_t sum : algebra.inverse) moves_.push_back(place_of(sum));
  dimensions_.resize(layout.shape.size());
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    dimensions_[d].extent = layout.shape[d];
    dimensions_[d].shift = algebra.shift[d];
  }
  copies_.emplace_back();
  for (const std::uint64_t sum : algebra.kernel) {
    const LayoutPlace change = place_of(sum);
    const std::size_t count = copies_.size();
    for (std::size_t i = 0; i < count; ++i) {
      Part copy = copies_[i];
      for (std::size_t a = 0; a < kLayoutAxes; ++a) copy.atom.index[a] ^= change.index[a];
      copies_.push_back(copy);
    }
  }
  for (const LayoutRepeat& r : layout.repeats) {
    if (r.extent == 1) continue;
    if (r.step > 0) {
      dimensions_[r.dimension].digits.push_back({r.step, r.extent, r.pitch, static_cast<std::size_t>(r.axis)});
      continue;
    }
    const std::size_t count = copies_.size();
    for (std::int64_t x = 1; x < r.extent; ++x)
      for (std::size_t i = 0; i < count; ++i) {
        Part copy = copies_[i];
        copy.more[r.axis] += x * r.pitch;
        copies_.push_back(copy);
      }
  }
  constexpr std::int64_t kFew = 4096;
  for (Dimension& d : dimensions_) {
    std::ranges::sort(d.digits, [](const Digit& a, const Digit& b) { return a.step > b.step; });
    if (layout.elements() < kFew || d.extent > kFew) continue;  // no more coordinates than questions
    for (std::int64_t x = 0; x < d.extent; ++x) d.parts.push_back(part_of(d, x));
  }
  copies_count_ = static_cast<std::int64_t>(copies_.size());
}

PlaceReader::Part PlaceReader::part_of(const Dimension& dimension, std::int64_t x) const {
  Part part;
  for (const Digit& digit : dimension.digits) {
    const std::int64_t times = x / digit.step;
    x -= times * digit.step;
    part.more.index[digit.axis] += times * digit.pitch;
  }
  for (std::size_t bit = static_cast<std::size_t>(dimension.shift); x != 0; ++bit, x >>= 1)
    if (x & 1)
      for (std::size_t a = 0; a < kLayoutAxes; ++a) part.atom.index[a] ^= moves_[bit].index[a];
  return part;
}

PlaceReader::Part PlaceReader::find(std::int64_t element) const {
  Part all;
  for (std::size_t d = dimensions_.size(); d-- > 0;) {
    const Dimension& dimension = dimensions_[d];
    const std::int64_t x = d == 0 ? element : element % dimension.extent;
    element /= dimension.extent;
    const Part part = dimension.parts.empty() ? part_of(dimension, x) : dimension.parts[static_cast<std::size_t>(x)];
    for (std::size_t a = 0; a < kLayoutAxes; ++a) all.atom.index[a] ^= part.atom.index[a], all.more.index[a] += part.more.index[a];
  }
  return all;
}

LayoutPlace PlaceReader::first(std::int64_t element) const {
  if (!nested_) return listed_[begins_[static_cast<std::size_t>(element)]];
  Part part = find(element);
  for (std::size_t a = 0; a < kLayoutAxes; ++a) part.atom.index[a] += part.more.index[a];
  return part.atom;
}

std::vector<std::int64_t> offsets_of(const Layout& memory) {
  const LayoutReader reader(memory);
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(reader.elements()), 0);
  reader.each_place(
      [&](const LayoutPlace& place, std::int64_t element) { offsets[static_cast<std::size_t>(element)] = place[LayoutAxis::Offset]; });
  return offsets;
}

LayoutTable table_of(const Layout& layout) {
  const LayoutReader reader(layout);
  LayoutTable table;
  table.first.resize(static_cast<std::size_t>(reader.elements()));
  table.copies.assign(table.first.size(), 0);
  reader.each_place([&](const LayoutPlace& place, std::int64_t element) {
    const auto e = static_cast<std::size_t>(element);
    if (table.copies[e]++ == 0) table.first[e] = place;  // places come ascending
  });
  return table;
}

std::optional<Coordinates> element_at(const Layout& layout, const LayoutPlace& place) {
  Coordinates at(layout.shape.size(), 0), more(layout.shape.size(), 0);
  for (std::size_t a = 0; a < kLayoutAxes; ++a) {
    std::int64_t index = place.index[a];
    if (index < 0) return std::nullopt;
    for (auto r = layout.repeats.rbegin(); r != layout.repeats.rend(); ++r) {
      if (static_cast<std::size_t>(r->axis) != a) continue;
      const std::int64_t x = index / r->pitch;
      if (x >= r->extent) return std::nullopt;
      index -= x * r->pitch;
      more[r->dimension] += x * r->step;
    }
    if (index >> layout.bases[a].size() != 0) return std::nullopt;
    for (std::size_t bit = 0; index != 0; ++bit, index >>= 1)
      if (index & 1)
        for (std::size_t d = 0; d < at.size(); ++d) at[d] ^= layout.bases[a][bit][d];
  }
  for (std::size_t d = 0; d < at.size(); ++d)
    if (at[d] += more[d]; at[d] >= layout.shape[d]) return std::nullopt;
  return at;
}

std::vector<LayoutPlace> places_of(const Layout& layout, const Coordinates& element) {
  std::int64_t number = 0;
  for (std::size_t d = 0; d < layout.shape.size(); ++d) {
    if (d >= element.size() || element[d] < 0 || element[d] >= layout.shape[d]) return {};
    number = number * layout.shape[d] + element[d];
  }
  std::vector<LayoutPlace> places;
  PlaceReader(layout).each(number, [&](const LayoutPlace& place) { places.push_back(place); });
  std::ranges::sort(places);
  return places;
}

}  // namespace heddle
