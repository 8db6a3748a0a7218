// Texts for layouts and instructions that somebody chose, run on the CPU: what is written obeys the plan, whatever it says.
#include <algorithm>
#include <functional>
#include <memory>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/formats/schedule_json.h"
#include "core/kernel/packed.h"
#include "core/layout/known.h"
#include "core/layout/notation.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::laid_out;
using test::run_text;

namespace {

std::string text_of(const test::Lowering& from) {
  const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  for (const Refusal& r : result.refusals) UNSCOPED_INFO(r.rule << ": " << r.sentence);
  REQUIRE(result.emission.has_value());
  return result.emission->source;
}

/// With the program of another: the checker would refuse such layouts before.
std::vector<std::string> refusals_of(const test::Lowering& from, const test::Lowering& legal) {
  std::vector<std::string> sentences;
  for (const Refusal& r : emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(legal)).refusals)
    sentences.push_back(r.sentence);
  return sentences;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Scope kBackward{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};

}  // namespace

TEST_CASE("dQ of attention backward that is kept packed is stored 16 bytes at once, and computes what heddle eval computes",
          "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 256}};
  test::Lowering from = test::lowering("attention_backward_hopper", sizes);
  from = laid_out(from, {{{"dQ", "prepacked"}}, {}});
  CHECK(from.problem.layouts->find("stage_dq0")->instruction.name == "st.shared.16");
  CHECK(run_text(from, 2) < 4e-3);
}

TEST_CASE("dQ of attention backward in lines of registers is stored by stmatrix, and computes what heddle eval computes",
          "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 2}, {"Q_LEN", 128}, {"KV_LEN", 256}};
  const test::Lowering from = laid_out(test::lowering("attention_backward_hopper", sizes), {{{"dQ", "prepacked lines"}}, {}});
  const OpPlan* store = from.problem.layouts->find("stage_dq0");
  CHECK(store->instruction.name == "stmatrix.x4");
  CHECK(store->charged().ways == 1);
  CHECK(store->charged().port == 128);
  CHECK(store->charged().issues == 8);
  CHECK(run_text(from, 2) < 4e-3);
}

TEST_CASE("the text says where packed tensors keep their numbers, for whoever packs them", "[codegen]") {
  const test::Lowering weights =
      laid_out(test::lowering("gemm_w4a16_hopper", {{"N_OUT", 192}, {"TOKENS", 40}, {"K", 448}}), {{{"W", "prepacked"}}, {}});
  const test::Lowering backward = test::lowering("attention_backward_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}});
  struct Case {
    test::Lowering from;
    std::string tensor;
    std::int64_t rows, columns;
    int bits;
    PackedOrder order;
  };
  for (const Case& c : {Case{weights, "W", 192, 448, 4, PackedOrder::Threads},
                        Case{laid_out(backward, {{{"dQ", "prepacked"}}, {}}), "dQ", 128, 128, 32, PackedOrder::Threads},
                        Case{laid_out(backward, {{{"dQ", "prepacked lines"}}, {}}), "dQ", 128, 128, 32, PackedOrder::Lines}}) {
    CAPTURE(c.tensor);
    const std::string text = text_of(c.from);
    const std::size_t begin = text.find("static inline long long place_of_" + c.tensor), end = text.find("#endif", begin);
    REQUIRE(begin != std::string::npos);
    std::string program = text.substr(begin, end - begin) + "int main() {\n  long long sum = 0;\n";
    program += fmt::format(
        "  for (long long r = 0; r < {}; ++r)\n    for (long long c = 0; c < {}; ++c) sum += place_of_{}(r, c) * (r * 1000 + c);\n", c.rows,
        c.columns, c.tensor);
    long long sum = 0;
    for (std::int64_t r = 0; r < c.rows; ++r)
      for (std::int64_t k = 0; k < c.columns; ++k) sum += packed_place(r, k, c.columns, c.bits, c.order) * (r * 1000 + k);
    program += fmt::format("  return sum == {}LL ? 0 : 1;\n}}\n", sum);
    CHECK(test::run_emulated(program, {""}).front().code == 0);
  }
}

TEST_CASE("a matrix of 16 bits that is stored by columns is transposed by ldmatrix on its way to the mma", "[codegen][.slow]") {
  test::Lowering from = test::lowered_fixture("gemm_fetched", {{"F", 192}, {"T", 64}, {"K", 352}});
  std::reverse(from.kernel.tensors[0].shape.begin(), from.kernel.tensors[0].shape.end());
  for (TileOp& op : from.kernel.body) {
    if (op.name == "load_w") std::reverse(op.at.begin(), op.at.end());
    if (op.name == "fetch") op.attrs["transpose"] = true;
  }
  from = laid_out(from, {});
  const OpPlan* fetch = from.problem.layouts->find("fetch");
  CHECK(fetch->instruction.name == "ldmatrix.x4.trans");
  CHECK(fetch->charged().ways == 1);
  CHECK(run_text(from, 2) == 0);
}

TEST_CASE("dQ of attention backward in rows of 32 and 64 bytes computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_backward_hopper", kBackward);
  for (const char* panels : {"panels 32", "panels 64"}) {
    CAPTURE(panels);
    const test::Lowering other = laid_out(from, {{{"dqs0", panels}, {"dqs1", panels}}, {}});
    const std::string text = text_of(other);
    CHECK(has(text, std::string(panels).substr(7) + "-byte swizzle"));
    CHECK(run_text(other, 1) < 4e-3);
  }
}

