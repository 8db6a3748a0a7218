// Lanes of a warp that part, meet, elect and exchange; memory; what stops a run.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "tests/ptx/run/small_run.h"

using namespace heddle;
using namespace heddle::test;
using ptx::CheckRule;

namespace {

/// Stores r9 of each thread.
const std::string kStore = "mul.wide.u32 d2, t, 8; add.s64 d4, d1, d2; cvt.u64.u32 d50, r9; st.global.u64 [d4], d50;";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("Lanes of a warp part at a branch, keep their own values, and meet again", "[ptx]") {
  SmallRun run(
      "and.b32 r1, t, 1; setp.eq.s32 p0, r1, 0; @p0 bra EVEN; mov.u32 r9, 100; bra MET; EVEN: add.s32 r9, t, 1;"
      "setp.gt.u32 p1, t, 15; @!p1 bra MET; add.s32 r9, r9, 1000; MET: activemask.b32 r2; xor.b32 r9, r9, r2;" +
      kStore);
  REQUIRE(run.said() == "");
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    CHECK(run.out(lane) == ((lane % 2 == 1 ? 100u : lane + 1 + (lane > 15 ? 1000u : 0u)) ^ 0xFFFFFFFFu));
}

TEST_CASE("Each lane leaves a loop after its own number of trips", "[ptx]") {
  SmallRun run(
      "mov.u32 r9, 0; mov.u32 r1, 0; TRIP: add.s32 r9, r9, r1; add.s32 r1, r1, 1; setp.le.u32 p0, r1, t; @p0 bra TRIP;"
      "activemask.b32 r2; setp.ne.s32 p1, r2, -1; @p1 trap;" +
      kStore);
  REQUIRE(run.said() == "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(run.out(lane) == lane * (lane + 1) / 2);
}

TEST_CASE("Lanes take different ways of a table", "[ptx]") {
  SmallRun run(
      "and.b32 r1, t, 3; WAYS: .branchtargets A, B, C, D; brx.idx r1, WAYS; A: mov.u32 r9, 10; bra MET; B: mov.u32 r9, 20; bra MET;"
      "C: mov.u32 r9, 30; bra MET; D: mov.u32 r9, 40; MET: " +
      kStore);
  REQUIRE(run.said() == "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) CHECK(run.out(lane) == 10 * (lane % 4 + 1));
}

TEST_CASE("Lanes that exit are gone from what the others do together", "[ptx]") {
  SmallRun run(
      "setp.lt.u32 p0, t, 8; @p0 exit; activemask.b32 r9; vote.sync.ballot.b32 r1, 1, -1; xor.b32 r9, r9, r1; bar.sync 0;"
      "add.s32 r9, r9, 7;" +
      kStore);
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 0);
  CHECK(run.out(8) == 7);
}

TEST_CASE("An instruction under a guard changes the lanes whose guard holds", "[ptx]") {
  SmallRun run("mov.u32 r9, 1; setp.gt.u32 p0, t, 3; @p0 mov.u32 r9, 2; @!p0 add.s32 r9, r9, t;" + kStore);
  REQUIRE(run.said() == "");
  CHECK(run.out(3) == 4);
  CHECK(run.out(4) == 2);
}

TEST_CASE("elect chooses one lane, always the same", "[ptx]") {
  SmallRun run("elect.sync r1|p0, -1; selp.u32 r9, 100, 0, p0; add.s32 r9, r9, r1;" + kStore);
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 100);
  CHECK(run.out(1) == 0);
}

TEST_CASE("Shuffles, votes, matches and reductions", "[ptx]") {
  SmallRun run(
      "add.s32 r0, t, 50; shfl.sync.bfly.b32 r1, r0, 1, 0x1f, -1; shfl.sync.up.b32 r2|p0, r0, 4, 0, -1;"
      "shfl.sync.idx.b32 r3, r0, 5, 0x1f, -1; shfl.sync.down.b32 r4|p1, r0, 2, 0x181f, -1; setp.gt.u32 p2, t, 29;"
      "vote.sync.ballot.b32 r5, p2, -1; vote.sync.any.pred p3, p2, -1; vote.sync.all.pred p4, p2, -1; and.b32 r6, t, 3;"
      "match.any.sync.b32 r7, r6, -1; redux.sync.add.s32 r8, t, -1; redux.sync.max.u32 r10, r0, -1;"
      "selp.u32 r11, 1, 0, p0; selp.u32 r12, 2, 0, p1; selp.u32 r13, 4, 0, p3; selp.u32 r14, 8, 0, p4;"
      "or.b32 r11, r11, r12; or.b32 r11, r11, r13; or.b32 r11, r11, r14;"
      "mul.wide.u32 d2, t, 128; add.s64 d4, d1, d2; st.global.v4.u32 [d4], {r1, r2, r3, r4};"
      "st.global.v4.u32 [d4+16], {r5, r7, r8, r10}; st.global.u32 [d4+32], r11;");
  REQUIRE(run.said() == "");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    const auto word = [&](std::size_t i) { return static_cast<std::uint32_t>(run.out(lane * 16 + i / 2) >> (i % 2 * 32)); };
    INFO("lane " << lane);
    CHECK(word(0) == 50 + (lane ^ 1));
    CHECK(word(1) == 50 + (lane >= 4 ? lane - 4 : lane));
    CHECK(word(2) == 55);
    CHECK(word(3) == 50 + (lane % 8 < 6 ? lane + 2 : lane));  // segments of 8 lanes
    CHECK(word(4) == 0xC0000000u);
    CHECK(word(5) == 0x11111111u << (lane % 4));
    CHECK(word(6) == 31 * 32 / 2);
    CHECK(word(7) == 81);
    CHECK(word(8) == ((lane >= 4 ? 1u : 0u) | (lane % 8 < 6 ? 2u : 0u) | 4u));
  }
}

