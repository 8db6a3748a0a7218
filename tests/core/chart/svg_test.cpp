// The SVG timeline: the golden toy, well-formedness, escaping, options.
#include "core/chart/svg.h"

#include <catch2/catch.hpp>
#include <random>

#include "tests/support/gantt_fixture.h"
#include "tests/support/golden.h"

using namespace heddle;

namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

/// Empty when every element is closed in order and no raw '<' or '&' is left in text.
std::string fault_of(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < xml.size(); ++at) {
    if (xml[at] == '&' && xml.find(';', at) > at + 6) return "bare & at " + std::to_string(at);
    if (xml[at] != '<') continue;
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return "tag without end";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag.find('<') != std::string::npos) return "tag in a tag: " + tag;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected " + tag;
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
    at = end;
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

}  // namespace

TEST_CASE("the toy's picture is the golden one", "[core]") {
  const test::GanttCase toy = test::toy_case();
  for (const GanttMode mode : {GanttMode::Steady, GanttMode::Pipeline}) {
    GanttOptions options;
    options.mode = mode;
    SvgOptions svg;
    svg.title = "toy_fig1 on toy, II 2";
    if (mode == GanttMode::Pipeline) svg.theme = SvgTheme::Dark;
    const std::string picture = gantt_svg(build_gantt(toy.problem, toy.schedule, options), svg);
    CHECK(test::golden_difference(std::string("gantt_toy_") + to_string(mode) + ".svg", picture) == "");
  }
}

TEST_CASE("every op, every group and every lane has its name in the picture", "[core]") {
  const test::GanttCase c = test::attention_case();
  const GanttModel model = build_gantt(c.problem, c.schedule);
  const std::string picture = gantt_svg(model);
  const auto has = [&](const std::string& name) { return picture.find(">" + name + "</text>") != std::string::npos; };
  for (const Op& op : c.problem.ops) {
    CAPTURE(op.name);
    CHECK(has(op.name));
  }
  for (const GanttGroup& group : model.groups) CHECK(has(group.label));
  for (const GanttLane& lane : model.lanes) {
    CAPTURE(lane.label);
    CHECK(has(lane.label));
    CHECK(has(lane.detail));
  }
}

TEST_CASE("names are escaped and control characters vanish", "[core]") {
  test::GanttCase c = test::attention_case();
  c.problem.ops[2].name = "a<b> & \"c\" 'd'\x01";
  c.schedule.groups[0].role = "<producer>";
  const std::string picture = gantt_svg(build_gantt(c.problem, c.schedule));
  CHECK(fault_of(picture) == "");
  CHECK(picture.find("a<b>") == std::string::npos);
  CHECK(picture.find("a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; ") != std::string::npos);
  CHECK(picture.find('\x01') == std::string::npos);
}

TEST_CASE("every bar has a tooltip and the class of its role; there are no scripts", "[core]") {
  test::GanttCase c = test::attention_case();
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  const GanttModel model = build_gantt(c.problem, c.schedule, options);
  const std::string picture = gantt_svg(model);
  CHECK(count(picture, "<g class=\"bar") == model.bars.size());
  CHECK(count(picture, "<title>") == model.bars.size() + model.lanes.size() + 1);
  CHECK(picture.find("<script") == std::string::npos);
  CHECK(picture.find("href") == std::string::npos);
  CHECK(picture.find("class=\"tensor") != std::string::npos);
}

TEST_CASE("a range leaves out what lies outside; a senseless one shows everything", "[core]") {
  const test::GanttCase c = test::attention_case();
  const GanttModel model = build_gantt(c.problem, c.schedule);
  SvgOptions options;
  options.begin = 100;
  options.end = 700;
  const std::string part = gantt_svg(model, options);
  CHECK(part.find("<title>exp2") == std::string::npos);
  CHECK(part.find("<title>load V") != std::string::npos);
  options.end = 50;
  CHECK(count(gantt_svg(model, options), "<g class=\"bar") == model.bars.size());
  options.lanes = false;
  CHECK(gantt_svg(model, options).find("<title>TC:") == std::string::npos);
}

TEST_CASE("pictures of random schedules are well formed and repeatable", "[core]") {
  const unsigned seed = 77;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    const test::GanttCase c = test::random_case(random);
    GanttOptions options;
    options.mode = static_cast<GanttMode>(round % 3);
    SvgOptions svg;
    svg.theme = round % 2 ? SvgTheme::Dark : SvgTheme::Light;
    svg.width = 100 + round * 40;
    const GanttModel model = build_gantt(c.problem, c.schedule, options);
    const std::string picture = gantt_svg(model, svg);
    REQUIRE(fault_of(picture) == "");
    REQUIRE(picture.find("nan") == std::string::npos);
    REQUIRE(picture.find("inf") == std::string::npos);
    REQUIRE(picture == gantt_svg(model, svg));
  }
}

TEST_CASE("two charts in one picture lie over each other on one axis", "[core]") {
  const test::GanttCase toy = test::toy_case();
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  const GanttModel a = build_gantt(toy.problem, toy.schedule, options);
  Schedule later = toy.schedule;
  for (Placement& place : later.ops) place.start += 3;
  const GanttModel b = build_gantt(toy.problem, later, options);
  SvgOptions svg;
  svg.title = "A <first>";
  const std::string pair = gantt_pair_svg(a, b, svg, "B & second");
  CHECK(fault_of(pair).empty());
  CHECK(count(pair, "<svg") == 1);
  CHECK(count(pair, "<style>") == 1);
  CHECK(count(pair, "class=\"bar") == a.bars.size() + b.bars.size());
  CHECK(count(pair, "A &lt;first&gt;</text>") == 1);
  CHECK(count(pair, "B &amp; second</text>") == 1);
  // One axis: the same model twice is the same picture twice, the second time lower.
  const std::string twice = gantt_pair_svg(a, a, svg, svg.title);
  std::vector<std::string> left;
  for (std::size_t at = twice.find("<rect class=\"tensor"); at != std::string::npos; at = twice.find("<rect class=\"tensor", at + 1)) {
    const std::size_t x = twice.find(" x=\"", at);
    left.push_back(twice.substr(x, twice.find(" y=", x) - x));
  }
  REQUIRE(left.size() % 2 == 0);
  for (std::size_t i = 0; i < left.size() / 2; ++i) CHECK(left[i] == left[i + left.size() / 2]);
  // A range that is empty shows everything.
  svg.begin = 5;
  svg.end = 5;
  CHECK(count(gantt_pair_svg(a, b, svg, "B"), "class=\"bar") == a.bars.size() + b.bars.size());
}
