// The session: commands in, document out, with fake solvers.
#include "app/session/session.h"
#include "app/session/commands.h"
#include "app/session/environment.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/session/files.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/session/solving.h"
#include "app/window/chart/inspector_model.h"
#include "app/window/parts/explain_model.h"
#include "app/window/parts/header_model.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_session_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

Environment with(SolveFunction solve) {
  Environment environment;
  environment.solve = std::move(solve);
  environment.solver_name = "fake 1.0";
  return environment;
}

void settle(Session& session) {
  REQUIRE(test::wait_until([&] { return !session.live().active(); }, [&] { session.pump(); }));
}

/// Until the running solve has shown its first schedule.
void await_row(Session& session) {
  REQUIRE(test::wait_until([&] { return !session.content().schedules.empty(); }, [&] { session.pump(); }));
  REQUIRE(session.content().schedules.size() == 1);
}

const OpenPair kToy{"toy_fig1", "toy", false};

}  // namespace

TEST_CASE("opening a pair resolves it and solving adds a proved row", "[app]") {
  Session session(with(test::solve_toy));
  CHECK(session.solving().why_no_solve() == "open a kernel first");
  session.apply(OpenPair{"toy_fig1", "toy", true});
  REQUIRE(session.content().problem);
  CHECK(session.content().bounds->min_ii() == 2);
  settle(session);
  REQUIRE(session.content().schedules.size() == 1);
  const ScheduleEntry& entry = *session.content().entry();
  CHECK(entry.status == Status::Optimal);
  CHECK(entry.schedule.ii == 2);
  CHECK(entry.verdict.valid());
  CHECK(entry.period.cycles() <= 2);
  CHECK_FALSE(entry.running);
  CHECK(session.live().history.size() >= 3);
  const HeaderModel header = build_header(session);
  CHECK(header.ii == "II 2");
  CHECK(header.bound == "bound 2 (tensor core)");
  CHECK(header.status == "PROVED");
  CHECK(header.facts == "2 stages · 1 warp · 0.25 s");
  CHECK(header.subject == "toy_fig1 · toy");
  const ExplainModel explain = build_explain(session);
  CHECK(explain.title == "Why II 1 is impossible");
  REQUIRE(explain.cards.size() == 2);
  CHECK(explain.cards[0].shown.ops.size() == 2);
}

TEST_CASE("cancelling keeps what was found, marked as not proved", "[app]") {
  Session session(with(test::solve_until_cancelled));
  session.apply(kToy);
  session.apply(StartSolve{});
  await_row(session);
  CHECK(session.content().entry()->running);
  CHECK(build_header(session).status == "SOLVING");
  CHECK(session.solving().why_no_solve() == "a solve is running");
  session.apply(CancelSolve{});
  CHECK(session.live().phase == LiveSolve::Phase::Stopping);
  settle(session);
  CHECK(session.live().cancelled);
  CHECK(session.content().entry()->schedule.ii == 3);
  CHECK(session.content().entry()->status == Status::Feasible);
  CHECK_FALSE(session.content().entry()->running);
  CHECK(session.solving().why_no_solve().empty());
}

TEST_CASE("what changes the document can be undone and done again", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(kToy);
  session.apply(StartSolve{});
  settle(session);
  session.apply(SetParam{"T", 5});
  CHECK(session.content().overrides.at("T") == 5);
  CHECK(session.content().schedules.empty());
  session.apply(Undo{});
  CHECK(session.content().overrides.empty());
  REQUIRE(session.content().schedules.size() == 1);
  session.apply(RemoveSchedule{0});
  CHECK(session.content().schedules.empty());
  CHECK_FALSE(session.content().shown);
  session.apply(Undo{});
  REQUIRE(session.content().schedules.size() == 1);
  session.apply(Undo{});  // the solve
  CHECK(session.content().schedules.empty());
  session.apply(Undo{});  // the opening
  CHECK_FALSE(session.content().kernel);
  session.apply(Undo{});
  session.apply(Redo{});
  REQUIRE(session.content().problem);
  session.apply(Redo{});
  REQUIRE(session.content().schedules.size() == 1);
  CHECK(session.content().entry()->status == Status::Optimal);
  CHECK_FALSE(session.content().entry()->running);
}

