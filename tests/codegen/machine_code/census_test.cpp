// Which instructions the compiled kernels have, and how many: a serialised wgmma, a spill, a conversion that is no longer
// packed or a wait too many shows here first. And what ptxas made of the steady loops: what stands between turn and wgmma, fences,
// uniform instructions, ops that moved. HEDDLE_UPDATE_GOLDENS=1 writes tests/golden/census.txt and machine_code.txt anew.
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/recut.h"
#include "codegen/emit/emit.h"
#include "codegen/machine_code/audit.h"
#include "core/base/atomic_file.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct Case {
  const char* kernel;
  Scope params;
  std::string schedule;  ///< below kernels/schedules, or a path with the tests; empty: the solver's, with the tests
  int cluster = 1;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> all;
    for (const std::string& name : test::lowered_kernels()) all.push_back({name.c_str(), {}, ""});
    all.push_back({"attention_forward_fp8_turned_hopper", {}, ""});
    for (const char* hand : {"fa3", "fa3-overlap", "fa3-pingpong", "fa3-neither"}) all.push_back({"attention_forward_hopper", {}, hand});
    const Scope wide{{"KV", 176}};
    for (const char* hand : {"fa3-kv176", "fa3-overlap-kv176", "fa3-pingpong-kv176", "fa3-neither-kv176"})
      all.push_back({"attention_forward_hopper", wide, hand});
    all.push_back({"attention_backward_causal_hopper", {}, ""});
    all.push_back({"attention_backward_causal_blackwell", {}, ""});
    for (const char* backward : {"", "fa3-backward"}) all.push_back({"attention_backward_hopper", {}, backward});
    for (const char* hand : {"cutlass-cooperative", "cutlass-pingpong"}) all.push_back({"gemm_short_k_hopper", {}, hand});
    all.push_back({"gemm_hopper", {}, "cutlass-cooperative"});
    for (const char* pair :
         {"gemm_hopper", "attention_forward_hopper", "attention_forward_causal_hopper", "swiglu_dual_gemm_hopper", "gemm_fp8_hopper"})
      all.push_back({pair, {}, "", 2});
    for (const char* name : {"gemm_blackwell", "attention_forward_blackwell", "attention_forward_causal_blackwell",
                             "attention_forward_conditional_blackwell", "swiglu_dual_gemm_blackwell"})
      all.push_back({name, {}, ""});
    for (const char* name : {"attention_forward_hopper", "attention_forward_causal_hopper", "attention_forward_blackwell",
                             "attention_forward_causal_blackwell"})
      all.push_back({name, {{"LSE", 1}}, ""});
    for (const char* name :
         {"attention_forward_varlen_hopper", "attention_forward_causal_varlen_hopper", "attention_backward_varlen_hopper",
          "attention_backward_causal_varlen_hopper", "attention_forward_varlen_blackwell", "attention_forward_causal_varlen_blackwell",
          "attention_backward_varlen_blackwell", "attention_backward_causal_varlen_blackwell"})
      all.push_back({name, {}, ""});
    all.push_back({"attention_backward_blackwell", {}, "tests/schedules/attention_backward_clean_b200.json"});
    all.push_back({"gemm_blackwell", {}, "", 2});
    all.push_back({"gemm_blackwell", {}, "cutlass-sm100"});
    all.push_back({"attention_forward_blackwell", {}, "fa4-noemu-nosplit"});
    all.push_back({"attention_forward_emulated_blackwell", {}, "fa4-nosplit"});
    all.push_back({"attention_forward_tile_blackwell", {}, "fa4-1q"});
    all.push_back({"attention_forward_parts_blackwell", {}, "fa4-noemu"});
    all.push_back({"attention_forward_causal_blackwell", {}, "fa4-noemu-nosplit"});
    return all;
  }();
  return list;
}

/// "1234 instructions, 8 wgmma ..." -> 1234 and the rest.
std::pair<double, std::string> halves(const std::string& text) {
  return {std::atof(text.c_str()), text.substr(std::min(text.find(','), text.size()))};
}

