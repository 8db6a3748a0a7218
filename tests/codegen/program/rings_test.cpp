// Rings deeper than the schedule needs: legal, within shared memory, even, and never at the price of a block per SM.
#include "codegen/program/rings.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "codegen/interpret/interpret.h"
#include "codegen/program/kernel_numbers.h"
#include "core/analysis/tokens.h"
#include "core/check/checker.h"
#include "tests/codegen/fixture.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

int depth_of(const Program& program, const char* name) {
  for (const Buffer& buffer : program.buffers)
    if (buffer.name == name) return buffer.depth;
  return 0;
}

}  // namespace

TEST_CASE("deeper rings are legal, as even as they were or more, and lie within shared memory", "[codegen]") {
  for (const std::string& name : test::lowered_kernels()) {
    const test::Lowering from = test::lowering(name);
    CAPTURE(name);
    const Program least = test::program_of(from, {}, {.deep_rings = false}), deep = test::program_of(from, {}, {});
    CHECK(deep.smem_bytes <= from.problem.limits.smem_bytes);
    CHECK(deep.smem_bytes >= least.smem_bytes);
    const Schedule deeper = with_deeper_rings(from.problem, from.schedule, least);
    CHECK(check(from.problem, deeper).valid());
    for (std::size_t c = 0; c < deeper.depths.size(); ++c) CHECK(deeper.depths[c] >= from.schedule.depths[c]);
    for (const std::uint64_t seed : {1, 2, 3}) CHECK_FALSE(run_symbolic(from.kernel, deep, {seed, 2, {}}).has_value());
  }
}

TEST_CASE("what is free becomes slots, the shallowest ring first, and the table says so", "[codegen]") {
  const test::Lowering from = test::lowering("gemm_hopper");
  const Program least = test::program_of(from, {}, {.deep_rings = false}), deep = test::program_of(from, {}, {});
  CHECK(deep.smem_bytes > least.smem_bytes);
  int lowest = 100, highest = 0;
  for (const Buffer& buffer : deep.buffers)
    if (!buffer.per_tile && !buffer.registers) lowest = std::min(lowest, buffer.depth), highest = std::max(highest, buffer.depth);
  CHECK(lowest >= 3);
  CHECK(highest - lowest <= 1);
  const auto numbers = kernel_numbers(from.problem, from.schedule, deep, deep.smem_bytes);
  CHECK(std::any_of(numbers.begin(), numbers.end(), [](const KernelNumber& n) { return n.name == "slots of a0" && n.differs(); }));
}

TEST_CASE("arrivals at the barriers of a written kernel's rings are those that its schedule counts", "[codegen]") {
  int rings = 0;
  for (const char* name : {"gemm_hopper", "attention_forward_hopper", "gemm_fp8_hopper"}) {
    const test::Lowering from = test::lowering(name);
    const Program program = test::program_of(from, {}, {.deep_rings = false});
    for (const RingTokens& ring : tokens_per_iteration(from.problem, from.schedule).rings) {
      CAPTURE(name, from.problem.channel(ring.channel).name);
      int full = 0, empty = 0;
      for (const Barrier& barrier : program.barriers)
        if (program.buffers[barrier.buffer].name == from.problem.channel(ring.channel).name)
          (barrier.full ? full : empty) += barrier.arrivals;
      CHECK(full == ring.full_arrivals);
      CHECK(empty == ring.empty_arrivals);
      ++rings;
    }
  }
  CHECK(rings >= 6);
}

TEST_CASE("a ring of one slot gets a second one", "[codegen]") {
  const test::Lowering from = test::lowering("attention_backward_hopper");
  const Program least = test::program_of(from, {}, {.deep_rings = false}), deep = test::program_of(from, {}, {});
  for (const char* ring : {"q", "do"}) {
    CAPTURE(ring);
    CHECK(depth_of(least, ring) == 1);
    CHECK(depth_of(deep, ring) >= 2);
  }
}
