// Values of named parameters are read last, into the block, for they need the names.
#include "ptx/launch/launch_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/suggest.h"
#include "core/formats/members.h"
#include "ptx/launch/launch_rules.h"
#include "ptx/launch/parameter_type.h"

namespace heddle::ptx {
namespace {

constexpr const char* kFormat = "heddle.launch/1";
constexpr std::size_t kMostBufferBytes = 32u << 20;  ///< of one buffer's contents

/// A number of 64 bits, as one or as "0x..".
struct Address {
  void read(const Cursor& at, std::uint64_t& value) const {
    if (const std::string* text = at.json().string()) {
      if (const auto found = read_address(*text)) return void(value = *found);
      return at.fault("expected an address, found " + describe(at.json()), "a number, or \"0x500100000000\"");
    }
    as::keep(value, at.natural64());
  }
  Json write(std::uint64_t value) const { return address_text(value); }
  Json schema(std::uint64_t, Json&) const {
    return Json::object().set("oneOf", Json::array()
                                           .push(schema::type("integer").set("minimum", 0))
                                           .push(schema::type("string").set("pattern", "^(0[xX][0-9a-fA-F]{1,16}|[0-9]+)$")));
  }
};

struct ByteCount : Address {
  Json write(std::uint64_t value) const { return value; }
};

/// Bytes as digits, two for each.
struct HexBytes {
  std::size_t most;
  void read(const Cursor& at, std::vector<std::uint8_t>& value) const {
    const auto text = at.string();
    if (!text) return;
    auto bytes = read_hex(*text);
    if (!bytes) return at.fault("expected two hexadecimal digits for each byte", "\"00ff\"");
    if (bytes->size() > most) return at.fault(fmt::format("expected at most {} bytes, found {}", most, bytes->size()));
    value = std::move(*bytes);
  }
  Json write(const std::vector<std::uint8_t>& value) const { return hex_text(value); }
  Json schema(const std::vector<std::uint8_t>&, Json&) const {
    return schema::type("string").set("pattern", "^([0-9a-fA-F]{2})*$").set("maxLength", 2 * most);
  }
};

/// Three numbers along x, y and z; y and z, which are 1 then, may be missing at the end.
struct Triple {
  std::int64_t least;
  void read(const Cursor& at, std::array<std::uint32_t, 3>& value) const {
    const std::vector<Cursor> items = at.items();
    if (at.json().is_array() && (items.empty() || items.size() > 3)) return at.fault("expected 1 to 3 numbers", "along x, y and z");
    for (std::size_t d = 0; d < items.size(); ++d)
      if (const auto number = items[d].integer(least, 0x7fffffff)) value[d] = static_cast<std::uint32_t>(*number);
    for (std::size_t d = items.size(); d < 3 && !items.empty(); ++d) value[d] = 1;
  }
  Json write(const std::array<std::uint32_t, 3>& value) const { return Json::array().push(value[0]).push(value[1]).push(value[2]); }
  Json schema(const std::array<std::uint32_t, 3>&, Json&) const { return schema::list(schema::integer(least, 0x7fffffff), 1, 3); }
};

/// One of a few numbers.
struct OneOf {
  std::initializer_list<int> choices;
  void read(const Cursor& at, int& value) const {
    const auto found = at.integer(0, kLargestNumber);
    if (!found) return;
    if (std::ranges::find(choices, *found) != choices.end()) return void(value = static_cast<int>(*found));
    at.fault(fmt::format("expected {}, found {}", list(), *found));
  }
  Json write(int value) const { return value; }
  Json schema(int, Json&) const {
    Json all = Json::array();
    for (const int choice : choices) all.push(choice);
    return Json::object().set("enum", std::move(all));
  }

