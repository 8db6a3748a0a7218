// Copies and conversions whose results lie in other warps: the shared memory through which they go, counted by the problem and judged by
// the checker.
#include <algorithm>
#include <memory>

#include <catch2/catch.hpp>

#include "core/answers/layout_view.h"
#include "core/check/layouts.h"
#include "core/layout/known.h"
#include "core/layout/plan.h"
#include "core/library/layout_demands.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

Kernel turned() { return load_kernel(test::repository_path("tests/kernels/gemm_turned.json")).value(); }
Machine hopper() { return load_machine("h100").value(); }

/// All rows of 16 columns in each warp; half a row in each thread.
const LayoutChoices kTurns{
    {{"h", "{register=[[0,1],[8,0],[0,8],[16,0],[32,0]],lane=[[0,2],[0,4],[1,0],[2,0],[4,0]],warp=[[0,16],[0,32]]}"},
     {"y", "{register=[[0,1],[0,2],[0,4],[0,8],[0,16]],lane=[[1,0],[2,0],[4,0],[8,0],[16,0]],warp=[[32,0],[0,32]]}"}},
    {}};

template <class Tamper>
std::vector<std::string> judged_after(Tamper tamper) {
  auto plan = std::make_shared<LayoutPlan>(*resolve(turned(), hopper(), {}, {}, kTurns).value().layouts);
  tamper(plan->ops.at("regroup"));
  std::vector<std::string> messages;
  for (const Violation& violation : judge_layouts(plan)->violations) messages.push_back(violation.message);
  return messages;
}

