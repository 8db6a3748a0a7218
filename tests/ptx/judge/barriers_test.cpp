// Each rule of barriers and of the pool of registers: a sequence that breaks it, and one that does not.
#include <catch2/catch.hpp>

#include "ptx/judge/barriers.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

constexpr std::uint64_t kAddress = 1024;
constexpr std::uint32_t kAll = 0xFFFFFFFFu;  ///< lanes

struct BarrierScene {
  Components components;
  std::vector<Component> warps{components.add("w0"), components.add("w1"), components.add("w2"), components.add("w3")};
  Findings findings;
  Barriers barriers{components, findings};

  Barriers::By by(int warp, int pc) const { return {warp, pc, warps[static_cast<std::size_t>(warp)], 0}; }
  /// What a warp knows after its own step.
  KnownClocks step(int warp, Epoch epoch) const {
    KnownClocks known;
    known.seen.raise(warps[static_cast<std::size_t>(warp)], epoch);
    return known;
  }
  Mbarrier& make(std::int64_t count, std::uint64_t address = kAddress) {
    barriers.init(address, count, by(0, 1), 1);
    return *barriers.use(address, by(0, 2), step(0, 1));
  }
  std::vector<CheckRule> rules() const {
    std::vector<CheckRule> rules;
    for (const CheckFinding& finding : findings.all()) rules.push_back(finding.rule);
    return rules;
  }
};

const std::vector<CheckRule> kNone;

}  // namespace

TEST_CASE("an mbarrier's phase is over when its arrivals and bytes have come") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(2);
  CHECK(Barriers::over(barrier, true));  // the phase before the first, as producers count
  CHECK_FALSE(Barriers::over(barrier, false));
  barrier.waiting.push_back(7);
  CHECK(scene.barriers.arrive(barrier, 1, 512, scene.step(0, 3), scene.by(0, 3)).empty());
  CHECK(scene.barriers.complete(barrier, 512, scene.by(0, 4)).empty());
  CHECK(scene.barriers.arrive(barrier, 1, 0, scene.step(1, 5), scene.by(1, 5)) == std::vector<FragmentId>{7});
  CHECK(Barriers::over(barrier, false));
  CHECK(barrier.done.seen.at(scene.warps[0]) == 3);
  CHECK(barrier.done.seen.at(scene.warps[1]) == 5);
  CHECK(barrier.done.seen.at(barrier.component) == 1);
  CHECK(barrier.pending == 2);
  scene.barriers.check_end();
  CHECK(scene.rules() == kNone);
}

TEST_CASE("an arrival follows the end of the phase before") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  barrier.waited_at = true;
  scene.barriers.arrive(barrier, 1, 0, scene.step(0, 3), scene.by(0, 3));
  SECTION("nothing orders it behind") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(1, 3), scene.by(1, 4));
    CHECK(scene.rules() == std::vector{CheckRule::ArrivalsOverCount});
  }
  SECTION("nobody ever waits there") {
    barrier.waited_at = false;
    scene.barriers.arrive(barrier, 1, 0, scene.step(1, 3), scene.by(1, 4));
    CHECK(scene.rules() == kNone);
  }
  SECTION("the warp has waited for the phase") {
    KnownClocks known = scene.step(1, 3);
    known.join(barrier.done);
    scene.barriers.arrive(barrier, 1, 0, known, scene.by(1, 4));
    CHECK(scene.rules() == kNone);
  }
  SECTION("who arrived before arrives again") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 4), scene.by(0, 3));
    CHECK(scene.rules() == kNone);
  }
  SECTION("it knows of all arrivals by another way") {
    KnownClocks known = scene.step(1, 3);
    known.join(scene.step(0, 3));
    scene.barriers.arrive(barrier, 1, 0, known, scene.by(1, 4));
    CHECK(scene.rules() == kNone);
  }
  SECTION("in a cluster the bytes of another CTA may order it") {
    scene.barriers.set_ctas(2);
    scene.barriers.arrive(barrier, 1, 0, scene.step(1, 3), scene.by(1, 4));
    CHECK(scene.rules() == kNone);
  }
}

