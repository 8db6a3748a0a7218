// What the builder decides, and what it refuses, by name and with a demand that the solver understands.
#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "codegen/program/build.h"
#include "codegen/program/text.h"
#include "core/check/checker.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/schedule/constraint_text.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

std::vector<Refusal> refusals_of(const test::Lowering& from) { return build_program(from.kernel, from.problem, from.schedule).refusals; }

}  // namespace

TEST_CASE("register budgets are legal for setmaxnreg and fit what the block is launched with", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) {
    const Program program = test::program_of(test::lowering(name));
    CAPTURE(name);
    CHECK(program.threads % 128 == 0);
    CHECK(program.entry_registers % 8 == 0);
    CHECK(program.entry_registers * program.threads <= 65536);
    int used = 0, warpgroups = 0;
    for (const Role& role : program.roles) {
      CHECK(role.registers % 8 == 0);
      CHECK(role.registers >= 24);
      CHECK(role.registers <= 240);
      CHECK(role.first_thread == warpgroups * 128);
      used += role.registers * role.warpgroups;
      warpgroups += role.warpgroups;
    }
    CHECK(used <= program.entry_registers * warpgroups);
    CHECK(program.threads == warpgroups * 128);
  }
}

TEST_CASE("every iteration of every op is in the program once, for any number of trips", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) {
    const test::Lowering from = test::lowering(name);
    for (const std::int64_t trips : {1, 2, 3, 4, 5, 8, 33, 1000}) {
      const Program program = test::program_of(from, trips);
      std::vector<std::vector<int>> seen(from.kernel.body.size(), std::vector<int>(static_cast<std::size_t>(trips), 0));
      for (const Role& role : program.roles)
        for_each_step(role, [&](const codegen::Section&, const Step& step, std::int64_t shift) {
          const bool runs = step.kind == StepKind::Issue || step.kind == StepKind::Compute;
          if (runs && step.op.list == OpRef::List::Body) ++seen[step.op.index][static_cast<std::size_t>(step.iteration + shift)];
        });
      CAPTURE(name, trips);
      for (const auto& op : seen) CHECK(op == std::vector<int>(static_cast<std::size_t>(trips), 1));
    }
  }
}

TEST_CASE("buffers do not overlap, and begin where TMA and wgmma want them", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) {
    const Program program = test::program_of(test::lowering(name));
    CAPTURE(name);
    std::int64_t end = 0;
    for (const Buffer& buffer : program.buffers) {
      CHECK(buffer.offset % 1024 == 0);
      CHECK(buffer.offset >= end);
      end = buffer.offset + buffer.slot_bytes * buffer.depth;
    }
    CHECK(program.barrier_offset >= end);
    CHECK(program.smem_bytes <= 232448);
  }
}

TEST_CASE("no wgmma crosses the back edge unless it is awaited alone", "[codegen]") {
  // The attention schedule has PV1 in flight from one window into the next; the cut puts the wait into the same pass.
  const Program program = test::program_of(test::lowering("attention_forward_hopper"));
  for (const Role& role : program.roles)
    for (const codegen::Section& section : role.sections) {
      if (!section.loop) continue;
      int committed = 0;
      for (const Step& step : section.steps) {
        if (step.engine != Engine::Mma) continue;
        if (step.kind == StepKind::Commit) ++committed;
        if (step.kind == StepKind::Retire && step.keep > 0) CHECK(committed > step.keep);
      }
    }
}

TEST_CASE("warp groups with other work take turns on the tensor core, in the schedule's order", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  const Program program = test::program_of(from);
  REQUIRE(program.turns.has_value());
  CHECK(program.turns->roles == std::vector<std::size_t>{1, 2});
  CHECK(program.turns->first != program.turns->last);
  for (const std::size_t r : program.turns->roles)
    for (const codegen::Section& section : program.roles[r].sections) {
      if (!section.loop) continue;
      // QK and PV are issued together: one turn per iteration.
      CHECK(std::count_if(section.steps.begin(), section.steps.end(), [](const Step& s) { return s.kind == StepKind::TakeTurn; }) == 1);
      CHECK(std::count_if(section.steps.begin(), section.steps.end(), [](const Step& s) { return s.kind == StepKind::PassTurn; }) == 1);
    }
  const BuildResult free = build_program(from.kernel, from.problem, from.schedule, {}, {.turns = false});
  REQUIRE(free.program.has_value());
  CHECK_FALSE(free.program->turns.has_value());
  CHECK_FALSE(test::program_of(test::lowering("gemm_hopper")).turns.has_value());  // nothing but wgmmas in its loop
}

