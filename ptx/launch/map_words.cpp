// Words are taken one by one; what is left out is filled in last, when extents and box are known.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/suggest.h"
#include "core/base/words.h"
#include "ptx/launch/by_hand.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

constexpr std::uint64_t kMostBoxes = 64, kMostMadeUp = std::uint64_t{1} << 36;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(" \t"); at < text.size(); at = text.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    words.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

/// "64x176x1"
template <class Number>
std::optional<std::vector<Number>> sizes_of(std::string_view text) {
  std::vector<Number> sizes;
  for (const char *at = text.data(), *const end = at + text.size();;) {
    Number size{};
    const auto [stop, error] = std::from_chars(at, end, size);
    if (error != std::errc()) return std::nullopt;
    sizes.push_back(size);
    if (stop == end) return sizes;
    if (*stop != 'x') return std::nullopt;
    at = stop + 1;
  }
}

class MapWords {
 public:
  explicit MapWords(const std::string& text) : words_(words_of(text)) {}

  Result<TensorMap> read() {
    if (words_.size() < 3) {
      fault("a tensor map needs name, box and element type", "\"K 64x176x1x1 bf16 swizzle128\"");
      return Error{ErrorKind::Input, faults_};
    }
    map_.name = words_[0];
    list(words_[1], map_.box, "box");
    element(words_[2]);
    for (at_ = 3; at_ < words_.size(); ++at_) word(words_[at_]);
    if (faults_.empty()) fill_in();
    if (!faults_.empty()) return Error{ErrorKind::Input, faults_};
    return std::move(map_);
  }

 private:
  void fault(std::string sentence, std::string hint = {}) {
    if (!words_.empty()) sentence = fmt::format("{}: {}", words_[0], sentence);
    faults_.push_back({{}, {}, std::move(sentence), std::move(hint), "launch map"});
  }

  template <class Number>
  void list(const std::string& text, std::vector<Number>& sizes, const char* what) {
    if (auto found = sizes_of<Number>(text))
      sizes = std::move(*found);
    else
      fault(fmt::format("expected the {} as sizes like 64x176, found '{}'", what, text));
  }

  void element(const std::string& text) {
    if (const auto found = parse_word(text, MapElement::U6Align16))
      map_.element = *found;
    else
      fault(fmt::format("unknown element type '{}'", text), "known are " + list_of(words_up_to(MapElement::U6Align16)));
  }

  /// "swizzle128": the number behind a word.
  bool number(const std::string& word, std::string_view name, int& value, const std::vector<int>& choices) {
    if (!word.starts_with(name)) return false;
    const auto found = sizes_of<int>(std::string_view(word).substr(name.size()));
    if (found && found->size() == 1 && std::ranges::find(choices, found->front()) != choices.end())
      value = found->front();
    else
      fault(fmt::format("expected {} with one of {}, found '{}'", name, fmt::join(choices, ", "), word));
    return true;
  }

  std::string next() { return at_ + 1 < words_.size() ? words_[++at_] : std::string(); }

  void word(const std::string& word) {
    if (word == "of") return list(next(), map_.extents, "extents");
    if (word == "strides") return list(next(), map_.strides, "strides");
    if (word == "steps") return list(next(), map_.steps, "steps");
    if (word == "im2col") return void(map_.im2col = true);
    if (word == "at") {
      const std::string text = next();
      if (const auto address = read_address(text)) return void(map_.address = *address);
      return fault(fmt::format("expected an address, found '{}'", text));
    }
    if (number(word, "swizzle", map_.swizzle, {0, 32, 64, 128}) || number(word, "atom", map_.swizzle_atom, {16, 32, 64}) ||
        number(word, "interleave", map_.interleave, {0, 16, 32}))
      return;
    fault(fmt::format("unknown word '{}'", word),
          did_you_mean(word, {"of", "strides", "steps", "im2col", "at", "swizzle128", "swizzle64", "swizzle32", "atom32", "interleave32"}));
  }

  void fill_in() {
    if (map_.extents.empty()) make_up_extents();
    if (map_.strides.empty()) map_.strides = dense_strides(map_);
    if (map_.steps.empty()) map_.steps.assign(map_.extents.size(), 1);
  }

  void make_up_extents() {
    std::uint64_t boxes = kMostBoxes;
    do {
      map_.extents.clear();
      for (const std::uint32_t size : map_.box) map_.extents.push_back(boxes * size);
      map_.strides = dense_strides(map_);
      boxes /= 2;
    } while (boxes > 0 && tensor_bytes(map_) > kMostMadeUp);
  }

  std::vector<std::string> words_;
  std::size_t at_ = 0;
  TensorMap map_;
  std::vector<Fault> faults_;
};

}  // namespace

Result<TensorMap> map_by_hand(const std::string& words) { return MapWords(words).read(); }

}  // namespace heddle::ptx
