// Word by word of the target it is found from which words of which lanes its elements come, then how they are put together.
#include "codegen/emit/relayout.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "codegen/emit/formula.h"
#include "core/layout/access.h"

namespace heddle::codegen {
namespace {

/// Where an element of the target comes from, for every thread.
struct Origin {
  std::vector<int> lane, word, place;  ///< place: among the elements of the word
};

std::size_t element_number(const Layout& layout, const Coordinates& element) {
  std::int64_t n = 0;
  for (std::size_t d = 0; d < element.size(); ++d) n = n * layout.shape[d] + element[d];
  return static_cast<std::size_t>(n);
}

LayoutPlace place_of(int thread, int reg) {
  LayoutPlace place;
  place[LayoutAxis::Register] = reg, place[LayoutAxis::Lane] = thread % kWarpLanes, place[LayoutAxis::Warp] = thread / kWarpLanes;
  return place;
}

bool same_for_all(const std::vector<int>& of) {
  return std::all_of(of.begin(), of.end(), [&](int x) { return x == of[0]; });
}

/// A number of every thread as text; nothing where it follows no pattern of bits.
std::optional<std::string> number_text(const std::vector<int>& of) {
  if (same_for_all(of)) return std::to_string(of[0]);
  const int threads = static_cast<int>(of.size());
  const auto moved = BitFormula::of(threads, 1, [&](int t, int) { return of[static_cast<std::size_t>(t)] ^ of[0]; });
  if (!moved || moved->base() != 0) return std::nullopt;
  const std::string text = moved->thread_text();
  return of[0] == 0 ? text : fmt::format("({} ^ {})", text, of[0]);
}

class Relayout {
 public:
  Relayout(const Layout& from, const Layout& to, int bits, const RelayoutArrays& arrays)
      : from_(from),
        to_(to),
        bits_(bits),
        per_(std::max(1, 32 / bits)),
        source_(arrays.source),
        target_(arrays.target),
        word_(arrays.word) {}

  RelayoutText run() {
    if (from_.shape != to_.shape) return refused("the tiles are of different shapes");
    if (same_places(from_, to_)) {
      text_.kind = ConversionClass::Same;
    } else {
      text_.kind = conversion_class(from_, to_, bits_);
    }
    if (text_.kind == ConversionClass::SharedMemory)
      return refused("elements go to other warps, and no way through shared memory is planned for them");
    if (!find_sources()) return std::move(text_);
    const int registers = static_cast<int>(to_.extent(LayoutAxis::Register));
    if (registers % per_ != 0) return refused("a thread's elements make no whole registers");
    for (int w = 0; w < registers / per_; ++w)
      if (!write_word(w)) return std::move(text_);
    write_pairs();
    text_.lines.insert(text_.lines.begin(), shuffles_.begin(), shuffles_.end());
    return std::move(text_);
  }

 private:
  RelayoutText refused(std::string why) {
    text_.lines.clear();
    text_.refusal = std::move(why);
    return std::move(text_);
  }
  bool fail(std::string why) {
    text_.lines.clear();
    text_.refusal = std::move(why);
    return false;
  }

  /// Every place of the source by its element and warp.
  bool find_sources() {
    warps_ = static_cast<int>(std::max(from_.extent(LayoutAxis::Warp), to_.extent(LayoutAxis::Warp)));
    held_.assign(static_cast<std::size_t>(warps_), {});
    const int registers = static_cast<int>(from_.extent(LayoutAxis::Register));
    for (int t = 0; t < warps_ * kWarpLanes; ++t)
      for (int r = 0; r < registers; ++r)
        if (const auto element = element_at(from_, place_of(t, r)))
          held_[static_cast<std::size_t>(t / kWarpLanes)][element_number(from_, *element)].push_back({t % kWarpLanes, r});
    return true;
  }

  /// Of element e of word w of the target; the same lane where it has it, else the one whose number differs least.
  std::optional<Origin> origin_of(int w, int e) {
    Origin origin;
    for (int t = 0; t < warps_ * kWarpLanes; ++t) {
      const auto element = element_at(to_, place_of(t, w * per_ + e));
      if (!element) return std::nullopt;
      const auto& held = held_[static_cast<std::size_t>(t / kWarpLanes)];
      const auto found = held.find(element_number(to_, *element));
      if (found == held.end()) return std::nullopt;
      const auto nearest = std::min_element(found->second.begin(), found->second.end(), [&](const auto& a, const auto& b) {
        return std::pair{a.first ^ (t % kWarpLanes), a.second} < std::pair{b.first ^ (t % kWarpLanes), b.second};
      });
      origin.lane.push_back(nearest->first);
      origin.word.push_back(nearest->second / per_);
      origin.place.push_back(nearest->second % per_);
    }
    return origin;
  }

  /// The source's word `w` as the lanes of `lanes` have it.
  std::optional<std::string> word_of_lanes(const std::vector<int>& lanes, int w) {
    const std::string held = fmt::format("{}[{}]", source_, w), own = word_ == "u32" ? held : "__float_as_uint(" + held + ")";
    bool here = true;
    for (std::size_t t = 0; t < lanes.size(); ++t) here = here && lanes[t] == static_cast<int>(t) % kWarpLanes;
    if (here) return own;
    const auto lane = number_text(lanes);
    if (!lane) return std::nullopt;
    const auto [known, added] = taken_.try_emplace({lanes, w}, fmt::format("lane_word{}", taken_.size()));
    if (added) shuffles_.push_back(fmt::format("const u32 {} = from_lane({}, {});", known->second, own, *lane));
    return known->second;
  }

