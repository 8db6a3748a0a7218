// Loops of Triton texts as graphs and as kernels: counts that were worked out by hand, and what the kernels compute against formulas that
// were written from the Python source (tests/triton/texts/README.md).
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>

#include <fmt/format.h>

#include "core/base/atomic_file.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/subtile.h"
#include "core/kernel/validate.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/triton/kernel/graph.h"
#include "core/triton/kernel/native.h"
#include "core/triton/kernel/scalars.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

TritonProgram program_of(const std::string& name) {
  const std::string path = test::repository_path("tests/triton/texts/" + name + ".ttgir");
  Result<mlir::Module> module = mlir::parse(read_file(path).value(), path);
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  return *std::move(program);
}

Native native_of(const std::string& name, TextReading reading) {
  const TritonProgram program = program_of(name);
  const LoopSite* loop = usual_loop(program);
  REQUIRE(loop);
  Result<Native> native = to_native(program, *loop, reading);
  if (!native) FAIL(to_string(native.error()));
  CHECK(validate(native->kernel).empty());
  return *std::move(native);
}

const TileOp& body_op(const Kernel& kernel, const std::string& name) {
  const auto it = std::find_if(kernel.body.begin(), kernel.body.end(), [&](const TileOp& op) { return op.name == name; });
  REQUIRE(it != kernel.body.end());
  return *it;
}

bool same(const Expr::Node& a, const Expr::Node& b) {
  return a.op == b.op && a.constant == b.constant && (a.op != Operator::Name || a.name == b.name) &&
         std::ranges::equal(a.children, b.children, same);
}

/// The free reading's kernel against a formula, at sizes that keep it quick.
void require_agrees(const std::string& name, const std::string& formula, const Scope& sizes, bool cut = false) {
  INFO(name);
  Native native = native_of(name, TextReading::Free);
  Kernel kernel = native.kernel;
  kernel.reference = formula;
  if (cut) {
    REQUIRE(native.cut.factor > 1);
    Result<Kernel> parts = subtile(kernel, native.cut, sizes);
    if (!parts) FAIL(to_string(parts.error()));
    kernel = *std::move(parts);
  }
  const Result<EvalReport> report = evaluate(kernel, sizes);
  if (!report) FAIL(to_string(report.error()));
  for (const TensorComparison& tensor : report->tensors) {
    INFO(tensor.tensor << ": " << tensor.worst);
    CHECK(tensor.pass);
  }
  CHECK(report->pass);
}

}  // namespace

TEST_CASE("attention forward for Hopper has the ops and edges that were counted by hand", "[triton]") {
  const Native native = native_of("attention_forward.sm90.scheduled", TextReading::Triton);
  CHECK(native.ops == 26);
  CHECK(native.tile_ops == 17);
  CHECK(native.edges == 23);
  CHECK(native.fused == 12);
  // Reductions take the chain with them that reads them: the running maximum and the running sum.
  CHECK(native.kernel.body.size() == 10);
  const TileOp& maximum = body_op(native.kernel, "higher_12");
  CHECK(maximum.kind == "reduce_max");
  REQUIRE(maximum.inputs.size() == 2);
  CHECK(maximum.inputs[1].value == "higher_12");
  CHECK(maximum.inputs[1].distance == 1);
  CHECK(body_op(native.kernel, "p_17").kind == "exp2");
  CHECK(body_op(native.kernel, "total_21").inputs.size() == 3);
}

TEST_CASE("every op of a kernel knows its line of Python, its line of text and what Triton decided", "[triton]") {
  const Native native = native_of("attention_forward.sm90.scheduled", TextReading::Triton);
  REQUIRE(native.origins.size() == native.kernel.body.size());
  for (const Origin& origin : native.origins) {
    INFO(origin.op);
    CHECK(origin.file.ends_with("kernels.py"));
    CHECK(origin.line >= 113);
    CHECK(origin.line <= 133);
    CHECK(origin.text_line > 54);
    CHECK(origin.stage == (origin.op == "s_6" || origin.op == "acc_26" ? 0 : 2));
  }
}

TEST_CASE("registers of the triton reading are those of the layouts", "[triton]") {
  const Native native = native_of("attention_forward.sm90.scheduled", TextReading::Triton);
  const auto registers = [&](const char* value) { return native.kernel.find_value(value)->registers->text(); };
  CHECK(registers("s_9") == "64");       // 128 x 128 f32 over 256 threads
  CHECK(registers("acc_25") == "32");    // bf16
  CHECK(registers("higher_12") == "2");  // row statistics: two rows per thread of a quad
}