TEST_CASE("opening and what is found by it are one step of undo, and answers about another kernel make room", "[app]") {
  Environment environment = with(test::solve_toy);
  environment.ask = [](const Question&, std::stop_token, const AskListener&) { return AnyAnswer(Explanation{}); };
  Session session(std::move(environment));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(Ask{Topic::Explain, {}});
  REQUIRE(test::wait_until([&] { return !session.asking(); }, [&] { session.pump(); }));
  REQUIRE(session.answered(Topic::Explain));
  session.apply(OpenPair{"gemm_hopper", "h100", false});
  CHECK(session.question(Topic::Explain).phase == QuestionState::Phase::None);
  CHECK_FALSE(build_explain(session).outdated);
  session.apply(Undo{});
  CHECK(session.answered(Topic::Explain));  // it comes back with its kernel
  session.apply(Undo{});
  CHECK_FALSE(session.content().kernel);
  session.apply(Redo{});
  REQUIRE(session.content().entry());
  CHECK(session.content().entry()->status == Status::Optimal);
}

TEST_CASE("looking through what is shipped pushes none of one's own files out of the recent ones", "[app]") {
  Settings settings;
  remember_recent(settings, "/somewhere/mine.heddle.json");
  for (const char* name : {"toy_fig1", "gemm_hopper", "layernorm", "attention_forward_hopper", "gemm_blackwell", "swiglu_dual_gemm_hopper"})
    remember_recent(settings, name);
  REQUIRE(settings.recent.size() == 4);
  CHECK(settings.recent.front() == "swiglu_dual_gemm_hopper");
  CHECK(settings.recent.back() == "/somewhere/mine.heddle.json");
}

TEST_CASE("undoing a running solve stops it, and its row comes back as it was", "[app]") {
  Session session(with(test::solve_until_cancelled));
  session.apply(kToy);
  session.apply(StartSolve{});
  await_row(session);
  session.apply(Undo{});
  CHECK(session.content().schedules.empty());
  CHECK_FALSE(session.live().active());
  session.apply(Redo{});
  REQUIRE(session.content().schedules.size() == 1);
  CHECK_FALSE(session.content().entry()->running);
  CHECK(session.close(test::kPatience));
}

TEST_CASE("opening another kernel stops a running solve", "[app]") {
  Session session(with(test::solve_until_cancelled));
  session.apply(kToy);
  session.apply(StartSolve{});
  await_row(session);
  session.apply(OpenKernel{test::repository_path("kernels/toy_fig1.json")});
  CHECK_FALSE(session.live().active());
  CHECK(session.content().schedules.empty());
  session.apply(StartSolve{});
  await_row(session);
  CHECK(session.content().entry()->name == "solver #1");  // the first of its kernel
}

TEST_CASE("a build without a solver says why it cannot solve", "[app]") {
  Environment environment;
  environment.solve = {};
  environment.solver_name = "no solver here";
  Session session(std::move(environment));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  REQUIRE(session.content().problem);
  CHECK(session.solving().why_no_solve() == "no solver here");
  session.apply(StartSolve{});
  CHECK_FALSE(session.live().active());
}

TEST_CASE("a failing solver becomes an error, not a crash", "[app]") {
  Session session(with([](const solver::SolveRequest&, std::stop_token, const solver::SolveListener&) -> SolveOutcome {
    throw std::runtime_error("broken");
  }));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  REQUIRE(session.error());
  CHECK(session.error()->error.faults.front().message == "broken");
  session.apply(DismissError{});
  CHECK_FALSE(session.error());
}

