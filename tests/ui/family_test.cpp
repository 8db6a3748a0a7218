// Families of kernels and the Twill paper's method in the window: asked, cancelled, opened, and the same by the command line.
#include <catch2/catch.hpp>

#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/actions.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

TEST_CASE("a family is solved from the menu, and its best member opened in one step of undo", "[ui]") {
  Person p("gemm_hopper");
  const std::size_t before = p.content().schedules.size();
  perform(*find_action("ask_family"), p.session(), p.window().ui());
  p.frame(3);
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Family);
  const auto* family = p.session().question(Topic::Family).as<FamilyAnswer>();
  REQUIRE(family);
  CHECK(family->faults.empty());
  REQUIRE_FALSE(family->set.best.empty());
  CHECK(family->set.best.front().proved);
  REQUIRE(p.has("family/row/0"));
  p.click("family/vary/TILE_N");
  p.click("family/ask");
  p.frame(3);
  p.settle();
  family = p.session().question(Topic::Family).as<FamilyAnswer>();
  REQUIRE(family);
  std::size_t other = 0;
  for (std::size_t i = 0; i < family->set.members.size(); ++i)
    if (family->set.members[i].outcome.schedule && family->set.members[i].groups != family->set.members[i].usual_groups) other = i;
  const KernelSetMember member = family->set.members[other];
  p.session().apply(OpenMember{other});
  p.frame(4);
  p.settle();
  REQUIRE(p.content().problem);
  CHECK(p.a().schedule.ii == member.outcome.schedule->ii);
  CHECK(p.a().verdict.valid());
  CHECK(p.a().status == member.outcome.status);
  p.key(Key::Z, {.ctrl = true});
  p.frame(4);
  CHECK(p.content().overrides.empty());
  CHECK(p.content().changes.empty());
  CHECK(p.content().schedules.size() == before);
}

TEST_CASE("a member that is cut into sub-tiles is opened as the kernel that it is", "[ui]") {
  Person p("attention_forward_tile_hopper", test::least_ii_solver());
  AskOptions options;
  options.family.vary = {"subtile:Q_ROWS=1,2"};
  p.session().apply(Ask{Topic::Family, options});
  p.settle();
  const auto* family = p.session().question(Topic::Family).as<FamilyAnswer>();
  REQUIRE(family);
  REQUIRE(family->set.members.size() == 2);
  const KernelSetMember cut = family->set.members[1];
  REQUIRE(cut.subtiles.size() == 1);
  p.session().apply(OpenMember{1});
  p.frame(4);
  p.settle();
  CHECK(p.content().kernel->name == "attention_forward_tile_hopper[Q_ROWS/2]");
  CHECK(p.a().schedule.ii == cut.outcome.schedule->ii);
  CHECK(p.a().status == Status::Optimal);
  p.key(Key::Z, {.ctrl = true});
  p.frame(4);
  CHECK(p.content().kernel->name == "attention_forward_tile_hopper");
}

TEST_CASE("the line of a family and of the paper is the command that asks the same", "[ui]") {
  Person p("gemm_hopper");
  p.session().apply(SetParam{"TILE_N", 128});
  p.settle();
  AskOptions options;
  options.family.vary = {"groups=2..3", "TILE_N"};
  p.session().apply(Ask{Topic::Family, options});
  p.settle();
  p.session().apply(CopyLine{});
  p.frame(2);
  CHECK(p.clipboard() == "heddle family gemm_hopper h100 --vary groups=2..3 --vary TILE_N");
  options = {};
  options.paper.u = 200;
  options.paper.ablations = {"fewer-warps"};
  p.session().apply(Ask{Topic::Paper, options});
  p.settle();
  const auto* paper = p.session().question(Topic::Paper).as<PaperAnswer>();
  REQUIRE(paper);
  CHECK(paper->ii > 0);
  CHECK(paper->ablations.size() == 1);
  p.session().apply(CopyLine{});
  p.frame(2);
  CHECK(p.clipboard() == "heddle paper gemm_hopper h100 --param TILE_N=128 --u 200 --ablation fewer-warps");
}

TEST_CASE("what Twill's own formulation makes of the kernel is asked, read and compared in the tab of schedules", "[ui]") {
  Person p("gemm_hopper");
  perform(*find_action("paper"), p.session(), p.window().ui());
  p.frame(3);
  CHECK(p.session().view().tab == BottomTab::Compare);
  REQUIRE(p.has("paper/u"));
  CHECK_FALSE(p.session().question(Topic::Paper).as<PaperAnswer>());  // it is asked when somebody says so
  p.click("paper/ablation/fewer-warps");
  p.session().apply(show_tab(BottomTab::Log));
  perform(*find_action("ask_paper"), p.session(), p.window().ui());
  p.frame(3);
  p.settle();
  CHECK(p.session().view().tab == BottomTab::Compare);
  const auto* paper = p.session().question(Topic::Paper).as<PaperAnswer>();
  REQUIRE(paper);
  CHECK(paper->ablations.size() == 1);
  const std::size_t before = p.content().schedules.size();
  p.click("paper/take");
  p.frame(3);
  p.settle();
  CHECK(p.content().schedules.size() == before + 1);
  REQUIRE(p.content().baseline_entry());
  CHECK(p.content().baseline_entry()->name == "Twill paper");
  p.click("compare/pair");
  p.frame(3);
  CHECK_FALSE(p.has("paper/u"));
}

TEST_CASE("what cannot vary is said, with a guess, and nothing breaks", "[ui]") {
  Person p("gemm_hopper");
  AskOptions options;
  options.family.vary = {"TILE_M=64,128", "groups=0", "TILE_N=", "=3", "subtile:"};
  p.session().apply(Ask{Topic::Family, options});
  p.session().apply(show_tab(BottomTab::Family));
  p.settle();
  const auto* family = p.session().question(Topic::Family).as<FamilyAnswer>();
  REQUIRE(family);
  CHECK(family->faults.size() >= 3);
  CHECK(family->set.members.empty());
  p.session().apply(OpenMember{0});
  p.frame(3);
  CHECK(p.content().overrides.empty());
}

TEST_CASE("a family and the paper's method can be cancelled", "[ui]") {
  Person p("attention_forward_hopper", test::least_ii_solver());
  for (const Topic topic : {Topic::Family, Topic::Paper}) {
    AskOptions options;
    options.family.vary = {"groups=2..4"};
    p.session().apply(Ask{topic, options});
    p.frame(3);
    p.session().apply(CancelAsk{topic});
    p.settle();
    CHECK_FALSE(p.session().question(topic).active());
  }
}
#endif
