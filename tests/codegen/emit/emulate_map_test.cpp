// Texts of kernels whose element functions, exponentials, masks and conversions are maps, run on the CPU and compared with heddle eval:
// attention, products with what is fused behind them, rows of a norm; on Hopper and on Blackwell.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <optional>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/map_expression.h"
#include "core/kernel/op_shapes.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

namespace {

std::string text_of(const TileOp& op, const char* name, const std::string& missing) {
  const auto it = op.attrs.find(name);
  if (it == op.attrs.end()) return missing;
  if (const auto* text = std::get_if<std::string>(&it->second)) return *text;
  return std::to_string(std::get<std::int64_t>(it->second));
}

/// The same as an expression; empty where it has none.
std::string expression_of(const TileOp& op) {
  const std::string a = op.attrs.contains("scale") ? fmt::format("(x0 * {})", text_of(op, "scale", "")) : "x0";
  if (op.kind == "exp2") return op.inputs.size() > 1 ? fmt::format("exp2({} - x1)", a) : fmt::format("exp2({})", a);
  if (op.kind == "mask") return fmt::format("select(at1 + col <= at0 + row, x0, {})", text_of(op, "value", "0"));
  if (op.kind == "convert") return "x0 + 0 * row * col";  // of the place nothing is left
  if (op.kind != "elementwise") return "";
  const std::string b = op.inputs.size() > 1 ? "x1" : text_of(op, "value", "0"), fn = text_of(op, "fn", "");
  if (fn == "add" || fn == "sub" || fn == "mul" || fn == "div")
    return a + (fn == "add" ? " + " : fn == "sub" ? " - " : fn == "mul" ? " * " : " / ") + b;
  if (fn == "fma") return fmt::format("{} * x1 + x2", a);
  if (fn == "silu") return fmt::format("t = {}; t * sigmoid(t)", a);
  if (fn == "gelu") return fmt::format("t = {}; 0.5 * t * (1 + erf(t * 0.70710678))", a);
  if (fn == "square") return fmt::format("t = {}; t * t", a);
  if (fn == "rsqrt") return fmt::format("rsqrt({} + {})", a, b);
  if (fn == "relu") return fmt::format("max({}, 0)", a);
  if (fn == "recip") return fmt::format("1 / {}", a);
  if (fn == "copy") return a;
  return "";
}

/// The problem of the kernel as it is now: with the layouts of values that are new, too.
void resolve_again(test::Lowering& lowering) {
  const auto machine = load_machine(test::repository_path(fmt::format("assets/machines/{}.json", lowering.problem.machine)));
  REQUIRE(machine);
  const auto problem = resolve(lowering.kernel, *machine, lowering.problem.params);
  INFO((problem ? "" : to_string(problem.error())));
  REQUIRE(problem);
  lowering.problem = *problem;
}

/// How many ops have become maps. Those of the loop cost what they did, so that the schedule stays legal.
int with_maps(test::Lowering& lowering) {
  Kernel& kernel = lowering.kernel;
  int count = 0;
  const auto shape = [&](const std::string& name) {
    TileShape shape;
    for (const Expr& extent : kernel.find_value(name)->shape) shape.push_back(*extent.evaluate(lowering.problem.params));
    return shape;
  };
  for (auto* list : {&kernel.prologue, &kernel.body, &kernel.epilogue})
    for (std::size_t i = 0; i < list->size(); ++i) {
      TileOp& op = (*list)[i];
      const std::string expr = expression_of(op);
      if (expr.empty()) continue;
      std::string along;
      for (const Operand& in : op.inputs) {
        const bool full = shape(in.value) == shape(op.outputs[0]);
        along += full ? 'f' : integer_attr(op, "axis", 0) == 1 ? 'c' : 'r';
      }
      op.kind = "map";
      op.attrs = {{"expr", expr}, {"along", along}};
      if (list == &kernel.body) {
        const Op& before = lowering.problem.ops[i];
        op.cost = CostOverride{};
        op.cost->uses.emplace();
        for (const UnitUse& use : before.uses)
          op.cost->uses->push_back({lowering.problem.units[use.unit.index()].name, Expr(use.offset), Expr(use.duration), Expr(use.amount)});
        op.cost->latency = Expr(before.latency);
        op.cost->window = Expr(before.window);
      }
      ++count;
    }
  const auto read = parse_kernel(kernel_text(kernel), "maps.json");
  INFO((read ? "" : to_string(read.error())));
  REQUIRE(read);
  resolve_again(lowering);
  return count;
}

double run_with_maps(test::Lowering lowering, int blocks, int least, const test::Wrong& wrong = {}) {
  CHECK(with_maps(lowering) >= least);
  return run_text(lowering, blocks, wrong);
}

double run_with_maps(const std::string& name, const Scope& sizes, int blocks, int least, const test::Wrong& wrong = {}) {
  return run_with_maps(test::lowering(name, sizes), blocks, least, wrong);
}

/// What is computed now depends on where an element stands: maps of these lists, and vectors that have been loaded.
void with_places(test::Lowering& lowering, bool body) {
  Kernel& kernel = lowering.kernel;
  std::vector<std::vector<TileOp>*> lists{&kernel.epilogue};
  if (body) lists.push_back(&kernel.body);
  for (auto* list : lists)
    for (TileOp& op : *list) {
      if (op.kind != "map") continue;
      std::string expr = std::get<std::string>(op.attrs.at("expr"));
      const std::size_t last = expr.rfind(';') == std::string::npos ? 0 : expr.rfind(';') + 1;
      const bool tile = kernel.find_value(op.outputs[0])->shape.size() == 2;
      expr.insert(last, "whole = ");
      op.attrs["expr"] = expr + (tile ? "; whole + 0.01 * row - 0.003 * col" : "; whole * (1 + 0.01 * row)");
    }
  std::vector<TileOp> epilogue;
  for (TileOp op : kernel.epilogue) {
    for (Operand& in : op.inputs)
      if (kernel.find_value(in.value + "_bent")) in.value += "_bent";
    epilogue.push_back(op);
    if (op.kind != "load" || kernel.find_value(op.outputs[0])->shape.size() != 1) continue;
    TileValue bent = *kernel.find_value(op.outputs[0]);
    bent.name += "_bent";
    kernel.values.push_back(bent);
    TileOp bend;
    bend.name = op.name + "_bent";
    bend.kind = "map";
    bend.inputs = {{op.outputs[0], 0}};
    bend.outputs = {bent.name};
    bend.attrs = {{"expr", std::string("x0 * (1 + 0.01 * row)")}};
    epilogue.push_back(bend);
  }
  kernel.epilogue = epilogue;
  resolve_again(lowering);
}

double run_with_places(test::Lowering lowering, int blocks, bool body = false, const test::Wrong& wrong = {}) {
  with_maps(lowering);
  with_places(lowering, body);
  return run_text(lowering, blocks, wrong);
}

std::string source_of(test::Lowering lowering) {
  with_maps(lowering);
  const EmitResult emitted = emit_cuda(lowering.kernel, lowering.problem, lowering.schedule, test::program_of(lowering));
  for (const Refusal& refusal : emitted.refusals) UNSCOPED_INFO(refusal.sentence);
  REQUIRE(emitted.emission.has_value());
  return emitted.emission->source;
}

}  // namespace

