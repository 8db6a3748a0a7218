// Matrix products: one, many in a batch, or two that share A; what follows a product is done on the tile while it is in registers.
#include <fmt/format.h>

#include <algorithm>

#include "core/patterns/draft.h"

namespace heddle::pattern {
namespace {

const Texts kInputs{"bf16", "f16"};
const Texts kOutputs{"bf16", "f16", "f32"};

std::vector<PatternOption> sizes() {
  return {size("m", 8192, 1, "rows of A and of the result"), size("n", 8192, 8, "columns of the result"),
          size("k", 8192, 8, "columns of A")};
}

std::vector<PatternOption> operands() {
  return {choice("input", kInputs, "bf16", "type of the factors"), choice("output", kOutputs, "bf16", "type of the result"),
          choice("b", {"KN", "NK"}, "KN", "how B lies in memory: K rows of N, or N rows of K (as weights often do)")};
}

PatternOption rows_per_block() {
  return choice("tile_m", {"64", "128"}, "128", "rows of the result per block, 64 for each consumer warp group");
}

/// 256 where registers allow it: an f32 result on its way out has no half of them to spare for what is fused.
std::int64_t columns_of_block(const PatternValues& v) {
  if (v.word("tile_n") != "auto") return v.number("tile_n");
  const bool fused =
      v.word("activation") != "none" || v.flag("bias") || v.flag("row_scale") || v.flag("column_scale") || v.flag("residual");
  return fused && v.word("output") == "f32" ? 192 : 256;
}

/// What both kinds of product have: sizes, grid, loop, A and its loads.
struct Product {
  KernelDraft draft;
  const PatternValues& values;
  bool batched = false;
  std::int64_t tile_m, tile_n, tile_k;
  DType input, output;
  bool n_major;  ///< B is K rows of N

  Product(const PatternValues& v, bool in_batch) : values(v), batched(in_batch) {
    tile_m = v.number("tile_m"), tile_n = columns_of_block(v), tile_k = v.number("tile_k");
    input = v.dtype("input"), output = v.dtype("output");
    n_major = v.word("b") == "KN";
    if (batched) draft.param("BATCH", v.number("batch"), std::min<std::int64_t>(v.number("batch"), 2), "products");
    // Small sizes are ragged, so that heddle eval sees what happens at the edges.
    draft.param("M", v.number("m"), std::min(v.number("m"), tile_m + 72), "rows of A and of the result");
    draft.param("N", v.number("n"), std::min(v.number("n"), tile_n + 72), "columns of the result");
    draft.param("K", v.number("k"), std::min(v.number("k"), 2 * tile_k + 8), "columns of A");
    draft.param("TILE_M", tile_m, tile_m, "rows of the result per block");
    draft.param("TILE_N", tile_n, tile_n, "columns of the result per block");
    draft.param("TILE_K", tile_k, tile_k, "depth of one loop step", {64, 128});
    tensor("A", input, {"M", "K"});
    draft.grid("bm", "ceil_div(M, TILE_M)");
    draft.grid("bn", "ceil_div(N, TILE_N)");
    if (batched) draft.grid("batch", "BATCH");
    draft.kernel.loop.trips = expr("ceil_div(K, TILE_K)");
    draft.smem("a", input, {"TILE_M", "TILE_K"});
    draft.loop("load_a", "tma_load").at("A", place({"bm*TILE_M", "i*TILE_K"})).out("a");
  }

  Texts place(Texts inside) const {
    if (batched) inside.insert(inside.begin(), "batch");
    return inside;
  }
  void tensor(const std::string& name, DType dtype, Texts shape, TensorRole role = TensorRole::Input) {
    if (batched) shape.insert(shape.begin(), "BATCH");
    draft.tensor(name, dtype, shape, role);
  }

  /// sum += A `factor`, with the factor's ring and the sum called after it.
  void product(const std::string& factor, const std::string& tile, const std::string& sum, const std::string& op) {
    if (n_major) {
      tensor(factor, input, {"K", "N"});
      draft.smem(tile, input, {"TILE_K", "TILE_N"});
      draft.loop("load_" + tile, "tma_load").at(factor, place({"i*TILE_K", "bn*TILE_N"})).out(tile);
    } else {
      tensor(factor, input, {"N", "K"});
      draft.smem(tile, input, {"TILE_N", "TILE_K"});
      draft.loop("load_" + tile, "tma_load").at(factor, place({"bn*TILE_N", "i*TILE_K"})).out(tile);
    }
    draft.registers(sum, DType::F32, {"TILE_M", "TILE_N"});
    draft.before("zero_" + sum, "fill").out(sum).with("value", std::string("0"));
    multiplies.push_back({factor, tile, sum, op});
  }
  std::string factor_text(const std::string& factor) const { return n_major ? "A @ " + factor : fmt::format("A @ transpose({})", factor); }

  /// One more step of the epilogue on a tile of the result.
  std::string step(const std::string& op, const std::string& fn, const std::string& result, const Texts& operands, bool columns = false) {
    draft.registers(result, DType::F32, {"TILE_M", "TILE_N"});
    OpDraft drafted = draft.after(op, "elementwise").in(operands).out(result).with("fn", fn);
    if (columns) drafted.with("axis", std::int64_t{1});
    return result;
  }

  /// The products themselves, and at the end the way out.
  Result<Kernel> finish(const std::string& result, const std::string& last) {
    for (const Multiply& m : multiplies) {
      OpDraft op = draft.loop(m.op, "mma").in({"a", m.tile, m.sum + "[-1]"}).out(m.sum);
      if (!n_major) op.with("transpose_b", true);
    }
    tensor(result, output, {"M", "N"}, TensorRole::Output);
    std::string from = last;
    if (output != DType::F32) {
      draft.registers("narrow", output, {"TILE_M", "TILE_N"});
      draft.after("narrow", "convert").in({from}).out("narrow");
      from = "narrow";
    }
    draft.smem("out", output, {"TILE_M", "TILE_N"});
    draft.after("stage", "smem_store").in({from}).out("out");
    draft.after("store", "tma_store").in({"out"}).at(result, place({"bm*TILE_M", "bn*TILE_N"}));
    return for_consumers(draft.kernel, "TILE_M", tile_m / kConsumerRows);
  }

