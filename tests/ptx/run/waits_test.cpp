// mbarriers, named barriers, cluster barriers, pools of registers: order where it is, findings and hangs where it is not.
#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

#include "tests/ptx/run/small_run.h"

using namespace heddle;
using namespace heddle::test;
using ptx::CheckRule;

namespace {

/// Thread 0 makes a barrier at m with that count; then all meet.
std::string made(int count) {
  return "setp.ne.s32 p20, t, 0; @p20 bra MADE; mbarrier.init.shared::cta.b64 [m], " + std::to_string(count) +
         "; MADE: bar.sync 0; mov.u32 r20, 0;";
}

std::string wait(const std::string& label, const std::string& parity) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 p21, [m], " + parity + "; @!p21 bra " + label + ";";
}

}  // namespace

TEST_CASE("A wait at an mbarrier ends when all have arrived, and orders what they wrote", "[ptx]") {
  const std::string text = made(32) +
                           "setp.lt.u32 p0, t, 32; @!p0 bra WAITS; st.shared.u32 [m+64], 7; mbarrier.arrive.shared::cta.b64 d9, [m];"
                           "bra END; WAITS: " +
                           wait("TRY", "0") + "ld.shared.u32 r1, [m+64]; END:";
  SmallRun run(text, threads(64));
  CHECK(run.said() == "");
  SmallRun relaxed(made(32) +
                       "setp.lt.u32 p0, t, 32; @!p0 bra WAITS; st.shared.u32 [m+64], 7;"
                       "mbarrier.arrive.relaxed.cta.shared::cta.b64 d9, [m]; bra END; WAITS: " +
                       wait("TRY", "0") + "ld.shared.u32 r1, [m+64]; END:",
                   threads(64));
  CHECK(relaxed.found(CheckRule::ReadBeforeReady));
}

TEST_CASE("A wait for a phase that nobody completes hangs, and says what lacks", "[ptx]") {
  SmallRun run(made(33) + "setp.lt.u32 p0, t, 32; @!p0 bra WAITS; mbarrier.arrive.shared::cta.b64 _, [m]; bra END; WAITS: " +
                   wait("TRY", "0") + "END:",
               threads(64));
  REQUIRE(run.found(CheckRule::Hang));
  CHECK(run.said().find("1 of 33 arrivals") != std::string::npos);
}

TEST_CASE("A parity that is the wrong way round hangs or runs through", "[ptx]") {
  const auto text = [](const std::string& before) {
    return made(32) + "setp.lt.u32 p0, t, 32; @!p0 bra WAITS; " + before +
           "st.shared.u32 [m+64], 7; mbarrier.arrive.shared::cta.b64 _, [m]; bra END; WAITS: " + wait("TRY", "1") +
           "ld.shared.u32 r1, [m+64]; END:";
  };
  CHECK(SmallRun(text(""), threads(64)).found(CheckRule::Hang));
  CHECK(SmallRun(text("nanosleep.u32 1000;"), threads(64)).found(CheckRule::OverwriteBeforeRead));
}

TEST_CASE("Arrivals over the count are a finding", "[ptx]") {
  SmallRun run(made(16) + "mbarrier.arrive.shared::cta.b64 _, [m];");
  CHECK(run.found(CheckRule::ArrivalsOverCount));
  SmallRun counted(made(64) + "mbarrier.arrive.shared::cta.b64 _, [m], 2;" + wait("TRY", "0"));
  CHECK(counted.said() == "");
}

TEST_CASE("Bytes that are expected and never come hang the wait", "[ptx]") {
  SmallRun run(made(1) + "setp.eq.s32 p0, t, 0; @p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], 512;" + wait("TRY", "0"));
  REQUIRE(run.found(CheckRule::Hang));
  CHECK(run.said().find("512 bytes") != std::string::npos);
  SmallRun completed(made(1) +
                     "setp.eq.s32 p0, t, 0; @p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], 512;"
                     "@p0 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [m], 512;" +
                     wait("TRY", "0"));
  CHECK(completed.said() == "");
}

TEST_CASE("A barrier that another warp made is used only behind something that orders them", "[ptx]") {
  SmallRun run(
      "setp.ne.s32 p20, t, 0; @p20 bra MADE; mbarrier.init.shared::cta.b64 [m], 1; MADE: nanosleep.u32 1000;"
      "setp.eq.s32 p0, t, 32; @p0 mbarrier.arrive.shared::cta.b64 _, [m];",
      threads(64));
  CHECK(run.found(CheckRule::BarrierBeforeMade));
  SmallRun never("mbarrier.arrive.shared::cta.b64 _, [m];", threads(32));
  CHECK(never.found(CheckRule::BarrierNotMade));
}

