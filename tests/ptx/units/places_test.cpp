// The eight bytes of an mbarrier are its own: whatever writes shared memory is found there.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/ptx/units/unit_case.h"

using namespace heddle;
using namespace heddle::ptx;
using namespace heddle::test;

namespace {

/// Two barriers at %r2 and %r2+8; %r20 is the first byte of the write, %rd5 a buffer in global memory.
UnitResult run(const std::string& write, int at, const std::string& target = "sm_90a") {
  UnitCase small;
  small.target = target;
  small.body = barriers(2) + fmt::format("  add.s32 %r20, %r2, {};\n  mov.u32 %r21, 32;\n  ld.param.u64 %rd5, [buffer];\n", at) + write;
  return run_unit_case(small);
}

const std::string kOneWarp = "  setp.gt.u32 %p1, %r0, 31;\n  @%p1 bra END;\n", kEnd = "END:\n";

void check(const std::string& write, const std::string& target = "sm_90a") {
  const UnitResult over = run(write, 0, target), beside = run(write, kTiles, target);
  INFO(write << "\nover: " << over.said() << "\nbeside: " << beside.said());
  CHECK(over.has(CheckRule::BarrierPlace));
  CHECK_FALSE(beside.has(CheckRule::BarrierPlace));
}

}  // namespace

TEST_CASE("nothing else is written where an mbarrier lives", "[ptx]") {
  check(by_one("  st.shared.u32 [%r20], %r0;\n", "STORED"));
  check(
      by_one("  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 1024;\n"
             "  add.s32 %r22, %r2, 8;\n"
             "  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd5], 1024, [%r22];\n",
             "COPIED"));
  check(by_one("  cp.async.cg.shared.global [%r20], [%rd5], 16;\n  cp.async.commit_group;\n  cp.async.wait_group 0;\n", "COPIED"));
  check(
      by_one("  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 4;\n  add.s32 %r22, %r2, 8;\n"
             "  st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r20], %r0, [%r22];\n",
             "STORED"));
  check(kOneWarp + "  stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r20], {%r0};\n" + kEnd);
  check(by_one("  st.bulk.weak.shared::cta [%r20], 16, 0;\n", "CLEARED"), "sm_100a");
  check(kOneWarp + "  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], %r21;\n" + kEnd, "sm_100a");
  check(by_one("  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+8], 16;\n  add.s32 %r22, %r2, 8;\n"
               "  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r20], [%r22];\n",
               "ASKED"),
        "sm_100a");
}

TEST_CASE("an mbarrier is not made where a copy still writes", "[ptx]") {
  const std::string make = by_one(fmt::format("  mbarrier.init.shared::cta.b64 [%r2+{}], 1;\n", kTiles), "MADE_LATE");
  const std::string copy = barriers(1) + by_one(load_tile(kTiles, 0), "COPIED");
  const UnitResult early = run_unit_case({.body = copy + make + wait(0, 0, "W")});
  INFO(early.said());
  CHECK(early.has(CheckRule::WriteOverWrite));
  const UnitResult behind = run_unit_case({.body = copy + wait(0, 0, "W") + make});
  INFO(behind.said());
  CHECK(behind.clean());
}
