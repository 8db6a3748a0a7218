// The chart as a page: everything is in it, nothing is loaded, no name breaks out of its place.
#include "core/answers/chart_page.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/answers/page_files.h"
#include "core/base/json.h"
#include "core/base/version.h"
#include "core/chart/svg.h"
#include "tests/support/gantt_fixture.h"
#include "tests/support/problem_builder.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

bool contains(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

std::string page_of(const test::GanttCase& c, const Verdict& verdict = {}, int iterations = 3) {
  ChartPage page{c.problem, c.schedule, verdict};
  page.iterations = iterations;
  return chart_html(page);
}

/// What the script reads.
Json data_of(const std::string& html) {
  const std::string tag = "id=\"data\">";
  const std::size_t begin = html.find(tag) + tag.size(), end = html.find("</script>", begin);
  const Result<Json> data = parse_json(html.substr(begin, end - begin), "data");
  REQUIRE(data.ok());
  return *data;
}

/// Empty where every element is closed in order; what scripts and styles hold is not looked at.
std::string fault_of(const std::string& html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string::npos) return "tag without end";
    const std::string tag = html.substr(at + 1, end - at - 1), name = tag.substr(0, tag.find(' '));
    at = end;
    if (name == "!DOCTYPE" || name == "meta" || tag.back() == '/') continue;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected " + tag;
      open.pop_back();
      continue;
    }
    open.push_back(name);
    if (name == "script" || name == "style") at = html.find("</" + name, at);
  }
  return open.empty() ? "" : "never closed: " + open.back();
}

}  // namespace

TEST_CASE("a page holds every op in its table, its data and its bars", "[core]") {
  const test::GanttCase c = test::attention_case();
  const std::string html = page_of(c);
  CHECK(fault_of(html) == "");
  const Json data = data_of(html);
  REQUIRE(data.find("ops")->items()->size() == c.problem.ops.size());
  for (std::size_t v = 0; v < c.problem.ops.size(); ++v) {
    CHECK(*(*data.find("ops")->items())[v].find("name")->string() == c.problem.ops[v].name);
    CHECK(contains(html, "<tr data-op=\"" + std::to_string(v) + "\">"));
  }
  const auto& views = *data.find("views")->items();
  REQUIRE(views.size() == 2);
  CHECK(*views[0].find("steady")->boolean());
  CHECK(views[1].find("bars")->items()->size() == 3 * c.problem.ops.size());
  CHECK(*data.find("ii")->integer() == c.schedule.ii);
  CHECK(contains(html, std::string("Heddle ") + version()));
}

TEST_CASE("a page has lanes of barriers where they are asked for, each stretch with its sentence", "[core]") {
  const test::GanttCase c = test::attention_case();
  const Verdict verdict;
  ChartPage page{c.problem, c.schedule, verdict};
  const auto lanes_of = [&](std::size_t view) {
    return *(*data_of(chart_html(page)).find("views")->items())[view].find("barriers")->items();
  };
  CHECK(lanes_of(0).empty());
  page.barriers = true;
  GanttOptions options;
  options.barriers = true;
  const GanttModel steady = build_gantt(c.problem, c.schedule, options);
  REQUIRE_FALSE(steady.barriers.empty());
  const auto lanes = lanes_of(0);
  REQUIRE(lanes.size() == steady.barriers.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) CHECK(lanes[i].find("spans")->items()->size() == steady.barriers[i].spans.size());
  CHECK_FALSE(lanes_of(1).empty());
  CHECK(fault_of(chart_html(page)) == "");
}

TEST_CASE("a page has lanes of queues where they are asked for, with a strip for every slot and one for who waits", "[core]") {
  test::ProblemBuilder b({"TC", "TMA"});
  const OpId load = b.load("x", "TMA", 100, 300), product = b.async_op("mma", "TC", 200, 230, 32);
  b.ring(load, 16384, {{product, 0}}, 20);
  const test::GanttCase c{b.problem, test::place(b.problem, 200, {{0, 0}, {320, 1}})};
  const Verdict verdict;
  ChartPage page{c.problem, c.schedule, verdict};
  page.queues = true;
  GanttOptions options;
  options.queues = true;
  const GanttModel steady = build_gantt(c.problem, c.schedule, options);
  REQUIRE_FALSE(steady.queues.empty());
  const std::string html = chart_html(page);
  const Json data = data_of(html);
  const auto lanes = *(*data.find("views")->items())[0].find("barriers")->items();
  REQUIRE(lanes.size() == steady.queues.size());
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    CHECK(*lanes[i].find("slots")->integer() == steady.queues[i].depth + 1);
    CHECK(lanes[i].find("spans")->items()->size() >= steady.queues[i].marks.size());
  }
  CHECK(fault_of(html) == "");
  // The same in the picture.
  const std::string svg = gantt_svg(steady);
  for (const QueueLane& lane : steady.queues) CHECK(contains(svg, lane.label));
  CHECK(contains(svg, "slots taken"));
}

