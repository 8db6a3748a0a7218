#include "codegen/interpret/interpret.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "codegen/interpret/machine.h"
#include "core/base/text_style.h"
#include "core/kernel/execute.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_semantics.h"
#include "core/kernel/rounding.h"

namespace heddle::codegen {
namespace {

std::int64_t width_of(const Array& tile, const Piece& piece) { return tile.shape.back() / piece.count; }

bool inside(std::size_t element, const Array& tile, const Piece& piece) {
  const std::int64_t column = static_cast<std::int64_t>(element) % tile.shape.back();
  return column / width_of(tile, piece) == piece.number;
}

Array piece_columns(const Array& tile, const Piece& piece) {
  Array part;
  part.shape = tile.shape;
  part.shape.back() = width_of(tile, piece);
  for (std::size_t k = 0; k < tile.data.size(); ++k)
    if (inside(k, tile, piece)) part.data.push_back(tile.data[k]);
  return part;
}

void forget_others(Array& tile, const Piece& piece) {
  for (std::size_t k = 0; k < tile.data.size(); ++k)
    if (!inside(k, tile, piece)) tile.data[k] = std::numeric_limits<float>::quiet_NaN();
}

/// The tiles of a block, which begin at number `first` of the clusters' grid.
struct BlockTiles {
  std::vector<std::int64_t> grid;
  std::int64_t first = 0;
};

/// The ops of core/kernel, for the tiles of one block.
class EvalData : public TileData {
 public:
  EvalData(const Kernel& kernel, const Program& program, TensorMap& tensors, BlockTiles tiles, const std::stop_token& stop)
      : kernel_(kernel),
        program_(program),
        scope_(program.params),
        trips_(program.trips),
        tensors_(tensors),
        tiles_(std::move(tiles)),
        stop_(stop) {
    for (const TileValue& value : kernel.values) {
      auto& shape = shapes_.emplace_back();
      for (const Expr& extent : value.shape) shape.push_back(extent.evaluate(program.params).value());
    }
  }

  std::string compute(const TileWork& work, Array* output) override {
    const auto& [ref, piece, tile, iteration, inputs, value] = work;
    const TileOp& op = op_of(kernel_, ref);
    if (std::string why = locate(ref, tile, iteration); !why.empty()) return why;
    if (output) {
      output->shape = shapes_[value];
      std::int64_t size = 1;
      for (const std::int64_t extent : output->shape) size *= extent;
      output->data.resize(static_cast<std::size_t>(size));
    }
    const auto tensor = tensors_.find(op.tensor);
    const OpFunction function = find_op_function(op.kind);
    if (!function) return fmt::format("ops of kind '{}' cannot be executed", op.kind);
    const bool stores = piece.count > 1 && !output;
    const Array part = stores ? piece_columns(*inputs.at(0), piece) : Array{};
    if (stores) at_.back() += piece.number * part.shape.back();
    std::string complaint = function({&op, stores ? std::vector<const Array*>{&part} : inputs, output,
                                      tensor == tensors_.end() ? nullptr : &tensor->second, at_, &stop_, rows_, before_});
    if (complaint.empty() && output) round_all(kernel_.values[value].dtype, output->data);
    if (complaint.empty() && output && piece.count > 1 && kernel_.values[value].space == Space::Smem) forget_others(*output, piece);
    return complaint;
  }

  std::string misplaced(const Step& step, std::int64_t tile, std::int64_t iteration) override {
    const Tensor* tensor = kernel_.find_tensor(op_of(kernel_, step.op).tensor);
    if (!tensor || step.packed || !locate(step.op, tile, iteration).empty() || at_.empty()) return {};
    const std::int64_t column = at_.back() & -std::int64_t{step.round_to}, bits = column * bits_of(tensor->dtype);
    if (bits % (kLeastBoxBytes * 8) == 0) return {};
    return fmt::format("begins at column {} of '{}', {} bytes behind the row's beginning, and TMA needs a multiple of {}", column,
                       tensor->name, bits / 8, kLeastBoxBytes);
  }

  std::int64_t trips(std::int64_t tile) override {
    const auto all = kernel_.loop.trips.evaluate(scope_);
    const std::int64_t most = program_.sizes.empty() || !all.ok() ? trips_ : *all;
    if (!kernel_.loop.tile_trips) return most;
    // Blocks of a cluster go through their loops together.
    std::int64_t needed = 0;
    for (std::int64_t block = 0; block < program_.cluster; ++block) {
      go_to(tile / program_.cluster * program_.cluster + block);
      const auto number = kernel_.loop.tile_trips->evaluate(scope_);
      needed = std::max(needed, number.ok() ? *number : most);
    }
    return std::min(needed, most);
  }

