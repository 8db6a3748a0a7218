// Copies: a small kernel that breaks each rule, and one that does not.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "tests/ptx/units/unit_case.h"

using namespace heddle;
using namespace heddle::ptx;
using namespace heddle::test;

namespace {

UnitResult run(const std::string& body, unsigned cluster = 1) {
  UnitCase small;
  small.body = body;
  small.cluster = cluster;
  return run_unit_case(small);
}

const std::string kRead = fmt::format("  ld.shared.f32 %f0, [%r2+{}];\n", kTiles);
const std::string kWrite = fmt::format("  mul.lo.s32 %r10, %r0, 4;\n  add.s32 %r10, %r10, %r2;\n  st.shared.f32 [%r10+{}], %f1;\n", kTiles);

/// Thread 0 stores the tile at kTiles by the second map.
std::string store_tile(const std::string& behind) {
  return by_one(fmt::format(R"(  mov.u64 %rd30, store;
  add.s32 %r61, %r2, {};
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd30, {{0, 0}}], [%r61];
{})",
                            kTiles, behind),
                "STORED");
}

const std::string kCommit = "  cp.async.bulk.commit_group;\n", kWait = "  cp.async.bulk.wait_group.read 0;\n";

}  // namespace

TEST_CASE("a tile is read when its barrier's phase is over, and not before") {
  const std::string copy = barriers(1) + by_one(load_tile(kTiles, 0), "COPIED");
  const UnitResult right = run(copy + wait(0, 0, "W") + kRead);
  INFO(right.said());
  CHECK(right.clean());
  const UnitResult early = run(copy + kRead + wait(0, 0, "W"));
  INFO(early.said());
  CHECK(early.has(CheckRule::ReadBeforeReady));
}

TEST_CASE("a tile that overwrites what threads read is a race without a barrier between") {
  const std::string body = barriers(2) + by_one(load_tile(kTiles, 0), "ONE") + wait(0, 0, "W") + kRead;
  const std::string again = by_one(load_tile(kTiles, 1), "TWO") + wait(1, 0, "V");
  CHECK(run(body + again).has(CheckRule::OverwriteBeforeRead));
  const UnitResult right = run(body + "  bar.sync 0;\n" + again);
  INFO(right.said());
  CHECK(right.clean());
}

TEST_CASE("bytes that are expected and do not come hang, and too few expected are found") {
  const UnitResult many = run(barriers(1) + by_one(load_tile(kTiles, 0, kTile + 16), "COPIED") + wait(0, 0, "W"));
  INFO(many.said());
  CHECK(many.has(CheckRule::Hang));
  const UnitResult few = run(barriers(1) + by_one(load_tile(kTiles, 0, kTile / 2), "COPIED") + wait(0, 0, "W"));
  INFO(few.said());
  CHECK_FALSE(few.clean());
}

TEST_CASE("a barrier that no fence made known to copies is a doubt") {
  const std::string made = by_one("  mbarrier.init.shared::cta.b64 [%r2], 1;\n", "MADE") + "  bar.sync 0;\n";
  const UnitResult result = run(made + by_one(load_tile(kTiles, 0), "COPIED") + wait(0, 0, "W"));
  INFO(result.said());
  CHECK(result.has(CheckRule::NoFenceAfterInit));
}

TEST_CASE("a store of what threads wrote needs a proxy fence, a group and a wait") {
  const std::string write = kWrite + "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n";
  const UnitResult right = run(write + store_tile(kCommit + kWait));
  INFO(right.said());
  CHECK(right.clean());
  const UnitResult unfenced = run(kWrite + "  bar.sync 0;\n" + store_tile(kCommit + kWait));
  INFO(unfenced.said());
  CHECK(unfenced.has(CheckRule::MissingProxyFence));
  CHECK(run(write + store_tile(kWait)).has(CheckRule::NotCommitted));
  CHECK(run(write + store_tile(kCommit)).has(CheckRule::ExitWhileStoring));
  CHECK(run(write + store_tile(kCommit) + "  bar.sync 0;\n" + kWrite).has(CheckRule::OverwriteBeforeRead));
  const UnitResult reused = run(write + store_tile(kCommit + kWait) + "  bar.sync 0;\n" + kWrite);
  INFO(reused.said());
  CHECK(reused.clean());
}

