// A size is a value: words of the parameter block and extents of tensor maps that have it are its places. All places are found before
// anything changes, so that sizes that become each other's old values do not meet.
#include "ptx/launch/sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "ptx/launch/launch_rules.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

constexpr std::uint64_t kLargestSize = 0xffffffff;

Fault size_fault(std::string sentence, std::string hint = {}) { return {{}, {}, std::move(sentence), std::move(hint), "launch size"}; }

/// An extent of a map, or four bytes of the block: words of 64 bits hold sizes too, with nothing in their upper half.
struct SizePlace {
  std::string name;  ///< "A.0", "K", "16"
  bool extent = false;
  std::size_t map = 0, dimension = 0;
  std::uint64_t at = 0;
};

std::uint64_t word_at(const Launch& launch, std::uint64_t at, std::uint64_t bytes) {
  if (at > launch.parameters.size() || launch.parameters.size() - at < bytes) return 0;
  return number_of(std::span(launch.parameters).subspan(at, bytes));
}

class SizeFinder {
 public:
  explicit SizeFinder(const Launch& launch) : launch_(launch) {
    for (std::size_t m = 0; m < launch.maps.size(); ++m)
      for (std::size_t d = 0; d < launch.maps[m].map.extents.size(); ++d)
        places_.push_back({fmt::format("{}.{}", name_of(m), d), true, m, d, 0});
    for (std::uint64_t at = 0; at + 4 <= launch.parameters.size(); at += 4)
      if (!in_map(at) && !in_pointer(at)) places_.push_back({word_name(at), false, 0, 0, at});
  }

  const std::vector<SizePlace>& places() const { return places_; }
  std::uint64_t value(const SizePlace& place) const {
    return place.extent ? launch_.maps[place.map].map.extents[place.dimension] : word_at(launch_, place.at, 4);
  }
  const NamedParameter* named(const std::string& name) const {
    const auto word = std::ranges::find(launch_.names, name, &NamedParameter::name);
    return word != launch_.names.end() ? &*word : nullptr;
  }
  const NamedParameter* named_at(std::uint64_t at) const {
    const auto word = std::ranges::find(launch_.names, at, &NamedParameter::at);
    return word != launch_.names.end() ? &*word : nullptr;
  }
  std::vector<std::string> known() const {
    std::vector<std::string> names;
    for (const SizePlace& place : places_)
      if (place.extent || named_at(place.at)) names.push_back(place.name);
    return names;
  }

 private:
  std::string name_of(std::size_t m) const {
    const std::string& name = launch_.maps[m].map.name;
    return name.empty() ? fmt::format("map{}", m) : name;
  }
  std::string word_name(std::uint64_t at) const {
    const NamedParameter* word = named_at(at);
    return word ? word->name : fmt::format("{}", at);
  }
  bool in_map(std::uint64_t at) const {
    return std::ranges::any_of(
        launch_.maps, [&](const PlacedMap& placed) { return placed.in_parameters && at + 4 > placed.at && at < placed.at + kMapBytes; });
  }
  /// Half of an address that the launch knows.
  bool in_pointer(std::uint64_t at) const {
    const std::uint64_t value = word_at(launch_, at / 8 * 8, 8);
    if (value <= kLargestSize) return false;
    const auto within = [&](std::uint64_t begin, std::uint64_t bytes) { return value >= begin && value - begin <= bytes; };
    return std::ranges::any_of(launch_.buffers, [&](const GlobalBuffer& b) { return within(b.address, b.bytes); }) ||
           std::ranges::any_of(launch_.maps, [&](const PlacedMap& m) { return within(m.map.address, tensor_bytes(m.map)); });
  }

  const Launch& launch_;
  std::vector<SizePlace> places_;
};

class Resizing {
 public:
  explicit Resizing(const Launch& launch) : old_(launch), finder_(old_) { out_.launch = launch; }

