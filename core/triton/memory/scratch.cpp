// A conversion that stays inside warps needs none; a reduction first adds up what threads and lanes hold, and if warps are left over, their
// partial results change places with lanes, once or more often. The rules are those of Triton's lib/Analysis/Utility.cpp and Allocation.cpp
// (2026).
#include "core/triton/memory/scratch.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/saturate.h"
#include "core/triton/read/ops.h"

namespace heddle::triton {
namespace {

using dump::TileType;

std::int64_t bytes_of_bits(std::int64_t bits) { return std::max<std::int64_t>(8, bits) / 8; }

/// A layout by coordinates, of which one dimension is being reduced.
struct Partial {
  using Basis = std::vector<std::uint32_t>;
  std::vector<Basis> registers, lanes, warps;
  std::vector<int> bits;
  std::size_t axis = 0;

  Partial(const Linear& linear, std::size_t along) : bits(linear.bits), axis(along) {
    const auto split = [&](const std::vector<std::uint32_t>& from, std::vector<Basis>& to) {
      for (const std::uint32_t position : from) {
        Basis basis;
        for (std::size_t d = 0; d < bits.size(); ++d) basis.push_back((position >> linear.offset(d)) & ((1u << bits[d]) - 1));
        to.push_back(std::move(basis));
      }
    };
    split(linear.registers, registers);
    split(linear.lanes, lanes);
    split(linear.warps, warps);
  }

  static bool zero(const Basis& basis) {
    return std::ranges::all_of(basis, [](std::uint32_t x) { return x == 0; });
  }

  /// One place of the machine has been added up; what is left along the axis is numbered anew.
  void reduced(std::vector<Basis>& where) {
    for (Basis& basis : where) basis[axis] = 0;
    int left = 0;
    for (std::vector<Basis>* part : {&registers, &lanes, &warps})
      for (Basis& basis : *part)
        if (basis[axis] != 0) basis[axis] = 1u << left++;
    bits[axis] = left;
    std::erase_if(registers, zero);
  }

  /// What warps hold along the axis goes to lanes: to idle ones if there are enough, else to the first.
  void warps_to_lanes() {
    std::vector<std::size_t> along, idle;
    for (std::size_t i = 0; i < warps.size(); ++i)
      if (warps[i][axis] != 0) along.push_back(i);
    for (std::size_t i = 0; i < lanes.size(); ++i)
      if (zero(lanes[i])) idle.push_back(i);
    const bool spare = idle.size() >= along.size();
    for (std::size_t i = 0; i < along.size() && i < lanes.size(); ++i) std::swap(lanes[spare ? idle[i] : i], warps[along[i]]);
  }

  Linear flat() const {
    Linear linear;
    linear.bits = bits;
    const auto join = [&](const std::vector<Basis>& from, std::vector<std::uint32_t>& to) {
      for (const Basis& basis : from) {
        std::uint32_t position = 0;
        for (std::size_t d = 0; d < bits.size(); ++d) position |= basis[d] << linear.offset(d);
        to.push_back(position);
      }
    };
    join(registers, linear.registers);
    join(lanes, linear.lanes);
    join(warps, linear.warps);
    return linear;
  }
};

/// Atomics tell their result to threads that hold the same element, or all threads of a scalar.
Scratch scratch_of_atomic(const TritonProgram& program, const mlir::Op& op) {
  if (op.results.empty()) return {};
  const bool used = std::ranges::any_of(program.module->ops, [&](const mlir::Op& reader) {
    return std::ranges::find(reader.operands, op.results.front()) != reader.operands.end();
  });
  if (!used) return {};
  const Type& type = program.type(op.results.front());
  const std::int64_t each = bytes_of_bits(type.tile.bits);
  if (!type.tile.tile()) return {each, {}};
  const std::optional<Linear> linear = linear_of(type);
  if (!linear) return {0, "the layout of an atomic's result is not known"};
  const auto has_copies = [](const std::vector<std::uint32_t>& bases) { return std::ranges::find(bases, 0u) != bases.end(); };
  if (!has_copies(linear->registers) && !has_copies(linear->lanes) && !has_copies(linear->warps)) return {};
  return {sat_mul(type.tile.elements(), each), {}};
}

/// A scan along several warps keeps a number for every row of every block that a warp holds.
Scratch scratch_of_scan(const std::vector<Type>& inputs, const mlir::Op& op) {
  const Type& type = inputs.front();
  const TritonLayout& layout = type.layout;
  const auto axis = static_cast<std::size_t>(std::max<std::int64_t>(0, op.integer("axis", 0)));
  const std::size_t rank = type.tile.shape.size();
  if (layout.kind != TritonLayout::Kind::Blocked || layout.warps_per_cta.size() != rank || layout.size_per_thread.size() != rank ||
      layout.threads_per_warp.size() != rank || axis >= rank || !linear_of(type))
    return {0, fmt::format("line {}: what {} takes under this layout is not counted", op.line, op.name)};
  if (layout.warps_per_cta[axis] <= 1) return {};
  std::int64_t numbers = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    numbers = sat_mul(numbers, layout.warps_per_cta[d]);
    if (d != axis) numbers = sat_mul(numbers, sat_mul(layout.threads_per_warp[d], layout.size_per_thread[d]));
    const std::int64_t block = sat_mul(sat_mul(layout.size_per_thread[d], layout.threads_per_warp[d]), layout.warps_per_cta[d]);
    numbers = sat_mul(numbers, (type.tile.shape[d] + block - 1) / std::max<std::int64_t>(1, block));
  }
  Scratch scratch;
  for (const Type& input : inputs) scratch.bytes = sat_add(scratch.bytes, sat_mul(numbers, bytes_of_bits(input.tile.bits)));
  return scratch;
}

}  // namespace