TEST_CASE("a query tile is free when the last mma that reads it is over, not when the tile is", "[codegen]") {
  for (const char* name : {"attention_forward_hopper", "attention_forward_causal_hopper"}) {
    const test::Lowering from = test::lowering(name);
    for (const std::int64_t trips : {1, 2, 3, 66}) {
      const Program program = test::program_of(from, trips);
      for (std::size_t r = 1; r < program.roles.size(); ++r) {
        std::vector<std::string> order;
        int released = 0;
        for_each_step(program.roles[r], [&](const codegen::Section&, const Step& step, std::int64_t shift) {
          const bool frees = step.kind == StepKind::Arrive && program.buffers[program.barriers[step.barrier].buffer].per_tile;
          released += frees;
          if (frees) order.emplace_back("free");
          if (step.kind == StepKind::Retire && step.engine == Engine::Mma) order.emplace_back("wait");
          if (step.kind == StepKind::Issue && step.engine == Engine::Mma && step.iteration + shift == trips - 1)
            order.push_back(op_of(from.kernel, step.op).name.substr(0, 2));
        });
        CAPTURE(name, trips, r, order);
        CHECK(released == 1);
        const auto free = std::find(order.begin(), order.end(), "free"), query = std::find(order.begin(), order.end(), "QK");
        CHECK(query < free);
        CHECK(free < std::find(order.begin(), order.end(), "PV"));
        CHECK(std::find(query, free, "wait") != free);
      }
    }
  }
}

TEST_CASE("the loop's first load goes ahead of the tile's own, which wait for the tile before", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  std::vector<std::string> loads;
  for_each_step(test::program_of(from, 2).roles[0], [&](const codegen::Section&, const Step& step, std::int64_t) {
    if (step.kind == StepKind::Issue) loads.push_back(op_of(from.kernel, step.op).name);
  });
  CHECK(loads == std::vector<std::string>{"load_k", "load_q0", "load_q1", "load_v", "load_k", "load_v"});
}

TEST_CASE("no thread looks at what a wgmma in flight takes from registers", "[codegen]") {
  // As the schedule has it, the sum comes while PV0 is in flight; let it read what PV0 takes from registers.
  test::Lowering from = test::lowering("attention_forward_hopper");
  for (TileOp& op : from.kernel.body)
    if (op.name == "sum0") op.inputs[0].value = "ph0";
  const BuildResult built = build_program(from.kernel, from.problem, from.schedule);
  REQUIRE(built.program.has_value());
  bool waited = true;
  int sums = 0;
  Program wrong = *built.program;
  for (std::size_t s = 0; s < built.program->roles[1].sections.size(); ++s) {
    auto& steps = wrong.roles[1].sections[s].steps;
    for (std::size_t k = 0; k < built.program->roles[1].sections[s].steps.size(); ++k) {
      const Step& step = built.program->roles[1].sections[s].steps[k];
      const std::string& name = op_of(from.kernel, step.op).name;
      if (step.engine == Engine::Mma) waited = step.kind == StepKind::Retire && step.keep == 0;
      if (step.kind != StepKind::Compute || name != "sum0") continue;
      ++sums;
      CHECK(waited);
      std::erase_if(steps, [&](const Step& w) { return w.kind == StepKind::Retire && op_of(from.kernel, w.op).name == "sum0"; });
    }
  }
  CHECK(sums >= 2);
  CHECK_FALSE(run_symbolic(from.kernel, *built.program, {.seed = 1, .tiles = 2}).has_value());
  const auto fault = run_symbolic(from.kernel, wrong, {.seed = 1, .tiles = 2});
  REQUIRE(fault.has_value());
  CHECK(fault->what == "reads registers that a wgmma in flight still takes as its operand");
}

TEST_CASE("clusters are refused by name where neighbours share nothing", "[codegen]") {
  const test::Lowering from = test::lowering("layernorm");
  const BuildResult built = build_program(from.kernel, from.problem, from.schedule, {}, {.cluster = 2});
  REQUIRE(built.refusals.size() == 1);
  CHECK(built.refusals[0].rule == "cluster");
}

TEST_CASE("a result for which there is no room as a whole goes through shared memory panel by panel", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper", {}, "kernels/schedules/gemm_hopper/cutlass-cooperative.json");
  const Program program = test::program_of(from);
  CHECK(program.smem_bytes <= 232448);
  for (const Role& role : program.roles) {
    if (role.variables.empty()) continue;
    // Four panels of 64 columns in two rooms: one is stored while the next is put together.
    std::vector<int> pieces;
    for (const Step& step : role.sections.back().steps) {
      if (step.kind == StepKind::Issue && step.engine == Engine::Store) pieces.push_back(step.piece.number);
      if (step.kind == StepKind::Retire && step.engine == Engine::Store) CHECK(step.keep == 1);
    }
    CHECK(pieces == std::vector<int>{0, 1, 2, 3});
  }
}

TEST_CASE("an epilogue that needs results of two roles is refused with the demand that mends it", "[codegen]") {
  test::Lowering from = test::lowering("swiglu_dual_gemm_hopper");
  for (const auto& [op, group] : {std::pair{"G0", 1}, {"G1", 1}, {"U0", 2}, {"U1", 2}})
    from.schedule.ops[from.problem.find_op(op).index()].group = GroupId(static_cast<std::size_t>(group));
  const auto depths = from.schedule.depths;
  const std::vector<Refusal> refusals = refusals_of(from);
  if (!check(from.problem, from.schedule).valid()) {
    REQUIRE(refusals.size() == 1);
    CHECK(refusals[0].rule == "illegal_schedule");
    return;
  }
  REQUIRE(refusals.size() == 2);
  CHECK(refusals[0].rule == "epilogue_crosses_roles");
  REQUIRE(refusals[0].constraint.has_value());
  CHECK(refusals[0].constraint->name == "G0 and U0 in one group");
  CHECK(parse_constraint(refusals[0].constraint->name, from.problem).ok());
}