TEST_CASE("an arrival of a phase with bytes follows its copies, too") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  barrier.waited_at = true;
  scene.barriers.arrive(barrier, 1, 512, scene.step(0, 3), scene.by(0, 3));
  scene.barriers.complete(barrier, 512, scene.by(0, 3));
  scene.barriers.arrive(barrier, 1, 512, scene.step(0, 4), scene.by(0, 4));
  CHECK(scene.rules() == std::vector{CheckRule::ArrivalsOverCount});
}

TEST_CASE("bytes may come before they are expected, within a phase") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  scene.barriers.complete(barrier, 512, scene.by(0, 4));
  CHECK(barrier.phase == 0);
  scene.barriers.arrive(barrier, 1, 512, scene.step(0, 3), scene.by(0, 3));
  CHECK(barrier.phase == 1);
  CHECK(scene.rules() == kNone);
}

TEST_CASE("arrivals over an mbarrier's count") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  SECTION("one in each phase") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 3), scene.by(0, 3));
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 3), scene.by(0, 3));
    CHECK(barrier.phase == 2);
    CHECK(scene.rules() == kNone);
  }
  SECTION("two while its bytes are awaited") {
    scene.barriers.arrive(barrier, 1, 512, scene.step(0, 3), scene.by(0, 3));
    scene.barriers.arrive(barrier, 1, 0, scene.step(1, 3), scene.by(1, 4));
    REQUIRE(scene.rules() == std::vector{CheckRule::ArrivalsOverCount});
    CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains("gets 2 arrivals in phase 0, and its count is 1"));
    CHECK(scene.findings.all().front().related.front().pc == 3);
  }
  SECTION("more at once") {
    scene.barriers.arrive(barrier, 2, 0, scene.step(0, 3), scene.by(0, 3));
    CHECK(scene.rules() == std::vector{CheckRule::ArrivalsOverCount});
  }
}

TEST_CASE("who drops out is not awaited in later phases") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(2);
  scene.barriers.arrive_and_drop(barrier, 1, scene.step(0, 3), scene.by(0, 3));
  CHECK(barrier.phase == 0);
  scene.barriers.arrive(barrier, 1, 0, scene.step(1, 3), scene.by(1, 3));
  CHECK(barrier.phase == 1);
  scene.barriers.arrive(barrier, 1, 0, scene.step(1, 4), scene.by(1, 3));
  CHECK(barrier.phase == 2);
  CHECK(scene.rules() == kNone);
}

TEST_CASE("counts of an mbarrier have limits") {
  BarrierScene scene;
  SECTION("none to come") { scene.make(0); }
  SECTION("too many to come") { scene.make(1 << 20); }
  SECTION("no arrival") { scene.barriers.arrive(scene.make(1), 0, 0, {}, scene.by(0, 3)); }
  SECTION("too many bytes") { scene.barriers.expect(scene.make(1), 1 << 20, scene.by(0, 3)); }
  SECTION("too many bytes in all") {
    Mbarrier& barrier = scene.make(1);
    scene.barriers.expect(barrier, (1 << 20) - 1, scene.by(0, 3));
    CHECK(scene.rules() == kNone);
    scene.barriers.expect(barrier, 1, scene.by(0, 3));
  }
  CHECK(scene.rules() == std::vector{CheckRule::BarrierCount});
}

