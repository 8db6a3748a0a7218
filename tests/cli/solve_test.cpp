// heddle solve, with a solver and without.
#include <catch2/catch.hpp>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("the toy is solved to II 2 and length 4, proved, and the JSON has every promised field", "[app]") {
  const auto run = run_heddle({"solve", "toy_fig1", "toy", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  CHECK(run.err.empty());
  const json answer = json::parse(run.out);
  CHECK(answer.at("status") == "optimal");
  CHECK(answer.at("ii") == 2);
  CHECK(answer.at("length") == 4);
  CHECK(answer.at("lower_bound") == 2);
  CHECK(answer.at("period").is_number_integer());
  for (const char* key : {"res_mii", "rec_mii", "stages", "checker", "groups", "ops", "channels", "objectives"})
    CHECK(answer.contains(key));
  for (const char* key : {"id", "role", "warps", "registers", "ops"}) CHECK(answer.at("groups").at(0).contains(key));
  for (const char* key : {"id", "start", "stage", "slot", "group"}) CHECK(answer.at("ops").at(0).contains(key));
  for (const char* key : {"name", "value", "proved"}) CHECK(answer.at("objectives").at(0).contains(key));
  for (const char* key : {"encode", "first", "proof", "total"}) CHECK(answer.at("seconds").contains(key));
}

TEST_CASE("a saved schedule is accepted by check and drawn by show", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.path("best.json");
  const auto run = run_heddle({"solve", "toy_fig1", "toy", "--out", path});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "II 2"));
  CHECK(contains(run.out, "proved"));
  CHECK(contains(run.err, "best.json"));
  CHECK(run_heddle({"check", "toy_fig1", "toy", path}).code == kDone);
  CHECK(contains(run_heddle({"show", "toy_fig1", "toy", path}).out, "the file says proved"));
  // The same on standard output, the summary then on the other stream.
  const auto piped = run_heddle({"solve", "toy_fig1", "toy", "--out", "-"});
  CHECK(json::parse(piped.out).at("schema") == "heddle.schedule/1");
  CHECK(contains(piped.err, "II 2"));
}

TEST_CASE("a schedule with a group left empty by a constraint is read back", "[app]") {
  ScratchFolder folder;
  const std::string demands =
      folder.write("demands.json",
                   R"({"schema": "heddle.constraints/1", "constraints": [{"kind": "not_in_group", "ops": ["S", "P", "O"], "group": 0}]})");
  const std::string path = folder.path("best.json");
  REQUIRE(run_heddle({"solve", "toy_fig1", "toy", "--constraints", demands, "--out", path}).code == kDone);
  const auto judged = run_heddle({"check", "toy_fig1", "toy", path, "--constraints", demands});
  CHECK(judged.code == kDone);
  CHECK(judged.err.empty());
  for (const char* format : {"svg", "trace", "dot", "csv", "text", "json"})
    CHECK(run_heddle({"export", "toy_fig1", "toy", path, "--format", format}).code == kDone);
}

TEST_CASE("a place that cannot be written to is refused before the search", "[app]") {
  ScratchFolder folder;
  const std::string taken = std::filesystem::path(folder.path("x")).parent_path().string();
  auto run = run_heddle({"solve", "toy_fig1", "toy", "--out", taken});
  CHECK(run.code == kEnvironment);
  CHECK(run.out.empty());
  CHECK(contains(run.err, "Is a directory"));
  run = run_heddle({"solve", "toy_fig1", "toy", "--json", "--out", taken});
  CHECK(run.code == kEnvironment);
  CHECK(json::parse(run.out).at("error") == "environment");
  run = run_heddle({"export", "toy_fig1", "toy", "--format", "svg", "--out", taken});
  CHECK(run.code == kEnvironment);
}

TEST_CASE("infeasible requests exit with 4 and say why", "[app]") {
  auto run = run_heddle({"solve", "toy_fig1", "toy", "--ii", "1"});
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "no schedule at this II"));
  run = run_heddle({"solve", "toy_fig1", "toy", "--ii", "1", "--json"});
  CHECK(run.code == kNegative);
  CHECK(json::parse(run.out).at("status") == "infeasible");
  ScratchFolder folder;
  const std::string clash = folder.write(
      "clash.json",
      R"({"schema": "heddle.constraints/1", "constraints": [{"kind": "pin", "ops": ["S"], "at": 5}, {"kind": "range", "ops": ["P"], "low": 0, "high": 4}]})");
  CHECK(run_heddle({"solve", "toy_fig1", "toy", "--constraints", clash}).code == kNegative);
  CHECK(run_heddle({"show", "toy_fig1", "toy", "--constraints", clash}).code == kNegative);
}

