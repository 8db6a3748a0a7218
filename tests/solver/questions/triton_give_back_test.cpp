// Schedules written back into the Triton texts that they were made for: Triton's own changes nothing, other depths give the rings that they
// name, and what a schedule does not say is kept byte by byte.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/triton/back/give_back.h"
#include "core/triton/back/rules.h"
#include "core/triton/kernel/own_schedule.h"
#include "solver/search/solve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

struct Opened {
  TritonProgram program;
  LoopSite loop;
  Machine machine;
  Native native;
  Problem problem;
};

std::optional<Opened> opened(const std::string& path) {
  Result<mlir::Module> module = mlir::parse(read_file(path).value(), path);
  REQUIRE(module.ok());
  Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  if (program->form == TextForm::Final || program->form == TextForm::Specialized || program->target < 90) return std::nullopt;
  const LoopSite* loop = usual_loop(*program);
  if (!loop) return std::nullopt;
  auto machine = load_machine(test::repository_path(program->target >= 100 ? "assets/machines/b200.json" : "assets/machines/h100.json"));
  REQUIRE(machine);
  Result<Native> native = to_native(*program, *loop, TextReading::Triton);
  if (!native) return std::nullopt;
  Result<Problem> problem = resolve(native->kernel, *machine);
  if (!problem) return std::nullopt;
  const LoopSite site = *loop;
  return Opened{*std::move(program), site, *std::move(machine), *std::move(native), *std::move(problem)};
}

Opened sample(const std::string& name) {
  auto found = opened(test::repository_path("tests/triton/texts/" + name + ".ttgir"));
  REQUIRE(found);
  return *std::move(found);
}

Result<GivenBack> given(const Opened& of, const Schedule& schedule) {
  return give_back(of.program, of.loop, of.native, of.problem, schedule, of.machine);
}

Schedule solved(const Opened& of, Constraints more = {}) {
  solver::SolveRequest request;
  request.problem = of.problem;
  request.constraints = triton_rules(of.program, of.native, of.problem);
  request.constraints.insert(request.constraints.end(), more.begin(), more.end());
  request.timeout_seconds = 600;
  const SolveOutcome outcome = solver::solve(request);
  REQUIRE(outcome.schedule);
  return *outcome.schedule;
}

/// Attributes of the way back removed: what is left must be the same in both.
std::string bare(std::string text) {
  for (const char* name : {"loop.stage = ", "loop.cluster = ", "tt.scheduled_max_stage = ", "tt.latency = "})
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) text.erase(at, text.find_first_of(",}", at) - at);
  return text;
}

}  // namespace

TEST_CASE("Triton's own schedule written back is the text, byte by byte", "[triton]") {
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("tests/triton/texts"))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ttgir")) continue;
    const auto of = opened(entry.path().string());
    if (!of || !of->native.has_own) continue;
    // Triton 3.9.0 makes a race of this one (tests/core/triton/back/triton_rules_test.cpp), which the way back would mend.
    if (name.starts_with("prefix_scaled.sm90")) continue;
    const auto own = own_schedule(of->native, of->problem);
    INFO(name);
    REQUIRE(own);
    const Result<GivenBack> back = given(*of, *own);
    if (!back) {
      // Only what Triton itself lets pass and cannot run.
      const std::string why = to_string(back.error());
      INFO(why);
      CHECK((why.find("triton-memory") != std::string::npos || why.find("triton-product") != std::string::npos));
      continue;
    }
    ++texts;
    for (const std::string& change : back->changes) UNSCOPED_INFO(change);
    CHECK(back->changed == 0);
    CHECK(back->text == of->program.module->text);
  }
  CHECK(texts > 20);
}