TEST_CASE("a load in the stage of its use is waited for, others fill rings of their distance and one", "[triton]") {
  const Native decided = native_of("gemm_pointers.sm90.scheduled", TextReading::Triton);
  REQUIRE(decided.rings.size() == 1);
  CHECK(decided.rings[0].depth == 4);
  CHECK(body_op(decided.kernel, "ta_45").kind == "load");
  CHECK(std::get<std::string>(body_op(decided.kernel, "ta_45").attrs.at("variant")) == "async");
  CHECK_FALSE(body_op(decided.kernel, "tb_49").attrs.contains("variant"));
  CHECK(body_op(decided.kernel, "tb_49_smem").kind == "smem_store");
}

TEST_CASE("kernels read from texts compute what their Python says", "[triton]") {
  require_agrees("gemm_descriptors.sm90.scheduled", "c = a @ transpose(b)",
                 {{"grid_x", 2},
                  {"grid_y", 1},
                  {"k", 128},
                  {"a_shape_0", 256},
                  {"a_shape_1", 128},
                  {"b_shape_0", 256},
                  {"b_shape_1", 128},
                  {"c_shape_0", 256},
                  {"c_shape_1", 256}});
  require_agrees("gemm_descriptors.sm100.scheduled", "c = a @ transpose(b)",
                 {{"grid_x", 2},
                  {"grid_y", 1},
                  {"k", 128},
                  {"a_shape_0", 256},
                  {"a_shape_1", 128},
                  {"b_shape_0", 256},
                  {"b_shape_1", 128},
                  {"c_shape_0", 256},
                  {"c_shape_1", 256}});
  require_agrees("gemm_pointers.sm90.scheduled", "c = a @ b",
                 {{"grid_x", 1},
                  {"grid_y", 2},
                  {"k", 128},
                  {"sam", 128},
                  {"a_rows", 128},
                  {"sbk", 256},
                  {"b_rows", 128},
                  {"scm", 256},
                  {"c_rows", 128}});
  // A softmax in base 2 is one in base e of ln 2 times as much.
  const Scope swiglu{{"grid_x", 1},       {"grid_y", 1},       {"k", 128},          {"x_shape_0", 128},
                     {"x_shape_1", 128},  {"wg_shape_0", 128}, {"wg_shape_1", 128}, {"wu_shape_0", 128},
                     {"wu_shape_1", 128}, {"y_shape_0", 128},  {"y_shape_1", 128}};
  require_agrees("swiglu_dual.sm90.scheduled", "y = silu(x @ transpose(wg)) * (x @ transpose(wu))", swiglu);
  require_agrees("swiglu_dual.sm100.scheduled", "y = silu(x @ transpose(wg)) * (x @ transpose(wu))", swiglu);
  const Scope pointers{{"grid_x", 2},   {"grid_y", 1},   {"keys", 256},   {"stride", 64},
                       {"q_rows", 256}, {"k_rows", 256}, {"v_rows", 256}, {"o_rows", 256}};
  require_agrees("attention_forward_pointers.sm90.scheduled", "o = softmax(q @ transpose(k) * 0.125 * 0.6931471805599453) @ v", pointers);
  require_agrees("attention_forward_causal.sm90.scheduled", "o = softmax(causal(q @ transpose(k) * 0.125 * 0.6931471805599453)) @ v",
                 pointers);
  require_agrees("attention_forward_causal.sm100.scheduled", "o = softmax(causal(q @ transpose(k) * 0.125 * 0.6931471805599453)) @ v",
                 pointers);
}

TEST_CASE("a quotient that a program rounds up is one, so that its trips leave nothing", "[triton]") {
  CHECK(native_of("gemm_pointers.sm90.scheduled", TextReading::Free).kernel.loop.trips.text() == "ceil_div(k, 64)");
  const Expr a = Expr::named("a"), b = Expr::named("b"), k = Expr::named("k"), n = Expr::named("n");
  const Expr above = add(k, Expr(63));
  CHECK(divide(above, Expr(64)).text() == "ceil_div(k, 64)");
  CHECK(divide(add(add(subtract(a, b), n), Expr(-1)), n).text() == "ceil_div(a - b, n)");
  CHECK(divide(above, Expr(32)).text() == "(k + 63) / 32");
  CHECK(divide(add(k, Expr(1)), Expr(1)).text() == "k + 1");
  CHECK(divide(k, Expr(2)).text() == "k / 2");
}

