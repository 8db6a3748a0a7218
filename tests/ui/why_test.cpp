// Why, slack, what limits II and alternatives, driven in the window with the real solver.
#include <catch2/catch.hpp>

#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "core/chart/gantt_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"
#include "tests/support/window/harness.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::test;

namespace {

struct Toy : Harness {
  explicit Toy(int width = 1600, int height = 900) : Harness(built_in_solver(), width, height) {
    session().apply(OpenPair{"toy_fig1", "toy", true});
    settle();
  }
  void settle() {
    wait_while([this] { return session().live().active() || session().asking(); });
    frame(3);
  }
};

}  // namespace

TEST_CASE("E, show, relax, re-solve: the old schedule is compared as B", "[ui]") {
  Toy h;
  h.key(Key::E);
  h.settle();
  CHECK(h.session().view().tab == BottomTab::Explain);
  CHECK(h.session().answered(Topic::Explain));
  h.click("explain/show/0");
  CHECK(h.session().view().highlight.ops.size() == 2);
  CHECK(h.session().selection().empty());
  CHECK(h.has("legend/highlight"));
  h.click("explain/relax/0");
  h.click("explain/try/0/0");
  h.settle();
  REQUIRE(h.session().content().schedules.size() == 2);
  CHECK(h.session().content().entry()->schedule.ii == 1);
  REQUIRE(h.session().content().baseline_entry());
  CHECK(h.session().content().baseline_entry()->schedule.ii == 2);
  // The reasons were for other numbers: they no longer point at anything, and the tab offers to ask again.
  CHECK_FALSE(h.has("legend/highlight"));
  CHECK(h.has("explain/ask"));
}

TEST_CASE("Esc ends the highlight first, then clears the selection; the x of the banner does too", "[ui]") {
  Toy h;
  h.click("tab/explain");
  h.click("explain/show/0");
  h.session().apply(SelectOp{OpId(0u)});
  h.frame(2);
  h.key(Key::Escape);
  CHECK(h.session().view().highlight.why.empty());
  CHECK_FALSE(h.session().selection().empty());
  h.key(Key::Escape);
  CHECK(h.session().selection().empty());
  h.click("explain/show/0");
  h.click("legend/highlight/end");
  CHECK(h.session().view().highlight.why.empty());
  // The same link again takes it back.
  h.click("explain/show/0");
  h.click("explain/show/0");
  CHECK(h.session().view().highlight.why.empty());
}

TEST_CASE("C shows what limits II in every mode, with a legend that ends it", "[ui]") {
  Toy h;
  h.key(Key::C);
  CHECK(h.has("legend/critical"));
  CHECK(h.session().view().critical);
  for (const GanttMode mode : {GanttMode::Unrolled, GanttMode::Pipeline, GanttMode::Steady}) {
    h.session().apply(SetMode{mode});
    CHECK(h.has("legend/critical"));
  }
  h.click("legend/critical/end");
  CHECK_FALSE(h.has("legend/critical"));
}

TEST_CASE("L asks for longest paths and draws whiskers; the slack tab asks for exact ranges", "[ui]") {
  Toy h;
  h.key(Key::L);
  h.settle();
  CHECK(h.has("legend/whiskers"));
  CHECK(h.names("gantt/whisker/").size() == 3);
  CHECK(h.session().answered(Topic::Slack));
  h.click("tab/slack");
  CHECK(h.has("slack/op/S"));
  h.click("slack/ask");
  h.settle();
  const auto* answer = h.session().question(Topic::Slack).as<SlackRanges>();
  REQUIRE(answer);
  CHECK(answer->exact);
  CHECK(answer->complete());
  h.click("slack/op/P");
  CHECK(h.session().selection().primary() == h.session().content().problem->find_op("P"));
  for (const std::string& header : h.names("slack/sort/")) h.click(header);
  h.click("slack/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("earliest proved") != std::string::npos);
  h.click("slack/command");
  CHECK(std::string(ImGui::GetClipboardText()).find("heddle slack toy_fig1 toy") != std::string::npos);
  h.click("slack/whiskers");
  CHECK_FALSE(h.has("legend/whiskers"));
}

TEST_CASE("the slack tab asks for longest paths by itself, once", "[ui]") {
  Toy h;
  h.click("tab/slack");
  h.settle();
  CHECK(h.has("slack/op/S"));
  const std::size_t lines = h.session().log().size();
  h.frame(20);
  CHECK(h.session().log().size() == lines);
}

TEST_CASE("an alternative is compared as B, or taken over as A", "[ui]") {
  Toy h;
  h.click("tab/alternatives");
  h.click("alternatives/ask");
  h.settle();
  REQUIRE(h.has("alternatives/row/1"));
  h.click("alternatives/row/1");
  REQUIRE(h.session().content().schedules.size() == 2);
  CHECK(h.session().content().baseline == 1u);
  h.click("alternatives/as_a");
  CHECK(h.session().content().schedules.size() == 2);
  CHECK(h.session().content().shown == 1u);
  h.click("alternatives/copy");
  CHECK(std::string(ImGui::GetClipboardText()).find("alternative 1") != std::string::npos);
  h.click("alternatives/aspect/groups");
  h.click("alternatives/command");
  CHECK(std::string(ImGui::GetClipboardText()).find("--differ groups") != std::string::npos);
  h.session().apply(AddConstraint{{"", true, ConstraintKind::MaxStages, {}, "", 0, 4}, false});
  h.frame(2);
  // An answer to an earlier question is not adopted.
  const std::size_t rows = h.session().content().schedules.size();
  h.click("alternatives/row/1");
  CHECK(h.session().content().schedules.size() == rows);
}

TEST_CASE("an infeasible question is explained at once, with the constraints that are to blame", "[ui]") {
  Toy h;
  UserConstraint early;
  early.kind = ConstraintKind::Pin;
  early.ops = {"P"};
  early.low = 0;
  UserConstraint late = early;
  late.ops = {"S"};
  late.low = 5;
  h.session().apply(AddConstraint{early, false});
  h.session().apply(AddConstraint{late, true});
  h.settle();
  h.settle();
  CHECK(h.session().live().refuted());
  CHECK(h.session().view().tab == BottomTab::Explain);
  CHECK(h.session().answered(Topic::Explain));
  CHECK(h.has("explain/show/0"));
  CHECK(h.has("explain/relax/0"));
}

TEST_CASE("the first violation can be shown and centred", "[ui]") {
  Toy h;
  Schedule broken = h.session().content().entry()->schedule;
  broken.ops[1].start = 0;
  h.session().apply(AdoptSchedule{broken, "broken"});
  h.frame(2);
  h.click("tab/explain");
  h.click("explain/show/0");
  CHECK_FALSE(h.session().view().highlight.ops.empty());
  h.key(Key::F);
  CHECK(h.has("legend/highlight"));
}

TEST_CASE("the why, slack and alternatives tabs hold at small sizes and large scales", "[ui]") {
  for (const int scale : {100, 200}) {
    Toy h(1280, 720);
    h.session().apply(use_scale(scale, false));
    h.key(Key::E);
    h.settle();
    h.session().apply(Ask{Topic::Slack, {}});
    h.session().apply(Ask{Topic::Alternatives, {}});
    h.session().apply(toggle_critical());
    h.session().apply(ToggleWhiskers{});
    h.settle();
    for (const BottomTab tab : {BottomTab::Explain, BottomTab::Slack, BottomTab::Alternatives}) {
      h.session().apply(show_tab(tab));
      h.frame(4);
    }
  }
}
