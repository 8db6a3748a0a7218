// Kernels without a product: rows that fit into registers are loaded, worked on and stored. Persistent blocks walk over them.
#include <fmt/format.h>

#include <algorithm>

#include "core/patterns/draft.h"

namespace heddle::pattern {
namespace {

constexpr std::int64_t kWarps = 4, kLanes = 32;

std::vector<PatternOption> options(std::string columns, std::int64_t most) {
  return {size("rows", 65536, 1, "rows"),
          {"columns", std::move(columns), PatternOption::Type::Integer, "1024", {}, 256, most, 256},
          choice("dtype", {"bf16", "f16"}, "bf16", "type of the tensors"),
          {"blocks", "persistent blocks, one per SM", PatternOption::Type::Integer, "132", {}, 1, 1024, 1}};
}

/// Loads of a tile of whole rows into f32 registers, and the way out.
struct Rows {
  KernelDraft draft;
  DType dtype;
  std::int64_t columns, rows;  ///< of a step: two rows for each warp, one where they are long
  std::string c, r;            ///< the same as text

  explicit Rows(const PatternValues& v)
      : dtype(v.dtype("dtype")), columns(v.number("columns")), rows(columns > 1024 ? kWarps : 2 * kWarps) {
    c = std::to_string(columns), r = std::to_string(rows);
    draft.param("ROWS", v.number("rows"), std::min<std::int64_t>(v.number("rows"), 203), "rows");
    draft.param("BLOCKS", v.number("blocks"), std::min<std::int64_t>(v.number("blocks"), 3), "persistent blocks (one per SM)");
    draft.grid("bx", "BLOCKS");
    draft.kernel.loop.trips = expr(fmt::format("ceil_div(ROWS, BLOCKS*{})", r));
  }

