// Threads are laid over the tile as over registers, so many neighbours to a thread as it copies at once, and the text of a store of these
// registers says where in shared memory they go (access_text.h).
#include "codegen/emit/copies.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "codegen/emit/access_text.h"
#include "codegen/emit/coordinates.h"
#include "codegen/emit/global_access.h"
#include "codegen/emit/places.h"
#include "core/layout/plan.h"

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostCopied = 16, kLeastCopied = 4;  ///< bytes of a cp.async (PTX ISA)

/// Which thread copies what: `width` columns to a thread, neighbouring threads along a row, then the next row, then the next registers.
struct CopyPlan {
  Layout layout;
  std::int64_t threads = 1;  ///< that have a part; the first ones of the role
};

CopyPlan plan_copies(const std::vector<std::int64_t>& shape, std::int64_t width, int warps) {
  CopyPlan plan;
  plan.layout.shape = shape;
  const std::size_t last = shape.size() - 1;
  const std::int64_t rows = shape.size() > 1 ? shape[0] : 1;
  const auto power = [](std::int64_t x) { return x & -x; };  // the largest that divides it
  const auto move = [&](std::size_t dimension, std::int64_t by) {
    Coordinates c(shape.size(), 0);
    c[dimension] = by;
    return c;
  };
  std::vector<Coordinates> pieces;  // from thread to thread
  std::int64_t column = width, row = 1;
  for (std::int64_t c = 1; c < width; c *= 2) plan.layout.of(LayoutAxis::Register).push_back(move(last, c));
  for (; column < power(shape[last]); column *= 2) pieces.push_back(move(last, column));
  for (; row < power(rows); row *= 2) pieces.push_back(move(0, row));
  const auto lanes = static_cast<std::size_t>(5), all = lanes + static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(warps)) - 1);
  for (std::size_t p = 0; p < std::max(pieces.size(), all); ++p) {
    const LayoutAxis axis = p < lanes ? LayoutAxis::Lane : p < all ? LayoutAxis::Warp : LayoutAxis::Register;
    plan.layout.of(axis).push_back(p < pieces.size() ? pieces[p] : Coordinates(shape.size(), 0));
    if (p < std::min(pieces.size(), all)) plan.threads *= 2;
  }
  std::int64_t pitch = std::int64_t{1} << plan.layout.of(LayoutAxis::Register).size();
  const auto repeat = [&](std::size_t dimension, std::int64_t extent, std::int64_t step) {
    if (extent > 1) plan.layout.repeats.push_back({LayoutAxis::Register, extent, pitch, dimension, step});
    pitch *= extent;
  };
  repeat(last, shape[last] / column, column);
  if (shape.size() > 1) repeat(0, rows / row, row);
  return plan;
}

/// Of the bytes at a time that fit rows in memory and in the tensor, the most; the last refusal where none does.
struct Copied {
  CopyPlan plan;
  AccessText text;
  GlobalTile from;
  std::string row, column;
};