TEST_CASE("A wait by the state of an arrival", "[ptx]") {
  SmallRun run(made(64) +
                   "mbarrier.arrive.shared::cta.b64 d9, [m]; TRY: mbarrier.try_wait.shared::cta.b64 p1, [m], d9; @!p1 bra TRY;"
                   "mbarrier.arrive.shared::cta.b64 d9, [m]; AGAIN: mbarrier.test_wait.shared::cta.b64 p1, [m], d9; @!p1 bra AGAIN;",
               threads(64));
  CHECK(run.said() == "");
}

TEST_CASE("Lanes wait at barriers of their own in one instruction", "[ptx]") {
  SmallRun run(
      "setp.gt.u32 p0, t, 3; @p0 bra MADE; shl.b32 r1, t, 3; add.s32 r2, m, r1; mbarrier.init.shared::cta.b64 [r2], 1;"
      "MADE: bar.sync 0; and.b32 r3, t, 3; shl.b32 r4, r3, 3; add.s32 r5, m, r4; setp.lt.u32 p1, t, 32; @p1 bra WAITS;"
      "setp.lt.u32 p2, t, 36; @!p2 bra END; mul.lo.s32 r6, r3, 500; nanosleep.u32 r6; mbarrier.arrive.shared::cta.b64 _, [r5];"
      "bra END; WAITS: mbarrier.try_wait.parity.shared::cta.b64 p3, [r5], 0; @!p3 bra WAITS; END:",
      threads(64));
  CHECK(run.said() == "");
}

TEST_CASE("An arrival that drops out counts for one phase less", "[ptx]") {
  SmallRun run(made(33) + "setp.eq.s32 p0, t, 0; @p0 mbarrier.arrive_drop.shared::cta.b64 _, [m]; mbarrier.arrive.shared::cta.b64 _, [m];" +
               wait("TRY", "0") + "mbarrier.arrive.shared::cta.b64 _, [m];" + wait("AGAIN", "1"));
  CHECK(run.said() == "");
}

TEST_CASE("Named barriers: ids in registers, arrive and sync, counts", "[ptx]") {
  SmallRun run(
      "shr.u32 r1, t, 6; add.s32 r2, r1, 1; bar.sync r2, 64; setp.lt.u32 p0, t, 32; @p0 bra FIRST; setp.lt.u32 p1, t, 64;"
      "@!p1 bra END; bar.sync 5, 64; ld.shared.u32 r3, [m]; bra END; FIRST: st.shared.u32 [m], 7; bar.arrive 5, 64; END:",
      threads(128));
  CHECK(run.said() == "");
  SmallRun few("setp.lt.u32 p0, t, 32; @p0 bra END; bar.sync 1, 128; END:", threads(96));
  CHECK(few.found(CheckRule::Hang));
  SmallRun differ("setp.lt.u32 p0, t, 32; @p0 bra OTHER; bar.sync 1, 64; bra END; OTHER: bar.sync 1, 96; END:", threads(64));
  CHECK(differ.found(CheckRule::NamedBarrierCount));
}

TEST_CASE("A barrier that reduces predicates gives all threads the result", "[ptx]") {
  SmallRun run(
      "setp.lt.u32 p0, t, 40; bar.red.popc.u32 r1, 0, p0; setp.lt.u32 p1, t, 64; bar.red.and.pred p2, 0, p1;"
      "bar.red.or.pred p3, 0, !p1; selp.u32 r2, 100, 0, p2; selp.u32 r3, 1000, 0, p3; add.s32 r9, r1, r2; add.s32 r9, r9, r3;"
      "mul.wide.u32 d2, t, 8; add.s64 d4, d1, d2; cvt.u64.u32 d50, r9; st.global.u64 [d4], d50;",
      threads(64));
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 140);
  CHECK(run.out(63) == 140);
}

TEST_CASE("A warp that exits while others wait for it hangs them", "[ptx]") {
  SmallRun run("setp.lt.u32 p0, t, 32; @p0 exit; bar.sync 0, 64;", threads(64));
  CHECK(run.found(CheckRule::ExitWhileWaited));
}

// As the CUDA programming guide says of __syncthreads since sm_70: it waits for all threads that have not exited.
TEST_CASE("A barrier without a count does not wait for threads that have exited", "[ptx]") {
  SmallRun run("setp.lt.u32 p0, t, 32; @p0 exit; bar.sync 0;", threads(64));
  CHECK(run.said() == "");
}

TEST_CASE("Two warps that wait for each other are a circle", "[ptx]") {
  SmallRun run(
      "setp.eq.s32 p20, t, 0; @!p20 bra MADE; mbarrier.init.shared::cta.b64 [m], 32; mbarrier.init.shared::cta.b64 [m+8], 32;"
      "MADE: bar.sync 0; setp.lt.u32 p0, t, 32; @p0 bra FIRST;"
      "A: mbarrier.try_wait.parity.shared::cta.b64 p1, [m], 0; @!p1 bra A; mbarrier.arrive.shared::cta.b64 _, [m+8]; bra END;"
      "FIRST: mbarrier.try_wait.parity.shared::cta.b64 p1, [m+8], 0; @!p1 bra FIRST; mbarrier.arrive.shared::cta.b64 _, [m]; END:",
      threads(64));
  REQUIRE(run.found(CheckRule::Hang));
  CHECK(run.run().findings.all().front().related.size() >= 2);
}

