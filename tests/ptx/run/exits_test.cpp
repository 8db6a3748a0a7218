// Lanes and warps that exit: barriers that they have come to or not, masks that name them, shared memory that others still reach.
#include <catch2/catch.hpp>

#include <string>

#include "tests/ptx/run/small_run.h"

using namespace heddle;
using namespace heddle::test;
using ptx::CheckRule;

namespace {

std::string cluster_barrier() { return "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"; }

}  // namespace

TEST_CASE("A warp that arrives at the cluster's barrier and exits is not counted twice", "[ptx]") {
  const auto text = [](const std::string& wait) {
    return "setp.lt.u32 p0, t, 32; @p0 bra FIRST; barrier.cluster.arrive.aligned; bra END;"
           "FIRST: setp.eq.u32 p1, c, 0; @p1 bra READS; nanosleep.u32 100000; mapa.shared::cluster.u32 r3, m, 0;"
           "setp.ne.u32 p2, t, 0; @p2 bra STORED; st.shared::cluster.u32 [r3], t; STORED:" +
           cluster_barrier() + "bra END; READS: barrier.cluster.arrive.aligned;" + wait + "ld.shared.u32 r8, [m]; END:";
  };
  CHECK(SmallRun(text("barrier.cluster.wait.aligned;"), threads(64, 2)).said() == "");
  CHECK(SmallRun(text(""), threads(64, 2)).found(CheckRule::OverwriteBeforeRead));
}

TEST_CASE("A reduction that a warp's exit completes gives its result", "[ptx]") {
  SmallRun run(
      "setp.lt.u32 p0, t, 32; @!p0 bra LATE; setp.eq.u32 p1, t, t; barrier.cta.red.popc.u32 r1, 0, p1;"
      "mul.wide.u32 d2, t, 8; add.s64 d4, d1, d2; cvt.u64.u32 d50, r1; st.global.u64 [d4], d50; bra END;"
      "LATE: nanosleep.u32 10000; END:",
      threads(64));
  REQUIRE(run.said() == "");
  CHECK(run.out(0) == 32);
  CHECK(run.out(31) == 32);
}

TEST_CASE("Lanes that exit before or behind the others' barrier do not hold it up", "[ptx]") {
  for (const std::string barrier : {"bar.sync 0;", "barrier.sync 0;", "bar.sync 0, 32;"}) {
    INFO(barrier);
    CHECK(SmallRun("setp.ge.u32 p1, t, 16; @p1 exit;" + barrier).said() == "");
    CHECK(SmallRun("setp.ge.u32 p1, t, 16; @p1 bra GONE;" + barrier + "bra END; GONE: nanosleep.u32 10000; exit; END:").said() == "");
    CHECK(SmallRun("setp.ge.u32 p1, t, 16; @p1 bra GONE; nanosleep.u32 10000;" + barrier + "bra END; GONE: exit; END:").said() == "");
    CHECK(SmallRun("setp.ge.u32 p1, t, 16; @p1 bra GONE; setp.lt.u32 p2, t, 8; @p2 bra HERE; nanosleep.u32 5000; HERE:" + barrier +
                   "bra END; GONE: nanosleep.u32 10000; exit; END:")
              .said() == "");
  }
  CHECK(SmallRun("setp.ge.u32 p1, t, 16; @p1 bra END; bar.sync 0, 32; bar.sync 0, 32; END: bar.sync 0;").found(CheckRule::NotConverged));
}

TEST_CASE("A mask of lanes names those that execute it, and all that it names come", "[ptx]") {
  const std::string shuffle = "shfl.sync.bfly.b32 r1, t, 1, 31, ";
  CHECK(SmallRun(shuffle + "0xFFFFFFFF;").said() == "");
  CHECK(SmallRun(shuffle + "0xFFFFFFFF;", threads(16)).said() == "");
  CHECK(SmallRun(shuffle + "0xFFFF;").found(CheckRule::NotConverged));
  CHECK(SmallRun("setp.lt.u32 p0, t, 16; vote.sync.any.pred p1, p0, 0;").found(CheckRule::NotConverged));
  const std::string half = "setp.lt.u32 p0, t, 16; @!p0 bra END; bar.warp.sync ";
  CHECK(SmallRun(half + "0xFFFF; END:").said() == "");
  CHECK(SmallRun(half + "-1; END:").found(CheckRule::NotConverged));
}

TEST_CASE("A CTA of a cluster does not exit while others may reach its shared memory", "[ptx]") {
  const auto text = [](const std::string& end, const std::string& access) {
    return "st.shared.u32 [m+64], 7;" + cluster_barrier() + "setp.eq.s32 p1, c, 1; @p1 bra LAST; mapa.shared::cluster.u32 r2, m, 1;" +
           access + "LAST: " + end;
  };
  const std::string load = "ld.shared::cluster.u32 r3, [r2+64];";
  CHECK(SmallRun(text(cluster_barrier(), load), threads(32, 2)).said() == "");
  CHECK(SmallRun(text("", load), threads(32, 2)).found(CheckRule::ExitWhileWaited));
  CHECK(SmallRun(text("", "nanosleep.u32 10000;" + load), threads(32, 2)).found(CheckRule::ExitWhileWaited));
  // The timing of this run hides it.
  CHECK(SmallRun(text("nanosleep.u32 10000;", load), threads(32, 2)).found(CheckRule::ExitWhileWaited));
}
