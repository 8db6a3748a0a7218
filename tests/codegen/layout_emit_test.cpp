// Texts for layouts and instructions that somebody chose, run on the CPU: what is written obeys the plan, whatever it says.
#include <memory>

#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/formats/schedule_json.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
using test::run_text;

namespace {

/// The same schedule with other choices. Costs stay those of today's layouts, so that the schedule stays legal: here it is about the text.
test::Lowering with(test::Lowering from, const LayoutChoices& choices) {
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  REQUIRE(machine.ok());
  std::vector<Fault> faults;
  from.problem.layouts = std::make_shared<const LayoutPlan>(plan_layouts(from.kernel, from.problem.params, *machine, choices, {}, faults));
  for (const Fault& fault : faults) UNSCOPED_INFO(to_string(fault));
  REQUIRE(faults.empty());
  from.schedule.layouts = choices;
  return from;
}

std::string text_of(const test::Lowering& from) {
  const EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from));
  for (const Refusal& r : result.refusals) UNSCOPED_INFO(r.rule << ": " << r.sentence);
  REQUIRE(result.emission.has_value());
  return result.emission->source;
}

std::vector<std::string> refusals_of(const test::Lowering& from) {
  std::vector<std::string> sentences;
  for (const Refusal& r : emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from)).refusals)
    sentences.push_back(r.sentence);
  return sentences;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Scope kBackward{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};

}  // namespace

TEST_CASE("dQ of attention backward in rows of 32 and 64 bytes computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_backward_hopper", kBackward);
  for (const char* panels : {"panels 32", "panels 64"}) {
    CAPTURE(panels);
    const test::Lowering other = with(from, {{{"dqs0", panels}, {"dqs1", panels}}, {}});
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
    const test::Lowering other = with(from, choices);
    CHECK_FALSE(has(text_of(other), "odd ?"));
    CHECK(run_text(other, 1) < 4e-3);
    CHECK(test::worst_ways(test::bank_counts()) == 2);
  }
}

TEST_CASE("operands of products in panels of 64 and 32 bytes compute what heddle eval computes", "[codegen][.slow]") {
  const Scope gemm{{"M", 256}, {"N", 256}, {"K", 192}};
  for (const char* panels : {"panels 64", "panels 32"}) {
    CAPTURE(panels);
    LayoutChoices choices;
    const test::Lowering from = test::lowering("gemm_hopper", gemm);
    for (const TileValue& value : from.kernel.values)
      if (value.space == Space::Smem) choices.layouts[value.name] = panels;
    CHECK(run_text(with(from, choices), 1) == 0);
  }
  const test::Lowering attention = test::lowering("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}});
  LayoutChoices choices;
  for (const TileValue& value : attention.kernel.values)
    if (value.space == Space::Smem && value.name.starts_with("k")) choices.layouts[value.name] = "panels 64";
  REQUIRE_FALSE(choices.layouts.empty());
  CHECK(run_text(with(attention, choices), 1) < 4e-3);
}

TEST_CASE("stores of 16-bit tiles in every width compute what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 64}});
  for (const char* store : {"stmatrix.x1", "stmatrix.x2", "st.shared.4", "st.shared.2"}) {
    CAPTURE(store);
    LayoutChoices choices;
    for (const TileOp& op : from.kernel.epilogue)
      if (op.kind == "smem_store") choices.instructions[op.name] = {store, {}};
    REQUIRE_FALSE(choices.instructions.empty());
    CHECK(run_text(with(from, choices), 1) == 0);
  }
}