TEST_CASE("destinations of copies are aligned and inside of shared memory") {
  CHECK(run(barriers(1) + by_one(load_tile(kTiles + 64, 0), "COPIED") + wait(0, 0, "W")).has(CheckRule::Misaligned));
  CHECK(run(barriers(1) + by_one(load_tile(65536 - 4096, 0), "COPIED") + wait(0, 0, "W")).has(CheckRule::OutOfShared));
}

TEST_CASE("coordinates beyond the tensor are filled with zeros, and no finding") {
  std::string copy = load_tile(kTiles, 0);
  copy.replace(copy.find("{0, 0}"), 6, "{-64, 5000}");
  const UnitResult result = run(barriers(1) + by_one(copy, "COPIED") + wait(0, 0, "W") + kRead);
  INFO(result.said());
  CHECK(result.clean());
}

TEST_CASE("a bulk copy stays within its buffer") {
  const auto copy = [](int bytes) {
    return barriers(1) +
           by_one(fmt::format(R"(  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {1};
  ld.param.u64 %rd1, [buffer];
  add.s32 %r10, %r2, {0};
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%rd1], {1}, [%r2];
)",
                              kTiles, bytes),
                  "COPIED") +
           wait(0, 0, "W") + kRead;
  };
  const UnitResult right = run(copy(4096));
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(copy(4112)).has(CheckRule::OutOfGlobal));
  CHECK(run(copy(4088)).has(CheckRule::Misaligned));
}

TEST_CASE("a multicast reaches the CTAs of its mask, each at its own barrier") {
  const auto body = [](int mask) {
    return barriers(1) + "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n" +
           by_one("  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 8192;\n", "EXPECTED") +
           fmt::format(R"(  setp.ne.s32 %p1, %r3, 0;
  setp.ne.or.s32 %p1, %r0, 0, %p1;
  @%p1 bra COPIED;
  mov.u64 %rd31, load;
  add.s32 %r63, %r2, {};
  mov.u16 %h0, {};
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%r63], [%rd31, {{0, 0}}], [%r2], %h0;
COPIED:
)",
                       kTiles, mask) +
           wait(0, 0, "W") + kRead + "  barrier.cluster.arrive.aligned;\n  barrier.cluster.wait.aligned;\n";
  };
  const UnitResult right = run(body(3), 2);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(body(7), 2).has(CheckRule::Multicast));
  CHECK(run(body(1), 2).has(CheckRule::Hang));
}

TEST_CASE("many lanes that issue one copy are a note") {
  std::string copy = load_tile(kTiles, 0);
  const std::string expect = copy.substr(0, copy.find('\n') + 1);
  copy = "  setp.ge.s32 %p1, %r0, 32;\n  @%p1 bra COPIED;\n" + copy.substr(copy.find('\n') + 1) + "COPIED:\n";
  const UnitResult result = run(barriers(1) + by_one(expect, "EXPECTED") + copy + wait(0, 0, "W"));
  INFO(result.said());
  CHECK(result.has(CheckRule::ManyLanesIssue));
  CHECK(result.clean());
}

TEST_CASE("four rows of a gather, and numbers of 4 bits with and without gaps, are counted as they lie") {
  UnitCase small;
  small.load.box = {64, 1};
  std::string copy = load_tile(kTiles, 0, 4 * 128);
  copy.replace(copy.find(".2d.shared::cluster.global.tile."), 32, ".2d.shared::cluster.global.tile::gather4.");
  copy.replace(copy.find("{0, 0}"), 6, "{0, 3, 9, 4, 7}");
  small.body = barriers(1) + by_one(copy, "COPIED") + wait(0, 0, "W") + kRead;
  const UnitResult gathered = run_unit_case(small);
  INFO(gathered.said());
  CHECK(gathered.clean());
  for (const auto& [element, bytes] : {std::pair(MapElement::U4Align8, 4096), std::pair(MapElement::U4Align16, 4096)}) {
    small.load = UnitCase::bf16_tile();
    small.load.element = element;
    small.load.box = {128, 64};
    small.body = barriers(1) + by_one(load_tile(kTiles, 0, bytes), "COPIED") + wait(0, 0, "W");
    // With gaps a number takes a byte of shared memory: the tile's second half is pending until then.
    const std::string behind = fmt::format("  ld.shared.f32 %f0, [%r2+{}];\n", kTiles + 6000);
    const UnitResult right = run_unit_case(small);
    INFO(right.said());
    CHECK(right.clean());
    small.body = barriers(1) + by_one(load_tile(kTiles, 0, bytes), "COPIED") + behind + wait(0, 0, "W");
    bool found = false;
    for (const CheckFinding& one : run_unit_case(small).findings) found = found || one.sentence.find("copy") != std::string::npos;
    CHECK(found == (element == MapElement::U4Align16));
  }
}

