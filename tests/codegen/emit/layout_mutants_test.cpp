// How much of what can be wrong in the layouts of a kernel is noticed: wrong plans by the checker, by the emitter, which refuses to write
// them, or by the emulator; wrong texts by the emulator's data and counts. What passes is listed.
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/check/layouts.h"
#include "core/layout/plan.h"
#include "core/library/library.h"
#include "tests/codegen/emulation.h"
#include "tests/codegen/text_mutants.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct PlanMutant {
  std::string what;
  std::shared_ptr<const LayoutPlan> plan;
  bool layout = false;  ///< of a value, else a row, an exchange or a cost
};

/// Where the layout of a value is said, everywhere.
void put_layout(LayoutPlan& plan, std::size_t value, const heddle::Layout& layout) {
  const auto before = plan.values[value].layout;
  const auto after = std::make_shared<const heddle::Layout>(layout);
  plan.values[value].layout = after;
  for (auto& [name, op] : plan.ops)
    for (OpAccess& access : op.accesses)
      if (access.registers == value && access.held == before) access.held = after;
}

/// Bits of bases off, bases exchanged, distances of panels: all that a wrong swizzle or a wrong fragment is.
std::vector<std::pair<std::string, heddle::Layout>> wrong_layouts(const heddle::Layout& layout) {
  std::vector<std::pair<std::string, heddle::Layout>> wrong;
  for (const LayoutAxis axis : {LayoutAxis::Register, LayoutAxis::Lane, LayoutAxis::Warp, LayoutAxis::Offset}) {
    const std::size_t bits = layout.of(axis).size();
    const std::string name = to_string(axis);
    for (std::size_t bit = 0; bit < bits; ++bit) {
      for (std::size_t d = 0; d < layout.shape.size(); ++d) {
        heddle::Layout off = layout;
        std::int64_t& move = off.of(axis)[bit][d];
        // The bit is off where it was on; else the lowest is on.
        move = move > 0 ? move & (move - 1) : (layout.shape[d] > 1 ? 1 : 0);
        if (off.of(axis)[bit][d] != layout.of(axis)[bit][d])
          wrong.emplace_back(fmt::format("bit {} of the {} moves otherwise in dimension {}", bit, name, d), off);
      }
      if (bit + 1 < bits && layout.of(axis)[bit] != layout.of(axis)[bit + 1]) {
        heddle::Layout exchanged = layout;
        std::swap(exchanged.of(axis)[bit], exchanged.of(axis)[bit + 1]);
        wrong.emplace_back(fmt::format("bits {} and {} of the {} are exchanged", bit, bit + 1, name), exchanged);
      }
    }
  }
  if (!layout.of(LayoutAxis::Lane).empty() && !layout.of(LayoutAxis::Register).empty()) {
    heddle::Layout transposed = layout;
    std::swap(transposed.of(LayoutAxis::Lane).front(), transposed.of(LayoutAxis::Register).front());
    wrong.emplace_back("a register and a lane are exchanged", transposed);
  }
  for (std::size_t r = 0; r < layout.repeats.size(); ++r)
    for (const bool pitch : {true, false}) {
      heddle::Layout other = layout;
      (pitch ? other.repeats[r].pitch : other.repeats[r].step) *= 2;
      wrong.emplace_back(fmt::format("the {} of repeat {} is twice as long", pitch ? "distance" : "step", r), other);
    }
  return wrong;
}