TEST_CASE("dQ of attention backward by other stores computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_backward_hopper", kBackward);
  for (const char* store : {"st.shared.8", "st.shared.4"}) {
    CAPTURE(store);
    LayoutChoices choices;
    for (const TileOp& op : from.kernel.body)
      if (op.kind == "smem_store" && from.kernel.find_value(op.outputs[0])->dtype == DType::F32)
        choices.instructions[op.name] = {store, {}};
    REQUIRE(choices.instructions.size() == 2);
    const test::Lowering other = laid_out(from, choices);
    CHECK_FALSE(has(text_of(other), "odd ?"));
    CHECK(run_text(other, 1) < 4e-3);
    CHECK(test::worst_ways(test::bank_counts()) == 2);
  }
}

TEST_CASE("operands of mmas in panels of 64 and 32 bytes compute what heddle eval computes", "[codegen][.slow]") {
  const Scope gemm{{"M", 256}, {"N", 256}, {"K", 192}};
  for (const char* panels : {"panels 64", "panels 32"}) {
    CAPTURE(panels);
    LayoutChoices choices;
    const test::Lowering from = test::lowering("gemm_hopper", gemm);
    for (const TileValue& value : from.kernel.values)
      if (value.space == Space::Smem) choices.layouts[value.name] = panels;
    CHECK(run_text(laid_out(from, choices), 1) == 0);
  }
  const test::Lowering attention = test::lowering("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}});
  LayoutChoices choices;
  for (const TileValue& value : attention.kernel.values)
    if (value.space == Space::Smem && value.name.starts_with("k")) choices.layouts[value.name] = "panels 64";
  REQUIRE_FALSE(choices.layouts.empty());
  CHECK(run_text(laid_out(attention, choices), 1) < 4e-3);
}

TEST_CASE("stores of 16-bit tiles in every width compute what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 64}});
  for (const char* store : {"stmatrix.x1", "stmatrix.x2", "st.shared.4", "st.shared.2"}) {
    CAPTURE(store);
    LayoutChoices choices;
    for (const TileOp& op : from.kernel.epilogue)
      if (op.kind == "smem_store") choices.instructions[op.name] = {store, {}};
    REQUIRE_FALSE(choices.instructions.empty());
    CHECK(run_text(laid_out(from, choices), 1) == 0);
  }
}

TEST_CASE("registers handed to another group in words of 8 and 16 bytes arrive", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}});
  LayoutChoices choices;
  for (const TileOp& op : from.kernel.body) {
    if (op.outputs.empty()) continue;
    if (op.outputs[0] == "centered") choices.instructions[op.name] = {"st.shared.16", {}};
    if (op.outputs[0] == "var") choices.instructions[op.name] = {"st.shared.8", {}};
  }
  REQUIRE(choices.instructions.size() == 2);
  const test::Lowering other = laid_out(from, choices);
  const std::string text = text_of(other), before = text_of(from);
  CHECK(has(before, "for (int r = 0; r < 64; ++r) store_word("));
  CHECK_FALSE(has(text, "for (int r = 0; r < 64; ++r) store_word("));
  CHECK(has(text, "for (int r = 0; r < 16; ++r) store_words("));
  CHECK(has(text, "for (int r = 0; r < 1; ++r) store_pair("));
  CHECK(run_text(other, 3) < 2e-3);
  CHECK(run_text(other, 3, {"(r * 128 + tid) * 16, bits[0]", "(r * 128 + (tid ^ 1)) * 16, bits[0]"}) > 0.01);
}