  Texts place() const { return {fmt::format("(i*BLOCKS + bx)*{}", r), "0"}; }
  std::string tile(const std::string& name) {
    draft.registers(name, DType::F32, {r, c});
    return name;
  }
  void per_row(const std::string& name) { draft.registers(name, DType::F32, {r}, std::to_string(rows / kWarps)); }
  void per_column(const std::string& tensor, const std::string& name) {
    draft.tensor(tensor, DType::F32, {c});
    draft.registers(name, DType::F32, {c}, std::to_string(columns / kLanes));
    draft.before("load_" + name, "load").at(tensor, {"0"}).out(name);
  }
  /// "x": f32 in registers, from X.
  void load(const std::string& tensor, const std::string& name) {
    draft.tensor(tensor, dtype, {"ROWS", c});
    draft.smem(name + "s", dtype, {r, c});
    draft.registers(name + "h", dtype, {r, c});
    tile(name);
    draft.loop("load_" + name, "tma_load").at(tensor, place()).out(name + "s");
    draft.loop("read_" + name, "smem_load").in({name + "s"}).out(name + "h");
    draft.loop("widen_" + name, "convert").in({name + "h"}).out(name);
  }
  std::string step(const std::string& op, const std::string& fn, const std::string& result, const Texts& operands) {
    draft.loop(op, "elementwise").in(operands).out(tile(result)).with("fn", fn);
    return result;
  }
  Kernel finish(const std::string& from, std::string formula, std::string about, std::string reference = {}) {
    draft.tensor("Y", dtype, {"ROWS", c}, TensorRole::Output);
    draft.registers("yh", dtype, {r, c});
    draft.smem("ys", dtype, {r, c});
    draft.loop("narrow", "convert").in({from}).out("yh");
    draft.loop("stage", "smem_store").in({"yh"}).out("ys");
    draft.loop("store_y", "tma_store").in({"ys"}).at("Y", place());
    draft.kernel.about = fmt::format("{}: {} Persistent blocks walk over groups of {} rows of {} {} numbers.", formula, about, rows,
                                     columns, to_string(dtype));
    draft.kernel.reference = reference.empty() ? std::move(formula) : std::move(reference);
    draft.kernel.max_groups = 3;
    return std::move(draft.kernel);
  }
};

Result<Kernel> make_layernorm(const PatternValues& v) {
  Rows k(v);
  k.load("X", "x");
  k.per_column("Gamma", "gamma");
  k.per_column("Beta", "beta");
  k.per_row("mean");
  k.per_row("var");
  k.per_row("rstd");
  k.draft.loop("mean", "reduce_sum").in({"x"}).out("mean").with("mean", true);
  k.step("center", "sub", "centered", {"x", "mean"});
  k.step("square", "square", "squared", {"centered"});
  k.draft.loop("variance", "reduce_sum").in({"squared"}).out("var").with("mean", true);
  k.draft.loop("rstd", "elementwise").in({"var"}).out("rstd").with("fn", std::string("rsqrt")).with("value", std::string("1e-5"));
  k.step("normalize", "mul", "normal", {"centered", "rstd"});
  k.draft.loop("affine", "elementwise")
      .in({"normal", "gamma", "beta"})
      .out(k.tile("y"))
      .with("fn", std::string("fma"))
      .with("axis", std::int64_t{1});
  return k.finish("y", "Y = (X - mean(X)) * rsqrt(mean(square(X - mean(X))) + 1e-5) * Gamma + Beta", "layer normalization of rows.",
                  "layernorm");
}

Result<Kernel> make_rmsnorm(const PatternValues& v) {
  Rows k(v);
  k.load("X", "x");
  k.per_column("Gamma", "gamma");
  k.per_row("var");
  k.per_row("rstd");
  k.step("square", "square", "squared", {"x"});
  k.draft.loop("variance", "reduce_sum").in({"squared"}).out("var").with("mean", true);
  k.draft.loop("rstd", "elementwise").in({"var"}).out("rstd").with("fn", std::string("rsqrt")).with("value", std::string("1e-5"));
  k.step("normalize", "mul", "normal", {"x", "rstd"});
  k.draft.loop("scale", "elementwise")
      .in({"normal", "gamma"})
      .out(k.tile("y"))
      .with("fn", std::string("mul"))
      .with("axis", std::int64_t{1});
  return k.finish("y", "Y = X * rsqrt(mean(square(X)) + 1e-5) * Gamma", "rows divided by their root mean square.");
}

Result<Kernel> make_softmax(const PatternValues& v) {
  const std::string log2_e = "1.44269504";
  Rows k(v);
  k.load("X", "x");
  k.per_row("most");
  k.per_row("total");
  k.per_row("inv");
  k.draft.loop("max", "reduce_max").in({"x"}).out("most").with("scale", log2_e);
  k.draft.loop("exp", "exp2").in({"x", "most"}).out(k.tile("p")).with("scale", log2_e);
  k.draft.loop("sum", "reduce_sum").in({"p"}).out("total");
  k.draft.loop("inv", "elementwise").in({"total"}).out("inv").with("fn", std::string("recip"));
  k.step("normalize", "mul", "y", {"p", "inv"});
  return k.finish("y", "Y = softmax(X)", "softmax of every row.");
}

Result<Kernel> make_elementwise(const PatternValues& v) {
  static const std::map<std::string, std::string> kSigns{
      {"add", "X + Z"}, {"sub", "X - Z"}, {"mul", "X * Z"}, {"max", "max(X, Z)"}, {"min", "min(X, Z)"}};
  Rows k(v);
  k.load("X", "x");
  std::string now = "x", formula = "X";
  if (const std::string combine = v.word("combine"); combine != "none") {
    k.load("Z", "z");
    now = k.step("combine", combine, "both", {"x", "z"});
    formula = kSigns.at(combine);
  }
  if (const std::string activation = v.word("activation"); activation != "none") {
    now = k.step("activate", activation, "y", {now});
    formula = fmt::format("{}({})", activation, formula);
  }
  return k.finish(now, "Y = " + formula, "element by element.");
}

}  // namespace

Pattern layernorm() {
  return {"layernorm", "Y = (X - mean) / sqrt(variance + 1e-5) * Gamma + Beta, row by row.", options("elements of a row", 1536),
          make_layernorm};
}

Pattern rmsnorm() {
  return {"rmsnorm", "Y = X / sqrt(mean(X^2) + 1e-5) * Gamma, row by row.", options("elements of a row", 2048), make_rmsnorm};
}

Pattern softmax() { return {"softmax", "Y = softmax(X), row by row.", options("elements of a row", 2048), make_softmax}; }

Pattern elementwise() {
  std::vector<PatternOption> all = options("elements of a row", 2048);
  all.push_back(choice("combine", {"none", "add", "sub", "mul", "max", "min"}, "add", "X with a second tensor Z"));
  all.push_back(activation(true, "none"));
  return {"elementwise", "Y = activation(X combined with Z): a loop of work element by element.", std::move(all), make_elementwise};
}

}  // namespace heddle::pattern
