// Tensor memory and tcgen05: a small kernel that breaks each rule, and one that does not.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "ptx/units/tensor_form.h"
#include "tests/ptx/units/unit_case.h"

using namespace heddle;
using namespace heddle::ptx;
using namespace heddle::test;

namespace {

UnitResult run(const std::string& body, unsigned cluster = 1) {
  UnitCase small;
  small.target = "sm_100a";
  small.cluster = cluster;
  small.body = body;
  return run_unit_case(small);
}

/// Warp 0 does it.
std::string by_warp_0(const std::string& what, const std::string& label) {
  return fmt::format("  setp.ne.s32 %p13, %r1, 0;\n  @%p13 bra {0};\n{1}{0}:\n", label, what);
}

const std::string kBefore = "  tcgen05.fence::before_thread_sync;\n", kAfter = "  tcgen05.fence::after_thread_sync;\n",
                  kSync = "  bar.sync 0;\n";

std::string allocate(int columns) {
  return barriers(2) +
         by_warp_0(fmt::format("  add.s32 %r10, %r2, 64;\n  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], {};\n"
                               "  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n",
                               columns),
                   "ALLOCATED") +
         kBefore + kSync + kAfter + "  ld.shared.b32 %r20, [%r2+64];\n";
}
std::string free_all(int columns, const std::string& label = "FREED") {
  return kBefore + kSync + kAfter + by_warp_0(fmt::format("  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, {};\n", columns), label);
}

/// A tile is there, and thread 0 multiplies 128 x 32 x 16 of it, and commits to barrier 1.
const std::string kCommit = "  add.s32 %r12, %r2, 8;\n  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12];\n";
const std::string kMultiply = fmt::format(R"(  add.s32 %r11, %r2, {};
  shr.u32 %r11, %r11, 4;
  cvt.u64.u32 %rd0, %r11;
  or.b64 %rd0, %rd0, 0x4000404000010000;
  mov.b32 %r21, {};
  setp.ne.s32 %p1, %r0, %r0;
  tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd0, %rd0, %r21, %p1;
)",
                                          kTiles, (64 / 16) << 24 | (32 / 8) << 17 | 1 << 4 | 1 << 7 | 1 << 10);
std::string product(const std::string& behind) {
  return by_one(load_tile(kTiles, 0), "COPIED") + wait(0, 0, "W") + by_one(kMultiply + behind, "MULTIPLIED");
}

/// Each warp reads its 32 lanes of columns 0 to 3.
const std::string kLoad =
    "  shl.b32 %r22, %r1, 21;\n  add.s32 %r22, %r22, %r20;\n  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30, %r31, %r32, %r33}, [%r22];\n";
const std::string kStore =
    "  shl.b32 %r22, %r1, 21;\n  add.s32 %r22, %r22, %r20;\n  tcgen05.st.sync.aligned.32x32b.x4.b32 [%r22], {%r30, %r31, %r32, %r33};\n";
const std::string kWaitLoad = "  tcgen05.wait::ld.sync.aligned;\n", kWaitStore = "  tcgen05.wait::st.sync.aligned;\n";
const std::string kUse = "  add.s32 %r40, %r30, %r31;\n";

}  // namespace

TEST_CASE("a product in tensor memory is read behind its commit's barrier and a fence") {
  const std::string done = wait(1, 0, "D") + kAfter;
  const UnitResult right = run(allocate(64) + product(kCommit) + done + kLoad + kWaitLoad + kUse + free_all(64));
  INFO(right.said());
  CHECK(right.clean());
  CHECK(
      run(allocate(64) + product(kCommit) + kAfter + kLoad + kWaitLoad + wait(1, 0, "D") + free_all(64)).has(CheckRule::TensorMemoryRace));
  CHECK(run(allocate(64) + product(kCommit) + wait(1, 0, "D") + kLoad + kWaitLoad + free_all(64)).has(CheckRule::MissingTensorFence));
  CHECK(run(allocate(64) + product("") + done + kLoad + kWaitLoad + free_all(64)).has(CheckRule::Hang));
}