TEST_CASE("expressions of scalars are what their texts read as", "[triton]") {
  const Expr a = Expr::named("a"), b = Expr::named("b");
  const Expr less = combine(Operator::Less, {a, b});
  CHECK(add(less, Expr(1)).text() == "(a < b) + 1");  // not a < (b + 1)
  CHECK(subtract(less, a).text() == "(a < b) - a");
  CHECK(add(a, subtract(b, Expr(5))).text() == "a + b - 5");
  CHECK(add(a, Expr(-5)).text() == "a - 5");
  CHECK(subtract(a, Expr(-5)).text() == "a - (-5)");
  CHECK(multiply(combine(Operator::Min, {a, b}), add(a, b)).text() == "(min(a, b))*(a + b)");
  CHECK(multiply(Expr(3), Expr(-4)).text() == "-12");
  CHECK(add(Expr(std::int64_t{1} << 40), Expr(1)).text() == "1099511627776 + 1");
  std::mt19937 random(7);
  std::vector<Expr> made{a, b, Expr(0), Expr(1), Expr(-7), Expr(64), Expr(-(std::int64_t{1} << 40))};
  const Scope scope{{"a", 77}, {"b", -5}};
  for (int i = 0; i < 2000; ++i) {
    const auto any = [&] { return made[random() % made.size()]; };
    const Expr x = any(), y = any();
    constexpr Operator kAsTheyAre[] = {Operator::Less, Operator::Modulo, Operator::Max, Operator::Divide, Operator::CeilDiv};
    constexpr std::array kFolded{add, subtract, multiply, divide};
    const std::size_t how = random() % 10;
    const Expr z = how < 4 ? kFolded[how](x, y) : how < 9 ? combine(kAsTheyAre[how - 4], {x, y}) : combine(Operator::If, {x, y, any()});
    if (z.text().size() > 400) continue;
    INFO(z.text());
    const Result<Expr> read = Expr::parse(z.text());
    REQUIRE(read);
    REQUIRE(same(read->root(), z.root()));
    const auto left = x.evaluate(scope), right = y.evaluate(scope), sum = add(x, y).evaluate(scope);
    if (left && right && sum && std::abs(*left) < (1 << 30) && std::abs(*right) < (1 << 30)) REQUIRE(*sum == *left + *right);
    made.push_back(z);
  }
}

TEST_CASE("strides that double line by line are no affine function at last, and no endless text", "[triton]") {
  std::string text = R"(module attributes {"ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @k(%s: i32) {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %v = tt.splat %s : i32 -> tensor<64xi32>
    %t0 = arith.muli %r, %v : tensor<64xi32>
)";
  for (int i = 0; i < 40; ++i) text += fmt::format("    %t{0} = arith.addi %t{1}, %t{1} : tensor<64xi32>\n", i + 1, i);
  text += R"(    scf.for %i = %c0 to %c8 step %c8  : i32 {
    }
    tt.return
  }
}
)";
  Result<mlir::Module> module = mlir::parse(text, "doubled");
  REQUIRE(module);
  const Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program);
  REQUIRE(program->loops.size() == 1);
  const Flow flow(*program, program->loops[0].op);
  Scalars scalars(flow);
  const auto value = [&](std::string_view name) {
    const auto& values = program->module->values;
    const auto found = std::ranges::find(values, name, &mlir::Value::name);
    REQUIRE(found != values.end());
    return mlir::ValueId(static_cast<std::size_t>(found - values.begin()));
  };
  REQUIRE(scalars.affine(value("t2")));
  CHECK(scalars.affine(value("t2"))->strides[0].text() == "s + s + s + s");
  CHECK_FALSE(scalars.affine(value("t40")));
}

TEST_CASE("cut by rows a kernel computes the same", "[triton]") {
  require_agrees("gemm_descriptors.sm90.scheduled", "c = a @ transpose(b)",
                 {{"grid_x", 2},
                  {"grid_y", 1},
                  {"k", 128},
                  {"a_shape_0", 256},
                  {"a_shape_1", 128},
                  {"b_shape_0", 256},
                  {"b_shape_1", 128},
                  {"c_shape_0", 256},
                  {"c_shape_1", 256}},
                 true);
}

TEST_CASE("the texts of all versions give the same graph", "[triton]") {
  const Native now = native_of("attention_forward_ws.sm100.scheduled", TextReading::Free);
  for (const char* version : {"3.4.0", "3.6.0"}) {
    INFO(version);
    const Native then = native_of(fmt::format("attention_forward_ws.sm100.triton-{}.scheduled", version), TextReading::Free);
    CHECK(then.tile_ops == now.tile_ops);
    CHECK(then.edges == now.edges);
    CHECK(then.fused == now.fused);
  }
  CHECK(native_of("gemm_pointers.sm90.triton-3.2.0.input", TextReading::Free).tile_ops == 3);
}