  Result<ResizedLaunch> made(const std::vector<SizeWish>& wishes) {
    for (const SizeWish& wish : wishes) apply(wish);
    if (faults_.empty()) follow();
    if (faults_.empty())
      for (const Fault& found : faults_of(out_.launch)) faults_.push_back(size_fault(found.pointer + ": " + found.message));
    if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};
    out_.told.push_back(fmt::format("the grid stays {} x {} x {}", old_.grid[0], old_.grid[1], old_.grid[2]));
    return std::move(out_);
  }

 private:
  std::optional<std::uint64_t> old_value(const SizeWish& wish) {
    if (const auto number = read_number<std::uint64_t>(wish.size)) return number;
    const auto place = std::ranges::find(finder_.places(), wish.size, &SizePlace::name);
    if (place != finder_.places().end()) return finder_.value(*place);
    faults_.push_back(size_fault(fmt::format("nothing is called '{}'", wish.size), did_you_mean(wish.size, finder_.known()).empty()
                                                                                       ? "known are " + list_of(finder_.known())
                                                                                       : did_you_mean(wish.size, finder_.known())));
    return std::nullopt;
  }

  bool meant(const SizeWish& wish, const SizePlace& place) const {
    if (place.name == wish.size) return true;
    if (!wish.only.empty()) return std::ranges::find(wish.only, place.name) != wish.only.end();
    // A word that has a name of its own is another size, where one is asked for by its name.
    return place.extent || !finder_.named(wish.size) || !finder_.named_at(place.at);
  }

  void apply(const SizeWish& wish) {
    const auto value = old_value(wish);
    if (!value) return;
    if (wish.value < 1 || wish.value > kLargestSize)
      return faults_.push_back(size_fault(fmt::format("'{}': a size is 1 to {}", size_text(wish), kLargestSize)));
    std::vector<const SizePlace*> places;
    std::vector<std::string> others;
    for (const SizePlace& place : finder_.places()) {
      if (finder_.value(place) != *value) continue;
      if (meant(wish, place))
        places.push_back(&place);
      else
        others.push_back(place.name);
    }
    if (places.empty()) return faults_.push_back(size_fault(fmt::format("nothing is {}", *value), "known are " + list_of(finder_.known())));
    if (!all_found(wish, *value) || ambiguous(wish, *value, places)) return;
    std::vector<std::string> names;
    for (const SizePlace* place : places) {
      set(*place, wish.value);
      names.push_back(place->name);
    }
    out_.told.push_back(fmt::format("{}: {} at {} becomes {}", wish.size, *value, fmt::join(names, ", "), wish.value));
    if (!others.empty()) out_.told.push_back(fmt::format("{} at {} stays", *value, fmt::join(others, ", ")));
    tell_relatives(wish, *value, places);
  }

  bool all_found(const SizeWish& wish, std::uint64_t value) {
    bool all = true;
    for (const std::string& name : wish.only) {
      const auto place = std::ranges::find(finder_.places(), name, &SizePlace::name);
      if (place != finder_.places().end() && finder_.value(*place) == value) continue;
      all = false;
      faults_.push_back(size_fault(place == finder_.places().end()
                                       ? fmt::format("nothing is called '{}'", name)
                                       : fmt::format("{} is {}, and not {} as {}", name, finder_.value(*place), value, wish.size)));
    }
    return all;
  }

  /// Two parameters have one value: whose is an extent?
  bool ambiguous(const SizeWish& wish, std::uint64_t value, const std::vector<const SizePlace*>& places) {
    if (!wish.only.empty() || !finder_.named(wish.size)) return false;
    std::vector<std::string> names, extents;
    for (const NamedParameter& word : old_.names)
      if (const auto type = parameter_type(word.type); type && type->integer() && word_at(old_, word.at, type->bytes) == value)
        names.push_back(word.name);
    for (const SizePlace* place : places)
      if (place->extent) extents.push_back(place->name);
    if (names.size() < 2 || extents.empty()) return false;
    faults_.push_back(
        size_fault(fmt::format("{} are all {}: which of the extents {} are {}?", list_of(names), value, list_of(extents), wish.size),
                   fmt::format("say it: {}={}:{}", wish.size, wish.value, extents.front())));
    return true;
  }

  void set(const SizePlace& place, std::uint64_t value) {
    if (place.extent) {
      out_.launch.maps[place.map].map.extents[place.dimension] = value;
    } else {
      const std::vector<std::uint8_t> bytes = bytes_of(value, 4);
      std::ranges::copy(bytes, out_.launch.parameters.begin() + static_cast<std::ptrdiff_t>(place.at));
    }
  }

  /// Numbers that a host may have computed from the size: they are named and left alone.
  void tell_relatives(const SizeWish& wish, std::uint64_t value, const std::vector<const SizePlace*>& places) {
    std::vector<std::pair<std::uint64_t, std::string>> related;
    for (const std::uint64_t factor : {2, 4, 8}) related.push_back({value * factor, fmt::format("{} times {}", factor, wish.size)});
    for (const SizePlace* place : places)
      if (place->extent)
        if (const std::uint64_t box = old_.maps[place->map].map.box.at(place->dimension); box > 1 && value > box)
          related.push_back({(value + box - 1) / box, fmt::format("{} in tiles of {}", wish.size, box)});
    std::vector<std::string> lines;
    const auto tell = [&](std::string line) {
      if (std::ranges::find(lines, line) == lines.end()) lines.push_back(std::move(line));
    };
    for (const auto& [number, what] : related) {
      for (const SizePlace& place : finder_.places())
        if (!place.extent && number > 1 && finder_.value(place) == number)
          tell(fmt::format("{} at {} may be {}: it stays", number, place.name, what));
      for (std::size_t d = 0; d < 3; ++d)
        if (number > 1 && old_.grid[d] == number) tell(fmt::format("the grid's {} along {} may be {}: it stays", number, "xyz"[d], what));
    }
    out_.told.insert(out_.told.end(), lines.begin(), lines.end());
  }

  /// Strides and memory of tensors whose extents changed.
  void follow() {
    for (std::size_t m = 0; m < old_.maps.size(); ++m) {
      const TensorMap& before = old_.maps[m].map;
      TensorMap& now = out_.launch.maps[m].map;
      if (now.extents == before.extents) continue;
      if (before.strides == dense_strides(before)) now.strides = dense_strides(now);
      for (std::size_t b = 0; b < old_.buffers.size(); ++b)
        if (old_.buffers[b].address == before.address && old_.buffers[b].bytes == tensor_bytes(before)) grow(b, tensor_bytes(now));
    }
  }

  void grow(std::size_t index, std::uint64_t bytes) {
    GlobalBuffer& buffer = out_.launch.buffers[index];
    buffer.bytes = std::max(bytes, buffer.contents.empty() ? 0 : buffer.contents.size());
    for (std::size_t b = 0; b < old_.buffers.size(); ++b)
      if (b != index && old_.buffers[b].address > buffer.address && old_.buffers[b].address - buffer.address < buffer.bytes &&
          old_.buffers[b].address - buffer.address >= old_.buffers[index].bytes)
        faults_.push_back(size_fault(fmt::format("{} bytes from {} on would reach other memory, at {}", buffer.bytes,
                                                 address_text(buffer.address), address_text(old_.buffers[b].address))));
  }

  const Launch& old_;
  SizeFinder finder_;
  ResizedLaunch out_;
  std::vector<Fault> faults_;
};