TEST_CASE("a ring as deep as the schedule says: 2, 3 and 4 buffers of the descriptor GEMM", "[triton]") {
  const Opened of = sample("gemm_descriptors.sm90.scheduled");
  // Two buffers do not sustain 1054 cycles: a product still reads one when the next is issued, and behind that alone may the other be
  // filled.
  for (const auto& [depth, ii, bytes] : {std::tuple{2, 2000, 98320}, {3, 1054, 147480}, {4, 1054, 196640}}) {
    Constraints demands;
    UserConstraint slow;
    slow.name = "slow";
    slow.kind = ConstraintKind::IIRange;
    slow.low = ii;
    demands.push_back(slow);
    for (const Channel& channel : of.problem.channels) {
      if (channel.space != Space::Smem || channel.only_if_crossing) continue;
      UserConstraint most;
      most.name = "depth";
      most.kind = ConstraintKind::MaxDepth;
      most.channel = channel.name;
      most.high = depth;
      demands.push_back(most);
    }
    Schedule schedule = solved(of, demands);
    CHECK(schedule.ii == ii);
    for (std::size_t c = 0; c < of.problem.channels.size(); ++c)
      if (const Channel& channel = of.problem.channels[c]; channel.space == Space::Smem && !channel.only_if_crossing)
        schedule.depths[c] = depth;
    REQUIRE(check(of.problem, schedule).valid());
    const Result<GivenBack> back = given(of, schedule);
    if (!back) FAIL(to_string(back.error()));
    INFO(depth);
    for (const std::string& change : back->changes) UNSCOPED_INFO(change);
    for (const std::string& note : back->notes) UNSCOPED_INFO(note);
    CHECK(back->memory.shared_bytes == bytes);
    CHECK(bare(back->text) == bare(of.program.module->text));
    CHECK(back->notes.empty());
  }
}

TEST_CASE("the best schedule of every text can be given back, or is refused by the name of a rule", "[triton]") {
  for (const char* name :
       {"attention_forward.sm90.scheduled", "attention_forward_causal.sm90.scheduled", "gemm_pointers.sm90.scheduled",
        "gemm_scaled_f8.sm90.scheduled", "swiglu_dual.sm90.scheduled", "softmax_rows.sm90.scheduled", "gemm_persistent.sm90.scheduled"}) {
    const Opened of = sample(name);
    const Schedule best = solved(of);
    const Result<GivenBack> back = given(of, best);
    INFO(name);
    if (!back) FAIL(to_string(back.error()));
    CHECK(bare(back->text) == bare(of.program.module->text));
    CHECK(back->memory.shared_bytes <= of.machine.limits.smem_bytes);
  }
}

TEST_CASE("the best schedule of every text obeys the rules of Triton's passes, rings included", "[triton]") {
  std::size_t texts = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::repository_path("tests/triton/texts"))) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".ttgir")) continue;
    const auto of = opened(entry.path().string());
    if (!of) continue;
    INFO(name);
    solver::SolveRequest request;
    request.problem = of->problem;
    request.constraints = triton_rules(of->program, of->native, of->problem);
    request.timeout_seconds = 20;
    const SolveOutcome outcome = solver::solve(request);
    if (!outcome.schedule) continue;
    const Result<GivenBack> back = given(*of, *outcome.schedule);
    if (!back) {
      const std::string why = to_string(back.error());
      INFO(why);
      CHECK(why.find("triton-ring") == std::string::npos);
      continue;
    }
    ++texts;
    Result<mlir::Module> module = mlir::parse(back->text, name);
    REQUIRE(module.ok());
    const Result<TritonProgram> program = make_program(*std::move(module));
    REQUIRE(program.ok());
    for (const RuleViolation& each : broken_rules(*program, program->loops[static_cast<std::size_t>(of->loop.number)], of->machine))
      FAIL_CHECK(in_words(each));
  }
  CHECK(texts > 25);
}

TEST_CASE("on Blackwell warp groups go back as partitions, which the rules of the reading keep to what Triton can build", "[triton]") {
  for (const char* name :
       {"attention_forward.sm100.scheduled", "attention_forward_ws.sm100.scheduled", "attention_forward_ws.sm100.partitioned",
        "gemm_scaled_f8.sm100.scheduled", "swiglu_dual.sm100.scheduled", "gemm_pointers.sm100.scheduled"}) {
    const Opened of = sample(name);
    const Schedule best = solved(of);
    const Result<GivenBack> back = given(of, best);
    INFO(name);
    if (!back) FAIL(to_string(back.error()));
    const bool specialized = std::count_if(best.groups.begin(), best.groups.end(), [](const ScheduleGroup& g) { return g.warps > 0; }) > 1;
    CHECK((back->text.find("tt.warp_specialize") != std::string::npos) ==
          (specialized || of.program.module->text.find("tt.warp_specialize") != std::string::npos));
    if (specialized) CHECK(back->text.find("ttg.partition = array<i32: 1>") != std::string::npos);
  }
}
