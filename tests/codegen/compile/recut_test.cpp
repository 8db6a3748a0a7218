// Other cuts of a kernel's loops: tried when the compiler objects, kept when they are better, and never more than that.
#include "codegen/compile/recut.h"

#include <catch2/catch.hpp>

#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// Attention forward, and a compiler that says how much each text spills: of the n-th text `spills[n]`, of later ones the last.
struct RecutBench {
  test::Lowering from = test::lowering("attention_forward_hopper");
  std::vector<std::int64_t> spills;
  std::vector<std::string> sources;
  std::optional<Error> breaks;  ///< instead of the second answer

  Result<Compiled> compile(const std::string& source) {
    if (breaks && !sources.empty()) return *breaks;
    Compiled compiled;
    compiled.report.spill_stores = spills[std::min(sources.size(), spills.size() - 1)];
    sources.push_back(source);
    return compiled;
  }
  BuiltKernel first() {
    const Program program = test::program_of(from);
    const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
    BuiltKernel kernel{{}, program, *emitted.emission, compile(emitted.emission->source).value(), {}, {}, {}};
    kernel.faults = judge(kernel.compiled.report, kernel.program);
    return kernel;
  }
  Result<BuiltKernel> run(const std::stop_token& stop = {}) {
    BuiltKernel kernel = first();
    return recut(
        {from.kernel, from.problem, from.schedule}, std::move(kernel),
        [this](const std::string& source, const std::string&) { return compile(source); }, stop);
  }
};

}  // namespace

TEST_CASE("what is clean at first is not compiled again", "[codegen]") {
  RecutBench bench;
  bench.spills = {0};
  const auto kernel = bench.run();
  REQUIRE(kernel.ok());
  CHECK(bench.sources.size() == 1);
  CHECK(kernel->emission.source == bench.sources[0]);
}

TEST_CASE("the first text that is clean is taken, and its cuts make it again", "[codegen]") {
  RecutBench bench;
  bench.spills = {64, 96, 32, 0};
  const auto kernel = bench.run();
  REQUIRE(kernel.ok());
  REQUIRE(bench.sources.size() == 4);
  CHECK(kernel->faults.empty());
  CHECK(kernel->emission.source == bench.sources[3]);
  const Program again = test::program_of(bench.from, {}, kernel->build);
  CHECK(emit_cuda(bench.from.kernel, bench.from.problem, bench.from.schedule, again).emission->source == kernel->emission.source);
}

TEST_CASE("where none is clean, the one that spills least stays", "[codegen]") {
  RecutBench bench;
  bench.spills = {64, 96, 32, 48};
  const auto kernel = bench.run();
  REQUIRE(kernel.ok());
  CHECK(bench.sources.size() > 3);
  CHECK_FALSE(kernel->faults.empty());
  CHECK(kernel->emission.source == bench.sources[2]);
  bench.sources.clear();
  bench.spills = {64};  // all alike: the first, with the fewest copies
  const auto same = bench.run();
  REQUIRE(same.ok());
  CHECK(same->emission.source == bench.sources[0]);
}

TEST_CASE("what the audit finds is a reason for another cut too, but a spill is worse", "[codegen]") {
  const Refusal found{"broken_batch", {"S0"}, "between two wgmmas stands other work", {}};
  for (const std::int64_t spill : {0, 4}) {
    RecutBench bench;
    bench.spills = {0, spill};
    BuiltKernel kernel = bench.first();
    kernel.findings = {found};
    const auto other = recut({bench.from.kernel, bench.from.problem, bench.from.schedule}, std::move(kernel),
                             [&](const std::string& source, const std::string&) { return bench.compile(source); });
    REQUIRE(other.ok());
    CHECK(other->faults.empty());
    CHECK(other->findings.empty() == (spill == 0));
    CHECK((other->emission.source == bench.sources[0]) == (spill > 0));
  }
}

TEST_CASE("a compiler that breaks down ends it, and so does a stop", "[codegen]") {
  RecutBench bench;
  bench.spills = {64};
  bench.breaks = Error::environment("the compiler is gone");
  const auto broken = bench.run();
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().faults.front().message == "the compiler is gone");
  RecutBench other;
  other.spills = {64};
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = other.run(stop.get_token());
  REQUIRE(stopped.ok());
  CHECK(other.sources.size() == 1);
}