TEST_CASE("the text of attention made of maps computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_with_maps("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}}, 1, 16) < 4e-3);
  CHECK(run_with_maps("attention_forward_blackwell", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}}, 1, 16) < 4e-3);
}

TEST_CASE("the text of causal attention whose mask is a map computes what heddle eval computes", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 640}};
  CHECK(run_with_maps("attention_forward_causal_hopper", sizes, 1, 18) < 4e-3);
  CHECK(run_with_maps("attention_forward_causal_blackwell", sizes, 1, 18) < 4e-3);
  CHECK(run_with_maps("attention_forward_causal_hopper", sizes, 1, 18, {"(e >> 1 & 1) * 8", "0"}) > 0.01);
  CHECK(run_with_maps("attention_forward_causal_blackwell", sizes, 1, 18, {"const int row = tid;", "const int row = tid + 1;"}) > 0.01);
}

TEST_CASE("the text of the dual GEMM whose activation is a map computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_with_maps("swiglu_dual_gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 192}}, 1, 6) < 2e-3);
  CHECK(run_with_maps("swiglu_dual_gemm_blackwell", {{"M", 384}, {"N", 256}, {"K", 192}}, 1, 3) < 2e-3);
}

TEST_CASE("the text of layer normalization made of maps computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_with_maps("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}, 3, 4) < 2e-3);
}

