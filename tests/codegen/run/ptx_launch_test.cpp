// Emitted kernels as launches that heddle check reads: what the driver would be told, and nothing that it would refuse.
#include "codegen/run/ptx_launch.h"

#include <catch2/catch.hpp>

#include <set>

#include "ptx/launch/launch_json.h"
#include "ptx/launch/launch_rules.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

struct Emitted {
  test::Lowering from;
  Program program;
  Emission emission;
};

Emitted emitted(const test::Lowering& from, const BuildOptions& options = {}) {
  const Program program = test::program_of(from, {}, options);
  EmitResult result = emit_cuda(from.kernel, from.problem, from.schedule, program);
  for (const Refusal& r : result.refusals) UNSCOPED_INFO(r.rule << ": " << r.sentence);
  REQUIRE(result.emission.has_value());
  return {from, program, *result.emission};
}

ptx::Launch launch_of(const Emitted& kernel, std::int64_t sms = 132) {
  const auto launch = ptx_launch(kernel.from.kernel, kernel.program.params, kernel.emission, sms);
  INFO((launch.ok() ? "" : to_string(launch.error())));
  REQUIRE(launch.ok());
  return *launch;
}

}  // namespace

TEST_CASE("every shipped kernel has a launch that a driver takes, and that comes back from its file", "[codegen]") {
  for (const auto* kernels : {&test::lowered_kernels(), &test::blackwell_kernels()})
    for (const std::string& name : *kernels) {
      INFO(name);
      const Emitted kernel = emitted(test::lowering(name));
      const ptx::Launch launch = launch_of(kernel);
      for (const Fault& fault : ptx::faults_of(launch)) FAIL_CHECK(to_string(fault));
      CHECK(launch.maps.size() == kernel.emission.launch.maps.size());
      CHECK(launch.names.size() == kernel.emission.launch.pointers.size());
      CHECK(launch.parameters.size() == 128 * launch.maps.size() + 8 * launch.names.size());
      const auto again = ptx::parse_launch(ptx::launch_text(launch), "launch.json");
      REQUIRE(again.ok());
      CHECK(*again == launch);
    }
}

TEST_CASE("the launch of a GEMM is a block for each SM, or for each tile where there are fewer", "[codegen]") {
  const Emitted gemm = emitted(test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 192}}));
  CHECK(launch_of(gemm, 132).grid[0] == static_cast<std::uint32_t>(gemm.emission.launch.tiles));
  CHECK(launch_of(gemm, 3).grid[0] == 3);
  const ptx::Launch launch = launch_of(gemm);
  std::set<std::string> names;
  for (const ptx::PlacedMap& placed : launch.maps) {
    names.insert(placed.map.name);
    CHECK(placed.map.element == ptx::MapElement::Bf16);
    CHECK(placed.map.strides == ptx::dense_strides(placed.map));
  }
  CHECK(names == std::set<std::string>{"A", "B", "C"});
  CHECK(launch.block[0] == static_cast<std::uint32_t>(gemm.emission.launch.threads));
  for (const ptx::GlobalBuffer& buffer : launch.buffers)
    if (buffer.name == "A") CHECK(buffer.bytes == 256 * 192 * 2);
}

TEST_CASE("sizes at run time stand in the launch as words with names", "[codegen]") {
  BuildOptions options;
  options.run_time_sizes = true;
  const Emitted gemm = emitted(test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}), options);
  REQUIRE(gemm.emission.launch.sizes.has_value());
  const ptx::Launch launch = launch_of(gemm);
  for (const Fault& fault : ptx::faults_of(launch)) FAIL_CHECK(to_string(fault));
  CHECK(launch.names.size() == gemm.emission.launch.pointers.size() + gemm.emission.launch.sizes->fields.size());
  for (const ptx::PlacedMap& placed : launch.maps)
    if (placed.map.name == "A")
      CHECK(placed.map.extents == std::vector<std::uint64_t>{gemm.program.params.at("K") == 320 ? 320u : 0u, 256u});
}