bool said(const std::vector<std::string>& messages, const std::string& part) {
  for (const std::string& message : messages) UNSCOPED_INFO(message);
  return std::any_of(messages.begin(), messages.end(), [&](const std::string& m) { return m.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("a copy whose elements go to other warps takes shared memory, which the problem counts", "[core]") {
  const Problem plain = resolve(turned(), hopper()).value();
  CHECK(plain.resident_smem == 0);
  CHECK(plain.layouts->find("regroup") == nullptr);
  const Problem problem = resolve(turned(), hopper(), {}, {}, kTurns).value();
  // regroup and regroup_columns bring numbers of 16 bits, regroup_rows those of 32.
  CHECK(problem.layouts->find("regroup")->scratch_bytes == 64 * 64 * 2);
  CHECK(problem.layouts->find("regroup_rows")->scratch_bytes == 64 * 64 * 4);
  CHECK(problem.layouts->scratch_bytes() == 64 * 64 * (2 + 4 + 2));
  CHECK(problem.resident_smem == problem.layouts->scratch_bytes());
  CHECK(problem_hash(problem) != problem_hash(plain));
}

TEST_CASE("a change of layout goes there and back by the accesses that hold the port for the fewest cycles", "[core]") {
  const Problem problem = resolve(turned(), hopper(), {}, {}, kTurns).value();
  for (const char* name : {"regroup", "regroup_rows", "regroup_columns"}) {
    CAPTURE(name);
    const OpPlan& op = *problem.layouts->find(name);
    REQUIRE(op.accesses.size() == 2);
    CHECK(op.accesses[0].store);
    CHECK_FALSE(op.accesses[1].store);
    for (const OpAccess& access : op.accesses) {
      CHECK(access.scratch == op.accesses[0].scratch);
      CHECK(access.cost.known);
      CHECK(access.cost.ways == 1);
      CHECK(access.cost.port == 64 * 64 * access.bits / 8 / 128);
      CHECK_FALSE(access.charged);  // the rules of copies and conversions have no cycles of the port
    }
    CHECK_FALSE(op.priced);
  }
  CHECK(problem.layouts->find("regroup")->accesses[1].by->name == "ldmatrix.x4");
  CHECK(problem.layouts->find("regroup_rows")->accesses[1].by->name == "ld.shared.16");
  CHECK(judge_layouts(problem.layouts)->violations.empty());
}

TEST_CASE("where the rule of a kind has cycles of the port, a change of layout is charged for both ways", "[core]") {
  Machine machine = hopper();
  for (CostRule& rule : machine.rules)
    if (rule.kind == "copy") rule.uses.push_back({"SMEM", {}, Expr::parse("port").value(), Expr(1), {}});
  const Problem problem = resolve(turned(), machine, {}, {}, kTurns).value();
  const OpPlan& op = *problem.layouts->find("regroup");
  CHECK(op.cost.port == 128);
  CHECK(op.priced);
  Cycle reserved = 0;
  const Op& copy = problem.op(problem.find_op("regroup"));
  for (const UnitUse& use : copy.uses)
    if (problem.unit(use.unit).role == UnitRole::Smem) reserved += use.work();
  CHECK(reserved == 128);
  CHECK(judge_layouts(problem.layouts)->violations.empty());
}

TEST_CASE("a conversion that is to stay in registers is refused where other warps have its elements, and both askers are named", "[core]") {
  LayoutChoices choices = kTurns;
  std::vector<Fault> faults;
  REQUIRE(take_layout_demand("convert regroup in registers", turned(), choices, faults));
  REQUIRE(faults.empty());
  CHECK(choices.instructions.at("regroup").name == "registers");
  const auto refused = resolve(turned(), hopper(), {}, {}, choices);
  REQUIRE_FALSE(refused.ok());
  const Fault& fault = refused.error().faults.front();
  CHECK(fault.pointer == "/instructions/regroup");
  CHECK_THAT(fault.message, Catch::Contains("'regroup' cannot stay in registers: ") && Catch::Contains(" makes 'h' as ") &&
                                Catch::Contains(" takes 'a' as accumulator"));
  // As everything lies by default nothing has to leave the registers.
  LayoutChoices usual;
  REQUIRE(take_layout_demand("convert a in registers", turned(), usual, faults));
  REQUIRE(faults.empty());
  const auto kept = resolve(turned(), hopper(), {}, {}, usual);
  REQUIRE(kept.ok());
  CHECK(choices_of(*kept) == usual);
  CHECK(judge_layouts(kept->layouts)->violations.empty());
  // It is no instruction of other ops, and no other op has the name.
  LayoutChoices other;
  other.instructions = {{"stage", {"registers", {}}}};
  CHECK_FALSE(resolve(load_kernel("layernorm").value(), hopper(), {}, {}, other).ok());
  REQUIRE(take_layout_demand("convert regruop in registers", turned(), other, faults));
  CHECK_THAT(faults.front().hint, Catch::Contains("regroup"));
}

TEST_CASE("changes of layout for which a block has no room are faults", "[core]") {
  Machine machine = hopper();
  machine.limits.smem_bytes = 20'000;
  const auto problem = resolve(turned(), machine, {}, {}, kTurns);
  REQUIRE_FALSE(problem.ok());
  CHECK_THAT(to_string(problem.error()), Catch::Contains("take 32768 bytes"));
}

TEST_CASE("the checker objects to a change of layout that takes something else than it left", "[core]") {
  CHECK(judged_after([](OpPlan&) {}).empty());
  CHECK(
      said(judged_after([](OpPlan& op) { op.accesses[1].scratch = std::make_shared<const Layout>(panels_layout(64, 64, 16, 64).value()); }),
           "regroup leaves a tile in shared memory otherwise than it takes it from there"));
  CHECK(said(judged_after([](OpPlan& op) { op.accesses.pop_back(); }), "otherwise than it takes it"));
  CHECK(said(judged_after([](OpPlan& op) { op.scratch_bytes = 4096; }),
             "regroup has 4096 bytes for its change of layout, and its tile takes 8192"));
  CHECK(said(judged_after([](OpPlan& op) { op.accesses[0].held = op.accesses[1].held; }), "lie otherwise than it moves them"));
  CHECK(said(judged_after([](OpPlan& op) { --op.accesses[0].cost.port; }), "port cycles of regroup"));
}

TEST_CASE("a view of a value that passes through shared memory has its registers on one side and that memory on the other", "[core]") {
  const Kernel kernel = turned();
  const Instance instance = make_instance(with(spec_of(turned(), hopper()), kTurns)).value();
  const auto view = [&](const char* value) { return view_of(instance, value, "regroup", true).value(); };
  const LayoutView there = view("h"), back = view("a");
  CHECK(there.instruction == "stmatrix.x4");
  CHECK(back.instruction == "ldmatrix.x4");
  CHECK(back.registers_text == "accumulator");
  for (const LayoutView& each : {there, back}) {
    CHECK(each.memory_text == "panels 128");
    CHECK(each.other.empty());
    CHECK_FALSE(each.value_in_memory);
    CHECK(each.access.has_value());
    CHECK(each.alternatives.empty());
  }
  std::size_t rows = 0;
  for (const LayoutListRow& row : layout_list(kernel, instance.problem())) rows += row.value == "a" && row.op == "regroup";
  CHECK(rows == 2);
}
