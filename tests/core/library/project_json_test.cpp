// Project files: written, read, damaged, and read beside files that have changed.
#include "core/library/project_json.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/base/atomic_file.h"
#include "core/check/claim.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/schedule/constraint_text.h"
#include "core/schedule/question.h"
#include "tests/support/fake_solver.h"
#include "tests/support/golden.h"
#include "tests/support/mutate_json.h"
#include "tests/support/paths.h"

using namespace heddle;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_project_test_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string write(const char* name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
};

Project full_project() {
  Project project;
  project.spec.kernel = std::make_shared<const Kernel>(load_kernel("toy_fig1").value());
  project.spec.machine = std::make_shared<const Machine>(load_machine("toy").value());
  project.spec.params = {{"T", 12}};
  project.spec.changes = {parse_change("P.latency=+1", *project.spec.kernel, *project.spec.machine).value()};
  project.problem = std::make_shared<const Problem>(
      resolve(*project.spec.kernel, *project.spec.machine, project.spec.params, project.spec.changes).value());
  project.constraints = {parse_constraint("pin S at 0", *project.problem).value(),
                         parse_constraint("at most 4 stages", *project.problem).value(),
                         parse_constraint("pin S at 0", *project.problem).value()};
  project.constraints[1].enabled = false;
  for (const bool best : {false, true}) {
    ProjectSchedule entry;
    entry.name = best ? "solver #1" : "first try";
    entry.schedule = test::toy_schedule(*project.problem, best);
    entry.schedule.name = entry.name;
    entry.status = best ? Status::Optimal : Status::Feasible;
    if (best)
      entry.lower_bound = 2, entry.explanation = "TC: S + O need 2 cycles", entry.objectives = {{"ii", 2, true}}, entry.seconds = 0.25;
    project.schedules.push_back(entry);
  }
  project.shown = 1;
  project.baseline = 0;
  project.notes = {{"why so late?", "O", 0}, {"the turn", "", 3}};
  project.flags = {1, 5};
  project.selection = {"P", "O"};
  project.view.mode = GanttMode::Unrolled;
  project.view.iterations = 4;
  project.view.tab = "slack";
  project.view.visible = {-2, 17};
  project.view.switches = {{"critical", true}};
  project.view.choices = {{"compare", "split"}};
  return project;
}

}  // namespace

TEST_CASE("a project is read as it was written", "[core]") {
  const Project project = full_project();
  const std::string text = project_text(project, {});
  CHECK(test::golden_difference("project.json", text) == "");
  std::vector<Fault> warnings;
  const auto again = parse_project(text, "p.json", {}, &warnings);
  if (!again) FAIL(to_string(again.error()));
  CHECK(warnings.empty());
  CHECK(project_text(*again, {}) == text);
  CHECK(again->spec.params == project.spec.params);
  CHECK(problem_hash(*again->problem) == problem_hash(*project.problem));
  CHECK(again->constraints.size() == 3);
  CHECK(again->constraints[2].name == "pin S at 0 (2)");
  CHECK(same_program(again->schedules[1].schedule, project.schedules[1].schedule));
  // What the file says was proved is its word: the schedule's claim.
  CHECK(again->schedules[1].status == Status::Feasible);
  CHECK_FALSE(again->schedules[1].lower_bound);
  REQUIRE(again->schedules[1].schedule.claim);
  CHECK(again->schedules[1].schedule.claim->status == Status::Optimal);
  CHECK(again->schedules[1].schedule.claim->problem_hash == question_hash(*again->problem, again->constraints));
  CHECK_FALSE(why_claim_is_void(*again->problem, again->constraints, again->schedules[1].schedule));
  CHECK(again->shown == 1u);
  CHECK(again->baseline == 0u);
  CHECK(again->view.visible == project.view.visible);
}

TEST_CASE("kernel and machine files are named relative to the project", "[core]") {
  const Folder folder;
  fs::create_directories(folder.path / "kernels");
  const std::string kernel = folder.write("kernels/mine.json", read_file(test::repository_path("kernels/toy_fig1.json")).value());
  Project project = full_project();
  project.spec.kernel = std::make_shared<const Kernel>(load_kernel(kernel).value());
  const std::string file = folder.write("p.json", project_text(project, folder.path.string()));
  CHECK(read_file(file)->find("\"kernels/mine.json\"") != std::string::npos);
  CHECK(read_file(file)->find(folder.path.string()) == std::string::npos);
  REQUIRE(read_project(file));
  CHECK(fs::equivalent(read_project(file)->spec.kernel->source, kernel));
  // The folder moves as a whole.
  const fs::path moved = folder.path / "elsewhere";
  fs::create_directories(moved / "kernels");
  fs::copy(kernel, moved / "kernels");
  fs::copy(file, moved / "p.json");
  const auto there = read_project((moved / "p.json").string());
  REQUIRE(there);
  CHECK(fs::equivalent(there->spec.kernel->source, moved / "kernels/mine.json"));
}

