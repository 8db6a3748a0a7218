// Children, and runs made by one: here a shell script that says what a GPU would.
#include "app/jobs/run_job.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "app/jobs/child_process.h"
#include "app/window/tabs/runs/measured_model.h"
#include "core/chart/gantt_model.h"
#include "core/formats/measurement_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "core/records/measurement.h"
#include "tests/support/paths.h"
#include "tests/support/small_problem.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / ("heddle_run_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string script(const std::string& text) const {
    const std::string file = (path / "heddle").string();
    std::ofstream(file) << "#!/bin/sh\n" << text << "\n";
    ::chmod(file.c_str(), 0755);
    return file;
  }
};

KernelSubject toy() {
  KernelSubject of;
  of.spec.kernel = std::make_shared<const Kernel>(*load_kernel("toy_fig1"));
  of.spec.machine = std::make_shared<const Machine>(*load_machine("toy"));
  of.problem = std::make_shared<const Problem>(*resolve(*of.spec.kernel, *of.spec.machine, {}));
  Schedule schedule = test::place(*of.problem, 2, {{0, 0}, {1, 0}, {3, 0}});
  derive_groups(*of.problem, schedule);
  of.schedule = std::make_shared<const Schedule>(std::move(schedule));
  of.schedule_name = "../solver #1";
  return of;
}

RunRequest request(const Folder& folder, const std::string& script) {
  RunRequest request;
  request.program = folder.script(script);
  request.folder = (folder.path / "runs").string();
  request.words = {"toy_fig1", "toy"};
  request.of = toy();
  return request;
}

std::size_t files_in(const std::string& folder) {
  std::error_code error;
  std::size_t count = 0;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; ++at) ++count;
  return count;
}

const auto nobody = [](const std::string&) {};

}  // namespace

TEST_CASE("a child's output, its lines on standard error and its exit are heard", "[app]") {
  const Folder folder;
  std::vector<std::string> lines;
  const auto child = run_child({folder.script("echo out; printf 'one\\rtwo\\n\\n' >&2; exit 7")}, {},
                               [&](std::string_view line) { lines.emplace_back(line); });
  REQUIRE(child.ok());
  CHECK(child->code == 7);
  CHECK(child->out == "out\n");
  CHECK(lines == std::vector<std::string>{"one", "two"});
  CHECK(child->last_error == "two");
  CHECK_FALSE(run_child({(folder.path / "nothing").string()}, {}, {}).ok());
}

TEST_CASE("a child that writes without end is ended, on whichever stream it does", "[app]") {
  for (const char* words : {"exec yes", "exec yes $(printf %01000d 0) >&2", "yes & yes $(printf %01000d 0) >&2 & wait"}) {
    const auto child = run_child({"sh", "-c", words}, {}, {});
    REQUIRE_FALSE(child.ok());
    CHECK(child.error().faults.front().message == "sh writes without end; it was ended after 64 MiB");
  }
}

TEST_CASE("a cancelled child is gone, with what it started, even if it does not listen", "[app]") {
  const Folder folder;
  std::stop_source stop;
  const std::string script = folder.script("trap '' TERM\nsleep 600 &\necho $! >&2\nwait\nsleep 600");
  pid_t grandchild = 0;
  const auto child = run_child({script}, stop.get_token(), [&](std::string_view line) {
    grandchild = static_cast<pid_t>(std::stoi(std::string(line)));
    stop.request_stop();
  });
  REQUIRE(child.ok());
  CHECK(child->cancelled);
  REQUIRE(grandchild > 0);
  // Nobody has waited for it, so that it may still be listed as dead.
  CHECK(test::wait_until([&] {
    std::string state;
    std::ifstream("/proc/" + std::to_string(grandchild) + "/stat") >> state >> state >> state;
    return ::kill(grandchild, 0) != 0 || state == "Z";
  }));
}

TEST_CASE("a run is kept with its schedule, and the history finds it", "[app]") {
  const Folder folder;
  const RunRequest r = request(folder, "echo 'heddle: block 3 of 9' >&2\necho \"$@\" > \"$(dirname \"$0\")/words\"\ncat " +
                                           test::repository_path("tests/golden/measurement.json"));
  std::string said;
  const RunAnswer answer = run_kernel(r, {}, [&](const std::string& doing) { said = doing; });
  INFO(answer.failure);
  REQUIRE(answer.run);
  CHECK(said == "block 3 of 9");
  CHECK(answer.run->measurement.kernel == "example");
  CHECK(fs::path(answer.run->path).parent_path() == fs::path(r.folder));  // whatever the schedule is called
  CHECK(files_in(r.folder) == 2);
  std::string words;
  std::getline(std::ifstream(folder.path / "words"), words);
  CHECK(words.find("run toy_fig1 toy --json --no-color ") == 0);
  CHECK(fs::exists(words.substr(words.rfind(' ') + 1)));
  const auto runs = read_runs(r.folder, 10);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]->path == answer.run->path);
}