TEST_CASE("a page loads nothing from anywhere", "[core]") {
  const std::string html = page_of(test::attention_case());
  CHECK(contains(html, "default-src 'none'"));
  for (const char* way : {" src=", " href=", "@import", "url(http", "fetch(", "XMLHttpRequest", "https://"}) {
    CAPTURE(way);
    CHECK_FALSE(contains(html, way));
  }
}

TEST_CASE("a page carries its style and its script, without what these say to people", "[core]") {
  const std::string html = page_of(test::attention_case());
  for (const EmbeddedFile& file : page_files()) {
    CAPTURE(file.name);
    REQUIRE(file.text.find("\n\n") != std::string_view::npos);
    const std::string element = file.name.ends_with(".css") ? "style" : "script", body(file.body());
    CHECK(contains(html, "<" + element + ">\n" + body + "</" + element + ">\n"));
    CHECK_FALSE(contains(html, std::string(file.text.substr(0, file.text.find('\n')))));
    CHECK_FALSE(contains(body, "</" + element));
  }
}

TEST_CASE("no name breaks out of a page", "[core]") {
  test::GanttCase c = test::attention_case();
  const std::string evil = "</script><script>alert(1)</script>";
  c.problem.kernel = c.problem.machine = c.schedule.name = evil;
  c.problem.changes = {evil};
  c.problem.ops[0].name = evil + "<!--";
  c.problem.ops[1].kind = "\"><img onerror=alert(1)>";
  c.schedule.groups[0].role = evil + "\x01\x1b[31m";
  const std::string html = page_of(c, Verdict{{{"unit", evil, {OpId(0)}}}});
  CHECK(fault_of(html) == "");
  CHECK(count(html, "<script") == 2);
  CHECK(count(html, "</script>") == 2);
  CHECK_FALSE(contains(html, "<img"));
  CHECK_FALSE(contains(html, "\x1b"));
  CHECK(*(*data_of(html).find("ops")->items())[0].find("name")->string() == evil + "<!--");
}

TEST_CASE("a page says how far its schedule is proved, and what was changed", "[core]") {
  test::GanttCase c = test::attention_case();
  CHECK(contains(page_of(c), "not proved"));
  c.problem.changes = {"TC.capacity=2", "QK.latency=3"};
  CHECK(contains(page_of(c), "· 2 changes</h1>"));
  CHECK(contains(page_of(c), "TC.capacity=2, QK.latency=3"));
  Certificate proof;
  proof.status = Status::Optimal;
  proof.lower_bound = c.schedule.ii;
  c.schedule.certificate = proof;
  CHECK(contains(page_of(c), "<span class=\"pill good\">proved</span>"));
  const std::string broken = page_of(c, Verdict{{{"unit", "TC is used twice", {OpId(0)}}}});
  CHECK(contains(broken, "<span class=\"pill bad\">invalid</span>"));
  CHECK(contains(broken, "unit: TC is used twice"));
}

TEST_CASE("only a simulation that gave numbers is called predicted", "[core]") {
  const test::GanttCase c = test::attention_case();
  const Verdict verdict;
  ChartPage page{c.problem, c.schedule, verdict};
  page.trust = "within 5 % of what was measured";
  CHECK_FALSE(contains(chart_html(page), page.trust));
  page.prediction.emplace();
  page.prediction->cycles = 123456;
  CHECK(contains(chart_html(page), "whole kernel, predicted: 123 456 cycles"));
  CHECK(contains(chart_html(page), page.trust));
  page.prediction->fault = "no grid";
  CHECK(contains(chart_html(page), "no prediction of the whole kernel: no grid"));
  CHECK_FALSE(contains(chart_html(page), page.trust));
}

TEST_CASE("pages of random schedules are well formed and repeatable", "[core]") {
  const unsigned seed = 170;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    const test::GanttCase c = test::random_case(random);
    const std::string html = page_of(c, {}, 1 + round % 5);
    REQUIRE(fault_of(html) == "");
    REQUIRE(data_of(html).find("ops")->items()->size() == c.problem.ops.size());
    REQUIRE(html == page_of(c, {}, 1 + round % 5));
  }
}

TEST_CASE("a page of 64 iterations of a large loop stays below a few megabytes", "[core]") {
  CHECK(page_of(test::large_case(40), {}, 64).size() < 1'000'000);
}