Scratch scratch_of_convert(const Type& from, const Type& to, int target) {
  if (from.layout == to.layout) return {};
  const std::optional<Linear> source = linear_of(from), goal = linear_of(to);
  if (!source || !goal)
    return {0, fmt::format("what a conversion between the layouts {} and {} takes is not known", from.layout.name, to.layout.name)};
  if (within_warps(*source, *goal)) return {};
  const std::int64_t bits = from.pointer ? 64 : from.tile.bits;
  return {sat_mul(exchanged_elements(*source, *goal, bits, target), bytes_of_bits(bits)), {}};
}

bool exchanges_in_rounds(const TritonProgram& program) { return program.module->find("ttng.two-ctas") != nullptr; }

bool pads_conversions(const TritonProgram& program) {
  if (exchanges_in_rounds(program)) return false;
  for (const char* older : {"3.0.", "3.1.", "3.2.", "3.3.", "3.4.", "3.5."})
    if (program.metadata.triton_version.starts_with(older)) return true;
  if (!program.metadata.triton_version.empty()) return false;
  const mlir::Block* body = program.function.valid() ? program.module->body(program.function) : nullptr;
  return body && !body->arguments.empty() && program.module->value(body->arguments.front()).name == "arg0";
}

Scratch scratch_of_reduce(const std::vector<Type>& inputs, std::int64_t axis, bool in_rounds) {
  if (inputs.empty()) return {};
  const std::optional<Linear> linear = linear_of(inputs.front());
  if (!linear || axis < 0 || axis >= static_cast<std::int64_t>(linear->bits.size()))
    return {0, fmt::format("what a reduction under the layout {} takes is not known", inputs.front().layout.name)};
  const auto along = static_cast<std::size_t>(axis);
  if (!in_rounds) {
    const std::uint32_t mask = ((1u << linear->bits[along]) - 1) << linear->offset(along);
    const auto warps = std::ranges::count_if(linear->warps, [&](std::uint32_t basis) { return (basis & mask) != 0; });
    Scratch scratch;
    if (warps == 0) return scratch;
    const std::int64_t partials = (inputs.front().tile.elements() >> linear->bits[along]) << warps;
    for (const Type& input : inputs) scratch.bytes = sat_add(scratch.bytes, sat_mul(partials, bytes_of_bits(input.tile.bits)));
    return scratch;
  }
  Partial partial(without_copies(*linear), along);
  partial.reduced(partial.registers);
  partial.reduced(partial.lanes);
  Scratch scratch;
  for (int round = 0; partial.bits[partial.axis] > 0 && round < 4; ++round) {
    const Linear before = partial.flat();
    partial.warps_to_lanes();
    const Linear after = partial.flat();
    std::int64_t bytes = 0;
    for (const Type& input : inputs)
      bytes = sat_add(bytes, sat_mul(exchanged_elements(before, after, input.tile.bits, 0), bytes_of_bits(input.tile.bits)));
    scratch.bytes = std::max(scratch.bytes, bytes);
    partial.reduced(partial.lanes);
  }
  return scratch;
}

Scratch scratch_of(const TritonProgram& program, const mlir::Op& op) {
  const std::string_view name = without_dialect(op.name);
  const auto types = [&] {
    std::vector<Type> out;
    for (std::size_t i = 0; i < op.operands.size(); ++i) out.push_back(program.operand_type(op, i));
    return out;
  };
  if (name == "convert_layout" && !op.operands.empty() && !op.results.empty())
    return scratch_of_convert(program.operand_type(op, 0), program.type(op.results.front()), program.target);
  if (name == "reduce" && op.name.starts_with("tt."))
    return scratch_of_reduce(types(), op.integer("axis", 0), exchanges_in_rounds(program));
  if (name.starts_with("atomic_") && op.name.starts_with("tt.")) return scratch_of_atomic(program, op);
  if (name == "tensormap_create" || name == "make_tensor_descriptor" || name == "make_tensor_desc") return {128, {}};
  if (name == "histogram" && !op.results.empty()) {
    const TileType& tile = program.type(op.results.front()).tile;
    return {sat_mul(std::max<std::int64_t>(32, tile.elements()), bytes_of_bits(tile.bits)), {}};
  }
  if (op.name == "tt.scan" && !op.operands.empty()) return scratch_of_scan(types(), op);
  if (op.name == "tt.gather" || op.name == "tt.call" || op.name == "tt.map_elementwise")
    return {0, fmt::format("line {}: what {} takes is not counted", op.line, op.name)};
  return {};
}

}  // namespace heddle::triton
