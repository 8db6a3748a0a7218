// The palette, driven as a person would.
#include <algorithm>
#include <catch2/catch.hpp>

#include "app/session/commands.h"
#include "app/window/frame/palette.h"
#include "tests/support/fake_solver.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

struct Solved : Harness {
  Solved() : Harness(test::solve_toy) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    wait_for_solver();
  }
};

}  // namespace

TEST_CASE("the palette finds ops, commands, tabs, kernels and machines, and does them", "[ui]") {
  Solved h;
  h.key(Key::P, {.ctrl = true});
  REQUIRE(h.has("palette/field"));
  h.type("P");
  REQUIRE(h.has("palette/op/P"));
  h.click("palette/op/P");
  CHECK_FALSE(h.has("palette/field"));
  CHECK(h.session().selection().primary() == OpId(1));

  h.click("toolbar/find");
  h.type("units");
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().view().tab == BottomTab::Units);

  h.key(Key::P, {.ctrl = true});
  h.type("lghtth");
  REQUIRE(h.has("palette/action/light"));
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().settings().theme == ThemeName::Light);

  h.key(Key::P, {.ctrl = true});
  h.type("gemm_hopper");
  REQUIRE(h.has("palette/kernel/gemm_hopper"));
  h.click("palette/kernel/gemm_hopper");
  CHECK(h.session().content().kernel->name == "gemm_hopper");
}

TEST_CASE("letters belong to the palette from the moment it is called, and Enter takes what they say, however slow the frames", "[ui]") {
  Solved h;
  // A slow frame: everything is typed before it is drawn.
  feed_modifiers(true, false, false);
  feed_key(Key::P, true);
  feed_text("gemm_h");
  h.frame(1);
  feed_modifiers(false, false, false);
  feed_key(Key::P, false);
  feed_text("opper");
  feed_key(Key::E, true);  // a letter that would ask a question
  h.frame(1);
  feed_key(Key::E, false);
  feed_key(Key::Enter, true);
  h.frame(1);
  feed_key(Key::Enter, false);
  h.frame(3);
  CHECK(h.session().content().kernel->name == "gemm_hopper");
  CHECK_FALSE(h.session().asking());

  // The field goes on behind what was typed early.
  h.key(Key::P, {.ctrl = true});
  h.type("layer");
  h.type("nor");
  feed_text("m");
  feed_key(Key::Enter, true);
  h.frame(1);
  feed_key(Key::Enter, false);
  h.frame(3);
  CHECK(h.session().content().kernel->name == "layernorm");
}

TEST_CASE("a kernel of another architecture takes the machine that runs it, and a machine can be typed beside it", "[ui]") {
  Harness h(test::solve_toy);
  h.session().apply(OpenPair{"attention_forward_hopper", "h100", false});
  const auto open = [&](const char* typed) {
    h.key(Key::P, {.ctrl = true});
    h.type(typed);
    h.key(Key::Enter);
    h.frame(2);
    CHECK_FALSE(h.session().error());
    REQUIRE(h.session().content().problem);
    return h.session().content().kernel->name + " on " + h.session().content().machine->name;
  };
  CHECK(open("attention_forward_blackwell") == "attention_forward_blackwell on b200");
  CHECK(open("attention_forward_hopper") == "attention_forward_hopper on h100");
  CHECK(open("gemm_hopper h200") == "gemm_hopper on h200");
  CHECK(open("gemm_fp8_hopper") == "gemm_fp8_hopper on h200");  // that runs it too
  h.key(Key::P, {.ctrl = true});
  h.type("attention b200");
  CHECK_FALSE(h.names("palette/kernel/attention").empty());
  for (const std::string& name : h.names("palette/kernel/")) CHECK(name.find("hopper") == std::string::npos);
}

TEST_CASE("with > the palette lists commands only, and says why some cannot be done", "[ui]") {
  Solved h;
  h.key(Key::P, {.ctrl = true, .shift = true});
  REQUIRE(h.has("palette/field"));
  CHECK(h.names("palette/op/").empty());
  h.type("run and mea");
  REQUIRE(h.has("palette/action/run_kernel"));
  h.key(Key::Enter);  // cannot be done: stays open
  CHECK(h.has("palette/action/run_kernel"));
  h.key(Key::Escape);
  CHECK_FALSE(h.has("palette/field"));
}

TEST_CASE("arrows move the choice, what was used last comes first, a click beside it closes it", "[ui]") {
  Solved h;
  h.key(Key::P, {.ctrl = true});
  CHECK(h.window().ui().of<PaletteState>().choice == 0);
  h.key(Key::Down);
  h.key(Key::Down);
  CHECK(h.window().ui().of<PaletteState>().choice == 2);
  h.key(Key::Up);
  CHECK(h.window().ui().of<PaletteState>().choice == 1);
  h.type("pareto");
  h.key(Key::Enter);
  h.frame(2);
  REQUIRE_FALSE(h.session().settings().used.empty());
  const std::string used = h.session().settings().used.front();
  CHECK(used.find("pareto") != std::string::npos);
  h.key(Key::P, {.ctrl = true});
  const auto field = h.at("palette/field"), first = h.at("palette/" + used);
  CHECK(first.y0 - field.y1 < 12);
  h.click_at(20, 850);
  CHECK_FALSE(h.has("palette/field"));
}

TEST_CASE("find op steps through its matches with Enter and F3", "[ui]") {
  Solved h;
  h.key(Key::F, {.ctrl = true});
  REQUIRE(h.has("palette/field"));
  CHECK(h.names("palette/action/").empty());
  const std::size_t count = h.names("palette/op/").size();
  CHECK(count == 3);
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().selection().primary() == OpId(0));
  CHECK(h.has("palette/field"));
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().selection().primary() == OpId(1));
  h.key(Key::Escape);
  h.key(Key::F, {.ctrl = true});
  h.type("o");
  h.key(Key::Enter);
  h.frame(2);
  CHECK(h.session().selection().primary() == OpId(2));
  CHECK_FALSE(h.has("palette/field"));  // the only match
  h.key(Key::F3);
  h.frame(2);
  CHECK(h.session().selection().primary() == OpId(2));
}

TEST_CASE("the palette is usable at any size", "[ui]") {
  for (const auto& [width, height, scale] : {std::array{120, 90, 100}, {640, 400, 300}, {1280, 720, 200}, {1920, 1080, 50}}) {
    INFO(width << " x " << height << " at " << scale);
    Harness h(test::solve_toy, width, height);
    h.session().apply(use_scale(scale));
    h.key(Key::P, {.ctrl = true});
    h.type("toy");
    const auto field = h.at("palette/field");
    CHECK(field.x0 >= 0);
    CHECK(field.x1 <= static_cast<float>(width));
    h.key(Key::Escape);
  }
}