 private:
  /// Of an op in a tile: `at_`, `rows_` and `before_`, or why not.
  std::string locate(OpRef ref, std::int64_t tile, std::int64_t iteration) {
    go_to(tile);
    scope_[kernel_.loop.variable] = ref.list == OpRef::List::Prologue ? 0 : ref.list == OpRef::List::Epilogue ? trips_ : iteration;
    at_.clear(), rows_.clear();
    const TileOp& op = op_of(kernel_, ref);
    if (looks_rows_up(op)) {
      const auto value =
          std::find_if(kernel_.values.begin(), kernel_.values.end(), [&](const TileValue& v) { return v.name == op.outputs.at(0); });
      auto rows = looked_up_rows(op, shapes_[static_cast<std::size_t>(value - kernel_.values.begin())].at(0), scope_);
      if (!rows.ok()) return to_string(rows.error());
      rows_ = *std::move(rows), at_.push_back(0);
    }
    for (std::size_t d = at_.size(); d < op.at.size(); ++d) {
      const auto number = op.at[d].evaluate(scope_);
      if (!number.ok()) return to_string(number.error());
      at_.push_back(*number);
    }
    before_.reset();
    if (const auto end = end_of_rows(op)) {
      const auto number = end->evaluate(scope_);
      if (!number.ok()) return to_string(number.error());
      before_ = *number;
    }
    return {};
  }
  void go_to(std::int64_t tile) {
    std::int64_t index = tiles_.first + tile / program_.cluster;
    for (std::size_t d = 0; d < tiles_.grid.size(); ++d) {
      const bool across = program_.cluster > 1 && d == program_.cluster_dim;
      const std::int64_t at = index % tiles_.grid[d];
      scope_[kernel_.grid[d].name] = across ? at * program_.cluster + tile % program_.cluster : at;
      index /= tiles_.grid[d];
    }
  }

  const Kernel& kernel_;
  const Program& program_;
  Scope scope_;
  const std::int64_t trips_;
  TensorMap& tensors_;
  const BlockTiles tiles_;
  const std::stop_token& stop_;
  std::vector<std::vector<std::int64_t>> shapes_;
  std::vector<std::int64_t> at_, rows_;
  std::optional<std::int64_t> before_;
};

}  // namespace

const char* to_string(FaultKind kind) {
  switch (kind) {
    case FaultKind::Deadlock: return "deadlock";
    case FaultKind::NotReady: return "use before ready";
    case FaultKind::Overwrite: return "overwrite";
    case FaultKind::Fence: return "missing fence";
    case FaultKind::Parity: return "parity aliasing";
    case FaultKind::Turns: return "turns";
    case FaultKind::Registers: return "registers";
    case FaultKind::Lanes: return "lanes of another warp";
    case FaultKind::Aliasing: return "columns of another tile";
    case FaultKind::NotFreed: return "columns never freed";
    case FaultKind::Alignment: return "alignment";
    case FaultKind::Semantics: return "cannot be computed";
  }
  return "";
}

std::string to_string(const ProgramFault& fault) {
  std::string text = to_string(fault.kind);
  if (!fault.role.empty()) text += ": " + printable(fault.role);
  if (!fault.step.empty()) text += fmt::format(" at '{}', tile {}, iteration {}", printable(fault.step), fault.tile, fault.iteration);
  return text + ": " + printable(fault.what);
}

std::optional<ProgramFault> run_symbolic(const Kernel& kernel, const Program& program, const Interleaving& how) {
  return run_block(kernel, program, how, nullptr);
}

Result<std::optional<ProgramFault>> run_with_data(const Kernel& kernel, const Program& program, TensorMap& tensors, const Interleaving& how,
                                                  const std::stop_token& stop) {
  if (auto planned = plan_execution(kernel, program.params, tensors); !planned.ok()) return planned.error();
  std::vector<std::int64_t> grid;
  std::int64_t tiles = 1;
  for (const GridDim& dim : kernel.grid) {
    grid.push_back(dim.size.evaluate(program.params).value());
    // Where the number is odd, the last cluster's other block works outside the tensors.
    if (program.cluster > 1 && grid.size() - 1 == program.cluster_dim) grid.back() = (grid.back() + program.cluster - 1) / program.cluster;
    tiles *= grid.back();
  }
  for (std::int64_t first = 0; first < tiles && !stop.stop_requested(); first += how.tiles) {
    Interleaving block = how;
    block.tiles = std::min(how.tiles, tiles - first);
    block.seed = how.seed + static_cast<std::uint64_t>(first);
    block.stop = stop;
    EvalData data(kernel, program, tensors, {grid, first}, stop);
    if (auto fault = run_block(kernel, program, block, &data)) return std::optional(std::move(*fault));
  }
  return std::optional<ProgramFault>();
}

}  // namespace heddle::codegen