TEST_CASE("setmaxnreg takes from a pool that others fill", "[ptx]") {
  SmallRunOptions options = threads(256);
  options.maxnreg = 168;
  const std::string roles = "setp.lt.u32 p0, t, 128; @p0 bra FEW; setmaxnreg.inc.sync.aligned.u32 ";
  SmallRun enough(roles + "240; bra END; FEW: nanosleep.u32 500; setmaxnreg.dec.sync.aligned.u32 40; END:", options);
  CHECK(enough.said() == "");
  options.threads = 384;
  SmallRun short_of(roles + "248; bra END; FEW: setmaxnreg.dec.sync.aligned.u32 96; END:", options);
  CHECK(short_of.found(CheckRule::Hang));
  SmallRun crooked("setmaxnreg.dec.sync.aligned.u32 41;", options);
  CHECK(crooked.found(CheckRule::RegisterPool));
}

TEST_CASE("CTAs of a cluster reach each other's memory and barriers", "[ptx]") {
  SmallRunOptions options = threads(32);
  options.cluster = 2;
  const std::string init =
      "setp.eq.s32 p0, t, 0; @p0 mbarrier.init.shared::cta.b64 [m], 32; barrier.cluster.arrive.aligned;"
      "barrier.cluster.wait.aligned; xor.b32 r1, c, 1; mapa.shared::cluster.u32 r2, m, r1;";
  const std::string hand =
      "add.s32 r3, c, 70; st.shared::cluster.u32 [r2+64], r3; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r2];" +
      wait("TRY", "0") + "ld.shared.u32 r4, [m+64];";
  const std::string store = "mul.wide.u32 d2, c, 8; add.s64 d4, d1, d2; cvt.u64.u32 d50, r4; st.global.u64 [d4], d50;";
  const std::string end = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  SmallRun run(init + hand + store + end, options);
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 71);
  CHECK(run.out(1) == 70);
  SmallRun gone(
      "setp.eq.s32 p0, t, 0; @p0 mbarrier.init.shared::cta.b64 [m], 32; barrier.cluster.arrive.aligned;"
      "barrier.cluster.wait.aligned; setp.eq.s32 p1, c, 1; @p1 exit; nanosleep.u32 10000; mapa.shared::cluster.u32 r2, m, 1;"
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r2];",
      options);
  CHECK(gone.found(CheckRule::ExitWhileWaited));
  SmallRun beyond("mapa.shared::cluster.u32 r2, m, 3; ld.shared::cluster.u32 r4, [r2];", options);
  CHECK(beyond.found(CheckRule::OutOfShared));
}

TEST_CASE("A relaxed arrival at the cluster's barrier gives away what a fence before it released", "[ptx]") {
  SmallRunOptions options = threads(32);
  options.cluster = 2;
  const auto text = [](const std::string& fence) {
    return "setp.eq.s32 p0, t, 0; @p0 mbarrier.init.shared::cta.b64 [m], 32;" + fence +
           "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned; xor.b32 r1, c, 1;"
           "mapa.shared::cluster.u32 r2, m, r1; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r2];" +
           wait("TRY", "0") + "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
  };
  CHECK(SmallRun(text("fence.mbarrier_init.release.cluster;"), options).said() == "");
  CHECK(SmallRun(text("fence.acq_rel.cluster;"), options).said() == "");
  CHECK(SmallRun(text(""), options).found(CheckRule::BarrierBeforeMade));
}

TEST_CASE("Threads that exit count no more at the cluster's barrier", "[ptx]") {
  SmallRunOptions options = threads(64);
  options.cluster = 2;
  SmallRun run(
      "setp.lt.u32 p0, t, 32; @p0 bra GONE; barrier.cluster.arrive; barrier.cluster.wait; bra END; GONE: nanosleep.u32 3000; exit; END:",
      options);
  CHECK(run.said() == "");
}

TEST_CASE("A store that signals a barrier of another CTA", "[ptx]") {
  SmallRunOptions options = threads(32);
  options.cluster = 2;
  SmallRun run(
      "setp.ne.s32 p0, t, 0; @p0 bra MADE; mbarrier.init.shared::cta.b64 [m], 1;"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [m], 128; MADE: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
      "xor.b32 r1, c, 1; mapa.shared::cluster.u32 r2, m, r1; shl.b32 r3, t, 2; add.s32 r4, r2, r3;"
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [r4+128], t, [r2];" +
          wait("TRY", "0") +
          "add.s32 r5, m, r3; ld.shared.u32 r9, [r5+128]; mul.wide.u32 d2, t, 8; add.s64 d4, d1, d2; cvt.u64.u32 d50, r9;"
          "st.global.u64 [d4], d50; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
      options);
  REQUIRE(run.said() == "");
  CHECK(run.out(17) == 17);
}