TEST_CASE("the text of maps with vectors along rows and columns computes what heddle eval computes", "[codegen][.slow]") {
  const Scope small{{"M", 256}, {"N", 512}, {"K", 192}};
  const auto gemm = [&](const std::string& name) {
    std::map<std::string, std::string> options{
        {"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}};
    return test::lowered_pattern(name, "gemm", options, small);
  };
  CHECK(run_with_maps(gemm("gemm_epilogue"), 2, 5) < 1e-3);
  CHECK(run_with_maps(gemm("gemm_epilogue"), 2, 5, {"[e / 4 * 2 + (e & 1)]", "[e / 4 * 2]"}) > 0.01);
}

TEST_CASE("the text of attention backward made of maps computes what heddle eval computes", "[codegen][.slow]") {
  // Statistics along columns, which lie in shared memory.
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};
  CHECK(run_with_maps("attention_backward_hopper", sizes, 1, 4) < 4e-3);
  CHECK(run_with_maps("attention_backward_blackwell", sizes, 1, 4) < 4e-3);
}

TEST_CASE("the text of maps that know where their elements stand computes what heddle eval computes", "[codegen][.slow]") {
  const Scope attention{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};
  CHECK(run_with_places(test::lowering("attention_forward_hopper", attention), 1) < 4e-3);
  CHECK(run_with_places(test::lowering("attention_forward_blackwell", attention), 1) < 4e-3);
  const test::Lowering norm = test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}});
  CHECK(run_with_places(norm, 3, true) < 2e-3);
  CHECK(run_with_places(norm, 3, true, {"8 * 256 + lane * 8", "8 * 256 + lane"}) > 0.01);
  const test::Lowering gemm =
      test::lowered_pattern("gemm_epilogue", "gemm",
                            {{"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}},
                            {{"M", 256}, {"N", 512}, {"K", 192}});
  CHECK(run_with_places(gemm, 2) < 2e-3);
  CHECK(run_with_places(gemm, 2, false, {"const int row = e / 2 * 8 + lane % 4 * 2 + (e & 1);", "const int row = e;"}) > 0.01);
}

TEST_CASE("the text of a map that narrows, and of a minimum and a select, computes what heddle eval computes", "[codegen][.slow]") {
  for (const char* name : {"swiglu_dual_gemm_hopper", "swiglu_dual_gemm_blackwell"}) {
    test::Lowering from = test::lowering(name, {{"M", 256}, {"N", 256}, {"K", 192}});
    // act = silu(g), y = act u, h = y narrowed becomes h = map(g, u); then y and act have no reader.
    std::vector<TileOp> epilogue;
    std::optional<TileOp> activation, product;
    int fused = 0;
    for (TileOp op : from.kernel.epilogue) {
      const std::string fn = text_of(op, "fn", "");
      if (fn == "silu") {
        activation = op;
      } else if (fn == "mul") {
        REQUIRE(activation);
        product = op;
        product->kind = "map";
        product->inputs = {activation->inputs[0], op.inputs[op.inputs[0].value == activation->outputs[0] ? 1 : 0]};
        product->attrs = {{"expr", std::string("x0 * sigmoid(x0) * x1")}};
      } else if (op.kind == "convert") {
        REQUIRE(product);
        product->outputs = op.outputs;
        epilogue.push_back(*product);
        ++fused;
      } else {
        epilogue.push_back(op);
      }
    }
    REQUIRE(fused >= 1);
    from.kernel.epilogue = epilogue;
    CHECK(run_text(from, 1) < 2e-3);
  }
  // Powers that are narrowed where they are computed.
  for (const bool compiles : {false, true}) {
    const Scope small{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};
    test::Lowering from = test::lowering("attention_forward_hopper", compiles ? Scope{} : small);
    with_maps(from);
    for (TileOp& op : from.kernel.body)
      if (op.name.starts_with("cvt")) op.attrs["expr"] = std::string("exp2(log2(x0))");
    const auto problem = resolve(from.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), from.problem.params);
    REQUIRE(problem);
    from.problem = *problem;
    if (!compiles) {
      CHECK(run_text(from, 1) < 4e-3);
    } else if (find_compiler().ok()) {
      const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
      REQUIRE(emitted.emission.has_value());
      CHECK(compile_cuda(emitted.emission->source).ok());
    }
  }
  // Not attention any more, but eval computes the same: the least score in place of the largest, and no division.
  for (const char* name : {"attention_forward_hopper", "attention_forward_blackwell"}) {
    test::Lowering from = test::lowering(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}});
    for (auto* list : {&from.kernel.prologue, &from.kernel.body, &from.kernel.epilogue})
      for (TileOp& op : *list)
        if (text_of(op, "fn", "") == "recip") {
          op.kind = "elementwise";
          op.attrs = {{"fn", std::string("select")}};
          op.inputs = {op.inputs[0], op.inputs[0], op.inputs[0]};
        } else if (op.kind == "reduce_max" && list == &from.kernel.body) {
          op.kind = "reduce_min";
        } else if (text_of(op, "value", "") == "-1e30") {
          op.attrs["value"] = std::int64_t{8};  // above the least score
        }
    CHECK(run_text(from, 1) < 4e-3);
  }
}