TEST_CASE("files are told apart by their schema and faults are kept for the error panel", "[app]") {
  const Folder folder;
  Session session(with(test::solve_toy));
  session.apply(OpenFile{test::repository_path("kernels/toy_fig1.json")});
  REQUIRE(session.content().kernel);
  session.apply(OpenFile{test::repository_path("assets/machines/toy.json")});
  REQUIRE(session.content().problem);
  for (const auto& [name, text] : {std::pair{"empty.json", ""},
                                   {"list.json", "[1]"},
                                   {"other.json", R"({"schema": "x/1"})"},
                                   {"cut.json", R"({"schema": "heddle.kernel/1", "na)"},
                                   {"kernel.json", R"({"schema": "heddle.kernel/1"})"},
                                   {"machine.json", R"({"schema": "heddle.machine/1", "units": 3})"},
                                   {"schedule.json", R"({"schema": "heddle.schedule/1"})"},
                                   {"constraints.json", R"({"schema": "heddle.constraints/1", "constraints": 1})"}}) {
    INFO(name);
    const std::shared_ptr<const Problem> before = session.content().problem;
    session.apply(OpenFile{folder.write(name, text)});
    REQUIRE(session.error());
    CHECK_FALSE(session.error()->error.faults.empty());
    CHECK(session.content().problem == before);
    session.apply(DismissError{});
  }
  session.apply(OpenFile{"/nowhere/at/all.json"});
  CHECK(session.error());
}

TEST_CASE("a schedule file is saved, and brings its kernel and machine when opened alone", "[app]") {
  const Folder folder;
  const std::string path = (folder.path / "toy.schedule.json").string();
  {
    Session session(with(test::solve_toy));
    session.apply(SaveSchedule{path});
    CHECK(session.error());
    session.apply(OpenPair{"toy_fig1", "toy", true});
    settle(session);
    session.apply(SaveSchedule{path});
    CHECK_FALSE(session.error());
    session.apply(Export{ExportKind::Svg, (folder.path / "toy.svg").string()});
    CHECK_FALSE(session.error());
    CHECK(fs::file_size(folder.path / "toy.svg") > 500);
    session.apply(Export{ExportKind::Svg, (folder.path / "toy.svg" / "inside_a_file.svg").string()});
    CHECK(session.error());
  }
  Session session(with(test::solve_toy));
  session.apply(OpenFile{path});
  REQUIRE(session.content().entry());
  CHECK(session.content().problem->kernel == "toy_fig1");
  CHECK(session.content().entry()->verdict.valid());
  CHECK(session.content().entry()->schedule.ii == 2);
  session.apply(Undo{});
  CHECK_FALSE(session.content().kernel);
}

TEST_CASE("constraints are judged at once and can be switched", "[app]") {
  const Folder folder;
  Session session(with(test::solve_toy));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(OpenFile{folder.write("c.json", R"({"schema": "heddle.constraints/1", "constraints": [
    {"name": "late O", "kind": "pin", "ops": ["O"], "at": 5}]})")});
  REQUIRE_FALSE(session.error());
  CHECK(session.content().entry()->status == Status::Invalid);
  CHECK(build_explain(session).title == "Why solver #1 is not valid");
  CHECK(describe_entry(*session.content().entry()).detail == "breaks 1 of your constraints");
  session.apply(ToggleConstraint{0});
  CHECK(session.content().entry()->status == Status::Optimal);  // it is the question that was proved again
  session.apply(ToggleConstraint{7});
}

TEST_CASE("parameters that do not work are refused and nothing changes", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(kToy);
  const auto before = session.content().problem;
  session.apply(SetParam{"nonsense", 1});
  CHECK(session.error());
  session.apply(DismissError{});
  session.apply(SetParam{"T", -5});
  session.apply(DismissError{});
  CHECK(session.content().problem != nullptr);
  session.apply(SetParam{"T", 8});  // the default
  CHECK(session.content().overrides.count("T") == 0);
}

TEST_CASE("a kernel and a machine that do not go together stay open and say why", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(OpenKernel{"attention_forward_hopper"});
  CHECK(session.solving().why_no_solve() == "open a machine first");
  CHECK(build_header(session).status == "NO MACHINE");
  session.apply(OpenMachine{"toy"});
  REQUIRE(session.error());
  CHECK_FALSE(session.content().problem);
  CHECK(build_header(session).status == "NOT SCHEDULABLE");
  CHECK_FALSE(session.solving().why_no_solve().empty());
  session.apply(OpenMachine{"h100"});
  CHECK_FALSE(session.error());
  CHECK(session.content().problem);
}

