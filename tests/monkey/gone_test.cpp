// What points at a document goes with it: dialogs, alignments, selections that outlive what they are about.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/command_line.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/sweep_state.h"
#include "app/window/parts/tabs.h"
#include "tests/support/fake_solver.h"
#include "tests/support/sweep_files.h"
#include "tests/support/window/gated_solver.h"
#include "tests/support/window/harness.h"
#include "tests/support/window/invariants.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::test;

namespace {

/// A and B: the shown schedule, and itself a cycle later under another name.
void compare(Session& session) {
  REQUIRE(session.content().entry());
  Schedule later = session.content().entry()->schedule;
  for (Placement& op : later.ops) ++op.start;
  session.apply(AdoptSchedule{later, "later", true, {}, {}});
  REQUIRE(session.content().baseline_entry());
}

}  // namespace

TEST_CASE("a comparison aligned at an op of one kernel is not aligned at it in another one", "[ui]") {
  GatedSolver solver(2);
  Harness h(solver.solve());
  Session& session = h.session();
  session.apply(OpenPair{"toy_fig1", "toy", true});
  for (int i = 0; i < 2; ++i) solver.settle(session), solver.let_solve();
  solver.settle(session);
  compare(session);
  h.frame(2);
  session.apply(OpenPair{"gemm_hopper", "h100", true});
  for (int i = 0; i < 2; ++i) solver.settle(session), solver.let_solve();
  solver.settle(session);
  compare(session);
  const OpId last{session.content().problem->ops.size() - 1};
  session.apply(SelectOp{last});
  session.apply(SetAlignment{{Alignment::At::Op, last}});
  session.apply(show_highlight({"for a test", {last}, {}, {}}));
  h.frame(2);
  while (session.content().kernel->name != "toy_fig1" || !session.content().baseline_entry()) {
    REQUIRE(session.next_undo());
    session.apply(Undo{});
  }
  REQUIRE(session.content().problem->ops.size() <= last.index());
  CHECK(broken_invariants(session) == std::vector<std::string>());
  CHECK(session.view().alignment == Alignment());
  h.frame(3);
  compare_command(session);
}

TEST_CASE("the question whether to save goes with the work that it is about", "[ui]") {
  Harness h(solve_toy);
  h.session().apply(OpenPair{"toy_fig1", "toy", true});
  h.wait_for_solver();
  h.session().apply(AddNote{{"mine", "", 0}});
  REQUIRE(h.session().projects().worth_asking());
  h.session().apply(Quit{});
  REQUIRE(h.has("leave/stay"));
  h.session().apply(CloseDocument{});
  h.frame(2);
  CHECK_FALSE(h.has("leave/stay"));
  CHECK_FALSE(h.session().view().ask_leave);
  // Nothing of it is left over for the next time.
  h.session().apply(Undo{});
  h.session().apply(Quit{});
  CHECK(h.has("leave/stay"));
}

TEST_CASE("a sweep stays open when the kernel beside it is closed", "[ui]") {
  Harness h(solve_toy);
  h.session().apply(OpenPair{"toy_fig1", "toy", false});
  const std::string path = (std::filesystem::temp_directory_path() / ("heddle_gone_" + std::to_string(::getpid()) + ".jsonl")).string();
  std::ofstream(path) << toy_history(*h.session().content().problem);
  h.session().apply(OpenSweep{path});
  for (const Tab& tab : tabs()) {
    h.session().apply(show_tab(tab.tab));
    h.frame(2);
    h.session().apply(CloseDocument{});
    REQUIRE(h.session().sweep().file());
    h.frame(2);
    CHECK(h.has("pane/center"));
    h.session().apply(Undo{});
    h.frame(2);
  }
  std::filesystem::remove(path);
}

TEST_CASE("a schedule taken over as B where nothing is shown becomes A", "[ui]") {
  Harness h(solve_toy);
  Session& session = h.session();
  session.apply(OpenPair{"toy_fig1", "toy", false});
  session.apply(AdoptSchedule{toy_schedule(*session.content().problem, true), "the first", true, {}, {}});
  CHECK(session.content().shown == 0u);
  CHECK_FALSE(session.content().baseline);
  CHECK(broken_invariants(session) == std::vector<std::string>());
}