std::vector<PlanMutant> plan_mutants(const Kernel& kernel, const LayoutPlan& plan) {
  std::vector<PlanMutant> all;
  const auto add = [&](std::string what, const std::function<void(LayoutPlan&)>& change, bool layout = false) {
    auto mutant = std::make_shared<LayoutPlan>(plan);
    change(*mutant);
    all.push_back({std::move(what), std::move(mutant), layout});
  };
  std::vector<bool> done(plan.values.size(), false);
  for (const auto& [op_name, op] : plan.ops)
    for (std::size_t a = 0; a < op.accesses.size(); ++a) {
      const std::string& name = op_name;
      const OpAccess& access = op.accesses[a];
      if (!access.cost.known || !access.by) continue;
      for (const std::size_t value : {access.value, access.registers}) {
        if (value >= plan.values.size() || done[value] || !plan.values[value].layout ||
            (value == access.registers && access.held != plan.values[value].layout))
          continue;
        done[value] = true;
        for (const auto& [what, layout] : wrong_layouts(*plan.values[value].layout))
          add(
              fmt::format("{}: {}", kernel.values[value].name, what), [&, layout = layout](LayoutPlan& p) { put_layout(p, value, layout); },
              true);
      }
      const auto at = [&, a](LayoutPlan& p) -> OpAccess& { return p.ops.at(name).accesses[a]; };
      if (access.scratch)
        for (const auto& [what, layout] : wrong_layouts(*access.scratch))
          add(
              fmt::format("{}: on its way {}", name, what),
              [&, layout = layout](LayoutPlan& p) { at(p).scratch = std::make_shared<const heddle::Layout>(layout); }, true);
      if (access.turned)
        for (const auto& [what, layout] : wrong_layouts(*access.turned))
          add(
              fmt::format("{}: transposed, {}", name, what),
              [&, layout = layout](LayoutPlan& p) { at(p).turned = std::make_shared<const heddle::Layout>(layout); }, true);
      const auto change_row = [&](const char* what, const std::function<void(heddle::Instruction&)>& change) {
        add(fmt::format("{}: {}", name, what), [&](LayoutPlan& p) {
          auto row = std::make_shared<heddle::Instruction>(*access.by);
          change(*row);
          at(p).by = std::move(row);
        });
      };
      add(name + ": a cycle of the port less", [&](LayoutPlan& p) { --at(p).cost.port; });
      if (access.charged) add(name + ": a cycle of the op's cost less", [&](LayoutPlan& p) { --p.ops.at(name).cost.port; });
      // Of products and copies no thread holds anything: the machine's row and the boxes say all.
      if (access.by->kind == InstructionKind::Product) {
        change_row("a step takes one cycle", [](heddle::Instruction& r) { r.cycles = Expr(1); });
        change_row("half as many rows at a time", [](heddle::Instruction& r) { r.m /= 2; });
      }
      if (access.by->kind == InstructionKind::BulkCopy)
        change_row("another span is swizzled", [](heddle::Instruction& r) { r.swizzle = r.swizzle == 128 ? 64 : 128; });
      if (!access.held) continue;
      const bool matrix = access.by->matrices > 0;
      if (matrix) change_row("transposed the other way", [](heddle::Instruction& r) { r.transposed = !r.transposed; });
      if (!matrix) {
        change_row("half as many lanes at a time", [](heddle::Instruction& r) { r.lanes_per_phase /= 2; });
        change_row("bytes per lane twice as many", [](heddle::Instruction& r) { r.bytes *= 2; });
      }
      change_row("a phase takes two cycles", [](heddle::Instruction& r) { r.cycles = Expr(2); });
      if (access.exchange.used()) {
        add(name + ": no exchange", [&](LayoutPlan& p) { at(p).exchange = {}; });
        add(name + ": another lane exchanges", [&](LayoutPlan& p) { at(p).exchange.lane ^= 1; });
        add(name + ": another register is exchanged", [&](LayoutPlan& p) { at(p).exchange.register_bit ^= 1; });
      }
      add(name + ": an instruction less", [&](LayoutPlan& p) { --at(p).cost.issues; });
      add(name + ": a cycle less without conflicts", [&](LayoutPlan& p) { --at(p).cost.least; });
      add(name + ": one select more", [&](LayoutPlan& p) { ++at(p).cost.selects; });
    }
  return all;
}