  struct Multiply {
    std::string factor, tile, sum, op;
  };
  std::vector<Multiply> multiplies;
};

Result<Kernel> make_gemm(const PatternValues& v, bool batched) {
  Product p(v, batched);
  KernelDraft& k = p.draft;
  p.product("B", "b", "acc", "MMA");
  std::string now = "acc", formula = p.factor_text("B");
  const std::string activation = v.word("activation");
  if (v.flag("row_scale")) {
    p.tensor("RowScale", DType::F32, {"M"});
    k.registers("row_scale", DType::F32, {"TILE_M"}, "TILE_M / 32");
    k.after("load_row_scale", "load").at("RowScale", p.place({"bm*TILE_M"})).out("row_scale");
    now = p.step("scale_rows", "mul", "by_row", {now, "row_scale"});
    formula += " * column(RowScale)";
  }
  if (v.flag("column_scale")) {
    k.tensor("ColumnScale", DType::F32, {"N"});
    k.registers("column_scale", DType::F32, {"TILE_N"}, "TILE_N / 4");
    k.after("load_column_scale", "load").at("ColumnScale", {"bn*TILE_N"}).out("column_scale");
    now = p.step("scale_columns", "mul", "by_column", {now, "column_scale"}, true);
    formula += " * ColumnScale";
  }
  if (v.flag("bias")) {
    k.tensor("Bias", DType::F32, {"N"});
    k.registers("bias", DType::F32, {"TILE_N"}, "TILE_N / 4");
    k.after("load_bias", "load").at("Bias", {"bn*TILE_N"}).out("bias");
    now = p.step("add_bias", "add", "biased", {now, "bias"}, true);
    formula += " + Bias";
  }
  if (activation != "none") {
    now = p.step("activate", activation, "active", {now});
    formula = fmt::format("{}({})", activation, formula);
  }
  if (v.flag("residual")) {
    p.tensor("Residual", p.input, {"M", "N"});
    k.registers("residual", p.input, {"TILE_M", "TILE_N"});
    k.after("load_residual", "load").at("Residual", p.place({"bm*TILE_M", "bn*TILE_N"})).out("residual");
    now = p.step("add_residual", "add", "summed", {now, "residual"});
    formula += " + Residual";
  }
  k.kernel.about =
      fmt::format("C = {}, block {} x {} x {}, {} with f32 accumulation.", formula, p.tile_m, p.tile_n, p.tile_k, to_string(p.input));
  const bool plain = now == "acc" && p.n_major && !batched && p.output == DType::Bf16;
  k.kernel.reference = plain ? "gemm" : "C = " + formula;
  return p.finish("C", now);
}

Result<Kernel> make_dual_gemm(const PatternValues& v) {
  Product p(v, false);
  const std::string activation = v.word("activation");
  p.product("G", "bg", "gate", "G");
  p.product("U", "bu", "up", "U");
  const std::string formula = fmt::format("{}({}) * ({})", activation, p.factor_text("G"), p.factor_text("U"));
  p.draft.kernel.about = fmt::format("Out = {}: two products that share A, block {} x {} x {}, {} with f32 accumulation.", formula,
                                     p.tile_m, p.tile_n, p.tile_k, to_string(p.input));
  const bool shipped = activation == "silu" && p.n_major && p.output == DType::Bf16;
  p.draft.kernel.reference = shipped ? "swiglu_dual_gemm" : "Out = " + formula;
  p.step("activate", activation, "active", {"gate"});
  return p.finish("Out", p.step("multiply", "mul", "gated", {"active", "up"}));
}

std::vector<PatternOption> joined(std::initializer_list<std::vector<PatternOption>> lists) {
  std::vector<PatternOption> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<PatternOption> epilogue() {
  return {activation(true, "none"), flag("bias", "add a vector, one element per column"),
          flag("row_scale", "multiply by a vector, one element per row"),
          flag("column_scale", "multiply by a vector, one element per column"),
          flag("residual", "add a matrix of the factors' type, after the activation")};
}

std::vector<PatternOption> tiles(Texts columns, std::string standard) {
  return {rows_per_block(), choice("tile_n", std::move(columns), std::move(standard), "columns of the result per block"),
          choice("tile_k", {"64", "128"}, "64", "depth of one loop step")};
}

}  // namespace

Pattern gemm() {
  return {"gemm", "C = activation(A B * scales + bias) + residual: a matrix product with whatever is fused behind it.",
          joined({sizes(), operands(), epilogue(), tiles({"auto", "64", "128", "192", "256"}, "auto")}),
          [](const PatternValues& v) { return make_gemm(v, false); }};
}

Pattern batched_gemm() {
  return {"batched_gemm", "The same for a batch of products, each with its own A, B, row scales and residual.",
          joined({{size("batch", 16, 1, "products")}, sizes(), operands(), epilogue(), tiles({"auto", "64", "128", "192", "256"}, "auto")}),
          [](const PatternValues& v) { return make_gemm(v, true); }};
}

Pattern dual_gemm() {
  return {"dual_gemm", "Out = activation(A G) * (A U): two products that share A, as in SwiGLU and GEGLU.",
          joined({sizes(), operands(), {activation(false, "silu")}, tiles({"64", "128"}, "128")}), make_dual_gemm};
}

}  // namespace heddle::pattern
