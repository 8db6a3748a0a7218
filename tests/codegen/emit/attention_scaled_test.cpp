// Attention of 8-bit floats: powers of two that become the operand of the next product, scales that threads load before and after the loop.
#include <memory>

#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/emit/emit.h"
#include "codegen/run/reference.h"
#include "core/kernel/evaluate.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

const std::string kName = "attention_forward_fp8_hopper", kTurned = "attention_forward_fp8_turned_hopper";
const Scope kSmall{{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 256}};

}  // namespace

TEST_CASE("attention of 8-bit floats computes its formula, and another formula with other scales", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  for (const Scope& sizes : {kSmall, Scope{{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 128}}, Scope{{"HEADS", 1}, {"KV_LEN", 1024}}}) {
    const auto report = evaluate(*kernel, sizes);
    REQUIRE(report.ok());
    CHECK(report->pass);
  }
  for (const auto& [name, wrong] :
       {std::pair{"scale0", "x0 * 0.127517431"}, {"sub1", "fma(x0, x1, x2 - 1)"}, {"alpha0", "exp2(x0 - x1)"}, {"normalize1", "x0 * x1"}}) {
    Kernel other = *kernel;
    for (auto* list : {&other.prologue, &other.body, &other.epilogue})
      for (TileOp& op : *list)
        if (op.name == name) op.attrs["expr"] = std::string(wrong);
    if (std::string(name) == "normalize1")
      for (TileOp& op : other.epilogue)
        if (op.name == name) op.inputs.pop_back();
    const auto report = evaluate(other, kSmall);
    INFO(name << (report.ok() ? "" : to_string(report.error())));
    REQUIRE(report.ok());
    CHECK(report->pass == (std::string(name) == "sub1"));  // a factor of all powers is one of their sum
  }
}

TEST_CASE("the text of attention of 8-bit floats computes what heddle eval computes", "[codegen][.slow]") {
  // A power of two that is off in its last place may be rounded to another number of 8 bits.
  CHECK(test::run_text(kName, kSmall, 2) < 4e-3);
  CHECK(test::run_text(kName, {{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 640}}, 1) < 4e-3);
  // Keys in their own order, with shuffles.
  const std::string shuffled = "tests/schedules/attention_forward_fp8_shuffled_h100.json";
  CHECK(test::run_text(test::lowering(kName, kSmall, shuffled), 2) < 4e-3);
  CHECK(test::run_text(test::lowering(kName, kSmall, shuffled), 2, {"from_lane(lying[1]", "from_lane(lying[0]"}) > 0.1);
}

TEST_CASE("a warp group that transposes V as it comes brings it where it is wanted", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kTurned + ".json"));
  REQUIRE(kernel.ok());
  const auto report = evaluate(*kernel, kSmall);
  REQUIRE(report.ok());
  CHECK(report->pass);
  const test::Lowering from = test::lowering(kTurned, kSmall);
  for (const char* op : {"fetch_v", "stage_v"}) {
    const OpPlan* plan = from.problem.layouts->find(op);
    REQUIRE(plan);
    CHECK(plan->charged().ways == 1);
    CHECK(plan->charged().port == 128);  // what its bytes take
  }
  CHECK(from.problem.layouts->find("turn_v")->change->kind == ConversionClass::BytePermute);
  const auto emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE(emitted.emission);
  CHECK(emitted.emission->launch.threads == 512);
  // A cut along the keys cuts both sides of V.
  const auto cut = load_kernel(test::repository_path("kernels/" + kTurned + ".json") + "[KV/2]");
  REQUIRE(cut.ok());
  const auto of_parts = evaluate(*cut, kSmall);
  REQUIRE(of_parts.ok());
  CHECK(of_parts->pass);
}

TEST_CASE("the text of attention that transposes V computes what heddle eval computes, and others do not", "[codegen][.slow]") {
  CHECK(test::run_text(kTurned, kSmall, 2) < 4e-3);
  CHECK(test::run_text(kTurned, {{"HEADS", 1}, {"Q_LEN", 200}, {"KV_LEN", 640}}, 1) < 4e-3);
  const test::Lowering from = test::lowering(kTurned, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}});
  // Bytes of other rows, a lane's place, a register's place.
  for (const auto& wrong :
       {std::pair{"0 | (0 + 4) << 4", "0 | (1 + 4) << 4"}, {"(lane & 1) * 64", "(lane & 1) * 32"}, {"j % 2 * 144", "j % 2 * 128"}})
    CHECK(test::run_text(from, 1, wrong) > 0.05);
}

