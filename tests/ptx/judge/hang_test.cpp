// Hangs in words: the circle of who waits for whom, the wait that is the reason of others, and who left.
#include <catch2/catch.hpp>

#include "ptx/judge/hang.h"
#include "ptx/judge/reference.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

constexpr std::uint64_t kFull = 1024, kEmpty = 1032;

/// A producer w0 and a consumer w1 with a ring of one slot.
struct RingScene {
  Components components;
  Component w0 = components.add("w0"), w1 = components.add("w1");
  Findings findings;
  Barriers barriers{components, findings};
  std::vector<HangWait> waits;

  RingScene() {
    barriers.init(kFull, 1, by(0, 1), 1);
    barriers.init(kEmpty, 1, by(0, 2), 1);
  }
  Barriers::By by(int warp, int pc) const { return {warp, pc, warp == 0 ? w0 : w1, 0}; }
  Mbarrier& at(std::uint64_t address) {
    KnownClocks known;
    known.seen.raise(w0, 1);
    return *barriers.use(address, by(0, 3), known);
  }
  void report(std::vector<int> exited = {}) { report_hang({waits, barriers, std::move(exited), 0}, findings); }
  static HangWait mbarrier(int warp, int pc, std::uint64_t address, std::int64_t cycle) {
    return {HangWait::For::Mbarrier, warp, pc, 0, address, false, 0, cycle};
  }
};

}  // namespace

TEST_CASE("two warps that wait for each other are a circle") {
  RingScene scene;
  scene.barriers.arrive(scene.at(kFull), 1, 0, {}, scene.by(0, 10));
  scene.barriers.arrive(scene.at(kEmpty), 1, 0, {}, scene.by(1, 20));
  scene.waits = {RingScene::mbarrier(1, 21, kFull, 90), RingScene::mbarrier(0, 11, kEmpty, 100)};
  scene.report();
  REQUIRE(scene.findings.all().size() == 1);
  const CheckFinding& hang = scene.findings.all().front();
  CHECK(hang.rule == CheckRule::Hang);
  CHECK(hang.related.size() == 2);
  CHECK_THAT(hang.sentence, Catch::Contains("phase 1 lacks 1 of 1 arrivals") && Catch::Contains(barrier_reference(kFull)) &&
                                Catch::Contains("they wait for each other"));
}

TEST_CASE("without a circle the wait that nobody can end comes first") {
  RingScene scene;
  scene.barriers.arrive(scene.at(kFull), 1, 0, {}, scene.by(0, 10));
  scene.waits = {RingScene::mbarrier(1, 21, kFull, 90), RingScene::mbarrier(0, 11, kEmpty, 100)};
  scene.report();
  REQUIRE(scene.findings.all().size() == 1);
  const CheckFinding& hang = scene.findings.all().front();
  CHECK(hang.pc == 11);
  CHECK(hang.warp == 0);
  CHECK(hang.related.size() == 2);
  CHECK_THAT(hang.sentence, Catch::Contains("nobody ever arrived there") && Catch::Contains("nobody is left who could end that"));
}

TEST_CASE("bytes that lack are told, and who still owes them") {
  RingScene scene;
  scene.barriers.arrive(scene.at(kFull), 1, 16384, {}, scene.by(0, 10));
  scene.waits = {RingScene::mbarrier(1, 21, kFull, 90)};
  scene.report({0});
  REQUIRE(scene.findings.all().size() == 2);
  CHECK_THAT(scene.findings.all()[0].sentence, Catch::Contains("lacks 0 of 1 arrivals and 16384 bytes"));
  CHECK(scene.findings.all()[1].rule == CheckRule::ExitWhileWaited);
  CHECK(scene.findings.all()[1].pc == 21);
}

TEST_CASE("bytes that nobody expects are the reason, whoever else waits") {
  RingScene scene;
  scene.barriers.arrive(scene.at(kFull), 1, 0, {}, scene.by(0, 10));
  scene.barriers.arrive(scene.at(kEmpty), 1, 0, {}, scene.by(1, 20));
  scene.barriers.complete(scene.at(kFull), 512, scene.by(0, 9));
  scene.waits = {RingScene::mbarrier(0, 11, kEmpty, 80), RingScene::mbarrier(1, 21, kFull, 90)};
  scene.report();
  CHECK(scene.findings.all().front().pc == 21);
  CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains("512 bytes came that nobody expected"));
}

TEST_CASE("warps that wait for the same are told together") {
  RingScene scene;
  scene.waits = {RingScene::mbarrier(0, 11, kEmpty, 80), RingScene::mbarrier(1, 11, kEmpty, 90)};
  scene.report();
  CHECK(scene.findings.all().front().related.size() == 1);
  CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains(warp_reference(0) + ", " + warp_reference(1) + " wait at"));
}

TEST_CASE("warps in a row are told by the first and the last") {
  RingScene scene;
  for (const int warp : {7, 4, 6, 5}) scene.waits.push_back(RingScene::mbarrier(warp, 11, kEmpty, 80));
  scene.report();
  CHECK_THAT(scene.findings.all().front().sentence, Catch::StartsWith(warp_reference(4) + " to " + warp_reference(7) + " wait at"));
}

TEST_CASE("who is missing at a named barrier") {
  RingScene scene;
  scene.barriers.join_named({0, 1}, 64, 0xFFFFFFFFu, {}, scene.by(0, 30));
  scene.waits = {{HangWait::For::Named, 0, 30, 0, 1, false, 0, 5}, RingScene::mbarrier(1, 21, kFull, 90)};
  SECTION("waits for who waits there") {
    scene.barriers.arrive(scene.at(kFull), 1, 0, {}, scene.by(0, 10));
    scene.report();
    REQUIRE(scene.findings.all().size() == 1);
    CHECK(scene.findings.all().front().related.size() == 2);
    CHECK_THAT(scene.findings.all().front().sentence,
               Catch::Contains("named barrier 1: 32 of 64 threads are there") && Catch::Contains("each other"));
  }
  SECTION("has exited") {
    scene.waits.pop_back();
    scene.report({1});
    REQUIRE(scene.findings.all().size() == 2);
    CHECK(scene.findings.all()[1].rule == CheckRule::ExitWhileWaited);
    CHECK_THAT(scene.findings.all()[1].sentence, Catch::Contains("it has exited"));
  }
}

TEST_CASE("registers, columns and products that never come") {
  RingScene scene;
  scene.barriers.set_pool(0, 64);
  const HangWait registers{HangWait::For::Registers, 0, 30, 0, 0, false, 4096, 5};
  const HangWait columns{HangWait::For::TensorColumns, 0, 30, 0, 0, false, 256, 5};
  CHECK(lack_of(registers, scene.barriers) == "4096 registers of the CTA's pool, which has 64");
  CHECK(lack_of(columns, scene.barriers) == "256 columns of tensor memory that nobody frees");
  scene.waits = {registers};
  scene.report();
  CHECK(scene.findings.all().front().rule == CheckRule::Hang);
}

TEST_CASE("no wait, no hang") {
  RingScene scene;
  scene.report();
  CHECK(scene.findings.all().empty());
}