TEST_CASE("Lanes that have parted wait for each other at an instruction that names them all", "[ptx]") {
  SmallRun run(
      "setp.lt.u32 p0, t, 16; mov.u32 r1, 3; @p0 bra LOW; mov.u32 r1, 4; bar.warp.sync -1; bra MET; LOW: nanosleep.u32 50;"
      "bar.warp.sync 0xffff; MET: redux.sync.add.s32 r9, r1, -1;" +
      kStore);
  // The upper half names lanes that come to another barrier: they never meet.
  CHECK(run.found(CheckRule::NotConverged));
  SmallRun halves(
      "setp.lt.u32 p0, t, 16; mov.u32 r1, 3; @p0 bra LOW; mov.u32 r1, 4; bar.warp.sync 0xffff0000; bra MET;"
      "LOW: bar.warp.sync 0xffff; MET: redux.sync.add.s32 r9, r1, -1;" +
      kStore);
  REQUIRE(halves.said() == "");
  CHECK(halves.out(7) == 16 * 3 + 16 * 4);
}

TEST_CASE("A wait by only some lanes where all must come is a finding", "[ptx]") {
  SmallRun run("setp.lt.u32 p0, t, 16; @p0 setmaxnreg.dec.sync.aligned.u32 40;");
  CHECK(run.found(CheckRule::NotConverged));
}

TEST_CASE("Lanes on two ways to one barrier come to it together", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  // Their ways meet only behind it, since one of them could also have gone around.
  SmallRun run(
      "setp.lt.u32 p0, t, 16; mov.u32 r1, 4; @!p0 bra BOTH; nanosleep.u32 50; mov.u32 r1, 3; setp.eq.s32 p1, t, 99; @p1 bra END;"
      "BOTH: bar.sync 0; END: redux.sync.add.s32 r9, r1, -1;" +
          kStore,
      options);
  REQUIRE(run.said() == "");
  CHECK(run.out(7) == 16 * 3 + 16 * 4);
  SmallRun around("setp.lt.u32 p0, t, 16; @p0 bra END; bar.sync 0; END: mov.u32 r1, 0;", options);
  CHECK(around.found(CheckRule::NotConverged));
  // One half waits for the other, which waits for it elsewhere.
  SmallRun crossed("setp.lt.u32 p0, t, 16; @p0 bra LOW; bar.sync 0; bra END; LOW: bar.sync 1; END: mov.u32 r1, 0;");
  CHECK(crossed.found(CheckRule::NotConverged));
}

