// A small reader that keeps positions, which core/base/json does not.
#include "core/formats/machine_numbers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/base/scanner.h"
#include "core/machine/latency_spread.h"

namespace heddle {
namespace {

constexpr std::string_view kBlanks = " \t\n\v\f\r";
constexpr int kDeepest = 16;  // machine files are four levels deep

/// Members whose text may be a formula.
constexpr std::array<std::string_view, 15> kFormulas{"latency", "window",  "warps",  "duration",      "offset",
                                                     "amount",  "in_sum",  "cycles", "sustained_mhz", "issue",
                                                     "alone",   "exposed", "reads",  "specials",      "instructions"};

/// Members whose text is no number, whatever it says. Any other text is one that a formula, or a fault, stands in the place of.
constexpr std::array<std::string_view, 10> kWords{"schema", "name", "arch", "about", "source", "kind", "role", "unit", "number", "ptx"};

/// Of a row of the catalogue these are costs; its other numbers say which instruction it is.
constexpr std::array<std::string_view, 4> kOfRows{"cycles", "issue", "latency", "lanes_per_phase"};

/// What stands around a number: an object of the file.
struct Around {
  std::string key;   ///< that it is the value of; of an element of a list: the list's
  std::string name;  ///< its name, kind, unit or number
  std::string source, about;
  int parent = -1;
};

struct Found {
  MachineNumber number;
  std::string key;
  int around = -1;
};

class NumberReader {
 public:
  explicit NumberReader(std::string_view text) : in_(text, kBlanks) {}

  std::vector<MachineNumber> run() {
    value("", -1, 0);
    std::vector<MachineNumber> numbers;
    for (Found& found : found_) numbers.push_back(finished(std::move(found)));
    return numbers;
  }

 private:
  /// Escapes are left as they are but for the usual two: these texts are read by people.
  std::optional<std::string> string() { return in_.peek() == '"' ? in_.unquoted() : std::nullopt; }

  /// False: this is no JSON any more.
  bool value(const std::string& key, int around, int depth) {
    if (in_.done() || depth > kDeepest) return false;
    const char c = in_.here();
    if (c == '{') return object(key, around, depth);
    if (c == '[') return list(key, around, depth);
    const std::size_t begin = in_.at();
    if (c == '"') {
      std::optional<std::string> said = string();
      if (!said) return false;
      if (around >= 0) note(key, *said, around);
      if (std::find(kWords.begin(), kWords.end(), key) == kWords.end()) add(key, std::move(*said), around, begin);
      return true;
    }
    const std::string_view word = in_.run([](char d) { return (in_name(d) && d != '_') || d == '-' || d == '+' || d == '.'; });
    if (word.empty()) return false;
    if (c == '-' || is_digit(c)) add(key, std::string(word), around, begin);
    return true;
  }

  bool object(const std::string& key, int around, int depth) {
    in_.take('{');
    const int me = static_cast<int>(arounds_.size());
    arounds_.push_back({key, "", "", "", around});
    if (in_.take('}')) return true;
    do {
      const std::optional<std::string> member = string();
      if (!member || !in_.take(':') || !value(*member, me, depth + 1)) return false;
    } while (in_.take(','));
    return in_.take('}');
  }

  bool list(const std::string& key, int around, int depth) {
    in_.take('[');
    if (in_.take(']')) return true;
    do {
      if (!value(key, around, depth + 1)) return false;
    } while (in_.take(','));
    return in_.take(']');
  }

  void note(const std::string& key, const std::string& said, int around) {
    Around& object = arounds_[static_cast<std::size_t>(around)];
    if (key == "source") object.source = said;
    if (key == "about") object.about = said;
    if (key == "name" || key == "unit" || key == "number" || (key == "kind" && object.name.empty())) object.name = said;
  }

  bool in_catalogue(int around) const {
    for (; around >= 0; around = arounds_[static_cast<std::size_t>(around)].parent)
      if (arounds_[static_cast<std::size_t>(around)].key == "instructions") return true;
    return false;
  }

  void add(const std::string& key, std::string said, int around, std::size_t begin) {
    if (std::find(kOfRows.begin(), kOfRows.end(), key) == kOfRows.end() && in_catalogue(around)) return;
    Found found;
    found.key = key;
    found.around = around;
    found.number.value = std::move(said);
    found.number.begin = begin;
    found.number.end = in_.at();
    found.number.expression = std::find(kFormulas.begin(), kFormulas.end(), key) != kFormulas.end();
    found_.push_back(std::move(found));
  }

