// heddle overlay: a trace of another profiler, from its file to a measurement.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using heddle::test::toy_schedule;
using nlohmann::json;

namespace {

const char* const kTrace = R"([{"ph":"X","name":"S","pid":0,"tid":0,"ts":0.001,"dur":0.001},
  {"ph":"X","name":"p_3","pid":0,"tid":0,"ts":0.002,"dur":0.001},{"ph":"X","name":"S","pid":0,"tid":0,"ts":0.004,"dur":0.001},
  {"ph":"X","name":"gemm","pid":0,"tid":0,"ts":0.005,"dur":0.001}])";

}  // namespace

TEST_CASE("overlay makes a measurement of a trace and says what is no op", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("s.json", toy_schedule()), trace = folder.write("t.json", kTrace), out = folder.path("m.json");
  const auto run = run_heddle({"overlay", "toy_fig1", "toy", trace, schedule, "--out", out});
  CHECK(run.code == kDone);
  CHECK(contains(run.err, "'gemm' is no op of this kernel (1 event)"));
  CHECK(contains(run.err, "no event of O"));
  const json measured = json::parse(heddle::test::read_text(out));
  CHECK(measured.at("kernel") == "toy_fig1");
  CHECK(measured.at("profile").at("ops").size() == 2);
  const auto mapped = run_heddle({"overlay", "toy_fig1", "toy", trace, schedule, "--json", "--map",
                                  folder.write("map.json", R"({"schema":"heddle.trace_map/1","ops":{"gemm":"O"},"counts":"cycles"})")});
  CHECK(mapped.code == kDone);
  CHECK(json::parse(mapped.out).at("profile").at("ops").size() == 3);
}

TEST_CASE("overlay names what is wrong with its files", "[app]") {
  ScratchFolder folder;
  const std::string schedule = folder.write("s.json", toy_schedule()), trace = folder.write("t.json", kTrace);
  CHECK(run_heddle({"overlay", "toy_fig1", "toy", folder.path("none.json"), schedule}).code == kInvalidInput);
  const auto empty = run_heddle({"overlay", "toy_fig1", "toy", folder.write("e.json", "{}"), schedule});
  CHECK(empty.code == kInvalidInput);
  CHECK(contains(empty.err, "traceEvents"));
  const auto wrong = run_heddle({"overlay", "toy_fig1", "toy", trace, schedule, "--map",
                                 folder.write("map.json", R"({"schema":"heddle.trace_map/1","ops":{"gemm":"Q"}})")});
  CHECK(wrong.code == kInvalidInput);
  CHECK(contains(wrong.err, "map.json: /ops/gemm"));
}

TEST_CASE("show says how busy units are and what groups do between two cycles", "[app]") {
  ScratchFolder folder;
  const auto run = run_heddle({"show", "toy_fig1", "toy", folder.write("s.json", toy_schedule()), "--begin", "0", "--end", "2"});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "cycles 0 to 2: 2 cycles, of the schedule as drawn"));
  CHECK(contains(run.out, "of its capacity"));
  CHECK(contains(run.out, "issuing"));
}
