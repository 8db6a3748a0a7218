// A launch as JSON. The stand-ins are loaded into other people's programs, so they link nothing of Heddle's that would do it.
#include <cstdio>

#include "ptx/capture/record.h"

namespace heddle::ptx::capture {
namespace {

const char* element_name(MapElement element) {
  static constexpr const char* kNames[] = {"u8",  "u16",  "u32",     "i32",  "u64",      "i64",       "f16",        "f32",
                                           "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", "u4_align8", "u4_align16", "u6_align16"};
  return kNames[static_cast<int>(element)];
}

std::string hex(std::uint64_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "\"0x%llx\"", static_cast<unsigned long long>(address));
  return text;
}

std::string hex(const std::vector<std::uint8_t>& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text + "\"";
}

std::string quoted(const std::string& name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') text += '\\';
    text += static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e ? '?' : c;
  }
  return text + "\"";
}

template <class List>
std::string numbers(const List& list) {
  std::string text = "[";
  for (const auto number : list) text += (text.size() > 1 ? "," : "") + std::to_string(number);
  return text + "]";
}

std::string map_text(const PlacedMap& placed) {
  const TensorMap& map = placed.map;
  std::string text = "{\"at\":" + (placed.in_parameters ? std::to_string(placed.at) : hex(placed.at));
  text += placed.in_parameters ? ",\"in\":\"parameters\"" : ",\"in\":\"memory\"";
  if (!map.name.empty()) text += ",\"name\":" + quoted(map.name);
  text += std::string(",\"element\":\"") + element_name(map.element) + "\",\"address\":" + hex(map.address);
  text += ",\"extents\":" + numbers(map.extents) + ",\"strides\":" + numbers(map.strides) + ",\"box\":" + numbers(map.box) +
          ",\"steps\":" + numbers(map.steps) + ",\"swizzle\":" + std::to_string(map.swizzle);
  if (map.swizzle_atom != 16) text += ",\"swizzle_atom\":" + std::to_string(map.swizzle_atom);
  if (map.interleave != 0) text += ",\"interleave\":" + std::to_string(map.interleave);
  if (map.im2col) text += ",\"im2col\":true";
  return text + "}";
}

std::string buffer_text(const GlobalBuffer& buffer) {
  std::string text = "{\"address\":" + hex(buffer.address) + ",\"bytes\":" + std::to_string(buffer.bytes);
  if (!buffer.name.empty()) text += ",\"name\":" + quoted(buffer.name);
  if (!buffer.contents.empty()) text += ",\"contents\":" + hex(buffer.contents);
  if (buffer.zero) text += ",\"zero\":true";
  return text + "}";
}

template <class List, class F>
std::string member(const char* name, const List& list, const F& text_of) {
  std::string text;
  for (const auto& each : list) text += (text.empty() ? "\n  " : ",\n  ") + text_of(each);
  return text.empty() ? "" : std::string(",\n \"") + name + "\":[" + text + "]";
}

}  // namespace

std::string launch_text(const Launch& launch) {
  std::string text = "{\"schema\":\"heddle.launch/1\",\n \"kernel\":" + quoted(launch.kernel) + ",\n \"ptx\":" + quoted(launch.ptx);
  text += ",\n \"grid\":" + numbers(launch.grid) + ",\"cluster\":" + numbers(launch.cluster) + ",\"block\":" + numbers(launch.block);
  text += ",\"dynamic_shared\":" + std::to_string(launch.dynamic_shared) + ",\n \"parameters\":" + hex(launch.parameters);
  text += member("names", launch.names, [](const NamedParameter& named) {
    return "{\"name\":" + quoted(named.name) + ",\"at\":" + std::to_string(named.at) + ",\"type\":" + quoted(named.type) + "}";
  });
  text += member("maps", launch.maps, map_text);
  text += member("buffers", launch.buffers, buffer_text);
  return text + "}\n";
}

}  // namespace heddle::ptx::capture