TEST_CASE("im2col is refused by name") {
  std::string copy = load_tile(kTiles, 0);
  copy.replace(copy.find(".tile."), 6, ".im2col.");
  CHECK(run(barriers(1) + by_one(copy, "COPIED")).stopped.find("im2col") != std::string::npos);
}

TEST_CASE("cp.async is read when its group is waited for, or its barrier turned") {
  const std::string copy = fmt::format(R"(  ld.param.u64 %rd1, [buffer];
  mul.wide.u32 %rd2, %r0, 16;
  add.s64 %rd1, %rd1, %rd2;
  mul.lo.s32 %r10, %r0, 16;
  add.s32 %r10, %r10, %r2;
  cp.async.cg.shared.global [%r10+{}], [%rd1], 16;
)",
                                       kTiles);
  const std::string read = fmt::format("  bar.sync 0;\n  ld.shared.f32 %f0, [%r2+{}];\n", kTiles + 1040);
  const std::string commit = "  cp.async.commit_group;\n";
  const UnitResult right = run(copy + commit + "  cp.async.wait_group 0;\n" + read);
  INFO(right.said());
  CHECK(right.clean());
  CHECK(run(copy + "  cp.async.wait_all;\n" + read).clean());
  CHECK(run(copy + commit + read).has(CheckRule::ReadBeforeReady));
  CHECK(run(copy + commit + "  cp.async.wait_group 1;\n" + read).has(CheckRule::ReadBeforeReady));
  CHECK(run(copy + "  cp.async.wait_group 0;\n" + read).has(CheckRule::NotCommitted));
  const UnitResult by_barrier =
      run(barriers(1, 128) + copy + "  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];\n" + wait(0, 0, "W") + read);
  INFO(by_barrier.said());
  CHECK(by_barrier.clean());
  const UnitResult early =
      run(barriers(1, 128) + copy + "  cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r2];\n" + read + wait(0, 0, "W"));
  CHECK(early.has(CheckRule::ReadBeforeReady));
  const UnitResult counted = run(barriers(1, 128) + copy + "  cp.async.mbarrier.arrive.shared::cta.b64 [%r2];\n" +
                                 "  mbarrier.arrive.shared::cta.b64 _, [%r2];\n" + wait(0, 0, "W") + read);
  INFO(counted.said());
  CHECK(counted.clean());
}

TEST_CASE("a cluster's work is asked for until there is none") {
  UnitCase small;
  small.target = "sm_100a";
  small.grid = 3;
  const auto ask = [](int parity, const std::string& label) {
    return by_one(fmt::format(R"(  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 16;
  add.s32 %r10, %r2, {};
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r10], [%r2];
)",
                              kTiles),
                  "ASKED" + label) +
           wait(0, parity, "W" + label) +
           fmt::format(R"(  ld.shared.b128 %q0, [%r2+{}];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %q0;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %r20, %q0;
  bar.sync 0;
)",
                       kTiles);
  };
  const std::string more = "  @!%p1 trap;\n", none = "  @%p1 trap;\n";
  const auto is = [](int x) { return fmt::format("  setp.ne.s32 %p2, %r20, {};\n  @%p2 trap;\n", x); };
  small.body = barriers(1) + ask(0, "A") + more + is(1) + ask(1, "B") + more + is(2) + ask(0, "C") + none;
  const UnitResult result = run_unit_case(small);
  INFO(result.said());
  CHECK(result.clean());
}
