// --set and the changes of a constraints file, on the command line.
#include <catch2/catch.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using test::contains;
using test::run_heddle;

TEST_CASE("--set changes what is analyzed, and the answer says so", "[app]") {
  const auto before = run_heddle({"analyze", "toy_fig1", "toy"});
  const auto after = run_heddle({"analyze", "toy_fig1", "toy", "--set", "S.duration=5", "--set", "TC.capacity=2"});
  CHECK(before.code == app::kDone);
  CHECK(after.code == app::kDone);
  CHECK(contains(before.out, "MinII 2"));
  CHECK(contains(after.out, "changed: S.duration=5, TC.capacity=2"));
  CHECK(contains(after.out, "MinII 3"));  // 6 cycles of work on two tensor cores
  const auto json = run_heddle({"analyze", "toy_fig1", "toy", "--set", "S.latency=5", "--json"});
  CHECK(contains(json.out, "\"changes\": [\"S.latency=5\"]"));
}

TEST_CASE("changes of a constraints file are in force together with its constraints", "[app]") {
  const test::ScratchFolder folder;
  const std::string file = folder.write("what_if.json", R"({"schema": "heddle.constraints/1",
    "constraints": [{"kind": "pin", "ops": ["S"], "at": 0}],
    "changes": [{"name": "slow O", "kind": "latency", "op": "O", "to": 4}, {"kind": "groups", "to": 1, "enabled": false}]})");
  const auto changed = run_heddle({"check", "toy_fig1", "toy", folder.write("s.json", test::toy_schedule()), "--constraints", file});
  CHECK(changed.code == app::kNegative);  // O takes part in a recurrence of its own latency
  CHECK(contains(changed.out, "dependence"));
  CHECK(contains(changed.out, "O starts at 3"));
}

TEST_CASE("faults of changes and of constraints come together, each once", "[app]") {
  const test::ScratchFolder folder;
  const std::string file = folder.write("bad.json", R"({"schema": "heddle.constraints/1",
    "constraints": [{"kind": "pin", "ops": ["T"], "at": 0, "when": 3}],
    "changes": [{"kind": "latency", "op": "Q", "to": 4, "from": 3}]})");
  const auto run =
      run_heddle({"check", "toy_fig1", "toy", folder.write("s.json", test::toy_schedule()), "--constraints", file, "--set", "Z.latency=1"});
  CHECK(run.code == app::kInvalidInput);
  for (const char* part : {"/constraints/0/ops/0", "there is no number 'Z.latency'", "/changes/0/from", "/constraints/0/when"}) {
    CAPTURE(part);
    const std::size_t first = run.err.find(part);
    REQUIRE(first != std::string::npos);
    CHECK(run.err.find(part, first + 1) == std::string::npos);
  }
  const auto names = run_heddle({"check", "toy_fig1", "toy", folder.write("s.json", test::toy_schedule()), "--constraints", file});
  CHECK(contains(names.err, "/changes/0/op"));
  CHECK(contains(names.err, "/constraints/0/ops/0"));
}

TEST_CASE("--set without a value is a usage error", "[app]") {
  CHECK(run_heddle({"analyze", "toy_fig1", "toy", "--set", "S.latency"}).code == app::kUsage);
  CHECK(run_heddle({"analyze", "toy_fig1", "toy", "--set"}).code == app::kUsage);
  CHECK(run_heddle({"analyze", "toy_fig1", "toy", "--set", "S.latency="}).code == app::kInvalidInput);
}
