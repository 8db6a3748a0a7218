// The three schedules of a Triton kernel: each is legal in its reading, what Triton's passes could build is no worse than what they did,
// and no better than what the machine could do.
#include <catch2/catch.hpp>
#include <functional>

#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "solver/questions/triton.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

LoweredLoop usual_of(const TritonProgram& program) {
  const auto shared = std::make_shared<const TritonProgram>(program);
  return {shared, static_cast<std::size_t>(usual_loop(*shared) - shared->loops.data())};
}

Comparison compared(const std::string& name, double seconds = 60, const std::function<void(std::string&)>& edit = {}) {
  const std::string path = test::repository_path("tests/triton/texts/" + name + ".ttgir");
  std::string text = read_file(path).value();
  if (edit) edit(text);
  Result<mlir::Module> module = mlir::parse(text, path);
  REQUIRE(module.ok());
  const Result<TritonProgram> program = make_program(*std::move(module));
  REQUIRE(program.ok());
  REQUIRE(usual_loop(*program));
  const auto machine =
      load_machine(test::repository_path(program->target >= 100 ? "assets/machines/b200.json" : "assets/machines/h100.json"));
  REQUIRE(machine);
  Result<Comparison> comparison = solver::compare_triton({usual_of(*program), *machine, seconds});
  if (!comparison) FAIL(to_string(comparison.error()));
  return *std::move(comparison);
}

void require_sound(const Comparison& comparison) {
  for (const Side& side : comparison.sides) {
    INFO(title(side.whose) << ": " << side.why_not);
    REQUIRE(side.schedule);
    CHECK(check(*side.problem, *side.schedule, side.whose == Whose::Tritons ? Constraints{} : side.constraints).valid());
    CHECK(side.period > 0);
    CHECK(side.period <= side.schedule->ii);
  }
  const Side &own = comparison.of(Whose::Tritons), &best = comparison.of(Whose::BestOfTriton),
             &machine = comparison.of(Whose::BestOfMachine);
  CHECK(best.period <= own.period);
  CHECK(machine.period <= best.period);
  CHECK(best.status == Status::Optimal);
  CHECK(machine.status == Status::Optimal);
  // What the text was compiled with stands in the table of options.
  std::size_t now = 0;
  for (const OptionRow& row : comparison.options)
    if (row.now) {
      ++now;
      CHECK(row.period == own.period);
    }
  CHECK(now == 1);
}

}  // namespace

TEST_CASE("attention forward on Hopper: Triton overlaps nothing with its mmas, its passes cannot, the machine can", "[triton]") {
  const Comparison comparison = compared("attention_forward.sm90.scheduled");
  require_sound(comparison);
  const Side &best = comparison.of(Whose::BestOfTriton), &machine = comparison.of(Whose::BestOfMachine);
  CHECK(best.groups == 1);
  CHECK(machine.schedule->ii == 2048);  // two products of 128 x 128 x 128 keep the tensor cores busy
  CHECK(best.period > machine.period * 3 / 2);
  CHECK(comparison.of(Whose::Tritons).shared_bytes == 229432);  // what Triton says itself
}

TEST_CASE("a GEMM whose operand B is not pipelined pays for it, and its passes could pipeline it", "[triton]") {
  const Comparison comparison = compared("gemm_pointers.sm90.scheduled");
  require_sound(comparison);
  CHECK(comparison.of(Whose::BestOfTriton).period * 3 < comparison.of(Whose::Tritons).period * 2);
}

TEST_CASE("a load by descriptor in the stage of its use is waited for, and the best of Triton does not leave it there", "[triton]") {
  const Comparison as_it_was = compared("gemm_descriptors.sm90.scheduled");
  const Comparison comparison = compared("gemm_descriptors.sm90.scheduled", 60, [](std::string& text) {
    const std::size_t load = text.find("%tb = tt.descriptor_load");
    const std::string ahead = "{loop.cluster = 2 : i32, loop.stage = 0 : i32}";
    REQUIRE(text.find(ahead, load) != std::string::npos);
    text.replace(text.find(ahead, load), ahead.size(), "{loop.cluster = 0 : i32, loop.stage = 2 : i32}");
  });
  require_sound(comparison);
  CHECK(comparison.of(Whose::Tritons).period > as_it_was.of(Whose::Tritons).period);
  CHECK(comparison.of(Whose::BestOfTriton).period == as_it_was.of(Whose::BestOfTriton).period);
}