TEST_CASE("An address of a parameter survives without its upper half", "[ptx]") {
  SmallRun run(
      "mov.b32 r1, in; cvt.u64.u32 d20, r1; cvta.param.u64 d21, d20; ld.u64 d22, [d21]; sub.s64 d23, d22, d0; add.s64 d23, d23, 7;"
      "st.global.u64 [d1], d23;");
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 7);
}

TEST_CASE("Local memory belongs to a lane, shared memory to the CTA", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  SmallRun run(
      ".local .align 8 .b8 mine[16]; mov.u64 d20, mine; add.s32 r1, t, 5; st.local.u32 [d20+4], r1; ld.local.u32 r2, [d20+4];"
      "shl.b32 r3, t, 2; add.s32 r4, m, r3; st.shared.u32 [r4], r2; bar.sync 0; xor.b32 r5, r3, 128; add.s32 r6, m, r5;"
      "ld.shared.u32 r9, [r6];" +
          kStore,
      options);
  REQUIRE(run.said() == "");
  for (std::uint32_t thread = 0; thread < 64; ++thread) CHECK(run.out(thread) == (thread ^ 32) + 5);
}

TEST_CASE("Atomics on a counter give each lane its own number", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  SmallRun run("atom.global.add.u32 r9, [d1+4096], 2;" + kStore, options);
  REQUIRE(run.said() == "");
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 64; ++i) sum += run.out(i);
  CHECK(sum == 63 * 64);
  CHECK(run.out(512) == 128);
}

TEST_CASE("An access beyond shared memory, beyond a buffer, and at a crooked address is a finding", "[ptx]") {
  CHECK(SmallRun("ld.shared.u32 r1, [m+4096];").found(CheckRule::OutOfShared));
  CHECK(SmallRun("st.shared.v2.u32 [m+4092], {r1, r1};").found(CheckRule::OutOfShared));
  CHECK(SmallRun("st.shared.u32 [m+4092], 7; ld.shared.u32 r1, [m+4092];").clean());
  CHECK(SmallRun("ld.global.u32 r1, [d0+1024];").found(CheckRule::OutOfGlobal));
  CHECK(SmallRun("ld.global.u32 r1, [d0+1020];").clean());
  CHECK(SmallRun("ld.shared.u32 r1, [m+6];").found(CheckRule::Misaligned));
}

TEST_CASE("A store that another warp reads without a barrier between is a race", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  const std::string write = "setp.lt.u32 p0, t, 32; @!p0 bra READ; st.shared.u32 [m], 7; READ:";
  CHECK(SmallRun(write + "bar.sync 0; setp.ge.u32 p1, t, 32; @p1 ld.shared.u32 r1, [m];", options).clean());
  CHECK(SmallRun(write + "setp.ge.u32 p1, t, 32; @p1 ld.shared.u32 r1, [m];", options).found(CheckRule::ReadBeforeReady));
}

TEST_CASE("A flag in memory orders what is before its release and after its acquire", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  const auto text = [](const std::string& store, const std::string& load) {
    return "mov.u32 r5, 0; setp.lt.u32 p0, t, 32; @!p0 bra WAIT; st.shared.u32 [m+64], 7; " + store +
           " [d1+4096], 1; bra END; WAIT: " + load + " r1, [d1+4096]; setp.eq.s32 p1, r1, 0; @p1 bra WAIT; ld.shared.u32 r2, [m+64]; END:";
  };
  CHECK(SmallRun(text("st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"), options).clean());
  CHECK(SmallRun(text("st.global.u32", "ld.global.u32"), options).found(CheckRule::ReadBeforeReady));
}