  /// The word in which an element comes, whichever of the source's words that is in each lane.
  std::optional<std::string> word_text(const Origin& origin) {
    std::vector<int> words;
    for (const int w : origin.word)
      if (std::find(words.begin(), words.end(), w) == words.end()) words.push_back(w);
    std::sort(words.begin(), words.end());
    std::vector<int> which;
    for (const int w : origin.word) which.push_back(static_cast<int>(std::find(words.begin(), words.end(), w) - words.begin()));
    const auto chooser = number_text(which);
    if (!chooser) return std::nullopt;
    std::string text;
    for (std::size_t k = words.size(); k-- > 0;) {
      const auto word = word_of_lanes(origin.lane, words[k]);
      if (!word) return std::nullopt;
      text = text.empty() ? *word : fmt::format("({}) == {} ? {} : {}", *chooser, k, *word, text);
    }
    return words.size() > 1 ? "(" + text + ")" : text;
  }

  bool write_word(int w) {
    const char* none = "elements come from lanes that follow no pattern of bits";
    std::vector<std::string> words, places;
    std::vector<bool> fixed;
    bool whole = true;  // all of one word, as they stand there
    for (int e = 0; e < per_; ++e) {
      const auto origin = origin_of(w, e);
      if (!origin) return fail("elements of the target that no thread of the warp has");
      const auto word = word_text(*origin);
      const auto place = number_text(origin->place);
      if (!word || !place) return fail(none);
      words.push_back(*word);
      places.push_back(*place);
      fixed.push_back(same_for_all(origin->place));
      whole = whole && *word == words[0] && fixed.back() && origin->place[0] == e;
    }
    if (whole) return assign(w, words[0]);
    if (bits_ < 8) return fail("numbers of less than 8 bits change their places within a register");
    if (per_ == 2) return assign(w, pair_text(words[0], places[0], words[1], places[1]));
    // Four bytes: two pairs of them, then those.
    if (std::all_of(fixed.begin(), fixed.end(), [](bool is) { return is; })) {
      const Half low = half_with(words[0], words[1], places[0], places[1]), high = half_with(words[2], words[3], places[2], places[3]);
      return assign(w, fmt::format("bytes_of({}, {}, {})", low.text, high.text,
                                   low.upper ? (high.upper ? "0x7632" : "0x5432") : (high.upper ? "0x7610" : "0x5410")));
    }
    const auto two = [&](int first) {
      const auto i = static_cast<std::size_t>(first);
      return fmt::format("bytes_of({}, {}, {} | ({} + 4) << 4)", words[i], words[i + 1], places[i], places[i + 1]);
    };
    return assign(w, fmt::format("bytes_of({}, {}, 0x5410)", two(0), two(2)));
  }

  /// A word of which one half has two bytes that are wanted.
  struct Half {
    std::string text;
    bool upper = false;
  };
  /// Byte `p` of one word and byte `q` of another. The next two that are wanted of the same words come into the upper half of the same
  /// word: so a block of 4 x 4 bytes is transposed by two instructions for each word, not three.
  Half half_with(const std::string& one, const std::string& other, const std::string& p, const std::string& q) {
    const auto open = std::find_if(pairs_.begin(), pairs_.end(), [&](const Pair& pair) {
      return pair.one == one && pair.other == other && (pair.upper.empty() || (pair.p == p && pair.q == q));
    });
    const std::string selector = fmt::format("{} | ({} + 4) << 4", p, q);
    if (open != pairs_.end()) {
      if (open->p == p && open->q == q) return {open->name, false};
      open->upper = fmt::format(" | {} << 8 | ({} + 4) << 12", p, q);
      return {open->name, true};
    }
    pairs_.push_back({one, other, p, q, selector, {}, fmt::format("pair{}", pairs_.size()), text_.lines.size()});
    text_.lines.emplace_back();  // once its upper half is known
    return {pairs_.back().name, false};
  }
  void write_pairs() {
    for (const Pair& pair : pairs_)
      text_.lines[pair.line] =
          fmt::format("const u32 {} = bytes_of({}, {}, {}{});", pair.name, pair.one, pair.other, pair.lower, pair.upper);
  }

  /// Two halves, each of another word.
  static std::string pair_text(const std::string& low, const std::string& low_at, const std::string& high, const std::string& high_at) {
    // Half h of the first word are bytes 2 h and 2 h + 1, of the second 4 more.
    return fmt::format("bytes_of({}, {}, 0x5410 + ({}) * 0x22 + ({}) * 0x2200)", low, high, low_at, high_at);
  }

  bool assign(int w, const std::string& bits) {
    text_.lines.push_back(fmt::format("{}[{}] = {};", target_, w, word_ == "u32" ? bits : "__uint_as_float(" + bits + ")"));
    return true;
  }

  struct Pair {
    std::string one, other, p, q, lower, upper, name;
    std::size_t line = 0;
  };

  const Layout &from_, &to_;
  int bits_, per_, warps_ = 1;
  std::string_view source_, target_, word_;
  RelayoutText text_;
  std::vector<std::map<std::size_t, std::vector<std::pair<int, int>>>> held_;  ///< per warp and element: lane, register
  std::map<std::pair<std::vector<int>, int>, std::string> taken_;
  std::vector<std::string> shuffles_;
  std::vector<Pair> pairs_;
};

}  // namespace

RelayoutText relayout_text(const Layout& from, const Layout& to, int bits, const RelayoutArrays& arrays) {
  return Relayout(from, to, bits, arrays).run();
}

}  // namespace heddle::codegen
