// Verification with data: right programs pass under every order, what cannot be run says why, and it stops when asked.
#include "codegen/interpret/verify.h"

#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct VerifyBench {
  test::Lowering from;
  InstanceSpec spec;
  explicit VerifyBench(const std::string& kernel)
      : from(test::lowering(kernel)), spec(spec_of(from.kernel, load_machine("h100").value())) {}
  Result<DataCheck> run(std::int64_t times, const BuildOptions& options = {}, const std::stop_token& stop = {}) {
    return verify_with_data({Instance(spec, from.problem), {}, from.schedule, options, 1, times}, stop,
                            [this](std::int64_t done) { said.push_back(done); });
  }
  std::vector<std::int64_t> said;
};

}  // namespace

TEST_CASE("a program is verified with data in as many orders as asked for", "[codegen]") {
  VerifyBench bench("gemm_hopper");
  const auto check = bench.run(3);
  REQUIRE(check.ok());
  CHECK(check->good());
  CHECK(check->sentence().empty());
  CHECK(check->done == 3);
  CHECK(check->blocks > 0);
  CHECK(check->trips > 0);
  CHECK(bench.said == std::vector<std::int64_t>{0, 1, 2});
  const auto pairs = bench.run(2, {.cluster = 2});
  REQUIRE(pairs.ok());
  CHECK(pairs->good());
}

TEST_CASE("verification with data stops when asked, and says so", "[codegen]") {
  VerifyBench bench("gemm_hopper");
  std::stop_source stop;
  stop.request_stop();
  const auto check = bench.run(1000, {}, stop.get_token());
  REQUIRE(check.ok());
  CHECK(check->stopped);
  CHECK(check->done == 0);
}

TEST_CASE("what cannot be written at evaluation sizes is named", "[codegen]") {
  VerifyBench bench("layernorm");
  const auto check = bench.run(1, {.cluster = 2});
  REQUIRE_FALSE(check.ok());
  CHECK(check.error().faults.front().message.find("at its evaluation sizes: ") == 0);
}

TEST_CASE("a fault of one step says whose step it is", "[codegen]") {
  test::Lowering from = test::lowering("gemm_hopper");
  Program program = test::program_of(from);
  // Nobody waits for what TMA brings any more.
  for (Role& role : program.roles)
    for (codegen::Section& section : role.sections)
      std::erase_if(section.steps, [](const Step& step) { return step.kind == StepKind::Wait && !step.ahead; });
  std::optional<ProgramFault> fault;
  for (std::uint64_t seed = 0; seed < 50 && !fault; ++seed) fault = run_symbolic(from.kernel, program, {seed, 2});
  REQUIRE(fault);
  REQUIRE(fault->op);
  CHECK(fault->op->list == OpRef::List::Body);
  CHECK(from.kernel.body.at(fault->op->index).kind.starts_with("mma"));
}