TEST_CASE("an II that is asked for is decided, and nothing is claimed about smaller ones", "[app]") {
  const auto run = run_heddle({"solve", "toy_fig1", "toy", "--ii", "3", "--json"});
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("ii") == 3);
  CHECK(contains(run_heddle({"solve", "toy_fig1", "toy", "--ii", "3", "-q"}).out, "as requested"));
}

TEST_CASE("caps on stages and groups hold, and the proof is about schedules within them", "[app]") {
  json answer = json::parse(run_heddle({"solve", "toy_fig1", "toy", "--max-stages", "1", "--json"}).out);
  CHECK(answer.at("status") == "optimal");
  CHECK(answer.at("stages") == 1);
  CHECK(answer.at("ii") == 3);
  answer = json::parse(run_heddle({"solve", "toy_fig1", "toy", "--groups", "1", "--json"}).out);
  CHECK(answer.at("groups").size() == 1);
}

TEST_CASE("the same seed gives the same schedule", "[app]") {
  const auto once = run_heddle({"solve", "toy_fig1", "toy", "--seed", "7", "--out", "-"}),
             again = run_heddle({"solve", "toy_fig1", "toy", "--seed", "7", "--out", "-"});
  const json a = json::parse(once.out), b = json::parse(again.out);
  CHECK(a.at("ops") == b.at("ops"));
  CHECK(a.at("groups") == b.at("groups"));
}

TEST_CASE("show and export solve first when no schedule is given", "[app]") {
  CHECK(contains(run_heddle({"show", "toy_fig1", "toy"}).out, "II 2"));
  const auto run = run_heddle({"export", "toy_fig1", "toy", "--format", "trace"});
  CHECK(run.code == kDone);
  CHECK(json::accept(run.out));
}

TEST_CASE("Ctrl-C stops the solver, prints what is known and exits with 130", "[app]") {
  // A signal that comes too early or too late would end the test program: InterruptScope has to be in place.
  std::signal(SIGINT, SIG_DFL);  // shells in the background start programs that ignore it
  struct sigaction before {};
  sigaction(SIGINT, nullptr, &before);
  std::jthread sender([&before](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      struct sigaction now {};
      sigaction(SIGINT, nullptr, &now);
      if (now.sa_handler != before.sa_handler) {
        raise(SIGINT);
        return;
      }
      std::this_thread::yield();
    }
  });
  const auto run = run_heddle({"solve", "attention_backward_blackwell", "b200", "--json", "--timeout", "30"});
  sender.request_stop();
  INFO(run.err << run.out);
  // It may have finished in the same moment.
  CHECK((run.code == kInterrupted || run.code == kDone));
  CHECK(json::accept(run.out));
}

TEST_CASE("while the solver runs, interrupts stay with the command line", "[app]") {
  // Z3 likes to take over SIGINT for the length of a query, and would then end that query only.
  std::set<void (*)(int)> handlers;
  std::jthread sampler([&handlers](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      struct sigaction now {};
      sigaction(SIGINT, nullptr, &now);
      handlers.insert(now.sa_handler);
      std::this_thread::yield();
    }
  });
  CHECK(run_heddle({"solve", "attention_forward_hopper", "h100", "-q"}).code == kDone);
  sampler.request_stop();
  sampler.join();
  CHECK(handlers.size() <= 2);  // the one before and after, and the command line's
}

#else

TEST_CASE("a build without solver says so and exits with 6", "[app]") {
  for (const char* command : {"solve", "show"}) {
    const auto run = run_heddle({command, "toy_fig1", "toy"});
    CHECK(run.code == kEnvironment);
    CHECK(run.out.empty());
    CHECK(contains(run.err, "no solver"));
  }
}

#endif

TEST_CASE("a demand about a group that there is not is the user's fault, and says which groups there are", "[app]") {
  for (const char* command : {"solve", "explain", "alternatives", "price"}) {
    CAPTURE(command);
    const auto run = run_heddle({command, "toy_fig1", "toy", "--demand", "S in group 2"});
    CHECK(run.code == kInvalidInput);
    CHECK(contains(run.err, "there are groups 0 to 1"));
  }
  CHECK(run_heddle({"solve", "toy_fig1", "toy", "--demand", "S in group 2", "--groups", "3"}).code != kInvalidInput);
}