struct Case {
  std::string kernel;
  Scope sizes;
  int blocks = 1;
  double tolerance = 0;
  std::size_t every = 1;                            ///< text mutant
  std::map<std::string, std::string> layouts = {};  ///< that are chosen; else as the plan has them by default
};
const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, 3, 0},
      {"attention_backward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, 4e-3, 9},
      {"attention_backward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, 4e-3, 25, {{"dQ", "prepacked"}}},
      {"attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, 4e-3, 2},
      {"gemm_hopper", {{"M", 256}, {"N", 256}, {"K", 192}}, 1, 0, 2, {{"a0", "panels 64"}, {"a1", "panels 32"}, {"b", "panels 32"}}},
      // The last step of K is a text of its own: all of its columns have numbers, or what is wrong with those beyond K shows nowhere.
      {"gemm_quantized", {{"F", 128}, {"T", 64}, {"K", 384}}, 2, 0, 11, {{"q", "operand"}}},
      {"layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}, 3, 2e-3, 2},
      {"gemm_fetched", {{"F", 192}, {"T", 64}, {"K", 352}}, 2, 0, 2},
      {"gemm_turned", {{"F", 128}, {"T", 64}, {"K", 320}}, 2, 0, 3},
      {"gemm_fp8_hopper", {{"M", 256}, {"N", 128}, {"K", 512}}, 2, 0, 2},
      {"attention_forward_fp8_turned_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 256}}, 1, 4e-3, 12},
      {"gemm_w4a16_hopper", {{"N_OUT", 256}, {"TOKENS", 40}, {"K", 384}}, 2, 0, 3},
      {"gemm_w4a16_prepacked_hopper", {{"N_OUT", 256}, {"TOKENS", 40}, {"K", 384}}, 2, 0}};
  return all;
}

void print(const char* what, std::size_t count, const std::vector<std::string>& survivors) {
  std::cout << fmt::format("{}: {} of {} caught; not caught:\n", what, count - survivors.size(), count);
  for (const std::string& survivor : survivors) std::cout << "  " << survivor << "\n";
}

/// GEMMs that take a matrix from shared memory by ldmatrix, or change its layout, are not shipped.
test::Lowering lowered(const Case& one, const Scope& sizes) {
  const bool fixture = one.kernel == "gemm_fetched" || one.kernel == "gemm_quantized" || one.kernel == "gemm_turned";
  const test::Lowering from = fixture ? test::lowered_fixture(one.kernel, sizes) : test::lowering(one.kernel, sizes);
  return one.layouts.empty() ? from : test::laid_out(from, {one.layouts, {}});
}

bool writes(const test::Lowering& from) {
  const BuildResult built = build_program(from.kernel, from.problem, from.schedule, {}, {});
  return built.program && emit_cuda(from.kernel, from.problem, from.schedule, *built.program).emission.has_value();
}

/// Of all mutants so many are looked at: each that is written is compiled.
constexpr std::size_t kEvery = 5;

/// Passes the checker, and is written.
struct Unnoticed {
  std::string what;
  test::Lowering lowering;
  const Case* of = nullptr;
  bool layout = false;
};
std::vector<Unnoticed> unnoticed(std::size_t& count) {
  std::size_t number = 0;
  std::vector<Unnoticed> left;
  for (const Case& one : cases()) {
    const test::Lowering from = lowered(one, one.sizes);
    REQUIRE(from.problem.layouts);
    const std::shared_ptr<const LayoutPlan> right = from.problem.layouts;
    REQUIRE(judge_layouts(right)->violations.empty());
    REQUIRE(writes(from));
    for (const PlanMutant& mutant : plan_mutants(from.kernel, *right)) {
      if (number++ % kEvery != 0) continue;
      ++count;
      if (!judge_layouts(mutant.plan)->violations.empty()) continue;
      test::Lowering wrong = from;
      wrong.problem.layouts = mutant.plan;
      if (writes(wrong)) left.push_back({fmt::format("{}: {}", one.kernel, mutant.what), std::move(wrong), &one, mutant.layout});
    }
  }
  return left;
}

}  // namespace

TEST_CASE("the checker objects to wrong layouts, or the emitter refuses them, but for those that only their data betrays", "[codegen]") {
  std::size_t count = 0;
  std::vector<std::string> names, without_data;
  for (const Unnoticed& each : unnoticed(count)) {
    names.push_back(each.what);
    if (!each.layout) without_data.push_back(each.what);
  }
  if (std::getenv("HEDDLE_VERBOSE")) print("plans, by checker and emitter", count, names);
  CHECK(count >= 100);
  // Rows, exchanges and costs change no data, so nothing else would notice them. Of wrong layouts in registers some are other layouts that
  // could be written as well: that the tile's own element is elsewhere shows when they run, which is slow; the test below does it.
  INFO(fmt::format("{}", fmt::join(without_data, "\n")));
  CHECK(without_data.empty());
  CHECK((count - names.size()) * 100 >= count * 93);
}

TEST_CASE("the emulator objects to wrong layouts that checker and emitter let pass", "[codegen][.slow]") {
  std::size_t count = 0;
  std::vector<std::string> survivors;
  for (const Unnoticed& each : unnoticed(count))
    if (test::survives(each.lowering, each.of->blocks, each.of->tolerance)) survivors.push_back(each.what);
  print("plans", count, survivors);
  CHECK((count - survivors.size()) * 100 >= count * 98);
}

TEST_CASE("what is wrong in a text's addresses, fragments, swizzles and descriptors shows in its data or its banks", "[codegen][.slow]") {
  std::size_t count = 0;
  std::vector<std::string> survivors;
  for (const Case& one : cases()) {
    const test::MutantRun run = test::run_mutants(lowered(one, one.sizes), one.blocks, one.tolerance, one.every);
    count += static_cast<std::size_t>(run.count);
    survivors.insert(survivors.end(), run.survivors.begin(), run.survivors.end());
  }
  print("texts", count, survivors);
  CHECK(count >= 100);
  CHECK((count - survivors.size()) * 100 >= count * 98);
}

TEST_CASE("some of what is wrong in a text shows in its data or its banks", "[codegen]") {
  const Case& one = cases().front();
  const test::MutantRun run = test::run_mutants(lowered(one, {{"M", 128}, {"N", 256}, {"K", 128}}), 1, one.tolerance, 5);
  print("texts of a small GEMM, every fifth", static_cast<std::size_t>(run.count), run.survivors);
  CHECK(run.count >= 10);
  CHECK(run.survivors.size() * 100 <= static_cast<std::size_t>(run.count) * 2);
}