TEST_CASE("on Hopper the best of Triton is what the problem of the triton reading gives, with every load a stage ahead", "[triton]") {
  for (const char* name : {"attention_forward_causal.sm90.scheduled", "attention_forward_pointers.sm90.scheduled",
                           "swiglu_dual.sm90.scheduled", "softmax_rows.sm90.scheduled"}) {
    INFO(name);
    const Comparison comparison = compared(name);
    const Side& best = comparison.of(Whose::BestOfTriton);
    REQUIRE(best.status == Status::Optimal);
    CHECK(problem_text(*best.problem) == problem_text(*comparison.of(Whose::Tritons).problem));
    std::size_t loads = 0;
    for (const Channel& channel : best.problem->channels)
      for (const Reader& reader : channel.readers) {
        const std::string& kind = best.problem->op(channel.writer).kind;
        if (channel.space != Space::Smem || channel.only_if_crossing || (kind != "tma_load" && kind != "load")) continue;
        CHECK(best.schedule->stage(channel.writer) < best.schedule->stage(reader.op));
        ++loads;
      }
    CHECK(loads > 0);
  }
}

TEST_CASE("other kernels have three schedules too", "[triton]") {
  for (const char* name : {"gemm_descriptors.sm90.scheduled", "gemm_descriptors.sm100.scheduled", "gemm_scaled_f8.sm90.scheduled",
                           "softmax_rows.sm90.scheduled", "swiglu_dual.sm100.scheduled"}) {
    INFO(name);
    require_sound(compared(name));
  }
}

TEST_CASE("two mmas into one accumulator, and a sum that is read before it is added to, have three schedules on Blackwell", "[triton]") {
  for (const char* name :
       {"more/two_into_one.sm100.scheduled", "more/read_then_add.sm100.scheduled", "more/linear_attention.sm100.scheduled"}) {
    INFO(name);
    const Comparison comparison = compared(name);
    for (const Side& side : comparison.sides) {
      INFO(title(side.whose) << ": " << side.why_not);
      REQUIRE(side.schedule);
      CHECK(runs(side));
    }
    CHECK(comparison.of(Whose::BestOfTriton).period <= comparison.of(Whose::Tritons).period);
    CHECK(comparison.of(Whose::BestOfMachine).period <= comparison.of(Whose::BestOfTriton).period);
  }
}

TEST_CASE("what Triton's passes build the machine can do, also where the free reading has nothing as good", "[triton]") {
  const Comparison comparison = compared("more/log_sum.sm90.scheduled");
  const Side &best = comparison.of(Whose::BestOfTriton), &machine = comparison.of(Whose::BestOfMachine);
  CHECK(machine.period == best.period);
  CHECK(machine.taken_from == Whose::BestOfTriton);
  CHECK(reading_of(machine) == TextReading::Triton);
  CHECK(machine.status == Status::Optimal);  // both searches came to their ends
  CHECK(check(*machine.problem, *machine.schedule, machine.constraints).valid());
  CHECK(machine.explanation.find("the free reading has none of fewer than") != std::string::npos);
  CHECK(machine.explanation.find("it cannot express an asynchronous copy by pointer that no mma reads") != std::string::npos);
}

TEST_CASE("a kernel that runs in Triton is never said to have no schedule", "[triton]") {
  const Comparison comparison = compared("more/attention_backward_128x128x128.sm90.scheduled");
  const Side& own = comparison.of(Whose::Tritons);
  REQUIRE(own.schedule);
  CHECK(own.status == Status::Invalid);  // by the model it needs more registers than there are
  for (const Side& side : comparison.sides) {
    INFO(title(side.whose) << ": " << side.explanation);
    REQUIRE(side.schedule);
    CHECK(side.period == own.period);
    CHECK(side.status != Status::Optimal);
  }
  const Side& machine = comparison.of(Whose::BestOfMachine);
  CHECK(machine.explanation.find("the free reading has none, proved") != std::string::npos);
  CHECK(machine.explanation.find("it cannot express an asynchronous copy by pointer that no mma reads") != std::string::npos);
  // Eight warps in rows of 64 are two groups of the free reading.
  CHECK(machine.explanation.find("warps share otherwise than by rows") == std::string::npos);
}

TEST_CASE("a partitioned text has as many streams as it has partitions", "[triton]") {
  const Comparison comparison = compared("attention_forward_ws.sm100.partitioned");
  require_sound(comparison);
  CHECK(comparison.of(Whose::Tritons).groups == 4);
}

TEST_CASE("a cancelled comparison says so for every side that it has not reached", "[triton]") {
  const std::string path = test::repository_path("tests/triton/texts/attention_forward.sm90.scheduled.ttgir");
  const Result<TritonProgram> program = make_program(mlir::parse(read_file(path).value(), path).value());
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  std::stop_source stop;
  stop.request_stop();
  const auto comparison = solver::compare_triton({usual_of(*program), *machine}, stop.get_token());
  REQUIRE(comparison);
  CHECK(comparison->cancelled);
  CHECK(comparison->of(Whose::BestOfMachine).why_not == "cancelled");
}