TEST_CASE("an mbarrier is used where one was made, by who knows of it") {
  BarrierScene scene;
  scene.make(1);
  SECTION("nothing was made there") {
    CHECK(scene.barriers.use(kAddress + 8, scene.by(1, 5), scene.step(1, 1)) == nullptr);
    CHECK(scene.rules() == std::vector{CheckRule::BarrierNotMade});
  }
  SECTION("nothing orders the user behind the init") {
    CHECK(scene.barriers.use(kAddress, scene.by(1, 5), scene.step(1, 1)) != nullptr);
    CHECK(scene.rules() == std::vector{CheckRule::BarrierBeforeMade});
  }
  SECTION("a barrier orders it") {
    CHECK(scene.barriers.use(kAddress, scene.by(1, 5), scene.step(0, 1)) != nullptr);
    CHECK(scene.rules() == kNone);
  }
  SECTION("it was invalidated") {
    scene.barriers.inval(kAddress, scene.by(0, 4), {});
    scene.barriers.use(kAddress, scene.by(0, 5), scene.step(0, 1));
    scene.barriers.inval(kAddress, scene.by(0, 6), {});
    CHECK(scene.rules() == std::vector{CheckRule::BarrierNotMade, CheckRule::BarrierNotMade});
  }
}

TEST_CASE("the place of an mbarrier is its own until it is invalidated") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  SECTION("made anew behind inval: parity begins again") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 2), scene.by(0, 3));
    scene.barriers.inval(kAddress, scene.by(0, 4), {});
    scene.make(1);
    CHECK(Barriers::over(barrier, true));
    CHECK_FALSE(Barriers::over(barrier, false));
    CHECK(scene.rules() == kNone);
  }
  SECTION("invalidated where another warp may still wait") {
    scene.barriers.waits(barrier, scene.by(1, 3), scene.step(1, 5));
    scene.barriers.inval(kAddress, scene.by(0, 4), scene.step(1, 4));
    CHECK(scene.rules() == std::vector{CheckRule::BarrierPlace});
  }
  SECTION("invalidated behind all waits") {
    scene.barriers.waits(barrier, scene.by(1, 3), scene.step(1, 5));
    scene.barriers.inval(kAddress, scene.by(0, 4), scene.step(1, 5));
    CHECK(scene.rules() == kNone);
  }
  SECTION("made anew as it is") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 2), scene.by(0, 3));
    scene.make(1);
    CHECK(scene.rules() == std::vector{CheckRule::BarrierPlace});
  }
  SECTION("all lanes of a warp make it") {
    scene.make(1);
    CHECK(scene.rules() == kNone);
  }
  SECTION("invalidated while somebody waits") {
    barrier.waiting.push_back(3);
    scene.barriers.inval(kAddress, scene.by(0, 4), {});
    CHECK(scene.rules() == std::vector{CheckRule::BarrierPlace});
  }
  SECTION("a copy over it") {
    scene.barriers.overwritten(kAddress - 64, kAddress, "copy", scene.by(0, 4));
    scene.barriers.overwritten(kAddress + 8, kAddress + 64, "copy", scene.by(0, 4));
    CHECK(scene.rules() == kNone);
    scene.barriers.overwritten(kAddress + 4, kAddress + 64, "copy", scene.by(0, 4));
    CHECK(scene.rules() == std::vector{CheckRule::BarrierPlace});
  }
  SECTION("no multiple of eight") {
    scene.barriers.init(kAddress + 4, 1, scene.by(0, 9), 1);
    CHECK(scene.rules() == std::vector{CheckRule::Misaligned});
  }
}

TEST_CASE("what is left of an mbarrier's last phase") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(2);
  SECTION("bytes that nobody brought") {
    scene.barriers.arrive(barrier, 2, 512, scene.step(0, 3), scene.by(0, 3));
    scene.barriers.check_end();
    CHECK(scene.rules() == std::vector{CheckRule::BytesLeft});
  }
  SECTION("bytes that nobody expected") {
    scene.barriers.complete(barrier, 512, scene.by(0, 3));
    scene.barriers.check_end();
    REQUIRE(scene.rules() == std::vector{CheckRule::BytesLeft});
    CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains("512 bytes that copies brought and nobody expected"));
  }
  SECTION("half of its arrivals") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 3), scene.by(0, 3));
    scene.barriers.check_end();
    CHECK(scene.rules() == std::vector{CheckRule::PartialPhase});
  }
  SECTION("half of its arrivals when it is invalidated") {
    scene.barriers.arrive(barrier, 1, 0, scene.step(0, 3), scene.by(0, 3));
    scene.barriers.inval(kAddress, scene.by(0, 4), {});
    scene.barriers.check_end();
    CHECK(scene.rules() == std::vector{CheckRule::PartialPhase});
  }
}

