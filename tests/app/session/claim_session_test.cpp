// What the window makes of a file that says "proved": the file's word, refuted aloud, or proved again with one key.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/session/environment.h"
#include "app/session/project.h"
#include "app/session/proposal_commands.h"
#include "app/session/session.h"
#include "app/session/solving.h"
#include "app/window/parts/header_model.h"
#include "core/formats/schedule_json.h"
#include "core/schedule/question.h"
#include "tests/support/fake_solver.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

struct Window {
  fs::path folder = fs::temp_directory_path() / ("heddle_claim_test_" + std::to_string(::getpid()));
  bool known = false;  ///< to the store
  Session session;

  Window() : session(environment()) {
    fs::create_directories(folder);
    session.apply(OpenPair{"toy_fig1", "toy", false});
  }
  ~Window() { fs::remove_all(folder); }

  Environment environment() {
    Environment e;
    e.solve = test::solve_toy;
    e.solver_name = "fake 1.0";
    e.recall = [this](const solver::SolveRequest& request) {
      return known ? std::optional(test::solve_toy(request, {}, [](const solver::SolveEvent&) {})) : std::nullopt;
    };
    return e;
  }
  /// Opens a schedule whose file claims this bound.
  void open(bool best, Cycle bound) {
    const Problem& problem = *session.content().problem;
    Schedule schedule = test::toy_schedule(problem, best);
    Certificate& claim = schedule.claim.emplace();
    claim.status = bound == schedule.ii ? Status::Optimal : Status::Feasible;
    claim.ii = schedule.ii;
    claim.lower_bound = bound;
    claim.problem_hash = problem_hash(problem);
    const std::string path = (folder / "claims.json").string();
    std::ofstream(path) << schedule_text(problem, schedule);
    session.apply(OpenSchedule{path});
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !session.live().active(); }, [&] { session.pump(); }));
  }
  const ScheduleEntry& row() const { return *session.content().entry(); }
};

}  // namespace

TEST_CASE("a schedule that its file calls proved is shown with the file's word", "[app]") {
  Window w;
  w.open(true, 2);
  CHECK(w.row().status == Status::Feasible);
  CHECK_FALSE(w.row().lower_bound);
  CHECK(build_header(w.session).status == "THE FILE SAYS PROVED");
  CHECK(describe_entry(w.row()).detail.find("the file says proved") == 0);
  CHECK(w.session.solving().why_no_proof().empty());
}

TEST_CASE("what the store holds proved is proved when its file is opened, in the same step", "[app]") {
  Window w;
  w.known = true;
  w.open(true, 2);
  CHECK(w.row().status == Status::Optimal);
  CHECK(w.row().lower_bound == 2);
  CHECK(build_header(w.session).status == "PROVED");
  CHECK(w.session.solving().why_no_proof() == "it is proved");
  w.session.apply(Undo{});
  CHECK(w.session.content().schedules.empty());
}

TEST_CASE("a project opened again is proved, and has no unsaved changes", "[app]") {
  Window w;
  w.known = true;
  w.session.apply(StartSolve{});
  w.settle();
  const std::string path = (w.folder / "toy.heddle.json").string();
  w.session.apply(SaveProject{path});
  w.session.apply(OpenProject{path});
  REQUIRE_FALSE(w.session.error());
  CHECK(w.row().status == Status::Optimal);
  CHECK(build_header(w.session).status == "PROVED");
  CHECK_FALSE(w.session.projects().unsaved());
  w.known = false;
  w.session.apply(OpenProject{path});
  CHECK(build_header(w.session).status == "THE FILE SAYS PROVED");
}

TEST_CASE("proving the shown schedule makes the file's word the window's own and adds no row", "[app]") {
  Window w;
  w.open(true, 2);
  const std::string name = w.row().name;
  w.session.apply(ProveShown{});
  w.settle();
  REQUIRE(w.session.content().schedules.size() == 1);
  CHECK(w.row().name == name);
  CHECK(w.row().status == Status::Optimal);
  CHECK(w.row().lower_bound == 2);
  CHECK_FALSE(w.row().schedule.claim);
  CHECK(build_header(w.session).status == "PROVED");
  CHECK(w.session.solving().why_no_proof() == "it is proved");
  w.session.apply(Undo{});
  CHECK(w.row().status == Status::Feasible);
}

TEST_CASE("proving a schedule that is not the least shows the better one and settles the claim", "[app]") {
  Window w;
  w.open(false, 2);
  w.session.apply(ProveShown{});
  w.settle();
  REQUIRE(w.session.content().schedules.size() == 2);
  const ScheduleEntry& opened = *w.session.content().schedules[0];
  CHECK(opened.status == Status::Feasible);
  CHECK(opened.lower_bound == 2);
  CHECK_FALSE(opened.schedule.claim);
  CHECK(w.row().schedule.ii == 2);
  CHECK(w.row().status == Status::Optimal);
}

TEST_CASE("a solve settles what files claim about the same question", "[app]") {
  Window w;
  w.open(true, 2);
  w.session.apply(StartSolve{});
  w.settle();
  REQUIRE(w.session.content().schedules.size() == 2);
  CHECK(w.session.content().schedules[0]->status == Status::Optimal);
}

TEST_CASE("a false claim is thrown away when its file is opened, in view", "[app]") {
  Window w;
  w.open(false, 3);  // II 3 "is the least", but 2 is
  CHECK_FALSE(w.row().schedule.claim);
  CHECK(w.session.view().notice.find("says that no II is below 3, but") != std::string::npos);
  CHECK(build_header(w.session).status == "NOT PROVED");
}

TEST_CASE("a forged project is opened without its proof", "[app]") {
  Window w;
  w.session.apply(OpenProject{test::repository_path("tests/schedules/forged.heddle.json")});
  REQUIRE(w.session.content().entry());
  CHECK(w.row().status == Status::Feasible);
  CHECK_FALSE(w.row().lower_bound);
  CHECK_FALSE(w.row().schedule.claim);
  CHECK(w.session.view().notice.find("says that no II is below 6, but") != std::string::npos);
}

TEST_CASE("the machine is marked where its name stands once a number was changed", "[app]") {
  Window w;
  CHECK(build_header(w.session).subject.find("toy") != std::string::npos);
  CHECK(build_header(w.session).changes.empty());
  const Content& content = w.session.content();
  w.session.apply(SetChange{parse_change("P.latency=+1", *content.kernel, *content.machine).value()});
  CHECK(build_header(w.session).changes == "1 change");
}
