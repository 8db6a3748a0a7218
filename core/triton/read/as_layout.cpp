#include "core/triton/read/as_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/layout/known.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kLongestPrinted = std::size_t{1} << 16;

/// "vec = 8" in the text of a layout.
std::int64_t field(std::string_view text, std::string_view key, std::int64_t fallback) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '{' || text[at - 1] == ',';
    std::string_view rest = trimmed(text.substr(at + key.size()));
    if (!begins || !rest.starts_with('=')) continue;
    rest = trimmed(rest.substr(1));
    std::int64_t value = 0;
    if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec == std::errc()) return value;
  }
  return fallback;
}

bool is_power(std::int64_t x) { return x >= 1 && x <= kMostLayoutElements && std::has_single_bit(static_cast<std::uint64_t>(x)); }

/// vec neighbours stay together; their place in the row is exchanged by the phase, row / perPhase modulo maxPhase.
std::optional<heddle::Layout> swizzled_shared(const std::vector<std::int64_t>& shape, const TritonLayout& printed, std::string_view text) {
  const std::int64_t vec = field(text, "vec", 1), per_phase = field(text, "perPhase", 1), phases = field(text, "maxPhase", 1);
  if (!is_power(vec) || !is_power(per_phase) || !is_power(phases) || !std::ranges::all_of(shape, is_power)) return std::nullopt;
  std::vector<std::size_t> order;  // fastest first
  for (const std::int64_t d : printed.order)
    if (d >= 0 && d < static_cast<std::int64_t>(shape.size())) order.push_back(static_cast<std::size_t>(d));
  if (printed.order.empty())
    for (std::size_t d = shape.size(); d-- > 0;) order.push_back(d);
  std::vector<std::size_t> sorted = order;
  std::ranges::sort(sorted);
  for (std::size_t d = 0; d < sorted.size(); ++d)
    if (sorted[d] != d) return std::nullopt;
  if (order.size() != shape.size()) return std::nullopt;
  heddle::Layout layout;
  layout.shape = shape;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::int64_t x = 1; x < shape[order[i]]; x *= 2) {
      Coordinates basis(shape.size(), 0);
      basis[order[i]] = x;
      if (i == 1) basis[order[0]] = vec * (x / per_phase % phases) % shape[order[0]];
      layout.of(LayoutAxis::Offset).push_back(std::move(basis));
    }
  return layout;
}

/// Panels as TMA leaves them; without a swizzle they are 16 bytes wide.
std::optional<heddle::Layout> nvmma_shared(const std::vector<std::int64_t>& shape, const TritonLayout& printed) {
  const std::int64_t bits = printed.element_bits, swizzle = printed.swizzle_bytes;
  if (shape.size() < 2 || printed.fp4_padded || (bits != 8 && bits != 16 && bits != 32)) return std::nullopt;
  // Dimensions before the last two are further rows.
  std::int64_t rows = 1;
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) rows *= shape[d];
  if (printed.transposed && shape.size() != 2) return std::nullopt;
  const std::int64_t outer = printed.transposed ? shape[1] : rows, inner = printed.transposed ? shape[0] : shape.back();
  std::optional<heddle::Layout> panels;
  if (swizzle == 0) {
    const std::int64_t width = 128 / bits;
    if (inner % width != 0) return std::nullopt;
    heddle::Layout plain;
    plain.shape = {outer, inner};
    plain.repeats = {{LayoutAxis::Offset, width, 1, 1, 1},
                     {LayoutAxis::Offset, outer, width, 0, 1},
                     {LayoutAxis::Offset, inner / width, width * outer, 1, width}};
    panels = canonical(plain);
  } else if (swizzle == 32 || swizzle == 64 || swizzle == 128) {
    panels = panels_layout(outer, inner, static_cast<int>(bits), static_cast<int>(swizzle));
  }
  if (!panels) return std::nullopt;
  if (printed.transposed) {
    std::swap(panels->shape[0], panels->shape[1]);
    for (Coordinates& basis : panels->of(LayoutAxis::Offset)) std::swap(basis[0], basis[1]);
    for (LayoutRepeat& r : panels->repeats) r.dimension = 1 - r.dimension;
    return panels;
  }
  if (shape.size() == 2) return panels;
  // Rows of several dimensions: their bits, where they are powers of two.
  heddle::Layout split;
  split.shape = shape;
  if (!std::ranges::all_of(shape, is_power) || !panels->repeats.empty()) return std::nullopt;
  for (const Coordinates& basis : panels->of(LayoutAxis::Offset)) {
    Coordinates moved(shape.size(), 0);
    std::int64_t row = basis[0];
    moved.back() = basis[1];
    for (std::size_t d = shape.size() - 1; d-- > 0;) moved[d] = row % shape[d], row /= shape[d];
    split.of(LayoutAxis::Offset).push_back(std::move(moved));
  }
  return split;
}

std::string name_in(const TritonLayout& layout) {
  std::string name = layout.name.substr(0, 40);
  for (char& c : name)
    if (c < ' ' || c > '~') c = '?';
  return name;
}

}  // namespace