TEST_CASE("a fence makes a warp's barriers known to the async proxy") {
  BarrierScene scene;
  Mbarrier& barrier = scene.make(1);
  scene.barriers.fence_made(1);
  CHECK_FALSE(barrier.fenced);
  scene.barriers.fence_made(0);
  CHECK(barrier.fenced);
  scene.barriers.inval(kAddress, scene.by(0, 4), {});
  scene.make(1);
  CHECK_FALSE(barrier.fenced);
}

TEST_CASE("a named barrier is complete when its threads are there") {
  BarrierScene scene;
  CHECK_FALSE(scene.barriers.join_named({0, 3}, 64, kAll, scene.step(0, 4), scene.by(0, 1)).complete);
  scene.barriers.wait_named(0, 3, 5);
  CHECK_FALSE(scene.barriers.join_named({1, 3}, 64, kAll, scene.step(2, 4), scene.by(2, 1)).complete);  // another CTA's
  REQUIRE(scene.barriers.named_round(0, 3) != nullptr);
  CHECK(scene.barriers.named_round(0, 3)->here == 32);
  const Barriers::Joined joined = scene.barriers.join_named({0, 3}, 64, kAll, scene.step(1, 6), scene.by(1, 1));
  CHECK(joined.complete);
  CHECK(joined.woken == std::vector<FragmentId>{5});
  CHECK(joined.known.seen.at(scene.warps[0]) == 4);
  CHECK(joined.known.seen.at(scene.warps[1]) == 6);
  CHECK(scene.barriers.named_round(0, 3) == nullptr);
  CHECK(scene.barriers.named_users(0, 3) == std::vector<int>{0, 1});
  CHECK(scene.rules() == kNone);
}

TEST_CASE("numbers and counts of named barriers") {
  BarrierScene scene;
  SECTION("no such barrier") { scene.barriers.join_named({0, 16}, 64, kAll, {}, scene.by(0, 1)); }
  SECTION("no whole warps") { scene.barriers.join_named({0, 1}, 48, kAll, {}, scene.by(0, 1)); }
  SECTION("two counts at once") {
    scene.barriers.join_named({0, 1}, 96, kAll, {}, scene.by(0, 1));
    scene.barriers.join_named({0, 1}, 128, kAll, {}, scene.by(1, 2));
  }
  SECTION("more than its count") {
    scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(0, 1));
    scene.barriers.join_named({0, 1}, 64, 0xFFFF, {}, scene.by(1, 2));
    scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(2, 2));
  }
  SECTION("a warp twice") {
    scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(0, 1));
    CHECK(scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(0, 2)).complete);
  }
  REQUIRE_FALSE(scene.findings.all().empty());
  CHECK(scene.rules().front() == CheckRule::NamedBarrierCount);
}

TEST_CASE("a warp that has arrived at a named barrier may wait there in the same round") {
  BarrierScene scene;
  scene.barriers.join_named({0, 1}, 96, kAll, {}, scene.by(0, 1));
  scene.barriers.join_named({0, 1}, 96, kAll, {}, scene.by(1, 1));
  CHECK(scene.barriers.join_named({0, 1, false, true}, 96, kAll, {}, scene.by(0, 2)).complete);
  CHECK(scene.rules() == kNone);
}

TEST_CASE("halves of a warp come to a named barrier one after the other") {
  BarrierScene scene;
  scene.barriers.join_named({0, 1}, 64, 0xFFFF, {}, scene.by(0, 1));
  scene.barriers.join_named({0, 1}, 64, 0xFFFF0000, {}, scene.by(0, 2));
  CHECK(scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(1, 2)).complete);
  CHECK(scene.rules() == kNone);
}