TEST_CASE("products of one accumulator and shape are in order, others wait for a commit where they meet") {
  const auto again = [](int columns) {
    return fmt::format("  add.s32 %r24, %r20, {};\n  tcgen05.mma.cta_group::1.kind::f16 [%r24], %rd0, %rd0, %r21, %p1;\n", columns);
  };
  const auto second = [&](int columns) { return run(allocate(64) + product(again(columns) + kCommit) + wait(1, 0, "D") + free_all(64)); };
  CHECK(second(0).clean());
  CHECK(second(32).clean());
  CHECK(second(8).has(CheckRule::ProductOrder));
  const std::string waited = kCommit + wait(1, 0, "FIRST") + kAfter;
  const UnitResult right = run(allocate(64) + product(waited + again(8) + kCommit) + wait(1, 1, "D") + free_all(64));
  INFO(right.said());
  CHECK(right.clean());
}

TEST_CASE("a product reads its operands behind their barrier, and they are overwritten behind its commit") {
  const std::string early =
      by_one(load_tile(kTiles, 0), "COPIED") + by_one(kMultiply + kCommit, "MULTIPLIED") + wait(0, 0, "W") + wait(1, 0, "D");
  CHECK(run(allocate(64) + early + free_all(64)).has(CheckRule::ReadBeforeReady));
  const std::string again = by_one(load_tile(kTiles, 0), "AGAIN") + wait(0, 1, "V");
  const UnitResult right = run(allocate(64) + product(kCommit) + wait(1, 0, "D") + again + free_all(64));
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(allocate(64) + product(kCommit) + again + wait(1, 0, "D") + free_all(64)).has(CheckRule::OverwriteBeforeRead));
}

TEST_CASE("tcgen05.ld is waited for before its registers are used, tcgen05.st before others read") {
  const std::string stored = kStore + kWaitStore + kBefore + kSync + kAfter;
  const UnitResult right = run(allocate(32) + stored + kLoad + kWaitLoad + kUse + free_all(32));
  INFO(right.said());
  CHECK(right.clean());
  // Once for a load, however many of its registers are used.
  const UnitResult early = run(allocate(32) + stored + kLoad + kUse + "  add.s32 %r41, %r32, %r33;\n" + kWaitLoad + free_all(32));
  CHECK(std::ranges::count(early.findings, CheckRule::LoadNotWaited, &CheckFinding::rule) == 1);
  // What has been used was read: storing there again is no mistake of its own.
  const UnitResult over = run(allocate(32) + stored + kLoad + kUse + kStore + kWaitStore + free_all(32));
  CHECK(over.has(CheckRule::LoadNotWaited));
  CHECK_FALSE(over.has(CheckRule::TensorMemoryRace));
  CHECK(run(allocate(32) + kStore + kSync + kLoad + kWaitLoad + kWaitStore + free_all(32)).has(CheckRule::TensorMemoryRace));
  CHECK(run(allocate(32) + stored + kLoad + kSync + kStore + kWaitLoad + kWaitStore + free_all(32)).has(CheckRule::TensorMemoryRace));
}

TEST_CASE("tensor memory is allocated in powers of two, freed once, and reached by its warp's lanes") {
  CHECK(run(allocate(64)).has(CheckRule::TensorMemoryNotFreed));
  CHECK(run(allocate(48) + free_all(48)).has(CheckRule::TensorMemoryColumns));
  CHECK(run(allocate(64) + free_all(64) + free_all(64, "AGAIN")).has(CheckRule::TensorMemoryColumns));
  const std::string wrong_lane = "  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30, %r31, %r32, %r33}, [%r20];\n";
  CHECK(run(allocate(32) + kStore + kWaitStore + kBefore + kSync + kAfter + wrong_lane + kWaitLoad + free_all(32))
            .has(CheckRule::TensorMemoryLanes));
  CHECK(run(allocate(32) + "  add.s32 %r20, %r20, 30;\n" + kStore + kWaitStore + "  sub.s32 %r20, %r20, 30;\n" + free_all(32))
            .has(CheckRule::TensorMemoryColumns));
}

