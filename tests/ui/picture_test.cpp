// Pictures of the window, rendered without a display and compared with golden ones. The built-in font keeps them
// independent of the machine; HEDDLE_UPDATE_GOLDENS=1 writes them anew.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "app/platform/offscreen_platform.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/ui/harness.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

/// Share of pixels of which a channel differs by more than 8; 1 when the sizes differ.
double difference(const Picture& a, const Picture& b, Picture& marked) {
  if (a.width != b.width || a.height != b.height) return 1;
  marked = a;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.rgba.size(); i += 4) {
    bool far = false;
    for (std::size_t c = 0; c < 3; ++c) far |= std::abs(int{a.rgba[i + c]} - int{b.rgba[i + c]}) > 8;
    different += far;
    for (std::size_t c = 0; c < 3; ++c)
      marked.rgba[i + c] = static_cast<std::uint8_t>(far ? (c == 0 ? 255 : 0) : a.rgba[i + c] / 4);
  }
  return static_cast<double>(different) / (static_cast<double>(a.rgba.size()) / 4);
}

void compare(const std::string& name, const Picture& actual) {
  const std::string golden = test::repository_path("tests/golden/" + name + ".png");
  if (const char* update = std::getenv("HEDDLE_UPDATE_GOLDENS"); update && *update) {
    REQUIRE(write_png(golden, actual));
    return;
  }
  const auto expected = read_png(golden);
  REQUIRE(expected);
  Picture marked;
  const double share = difference(actual, *expected, marked);
  if (share > 0.005) {
    (void)write_png(name + ".actual.png", actual);
    (void)write_png(name + ".expected.png", *expected);
    if (!marked.rgba.empty()) (void)write_png(name + ".difference.png", marked);
  }
  INFO(name << ": actual, expected and difference are in the working folder");
  CHECK(share <= 0.005);
}

/// A window on an off-screen platform, or nothing where there is no EGL.
std::unique_ptr<Harness> offscreen(int width, int height) {
  auto platform = OffscreenPlatform::create(width, height, true);
  if (!platform) {
    WARN("skipped: " << to_string(platform.error()));
    return nullptr;
  }
  return std::make_unique<Harness>(test::solve_toy, std::move(*platform));
}

Picture picture(Harness& h) {
  h.frame(40);
  return dynamic_cast<OffscreenPlatform&>(h.platform()).read_picture();
}

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
  h->session().apply(ShowTab{BottomTab::Units});
  for (const auto& [theme, name] : {std::pair{ThemeName::Dark, "window_toy_dark"},
                                    {ThemeName::Light, "window_toy_light"},
                                    {ThemeName::HighContrast, "window_toy_high_contrast"}}) {
    h->session().apply(SetTheme{theme});
    compare(name, picture(*h));
  }
}

TEST_CASE("the pipeline of a solved toy looks as it should", "[ui]") {
  const auto h = offscreen(1100, 640);
  if (!h) return;
  h->session().apply(OpenPair{"toy_fig1", "toy", true});
  h->wait_for_solver();
  h->session().apply(SetMode{GanttMode::Pipeline});
  h->session().apply(ShowTab{BottomTab::Ops});
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