std::optional<heddle::Layout> as_layout(const Linear& linear) {
  heddle::Layout layout;
  for (const int bits : linear.bits) layout.shape.push_back(std::int64_t{1} << bits);
  if (std::ranges::any_of(linear.blocks, [](std::uint32_t basis) { return basis != 0; })) return std::nullopt;
  const auto add = [&](LayoutAxis axis, const std::vector<std::uint32_t>& bases) {
    for (const std::uint32_t flat : bases) {
      Coordinates basis;
      for (std::size_t d = 0; d < linear.bits.size(); ++d)
        basis.push_back(flat >> linear.offset(d) & ((std::uint32_t{1} << linear.bits[d]) - 1));
      layout.of(axis).push_back(std::move(basis));
    }
  };
  add(LayoutAxis::Register, linear.registers);
  add(LayoutAxis::Lane, linear.lanes);
  add(LayoutAxis::Warp, linear.warps);
  return layout;
}

bool is_printed_layout(std::string_view text) {
  text = trimmed(text);
  return text.starts_with('#') || text.starts_with('!') || text.starts_with("tensor<");
}

Result<PrintedLayout> read_layout(std::string_view text, const LayoutContext& context, const std::string& file,
                                  const std::string& pointer) {
  const auto wrong = [&](std::string message, std::string hint = {}) {
    return Error{ErrorKind::Input, {{file, pointer, std::move(message), std::move(hint)}}};
  };
  const auto plain = [&](std::string_view of) -> Result<PrintedLayout> {
    Result<heddle::Layout> layout = heddle::parse_layout(of, context, file, pointer);
    if (!layout) return layout.error();
    return PrintedLayout{*std::move(layout), 0};
  };
  text = trimmed(text);
  if (!is_printed_layout(text)) return plain(text);
  if (text.size() > kLongestPrinted)
    return wrong(fmt::format("a layout is said in at most {} characters, and these are {}", kLongestPrinted, text.size()));

  // Definitions and a type, each of one or several lines.
  std::vector<std::string> statements;
  for (const std::string& line : split(text, '\n')) {
    if (statements.empty() || is_printed_layout(line))
      statements.emplace_back(trimmed(line));
    else
      statements.back() += " " + std::string(trimmed(line));
  }
  mlir::Module module;
  std::string_view last;
  for (const std::string& statement : statements) {
    last = statement;
    const std::size_t equals = last.find('='), angle = last.find('<');
    if (!last.starts_with('#') || equals == std::string_view::npos || (angle != std::string_view::npos && angle < equals)) continue;
    const std::string name(trimmed(last.substr(0, equals)));
    last = trimmed(last.substr(equals + 1));
    module.aliases.insert_or_assign(name, std::string(last));
  }
  std::vector<std::int64_t> shape = context.shape;
  TritonLayout layout;
  PrintedLayout result;
  std::string_view of = last;
  if (last.starts_with('#')) {
    if (const auto alias = module.aliases.find(last); alias != module.aliases.end()) of = alias->second;
    layout = parse_layout(of, module);
  } else {
    const Type type = parse_type(last, module);
    if (!type.tile.tile() || type.tile.shape.empty())
      return wrong("expected the type of a tile with a layout, like tensor<64x64xf16, #ttg...>");
    if (!context.shape.empty() && context.shape != type.tile.shape)
      return wrong(
          fmt::format("is a type of ({}), and the tile is ({})", fmt::join(type.tile.shape, ", "), fmt::join(context.shape, ", ")));
    shape = type.tile.shape, layout = type.layout;
    result.bits = static_cast<int>(std::clamp<std::int64_t>(type.tile.bits, 1, 64));
    const std::size_t begins = last.find('#');
    of = begins == std::string_view::npos ? last : last.substr(begins);
    for (const auto& [name, meaning] : module.aliases)
      if (of.substr(0, of.find_first_of(",> ")) == name) of = meaning;
  }
  if (last.starts_with('#') && (layout.kind == TritonLayout::Kind::Linear || layout.name == "shared_linear")) return plain(of);
  if (shape.empty())
    return wrong(fmt::format("#{} needs the shape of the tile", name_in(layout)), "a shape, or the whole type: tensor<64x64xf16, #ttg...>");
  if (shape.size() > kMostLayoutDimensions || std::ranges::any_of(shape, [](std::int64_t x) { return x < 1 || x > kMostLayoutElements; }))
    return wrong(fmt::format("expected a tile of at most {} dimensions and {} elements", kMostLayoutDimensions, kMostLayoutElements));
  std::optional<heddle::Layout> found;
  switch (layout.kind) {
    case TritonLayout::Kind::SharedSwizzled: found = swizzled_shared(shape, layout, of); break;
    case TritonLayout::Kind::SharedNvmma:
      found = nvmma_shared(shape, layout);
      if (result.bits == 0) result.bits = static_cast<int>(std::clamp<std::int64_t>(layout.element_bits, 0, 64));
      break;
    default:
      if (const std::optional<Linear> linear = linear_of(shape, layout)) found = as_layout(*linear);
      break;
  }
  if (!found)
    return wrong(fmt::format("no layout is known that #{} gives a tile of ({}) in one block", name_in(layout), fmt::join(shape, ", ")),
                 "blocked, nvidia_mma, dot_op, slice, linear, swizzled_shared or nvmma_shared, extents that are powers of two");
  std::vector<Fault> faults = faults_of(*found);
  if (!faults.empty()) return wrong(fmt::format("#{}: {}", name_in(layout), faults.front().message));
  result.layout = canonical(*found);
  return result;
}

}  // namespace heddle::triton
