// What threads read from global memory themselves, each the elements that it holds: vectors and tiles that an epilogue adds or
// multiplies by.
#include "codegen/emit/writer.h"

namespace heddle::codegen {
namespace {

/// Smallest and largest value of an affine form where each variable goes from 0 to its count - 1.
std::pair<std::int64_t, std::int64_t> range_of(const Affine& affine, const std::vector<std::int64_t>& counts) {
  std::int64_t low = affine.constant, high = affine.constant;
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const std::int64_t most = affine.coefficients[v] * (counts[v] - 1);
    (most < 0 ? low : high) += most;
  }
  return {low, high};
}

}  // namespace

std::string Writer::pointer_to(std::size_t tensor) {
  std::size_t pointer = 0;
  while (pointer < launch_.pointers.size() && launch_.pointers[pointer] != tensor) ++pointer;
  if (pointer == launch_.pointers.size()) launch_.pointers.push_back(tensor);
  return fmt::format("in{}", pointer);
}

void Writer::write_global_load(const Step& step, const TileOp& op) {
  const Value& out = values_[step.output.value];
  const TileValue& value = kernel_.values[step.output.value];
  std::size_t index = 0;
  while (index < kernel_.tensors.size() && kernel_.tensors[index].name != op.tensor) ++index;
  const Tensor& tensor = kernel_.tensors[index];
  const auto unfit = [&](const char* why) { refuse("load", op, fmt::format("'{}' {}", op.name, why)); };
  const bool half = tensor.dtype == DType::Bf16 || tensor.dtype == DType::F16;
  if (!out.layout || (!half && tensor.dtype != DType::F32) || (out.packed && value.dtype != tensor.dtype))
    return unfit("loads something else than f32, bf16 or f16 into registers, or converts to 16 bits on the way");
  if (tiles_ == Tiles::ThreadRows)
    return unfit("loads into registers where each thread has a row; tma_load to shared memory can be written");
  if (tiles_ == Tiles::WarpRows) return write_whole_vector(step, op, pointer_to(index));

  // Where the tile lies, outermost dimension first, and whether it can reach over the tensor's end.
  std::vector<std::string> variables;
  std::vector<std::int64_t> counts, extents;
  for (std::size_t d = 0; d < kernel_.grid.size(); ++d) {
    variables.push_back(kernel_.grid[d].name);
    counts.push_back(grid_[d] * (program_.cluster > 1 && d == program_.cluster_dim ? program_.cluster : 1));
  }
  variables.push_back(kernel_.loop.variable);
  counts.push_back(program_.trips + 1);
  for (const Expr& extent : tensor.shape) extents.push_back(extent.evaluate(program_.params).value());
  const std::size_t rank = extents.size(), lead = rank - out.shape.size();
  std::vector<std::string> at = coordinates(step, op);
  at = {at.rbegin(), at.rend()};
  std::string inside;
  bool even = extents.back() % 2 == 0;
  for (std::size_t d = 0; d < rank; ++d) {
    const auto affine = affine_of(op.at[d], program_.params, variables);
    if (!affine) return;  // coordinates() has refused it
    const auto [low, high] = range_of(*affine, counts);
    if (low < 0) return unfit("loads from before the beginning of a tensor");
    const std::int64_t size = d < lead ? 1 : out.shape[d - lead];
    const bool column = d + 1 == rank && out.layout->kind != Layout::Kind::Rows;
    if (high + size > extents[d])
      inside += fmt::format("{}{} < {}", inside.empty() ? "" : " && ", d < lead ? at[d] : column ? "column" : "row", extents[d]);
    if (column) {
      even = even && affine->constant % 2 == 0;
      for (const std::int64_t c : affine->coefficients) even = even && c % 2 == 0;
    }
  }
  const bool rows = out.layout->kind == Layout::Kind::Rows;
  if (!rows && !even) return unfit("loads rows that begin at an odd element or have an odd number of them");

  // This thread's first element, and how far it is from row to row.
  std::string offset = "0";
  for (std::size_t d = 0; d < rank; ++d) {
    const bool of_row = d + 1 == rank ? rows : d >= lead;
    const std::string here = d < lead ? at[d] : of_row ? "row" : "column";
    offset = offset == "0" ? fmt::format("u64({})", here) : fmt::format("({}) * {} + {}", offset, extents[d], here);
  }
  const std::string from = pointer_to(index), to = begin_result(step);
  const char* type = tensor.dtype == DType::F16 ? "f16" : "bf16";
  raw("#pragma unroll");
  line("for (int j = 0; j < {}; ++j) {{", rows ? 2 : out.layout->elements / 2);
  ++indent_;
  if (out.layout->kind != Layout::Kind::Columns)
    line("const int row = {} + warp * 16 + lane / 4 + {} * 8;", rows ? at[rank - 1] : at[rank - 2], rows ? "j" : "j % 2");
  if (!rows)
    line("const int column = {} + lane % 4 * 2 + {} * 8;", at[rank - 1], out.layout->kind == Layout::Kind::Columns ? "j" : "j / 2");
  const std::string source = fmt::format("{} + {}", from, offset);
  const std::string otherwise = inside.empty() ? "" : fmt::format("if ({}) ", inside);
  if (rows) {
    if (!inside.empty()) line("{}[j] = 0.0f;", to);
    line("{}{}[j] = {};", otherwise, to, half ? fmt::format("low_{}(*({}))", type, source) : fmt::format("*({})", source));
  } else if (out.packed) {
    line("{}[j] = {};", to, inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
  } else if (half) {
    line("const u32 pair = {};",
         inside.empty() ? fmt::format("load_pair({})", source) : fmt::format("{} ? load_pair({}) : 0u", inside, source));
    line("{0}[2 * j] = low_{1}(pair), {0}[2 * j + 1] = high_{1}(pair);", to, type);
  } else {
    if (!inside.empty()) line("{0}[2 * j] = {0}[2 * j + 1] = 0.0f;", to);
    line("{0}load_pair({1}, {2}[2 * j], {2}[2 * j + 1]);", otherwise, source, to);
  }
  --indent_;
  raw("}");
  end_result(step);
}

void Writer::write_whole_vector(const Step& step, const TileOp& op, const std::string& from) {
  const Value& out = values_[step.output.value];
  const Tensor& tensor = *kernel_.find_tensor(op.tensor);
  const bool whole =
      tensor.dtype == DType::F32 && tensor.shape.size() == 1 && tensor.shape[0].evaluate(program_.params).value() == out.shape[0];
  if (!whole || coordinates(step, op) != std::vector<std::string>{"0"} || out.layout->kind != Layout::Kind::Columns)
    return refuse("load", op, fmt::format("'{}' does not load a whole f32 vector, one number per column", op.name));
  const std::string to = begin_result(step);
  raw("#pragma unroll");
  line("for (int e = 0; e < {}; ++e) {}[e] = {}[e / 8 * 256 + lane * 8 + e % 8];", out.layout->elements, to, from);
  end_result(step);
}

}  // namespace heddle::codegen
