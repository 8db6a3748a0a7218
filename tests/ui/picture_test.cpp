// Pictures of the window, compared with golden ones (tests/support/window/pictures.h), and pictures as files.
#include <catch2/catch.hpp>

#include "app/session/commands.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/window/pictures.h"

using namespace heddle;
using namespace heddle::app;
using test::compare;
using test::Harness;
using test::picture;

namespace {

std::unique_ptr<Harness> offscreen(int width, int height) { return test::offscreen(width, height, test::solve_toy); }

}  // namespace

TEST_CASE("the welcome screen looks as it should", "[ui]") {
  const auto h = offscreen(960, 600);
  if (!h) return;
  compare("window_welcome", picture(*h));
}

TEST_CASE("a solved toy looks as it should in every theme", "[ui]") {
  const auto h = offscreen(1100, 640);
  if (!h) return;
  h->session().apply(OpenPair{"toy_fig1", "toy", true});
  h->wait_for_solver();
  h->session().apply(SelectOp{OpId(1)});
  h->session().apply(show_tab(BottomTab::Units));
  for (const auto& [theme, name] : {std::pair{ThemeName::Dark, "window_toy_dark"},
                                    {ThemeName::Light, "window_toy_light"},
                                    {ThemeName::HighContrast, "window_toy_high_contrast"}}) {
    h->session().apply(use_theme(theme));
    compare(name, picture(*h));
  }
}

TEST_CASE("the pipeline of a solved toy looks as it should", "[ui]") {
  const auto h = offscreen(1100, 640);
  if (!h) return;
  h->session().apply(OpenPair{"toy_fig1", "toy", true});
  h->wait_for_solver();
  h->session().apply(SetMode{GanttMode::Pipeline});
  h->session().apply(show_tab(BottomTab::Ops));
  compare("window_toy_pipeline", picture(*h));
}

TEST_CASE("two renderings of the same state are the same picture", "[ui]") {
  const auto h = offscreen(640, 400);
  if (!h) return;
  CHECK(picture(*h).rgba == picture(*h).rgba);
}

TEST_CASE("pictures survive the way through a file, and impossible sizes are refused", "[ui]") {
  const Picture small{2, 1, {1, 2, 3, 255, 250, 251, 252, 255}};
  const std::string path = "heddle_picture_test.png";
  REQUIRE(write_png(path, small));
  const auto back = read_png(path);
  REQUIRE(back);
  CHECK(back->rgba == small.rgba);
  std::remove(path.c_str());
  CHECK_FALSE(write_png("/no/such/folder/x.png", small));
  CHECK_FALSE(OffscreenPlatform::create(0, 10, true));
  CHECK_FALSE(OffscreenPlatform::create(100000, 10, true));
}
