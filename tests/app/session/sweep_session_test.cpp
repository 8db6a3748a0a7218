// Sweeps in the session: a file that grows, is cut and replaced; points opened as schedules; a tuning run as a child.
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/session.h"
#include "app/session/sweep_state.h"
#include "core/base/json.h"
#include "core/formats/schedule_json.h"
#include "core/schedule/constraint_text.h"
#include "core/schedule/question.h"
#include "tests/app/cli_support.h"
#include "tests/support/fake_solver.h"
#include "tests/support/sweep_files.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

struct SweepBench {
  test::ScratchFolder folder;
  Session session;
  explicit SweepBench(SweepTools tools = {}) : session(environment(std::move(tools))) {}
  ~SweepBench() { CHECK(session.close(test::kPatience)); }
  static Environment environment(SweepTools tools) {
    Environment e;
    e.solve = test::solve_toy;
    e.run = {"", "", "no GPU in tests"};
    e.sweep = std::move(tools);
    return e;
  }
  void open_toy() {
    session.apply(OpenPair{"toy_fig1", "toy", false});
    REQUIRE(session.content().problem);
  }
  std::string history() { return folder.write("h.jsonl", test::toy_history(*session.content().problem)); }
  const SweepTable& table() const { return session.sweep().table(); }
  template <class Condition>
  bool until(Condition condition) {
    session.pump();
    return test::wait_until(condition, [&] { session.pump(); });
  }
  bool points(std::size_t count) {
    return until([&] { return table().points.size() == count; });
  }
};

void append(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::app) << text; }

}  // namespace

TEST_CASE("a history is followed while it grows, is cut, and is another file", "[app]") {
  SweepBench b;
  b.open_toy();
  const std::string path = b.history();
  b.session.apply(OpenFile{path});
  CHECK_FALSE(b.session.error());
  CHECK(b.session.view().tab == BottomTab::Sweep);
  REQUIRE(b.points(4));
  CHECK(b.table().end);
  const std::string line = test::tuning_evaluation(5, R"("TILE":128,"stages":3,"form":"plain")", "optimal", 101);
  append(path, line.substr(0, 30));
  CHECK(b.until([&] { return b.session.sweep().half(); }));
  CHECK(b.table().points.size() == 4);
  append(path, line.substr(30));
  REQUIRE(b.points(5));
  CHECK(b.table().best == 4u);
  CHECK_FALSE(b.session.sweep().half());
  append(path, "nonsense\n");
  CHECK(b.until([&] { return b.session.sweep().faults().size() == 1; }));
  // A run that goes on cuts away what it cannot use.
  fs::resize_file(path, fs::file_size(path) - 9);
  CHECK(b.until([&] { return b.session.sweep().faults().empty() && b.table().points.size() == 5; }));
  // Results take the place of a file as a whole.
  b.folder.write("next.jsonl", test::tuning_run());
  fs::rename(b.folder.path("next.jsonl"), path);
  CHECK(b.until([&] { return b.table().points.empty(); }));
  fs::remove(path);
  CHECK(b.until([&] { return b.session.sweep().missing(); }));
  std::ofstream(path) << test::toy_history(*b.session.content().problem);
  CHECK(b.points(4));
  b.session.apply(CloseSweep{});
  CHECK_FALSE(b.session.sweep().file());
  CHECK(b.table().points.empty());
}

TEST_CASE("with nothing open a sweep brings its kernel and machine", "[app]") {
  SweepBench b;
  const std::string path = b.folder.write("h.jsonl", test::tuning_run() + test::tuning_evaluation(1, R"("TILE":64)", "infeasible", 0));
  b.session.apply(OpenFile{path});
  CHECK_FALSE(b.session.error());
  REQUIRE(b.session.content().kernel);
  CHECK(b.session.content().kernel->name == "toy_fig1");
  CHECK(b.session.last_line() == "heddle-gui " + path);
  SweepBench strange;
  strange.session.apply(OpenSweep{strange.folder.write("h.jsonl", test::tuning_run("no such kernel", "nowhere"))});
  CHECK_FALSE(strange.session.error());
  CHECK_FALSE(strange.session.content().kernel);
  CHECK(strange.session.sweep().file());
  strange.session.apply(OpenSweep{strange.folder.write("k.jsonl", "{}\n")});
  CHECK(strange.session.error());
}

