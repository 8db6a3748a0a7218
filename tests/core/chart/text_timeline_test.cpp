// The text timeline: goldens of the toy, and what must hold for every schedule and every width.
#include "core/chart/text_timeline.h"

#include <catch2/catch.hpp>
#include <random>
#include <sstream>

#include "tests/support/gantt_fixture.h"
#include "tests/support/golden.h"

using namespace heddle;

namespace {

std::string draw(const test::GanttCase& c, GanttMode mode, const TextStyle& style) {
  GanttOptions options;
  options.mode = mode;
  return text_timeline(build_gantt(c.problem, c.schedule, options), style);
}

constexpr GanttMode kModes[] = {GanttMode::Steady, GanttMode::Unrolled, GanttMode::Pipeline};

}  // namespace

TEST_CASE("the toy's timeline is the golden one in every mode", "[core]") {
  for (GanttMode mode : kModes) {
    for (bool utf8 : {false, true}) {
      TextStyle style;
      style.width = 80;
      style.utf8 = utf8;
      const std::string name = std::string("timeline_toy_") + to_string(mode) + (utf8 ? "_utf8.txt" : "_ascii.txt");
      CHECK(test::golden_difference(name, draw(test::toy_case(), mode, style)) == "");
    }
  }
}

TEST_CASE("no line of a timeline is wider than the terminal", "[core]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const test::GanttCase c = test::random_case(random);
    for (GanttMode mode : kModes) {
      TextStyle style;
      style.width = 40 + static_cast<int>(random() % 160);
      style.utf8 = round % 2 == 0;
      std::istringstream lines(draw(c, mode, style));
      for (std::string line; std::getline(lines, line);) {
        INFO(line);
        CHECK(display_width(line) <= style.width);
        CHECK((line.empty() || line.back() != ' '));
      }
    }
  }
}

TEST_CASE("every op of a case that fits is named or keyed in its timeline", "[core]") {
  TextStyle style;
  style.width = 140;
  const test::GanttCase c = test::attention_case();
  const std::string text = draw(c, GanttMode::Steady, style);
  for (const char* name : {"load K", "load V", "QK", "exp2", "PV"}) CHECK(text.find(std::string("[") + name) != std::string::npos);
}

TEST_CASE("an ASCII timeline is ASCII and carries no colour codes unless asked", "[core]") {
  for (GanttMode mode : kModes) {
    TextStyle style;
    style.utf8 = false;
    for (char c : draw(test::attention_case(), mode, style)) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
    style.color = true;
    CHECK(draw(test::attention_case(), mode, style).find("\x1b[") != std::string::npos);
  }
}

TEST_CASE("names from files cannot steer the terminal", "[core]") {
  test::GanttCase c = test::toy_case();
  c.problem.ops[0].name = "\x1b[2J";
  c.schedule.groups[0].role = "a\rb\u009b31m";
  for (GanttMode mode : kModes) {
    const std::string text = draw(c, mode, {});
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
    CHECK(text.find("\u009b") == std::string::npos);
  }
}

TEST_CASE("tables align by characters, not bytes, and leave out empty columns", "[core]") {
  CHECK(text_table({{"name"}, {"empty"}, {"n", true}}, {{"é", "", "1"}, {"abcde", "", "10"}}) == "  name    n\n  é       1\n  abcde  10\n");
}
