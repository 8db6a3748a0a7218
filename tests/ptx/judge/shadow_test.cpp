// Each rule of shared memory's shadow: a sequence of accesses that breaks it, and one that does not. Then random sequences against a model
// that keeps every access of every byte.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <tuple>

#include "ptx/judge/shadow.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

constexpr std::uint32_t kBytes = 65536;

/// Two warps, a queue of products, a barrier, and the memory that they share.
struct SharedScene {
  Components components;
  Component w0 = components.add("w0"), w1 = components.add("w1"), queue = components.add("a product"),
            barrier = components.add("a barrier");
  Findings findings;
  Shadow shadow{kBytes, components, findings};

  static KnownClocks knows(std::initializer_list<std::pair<Component, Epoch>> seen,
                           std::initializer_list<std::pair<Component, Epoch>> async = {}) {
    KnownClocks known;
    for (const auto& [component, epoch] : seen) known.seen.raise(component, epoch);
    for (const auto& [component, epoch] : async) known.async.raise(component, epoch);
    return known;
  }
  static ShadowAccess access(Component by, Epoch epoch, int pc, Proxy proxy = Proxy::Generic) {
    return {.by = by, .epoch = epoch, .proxy = proxy, .pc = pc, .warp = by, .what = "access"};
  }
  void read(ByteRange where, const ShadowAccess& by, const KnownClocks& known) { shadow.read(std::span(&where, 1), by, known); }
  void write(ByteRange where, const ShadowAccess& by, const KnownClocks& known) { shadow.write(std::span(&where, 1), by, known); }
  void settle(ByteRange where, int pc, Epoch epoch) { shadow.settle(std::span(&where, 1), barrier, pc, epoch); }

  std::vector<CheckRule> rules() const {
    std::vector<CheckRule> rules;
    for (const CheckFinding& finding : findings.all()) rules.push_back(finding.rule);
    return rules;
  }
};

const std::vector<CheckRule> kNone;

}  // namespace

