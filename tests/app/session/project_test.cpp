// Projects, and work that survives a crash, in the session.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "app/session/autosave.h"
#include "app/session/command_line.h"
#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "core/chart/gantt_model.h"
#include "core/schedule/constraint_text.h"
#include "tests/app/cli_support.h"
#include "tests/support/fake_solver.h"
#include "tests/support/mutate_json.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using test::contains;
using test::read_text;
namespace fs = std::filesystem;

namespace {

struct Clocked {
  std::shared_ptr<double> now = std::make_shared<double>(100.0);
  std::unique_ptr<Session> session;
  explicit Clocked(const std::string& autosave = {}) {
    Environment environment;
    environment.solve = test::solve_toy;
    environment.autosave_folder = autosave;
    environment.clock = [now = now] { return *now; };
    session = std::make_unique<Session>(std::move(environment));
  }
  Session* operator->() { return session.get(); }
  Session& operator*() { return *session; }

  void work() {
    session->apply(OpenPair{"toy_fig1", "toy", true});
    REQUIRE(test::wait_until([&] { return !session->live().active(); }, [&] { session->pump(); }));
    REQUIRE(session->content().entry());
    session->apply(AddConstraint{parse_constraint("at most 4 stages", *session->content().problem).value(), false});
    session->apply(AddNote{{"why so late?", "O", 0}});
    session->apply(ToggleFlag{3});
    session->apply(SelectOp{OpId(1)});
    session->apply(SetMode{GanttMode::Unrolled});
    session->apply(show_tab(BottomTab::Slack));
  }
};

/// Until the file is there, or is not: written by another thread.
bool await_file(Clocked& c, const std::string& path, bool there) {
  return test::wait_until([&] { return fs::exists(path) == there; }, [&] { c->pump(); });
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".json") names.push_back(entry.path().string());  // not what is being written
  return names;
}

/// What a process that is gone would have left.
std::string left_behind(const std::string& folder, const std::string& text, const std::string& pid = "999999999") {
  std::string name;
  {
    Autosave live(folder);
    name = fs::path(live.file()).filename().string();
  }
  const std::string mine = "." + std::to_string(::getpid()) + ".";
  const std::string path = folder + "/" + name.replace(name.find(mine), mine.size(), "." + pid + ".");
  fs::create_directories(folder);
  std::ofstream(path) << text;
  return path;
}

}  // namespace

TEST_CASE("a project brings back everything, and opening it can be undone", "[app]") {
  const test::ScratchFolder folder;
  const std::string path = folder.path("p.heddle.json");
  Clocked a;
  a.work();
  CHECK(a->projects().unsaved());
  CHECK(a->projects().worth_asking());
  a->apply(SaveProject{path});
  REQUIRE_FALSE(a->error());
  CHECK_FALSE(a->projects().unsaved());
  CHECK(a->projects().project_file() == path);

  Clocked b;
  b->apply(OpenPair{"gemm_hopper", "h100", false});
  b->apply(AddNote{{"mine", "", 5}});
  b->apply(OpenFile{path});
  REQUIRE_FALSE(b->error());
  const Content& content = b->content();
  CHECK(content.kernel->name == "toy_fig1");
  CHECK(content.constraints == a->content().constraints);
  CHECK(content.notes == a->content().notes);
  CHECK(content.flags == std::vector<Cycle>{3});
  REQUIRE(content.entry());
  CHECK(content.entry()->name == "solver #1");
  // All but the proof: that is the file's word now.
  CHECK(a->content().entry()->status == Status::Optimal);
  CHECK(content.entry()->status == Status::Feasible);
  REQUIRE(content.entry()->schedule.claim);
  CHECK(content.entry()->schedule.claim->status == Status::Optimal);
  CHECK(content.entry()->verdict.valid());
  CHECK(b->selection().primary() == OpId(1));
  CHECK(b->view().mode == GanttMode::Unrolled);
  CHECK(b->view().tab == BottomTab::Slack);
  CHECK_FALSE(b->projects().unsaved());
  CHECK(b->settings().recent.front() == path);
  // Unsaved work is one step away, and is not taken for the project.
  b->apply(Undo{});
  CHECK(b->content().kernel->name == "gemm_hopper");
  CHECK(b->content().notes.size() == 1);
  CHECK(b->projects().project_file().empty());
  CHECK(b->projects().unsaved());
  b->apply(Redo{});
  CHECK(b->projects().project_file() == path);
  CHECK_FALSE(b->projects().unsaved());
}

TEST_CASE("a project keeps how the kernel is written", "[app]") {
  const test::ScratchFolder folder;
  const std::string path = folder.path("kernel.heddle.json");
  const KernelOptions options{{2, {}, false}, codegen::Recording::Ops, 9};
  Clocked c;
  c.work();
  c->apply(SaveProject{path});
  c->apply(SetKernelOptions{options});
  CHECK(c->projects().unsaved());
  c->apply(SaveProject{path});
  CHECK_FALSE(c->projects().unsaved());
  Clocked again;
  again->apply(OpenProject{path});
  CHECK(again->content().kernel_options == options);
  CHECK(command_line(*again, "emit").find(" --trips 9 --cluster 2 --no-turns --records ops") != std::string::npos);
}