TEST_CASE("a matrix that comes from shared memory to the registers of wgmma computes what heddle eval computes", "[codegen][.slow]") {
  const Scope small{{"F", 192}, {"T", 64}, {"K", 352}};
  const test::Lowering from = test::lowered_fixture("gemm_fetched", small);
  CHECK(has(text_of(from), "load_matrices(("));
  CHECK(run_text(from, 2) == 0);
  CHECK(run_text(from, 1, {"^ (lane & 7)", ""}) > 0.1);
  for (const char* load : {"ldmatrix.x2", "ldmatrix.x1", "ld.shared.4", "ld.shared.2"})
    for (const char* panels : {"panels 128", "panels 32"}) {
      CAPTURE(load, panels);
      CHECK(run_text(laid_out(from, {{{"w", panels}}, {{"fetch", {load, {}}}}}), 1) == 0);
    }
}

TEST_CASE("registers that a conversion leaves otherwise compute what heddle eval computes", "[codegen][.slow]") {
  const Scope small{{"F", 128}, {"T", 64}, {"K", 320}};
  const test::Lowering from = laid_out(test::lowered_fixture("gemm_quantized", small), {{{"q", "operand"}}, {}});
  CHECK(has(text_of(from), "from_lane("));
  CHECK(run_text(from, 2) == 0);
  CHECK(run_text(from, 1, {"(lane & 1)) * 2)", "(lane & 1)) * 2 ^ 1)"}) > 0.01);
}

TEST_CASE("a layout that nothing can be written for is refused, with one that can", "[codegen]") {
  const test::Lowering from = test::lowering("attention_backward_hopper", kBackward);
  test::Lowering odd = from;
  auto plan = std::make_shared<LayoutPlan>(*from.problem.layouts);
  const auto rows = parse_layout("rows 72", {{64, 64}, 32});
  REQUIRE(rows.ok());
  for (std::size_t v = 0; v < from.kernel.values.size(); ++v)
    if (from.kernel.values[v].name == "dqs0") plan->values[v] = {std::make_shared<const Layout>(*rows), "rows 72", true, {}};
  odd.problem.layouts = plan;
  const auto sentences = refusals_of(odd, from);
  REQUIRE_FALSE(sentences.empty());
  CHECK(std::find(sentences.begin(), sentences.end(), "'dqs0' lies as rows 72, which no box reads: layout dqs0=panels 128") !=
        sentences.end());
  // A schedule's choices are those that its problem was resolved with.
  odd = from;
  odd.schedule.layouts.layouts["dqs0"] = "panels 32";
  CHECK(refusals_of(odd, from) ==
        std::vector<std::string>{"the schedule chooses layouts and instructions with which the problem was not resolved"});
  // What arithmetic needs the usual layout for says so.
  odd = from;
  plan = std::make_shared<LayoutPlan>(*from.problem.layouts);
  std::size_t changed = 0;
  for (std::size_t v = 0; v < from.kernel.values.size(); ++v) {
    if (from.kernel.values[v].space != Space::Register || plan->values[v].text != "accumulator" || changed > 0) continue;
    const auto operand = parse_layout("operand", {plan->values[v].layout->shape, 8});
    REQUIRE(operand.ok());
    plan->values[v] = {std::make_shared<const Layout>(*operand), "operand", true, {}};
    ++changed;
  }
  REQUIRE(changed == 1);
  odd.problem.layouts = plan;
  CHECK_FALSE(refusals_of(odd, from).empty());
}