/// By which extents the tensors that are loaded and stored share.
class SizeGuess {
 public:
  SizeGuess(const Launch& launch, const std::vector<MapUse>& uses, std::vector<std::string>* why_not)
      : launch_(launch), uses_(uses), why_not_(why_not) {}

  SizesSeen seen() {
    SizesSeen seen;
    const auto loop = best([&](std::uint64_t extent) { return !stored(extent); });
    if (!loop) {
      if (why_not_) why_not_->push_back("no extent is only of tensors that are loaded in a ring: the loop's size is not known");
      return seen;
    }
    const TensorMap& map = launch_.maps[loop->use->map].map;
    seen.loop = fmt::format("{}", map.extents[loop->dimension]);
    seen.trip = map.box[loop->dimension];
    for (const MapUse& use : uses_) seen.stages = std::max(seen.stages, use.slots);
    const auto trips = static_cast<std::int64_t>((map.extents[loop->dimension] + seen.trip - 1) / seen.trip);
    const std::int64_t boxes = std::max<std::int64_t>(trips * std::max<std::int64_t>(loop->use->boxes_of_slot, 1), 1);
    seen.tiles_of_cta = static_cast<std::uint64_t>(std::max<std::int64_t>((loop->use->copies + boxes - 1) / boxes, 1));
    if (const auto tile = best([&](std::uint64_t extent) { return stored(extent); })) {
      const TensorMap& tiled = launch_.maps[tile->use->map].map;
      seen.tile_size = fmt::format("{}", tiled.extents[tile->dimension]), seen.tile = tiled.box[tile->dimension];
    }
    return seen;
  }

 private:
  struct SharedExtent {
    const MapUse* use = nullptr;
    std::size_t dimension = 0;
    std::size_t tensors = 0;  ///< of the loaded ones, how many have it
  };

  bool has(const MapUse& use, std::uint64_t extent) const {
    const std::vector<std::uint64_t>& extents = launch_.maps[use.map].map.extents;
    return std::ranges::find(extents, extent) != extents.end();
  }
  bool stored(std::uint64_t extent) const {
    return std::ranges::any_of(uses_, [&](const MapUse& use) { return use.stored && has(use, extent); });
  }