TEST_CASE("a project keeps how A and B share the chart, and what they are aligned at", "[app]") {
  const test::ScratchFolder folder;
  const std::string path = folder.path("pair.heddle.json");
  for (const auto& [view, at] :
       {std::pair{ChartView::Split, Alignment::At::Op}, {ChartView::Ghost, Alignment::At::Most}, {ChartView::A, Alignment::At::IiStart}}) {
    Clocked c;
    c.work();
    Schedule other = c->content().entry()->schedule;
    c->apply(AdoptSchedule{other, "other", true});
    c->apply(show_chart_as(view));
    c->apply(SetAlignment{{at, at == Alignment::At::Op ? OpId(2) : OpId()}});
    c->apply(SaveProject{path});
    CHECK(c->projects().project_as_shown() == path);
    c->apply(SwapBaseline{});
    CHECK(c->projects().project_as_shown().empty());
    Clocked again;
    again->apply(OpenProject{path});
    REQUIRE(again->content().baseline);
    CHECK(again->view().chart_view == view);
    CHECK(again->view().alignment == (at == Alignment::At::Op ? Alignment{at, OpId(2)} : Alignment{at, OpId()}));
    CHECK(again->projects().project_as_shown() == path);
  }
  // What is not understood is the usual.
  Clocked c;
  c.work();
  CHECK(parse_alignment("op nobody", *c->content().problem) == Alignment{});
  CHECK(parse_alignment("sideways", *c->content().problem) == Alignment{});
  CHECK_FALSE(parse_chart_view("sideways"));
}

TEST_CASE("changes make a project unsaved, undoing them makes it saved again", "[app]") {
  const test::ScratchFolder folder;
  Clocked a;
  a.work();
  a->apply(SaveProject{folder.path("p.heddle.json")});
  a->apply(ToggleFlag{7});
  CHECK(a->projects().unsaved());
  a->apply(Undo{});
  CHECK_FALSE(a->projects().unsaved());
  a->apply(EditNote{0, "because"});
  CHECK(a->projects().unsaved());
  a->apply(SaveProject{});
  CHECK_FALSE(a->projects().unsaved());
  CHECK(contains(read_text(folder.path("p.heddle.json")), "because"));
  // The file of one kernel is not overwritten with another.
  a->apply(OpenPair{"gemm_hopper", "h100", false});
  CHECK(a->projects().project_file().empty());
  a->apply(SaveProject{});
  CHECK(a->error());
}

TEST_CASE("leaving asks only when work of one's own would be lost", "[app]") {
  Clocked a;
  a->apply(OpenPair{"toy_fig1", "toy", false});
  a->apply(Quit{});
  CHECK(a->view().quit);
  Clocked b;
  b.work();
  b->apply(Quit{});
  CHECK_FALSE(b->view().quit);
  CHECK(b->view().ask_leave);
  b->apply(Quit{true});
  CHECK(b->view().quit);
}

TEST_CASE("leaving asks where a long search is not finished, which goes on from there", "[app]") {
  std::vector<solver::SolveRequest> requests;
  Environment environment;
  environment.solve = [&](const solver::SolveRequest& request, std::stop_token, const solver::SolveListener&) {
    requests.push_back(request);
    SolveOutcome outcome;
    outcome.status = Status::Feasible;
    outcome.schedule = test::toy_schedule(request.problem, false);
    outcome.lower_bound = 2;
    outcome.timed_out = true;
    outcome.seconds.total = requests.size() == 1 ? 61 : 5;
    return outcome;
  };
  environment.recall = {};
  Session session(std::move(environment));
  const auto settle = [&] { REQUIRE(test::wait_until([&] { return !session.live().active(); }, [&] { session.pump(); })); };
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle();
  CHECK(session.projects().unfinished_search() == "The search for toy_fig1 has not proved its II after 61 s: II 3, no II below 2.");
  session.apply(Quit{});
  CHECK_FALSE(session.view().quit);
  CHECK(session.view().ask_leave);
  // F5 goes on with its row, from its schedule, under the limit of the settings.
  session.apply(limit_searches(7));
  CHECK(session.solving().why_no_continue().empty());
  session.apply(StartSolve{});
  settle();
  REQUIRE(requests.size() == 2);
  CHECK_FALSE(requests[0].incumbent);
  REQUIRE(requests[1].incumbent);
  CHECK(requests[1].incumbent->ii == 3);
  CHECK(requests[1].timeout_seconds == 7);
  REQUIRE(session.content().schedules.size() == 1);
  CHECK(session.content().entry()->seconds == 66);
  session.apply(Undo{});
  CHECK(session.content().entry()->seconds == 61);
  session.apply(Undo{});  // opening and solving are one step
  CHECK_FALSE(session.content().kernel);
}