TEST_CASE("selection follows clicks and never leaves the problem", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(SelectOp{OpId(0)});
  CHECK(session.selection().empty());
  session.apply(kToy);
  session.apply(SelectOp{OpId(0)});
  session.apply(SelectOp{OpId(2), true});
  CHECK(session.selection().ops == std::vector<OpId>{OpId(0), OpId(2)});
  CHECK(session.selection().primary() == OpId(2));
  session.apply(SelectOp{OpId(2), true});
  CHECK(session.selection().primary() == OpId(0));
  session.apply(SelectOp{OpId(9)});
  session.apply(SelectOp{OpId()});
  CHECK(session.selection().ops.size() == 1);
  session.apply(ClearSelection{});
  CHECK(session.selection().empty());
}

TEST_CASE("a run is long enough to reach the steady state, unless the user says otherwise", "[app]") {
  Session session(with(test::solve_toy));
  CHECK(session.iterations() == 3);
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  REQUIRE(session.content().entry());
  CHECK(stage_count(session.content().entry()->schedule) == 2);
  CHECK(session.iterations() == 4);
  session.apply(SetIterations{1});
  CHECK(session.iterations() == 1);
}

TEST_CASE("view commands are kept within their limits", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(use_scale(10000));
  CHECK(session.settings().scale_percent == 300);
  session.apply(use_scale(-1));
  CHECK(session.settings().scale_percent == 50);
  session.apply(SetIterations{0});
  CHECK(session.iterations() == 1);
  session.apply(SetIterations{1000});
  CHECK(session.iterations() == 64);
  session.apply(SelectSchedule{3});
  session.apply(RemoveSchedule{3});
  session.apply(CancelSolve{});
  session.apply(Undo{});
  session.apply(Redo{});
  session.apply(copy_text("x"));
  CHECK(session.view().clipboard == "x");
}

TEST_CASE("settings survive, with keys that this version does not know", "[app]") {
  const Folder folder;
  const std::string path = folder.write("settings.json", R"({"theme": "light", "from_the_future": [1, 2], "layout_left": 7})");
  Settings settings = load_settings(path);
  CHECK(settings.theme == ThemeName::Light);
  CHECK(settings.panes.left == PaneSizes().left);
  settings.scale_percent = 150;
  settings.panes.bottom = 0.4;
  for (int i = 0; i < 20; ++i) remember_recent(settings, "k" + std::to_string(i % 15));
  CHECK(settings.recent.size() == 12);
  CHECK(settings.recent.front() == "k4");
  REQUIRE(save_settings(path, settings));
  CHECK(load_settings(path) == settings);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  CHECK(text.str().find("from_the_future") != std::string::npos);
  CHECK(load_settings("/nowhere/settings.json") == Settings());
  CHECK(load_settings(folder.write("broken.json", "{")) == Settings());
}

TEST_CASE("the inspector says where an op is and why", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  const Content& content = session.content();
  const ScheduleEntry& entry = *content.entry();
  const InspectorModel o = inspect(*content.problem, OpId(2), &entry.schedule, &entry.usage, &entry.verdict);
  CHECK(o.name == "O");
  CHECK(o.unit == "TC");
  REQUIRE_FALSE(o.facts.empty());
  CHECK(o.facts[0].value == "3 = 1 × 2 + 1");
  CHECK(o.links.size() >= 2);
  CHECK(o.links.front().incoming);
  CHECK(o.violations.empty());
  const InspectorModel s = inspect(*content.problem, OpId(0), &entry.schedule, &entry.usage, &entry.verdict);
  CHECK_FALSE(s.later.empty());  // P waits for it
  const InspectorModel bare = inspect(*content.problem, OpId(0), nullptr, nullptr, nullptr);
  CHECK(bare.group.empty());
  CHECK_FALSE(bare.links.empty());
}

