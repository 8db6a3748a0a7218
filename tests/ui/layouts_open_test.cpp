// Layouts left to the solver: the Layout tab's own question, and prices, sensitivity and fronts with layouts open.
#include <catch2/catch.hpp>

#include "app/session/command_line.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "tests/ui/person.h"

#ifdef HEDDLE_HAS_SOLVER
using namespace heddle;
using namespace heddle::app;
using test::Person;

TEST_CASE("Choose leaves layouts to the solver: a claim, every candidate, and one click that puts the best in force", "[ui]") {
  Person p("attention_backward_hopper", test::least_ii_solver());
  p.session().apply(show_tab(BottomTab::Layout));
  p.frame(6);
  LayoutChoices plain;
  plain.layouts = {{"dqs0", "panels 128"}};
  plain.instructions = {{"stage_dq0", {"st.shared.8", {}}}};
  p.click("layout/choosing");
  p.frame(2);
  REQUIRE(p.has("layouts/ask"));
  p.click("layouts/ask");
  p.settle();
  p.frame(2);
  const auto* answer = p.session().question(Topic::Layouts).as<LayoutsAnswer>();
  REQUIRE(answer);
  REQUIRE(answer->faults.empty());
  CHECK(answer->chosen.outcome.status == Status::Optimal);
  CHECK(answer->chosen.outcome.schedule->ii == 2688);
  CHECK(p.has("layouts/claim"));
  CHECK(p.has("layouts/candidate/0"));
  CHECK(ask_command(p.session(), Topic::Layouts, {}).find("heddle solve attention_backward_hopper h100") == 0);
  CHECK(ask_command(p.session(), Topic::Layouts, {}).find("--choose all") != std::string::npos);
  p.click("layouts/use");
  p.frame(3);
  p.session().apply(CancelSolve{});  // what it leads to is not the matter here
  CHECK(p.content().choices.layouts.at("dqs0") == "packed");
  CHECK(p.content().choices.layouts.at("dQ") == "prepacked");
  // What is said stays as it is.
  p.session().apply(ChooseLayouts{plain, {}, false});
  p.session().apply(Ask{Topic::Layouts, {}});
  p.settle();
  answer = p.session().question(Topic::Layouts).as<LayoutsAnswer>();
  REQUIRE(answer);
  CHECK(answer->chosen.outcome.schedule->ii == 2816);
}

TEST_CASE("a front with layouts open is of the layouts that dominate all others, which one click puts in force", "[ui]") {
  Person p("gemm_w4a16_hopper");
  p.session().apply(show_tab(BottomTab::Pareto));
  p.frame(3);
  p.click("pareto/layouts");
  p.frame(2);
  p.click("pareto/against/stages");
  p.click("pareto/ask");
  p.settle();
  p.frame(3);
  const auto* front = p.session().question(Topic::Pareto).as<Pareto>();
  REQUIRE(front);
  CHECK(front->refusal.empty());
  CHECK(front->layouts_open.find("the layouts and instructions of W, w0 and w1") == 0);
  CHECK(front->layouts.find("W prepacked") == 0);
  CHECK(ask_command(p.session(), Topic::Pareto, p.session().question(Topic::Pareto).options).find("--choose all") != std::string::npos);
  REQUIRE(p.has("pareto/use_layouts"));
  p.click("pareto/row/0");  // of another problem: not shown yet
  CHECK(p.content().schedules.size() <= 1);
  p.click("pareto/use_layouts");
  p.settle();
  p.frame(3);
  CHECK(p.content().choices.layouts.at("W") == "prepacked");
  p.click("pareto/ask");
  p.settle();
  p.frame(3);
  CHECK_FALSE(p.has("pareto/use_layouts"));
  CHECK(p.session().answered(Topic::Pareto));
}

TEST_CASE("what is said of a layout has a price in the window too, and numbers are tried with layouts open", "[ui]") {
  Person p("gemm_w4a16_hopper");
  LayoutChoices said;
  said.layouts = {{"W", "natural"}};
  p.session().apply(ChooseLayouts{said, {}, false});
  p.session().apply(show_tab(BottomTab::Constraints));
  p.frame(3);
  REQUIRE(p.has("price/layouts"));
  p.click("price/layouts");
  p.click("constraint_table/price");
  p.settle();
  p.frame(3);
  const auto* prices = p.session().question(Topic::Price).as<Prices>();
  REQUIRE(prices);
  REQUIRE(prices->constraints.size() == 1);
  CHECK(prices->constraints[0].demand.find("W") != std::string::npos);
  CHECK(prices->all.ii == 528);
  CHECK(prices->none.ii == 512);
  CHECK(p.session().question(Topic::Price).options.layouts_open);
  p.session().apply(show_tab(BottomTab::Sensitivity));
  p.frame(3);
  p.click("sensitivity/layouts");
  p.click("sensitivity/percent/5");
  p.click("sensitivity/ask");
  p.frame(3);
  p.click("sensitivity/cancel");  // what is found is the solver's matter
  p.settle();
  CHECK(p.session().question(Topic::Sensitivity).options.layouts_open);
  CHECK(ask_command(p.session(), Topic::Sensitivity, p.session().question(Topic::Sensitivity).options).find("--choose all") !=
        std::string::npos);
}
#endif