std::optional<Copied> copied(EmitContext& emit, const Step& step, const TileOp& op, std::int64_t bytes) {
  const std::size_t v = step.output.value;
  const auto& shape = emit.tiles.values[v].shape;
  const int bits = bits_of(emit.kernel.values[v].dtype);
  const std::int64_t width = bytes * 8 / bits;
  const Layout* memory = emit.tiles.layout_of(v);
  const auto unfit = [&](const std::string& why) {
    emit.refuse("copies", op, fmt::format("'{}' {}", op.name, why));
    return std::nullopt;
  };
  if (!memory || shape.empty() || shape.size() > 2) return unfit("copies a tile that lies in shared memory in no known way");
  if (width < 1 || shape.back() % width != 0)
    return unfit(fmt::format("copies rows of {} numbers, and cp.async moves 4, 8 or 16 bytes: let a tile's rows be multiples of 4 bytes",
                             shape.back()));
  Copied made{plan_copies(shape, width, emit.role->warps), {}, {}, {}, {}};
  const Buffer& buffer = emit.program.buffers[step.output.index];
  std::int64_t alignment = 1024;
  while (buffer.offset % alignment != 0 || (buffer.depth > 1 && buffer.slot_bytes % alignment != 0)) alignment /= 2;
  AccessTextResult to =
      access_text({&made.plan.layout, memory, bits, {fmt::format("st.shared.{}", bytes), {}}, 0, 1, false, alignment, nullptr}, "to");
  const auto row = shape.size() == 2 ? coordinate_text(made.plan.layout, 0) : std::optional<std::string>("");
  const auto column = coordinate_text(made.plan.layout, shape.size() - 1);
  if (!to.text || !row || !column)
    return unfit(fmt::format("copies neighbours of a row, and '{}' ({}) does not keep {} bytes of them side by side: {}",
                             emit.kernel.values[v].name, emit.tiles.plan->values[v].text, bytes, to.refusal));
  auto from = global_tile(emit, step, op, false, width);
  if (!from) return std::nullopt;
  made.text = std::move(*to.text), made.from = std::move(*from), made.row = *row, made.column = *column;
  return made;
}

}  // namespace

void write_copies(EmitContext& emit, const Step& step) {
  const TileOp& op = op_of(emit.kernel, step.op);
  const std::size_t tensor = tensor_of(emit, op);
  const DType type = emit.kernel.values[step.output.value].dtype;
  if (emit.kernel.tensors[tensor].dtype != type || bits_of(type) < 8 || emit.tiles.plan->packed.contains(op.tensor) ||
      emit.program.buffers[step.output.index].shared ||
      emit.kernel.tensors[tensor].shape.size() < emit.tiles.values[step.output.value].shape.size())
    return emit.refuse("copies", op,
                       fmt::format("'{}' copies a tile of a tensor of another type, of numbers of 4 bits, or for both blocks of a cluster: "
                                   "tma_load can be written",
                                   op.name));
  const std::vector<Refusal> before = emit.refusals;
  std::optional<Copied> made;
  std::int64_t bytes = kMostCopied;
  for (; bytes >= kLeastCopied && !made; bytes /= 2) {
    emit.refusals = before;
    made = copied(emit, step, op, bytes);
  }
  if (!made) return;
  bytes *= 2;
  const std::int64_t width = bytes * 8 / bits_of(type), rounds = made->plan.layout.extent(LayoutAxis::Register) / width;
  const std::string slot = slot_text(emit, step.output), from = pointer_to(emit, tensor);
  const AccessText& to = made->text;
  const bool part = made->plan.threads < std::int64_t{32} * emit.role->warps;
  if (part)
    emit.text.open("if (tid < {}) {{", made->plan.threads);
  else
    emit.text.open();
  if (to.in_tile)
    emit.text.line("const u32 to = {};", to.lanes);
  else
    emit.text.line("const u32 to = {}{};", slot, to.lanes == "0" ? "" : " + " + to.lanes);
  const std::string address =
      to.in_tile ? fmt::format("{}{} + {}", slot, to.base == 0 ? "" : fmt::format(" + {}", to.base), to.address) : to.address;
  emit.text.raw("#pragma unroll");
  emit.text.open("for (int j = 0; j < {}; ++j) {{", rounds);
  if (made->row.find('e') != std::string::npos || made->column.find('e') != std::string::npos)
    emit.text.line("const int e = j * {};", width);
  const std::size_t rank = made->from.at.size();
  if (!made->row.empty()) emit.text.line("const int row = {} + {};", made->from.at[rank - 2], made->row);
  emit.text.line("const int column = {} + {};", made->from.at[rank - 1], made->column);
  emit.text.line("copy_{}({}, {} + {}{});", bytes, address, from, made->from.offset,
                 made->from.inside.empty() ? std::string() : fmt::format(", {} ? {} : 0", made->from.inside, bytes));
  emit.text.close();
  emit.text.close();
  emit.text.line("arrive_when_copied({});", barrier_text(emit, step.barrier, step.cursor));
}

}  // namespace heddle::codegen