TEST_CASE("What hangs on data: known where all its values agree, else the run stops and names the load", "[ptx]") {
  const std::string load = "ld.global.f32 f0, [d0]; ex2.approx.ftz.f32 f1, f0; mov.b32 r0, f1;";
  // An exponential has no sign, whatever the number.
  CHECK(SmallRun(load + "shr.u32 r1, r0, 31; add.s32 r2, m, r1; st.shared.u8 [r2], r1; ld.shared.u8 r3, [m];").clean());
  CHECK(SmallRun(load + "and.b32 r1, r0, 0x80000000; add.s32 r2, m, r1; st.shared.u8 [m], 7; ld.shared.u8 r3, [r2];").clean());
  SmallRun address(load + "and.b32 r1, r0, 4; add.s32 r2, m, r1;\nld.shared.u8 r3, [r2];");
  CHECK(holds(address.said(), "is not known: it hangs on"));
  SmallRun count("ld.global.u32 r0, [d0];\nbar.sync 0, r0;");
  CHECK(holds(count.said(), "the thread count"));
}

TEST_CASE("A branch on data is written down, and goes as it is told", "[ptx]") {
  SmallRun run("ld.global.u32 r0, [d0]; setp.eq.s32 p0, r0, 3; mov.u32 r9, 1; @p0 bra SKIP; mov.u32 r9, 2; SKIP:" + kStore);
  REQUIRE(run.said() == "");
  REQUIRE(run.run().data_branches.size() == 1);
  CHECK(run.run().data_branches[0].times == 1);
  CHECK(run.run().data_branches[0].taken == 0);
  CHECK(run.out(0) == 2);
}

TEST_CASE("A branch on data does not go into a trap right behind it", "[ptx]") {
  SmallRun run("ld.global.u32 r0, [d0]; setp.ne.s32 p0, r0, 0; mov.u32 r9, 1; @p0 bra FINE; trap; FINE:" + kStore);
  REQUIRE(run.said() == "");
  CHECK(run.clean());
  CHECK(run.run().data_branches[0].taken == 1);
  CHECK(run.out(0) == 1);
}

TEST_CASE("A loop whose way out hangs on data comes to an end", "[ptx]") {
  SmallRun run("AGAIN: ld.global.u32 r0, [d0]; setp.eq.s32 p0, r0, 3; @p0 bra DONE; bra AGAIN; DONE:");
  CHECK(run.said() == "");
}

TEST_CASE("An instruction that is not known stops the run only where it is executed", "[ptx]") {
  SmallRun executed("mov.u32 r1, 1;\nfancy.new.b32 r1, r2;");
  CHECK(holds(executed.said(), "fancy.new.b32"));
  SmallRun skipped("setp.eq.s32 p0, t, 99;\n@p0 fancy.new.b32 r1, r2;\n@p0 bra OVER; bra END; OVER: fancy.new.b32 r1, r2; END:");
  CHECK(skipped.said() == "");
}

TEST_CASE("A loop without end stops with what the warps do", "[ptx]") {
  SmallRunOptions options;
  options.threads = 64;
  SmallRun run("setp.lt.u32 p0, t, 32; @p0 bra WAITS; AGAIN: add.s32 r1, r1, 1; bra AGAIN; WAITS: bar.sync 1, 64;", options);
  CHECK(run.run().hit_limit());
  CHECK(holds(run.said(), "no end after"));
  CHECK(holds(run.said(), "waits at"));
}

TEST_CASE("A trap that is executed is a finding", "[ptx]") {
  CHECK(SmallRun("setp.eq.s32 p0, t, 3; @p0 trap;").found(CheckRule::Trap));
  CHECK(SmallRun("setp.eq.s32 p0, t, 99; @p0 trap;").clean());
}

TEST_CASE("Calls are refused by name, but for printf", "[ptx]") {
  SmallRun run("bra GO; GO: call foo, ();");
  CHECK(holds(run.said(), "stopped"));
}