 private:
  std::string list() const {
    std::vector<std::string> words;
    for (const int choice : choices) words.push_back(std::to_string(choice));
    return list_of(words);
  }
};

constexpr std::initializer_list<int> kSwizzles = {0, 32, 64, 128}, kAtoms = {16, 32, 64}, kInterleaves = {0, 16, 32};
constexpr std::int64_t kMostStep = std::int64_t{1} << 41;  ///< beyond what the rules allow, so that they say it

/// "parameters" or "memory", which is true and false in the struct.
enum class MapPlace { Parameters, Memory };
const char* to_string(MapPlace place) { return place == MapPlace::Parameters ? "parameters" : "memory"; }
struct InParameters {
  void read(const Cursor& at, bool& value) const {
    MapPlace place = MapPlace::Parameters;
    as::word("place", MapPlace::Memory).read(at, place);
    value = place == MapPlace::Parameters;
  }
  Json write(bool value) const { return to_string(value ? MapPlace::Parameters : MapPlace::Memory); }
  Json schema(bool, Json&) const { return schema::words(words_up_to(MapPlace::Memory)); }
};

/// An offset is written as a number, an address as one.
struct MapAt : Address {
  bool in_parameters;
  explicit MapAt(bool parameters) : in_parameters(parameters) {}
  Json write(std::uint64_t value) const { return in_parameters ? Json(value) : Address::write(value); }
};

/// Values by name are read by code of their own, once names and block are there.
struct NamedValues {
  std::vector<JsonMember> members;
  bool empty() const { return members.empty(); }
};
struct ValueOfName {
  void read(const Cursor& at, NamedValues& values) const {
    if (const Json::Object* members = at.json().members())
      values.members = *members;
    else
      at.fault("expected an object, found " + describe(at.json()), "{\"K\": 4096}");
  }
  Json write(const NamedValues& values) const { return Json(values.members); }
  Json schema(const NamedValues&, Json&) const {
    return schema::type("object").set("additionalProperties",
                                      Json::object().set("anyOf", Json::array().push(schema::type("number")).push(schema::type("string"))));
  }
};

/// A launch as its file has it.
struct LaunchDocument {
  std::string format = kFormat;
  Launch launch;
  NamedValues values;
};

template <class Io>
void visit(Io& io, LaunchDocument& file);

}  // namespace

template <class Io>
void visit(Io& io, PlacedMap& placed) {
  TensorMap& map = placed.map;
  io.part("tensor_map", "what the host said to cuTensorMapEncodeTiled; innermost dimension first");
  io.always("in", placed.in_parameters, InParameters{}, "where the map lies; without it, among the parameters");
  io.required("at", placed.at, MapAt(placed.in_parameters), "byte of the parameter block, or address");
  io.always("name", map.name, as::text, "of the tensor");
  io.required("element", map.element, as::word("element type", MapElement::U6Align16));
  io.always("address", map.address, Address{}, "of the tensor in global memory");
  io.required("extents", map.extents, as::list(as::integer(0, kLargestNumber)), "elements");
  io.always("strides", map.strides, as::list(as::integer(0, kMostStep)), "bytes, of all dimensions but the innermost");
  io.required("box", map.box, as::list(as::integer(0, 1 << 20)), "elements that one copy moves");
  io.optional("steps", map.steps, as::list(as::integer(0, 1 << 20)), "element strides; without them, all 1");
  io.always("swizzle", map.swizzle, OneOf{kSwizzles}, "bytes of the pattern");
  io.unless(map.swizzle_atom == 16, "swizzle_atom", map.swizzle_atom, OneOf{kAtoms}, "bytes that stay together");
  io.optional("interleave", map.interleave, OneOf{kInterleaves}, "bytes");
  io.optional("im2col", map.im2col);
}

template <class Io>
void visit(Io& io, GlobalBuffer& buffer) {
  io.part("buffer", "a piece of global memory that the kernel may touch");
  io.optional("name", buffer.name, as::text);
  io.required("address", buffer.address, Address{});
  io.required("bytes", buffer.bytes, ByteCount{}, "how far it reaches");
  io.optional("contents", buffer.contents, HexBytes{kMostBufferBytes}, "its first bytes, where they are known: two digits each");
  io.optional("zero", buffer.zero, "all of it is 0 when the kernel starts");
}

template <class Io>
void visit(Io& io, NamedParameter& word) {
  io.part("named_parameter", "a word of the parameter block that can be called by a name");
  io.required("name", word.name, as::label);
  io.required("at", word.at, as::integer(0, kMostParameterBytes), "byte of the block");
  io.required("type", word.type, as::label, "u8 to u64, s8 to s64, b8 to b64, f16, bf16, f32, f64");
}

namespace {

template <class Io>
void visit(Io& io, LaunchDocument& file) {
  Launch& launch = file.launch;
  io.optional("kernel", launch.kernel, as::text, "entry of the PTX; without it, the only one");
  io.optional("ptx", launch.ptx, as::text, "file of the text, relative to this file");
  io.always("grid", launch.grid, Triple{0}, "CTAs along x, y and z");
  io.always("cluster", launch.cluster, Triple{0}, "CTAs");
  io.always("block", launch.block, Triple{0}, "threads; all 0: what the text says");
  io.always("dynamic_shared", launch.dynamic_shared, as::count, "bytes, beside the text's own");
  io.optional("parameters", launch.parameters, HexBytes{1u << 20}, "the block, two digits a byte; bytes of maps are not used");
  io.optional("values", file.values, ValueOfName{}, "of named parameters: they win over what the block has");
  io.optional("names", launch.names);
  io.optional("maps", launch.maps);
  io.optional("buffers", launch.buffers);
}

/// The words that a value may stand for, as one text: numbers of JSON as they are in the file.
std::optional<std::string> text_of_value(const Json& json) {
  if (const std::string* text = json.string()) return *text;
  if (const std::int64_t* number = json.integer()) return fmt::format("{}", *number);
  return json.number() ? std::optional(json.number_text()) : std::nullopt;
}

void reach(std::vector<std::uint8_t>& block, std::uint64_t end) {
  if (end <= kMostParameterBytes) block.resize(std::max<std::size_t>(block.size(), end));
}

/// A file without a block.
void make_block(const Cursor& root, LaunchDocument& file) {
  Launch& launch = file.launch;
  for (const PlacedMap& placed : launch.maps)
    if (placed.in_parameters && placed.at <= kMostParameterBytes) reach(launch.parameters, placed.at + kMapBytes);
  for (const NamedParameter& word : launch.names) {
    if (const auto type = parameter_type(word.type)) reach(launch.parameters, word.at + type->bytes);
    const auto given = [&](const JsonMember& value) { return value.key == word.name; };
    if (std::ranges::none_of(file.values.members, given))
      root.fault(fmt::format("without \"parameters\" every name has its value: '{}' has none", word.name),
                 fmt::format("\"values\": {{\"{}\": 0}}", word.name));
  }
}

void set_values(const Cursor& root, LaunchDocument& file, const ParameterFinder& find) {
  Launch& launch = file.launch;
  for (const JsonMember& value : file.values.members)
    if (std::ranges::find(launch.names, value.key, &NamedParameter::name) == launch.names.end() && find)
      if (auto word = find(launch, value.key)) {
        if (const auto type = parameter_type(word->type)) reach(launch.parameters, word->at + type->bytes);
        launch.names.push_back(*std::move(word));
      }
  for (const JsonMember& value : file.values.members) {
    const Cursor at(value.value, pointer_to("/values", value.key), root.log());
    const auto word = std::ranges::find(launch.names, value.key, &NamedParameter::name);
    if (word == launch.names.end()) {
      at.fault(fmt::format("no parameter is called '{}'", value.key), did_you_mean(value.key, names_of(launch.names)));
      continue;
    }
    const auto type = parameter_type(word->type);
    if (!type || word->at > launch.parameters.size() || launch.parameters.size() - word->at < type->bytes) continue;  // a rule says it
    const auto text = text_of_value(value.value);
    const auto bytes = text ? value_bytes(*type, *text) : std::nullopt;
    if (bytes)
      std::ranges::copy(*bytes, launch.parameters.begin() + static_cast<std::ptrdiff_t>(word->at));
    else
      at.fault(fmt::format("expected a value of type {}, found {}", type->name, describe(value.value)));
  }
}

void read_document(ObjectReader& root, LaunchDocument& file, const ParameterFinder& find) {
  const auto format = root.require("schema");
  const auto found = format ? format->string() : std::nullopt;
  if (!root.good() || !format) return;
  if (found != kFormat) {
    root.abandon();
    if (found) format->fault(fmt::format("expected \"{}\", found \"{}\"", kFormat, *found), did_you_mean(*found, {kFormat}));
    return;
  }
  read_members(root, file);
  if (!root.find("parameters")) make_block(root.cursor(), file);
  set_values(root.cursor(), file, find);
  for (PlacedMap& placed : file.launch.maps)
    if (placed.map.steps.empty()) placed.map.steps.assign(placed.map.extents.size(), 1);
  for (Fault& fault : faults_of(file.launch))
    if (!root.cursor().log().touched(fault.pointer))
      root.cursor().log().fault(fault.pointer, std::move(fault.message), std::move(fault.hint));
}

}  // namespace

Json launch_schema() {
  return schema::line(kFormat, "A launch of a PTX kernel", [](schema::Object& root) {
    root.required("schema", Json::object().set("const", kFormat));
    say_members<LaunchDocument>(root);
  });
}

bool says_launch(std::string_view text) { return text.find("\"heddle.launch/") != std::string_view::npos; }

std::string launch_text(const Launch& launch) {
  LaunchDocument file;
  file.launch = launch;
  for (PlacedMap& placed : file.launch.maps)
    if (std::ranges::all_of(placed.map.steps, [](std::uint32_t step) { return step == 1; })) placed.map.steps.clear();
  for (const NamedParameter& word : launch.names)
    if (const auto type = parameter_type(word.type);
        type && word.at <= launch.parameters.size() && launch.parameters.size() - word.at >= type->bytes) {
      const std::string text = value_text(*type, std::span(launch.parameters).subspan(word.at, type->bytes));
      const auto number = text.starts_with("0x") ? Result<Json>(Json(text)) : parse_json(text, {});
      file.values.members.push_back({word.name, number ? *number : Json(text)});
    }
  MemberWriter writer;
  writer.json.set("schema", kFormat);
  visit(writer, file);
  return writer.json.pretty();
}

Result<Launch> parse_launch(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings,
                            const ParameterFinder& find) {
  const Result<Json> json = parse_json(text, file_name);
  if (!json) return json.error();
  ReadLog log{file_name, {}, {}, {}};
  LaunchDocument file;
  {
    ObjectReader root(Cursor(*json, {}, log));
    read_document(root, file, find);
  }
  cut_off(log.warnings, "warnings");
  cut_off(log.faults, "faults");
  if (warnings) warnings->insert(warnings->end(), log.warnings.begin(), log.warnings.end());
  if (!log.faults.empty()) return log.error();
  return std::move(file.launch);
}

Result<Launch> read_launch(const std::string& path, std::vector<Fault>* warnings, const ParameterFinder& find) {
  const Result<std::string> text = read_file(path);
  return text ? parse_launch(*text, path, warnings, find) : text.error();
}

Result<Ok> write_launch(const std::string& path, const Launch& launch) { return write_file(path, launch_text(launch)); }

std::string text_path_of(const Launch& launch, const std::string& launch_path) {
  if (launch.ptx.empty()) return {};
  return (std::filesystem::path(launch_path).parent_path() / launch.ptx).string();
}

}  // namespace heddle::ptx