/// What a change of the emitter or of ptxas may worsen, a line per role.
std::string audit_lines(const MachineAudit& audit, const Kernel& kernel, const Program& program) {
  std::string text;
  for (const RoleLoopAudit& loop : audit.loops) {
    const ClassCounts& counts = loop.counts;
    text += fmt::format("  {}: {} instructions, {} issue cycles, {} uniform for {} {}, {} GPU fences\n", program.roles[loop.role].name,
                        counts.all(), counts.issue(), counts[OpClass::Uniform], counts[OpClass::Product] + counts[OpClass::TensorProduct],
                        program.blackwell() ? "tcgen05.mma" : "wgmma", counts[OpClass::GpuFence]);
    if (program.blackwell())
      text +=
          fmt::format("    {} signals, {} loads from tensor memory, {} stores to it, {} waits for stores\n", counts[OpClass::TensorSignal],
                      counts[OpClass::TensorLoad], counts[OpClass::TensorStore], counts[OpClass::TensorWait]);
    for (const TurnGap& turn : loop.turns) text += fmt::format("    turn to {}: {}\n", op_of(kernel, turn.op).name, turn.issue);
    for (const Drain& drain : loop.drains) text += fmt::format("    drained for {}: {}\n", op_of(kernel, drain.op).name, drain.issue);
    for (const Interrupted& batch : loop.interrupted)
      text += fmt::format("    inside {}: {} between wgmmas of {}\n", op_of(kernel, batch.op).name, batch.gap, batch.wgmma);
    for (const Reordered& one : loop.reordered)
      text += fmt::format("    reordered: {} before {}\n", op_of(kernel, one.early.op).name, op_of(kernel, one.late.op).name);
    for (const Moved& moved : loop.moved)
      text += fmt::format("    moved {}: {} later, {} earlier of {}\n", op_of(kernel, moved.op).name, moved.down, moved.up, moved.of);
  }
  return text;
}

}  // namespace

TEST_CASE("the compiled kernels have the instructions that they had", "[codegen][.slow]") {
  const auto compiler = find_compiler();
  if (!compiler.ok()) {
    std::cout << "skipped: " << compiler.error().faults.front().message << "\n";
    return;
  }
  const std::string path = test::repository_path("tests/golden/census.txt");
  const std::string loops_path = test::repository_path("tests/golden/machine_code.txt");
  std::map<std::string, std::string> actual, loops;
  for (const Case& c : cases()) {
    const bool hand = !c.schedule.empty() && !c.schedule.starts_with("tests/");
    const std::string file = hand ? fmt::format("kernels/schedules/{}/{}.json", c.kernel, c.schedule) : c.schedule;
    const test::Lowering from = file.empty() ? test::lowering(c.kernel, c.params) : test::lowering(c.kernel, c.params, file);
    CAPTURE(c.kernel, c.schedule);
    const BuildOptions build{.cluster = c.cluster};
    Program program = test::program_of(from, {}, build);
    EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
    REQUIRE(emitted.emission.has_value());
    const CompileFunction compile = [](const std::string& source, const std::string& arch) {
      return compile_cuda(source, {Compiler::Auto, {}, nullptr, arch});
    };
    const CompileQuestion question{from.kernel, from.problem, from.schedule};
    auto made = compile_kernel(question, build, std::move(program), std::move(*emitted.emission), compile);
    REQUIRE(made.ok());
    // Which cut of its loops suits ptxas is found out by compiling, as heddle compile does it; on Hopper only where the first one spills.
    if (made->program.blackwell() || !made->faults.empty()) made = recut(question, std::move(*made), compile);
    REQUIRE(made.ok());
    CAPTURE(made->compiled.log);
    CHECK(made->faults.empty());
    CHECK(made->compiled.report.remarks.empty());
    const std::string name = fmt::format("{} {}{}{}", c.kernel, hand ? c.schedule : "solver", c.params.contains("LSE") ? " with LSE" : "",
                                         c.cluster > 1 ? " in pairs" : "");
    actual[name] = census_text(made->compiled.census);
    const MachineAudit& found = made->audit;
    CHECK(found.lines);
    loops[name] = audit_lines(found, from.kernel, made->program);
    for (const Refusal& finding : judge(found, from.kernel, made->program))
      loops[name] += fmt::format("  ! {}: {}\n", finding.rule, finding.sentence);
  }
  if (const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS"); update && *update) {
    std::string text = "compiler: " + *compiler + "\n";
    for (const auto& [name, census] : actual) text += name + ": " + census + "\n";
    REQUIRE(write_file(path, text).ok());
    std::string all = "compiler: " + *compiler + "\n";
    for (const auto& [name, lines] : loops) all += name + "\n" + lines;
    REQUIRE(write_file(loops_path, all).ok());
  }
  const auto golden = read_file(path);
  REQUIRE(golden.ok());
  std::istringstream lines(*golden);
  std::string line;
  std::getline(lines, line);
  if (line != "compiler: " + *compiler) {
    std::cout << "skipped: tests/golden/census.txt is not of " << *compiler << "\n";
    return;
  }
  std::size_t compared = 0;
  while (std::getline(lines, line)) {
    const std::string name = line.substr(0, line.find(": "));
    REQUIRE(actual.contains(name));
    CAPTURE(name);
    const auto [count, kinds] = halves(actual[name]);
    const auto [golden_count, golden_kinds] = halves(line.substr(name.size() + 2));
    CHECK(kinds == golden_kinds);
    CHECK(count == Approx(golden_count).epsilon(0.02));  // moves and address arithmetic
    ++compared;
  }
  CHECK(compared == actual.size());
  const auto golden_loops = read_file(loops_path);
  REQUIRE(golden_loops.ok());
  std::string all = "compiler: " + *compiler + "\n";
  for (const auto& [name, text] : loops) all += name + "\n" + text;
  CHECK(all == *golden_loops);
}