TEST_CASE("an allocation waits until columns are free") {
  const auto alloc = [](int columns) {
    return fmt::format(
        "  add.s32 %r10, %r2, 72;\n  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], {0};\n"
        "  ld.shared.b32 %r23, [%r10];\n  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r23, {0};\n",
        columns);
  };
  const std::string both =
      by_warp_0("  add.s32 %r10, %r2, 64;\n  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r10], 512;\n", "ONE") + kSync +
      "  setp.ne.s32 %p3, %r1, 1;\n  @%p3 bra TWO;\n" + alloc(256) + "TWO:\n";
  const UnitResult never = run(both + kSync);
  INFO(never.said());
  CHECK(never.has(CheckRule::Hang));
  const UnitResult later =
      run(both + by_warp_0("  ld.shared.b32 %r20, [%r2+64];\n  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 512;\n", "FREED"));
  INFO(later.said());
  CHECK(later.clean());
}

TEST_CASE("operand A in tensor memory is stored, waited for and fenced first") {
  const std::string product = fmt::format(R"(  mov.b64 %rd0, {};
  mov.b32 %r21, {};
  add.s32 %r24, %r20, 32;
  setp.ne.s32 %p1, %r0, %r0;
  tcgen05.mma.cta_group::1.kind::f16 [%r24], [%r20], %rd0, %r21, %p1;
)",
                                          0x4000404000010000 | (2048 >> 4), (128 / 16) << 24 | (16 / 8) << 17 | 1 << 4 | 1 << 7 | 1 << 10);
  const std::string eight =
      "  shl.b32 %r22, %r1, 21;\n  add.s32 %r22, %r22, %r20;\n  tcgen05.st.sync.aligned.32x32b.x8.b32 [%r22], {%r30, %r31, %r32, %r33, "
      "%r34, %r35, %r36, %r37};\n";
  const std::string begin = allocate(64) + by_one(load_tile(2048, 0), "COPIED") + wait(0, 0, "W");
  const std::string end = by_one(product + kCommit, "MULTIPLIED") + wait(1, 0, "D") + free_all(64);
  const UnitResult right = run(begin + eight + kWaitStore + kBefore + kSync + kAfter + end);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(begin + eight + kBefore + kSync + kAfter + end).has(CheckRule::TensorMemoryRace));
  CHECK(run(begin + eight + kWaitStore + kSync + kAfter + end).has(CheckRule::MissingTensorFence));
  CHECK(run(begin + eight + kWaitStore + kBefore + kSync + end).has(CheckRule::MissingTensorFence));
  const std::string proxy_fence = "  fence.proxy.async.shared::cta;\n";  // it orders shared memory
  CHECK(run(begin + eight + kWaitStore + proxy_fence + kSync + kAfter + end).has(CheckRule::MissingTensorFence));
  CHECK(run(begin + eight + kWaitStore + kBefore + kSync + proxy_fence + end).has(CheckRule::MissingTensorFence));
}

TEST_CASE("tcgen05.fence orders tensor memory across an arrival and a wait that are relaxed") {
  const auto hand_on = [](const std::string& before, const std::string& after) {
    UnitCase small;
    small.target = "sm_100a";
    small.threads = 256;
    small.body = allocate(32) + by_one("  mbarrier.init.shared::cta.b64 [%r2+16], 128;\n", "OWN") + kSync +
                 "  and.b32 %r22, %r1, 3;\n  shl.b32 %r22, %r22, 21;\n  add.s32 %r22, %r22, %r20;\n"
                 "  setp.gt.s32 %p2, %r1, 3;\n  @%p2 bra READ;\n"
                 "  tcgen05.st.sync.aligned.32x32b.x4.b32 [%r22], {%r30, %r31, %r32, %r33};\n" +
                 kWaitStore + before +
                 "  mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%r2+16];\n  bra.uni DONE;\n"
                 "READ:\n  mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p14, [%r2+16], 0;\n  @!%p14 bra READ;\n" +
                 after + "  tcgen05.ld.sync.aligned.32x32b.x4.b32 {%r30, %r31, %r32, %r33}, [%r22];\n" + kWaitLoad + kUse + "DONE:\n" +
                 free_all(32);
    return run_unit_case(small);
  };
  const UnitResult right = hand_on(kBefore, kAfter);
  INFO(right.said());
  CHECK(right.clean());
  CHECK_FALSE(hand_on("", kAfter).clean());
  CHECK_FALSE(hand_on(kBefore, "").clean());
}