TEST_CASE("a kernel that has changed since is told, and nothing is claimed to be proved any more", "[core]") {
  const Folder folder;
  std::string kernel = read_file(test::repository_path("kernels/toy_fig1.json")).value();
  Project project = full_project();
  project.spec.kernel = std::make_shared<const Kernel>(load_kernel(folder.write("k.json", kernel)).value());
  const std::string file = folder.write("p.json", project_text(project, folder.path.string()));
  // Another machine's numbers under the same name.
  std::string text = read_file(file).value();
  const std::size_t at = text.find("P.latency=+1");
  REQUIRE(at != std::string::npos);
  const std::size_t add = text.find("\"add\": 1");
  REQUIRE(add != std::string::npos);
  std::vector<Fault> warnings;
  const auto changed = parse_project(text.replace(add, 8, "\"add\": 2"), file, folder.path.string(), &warnings);
  REQUIRE(changed);
  REQUIRE_FALSE(warnings.empty());
  CHECK(warnings.front().message.find("nothing is known to be optimal") != std::string::npos);
  CHECK(changed->schedules[1].status == Status::Feasible);
  CHECK_FALSE(changed->schedules[1].lower_bound);
  CHECK_FALSE(changed->schedules[1].schedule.claim);
}

TEST_CASE("a project that does not say which problem it is about claims nothing", "[core]") {
  std::string text = project_text(full_project(), {});
  const std::size_t at = text.find("\"problem_hash\": \"");
  REQUIRE(at != std::string::npos);
  text.erase(at, text.find('\n', at) - at);
  std::vector<Fault> warnings;
  const auto read = parse_project(text, "p.json", {}, &warnings);
  REQUIRE(read);
  REQUIRE_FALSE(warnings.empty());
  CHECK(warnings.front().message.find("does not say which problem") != std::string::npos);
  for (const ProjectSchedule& entry : read->schedules) CHECK_FALSE(entry.schedule.claim);
}

TEST_CASE("members that Heddle does not know are kept", "[core]") {
  std::string text = project_text(full_project(), {});
  text.insert(text.find("\"kernel\""), "\"x-mine\": {\"a\": [1, 2]}, \"later\": true, ");
  const auto project = parse_project(text, "p.json", {});
  REQUIRE(project);
  const std::string saved = project_text(*project, {}, text);
  CHECK(saved.find("\"later\": true") != std::string::npos);
}

TEST_CASE("all faults of a project come together", "[core]") {
  const auto bad = parse_project(R"({"schema": "heddle.project/1", "kernel": {"source": "toy_fig2"}, "machine": {"source": "h10"},
    "params": {"T": "x"}, "changes": [{"kind": "latncy"}]})",
                                 "p.json", {});
  REQUIRE_FALSE(bad);
  const std::string said = to_string(bad.error());
  for (const char* part : {"toy_fig1", "h100", "/params/T", "/changes/0/kind", "/kernel/source"}) {
    INFO(said);
    CHECK(said.find(part) != std::string::npos);
  }
  const auto inner = parse_project(R"({"schema": "heddle.project/1", "kernel": {"source": "toy_fig1"}, "machine": {"source": "toy"},
    "constraints": [{"kind": "pin", "ops": ["Z"], "at": 1}], "schedules": [{"name": "s", "schedule": {"schema": "heddle.schedule/1"}}], "a": 7})",
                                   "p.json", {});
  REQUIRE_FALSE(inner);
  const std::string all = to_string(inner.error());
  for (const char* part : {"/constraints/0/ops/0", "/schedules/0/schedule", "/a"}) {
    INFO(all);
    CHECK(all.find(part) != std::string::npos);
  }
}

TEST_CASE("a note at an op that is gone is left out with a warning", "[core]") {
  Project project = full_project();
  std::string text = project_text(project, {});
  const std::size_t at = text.find("\"op\": \"O\"}");
  REQUIRE(at != std::string::npos);
  std::vector<Fault> warnings;
  const auto read = parse_project(text.replace(at, 9, "\"op\": \"Q\""), "p.json", {}, &warnings);
  REQUIRE(read);
  CHECK(read->notes.size() == 1);
  CHECK(warnings.size() == 1);
}

TEST_CASE("damaged projects are read or refused in words", "[core]") {
  const std::string text = project_text(full_project(), {});
  std::mt19937_64 random(20261121);
  int good = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string damaged = test::mutate_json(text, random);
    const auto project = parse_project(damaged, "fuzz.json", {});
    (void)parse_project_head(damaged, "fuzz.json");
    if (!project) {
      REQUIRE_FALSE(project.error().faults.empty());
      for (const Fault& fault : project.error().faults) REQUIRE_FALSE(fault.message.empty());
      continue;
    }
    ++good;
    const auto again = parse_project(project_text(*project, {}, damaged), "fuzz.json", {});
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << damaged);
  }
  CHECK(good > 10);
}