TEST_CASE("a point is opened as a schedule, beside what is there where its problem is the same", "[app]") {
  SweepBench b;
  b.open_toy();
  b.session.apply(OpenSweep{b.history()});
  REQUIRE(b.points(4));
  b.session.apply(OpenPoint{0});
  REQUIRE(b.session.content().entry());
  CHECK(b.session.content().entry()->schedule.ii == 3);
  CHECK(b.session.content().entry()->name == "#1 TILE=128 stages=2");
  CHECK(b.session.content().entry()->verdict.valid());
  b.session.apply(OpenPoint{1, true});
  REQUIRE(b.session.content().baseline_entry());
  CHECK(b.session.content().baseline_entry()->schedule.ii == 2);
  CHECK(b.session.content().schedules.size() == 2);
  b.session.apply(OpenPoint{0});
  CHECK(b.session.content().schedules.size() == 2);  // it is there
  b.session.apply(Undo{});
  b.session.apply(Undo{});
  b.session.apply(Undo{});
  CHECK(b.session.content().schedules.empty());
  b.session.apply(OpenPoint{99});
  CHECK_FALSE(b.session.error());
}

TEST_CASE("a point opens under the demands of its row, with its proof, in one step of undo", "[app]") {
  SweepBench b;
  b.open_toy();
  const Problem& toy = *b.session.content().problem;
  Schedule schedule = test::toy_schedule(toy, true);
  const Constraints demands{*parse_constraint("at most 2 stages", toy)};
  Certificate& claim = schedule.claim.emplace();
  claim.status = Status::Optimal;
  claim.ii = claim.lower_bound = 2;
  claim.problem_hash = question_hash(toy, demands);
  const std::string text =
      test::tuning_run() + test::tuning_evaluation(1, R"("TILE":128,"stages":2,"form":"plain")", "optimal", 102,
                                                   R"("label":"stages=2","ii":2,"stages":2,"demands":["at most 2 stages"],"schedule":)" +
                                                       parse_json(schedule_text(toy, schedule), "")->line());
  b.session.apply(OpenSweep{b.folder.write("h.jsonl", text)});
  REQUIRE(b.points(1));
  b.session.apply(OpenPoint{0});
  REQUIRE_FALSE(b.session.error());
  REQUIRE(b.session.content().entry());
  CHECK(b.session.view().notice.empty());  // no certificate was thrown away
  REQUIRE(b.session.content().constraints.size() == 1);
  CHECK(b.session.content().constraints[0].name == "at most 2 stages");
  REQUIRE(b.session.content().entry()->schedule.claim);
  CHECK(b.session.content().entry()->schedule.claim->status == Status::Optimal);
  b.session.apply(Undo{});
  CHECK(b.session.content().constraints.empty());
  CHECK(b.session.content().schedules.empty());
  CHECK(b.session.content().kernel->name == "toy_fig1");
}

TEST_CASE("a point without a schedule is solved again under its demands", "[app]") {
  SweepBench b;
  b.open_toy();
  b.session.apply(OpenSweep{b.history()});
  REQUIRE(b.points(4));
  b.session.apply(OpenPoint{2});
  REQUIRE_FALSE(b.session.error());
  REQUIRE(b.session.content().constraints.size() == 1);
  CHECK(b.session.content().constraints[0].name == "at most 4 stages");
  CHECK(b.until([&] { return !b.session.live().active(); }));
  CHECK(b.session.content().entry());
}

TEST_CASE("a point whose kernel is cut into sub-tiles opens the cut kernel; the history can still be continued", "[app]") {
  test::ScratchFolder place;
  const std::string script = place.path("heddle");
  std::ofstream(script) << "#!/bin/sh\nexit 0\n";
  fs::permissions(script, fs::perms::owner_all);
  SweepBench b({script, place.path("sweeps")});
  const std::string text = test::tuning_run("attention_forward_tile_hopper", "h100") +
                           test::tuning_evaluation(1, "", "infeasible", 0, R"("subtiles":{"Q_ROWS":2},"params":{"KV":176})");
  b.session.apply(OpenFile{b.folder.write("h.jsonl", text)});
  REQUIRE(b.points(1));
  b.session.apply(OpenPoint{0});
  CHECK_FALSE(b.session.error());
  CHECK(b.session.content().kernel->name == "attention_forward_tile_hopper[Q_ROWS/2]");
  CHECK(b.session.content().overrides == Scope{{"KV", 176}});
  CHECK(command_line(b.session, "solve") == "heddle solve 'attention_forward_tile_hopper[Q_ROWS/2]' h100 --param KV=176");
  CHECK(b.session.sweep().why_no_more().empty());
  CHECK(tune_command(b.session, {}).find("heddle tune attention_forward_tile_hopper h100 --budget 50") == 0);
  b.session.apply(CancelSolve{});
}

TEST_CASE("a point of another problem opens that one; it is no B", "[app]") {
  SweepBench b;
  b.session.apply(OpenPair{"gemm_hopper", "h100", false});
  Session toy(SweepBench::environment({}));
  toy.apply(OpenPair{"toy_fig1", "toy", false});
  b.session.apply(OpenSweep{b.folder.write("h.jsonl", test::toy_history(*toy.content().problem))});
  REQUIRE(b.points(4));
  b.session.apply(OpenPoint{1, true});
  CHECK(b.session.content().kernel->name == "gemm_hopper");
  CHECK(b.session.log().back().level == LogLevel::Warning);
  b.session.apply(OpenPoint{1});
  CHECK(b.session.content().kernel->name == "toy_fig1");
  REQUIRE(b.session.content().entry());
  b.session.apply(Undo{});  // one gesture, one step
  CHECK(b.session.content().kernel->name == "gemm_hopper");
}