TEST_CASE("a damaged project is told in sentences and changes nothing", "[app]") {
  const test::ScratchFolder folder;
  const std::string path = folder.path("p.heddle.json");
  Clocked a;
  a.work();
  a->apply(SaveProject{path});
  const std::string text = read_text(path);
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const std::string damaged = folder.write("bad.heddle.json", test::mutate_json(text, random));
    const auto document = a->content().document;
    a->apply(OpenFile{damaged});
    if (!a->error()) continue;
    CHECK(a->content().document == document);
    CHECK_FALSE(a->error()->error.faults.front().message.empty());
    a->apply(DismissError{});
  }
}

TEST_CASE("work is in a file of its own at most a second after a change, and goes with a clean exit", "[app]") {
  const test::ScratchFolder folder;
  const std::string state = folder.path("autosave");
  Clocked a(state);
  a.work();
  *a.now += 1;
  a->pump();
  REQUIRE(files_in(state).size() <= 1);
  REQUIRE(test::wait_until([&] { return !files_in(state).empty(); }));
  REQUIRE(files_in(state).size() == 1);
  const std::string file = files_in(state).front();
  // Not sooner than it must: half a second of the session's own clock.
  a->apply(EditNote{0, "a new text"});
  a->pump();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK_FALSE(contains(read_text(file), "a new text"));
  *a.now += 0.6;
  a->pump();
  REQUIRE(test::wait_until([&] { return contains(read_text(file), "a new text"); }));
  // A second window has a file of its own, and sees no lost work where somebody is alive.
  Clocked b(state);
  CHECK(b->projects().recoveries().empty());
  // Saved work needs no keeping.
  a->apply(SaveProject{folder.path("p.heddle.json")});
  *a.now += 1;
  CHECK(await_file(a, file, false));
  a->apply(ToggleFlag{9});
  *a.now += 1;
  CHECK(await_file(a, file, true));
  CHECK(a->close(test::kPatience));
  CHECK(files_in(state).empty());
}

TEST_CASE("what a dead process left is offered, restored, and kept until it is this one's", "[app]") {
  const test::ScratchFolder folder;
  const std::string state = folder.path("autosave");
  Clocked a;
  a.work();
  const std::string project = folder.path("p.heddle.json");
  a->apply(SaveProject{project});
  const std::string lost = left_behind(state, read_text(project));
  Clocked b(state);
  REQUIRE(b->projects().recoveries().size() == 1);
  CHECK(describe(b->projects().recoveries().front()) == "toy_fig1 on toy, 1 schedule, 1 constraint, 1 note");
  b->apply(RestoreWork{lost});
  CHECK(b->projects().recoveries().empty());
  CHECK(b->content().notes.size() == 1);
  CHECK(b->projects().unsaved());
  CHECK_FALSE(fs::exists(lost));
  CHECK(files_in(state).size() == 1);  // still there, under this process's name
  b->apply(Undo{});
  CHECK_FALSE(b->content().kernel);
}

TEST_CASE("discarded work goes, unreadable work is set aside, other hosts' work is left alone", "[app]") {
  const test::ScratchFolder folder;
  const std::string state = folder.path("autosave");
  Clocked a;
  a.work();
  const std::string project = folder.path("p.heddle.json");
  a->apply(SaveProject{project});
  const std::string lost = left_behind(state, read_text(project)), broken = left_behind(state, "{\"schema\": \"hed", "999999998");
  const std::string elsewhere = state + "/otherhost.00000000.5.6.0.heddle.json";
  std::ofstream(elsewhere) << read_text(project);
  std::ofstream(lost + ".999999999.0.tmp") << "half a fi";  // killed while it wrote
  Clocked b(state);
  REQUIRE(b->projects().recoveries().size() == 1);
  CHECK_FALSE(b->view().notice.empty());
  CHECK(fs::exists(broken + ".unreadable"));
  b->apply(DiscardWork{lost});
  CHECK_FALSE(fs::exists(lost));
  CHECK(fs::exists(elsewhere));
  CHECK_FALSE(fs::exists(lost + ".999999999.0.tmp"));
}

TEST_CASE("where nothing can be written the window says so once", "[app]") {
  const test::ScratchFolder folder;
  const std::string blocked = folder.write("a file, not a folder", "x");
  Clocked a(blocked + "/autosave");
  a.work();
  *a.now += 1;
  REQUIRE(test::wait_until([&] { return !a->view().notice.empty(); }, [&] { a->pump(); }));
  CHECK(contains(a->view().notice, "not kept safe"));
  a->apply(dismiss_notice());
  a->apply(ToggleFlag{1});
  *a.now += 1;
  a->pump();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  a->pump();
  CHECK(a->view().notice.empty());
}
