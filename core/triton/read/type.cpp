#include "core/triton/read/type.h"

#include "core/base/scanner.h"

namespace heddle::triton {
namespace {

/// What stands between the brackets of "head<...>", cut at the commas of its outer level.
std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> parts;
  const std::size_t open = text.find('<');
  if (open == std::string_view::npos) return parts;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t i = open + 1; i < text.size(); ++i) {
    const char c = text[i];
    const bool ends = c == '>' && depth == 0;
    if (c == '<' || c == '[' || c == '{' || c == '(') ++depth;
    if (!ends && (c == '>' || c == ']' || c == '}' || c == ')')) --depth;
    if (!ends && (c != ',' || depth != 0)) continue;
    parts.push_back(trimmed(text.substr(begin, i - begin), " "));
    begin = i + 1;
    if (ends) break;
  }
  return parts;
}

/// "f16" of "!tt.ptr<f16>" and of "!tt.ptr<f16, 1>".
std::string pointee_of(std::string_view text) {
  const std::size_t at = text.find("!tt.ptr<");
  if (at == std::string_view::npos) return {};
  const std::vector<std::string_view> parts = arguments_of(text.substr(at));
  return parts.empty() ? std::string() : std::string(parts.front().substr(0, 40));
}

}  // namespace

Type parse_type(std::string_view text, const mlir::Module& module) {
  Type type;
  if (text.starts_with("!tt.tensordesc<")) {
    // Its box, printed as a tensor until Triton 3.8: "!tt.tensordesc<tensor<128x64xbf16, #shared>>".
    type.descriptor = true;
    std::vector<std::string_view> parts = arguments_of(text);
    if (!parts.empty() && parts.front().starts_with("tensor<")) parts = arguments_of(parts.front());
    if (parts.empty()) return type;
    type.tile = dump::parse_tile_type("tensor<" + std::string(parts.front()) + ">");
    type.tile.space = dump::TileType::Space::None;
    if (parts.size() > 1) type.layout = parse_layout(parts[1], module);
    return type;
  }
  // Triton 3.2 has no head in a few places: "<64x64xf16, #shared, ...>".
  const bool headless = text.starts_with("<");
  type.tile = headless ? dump::parse_tile_type("!ttg.memdesc" + std::string(text)) : dump::parse_tile_type(text);
  type.pointee = pointee_of(text.substr(0, 512));
  type.pointer = !type.pointee.empty() && (text.starts_with("!tt.ptr") || text.starts_with("tensor<"));
  if (!type.pointer) type.pointee.clear();
  if (type.pointer && text.starts_with("!tt.ptr")) {
    type.tile = {};
    type.tile.element = "ptr";
    type.tile.bits = 64;
  }
  if (type.tile.tile() && text.find('#') != std::string_view::npos)
    for (const std::string_view part : arguments_of(text))
      if (part.starts_with("#")) {
        type.layout = parse_layout(part, module);
        break;
      }
  // The space may be behind an alias: what its layout says is certain.
  if (type.tile.space == dump::TileType::Space::Smem && type.layout.kind == TritonLayout::Kind::TensorMemory)
    type.tile.space = dump::TileType::Space::Tmem;
  type.barrier =
      type.tile.space == dump::TileType::Space::Smem && type.tile.element == "i64" && type.layout.kind != TritonLayout::Kind::SharedNvmma;
  return type;
}

}  // namespace heddle::triton
