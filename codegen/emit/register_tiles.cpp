// How tiles lie in registers: wgmma's fragments, whole rows per warp, or a row per thread.
#include <algorithm>

#include "codegen/emit/writer.h"

namespace heddle::codegen {

void Writer::lay_out_values() {
  const bool products = std::any_of(kernel_.body.begin(), kernel_.body.end(), [](const TileOp& op) { return op.kind == "mma"; });
  tiles_ = !products ? Tiles::WarpRows : program_.blackwell() ? Tiles::ThreadRows : Tiles::Fragments;
  std::int64_t rows = 0, cols = 0;  // WarpRows: that all tiles share
  for (const TileValue& v : kernel_.values) {
    Value& value = values_.emplace_back();
    for (const Expr& extent : v.shape) value.shape.push_back(extent.evaluate(program_.params).value());
    value.per_register = 32 / bits_of(v.dtype);
    value.packed = value.per_register > 1;
    if (v.space == Space::Register && value.shape.size() == 2) rows = value.shape[0], cols = value.shape[1];
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const TileValue& v = kernel_.values[i];
    Value& value = values_[i];
    if (v.space != Space::Register) continue;
    const auto odd = [&](const std::string& what) {
      refusals_.push_back({"layout", {}, fmt::format("'{}' {}", v.name, what), std::nullopt});
    };
    if (v.dtype == DType::I32) {
      odd("holds integers of 32 bits in registers; f32, and numbers of 16, 8 and 4 bits can be written");
      continue;
    }
    const std::string wrong = lay_out(v, value, rows, cols);
    if (!wrong.empty()) odd(wrong);
    const int elements = value.layout->elements;
    if (elements > 256) odd("takes more registers than a thread has");
    if (value.shape.size() == 1) {
      const std::int64_t words = (elements + value.per_register - 1) / value.per_register, share = (value.shape[0] + 127) / 128;
      const std::int64_t said = v.registers ? v.registers->evaluate(program_.params).value() : share;
      if (said < words)
        odd(fmt::format("lies in {} registers of every thread, and its file says {} (\"registers\": {})", words, said, words));
    }
  }
}

std::string Writer::lay_out(const TileValue& of, Value& value, std::int64_t rows, std::int64_t cols) const {
  Layout& layout = value.layout.emplace();
  const auto& shape = value.shape;
  const char* unknown = "has a shape that is spread over threads in no known way";
  if (shape.size() != 1 && shape.size() != 2) return unknown;
  const auto is = [&](Layout::Kind kind, std::int64_t of_rows, std::int64_t of_cols, std::int64_t elements) {
    layout = {kind, static_cast<int>(elements), 0, of_rows, of_cols};
    return std::string();
  };
  using Kind = Layout::Kind;
  switch (tiles_) {
    case Tiles::Fragments:
      if (shape.size() == 2) {
        is(Kind::Matrix, shape[0], shape[1], shape[1] / 2);
        if (shape[0] == 64 && shape[1] % 16 == 0 && shape[1] <= 256) return {};
        return "is no tile of 64 rows and 16 to 256 columns, as one warpgroup holds";
      }
      if (shape[0] % 8 == 0 && lies_along_columns(of)) return is(Kind::Columns, 0, shape[0], shape[0] / 4);
      if (shape[0] == 64) return is(Kind::Rows, shape[0], 0, 2);
      return unknown;
    case Tiles::WarpRows:
      if (shape.size() == 2) {
        is(Kind::Matrix, shape[0], shape[1], rows / 4 * (cols / 32));
        layout.columns = static_cast<int>(cols / 32);
        if (shape[0] == rows && shape[1] == cols && rows % 4 == 0 && cols % 256 == 0) return {};
        return "does not have the rows (a multiple of 4) and columns (a multiple of 256) of the kernel's other tiles";
      }
      if (shape[0] == rows) return is(Kind::Rows, shape[0], 0, rows / 4);
      if (shape[0] == cols) return is(Kind::Columns, 0, cols, cols / 32);
      return unknown;
    case Tiles::ThreadRows:
      if (shape.size() == 2) {
        is(Kind::Matrix, shape[0], shape[1], shape[1]);
        layout.columns = layout.elements;
        if (shape[0] == 128 && shape[1] % 16 == 0 && shape[1] <= 256) return {};
        return "is no tile of 128 rows and 16 to 256 columns, a row for each thread of a warpgroup";
      }
      if (lies_along_columns(of)) return "is one number per column in registers, where each thread has a row: it can be in shared memory";
      if (shape[0] == 128) return is(Kind::Rows, shape[0], 0, 1);
      return unknown;
  }
  return unknown;
}

std::string Writer::index_of_row(const Layout& tile) const {
  switch (tiles_) {
    case Tiles::Fragments: return "(e >> 1) & 1";
    case Tiles::WarpRows: return fmt::format("e / {}", tile.columns);
    case Tiles::ThreadRows: break;
  }
  return "0";
}

bool Writer::takes_by_column(const TileOp& op, std::size_t input) const {
  if (op.kind != "map") return integer_attr(op, "axis", 0) == 1 && !is_reduction(op.kind);
  const auto shape = [&](const std::string& name) -> const std::vector<std::int64_t>& {
    std::size_t v = 0;
    while (kernel_.values[v].name != name) ++v;
    return values_[v].shape;
  };
  return map_lay(op, input, shape(op.inputs[input].value), shape(op.outputs[0])) == Lay::AlongColumns;
}

/// Some op lays it over a tile, one element for each column, or what is computed of it element by element.
bool Writer::lies_along_columns(const TileValue& value) const {
  std::vector<std::string> names{value.name};
  for (std::size_t n = 0; n < names.size(); ++n)
    for (const auto* list : {&kernel_.prologue, &kernel_.body, &kernel_.epilogue})
      for (const TileOp& op : *list)
        for (std::size_t k = 0; k < op.inputs.size(); ++k) {
          if (op.inputs[k].value != names[n]) continue;
          if (takes_by_column(op, k)) return true;
          const bool each = op.kind == "map" || op.kind == "elementwise" || op.kind == "exp2" || op.kind == "convert" || op.kind == "copy";
          if (each && kernel_.find_value(op.outputs[0])->shape.size() == 1 &&
              std::find(names.begin(), names.end(), op.outputs[0]) == names.end())
            names.push_back(op.outputs[0]);
        }
  return false;
}

}  // namespace heddle::codegen