TEST_CASE("a run that comes to nothing leaves a sentence and no files", "[app]") {
  const Folder folder;
  RunAnswer answer = run_kernel(request(folder, "echo 'heddle: something is wrong' >&2; exit 3"), {}, nobody);
  CHECK_FALSE(answer.run);
  CHECK(answer.failure == "heddle: something is wrong");
  answer = run_kernel(request(folder, "kill -9 $$"), {}, nobody);
  CHECK(answer.failure.find("signal 9") != std::string::npos);
  answer = run_kernel(request(folder, "echo not json"), {}, nobody);
  CHECK(answer.failure.find("code 0") != std::string::npos);
  std::string none =
      "{\"schema\": \"heddle.measurement/1\", \"kernel\": \"a\", \"machine\": \"b\", \"status\": \"no-gpu\", \"sentence\": \"no driver\"}";
  answer = run_kernel(request(folder, "echo '" + none + "'; exit 6"), {}, nobody);
  CHECK(answer.failure == "no driver");
  CHECK(files_in((folder.path / "runs").string()) == 0);
}

TEST_CASE("measured bars lie where the ops were, and measured latencies replace those that were off", "[app]") {
  const KernelSubject of = toy();
  Measurement m;
  m.kernel = of.problem->kernel;
  m.predicted_ii = 2;
  m.measured_ii = 4;
  m.schedule_hash = schedule_hash(*of.problem, *of.schedule);
  m.profile.emplace();
  const Op& s = of.problem->ops[0];
  m.profile->ops = {{s.name, "g", 9, 1, 40, 1, 0, static_cast<double>(s.latency), true}, {"no such op", "g", 9, 0, 5, 0, 0, 1, true}};
  GanttOptions options;
  options.mode = GanttMode::Unrolled;
  const GanttModel chart = build_gantt(*of.problem, *of.schedule, options);
  const auto bars = measured_bars(*of.problem, chart, m);
  REQUIRE(bars.size() == 3);
  for (const OtherBar& bar : bars) {
    CHECK(bar.begin == 2 * bar.iteration + 1 + 2 * bar.iteration);  // its place, one cycle late, and 2 more each time
    CHECK(bar.end == bar.begin + 40);
    CHECK(bar.differs);
  }
  const Changes changes = adopt(*of.problem, *m.profile).changes;
  REQUIRE_FALSE(changes.empty());
  CHECK(changes[0].op == s.name);
  CHECK(changes[0].value == 40);
  const auto rows = residual_rows(*of.problem, *m.profile);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == s.name);
  CHECK_FALSE(rows[1].op.valid());
}

TEST_CASE("a row of the history says what there is and nothing else", "[app]") {
  const auto m = read_measurement(test::repository_path("tests/golden/measurement.json"));
  REQUIRE(m);
  const RunRow row = run_row(*m);
  CHECK(row.date == "2026-01-02 03:04");
  CHECK(row.status == "wrong");
  CHECK(row.tflops == "733");
  CHECK(row.ratio == "0.99");
  CHECK(row.residual == "+2.4 %");
  const RunRow empty = run_row({});
  CHECK(empty.tflops.empty());
  CHECK(empty.measured.empty());
}

TEST_CASE("a race is kept with its schedule, and is no run", "[app]") {
  const Folder folder;
  const RunRequest r = request(folder, "echo 'heddle: round 1 of at most 40' >&2\necho \"$@\" > \"$(dirname \"$0\")/words\"\ncat " +
                                           test::repository_path("tests/golden/race.json") + "\nexit 5");
  std::string said;
  const RaceOutcome outcome = race_kernel(r, {}, [&](const std::string& doing) { said = doing; });
  INFO(outcome.failure);
  REQUIRE(outcome.race);  // ranks that are not settled are an answer, too
  CHECK(said == "round 1 of at most 40");
  CHECK(outcome.race->race.winner()->name == "at 10");
  CHECK(outcome.race->path.ends_with(".race.json"));
  CHECK(files_in(r.folder) == 2);
  CHECK(read_runs(r.folder, 10).empty());
  std::string words;
  std::getline(std::ifstream(folder.path / "words"), words);
  CHECK(words.find("race toy_fig1 toy --json --no-color ") == 0);
}

TEST_CASE("a race that comes to nothing leaves a sentence and no files", "[app]") {
  const Folder folder;
  const RunRequest none = request(folder, "echo 'heddle: the CUDA driver finds no GPU' >&2; exit 6");
  const RaceOutcome failed = race_kernel(none, {}, nobody);
  CHECK_FALSE(failed.race);
  CHECK(failed.failure.find("the CUDA driver finds no GPU") != std::string::npos);
  CHECK(files_in(none.folder) == 0);
}