TEST_CASE("lanes that exit count with those of their warp that have come") {
  BarrierScene scene;
  scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(1, 1));
  SECTION("they exit while the others wait") {
    CHECK_FALSE(scene.barriers.join_named({0, 1}, 64, 0xFFFF, {}, scene.by(0, 1)).complete);
    CHECK(scene.barriers.exit_lanes(0, 0, 0xFFFF0000).size() == 1);
  }
  SECTION("they have exited before") {
    CHECK(scene.barriers.exit_lanes(0, 0, 0xFFFF0000).empty());
    CHECK(scene.barriers.join_named({0, 1}, 64, 0xFFFF, {}, scene.by(0, 1)).complete);
  }
  CHECK(scene.rules() == kNone);
}

TEST_CASE("the cluster's barrier: phases, and threads that exit") {
  BarrierScene scene;
  scene.barriers.arrive_cluster(96, kAll, scene.step(0, 2), scene.by(0, 1));
  scene.barriers.wait_cluster(9);
  scene.barriers.arrive_cluster(96, kAll, scene.step(1, 3), scene.by(1, 1));
  CHECK(scene.barriers.cluster_phase() == 0);
  SECTION("the last one arrives") {
    const Barriers::Joined joined = scene.barriers.arrive_cluster(96, kAll, scene.step(2, 4), scene.by(2, 1));
    CHECK(joined.complete);
    CHECK(joined.woken == std::vector<FragmentId>{9});
    CHECK(scene.barriers.cluster_phase() == 1);
    CHECK(scene.barriers.cluster_known().seen.at(scene.warps[2]) == 4);
    CHECK(scene.rules() == kNone);
  }
  SECTION("the last one exits") {
    const auto ended = scene.barriers.exit_lanes(0, 2, kAll);
    REQUIRE(ended.size() == 1);
    CHECK(ended[0].first == Barriers::kClusterBarrier);
    CHECK(ended[0].second.woken == std::vector<FragmentId>{9});
    CHECK(scene.barriers.cluster_phase() == 1);
    CHECK(scene.barriers.exit_lanes(0, 1, kAll).empty());
  }
  SECTION("who exits behind its arrival is not counted again") {
    CHECK(scene.barriers.exit_lanes(0, 1, kAll).empty());
    CHECK(scene.barriers.cluster_phase() == 0);
    CHECK(scene.barriers.arrive_cluster(96, kAll, {}, scene.by(2, 2)).complete);
  }
  SECTION("a warp arrives twice") {
    scene.barriers.arrive_cluster(96, kAll, {}, scene.by(0, 2));
    CHECK(scene.rules() == std::vector{CheckRule::NamedBarrierCount});
  }
}

TEST_CASE("the pool of registers gives what is there") {
  BarrierScene scene;
  scene.barriers.set_pool(0, 1024);
  CHECK(scene.barriers.take_registers(0, 1000));
  CHECK_FALSE(scene.barriers.take_registers(0, 32));
  scene.barriers.wait_registers(0, 4);
  CHECK(scene.barriers.give_registers(0, 8) == std::vector<FragmentId>{4});
  CHECK(scene.barriers.take_registers(0, 32));
  CHECK(scene.barriers.free_registers(0) == 0);
  CHECK_FALSE(scene.barriers.take_registers(1, 32));
}

TEST_CASE("a barrier of the whole CTA does not wait for warps that have exited", "[ptx]") {
  BarrierScene scene;
  CHECK_FALSE(scene.barriers.join_named({0, 0, true}, 64, kAll, {}, scene.by(0, 1)).complete);
  const auto ended = scene.barriers.exit_lanes(0, 1, kAll);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].second.complete);
  // From then on the other one is all that there is.
  CHECK(scene.barriers.join_named({0, 0, true}, 64, kAll, {}, scene.by(0, 2)).complete);
  CHECK(scene.findings.all().empty());
  // A count that the text says is a count.
  CHECK_FALSE(scene.barriers.join_named({0, 1}, 64, kAll, {}, scene.by(0, 3)).complete);
}