  /// What is said of this number alone, where the source goes number by number ("turn: 30 to 50 cycles ..."); else all of it.
  static std::string clause(const std::string& source, const std::string& key) {
    for (const std::string& word : {key, key.substr(0, key.find('_'))}) {
      const std::string mark = word + ": ";
      std::size_t at = source.starts_with(mark) ? 0 : source.find(". " + mark);
      if (at == std::string::npos) continue;
      at = source.find(mark, at) + mark.size();
      const std::size_t end = source.find(". ", at);
      return source.substr(at, end == std::string::npos ? end : end - at);
    }
    return source;
  }

  static std::string standing_of(const std::string& source) {
    for (const char* word : {"published", "derived", "measured", "fitted", "assumption"})
      if (source.starts_with(word)) return word;
    return {};
  }

  /// Of a number in "contention", of an op in "warp".
  static std::string unit_beside(const std::string& key) {
    if (key == "in_flight") return "mmas";
    if (key == "hidden" || key == "first_loads") return "%";
    for (const char* cycles : {"product_done", "turn", "fence", "register_fence", "issue_step"})
      if (key == cycles) return "cycles";
    for (const char* count : {"reads", "specials", "issue"})
      if (key == count) return "1/1000";
    return "cycles/1000";
  }

  static std::string unit_of(const std::string& key, const std::string& part) {
    const auto ends = [&](const char* with) { return key.ends_with(with); };
    if (ends("_mhz")) return "MHz";
    if (ends("_bytes")) return "bytes";
    if (ends("_ns")) return "ns";
    if (ends("_gbs")) return "GB/s";
    if (ends("_w")) return "W";
    if (ends("_percent")) return "%";
    if (key == "tflops") return "TFLOP/s";
    if (ends("_columns")) return "columns";
    if (ends("warps") || key == "warps_per_cta") return "warps";
    if (part == "streams" || part == "handoff") return "cycles";
    for (const char* cycles : {"latency", "window", "duration", "offset", "in_sum", "cycles", "issue"})
      if (key == cycles) return "cycles";
    return {};
  }

  /// The key of the object inside `outer` that holds `inner`, or is it.
  std::string child_of(int outer, int inner) const {
    while (inner > outer && arounds_[static_cast<std::size_t>(inner)].parent != outer)
      inner = arounds_[static_cast<std::size_t>(inner)].parent;
    return arounds_[static_cast<std::size_t>(inner)].key;
  }

  MachineNumber finished(Found found) const {
    MachineNumber out = std::move(found.number);
    const auto object = [&](int i) -> const Around& { return arounds_[static_cast<std::size_t>(i)]; };
    // The objects around it, from the inside; the outermost is the machine.
    int top = found.around;
    std::string inner;
    while (top > 0 && object(top).parent > 0) {
      inner = (object(top).name.empty() ? object(top).key : object(top).name) + (inner.empty() ? "" : " " + inner);
      top = object(top).parent;
    }
    out.part = top <= 0 ? "machine" : object(top).name.empty() ? object(top).key : object(top).name;
    out.name = (inner.empty() ? "" : inner + " ") + found.key;
    if (top > 0 && object(top).key == "fitted") out.name = "range, " + found.key;
    for (int i = found.around; i >= 0 && out.source.empty(); i = object(i).parent) {
      const std::string& said = object(i).source.empty() && i == 0 ? object(i).about : object(i).source;
      if (!said.empty()) out.source = clause(said, found.key);
    }
    out.standing = standing_of(out.source);
    const std::string full = out.part + "." + found.key;
    for (const Around& other : arounds_)
      if (other.key == "fitted" && other.name == full) out.standing = "fitted";
    out.unit = unit_of(found.key, top > 0 ? object(top).key : "");
    if (top > 0 && object(top).key == "contention") out.unit = unit_beside(child_of(top, found.around));
    if (found.around > 0 && object(found.around).key == "warp") out.unit = unit_beside(found.key);
    return out;
  }

  Scanner in_;
  std::vector<Around> arounds_;
  std::vector<Found> found_;
};

bool is_decimal(std::string_view value) { return !value.starts_with('.') && !value.ends_with('.') && parse_decimal(value, 6); }

bool is_integer(std::string_view value) { return read_number<long long>(value) && !(value.size() > 1 && value.front() == '0'); }

}  // namespace

std::vector<MachineNumber> machine_numbers(std::string_view text) { return NumberReader(text).run(); }

std::string with_number(std::string_view text, const MachineNumber& number, std::string_view value) {
  value = trimmed(value, kBlanks);
  std::string token(value);
  if (!is_integer(value) && !(number.name.ends_with("share") && is_decimal(value))) {
    token = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') token += '\\';
      token += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    token += '"';
  }
  return std::string(text.substr(0, number.begin)) + token + std::string(text.substr(std::min(number.end, text.size())));
}

}  // namespace heddle
