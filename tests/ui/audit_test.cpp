// A compiler's dump in the window: import, audit, a finding on the chart, improve, compare, export.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "app/session/commands.h"
#include "core/library/dump_text.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;
using test::Harness;

namespace {

std::string scores() { return test::repository_path("tests/dumps/scores.schedule_graph.json"); }

}  // namespace

TEST_CASE("a dropped dump shows its schedule, its loops and both readings", "[ui]") {
  Harness h(test::solve_toy);
  h.drop(scores());
  h.frame(4);
  REQUIRE(h.session().content().dump());
  CHECK(h.has("dump/loop/0"));
  CHECK(h.has("dump/loop/1"));
  REQUIRE(h.has("dump/reading/issue-slots"));
  h.click("dump/reading/issue-slots");
  h.frame(3);
  CHECK(h.session().content().dump()->reading() == dump::DumpReading::IssueSlots);
  h.click("dump/loop/1");
  h.frame(3);
  CHECK(h.session().content().dump()->the_loop().id == 1);
  // From the op that runs it back to the inner loop.
  h.session().apply(SelectOp{OpId(0)});
  h.frame(3);
  REQUIRE(h.has("inspector/inner_loop"));
  h.click("inspector/inner_loop");
  h.frame(3);
  CHECK(h.session().content().dump()->the_loop().id == 0);
  h.key(Key::Z, {.ctrl = true});
  h.frame(3);
  CHECK(h.session().content().dump()->the_loop().id == 1);
}

TEST_CASE("the Audit tab says what it is for where no dump is open", "[ui]") {
  Harness h(test::solve_toy);
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  h.wait_for_solver();
  h.session().apply(show_tab(BottomTab::Audit));
  h.frame(3);
  CHECK(h.has("audit/headline"));
  CHECK(h.has("audit/open"));
  CHECK_FALSE(h.has("audit/markdown"));
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("flow: import, audit, a finding shown, improved, compared, exported", "[ui]") {
  const test::FlowFolder folder;
  test::Person p;
  p.drop(scores());
  p.frame(4);
  REQUIRE(p.content().entry());
  p.session().apply(show_tab(BottomTab::Audit));
  p.frame(3);
  const std::vector<std::string> lines = p.names("audit/line/");
  REQUIRE(lines.size() >= 4);
  p.click("audit/line/1");
  p.frame(3);
  CHECK_FALSE(p.session().view().highlight.why.empty());
  CHECK_FALSE(p.session().view().highlight.ops.empty());
  p.click("audit/line/1");  // again: it ends
  p.frame(2);
  CHECK(p.session().view().highlight.why.empty());
  p.click("audit/markdown");
  CHECK(p.clipboard().find("| period |") != std::string::npos);
  p.click("audit/copy");
  CHECK(p.clipboard().find("topic\tweight\tfinding") == 0);

  p.session().apply(StartSolve{});
  p.settle();
  REQUIRE(p.content().schedules.size() == 2);
  CHECK(p.a().status == Status::Optimal);
  CHECK(p.content().schedules[0]->name == "stored");
  p.click("audit/markdown");
  CHECK(p.clipboard().find("| solved |") != std::string::npos);
  // A finding is about the stored schedule, so that is shown with it.
  p.click("audit/line/1");
  p.frame(3);
  CHECK(p.content().shown == std::size_t{0});
  p.session().apply(SelectSchedule{1});
  p.session().apply(SetBaseline{0});
  p.session().apply(show_tab(BottomTab::Compare));
  p.frame(3);
  CHECK(p.has("compare/metric/II"));
  CHECK(p.has("compare/metric/sustainable period"));

  p.session().apply(SetBaseline{});
  p.key(Key::E, {.ctrl = true});
  p.frame(3);
  REQUIRE(p.has("export/schedule_graph"));
  p.click("export/schedule_graph");
  p.session().apply(Export{ExportKind::DumpGraph, folder.file("ours.schedule_graph.json")});
  p.session().apply(Export{ExportKind::DumpVariants, folder.file("ours.schedule_graphs.json")});
  p.frame(2);
  REQUIRE_FALSE(p.session().error());
  const Cycle ii = p.content().schedules[1]->schedule.ii;
  p.click("export/close");
  p.session().apply(CloseDocument{});
  p.session().apply(OpenFile{folder.file("ours.schedule_graph.json")});
  p.frame(3);
  REQUIRE(p.content().entry());
  CHECK(p.a().schedule.ii == ii);
  CHECK(p.a().verdict.valid());
  p.session().apply(CloseDocument{});
  p.session().apply(OpenFile{folder.file("ours.schedule_graphs.json")});
  p.frame(3);
  REQUIRE(p.content().entry());
  CHECK(p.content().entry()->name == "variant 0");
}
#endif