TEST_CASE("a read of another warp's write waits for it") {
  SharedScene scene;
  scene.write({0, 1024}, SharedScene::access(scene.w0, 1, 10), SharedScene::knows({{scene.w0, 1}}));
  SECTION("waited for") {
    scene.read({512, 516}, SharedScene::access(scene.w1, 1, 11), SharedScene::knows({{scene.w1, 1}, {scene.w0, 1}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("its own write") {
    scene.read({512, 516}, SharedScene::access(scene.w0, 1, 11), SharedScene::knows({{scene.w0, 1}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("not waited for") {
    for (int times = 0; times < 3; ++times)
      scene.read({512, 520}, SharedScene::access(scene.w1, 1, 11), SharedScene::knows({{scene.w1, 1}}));
    REQUIRE(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
    const CheckFinding& finding = scene.findings.all().front();
    CHECK(finding.times == 3);
    CHECK(finding.pc == 11);
    CHECK(finding.related.front().pc == 10);
    CHECK_THAT(finding.sentence, Catch::Contains("which it has not waited for (8 bytes)"));
  }
  SECTION("elsewhere") {
    scene.read({1024, 2048}, SharedScene::access(scene.w1, 1, 11), SharedScene::knows({{scene.w1, 1}}));
    CHECK(scene.rules() == kNone);
  }
}

TEST_CASE("a copy's bytes are ready when its barrier's phase is over") {
  SharedScene scene;
  scene.write({0, 16384}, SharedScene::access(scene.barrier, kPending, 5, Proxy::Async), SharedScene::knows({}));
  SECTION("read while the copy runs") {
    scene.read({64, 96}, SharedScene::access(scene.queue, 1, 6, Proxy::Async), SharedScene::knows({{scene.barrier, 7}}));
    CHECK(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
  }
  SECTION("read behind the wait, with no proxy fence, since the async proxy wrote it") {
    scene.settle({0, 16384}, 5, 3);
    scene.read({64, 96}, SharedScene::access(scene.queue, 1, 6, Proxy::Async), SharedScene::knows({{scene.barrier, 3}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("read after an earlier phase only") {
    scene.settle({0, 16384}, 5, 3);
    scene.read({64, 96}, SharedScene::access(scene.w0, 1, 6), SharedScene::knows({{scene.barrier, 2}}));
    CHECK(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
  }
  SECTION("overwritten by a second copy of the same barrier") {
    scene.write({1024, 2048}, SharedScene::access(scene.barrier, kPending, 5, Proxy::Async), SharedScene::knows({}));
    REQUIRE(scene.rules() == std::vector{CheckRule::WriteOverWrite});
    CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains("1024 bytes"));
  }
}

TEST_CASE("the async proxy sees what threads wrote behind a fence only") {
  SharedScene scene;
  scene.write({0, 512}, SharedScene::access(scene.w0, 4, 10), SharedScene::knows({{scene.w0, 4}}));
  const ShadowAccess store = SharedScene::access(scene.queue, 1, 12, Proxy::Async);
  SECTION("with the fence") {
    scene.read({0, 512}, store, SharedScene::knows({{scene.w0, 5}}, {{scene.w0, 4}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("without it") {
    scene.read({0, 512}, store, SharedScene::knows({{scene.w0, 5}}, {{scene.w0, 3}}));
    CHECK(scene.rules() == std::vector{CheckRule::MissingProxyFence});
  }
  SECTION("without a wait, which is worse") {
    scene.read({0, 512}, store, SharedScene::knows({{scene.w0, 3}}, {{scene.w0, 3}}));
    CHECK(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
  }
  SECTION("a copy over it without the fence") {
    scene.write({0, 512}, SharedScene::access(scene.barrier, kPending, 12, Proxy::Async), SharedScene::knows({{scene.w0, 5}}));
    CHECK(scene.rules() == std::vector{CheckRule::MissingProxyFence});
  }
  SECTION("a copy over it without the fence, when threads have read it: it is surely in memory") {
    scene.read({0, 512}, SharedScene::access(scene.w1, 2, 11), SharedScene::knows({{scene.w0, 5}}));
    scene.write({0, 512}, SharedScene::access(scene.barrier, kPending, 12, Proxy::Async),
                SharedScene::knows({{scene.w0, 5}, {scene.w1, 2}}));
    CHECK(scene.rules() == std::vector{CheckRule::NoFenceBeforeCopy});
  }
}

TEST_CASE("a write waits for those who may still read") {
  SharedScene scene;
  scene.write({0, 512}, SharedScene::access(scene.w0, 1, 10), SharedScene::knows({{scene.w0, 1}}));
  scene.read({0, 512}, SharedScene::access(scene.w1, 1, 20), SharedScene::knows({{scene.w0, 1}, {scene.w1, 1}}));
  scene.read({0, 256}, SharedScene::access(scene.w1, 2, 21), SharedScene::knows({{scene.w0, 1}, {scene.w1, 2}}));
  SECTION("all waited for") {
    scene.write({0, 512}, SharedScene::access(scene.w0, 2, 11), SharedScene::knows({{scene.w0, 2}, {scene.w1, 2}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("the later reads not") {
    scene.write({0, 512}, SharedScene::access(scene.w0, 2, 11), SharedScene::knows({{scene.w0, 2}, {scene.w1, 1}}));
    REQUIRE(scene.rules() == std::vector{CheckRule::OverwriteBeforeRead});
    const CheckFinding& finding = scene.findings.all().front();
    CHECK_THAT(finding.sentence, Catch::Contains("w1 may still read") && Catch::Contains("256 bytes"));
    CHECK(finding.related.front().pc == 21);
  }
  SECTION("none of them: one finding with both places") {
    scene.write({0, 512}, SharedScene::access(scene.w0, 2, 11), SharedScene::knows({{scene.w0, 2}}));
    REQUIRE(scene.rules() == std::vector{CheckRule::OverwriteBeforeRead});
    CHECK(scene.findings.all().front().related.size() == 2);
  }
  SECTION("generic reads before an async write need no fence") {
    scene.write({0, 512}, SharedScene::access(scene.barrier, kPending, 11, Proxy::Async),
                SharedScene::knows({{scene.w1, 2}, {scene.w0, 1}}, {{scene.w0, 1}}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("a product's queue is waited for like a warp") {
    scene.read({0, 64}, SharedScene::access(scene.queue, 9, 22, Proxy::Async), SharedScene::knows({{scene.w0, 1}}, {{scene.w0, 1}}));
    scene.write({0, 512}, SharedScene::access(scene.w0, 2, 11), SharedScene::knows({{scene.w0, 2}, {scene.w1, 2}, {scene.queue, 8}}));
    CHECK(scene.rules() == std::vector{CheckRule::OverwriteBeforeRead});
  }
}

TEST_CASE("two warps write the same bytes in an order only, or the same value") {
  SharedScene scene;
  scene.write({64, 68}, SharedScene::access(scene.w0, 1, 10), SharedScene::knows({{scene.w0, 1}}));
  const KnownClocks stranger = SharedScene::knows({{scene.w1, 1}});
  SECTION("another instruction") {
    scene.write({64, 68}, SharedScene::access(scene.w1, 1, 11), stranger);
    CHECK(scene.rules() == std::vector{CheckRule::WriteOverWrite});
  }
  SECTION("the same instruction, and each reads what it wrote") {
    scene.read({64, 68}, SharedScene::access(scene.w0, 1, 12), SharedScene::knows({{scene.w0, 1}}));
    scene.write({64, 68}, SharedScene::access(scene.w1, 1, 10), stranger);
    scene.read({64, 68}, SharedScene::access(scene.w1, 1, 12), stranger);
    scene.read({64, 68}, SharedScene::access(scene.w0, 1, 12), SharedScene::knows({{scene.w0, 1}}));
    CHECK(scene.rules() == kNone);
    scene.write({64, 68}, SharedScene::access(scene.w0, 2, 10), SharedScene::knows({{scene.w0, 2}}));  // the next value
    CHECK(scene.rules() == std::vector{CheckRule::WriteOverWrite, CheckRule::OverwriteBeforeRead});
  }
  SECTION("the same instruction at many places") {
    const std::vector<ByteRange> both{{64, 68}, {80, 84}};
    scene.shadow.write(both, SharedScene::access(scene.w1, 1, 10), stranger);
    CHECK(scene.rules() == std::vector{CheckRule::WriteOverWrite});
  }
}

TEST_CASE("atomics do not race among themselves") {
  SharedScene scene;
  ShadowAccess first = SharedScene::access(scene.w0, 1, 10), second = SharedScene::access(scene.w1, 1, 11);
  first.strong = second.strong = true;
  scene.write({0, 4}, first, SharedScene::knows({{scene.w0, 1}}));
  scene.write({0, 4}, second, SharedScene::knows({{scene.w1, 1}}));
  scene.read({0, 4}, second, SharedScene::knows({{scene.w1, 1}}));
  CHECK(scene.rules() == kNone);
  // A plain read must know both.
  scene.read({0, 4}, SharedScene::access(scene.w1, 1, 12), SharedScene::knows({{scene.w1, 1}}));
  CHECK(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
}

TEST_CASE("bytes of one word have writers of their own") {
  SharedScene scene;
  scene.write({0, 2}, SharedScene::access(scene.w0, 1, 10), SharedScene::knows({{scene.w0, 1}}));
  scene.write({2, 4}, SharedScene::access(scene.w1, 1, 11), SharedScene::knows({{scene.w1, 1}}));
  CHECK(scene.rules() == kNone);
  CHECK(scene.shadow.written_at(1) == 10);
  CHECK(scene.shadow.written_at(2) == 11);
  CHECK(scene.shadow.written_by(3) == scene.w1);
  CHECK(scene.shadow.written_at(4) == -1);
  CHECK(scene.shadow.written_at(kBytes + 4) == -1);
  scene.read({0, 4}, SharedScene::access(scene.w0, 1, 12), SharedScene::knows({{scene.w0, 1}}));
  REQUIRE(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
  CHECK_THAT(scene.findings.all().front().sentence, Catch::Contains("(2 bytes)"));
}

TEST_CASE("a product reads nothing that nobody wrote") {
  SharedScene scene;
  scene.write({0, 64}, SharedScene::access(scene.barrier, 1, 10, Proxy::Async), SharedScene::knows({}));
  scene.read({0, 128}, SharedScene::access(scene.queue, 1, 12, Proxy::Async), SharedScene::knows({{scene.barrier, 1}}));
  CHECK(scene.rules() == kNone);
  scene.read({256, 512}, SharedScene::access(scene.queue, 1, 13, Proxy::Async), SharedScene::knows({{scene.barrier, 1}}));
  CHECK(scene.rules() == std::vector{CheckRule::ReadBeforeReady});
}

TEST_CASE("what lies beyond the memory is not kept") {
  SharedScene scene;
  scene.write({kBytes - 4, kBytes + 64}, SharedScene::access(scene.w0, 1, 10), SharedScene::knows({{scene.w0, 1}}));
  scene.read({kBytes + 8, kBytes + 16}, SharedScene::access(scene.w1, 1, 10), SharedScene::knows({}));
  CHECK(scene.rules() == kNone);
}

namespace {

constexpr unsigned kModelled = 192;  ///< bytes

/// Every access since the last write, for each byte: the same rules, by hand.
struct ByteModel {
  struct Past {
    ShadowAccess access;
    bool write;
  };
  std::vector<std::vector<Past>> bytes = std::vector<std::vector<Past>>(kModelled);

  using Said = std::set<std::pair<CheckRule, int>>;  ///< rule, pc
  Said said;

  void access(std::span<const ByteRange> where, const ShadowAccess& by, const KnownClocks& known, bool write) {
    std::set<std::uint32_t> touched;
    for (const ByteRange& range : where)
      for (std::uint32_t at = range.begin; at < range.end; ++at) touched.insert(at);
    bool any = false;
    for (const std::uint32_t at : touched) any = one(bytes[at], by, known, write) || any;
    if (!write && by.proxy == Proxy::Async && !touched.empty() && !any) said.insert({CheckRule::ReadBeforeReady, by.pc});
  }

  /// Whether somebody ever wrote the byte.
  bool one(std::vector<Past>& past, const ShadowAccess& by, const KnownClocks& known, bool write) {
    bool written = false;
    const bool read_back = std::ranges::any_of(past, [](const Past& p) { return !p.write && p.access.proxy == Proxy::Generic; });
    for (const Past& p : past) {
      written = written || p.write;
      const bool knows = known.seen.at(p.access.by) >= p.access.epoch || (p.access.strong && by.strong);
      const bool fenced = by.proxy == Proxy::Generic || p.access.proxy == Proxy::Async || known.async.at(p.access.by) >= p.access.epoch;
      if (p.write && !knows) said.insert({write ? CheckRule::WriteOverWrite : CheckRule::ReadBeforeReady, by.pc});
      if (p.write && knows && !fenced)
        said.insert({write && read_back ? CheckRule::NoFenceBeforeCopy : CheckRule::MissingProxyFence, by.pc});
      if (!p.write && write && !knows) said.insert({CheckRule::OverwriteBeforeRead, by.pc});
    }
    if (write)
      std::erase_if(past, [&](const Past& p) {
        return !(p.access.strong && by.strong && p.access.by != by.by && known.seen.at(p.access.by) < p.access.epoch);
      });
    past.push_back({by, write});
    return written;
  }

  void settle(std::span<const ByteRange> where, Component by, int pc, Epoch epoch) {
    for (const ByteRange& range : where)
      for (std::uint32_t at = range.begin; at < range.end; ++at)
        for (Past& p : bytes[at])
          if (p.access.by == by && p.access.pc == pc && p.access.epoch == kPending) p.access.epoch = epoch;
  }
};

}  // namespace

TEST_CASE("random accesses: the shadow says what a model of every byte says") {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
    SharedScene scene;
    ByteModel model;
    std::vector<Epoch> epoch(4, 1);
    std::vector<std::pair<ByteRange, int>> pending;
    for (int step = 0; step < 120; ++step) {
      const unsigned who = below(4);
      const bool copy = who == 3, async = who >= 2;
      // Copies move 16 bytes or more.
      const unsigned grain = copy ? 16 : below(3) == 0 ? 1 : 4;
      std::vector<ByteRange> where;
      for (unsigned i = 0; i <= below(3); ++i) {
        const unsigned begin = below(kModelled / grain) * grain;
        where.push_back({begin, std::min(kModelled, begin + (1 + below(6)) * grain)});
      }
      KnownClocks known;
      for (Component c = 0; c < 4; ++c) {
        known.seen.raise(c, c == who && !async ? epoch[c] : below(3) == 0 ? below(epoch[c] + 1) : epoch[c]);
        known.async.raise(c, below(2) == 0 ? known.seen.at(c) : below(known.seen.at(c) + 1));
      }
      // A pc of its own, so that each access's findings are told apart; one of two places would be taken for one value.
      ShadowAccess by =
          SharedScene::access(static_cast<Component>(who), copy ? kPending : epoch[who], step, async ? Proxy::Async : Proxy::Generic);
      by.strong = !async && below(4) == 0;
      const bool write = copy || (!async && below(2) == 0);
      if (write)
        scene.shadow.write(where, by, known);
      else
        scene.shadow.read(where, by, known);
      model.access(where, by, known, write);
      if (copy) {
        for (const ByteRange& range : where) pending.push_back({range, step});
      } else if (below(3) == 0) {
        ++epoch[who];
      }
      if (!pending.empty() && below(2) == 0) {
        const auto [range, pc] = pending.back();
        pending.pop_back();
        ++epoch[3];
        scene.shadow.settle(std::span(&range, 1), 3, pc, epoch[3]);
        model.settle(std::span(&range, 1), 3, pc, epoch[3]);
      }
    }
    ByteModel::Said said;
    for (const CheckFinding& finding : scene.findings.all()) said.insert({finding.rule, finding.pc});
    REQUIRE(said == model.said);
  }
}