TEST_CASE("what cannot be a schedule problem is refused by name and line", "[triton]") {
  std::string text = read_file(test::repository_path("tests/triton/texts/gemm_pointers.sm80.scheduled.ttgir")).value();
  const std::size_t product = text.find("tt.dot ");
  REQUIRE(product != std::string::npos);
  Result<mlir::Module> scaled = mlir::parse(text.replace(product, 7, "tt.dot_scaled "), "scaled.ttgir");
  REQUIRE(scaled.ok());
  const Result<TritonProgram> old = make_program(*std::move(scaled));
  REQUIRE(old.ok());
  const auto refused = to_native(*old, *usual_loop(*old), TextReading::Free);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().faults[0].pointer == "83");
  CHECK(refused.error().faults[0].message.find("tt.dot_scaled") != std::string::npos);
  const TritonProgram none = program_of("swiglu_elementwise.sm90.scheduled");
  CHECK(usual_loop(none) == nullptr);
  const TritonProgram last = program_of("attention_forward.sm90.final");
  CHECK(usual_loop(last) == nullptr);
  REQUIRE(last.loops.size() == 1);
  CHECK(last.loops[0].why_not.find("final") != std::string::npos);
  const auto final_loop = to_native(last, last.loops[0], TextReading::Triton);
  REQUIRE_FALSE(final_loop);
}

TEST_CASE("both readings resolve on the machine of the text", "[triton]") {
  for (const char* name :
       {"attention_forward.sm90.scheduled", "attention_forward.sm100.scheduled", "attention_forward_causal.sm90.scheduled",
        "attention_forward_causal.sm100.scheduled", "attention_forward_ws.sm100.partitioned", "gemm_persistent.sm90.scheduled",
        "gemm_scaled_f8.sm90.scheduled", "gemm_scaled_f8.sm100.scheduled", "softmax_rows.sm90.scheduled", "layer_norm.sm90.scheduled",
        "swiglu_dual.sm100.scheduled"})
    for (const TextReading reading : {TextReading::Triton, TextReading::Free}) {
      INFO(name << " " << to_string(reading));
      const Native native = native_of(name, reading);
      const TritonProgram program = program_of(name);
      const auto machine =
          load_machine(test::repository_path(program.target >= 100 ? "assets/machines/b200.json" : "assets/machines/h100.json"));
      REQUIRE(machine);
      Kernel kernel = native.kernel;
      if (native.cut.factor > 1) {
        auto cut = subtile(kernel, native.cut);
        if (!cut) FAIL(to_string(cut.error()));
        kernel = *std::move(cut);
      }
      const auto problem = resolve(kernel, *machine);
      if (!problem) FAIL(to_string(problem.error()));
      if (!native.has_own) continue;
      const OwnOrder own = own_order(native, *problem);
      std::size_t steps = 0;
      for (const auto& stream : own.streams) steps += stream.size();
      CHECK(steps == problem->ops.size());
      CHECK(own.depths.size() == problem->channels.size());
    }
}

TEST_CASE("mmas in a row add to one accumulator in tensor memory, and who reads the sum as it was does so before", "[triton]") {
  const auto machine = load_machine(test::repository_path("assets/machines/b200.json"));
  REQUIRE(machine);
  for (const char* name :
       {"more/two_into_one.sm100.scheduled", "more/read_then_add.sm100.scheduled", "more/linear_attention.sm100.scheduled"})
    for (const TextReading reading : {TextReading::Triton, TextReading::Free}) {
      INFO(name << ", " << to_string(reading));
      const Native native = native_of(name, reading);
      const Result<Problem> problem = resolve(kernel_of(native), *machine);
      if (!problem) FAIL(to_string(problem.error()));
    }
  const Native two = native_of("more/two_into_one.sm100.scheduled", TextReading::Triton);
  CHECK(two.kernel.find_value("x_5")->alias_of == "x_3");
  const Native read = native_of("more/read_then_add.sm100.scheduled", TextReading::Triton);
  CHECK(std::any_of(read.kernel.order.begin(), read.kernel.order.end(),
                    [](const OrderEdge& edge) { return edge.from == "state_6" && edge.to == "state_11" && edge.distance == 0; }));
}