TEST_CASE("a refuted question is told in the header and by Explain, whatever older row is shown", "[app]") {
  const Folder folder;
  const SolveFunction solve = [](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    if (request.constraints.empty()) return test::solve_toy(request, stop, listener);
    SolveOutcome outcome;
    outcome.status = Status::Infeasible;
    outcome.explanation = "no schedule at any II; still none at 12, because these cannot hold together: user: late; latency of S";
    return outcome;
  };
  Session session(with(solve));
  session.apply(OpenPair{"toy_fig1", "toy", true});
  settle(session);
  session.apply(OpenConstraints{folder.write("c.json", R"({"schema": "heddle.constraints/1", "constraints": [
    {"name": "late", "kind": "pin", "ops": ["S"], "at": 1, "enabled": true},
    {"name": "other", "kind": "max_stages", "limit": 9, "enabled": true}]})")});
  const ScheduleEntry& broken = *session.content().entry();
  REQUIRE(broken.status == Status::Invalid);
  for (const ObjectiveValue& objective : broken.objectives) CHECK_FALSE(objective.proved);
  CHECK(describe_entry(broken).detail == "breaks 1 of your constraints");
  CHECK(build_header(session).status == "INVALID");
  session.apply(StartSolve{});
  settle(session);
  const HeaderModel header = build_header(session);
  CHECK(header.ii == "no II");
  CHECK(header.status == "NO SCHEDULE, PROVED");
  CHECK(header.tone == Tone::Bad);
  const ExplainModel explain = build_explain(session);
  CHECK(explain.title == "Why there is no schedule");
  REQUIRE(explain.cards.size() == 3);
  CHECK(explain.cards[1].sentence == "user: late");
  CHECK(explain.cards[2].sentence == "latency of S");
  CHECK(explain.core == std::vector<std::size_t>{0});
  // Another question: the verdict on the old one is gone.
  session.apply(ToggleConstraint{0});
  CHECK(build_header(session).ii == "II 2");
  CHECK(build_explain(session).core.empty());
}

TEST_CASE("what holds for this run only is not written to the settings", "[app]") {
  const Folder folder;
  Environment environment = with(test::solve_toy);
  environment.settings_file = folder.write("settings.json", R"({"theme": "light", "scale_percent": 120})");
  {
    Session session(environment);
    session.apply(use_theme(ThemeName::HighContrast, false));
    session.apply(use_scale(200, false));
    session.apply(kToy);
    session.save_settings_now();
    CHECK(session.settings().theme == ThemeName::HighContrast);
    CHECK(session.settings().scale_percent == 200);
  }
  Settings kept = load_settings(environment.settings_file);
  CHECK(kept.theme == ThemeName::Light);
  CHECK(kept.scale_percent == 120);
  CHECK(kept.recent == std::vector<std::string>{"toy_fig1"});
  Session session(environment);
  session.apply(use_theme(ThemeName::HighContrast, false));
  session.apply(use_theme(ThemeName::Dark));
  session.save_settings_now();
  kept = load_settings(environment.settings_file);
  CHECK(kept.theme == ThemeName::Dark);
}

TEST_CASE("why a kernel does not run on a machine stays readable, and machines that can run it are known", "[app]") {
  Session session(with(test::solve_toy));
  session.apply(OpenPair{"attention_forward_blackwell", "h100", false});
  REQUIRE(session.error());
  session.apply(DismissError{});
  const ExplainModel explain = build_explain(session);
  CHECK(explain.title == "Why attention_forward_blackwell does not run on h100");
  REQUIRE_FALSE(explain.cards.empty());
  CHECK_FALSE(explain.cards.front().sentence.empty());
  const std::vector<std::string> machines = machines_for(*session.content().kernel);
  CHECK(std::find(machines.begin(), machines.end(), "b200") != machines.end());
  CHECK(std::find(machines.begin(), machines.end(), "h100") == machines.end());
}