  /// Of extents in more than one box of a tensor that is loaded, the one that most of them have; outer dimensions first, for theirs may be
  /// any number.
  template <class Wanted>
  std::optional<SharedExtent> best(const Wanted& wanted) const {
    std::optional<SharedExtent> best;
    for (const MapUse& use : uses_) {
      if (use.stored || use.slots < 1) continue;
      const TensorMap& map = launch_.maps[use.map].map;
      for (std::size_t d = map.extents.size(); d-- > 0;) {
        if (map.extents[d] <= map.box[d] || map.box[d] < 2 || !wanted(map.extents[d])) continue;
        const auto sharing = static_cast<std::size_t>(
            std::ranges::count_if(uses_, [&](const MapUse& other) { return !other.stored && has(other, map.extents[d]); }));
        if (!best || sharing > best->tensors) best = SharedExtent{&use, d, sharing};
      }
    }
    return best;
  }

  const Launch& launch_;
  const std::vector<MapUse>& uses_;
  std::vector<std::string>* why_not_;
};

/// What proposed_sizes() gathers.
class Proposals {
 public:
  Proposals(const Launch& launch, std::vector<std::string>* left_out) : launch_(launch), left_out_(left_out) {}

  void add(const char* why, std::vector<SizeWish> wishes) {
    const Result<ResizedLaunch> made = resized(launch_, wishes);
    if (made)
      add(why, std::move(wishes), made->launch, made->told);
    else if (left_out_)
      left_out_->push_back(fmt::format("{}: {}", why, made.error().faults.front().message));
  }
  void add(const char* why, std::vector<SizeWish> wishes, const Launch& launch, std::vector<std::string> told) {
    const auto same = [&](const SizedLaunch& other) { return other.launch == launch; };
    if (launch == launch_ || std::ranges::any_of(all_, same)) return;
    all_.push_back({why, std::move(wishes), launch, std::move(told)});
  }
  std::vector<SizedLaunch> all() { return std::move(all_); }

 private:
  const Launch& launch_;
  std::vector<std::string>* left_out_;
  std::vector<SizedLaunch> all_;
};

}  // namespace

SizesSeen sizes_seen(const Launch& launch, const std::vector<MapUse>& uses, std::vector<std::string>* why_not) {
  return SizeGuess(launch, uses, why_not).seen();
}

Result<SizeWish> read_size(const std::string& text) {
  SizeWish wish;
  const std::size_t mark = text.find('=');
  const std::size_t colon = mark == std::string::npos ? mark : text.find(':', mark);
  const auto value = read_number<std::uint64_t>(
      mark == std::string::npos ? std::string_view()
                                : std::string_view(text).substr(mark + 1, colon == std::string::npos ? colon : colon - mark - 1));
  if (mark == 0 || !value) return Error{ErrorKind::Input, {size_fault(fmt::format("expected NAME=SIZE, found '{}'", text), "K=320")}};
  wish.size = text.substr(0, mark), wish.value = *value;
  for (std::size_t at = colon; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    wish.only.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return wish;
}

std::string size_text(const SizeWish& wish) {
  return fmt::format("{}={}{}{}", wish.size, wish.value, wish.only.empty() ? "" : ":", fmt::join(wish.only, ","));
}

Result<ResizedLaunch> resized(const Launch& launch, const std::vector<SizeWish>& wishes) { return Resizing(launch).made(wishes); }

std::vector<SizedLaunch> proposed_sizes(const Launch& launch, const SizesSeen& seen, std::vector<std::string>* left_out) {
  Proposals proposals(launch, left_out);
  const auto trips = [&](std::uint64_t number) { return std::vector<SizeWish>{{seen.loop, number * seen.trip, {}}}; };
  const auto stages = static_cast<std::uint64_t>(std::max(seen.stages, 1));
  if (!seen.loop.empty() && seen.trip > 0) {
    proposals.add("one trip", trips(1));
    if (stages > 2) proposals.add("fewer trips than stages", trips(stages - 1));
    if (stages > 1) proposals.add("no multiple of the stages", trips(2 * stages + 1));
  }
  if (seen.tiles_of_cta == 2) {  // fewer CTAs work through more
    Launch fewer = launch;
    fewer.grid[0] = std::max(1u, (launch.grid[0] / launch.cluster[0] * 2 + 2) / 3) * launch.cluster[0];
    proposals.add("three tiles", {}, fewer, {fmt::format("the grid becomes {} along x", fewer.grid[0])});
  }
  if (!seen.tile_size.empty() && seen.tile > 1) {
    const SizeFinder finder(launch);
    const auto place = std::ranges::find(finder.places(), seen.tile_size, &SizePlace::name);
    const std::uint64_t size =
        place != finder.places().end() ? finder.value(*place) : read_number<std::uint64_t>(seen.tile_size).value_or(0);
    if (size > 0)
      proposals.add("last tile short",
                    {{seen.tile_size, (size - 1) / seen.tile * seen.tile + std::max<std::uint64_t>(seen.tile / 2, 1), {}}});
  }
  return proposals.all();
}

}  // namespace heddle::ptx