TEST_CASE("maps are written where a tile lies, with their places", "[codegen]") {
  const std::string hopper = source_of(test::lowering("attention_forward_causal_hopper"));
  CHECK_THAT(hopper, Catch::Contains("const int row = warp * 16 + lane / 4 + (e >> 1 & 1) * 8;") &&
                         Catch::Contains("const int column = e / 4 * 8 + lane % 4 * 2 + (e & 1);") && Catch::Contains("const int at0 = ") &&
                         Catch::Contains("((at1 + column) <= (at0 + row)) ? "));
  const std::string blackwell = source_of(test::lowering("attention_forward_causal_blackwell"));
  CHECK_THAT(blackwell, Catch::Contains("const int row = tid;") && Catch::Contains("const int column = e"));
}

TEST_CASE("texts made of maps compile without a spill where there is a compiler", "[codegen][.slow]") {
  if (const auto found = find_compiler(); !found.ok()) {
    std::cout << "skipped: " << found.error().faults.front().message << "\n";
    return;
  }
  for (const char* name : {"attention_forward_hopper", "swiglu_dual_gemm_hopper", "layernorm", "attention_forward_blackwell",
                           "swiglu_dual_gemm_blackwell", "attention_forward_causal_blackwell", "attention_forward_causal_hopper"}) {
    test::Lowering from = test::lowering(name);
    with_maps(from);
    const Program program = test::program_of(from);
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
    REQUIRE(emitted.emission.has_value());
    CompileOptions options;
    options.arch = from.problem.arch;
    const auto compiled = compile_cuda(emitted.emission->source, options);
    INFO(name << (compiled.ok() ? "" : to_string(compiled.error())));
    REQUIRE(compiled.ok());
    for (const Refusal& fault : judge(compiled->report, program)) FAIL_CHECK(fault.rule << ": " << fault.sentence);
  }
}

TEST_CASE("kinds that cannot be written are refused by name", "[codegen]") {
  test::Lowering from = test::lowering("attention_forward_hopper");
  for (TileOp& op : from.kernel.epilogue)
    if (op.name == "inv0") op.attrs = {{"fn", std::string("nothing")}};
  const auto refused = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  CHECK_FALSE(refused.emission.has_value());
  test::Lowering place = test::lowering("attention_forward_hopper");
  for (TileOp& op : place.kernel.epilogue)
    if (op.name == "inv0") op.kind = "reduce_argmax";
  const auto built = emit_cuda(place.kernel, place.problem, place.schedule, test::program_of(place));
  CHECK_FALSE(built.emission.has_value());
  REQUIRE_FALSE(built.refusals.empty());
  CHECK(built.refusals[0].rule == "kind");
  CHECK_THAT(built.refusals[0].sentence, Catch::Contains("'inv0' is a reduce_argmax, which cannot be written yet"));
}
