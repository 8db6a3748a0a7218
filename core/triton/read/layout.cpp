// Layouts as they are printed: "#ttg.blocked<{sizePerThread = [1, 8], ...}>" or an alias of the module.
#include <algorithm>

#include "core/base/saturate.h"
#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/triton/read/linear.h"
#include "core/triton/read/type.h"

namespace heddle::triton {
namespace {

constexpr int kDeepestLayout = 8;                               ///< aliases of aliases, slices of slices
constexpr std::int64_t kLargestNumber = std::int64_t{1} << 24;  ///< far above any layout; what is larger is none

std::string_view without_blanks(std::string_view text) { return trimmed(text, " \t"); }

/// Parts of a list at the commas of its outer level.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts = split_outside(text);
  for (std::string_view& part : parts) part = without_blanks(part);
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

/// What stands between the outermost `open` and `close`; empty where they are missing.
std::string_view inside(std::string_view text, char open, char close) {
  const std::size_t begin = text.find(open), end = text.rfind(close);
  return begin == std::string_view::npos || end == std::string_view::npos || end <= begin ? std::string_view()
                                                                                          : text.substr(begin + 1, end - begin - 1);
}

std::int64_t number(std::string_view text, std::int64_t fallback = 0) {
  const auto value = number_in_front(text, fallback);
  return value < -kLargestNumber || value > kLargestNumber ? fallback : value;
}

std::vector<std::int64_t> numbers(std::string_view text) {
  std::vector<std::int64_t> out;
  for (const std::string_view part : parts_of(inside(text, '[', ']'))) out.push_back(number(part));
  return out;
}

std::vector<std::vector<std::int64_t>> bases(std::string_view text) {
  std::vector<std::vector<std::int64_t>> out;
  for (const std::string_view part : parts_of(inside(text, '[', ']'))) out.push_back(numbers(part));
  return out;
}

TritonLayout::Kind kind_of(std::string_view name) {
  using K = TritonLayout::Kind;
  if (name == "blocked") return K::Blocked;
  if (name == "nvidia_mma") return K::NvidiaMma;
  if (name == "dot_op") return K::DotOperand;
  if (name == "slice") return K::Slice;
  if (name == "linear" || name == "generic_linear") return K::Linear;
  if (name == "swizzled_shared") return K::SharedSwizzled;
  if (name == "nvmma_shared") return K::SharedNvmma;
  if (name == "tensor_memory_encoding") return K::TensorMemory;
  return K::Other;
}

TritonLayout layout_of(std::string_view text, const mlir::Module& module, int depth);

void take(TritonLayout& layout, std::string_view key, std::string_view value, const mlir::Module& module, int depth) {
  if (key == "sizePerThread") layout.size_per_thread = numbers(value);
  if (key == "threadsPerWarp") layout.threads_per_warp = numbers(value);
  if (key == "warpsPerCTA") layout.warps_per_cta = numbers(value);
  if (key == "order") layout.order = numbers(value);
  if (key == "instrShape") layout.instr_shape = numbers(value);
  if (key == "register") layout.registers = bases(value);
  if (key == "lane") layout.lanes = bases(value);
  if (key == "warp") layout.warps = bases(value);
  if (key == "block") layout.blocks = bases(value);
  if (key == "versionMajor") layout.version = number(value);
  if (key == "dim") layout.dim = number(value);
  if (key == "opIdx") layout.op_idx = number(value);
  if (key == "kWidth") layout.k_width = number(value);
  if (key == "swizzlingByteWidth") layout.swizzle_bytes = number(value);
  if (key == "elementBitWidth") layout.element_bits = number(value);
  if (key == "transposed") layout.transposed = value == "true";
  if (key == "fp4Padded") layout.fp4_padded = value == "true";
  if (key == "blockM") layout.block_m = number(value);
  if (key == "blockN") layout.block_n = number(value);
  if (key == "colStride") layout.col_stride = std::max<std::int64_t>(1, number(value, 1));
  // Before Triton 3.6 the same fact had another name: unpacked tiles of 16 bits stand in every second half column.
  if (key == "unpacked" && value == "true") layout.col_stride = 0;
  if (key == "parent") layout.parent = {layout_of(value, module, depth + 1)};
}

/// `#triton_gpu.shared` of 3.2 says by `hasLeadingOffset` that the hardware swizzles: bytes = vec * maxPhase elements' worth.
void finish_old_shared(TritonLayout& layout, std::string_view fields) {
  std::int64_t vec = 1, max_phase = 1;
  bool hardware = false;
  for (const std::string_view field : parts_of(fields)) {
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = without_blanks(field.substr(0, equals)), value = without_blanks(field.substr(equals + 1));
    if (key == "vec") vec = number(value, 1);
    if (key == "maxPhase") max_phase = number(value, 1);
    if (key == "hasLeadingOffset") hardware = value == "true";
  }
  layout.kind = hardware ? TritonLayout::Kind::SharedNvmma : TritonLayout::Kind::SharedSwizzled;
  if (!hardware) return;
  layout.element_bits = vec > 0 ? 128 / std::clamp<std::int64_t>(vec, 1, 128) : 0;
  layout.swizzle_bytes = 16 * std::clamp<std::int64_t>(max_phase, 1, 8);
  layout.transposed = layout.order.size() >= 2 && layout.order.front() < layout.order.back();
}

TritonLayout layout_of(std::string_view text, const mlir::Module& module, int depth) {
  text = without_blanks(text);
  TritonLayout layout;
  if (text.empty() || text.front() != '#') return layout;
  if (depth > kDeepestLayout) {
    layout.kind = TritonLayout::Kind::Other;
    return layout;
  }
  const std::size_t dot = text.find('.'), angle = text.find('<');
  if (const auto alias = module.aliases.find(text); alias != module.aliases.end()) return layout_of(alias->second, module, depth + 1);
  if (dot == std::string_view::npos || (angle != std::string_view::npos && angle < dot)) {
    layout.kind = TritonLayout::Kind::Other;
    layout.name = std::string(text.substr(1, 40));
    return layout;
  }
  layout.name = std::string(text.substr(dot + 1, angle == std::string_view::npos ? 40 : std::min<std::size_t>(40, angle - dot - 1)));
  layout.kind = kind_of(layout.name);
  std::string_view fields = inside(text, '<', '>');
  if (const std::string_view braced = without_blanks(fields); !braced.empty() && braced.front() == '{') fields = inside(braced, '{', '}');
  for (const std::string_view field : parts_of(fields)) {
    const std::size_t equals = field.find('=');
    if (equals == std::string_view::npos) continue;
    take(layout, without_blanks(field.substr(0, equals)), without_blanks(field.substr(equals + 1)), module, depth);
  }
  if (layout.name == "shared") finish_old_shared(layout, fields);
  return layout;
}

}  // namespace

TritonLayout parse_layout(std::string_view text, const mlir::Module& module) { return layout_of(text, module, 0); }

std::int64_t elements_per_thread(const Type& type, std::int64_t warps) {
  if (type.tile.space != dump::TileType::Space::Register || type.tile.shape.empty()) return 0;
  if (const std::optional<Linear> linear = linear_of(type)) return std::int64_t{1} << linear->registers.size();
  // A layout that is not understood, but which threads share evenly.
  if (type.layout.kind != TritonLayout::Kind::None) return 0;
  return std::max<std::int64_t>(1, type.tile.elements() / std::max<std::int64_t>(1, sat_mul(warps, 32)));
}

std::int64_t registers_per_thread(const Type& type, std::int64_t warps) {
  const std::int64_t elements = elements_per_thread(type, warps);
  const std::int64_t bits = type.pointer ? 64 : std::max<std::int64_t>(8, type.tile.bits);  // a bit is kept as a byte, at best
  return (sat_add(sat_mul(elements, bits), 31)) / 32;
}

std::int64_t warps_over_rows(const TritonLayout& layout) {
  using K = TritonLayout::Kind;
  if ((layout.kind == K::Blocked || layout.kind == K::NvidiaMma) && !layout.warps_per_cta.empty())
    return std::max<std::int64_t>(1, layout.warps_per_cta.front());
  if (layout.kind == K::Linear) {
    std::int64_t warps = 1;
    for (const std::vector<std::int64_t>& basis : layout.warps)
      if (!basis.empty() && basis.front() != 0) warps = sat_mul(warps, 2);
    return warps;
  }
  if (layout.parent.empty()) return 1;
  const TritonLayout& parent = layout.parent.front();
  if (layout.kind == K::DotOperand) return layout.op_idx == 0 ? warps_over_rows(parent) : 1;
  if (layout.kind != K::Slice) return 1;
  if (layout.dim != 0) return warps_over_rows(parent);
  // What is left of the parent are its columns.
  if ((parent.kind == K::Blocked || parent.kind == K::NvidiaMma) && parent.warps_per_cta.size() > 1)
    return std::max<std::int64_t>(1, parent.warps_per_cta[1]);
  if (parent.kind == K::Linear) {
    std::int64_t warps = 1;
    for (const std::vector<std::int64_t>& basis : parent.warps)
      if (basis.size() > 1 && basis[1] != 0) warps = sat_mul(warps, 2);
    return warps;
  }
  return 1;
}

TensorSize tensor_size(const Type& type) {
  const std::vector<std::int64_t>& shape = type.tile.shape;
  if (shape.size() < 2) return {};
  const TritonLayout& layout = type.layout;
  const std::int64_t rows = shape[shape.size() - 2], columns = shape.back();
  std::int64_t slots = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) slots = sat_mul(slots, shape[i]);
  TensorSize size;
  if (layout.kind != TritonLayout::Kind::TensorMemory || layout.block_m <= 0) {
    // Scales of a scaled mma: 32 rows of 4 bytes, copied to all four quarters of the lanes.
    size.columns = sat_mul(slots, std::max<std::int64_t>(1, sat_mul(rows, columns) / 128));
    size.rows = 128;
    return size;
  }
  const std::int64_t block_n = std::clamp<std::int64_t>(layout.block_n, 1, columns);
  const std::int64_t block_m = std::min(layout.block_m, std::max<std::int64_t>(rows, 1));
  // An element takes its own bits, or a column of 32 for itself where the mmas read it so.
  const std::int64_t stride = layout.col_stride == 0 ? std::max<std::int64_t>(1, 32 / std::max<std::int64_t>(1, type.tile.bits))
                                                     : std::max<std::int64_t>(1, layout.col_stride);
  const std::int64_t per_block = std::max<std::int64_t>(1, sat_mul(sat_mul(block_n, type.tile.bits), stride) / 32);
  std::int64_t blocks = sat_mul(std::max<std::int64_t>(1, rows / block_m), std::max<std::int64_t>(1, columns / block_n));
  size.rows = 128;
  if (block_m == 64) {
    // A block of 64 rows takes 16 lanes of each quarter: two blocks stand beside each other in the same columns, and one alone leaves
    // room for another tile.
    if (blocks == 1)
      size.rows = 64;
    else
      blocks = (blocks + 1) / 2;
  }
  size.columns = sat_mul(slots, sat_mul(blocks, per_block));
  return size;
}

bool needs_shared_memory(const Type& from, const Type& to) {
  if (from.layout == to.layout) return false;
  const std::optional<Linear> source = linear_of(from), target = linear_of(to);
  return source && target && !within_warps(*source, *target);
}

}  // namespace heddle::triton
