// Each rule of tensor memory: a sequence that breaks it, and one that does not.
#include <catch2/catch.hpp>

#include "ptx/judge/tensor_shadow.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

struct TensorScene {
  Components components;
  Component w0 = components.add("w0"), w1 = components.add("w1"), products = components.add("products");
  Findings findings;
  TensorShadow memory{components, findings};

  Barriers::By by(int warp, int pc) const { return {warp, pc, static_cast<Component>(warp), 0}; }
  static ShadowAccess access(Component by, Epoch epoch, int pc) {
    return {.by = by, .epoch = epoch, .pc = pc, .warp = by, .what = "access"};
  }
  /// It was waited for and fenced.
  static KnownClocks knows(std::initializer_list<std::pair<Component, Epoch>> seen) {
    KnownClocks known;
    for (const auto& [component, epoch] : seen) known.seen.raise(component, epoch);
    known.tensor = known.seen;
    return known;
  }
  void read(const TensorCells& where, const ShadowAccess& access, const KnownClocks& known) {
    memory.read(std::span(&where, 1), access, known, by(access.warp, access.pc));
  }
  void write(const TensorCells& where, const ShadowAccess& access, const KnownClocks& known) {
    memory.write(std::span(&where, 1), access, known, by(access.warp, access.pc));
  }
  std::vector<CheckRule> rules() const {
    std::vector<CheckRule> rules;
    for (const CheckFinding& finding : findings.all()) rules.push_back(finding.rule);
    return rules;
  }
};

const std::vector<CheckRule> kNone;

}  // namespace

TEST_CASE("columns of tensor memory are allocated, freed and allocated again") {
  TensorScene scene;
  CHECK(scene.memory.allocate(256, scene.by(0, 1)) == 0);
  CHECK(scene.memory.allocate(128, scene.by(0, 2)) == 256);
  CHECK(scene.memory.allocate(256, scene.by(0, 3)) == std::nullopt);
  scene.memory.free(0, 256, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({}), scene.by(0, 4));
  CHECK(scene.memory.allocate(32, scene.by(0, 5)) == 0);
  CHECK(scene.memory.allocate(128, scene.by(0, 6)) == 32);
  CHECK(scene.rules() == kNone);
  scene.memory.check_end();
  CHECK(scene.rules() == std::vector(3, CheckRule::TensorMemoryNotFreed));
}

TEST_CASE("wrong numbers of columns, and what is freed twice") {
  TensorScene scene;
  SECTION("no power of two") { CHECK(scene.memory.allocate(48, scene.by(0, 1)) == 0); }
  SECTION("too few") { CHECK(scene.memory.allocate(16, scene.by(0, 1)) == 0); }
  SECTION("behind relinquish_alloc_permit") {
    scene.memory.relinquish();
    CHECK(scene.memory.allocate(32, scene.by(0, 1)) == 0);
  }
  SECTION("freed twice") {
    scene.memory.allocate(64, scene.by(0, 1));
    scene.memory.free(0, 64, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({}), scene.by(0, 4));
    CHECK(scene.rules() == kNone);
    scene.memory.free(0, 64, TensorScene::access(scene.w0, 1, 5), TensorScene::knows({}), scene.by(0, 5));
  }
  SECTION("freed in part") {
    scene.memory.allocate(64, scene.by(0, 1));
    scene.memory.free(0, 32, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({}), scene.by(0, 4));
  }
  SECTION("used where nothing is allocated") {
    scene.memory.allocate(64, scene.by(0, 1));
    scene.memory.allocate(64, scene.by(0, 2));
    scene.write({0xFF, 32, 96}, TensorScene::access(scene.products, 1, 4), TensorScene::knows({}));
    CHECK(scene.rules() == kNone);
    scene.write({0xFF, 64, 128}, TensorScene::access(scene.products, 1, 5), TensorScene::knows({}));
  }
  SECTION("used beyond the last column") {
    scene.memory.allocate(512, scene.by(0, 1));
    scene.write({0xFF, 500, 16}, TensorScene::access(scene.products, 1, 5), TensorScene::knows({}));
  }
  CHECK(scene.rules() == std::vector{CheckRule::TensorMemoryColumns});
}

TEST_CASE("a warp reaches its own lanes") {
  TensorScene scene;
  scene.memory.check_lanes(32, 5, scene.by(0, 1));
  scene.memory.check_lanes(48, 1, scene.by(0, 1));
  CHECK(scene.rules() == kNone);
  scene.memory.check_lanes(64, 5, scene.by(0, 1));
  CHECK(scene.rules() == std::vector{CheckRule::TensorMemoryLanes});
}

TEST_CASE("cells of tensor memory are waited for") {
  TensorScene scene;
  scene.memory.allocate(512, scene.by(0, 1));
  scene.write({0xFF, 0, 128}, TensorScene::access(scene.products, 1, 2), TensorScene::knows({}));
  SECTION("products are in order among themselves") {
    scene.read({0xFF, 0, 128}, TensorScene::access(scene.products, 2, 3), TensorScene::knows({}));
    scene.write({0xFF, 0, 128}, TensorScene::access(scene.products, 2, 3), TensorScene::knows({}));
    CHECK(scene.rules() == kNone);
  }
  SECTION("a load behind the commit's barrier") {
    scene.read({0x03, 0, 32}, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({{scene.products, 1}}));
    CHECK(scene.rules() == kNone);
    SECTION("the next product waits for the load") {
      scene.write({0xFF, 0, 128}, TensorScene::access(scene.products, 2, 2), TensorScene::knows({{scene.w0, 1}}));
      CHECK(scene.rules() == kNone);
    }
    SECTION("the next product does not") {
      scene.write({0xFF, 0, 128}, TensorScene::access(scene.products, 2, 2), TensorScene::knows({}));
      CHECK(scene.rules() == std::vector{CheckRule::TensorMemoryRace});
    }
    SECTION("the next product is elsewhere") {
      scene.write({0xFF, 128, 128}, TensorScene::access(scene.products, 2, 2), TensorScene::knows({}));
      scene.write({0xFC, 0, 128}, TensorScene::access(scene.products, 2, 2), TensorScene::knows({}));
      CHECK(scene.rules() == kNone);
    }
    SECTION("freed with a load that nobody waited for") {
      scene.memory.free(0, 512, TensorScene::access(scene.w1, 1, 9), TensorScene::knows({{scene.products, 1}}), scene.by(1, 9));
      CHECK(scene.rules() == std::vector{CheckRule::TensorMemoryRace});
    }
  }
  SECTION("a load before it") {
    scene.read({0x03, 0, 32}, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({}));
    REQUIRE(scene.rules() == std::vector{CheckRule::TensorMemoryRace});
    CHECK(scene.findings.all().front().related.front().pc == 2);
  }
  SECTION("a load that waited, without the fences") {
    KnownClocks known = TensorScene::knows({{scene.products, 1}});
    known.tensor = {};
    scene.read({0x03, 0, 32}, TensorScene::access(scene.w0, 1, 4), known);
    CHECK(scene.rules() == std::vector{CheckRule::MissingTensorFence});
  }
  SECTION("a load of what nothing wrote") {
    scene.read({0x03, 256, 32}, TensorScene::access(scene.w0, 1, 4), TensorScene::knows({}));
    CHECK(scene.rules() == std::vector{CheckRule::TensorMemoryRace});
  }
}
