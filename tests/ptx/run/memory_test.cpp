// Loads and stores of threads: releases and fences, what nobody wrote, crooked addresses, values that race; and barriers that are
// overwritten.
#include <catch2/catch.hpp>

#include <string>

#include "tests/ptx/run/small_run.h"

using namespace heddle;
using namespace heddle::test;
using ptx::CheckRule;

namespace {

/// Only thread 0.
std::string once(const std::string& what, const std::string& label) {
  return "setp.ne.s32 p20, t, 0; @p20 bra " + label + ";" + what + label + ":";
}

}  // namespace

TEST_CASE("A relaxed store behind a fence releases what was before the fence", "[ptx]") {
  const auto text = [](const std::string& writes) {
    return once("st.shared.u32 [m], 0;", "MADE") + "bar.sync 0; setp.ge.u32 p0, t, 32; @p0 bra WAITS;" +
           once(writes + "st.relaxed.cta.shared.u32 [m], 1;", "WROTE") + "bra END;" +
           "WAITS: ld.acquire.cta.shared.u32 r1, [m]; setp.eq.u32 p1, r1, 0; @p1 bra WAITS; ld.shared.u32 r2, [m+64]; END:";
  };
  CHECK(SmallRun(text("st.shared.u32 [m+64], t; fence.acq_rel.cta;"), threads(64)).said() == "");
  CHECK(SmallRun(text("fence.acq_rel.cta; st.shared.u32 [m+64], t;"), threads(64)).found(CheckRule::ReadBeforeReady));
}

TEST_CASE("Very many addresses that are released at keep their order and no more memory", "[ptx]") {
  const std::string loop =
      "st.shared.u32 [m], 7; mov.u32 r1, 0; fence.acq_rel.gpu; LOOP: mul.wide.u32 d2, r1, 4; add.s64 d3, d1, d2;"
      "red.relaxed.gpu.global.add.u32 [d3], 1; add.s32 r1, r1, 1; setp.lt.u32 p1, r1, 9000; @p1 bra LOOP;";
  SmallRun run("setp.ge.u32 p0, t, 32; @p0 bra OTHER;" + loop +
                   "bra END; OTHER: ld.acquire.gpu.global.u32 r2, [d1+35996]; setp.eq.u32 p2, r2, 0; @p2 bra OTHER; ld.shared.u32 r3, [m];"
                   "END:",
               threads(64));
  CHECK(run.said() == "");
}

TEST_CASE("What threads load from shared memory was written", "[ptx]") {
  CHECK(SmallRun("ld.shared.u32 r1, [m];").found(CheckRule::ReadBeforeReady));
  CHECK(SmallRun("st.shared.u32 [m], 7; ld.shared.u32 r1, [m];").said() == "");
  // Some of it: padding.
  CHECK(SmallRun("st.shared.u32 [m], 7; ld.shared.v2.u32 {r1, r2}, [m];").said() == "");
  // Data may have written it.
  CHECK(SmallRun("ld.global.u32 r5, [d0+512]; setp.eq.u32 p1, r5, 0; @p1 bra WRITES; bra READS; WRITES: st.shared.u32 [m], 7;"
                 "READS: ld.shared.u32 r1, [m];")
            .said() == "");
}

TEST_CASE("Addresses of global memory are multiples of what is accessed", "[ptx]") {
  CHECK(SmallRun("ld.global.v2.u32 {r1, r2}, [d1+8];").said() == "");
  CHECK(SmallRun("ld.global.v2.u32 {r1, r2}, [d1+4];").found(CheckRule::Misaligned));
  CHECK(SmallRun("st.global.u32 [d1+2], 1;").found(CheckRule::Misaligned));
  CHECK(SmallRun("red.global.add.u32 [d1+2], 1;").found(CheckRule::Misaligned));
}

TEST_CASE("Lanes of one instruction do not store different values at one address", "[ptx]") {
  CHECK(SmallRun("st.shared.u32 [m], t;").found(CheckRule::UnorderedStores));
  CHECK(SmallRun("st.shared.u32 [m], 7;").said() == "");
  CHECK(SmallRun("and.b32 r1, t, 15; shl.b32 r2, r1, 2; add.s32 r3, m, r2; st.shared.u32 [r3], r1;").said() == "");
  CHECK(SmallRun("and.b32 r1, t, 15; shl.b32 r2, r1, 2; add.s32 r3, m, r2; st.shared.u32 [r3], t;").found(CheckRule::UnorderedStores));
}

