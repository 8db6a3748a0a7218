// From one layout to another: where memory keeps what registers hold, and how registers become other registers.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/layout/layout.h"
#include "core/layout/reader.h"

namespace heddle {
namespace {

constexpr std::array<LayoutAxis, 3> kThreadAxes{LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp};

/// Offset of what a place holds.
class OffsetReader {
 public:
  OffsetReader(const Layout& registers, const Layout& memory) : registers_(registers), memory_(memory) {}
  std::int64_t at(const LayoutPlace& place) const {
    const std::int64_t element = registers_.element(place);
    return element < 0 ? -1 : memory_.first(element)[LayoutAxis::Offset];
  }
  const LayoutReader& registers() const { return registers_; }
  std::int64_t of_element(std::int64_t element) const { return memory_.first(element)[LayoutAxis::Offset]; }

 private:
  LayoutReader registers_;
  PlaceReader memory_;
};

/// Moves of single bits and single copies; the lowest `linear` bits of each axis are bases, the others are repeats of two.
Layout guess(const Layout& registers, const Layout& memory, const OffsetReader& offsets, std::int64_t within) {
  Layout result;
  result.shape = {memory.extent(LayoutAxis::Offset)};
  const std::int64_t origin = offsets.at({});
  for (const LayoutAxis axis : kThreadAxes) {
    bool linear = true;
    for (std::size_t bit = 0; bit < registers.of(axis).size(); ++bit) {
      LayoutPlace place;
      place[axis] = std::int64_t{1} << bit;
      const std::int64_t move = offsets.at(place) - origin;
      linear = linear && move < within;
      if (linear)
        result.of(axis).push_back({move});
      else
        result.repeats.push_back({axis, 2, std::int64_t{1} << bit, 0, move});
    }
    for (const LayoutRepeat& r : registers.repeats) {
      if (r.axis != axis || r.extent == 1) continue;
      LayoutPlace place;
      place[axis] = r.pitch;
      result.repeats.push_back({axis, r.extent, r.pitch, 0, offsets.at(place) - origin});
    }
  }
  return result;
}

bool agrees(const Layout& guess, const OffsetReader& offsets) {
  for (const LayoutRepeat& r : guess.repeats)
    if (r.step < 0) return false;
  const LayoutReader reader(guess);
  bool same = true;
  offsets.registers().each_place(
      [&](const LayoutPlace& place, std::int64_t element) { same = same && reader.element(place) == offsets.of_element(element); });
  return same;
}

/// Another register of the same lane at the same byte of a 32-bit register; the whole word together.
bool renames(const Layout& to, const LayoutReader& from_at, const PlaceReader& from, const LayoutReader& to_at, int bits) {
  const std::int64_t per = std::max(1, 32 / std::max(bits, 1));
  bool same = true;
  const std::int64_t registers = to.extent(LayoutAxis::Register);
  to_at.each_place([&](const LayoutPlace& place, std::int64_t element) {
    if (!same || place[LayoutAxis::Register] % per != 0) return;
    bool found = false;
    from.each(element, [&](const LayoutPlace& source) {
      if (found || source[LayoutAxis::Lane] != place[LayoutAxis::Lane] || source[LayoutAxis::Warp] != place[LayoutAxis::Warp] ||
          source[LayoutAxis::Register] % per != 0)
        return;
      found = true;
      for (std::int64_t i = 1; i < per && place[LayoutAxis::Register] + i < registers; ++i) {
        LayoutPlace a = place, b = source;
        a[LayoutAxis::Register] += i, b[LayoutAxis::Register] += i;
        const std::int64_t wanted = to_at.element(a);
        found = found && (wanted < 0 || wanted == from_at.element(b));
      }
    });
    same = found;
  });
  return same;
}

}  // namespace

const char* to_string(ConversionClass kind) {
  switch (kind) {
    case ConversionClass::Same: return "same";
    case ConversionClass::Rename: return "rename";
    case ConversionClass::BytePermute: return "byte permute";
    case ConversionClass::Shuffle: return "shuffle";
    case ConversionClass::SharedMemory: return "shared memory";
  }
  return "?";
}

std::optional<Layout> addresses(const Layout& registers, const Layout& memory) {
  if (registers.shape != memory.shape || registers.in_memory() || !(memory.in_memory() || memory.elements() == 1)) return std::nullopt;
  const Layout one = canonical(registers), other = canonical(memory);
  const OffsetReader offsets(one, other);
  if (offsets.at({}) != 0) return std::nullopt;  // an atom's first place has the first element
  // Exclusive or everywhere; where memory is padded, only inside its atom, else sums.
  for (const std::int64_t within :
       {other.extent(LayoutAxis::Offset), std::int64_t{1} << other.of(LayoutAxis::Offset).size(), std::int64_t{0}}) {
    Layout result = guess(one, other, offsets, within);
    if (agrees(result, offsets)) return canonical(result);
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint64_t>> conversion(const Layout& outer, const Layout& inner) {
  const Layout from = canonical(outer), to = canonical(inner);
  if (from.shape != to.shape || !from.repeats.empty() || !to.repeats.empty()) return std::nullopt;
  const LayoutReader elements(from);
  const PlaceReader places(to);
  std::vector<std::uint64_t> rows;
  for (std::size_t a = 0; a < kLayoutAxes; ++a)
    for (std::size_t bit = 0; bit < from.bases[a].size(); ++bit) {
      LayoutPlace place;
      place.index[a] = std::int64_t{1} << bit;
      const LayoutPlace at = places.first(elements.element(place));
      std::uint64_t row = 0;
      std::size_t shift = 0;
      for (std::size_t b = 0; b < kLayoutAxes; ++b) {
        row |= static_cast<std::uint64_t>(at.index[b]) << shift;
        shift += to.bases[b].size();
      }
      rows.push_back(row);
    }
  return rows;
}

std::int64_t shuffles_of(const Layout& from, const Layout& to, int bits) {
  const LayoutReader wanted(to);
  const PlaceReader sources(from);
  const std::int64_t per = std::max(1, 32 / std::max(bits, 1)), lanes = to.extent(LayoutAxis::Lane),
                     threads = lanes * to.extent(LayoutAxis::Warp);
  // All lanes together: from which lane, and of those that want another word of it the rest discards it.
  std::set<std::pair<std::vector<std::int64_t>, std::int64_t>> taken;
  for (std::int64_t r = 0; r < to.extent(LayoutAxis::Register); ++r) {
    std::vector<std::int64_t> lane_of;
    std::set<std::int64_t> words;
    bool own = true;
    for (std::int64_t t = 0; t < threads; ++t) {
      LayoutPlace place;
      place[LayoutAxis::Register] = r, place[LayoutAxis::Lane] = t % lanes, place[LayoutAxis::Warp] = t / lanes;
      const std::int64_t element = wanted.element(place);
      if (element < 0) continue;
      std::optional<std::pair<std::int64_t, std::int64_t>> nearest;  // how other the lane's number is, then the register
      sources.each(element, [&](const LayoutPlace& source) {
        if (source[LayoutAxis::Warp] != place[LayoutAxis::Warp]) return;
        const std::pair candidate{source[LayoutAxis::Lane] ^ place[LayoutAxis::Lane], source[LayoutAxis::Register]};
        if (!nearest || candidate < *nearest) nearest = candidate;
      });
      if (!nearest) continue;
      lane_of.push_back(nearest->first);
      words.insert(nearest->second / per);
      own = own && nearest->first == 0;
    }
    for (const std::int64_t word : words)
      if (!own) taken.emplace(lane_of, word);
  }
  return static_cast<std::int64_t>(taken.size());
}

ConversionClass conversion_class(const Layout& from, const Layout& to, int bits) {
  if (same_places(from, to)) return ConversionClass::Same;
  const LayoutReader from_at(from), to_at(to);
  const PlaceReader sources(from);
  bool lanes = true, warps = true;
  to_at.each_place([&](const LayoutPlace& place, std::int64_t element) {
    if (!warps) return;
    bool lane = false, warp = false;
    sources.each(element, [&](const LayoutPlace& source) {
      const bool same = source[LayoutAxis::Warp] == place[LayoutAxis::Warp];
      warp = warp || same;
      lane = lane || (same && source[LayoutAxis::Lane] == place[LayoutAxis::Lane]);
    });
    lanes = lanes && lane;
    warps = warps && warp;
  });
  if (!warps) return ConversionClass::SharedMemory;
  if (!lanes) return ConversionClass::Shuffle;
  return bits >= 32 || renames(to, from_at, sources, to_at, bits) ? ConversionClass::Rename : ConversionClass::BytePermute;
}

}  // namespace heddle
