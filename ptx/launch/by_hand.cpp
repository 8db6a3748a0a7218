#include "ptx/launch/by_hand.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/scanner.h"
#include "core/base/suggest.h"
#include "ptx/launch/made_up_memory.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

/// What stands before and behind the first such mark; nothing behind where there is none.
struct Halves {
  std::string before;
  std::optional<std::string> behind;
};
Halves cut_at(const std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

class HandLaunch {
 public:
  HandLaunch(const std::vector<EntryParameter>& entry, Launch base) : entry_(entry), launch_(std::move(base)) {}

  Result<Launch> made(const HandWords& words) {
    triple(words.grid, launch_.grid, "launch grid");
    triple(words.cluster, launch_.cluster, "launch cluster");
    triple(words.block, launch_.block, "launch block");
    if (words.dynamic_shared) launch_.dynamic_shared = *words.dynamic_shared;
    const bool fresh = launch_.parameters.empty();
    if (fresh) launch_.parameters.resize(block_bytes(entry_));
    for (const std::string& word : words.buffers) buffer(word);
    for (const std::string& word : words.maps) map(word);
    for (const std::string& word : words.parameters) parameter(word);
    if (fresh) fill_in();
    if (faults_.empty()) judge();
    if (!faults_.empty()) return Error{ErrorKind::Input, std::move(faults_)};
    return std::move(launch_);
  }

 private:
  void fault(const char* part, std::string sentence, std::string hint = {}) {
    faults_.push_back({{}, {}, std::move(sentence), std::move(hint), part});
  }

  void triple(const std::optional<std::string>& text, std::array<std::uint32_t, 3>& to, const char* part) {
    if (!text) return;
    std::array<std::uint32_t, 3> sizes{1, 1, 1};
    Scanner scanner(*text);
    for (std::size_t d = 0; d < 3; ++d) {
      if (d > 0 && !scanner.take('x') && !scanner.take(',')) break;
      scanner.skip_blanks();
      if (scanner.number(sizes[d]) != std::errc()) return fault(part, fmt::format("expected 1 to 3 sizes, found '{}'", *text), "\"4,2,1\"");
    }
    if (!scanner.done()) return fault(part, fmt::format("expected 1 to 3 sizes, found '{}'", *text), "\"4,2,1\"");
    to = sizes;
  }

  /// A byte of the block: a number, or the name of a word or parameter.
  std::optional<std::uint64_t> place(const std::string& text, const char* part) {
    if (const auto offset = read_address(text)) return offset;
    if (const auto word = std::ranges::find(launch_.names, text, &NamedParameter::name); word != launch_.names.end()) return word->at;
    if (const EntryParameter* parameter = find_parameter(entry_, text)) return parameter->at;
    std::vector<std::string> known = names_of(launch_.names);
    for (const EntryParameter& parameter : entry_) known.push_back(parameter.name);
    std::string hint = did_you_mean(text, known);
    fault(part, fmt::format("no parameter is called '{}'", text), hint.empty() ? "give its byte in the block" : std::move(hint));
    return std::nullopt;
  }

  bool put(std::uint64_t at, std::span<const std::uint8_t> bytes, const char* part, const std::string& word) {
    const std::uint64_t end = at + bytes.size();
    if (at > launch_.parameters.size() || end > launch_.parameters.size()) {
      fault(part, fmt::format("'{}': {} bytes at {} end behind the block's {}", word, bytes.size(), at, launch_.parameters.size()));
      return false;
    }
    std::ranges::copy(bytes, launch_.parameters.begin() + static_cast<std::ptrdiff_t>(at));
    given_.push_back({at, end});
    return true;
  }

  void buffer(const std::string& word) {
    const Halves halves = cut_at(word, '=');
    const Halves size = cut_at(halves.behind.value_or(""), ':');
    const auto address = read_address(halves.before), bytes = read_address(size.before);
    if (!address || !bytes || (size.behind && *size.behind != "zero"))
      return fault("launch buffer", fmt::format("expected ADDRESS=BYTES or ADDRESS=BYTES:zero, found '{}'", word));
    GlobalBuffer made;
    made.address = *address, made.bytes = *bytes, made.zero = size.behind.has_value();
    launch_.buffers.push_back(std::move(made));
  }

  void map(const std::string& word) {
    const Halves halves = cut_at(word, '=');
    if (!halves.behind) return fault("launch map", fmt::format("expected PLACE=\"NAME BOX ELEMENT\", found '{}'", word));
    PlacedMap placed;
    placed.in_parameters = !halves.before.starts_with("memory ");
    if (placed.in_parameters) {
      const auto at = place(halves.before, "launch map");
      if (!at) return;
      placed.at = *at;
    } else if (const auto address = read_address(trimmed(std::string_view(halves.before).substr(7)))) {
      placed.at = *address;
    } else {
      return fault("launch map", fmt::format("expected an address behind 'memory', found '{}'", halves.before));
    }
    Result<TensorMap> map = map_by_hand(*halves.behind);
    if (!map) {
      faults_.insert(faults_.end(), map.error().faults.begin(), map.error().faults.end());
      return;
    }
    placed.map = *std::move(map);
    const std::vector<std::uint8_t> unused(kMapBytes);
    if (placed.in_parameters && !put(placed.at, unused, "launch map", word)) return;
    if (placed.map.address == 0) placed.map.address = memory(placed.map.name, tensor_bytes(placed.map), false);
    std::erase_if(launch_.maps,
                  [&](const PlacedMap& other) { return other.in_parameters == placed.in_parameters && other.at == placed.at; });
    launch_.maps.push_back(std::move(placed));
  }

  std::uint64_t memory(std::string name, std::uint64_t bytes, bool zero) {
    GlobalBuffer made;
    made.name = std::move(name), made.bytes = bytes, made.zero = zero;
    made.address = MadeUpMemory(launch_).take(bytes);
    launch_.buffers.push_back(made);
    return made.address;
  }

  void parameter(const std::string& word) {
    const Halves halves = cut_at(word, '=');
    if (!halves.behind) return fault("launch parameter", fmt::format("expected PLACE=TYPE:VALUE, found '{}'", word), "\"16=u32:4096\"");
    const auto at = place(halves.before, "launch parameter");
    if (!at) return;
    Halves value = cut_at(*halves.behind, ':');
    if (value.before == "pointer") return pointer(word, *at, value.behind);
    if (!value.behind) value = {type_at(*at), value.before};
    const auto type = parameter_type(value.before);
    if (!type)
      return fault("launch parameter",
                   value.before.empty() ? fmt::format("'{}': nothing says which type is there", word)
                                        : fmt::format("'{}': unknown type '{}'", word, value.before),
                   "say it: TYPE:VALUE; types are pointer, " + list_of(parameter_type_words()));
    const auto bytes = value_bytes(*type, value.behind.value_or(""));
    if (!bytes)
      return fault("launch parameter",
                   fmt::format("'{}': expected a value of type {}, found '{}'", word, type->name, value.behind.value_or("")));
    put(*at, *bytes, "launch parameter", word);
  }

  void pointer(const std::string& word, std::uint64_t at, const std::optional<std::string>& size) {
    const Halves words = cut_at(size.value_or(fmt::format("{}", kMadeUpBytes)), ':');
    const auto bytes = read_address(words.before);
    if (!bytes || (words.behind && *words.behind != "zero"))
      return fault("launch parameter", fmt::format("'{}': expected pointer, pointer:BYTES or pointer:BYTES:zero", word));
    put(at, bytes_of(memory(name_at(at), *bytes, words.behind.has_value()), 8), "launch parameter", word);
  }

  /// Of a word by name, or of the text's parameter; empty: neither says one.
  std::string type_at(std::uint64_t at) const {
    if (const auto word = std::ranges::find(launch_.names, at, &NamedParameter::at); word != launch_.names.end()) return word->type;
    const auto found = std::ranges::find(entry_, at, &EntryParameter::at);
    return found != entry_.end() ? found->type : std::string();
  }

  std::string name_at(std::uint64_t at) const {
    if (const auto word = std::ranges::find(launch_.names, at, &NamedParameter::at); word != launch_.names.end()) return word->name;
    const auto found = std::ranges::find(entry_, at, &EntryParameter::at);
    return found != entry_.end() ? found->name : fmt::format("pointer at {}", at);
  }

  bool said(const EntryParameter& parameter) const {
    return std::ranges::any_of(given_, [&](const auto& span) { return span.first < parameter.end() && span.second > parameter.at; });
  }

  /// What nobody said: pointers are made up, all others are asked for at once.
  void fill_in() {
    for (const EntryParameter& parameter : entry_) {
      if (said(parameter)) continue;
      if (parameter.pointer && parameter.bytes == 8) {
        put(parameter.at, bytes_of(memory(name_at(parameter.at), kMadeUpBytes, false), 8), "launch parameter", parameter.name);
        continue;
      }
      const std::string name = name_at(parameter.at);
      const std::string type = parameter.type.empty() ? "b32" : parameter.type;
      if (parameter.map())
        fault("missing map", fmt::format("not given: {}, {} bytes at {}, a tensor map", name, kMapBytes, parameter.at),
              fmt::format("{}=\"A 64x128 bf16 swizzle128\"", parameter.at));
      else if (parameter.type.empty())
        fault("missing parameter", fmt::format("not given: {}, {} bytes at {}", name, parameter.bytes, parameter.at),
              fmt::format("{}=b32:1", parameter.at));
      else
        fault("missing parameter", fmt::format("not given: {}, {} at {}", name, type, parameter.at),
              fmt::format("{}={}:1", parameter.at, type) + (parameter.bytes == 8 ? fmt::format(", or {}=pointer", parameter.at) : ""));
    }
  }

  void judge() {
    faults_ = misfits(launch_, entry_);
    if (!faults_.empty()) return;  // every place in the block would be wrong too
    for (Fault& found : faults_of(launch_)) {
      const std::string first = found.pointer.substr(1, found.pointer.find('/', 1) - 1);
      const char* part = first == "grid"             ? "launch grid"
                         : first == "cluster"        ? "launch cluster"
                         : first == "block"          ? "launch block"
                         : first == "dynamic_shared" ? "launch memory"
                         : first == "buffers"        ? "launch buffer"
                         : first == "maps"           ? "launch map"
                                                     : "launch parameter";
      if (first == "maps") {
        const auto index = number_in_front<std::size_t>(std::string_view(found.pointer).substr(6));
        if (index < launch_.maps.size()) found.message = fmt::format("{}: {}", launch_.maps[index].map.name, found.message);
      }
      fault(part, std::move(found.message), std::move(found.hint));
    }
  }

  const std::vector<EntryParameter>& entry_;
  Launch launch_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> given_;
  std::vector<Fault> faults_;
};

}  // namespace

Result<Launch> launch_by_hand(const HandWords& words, const std::vector<EntryParameter>& entry, Launch base) {
  return HandLaunch(entry, std::move(base)).made(words);
}

std::vector<Fault> misfits(const Launch& launch, const std::vector<EntryParameter>& entry) {
  if (launch.parameters.size() == block_bytes(entry)) return {};
  return {Fault{{},
                "/parameters",
                fmt::format("the launch has {} bytes of parameters, the text {}", launch.parameters.size(), block_bytes(entry)),
                "it is the launch of another text, or of another version of it"}};
}

}  // namespace heddle::ptx