TEST_CASE("a pair of CTAs multiplies together, and both are signalled") {
  const std::string meet = "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  const std::string make = barriers(2) + meet;
  const std::string alloc =
      by_warp_0("  add.s32 %r10, %r2, 64;\n  tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r10], 64;\n", "ALLOCATED") +
      kBefore + meet + kAfter + "  ld.shared.b32 %r20, [%r2+64];\n";
  const std::string copy = by_one(load_tile(kTiles, 0), "COPIED") + wait(0, 0, "W") + meet;
  const auto multiply = [](int mask) {
    return fmt::format(R"(  setp.ne.s32 %p2, %r3, 0;
  setp.ne.or.s32 %p2, %r0, 0, %p2;
  @%p2 bra MULTIPLIED;
  add.s32 %r11, %r2, {};
  shr.u32 %r11, %r11, 4;
  cvt.u64.u32 %rd0, %r11;
  or.b64 %rd0, %rd0, 0x4000404000010000;
  mov.b32 %r21, {};
  setp.ne.s32 %p1, %r0, %r0;
  tcgen05.mma.cta_group::2.kind::f16 [%r20], %rd0, %rd0, %r21, %p1;
  mov.u16 %h0, {};
  add.s32 %r12, %r2, 8;
  tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r12], %h0;
MULTIPLIED:
)",
                       kTiles, (128 / 16) << 24 | (32 / 8) << 17 | 1 << 4 | 1 << 7 | 1 << 10, mask);
  };
  const std::string rest = wait(1, 0, "D") + kAfter + kLoad + kWaitLoad + kBefore + meet + kAfter +
                           by_warp_0("  tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r20, 64;\n", "FREED");
  const UnitResult right = run(make + alloc + copy + multiply(3) + rest, 2);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(make + alloc + copy + multiply(1) + rest, 2).has(CheckRule::Hang));
}

TEST_CASE("shapes that tcgen05.mma does not have are found, sparse ones refused") {
  std::string wrong = kMultiply;
  wrong.replace(wrong.find("mov.b32 %r21, "), wrong.find(";", wrong.find("mov.b32 %r21, ")) - wrong.find("mov.b32 %r21, "),
                "mov.b32 %r21, 0x6080490");
  CHECK(run(allocate(64) + by_one(load_tile(kTiles, 0), "COPIED") + wait(0, 0, "W") + by_one(wrong + kCommit, "M") + wait(1, 0, "D") +
            free_all(64))
            .has(CheckRule::ProductShape));
  std::string sparse = kMultiply;
  sparse.replace(sparse.find("tcgen05.mma.cta"), 11, "tcgen05.mma.sp");
  CHECK(run(allocate(64) + by_one(sparse, "M")).stopped.find("sparse") != std::string::npos);
}

TEST_CASE("rows and columns of tcgen05.mma by kind and by CTAs", "[ptx]") {
  const auto wrong = [](TensorForm form, int ctas, int m, int n) {
    TensorShape shape;
    shape.ctas = ctas;
    shape.m = m;
    shape.n = n;
    return !wrong_shape(form, shape).empty();
  };
  const TensorForm floats{.known = true}, integers{.known = true, .integers = true}, scaled{.known = true, .scaled = true},
      weights{.known = true, .weights = true};
  CHECK_FALSE(wrong(floats, 1, 64, 24));
  CHECK_FALSE(wrong(floats, 1, 128, 48));
  CHECK(wrong(floats, 1, 128, 24));
  CHECK(wrong(floats, 1, 256, 64));
  CHECK(wrong(floats, 1, 64, 264));
  CHECK_FALSE(wrong(floats, 2, 256, 48));
  CHECK(wrong(floats, 2, 256, 24));
  CHECK(wrong(floats, 2, 64, 64));
  CHECK_FALSE(wrong(integers, 1, 64, 24));
  CHECK(wrong(integers, 1, 64, 40));
  CHECK(wrong(integers, 2, 256, 48));
  CHECK_FALSE(wrong(scaled, 1, 128, 24));
  CHECK(wrong(scaled, 1, 64, 24));
  CHECK_FALSE(wrong(weights, 1, 32, 64));
  CHECK(wrong(weights, 1, 32, 32));
}