TEST_CASE("what cannot be opened says why", "[app]") {
  SweepBench b;
  b.open_toy();
  const std::string text =
      test::tuning_run() +
      test::tuning_evaluation(1, "", "optimal", 101, R"("subtiles":{"ROWS":2},"solve":"heddle solve toy_fig1 toy --subtile ROWS=2")") +
      test::tuning_evaluation(2, "", "optimal", 101, R"("params":{"NOPE":2})") +
      test::tuning_evaluation(3, "", "optimal", 101, R"("schedule":{"schema":"heddle.schedule/1","ii":0})") +
      test::tuning_evaluation(4, "", "unknown", 0, R"("demands":["be quick"])");
  b.session.apply(OpenSweep{b.folder.write("h.jsonl", text)});
  REQUIRE(b.points(4));
  for (std::size_t i = 0; i < 4; ++i) {
    b.session.apply(OpenPoint{i});
    INFO(i);
    REQUIRE(b.session.error());
    b.session.apply(DismissError{});
  }
  CHECK(b.session.content().schedules.empty());
}

TEST_CASE("the kernel that is open is tuned by a child, which can be cancelled and continued", "[app]") {
  test::ScratchFolder place;
  const std::string script = place.path("heddle");
  std::ofstream(script)
      << "#!/bin/sh\nwhile [ $# -gt 0 ]; do [ \"$1\" = --history ] && file=\"$2\"; [ \"$1\" = --budget ] && budget=\"$2\"; shift; done\n"
      << "[ \"$budget\" = 13 ] && { echo 'heddle: no space left' >&2; exit 6; }\n"
      << "cat " << place.path("said.jsonl") << " >> \"$file\"\n[ \"$budget\" = 99 ] && sleep 600\nexit 0\n";
  fs::permissions(script, fs::perms::owner_all);
  SweepBench b({script, place.path("sweeps")});
  b.open_toy();
  CHECK(b.session.sweep().why_no_tune().empty());
  CHECK(b.session.sweep().why_no_more() == "no tuner's history is open");
  std::ofstream(place.path("said.jsonl")) << test::toy_history(*b.session.content().problem);
  b.session.apply(StartTune{{99, "random", 3}, false});
  CHECK(b.session.sweep().running());
  CHECK(b.session.last_line().find("heddle tune toy_fig1 toy --budget 99 --method random --seed 3 --history ") == 0);
  REQUIRE(b.points(4));
  CHECK(b.session.sweep().why_no_tune() == "a sweep is being run");
  b.session.apply(CancelTune{});
  CHECK_FALSE(b.session.sweep().running());
  const std::string file = b.session.sweep().file()->path;
  CHECK(fs::exists(file));
  CHECK(b.session.sweep().why_no_more().empty());
  b.session.apply(StartTune{{5, "baco", 0}, true});
  CHECK(b.points(8));
  CHECK(b.session.sweep().file()->path == file);
  CHECK(b.until([&] { return !b.session.sweep().running(); }));
  b.session.apply(StartTune{{13, "baco", 0}, true});
  CHECK(b.until([&] { return !b.session.sweep().running(); }));
  CHECK(b.session.sweep().run().answer()->failure == "heddle: no space left");
  // A new one is another file.
  b.session.apply(StartTune{{5, "baco", 0}, false});
  CHECK(b.session.sweep().file()->path != file);
  CHECK(b.points(4));
}

TEST_CASE("closing says that a tuning run has not ended, instead of waiting for it afterwards", "[app]") {
  test::ScratchFolder place;
  const std::string script = place.path("heddle");
  std::ofstream(script) << "#!/bin/sh\ntrap '' TERM\necho started > " << place.path("started") << "\nwhile :; do sleep 1; done\n";
  fs::permissions(script, fs::perms::owner_all);
  SweepBench b({script, place.path("sweeps")});
  b.open_toy();
  b.session.apply(StartTune{});
  REQUIRE(b.until([&] { return fs::exists(place.path("started")); }));
  CHECK_FALSE(b.session.close(50ms));
}

TEST_CASE("without a program, a folder, or a kernel there is no tuning, and it says why", "[app]") {
  SweepBench b;
  CHECK(b.session.sweep().why_no_tune() == "open a kernel first");
  b.session.apply(StartTune{});
  CHECK_FALSE(b.session.sweep().running());
  b.open_toy();
  CHECK(b.session.sweep().why_no_tune().find("not beside this one") != std::string::npos);
  CHECK(tune_command(b.session, {}) == "heddle tune toy_fig1 toy --budget 50 --method baco --history toy_fig1_toy.tuning.jsonl");
}