TEST_CASE("keys that are relabelled on one side only are not written, and texts with other registers or rows are wrong",
          "[codegen][.slow]") {
  const test::Lowering from = test::lowering(kName, {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}});
  const test::Lowering natural = test::lowering(kName, from.problem.params, "tests/schedules/attention_forward_fp8_shuffled_h100.json");
  const auto refusals = [&](const test::Lowering& good, const test::Lowering& other, const char* value) {
    test::Lowering wrong = good;
    auto plan = std::make_shared<LayoutPlan>(*good.problem.layouts);
    const auto v = static_cast<std::size_t>(good.kernel.find_value(value) - good.kernel.values.data());
    plan->values[v] = other.problem.layouts->values[v];
    wrong.problem.layouts = plan;
    return emit_cuda(wrong.kernel, wrong.problem, wrong.schedule, test::program_of(good)).refusals.size();
  };
  CHECK(refusals(from, from, "k") == 0);
  for (const char* value : {"k", "s0", "s1", "x0", "x1", "p0", "p1"}) {
    CAPTURE(value);
    CHECK(refusals(from, natural, value) > 0);
    CHECK(refusals(natural, from, value) > 0);
  }
  const auto emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  REQUIRE(emitted.emission);
  CHECK(emitted.emission->source.find("from_lane(") == std::string::npos);  // registers stay in their lanes
  for (const auto& wrong : {std::pair{"[0], v1_p0[1], v1_p0[4], v1_p0[5]", "[0], v1_p0[1], v1_p0[2], v1_p0[3]"},
                            {"[16], v1_p0[17], v1_p0[20], v1_p0[21]", "[20], v1_p0[21], v1_p0[16], v1_p0[17]"},
                            {", 0, 0, 0, ", ", 0, 1, 0, "},
                            {", 0, 0, 0, ", ", 0, 0, 1, "}})
    CHECK(test::run_text(from, 1, wrong) > 0.05);
}

TEST_CASE("attention of 8-bit floats in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(test::run_text(kName, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 2, {}, {.cluster = 2}) < 4e-3);
}

TEST_CASE("the reference of attention of 8-bit floats is a kernel of its own", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/" + kName + ".json"));
  REQUIRE(kernel.ok());
  const std::vector<TensorPlan> tensors{
      {"Q", DType::F8e4m3, {4, 256, 128}, TensorRole::Input},  {"K", DType::F8e4m3, {4, 512, 128}, TensorRole::Input},
      {"VT", DType::F8e4m3, {4, 128, 512}, TensorRole::Input}, {"SQ", DType::F32, {4, 256}, TensorRole::Input},
      {"SV", DType::F32, {4, 128}, TensorRole::Input},         {"O", DType::Bf16, {4, 256, 128}, TensorRole::Output}};
  const auto text = reference_text(*kernel, tensors);
  REQUIRE(text);
  CHECK(text->plan.output == 5);
  CHECK(text->source.find("reference_attention_scaled<1024, 256, 512, 128, true, ") != std::string::npos);
  auto as_it_is = tensors;
  as_it_is[2] = {"V", DType::F8e4m3, {4, 512, 128}, TensorRole::Input};
  const auto rows = reference_text(load_kernel(test::repository_path("kernels/" + kTurned + ".json")).value(), as_it_is);
  REQUIRE(rows);
  CHECK(rows->source.find("reference_attention_scaled<1024, 256, 512, 128, false, ") != std::string::npos);
  CHECK(flops_of(*kernel, tensors) == std::int64_t{4} * 4 * 256 * 512 * 128);
  std::string why;
  const auto cases = cases_for(*kernel, {}, tensors, true, 1, why);
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].expected[0].criterion == Criterion::Attention);
  if (!find_compiler().ok()) return;
  for (const auto& [name, reference] : {std::pair{kName, *text}, {kTurned, *rows}}) {
    const auto compiled = compile_cuda(reference.source);
    INFO(name << (compiled.ok() ? "" : to_string(compiled.error())));
    CHECK(compiled.ok());
  }
}