TEST_CASE("an illegal schedule, a graph of numbers and tensor memory are refused by name", "[codegen]") {
  test::Lowering from = test::lowering("gemm_hopper");
  from.schedule.ops[from.problem.find_op("MMA0").index()].start = 0;
  auto refusals = refusals_of(from);
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].rule == "illegal_schedule");

  const test::Lowering blackwell = test::lowering("gemm_blackwell");
  Problem hopper = blackwell.problem;
  hopper.arch = "sm_90a";
  const BuildResult built = build_program(blackwell.kernel, hopper, blackwell.schedule);
  CHECK_FALSE(built.program.has_value());
  REQUIRE(built.refusals.size() == 1);
  CHECK(built.refusals[0].rule == "tensor_memory");
}

TEST_CASE("a tile of more rows than a warpgroup holds is refused with the way to cut it", "[codegen]") {
  const auto kernel = load_kernel(test::repository_path("kernels/attention_forward_tile_hopper.json"));
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  REQUIRE(kernel.ok());
  REQUIRE(machine.ok());
  const auto problem = resolve(*kernel, *machine, {});
  REQUIRE(problem.ok());
  Schedule empty;
  empty.ops.resize(problem->ops.size());
  empty.depths.resize(problem->channels.size());
  const BuildResult built = build_program(*kernel, *problem, empty);
  REQUIRE(built.refusals.size() == 1);
  CHECK(built.refusals[0].rule == "tile_rows");
  CHECK(built.refusals[0].sentence.ends_with("cut Q_ROWS into 2 parts"));
  REQUIRE(built.refusals[0].cut);
  CHECK((built.refusals[0].cut->param == "Q_ROWS" && built.refusals[0].cut->factor == 2));
}

TEST_CASE("too little shared memory is refused with the bytes that the schedule may use", "[codegen]") {
  test::Lowering from = test::lowering("gemm_hopper");
  from.problem.limits.smem_bytes = 140'000;
  const auto refusals = refusals_of(from);
  REQUIRE(refusals.size() == 1);
  CHECK(refusals[0].rule == "shared_memory");
  REQUIRE(refusals[0].constraint.has_value());
  CHECK(refusals[0].constraint->kind == ConstraintKind::MaxSmem);
  CHECK(refusals[0].constraint->high == 131072 - (147568 - 140000));
}

TEST_CASE("where shared memory is short, results are put together where the role's query tile lay", "[codegen]") {
  const test::Lowering from =
      test::lowering("attention_forward_hopper", {{"KV", 176}}, "kernels/schedules/attention_forward_hopper/fa3-kv176.json");
  const Program program = test::program_of(from);
  CHECK(program.smem_bytes <= 232448);
  for (const Buffer& buffer : program.buffers) CHECK(buffer.name.find("out") == std::string::npos);
  for (const Role& role : program.roles) {
    if (role.variables.empty()) continue;
    // The tile is free only when the store has read the result.
    const auto& steps = role.sections.back().steps;
    const auto store =
        std::find_if(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Issue && s.engine == Engine::Store; });
    const auto release = std::find_if(steps.begin(), steps.end(), [](const Step& s) { return s.kind == StepKind::Arrive; });
    CHECK(store < release);
  }
}

TEST_CASE("too many threads for one wgmma, or too few registers, are refused", "[codegen]") {
  test::Lowering from = test::lowering("gemm_hopper");
  from.problem.limits.registers_per_sm = 50'000;  // 128 per thread at launch; n256 needs 154
  auto refusals = refusals_of(from);
  REQUIRE_FALSE(refusals.empty());
  CHECK(refusals.front().rule == "entry_registers");
  REQUIRE(refusals.front().constraint.has_value());
  CHECK(refusals.front().constraint->kind == ConstraintKind::MaxGroups);
}

TEST_CASE("the page of a program names roles, rings, barriers and steps", "[codegen]") {
  const test::Lowering from = test::lowering("attention_forward_hopper");
  const std::string page = program_page(from.kernel, test::program_of(from), {});
  for (const char* part : {"66 trips, 384 threads", "consumer A: threads 128 to 255, 240 registers", "steady state: 65 times",
                           "retire wgmma commit groups, 1 may stay in flight", "m0 has 2 copies", "issue tma_store store_o1"})
    CHECK(page.find(part) != std::string::npos);
}

TEST_CASE("names of a hostile kernel are printed without their control characters", "[codegen]") {
  test::Lowering from = test::lowering("gemm_hopper");
  from.kernel.body[3].name = "MMA0\n\x1b[31m\"*/";
  from.problem.ops[3].name = from.kernel.body[3].name;
  const std::string page = program_page(from.kernel, test::program_of(from), {});
  CHECK(page.find('\x1b') == std::string::npos);
}
