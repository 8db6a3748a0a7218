// Our own kernels, as nvcc makes PTX of them, are in order by their PTX.
#include <iostream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "ptx/report/check.h"
#include "tests/codegen/ptx_kernel.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

/// Nothing wrong, nothing doubtful, and all that there is to see was seen. False: there is no nvcc.
bool in_order(const test::SmallKernel& small) {
  INFO(test::to_string(small));
  const test::Lowering from = test::lowering_of(small);
  const codegen::Program program = test::program_of(from, {}, small.options);
  const auto kernel = test::ptx_kernel(from, program);
  if (!kernel) return false;
  const auto machine = load_machine(test::repository_path(fmt::format("assets/machines/{}.json", program.blackwell() ? "b200" : "h100")));
  REQUIRE(machine.ok());
  ptx::CheckOptions options;
  options.machine = &*machine;
  const Result<ptx::Checked> checked = ptx::check(kernel->text, "kernel.ptx", kernel->launch, options);
  if (!checked.ok()) FAIL_CHECK(to_string(checked.error()));
  if (!checked.ok()) return true;
  for (const ptx::SaidFinding& finding : checked->findings)
    FAIL_CHECK(fmt::format("line {} ({}), {}: {}", finding.line, finding.source, finding.rule, finding.sentence));
  CHECK(checked->stopped.empty());
  CHECK(checked->verdict == ptx::CheckVerdict::InOrder);
  return true;
}

}  // namespace

TEST_CASE("kernels for Hopper and Blackwell are in order by their PTX, in pairs too", "[codegen]") {
  for (const test::SmallKernel& small : test::small_kernels()) {
    const std::string name = test::to_string(small);
    if (name != "gemm_hopper" && name != "attention_forward_hopper" && name != "gemm_blackwell in pairs" &&
        name != "attention_forward_blackwell")
      continue;
    if (!in_order(small)) return;
  }
}

TEST_CASE("every shipped kernel of Hopper and Blackwell is in order by its PTX", "[codegen][.slow]") {
  for (const test::SmallKernel& small : test::small_kernels())
    if (!in_order(small)) return;
}

TEST_CASE("every shipped kernel that has a lowered schedule is among those whose PTX is checked", "[codegen]") {
  for (const auto* kernels : {&test::lowered_kernels(), &test::blackwell_kernels()})
    for (const std::string& name : *kernels) {
      INFO(name);
      const auto small = test::small_kernels();
      CHECK(std::any_of(small.begin(), small.end(), [&](const test::SmallKernel& kernel) { return kernel.name == name; }));
    }
}