namespace {

/// Of a legal lowering's plan, changed past the checker.
test::Lowering changed(const test::Lowering& from, const std::function<void(LayoutPlan&)>& change) {
  test::Lowering other = from;
  auto plan = std::make_shared<LayoutPlan>(*from.problem.layouts);
  change(*plan);
  other.problem.layouts = std::move(plan);
  return other;
}

std::size_t value_of(const test::Lowering& from, std::string_view name) {
  for (std::size_t v = 0; v < from.kernel.values.size(); ++v)
    if (from.kernel.values[v].name == name) return v;
  FAIL("no such value");
  return 0;
}

bool says(const std::vector<std::string>& sentences, const std::string& part) {
  for (const std::string& sentence : sentences) UNSCOPED_INFO(sentence);
  return std::any_of(sentences.begin(), sentences.end(), [&](const std::string& sentence) { return has(sentence, part); });
}

}  // namespace

TEST_CASE("a vector that has as many registers as by default in other places is refused where a tile needs it", "[codegen]") {
  const test::Lowering from = test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}});
  const char* text = "{register=[[1],[2],[4],[8],[16]],lane=[[32],[64],[128],[256],[512]],warp=[[0],[0]]}";
  const auto other = parse_layout(text, {{1024}, 32});
  REQUIRE(other.ok());
  const test::Lowering odd = changed(from, [&](LayoutPlan& plan) {
    for (const char* name : {"gamma", "beta"}) plan.values[value_of(from, name)] = {std::make_shared<const Layout>(*other), text, true, {}};
    for (const char* name : {"load_gamma", "load_beta"}) plan.ops[name].instruction = {"ld.global.16", {}}, plan.ops[name].chosen = true;
  });
  CHECK(says(refusals_of(odd, from), "'affine' computes with 'gamma', which lies as {register="));
  // Numbers of rows: 8 rows over 4 warps, in the other order of warps.
  const auto rows = parse_layout("{register=[[1]],lane=[[0],[0],[0],[0],[0]],warp=[[4],[2]]}", {{8}, 32});
  REQUIRE(rows.ok());
  const test::Lowering turned = changed(from, [&](LayoutPlan& plan) {
    plan.values[value_of(from, "mean")] = {std::make_shared<const Layout>(*rows), "turned", true, {}};
  });
  CHECK(says(refusals_of(turned, from), "'mean' lies as turned"));
}

TEST_CASE("a machine's row that is not what its name says is refused where a tile is moved", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 64}});
  const test::Lowering odd = changed(from, [&](LayoutPlan& plan) {
    for (auto& [name, op] : plan.ops)
      for (OpAccess& access : op.accesses) {
        if (!access.held || !access.by || access.by->kind != InstructionKind::MatrixStore) continue;
        auto row = std::make_shared<heddle::Instruction>(*access.by);
        row->transposed = true;
        access.by = std::move(row);
      }
  });
  CHECK(says(refusals_of(odd, from), "the machine's row 'stmatrix.x4' transposes, and the instruction of that name does not"));
}

TEST_CASE("registers that are handed over in no multiple of the chosen words are refused", "[codegen]") {
  const test::Lowering from = test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}});
  const test::Lowering odd = changed(from, [&](LayoutPlan& plan) {
    plan.ops["variance"].instruction = {"st.shared.16", {}};
  });  // two per thread
  CHECK(refusals_of(odd, from) ==
        std::vector<std::string>{"'variance' hands over 2 registers of 'var' at once, which st.shared.16 cannot store: st.shared.8 can"});
}

TEST_CASE("boxes with rows that are no multiple of 16 bytes are refused", "[codegen]") {
  const test::Lowering from = test::lowering("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}});
  test::Lowering odd = changed(from, [&](LayoutPlan& plan) {
    const auto narrow = panels_layout(8, 4, 16, 0);
    REQUIRE(narrow.has_value());
    plan.values[value_of(from, "xs")] = {std::make_shared<const Layout>(*narrow), "panels 0", true, {}};
  });
  odd.kernel.values[value_of(from, "xs")].shape = {Expr(8), Expr(4)};
  CHECK(says(refusals_of(odd, from), "'load_x' moves boxes with rows of 8 bytes, and rows of a box are multiples of 16 bytes"));
}