TEST_CASE("Warps that store different values at one address of global memory are in an order", "[ptx]") {
  const std::string warp = "shr.u32 r1, t, 5;", store = once("st.global.u32 [d1], r1;", "FIRST");
  const std::string other = "setp.ne.s32 p21, t, 32; @p21 bra SECOND; st.global.u32 [d1], r1; SECOND:";
  CHECK(SmallRun(warp + store + other, threads(64)).found(CheckRule::UnorderedStores));
  CHECK(SmallRun(warp + store + "bar.sync 0;" + other, threads(64)).said() == "");
  CHECK(SmallRun("mov.u32 r1, 7;" + store + other, threads(64)).said() == "");
}

TEST_CASE("mbarrier.init writes where nothing is in use", "[ptx]") {
  const std::string read =
      "st.shared.u32 [m], 0; st.shared.u32 [m+4], 0; bar.sync 0; setp.lt.u32 p0, t, 32; @p0 bra MAKES;"
      "ld.shared.u32 r1, [m]; ";
  const std::string make = once("mbarrier.init.shared::cta.b64 [m], 1;", "MADE");
  CHECK(SmallRun(read + "bra END; MAKES: nanosleep.u32 5000;" + make + "END:", threads(64)).found(CheckRule::OverwriteBeforeRead));
  CHECK(SmallRun(read + "bar.sync 1, 64; bra END; MAKES: bar.sync 1, 64;" + make + "END:", threads(64)).said() == "");
}

TEST_CASE("Counts that no barrier has are found, however large", "[ptx]") {
  const std::string made = once("mbarrier.init.shared::cta.b64 [m], 1;", "MADE");
  for (const std::string count : {"2147483648", "4294967295", "1048576", "0"}) {
    INFO(count);
    CHECK(SmallRun(made + once("mbarrier.arrive.shared::cta.b64 _, [m], " + count + ";", "CAME")).found(CheckRule::BarrierCount));
    CHECK(SmallRun(made + once("mbarrier.arrive_drop.shared::cta.b64 _, [m], " + count + ";", "CAME")).found(CheckRule::BarrierCount));
  }
  CHECK(SmallRun(once("mbarrier.init.shared::cta.b64 [m], 4294967295;", "MADE")).found(CheckRule::BarrierCount));
  CHECK(SmallRun("mov.u64 d9, 0x7FFFFFFFFFFFFFFF; setmaxnreg.inc.sync.aligned.u32 d9;").found(CheckRule::RegisterPool));
  SmallRunOptions many;
  many.shared = 80000;
  SmallRun run(once("mov.u32 r1, m; add.s32 r2, m, 80000; LOOP: mbarrier.init.shared::cta.b64 [r1], 1; add.s32 r1, r1, 8;"
                    "setp.lt.u32 p1, r1, r2; @p1 bra LOOP;",
                    "MADE"),
               many);
  CHECK(run.run().stop_reason().find("more mbarriers") != std::string::npos);
}

TEST_CASE("Where warps branch apart on data that is not known, a hang is for the data to say", "[ptx]") {
  const auto text = [](const std::string& producer, const std::string& consumer) {
    return once("mbarrier.init.shared::cta.b64 [m], 32;", "MADE") +
           "bar.sync 0; setp.lt.u32 p0, t, 32; @p0 bra FIRST; ld.global.u32 r1, [d0+512];" + consumer +
           "WAITS: mbarrier.try_wait.parity.shared::cta.b64 p3, [m], 0; @!p3 bra WAITS; bra END; FIRST: ld.global.u32 r1, [d0+512];" +
           producer + "mbarrier.arrive.shared::cta.b64 _, [m]; END:";
  };
  const std::string none = "setp.eq.u32 p1, r1, 0; @p1 bra END;", some = "setp.ne.u32 p1, r1, 0; @p1 bra GO; bra END; GO:";
  CHECK(SmallRun(text(none, none), threads(64)).said() == "");
  SmallRun apart(text(some, none), threads(64));
  CHECK_FALSE(apart.found(CheckRule::Hang));
  CHECK(apart.run().stop_reason().find("data that is not known") != std::string::npos);
  // What hangs whatever the data is.
  SmallRun hang(text("bra END;", none), threads(64));
  CHECK(hang.found(CheckRule::Hang));
}
