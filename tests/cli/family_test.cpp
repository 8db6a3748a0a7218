// heddle family and --subtile on the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

void check_refused(const std::vector<std::string>& args, const std::string& because, int code = kInvalidInput) {
  const auto run = run_heddle(args);
  INFO(run.err);
  CHECK(run.code == code);
  CHECK(run.out.empty());
  CHECK(contains(run.err, because));
}

}  // namespace

TEST_CASE("--subtile cuts a kernel before it is analysed or executed", "[app]") {
  const auto analysed = run_heddle({"analyze", "attention_forward_tile_hopper", "h100", "--subtile", "Q_ROWS=2", "--json"});
  REQUIRE(analysed.code == kDone);
  const json answer = json::parse(analysed.out);
  CHECK(answer.at("kernel") == "attention_forward_tile_hopper[Q_ROWS/2]");
  CHECK(answer.at("ops") == json::parse(run_heddle({"analyze", "attention_forward_hopper", "h100", "--json"}).out).at("ops"));
  const auto executed =
      run_heddle({"eval", "attention_forward_tile_hopper", "--subtile", "Q_ROWS=2", "--subtile", "KV=2", "-p", "HEADS=1", "-q"});
  CHECK(executed.out == "agrees\n");
  check_refused({"analyze", "attention_forward_tile_hopper", "h100", "--subtile", "HEADS=2"}, "is no tile dimension");
  check_refused({"eval", "attention_forward_tile_hopper", "--subtile", "Q_ROWS=3"}, "does not divide into 3");
  check_refused({"eval", "attention_forward_tile_hopper", "--subtile", "Q_ROWS=2", "-p", "Q_ROWZ=3"}, "did you mean 'Q_ROWS'?");
  check_refused({"analyze", "attention_forward_tile_hopper", "h100", "--subtile", "Q_ROWS"}, "NAME=INTEGER", kUsage);
}

#ifdef HEDDLE_HAS_SOLVER

TEST_CASE("a family is solved, and its JSON has every promised field", "[app]") {
  const auto run = run_heddle({"family", "gemm_hopper", "h100", "--vary", "TILE_N=128,256,100000", "--vary", "groups=2..3", "--json"});
  INFO(run.err);
  CHECK(run.code == kDone);
  const json answer = json::parse(run.out);
  CHECK(answer.at("machine") == "h100");
  CHECK(answer.at("work_unit") == "multiply_adds");
  CHECK(answer.at("complete") == true);
  CHECK(answer.at("ties_settled") == true);
  CHECK(answer.at("cancelled") == false);
  CHECK(answer.at("timed_out") == false);
  REQUIRE(answer.at("members").size() == 6);
  const json& best = answer.at("best").at(0);
  CHECK(best.at("objective") == "throughput");
  CHECK(best.at("proved") == true);
  const json& member = answer.at("members").at(best.at("member").get<std::size_t>());
  CHECK(member.at("label") == best.at("label"));
  CHECK(member.at("status") == "optimal");
  for (const char* key :
       {"kernel", "choices", "subtiles", "max_groups", "pruned", "why", "params", "problem_hash", "ops", "work", "min_ii", "ii",
        "lower_bound", "explanation", "cycles_per_work", "groups", "objectives", "seconds", "cycles_at_tensor_peak"})
    CHECK(member.contains(key));
  CHECK(member.at("cycles_per_work").at("work").get<int>() == 2048 * member.at("cycles_per_work").at("cycles").get<int>());
  CHECK(answer.at("solution").at("ii") == member.at("ii"));
  CHECK(answer.at("solution").at("checker").at("valid") == true);
  const json& invalid = answer.at("members").at(5);
  CHECK(invalid.at("status") == "invalid");
  CHECK_FALSE(invalid.at("faults").empty());
}

TEST_CASE("the best member's schedule is saved and the same command line solves it again", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.path("best.json");
  const auto run =
      run_heddle({"family", "attention_forward_tile_hopper", "h100", "--vary", "subtile:Q_ROWS=1,2", "--vary", "groups=2,3", "-o", path});
  INFO(run.err);
  REQUIRE(run.code == kDone);
  CHECK(contains(run.out, "Q_ROWS/2 groups<=3"));
  CHECK(contains(run.out, "proved: no member is faster"));
  CHECK(contains(run.out, "again: heddle solve attention_forward_tile_hopper h100 --subtile Q_ROWS=2\n"));
  const auto judged = run_heddle({"check", "attention_forward_tile_hopper", "h100", path, "--subtile", "Q_ROWS=2"});
  INFO(judged.err);
  CHECK(judged.code == kDone);
  CHECK(run_heddle({"check", "attention_forward_tile_hopper", "h100", path}).code != kDone);
}

TEST_CASE("families of several kernels, of the toy, and with one answer only", "[app]") {
  const auto both =
      run_heddle({"family", "attention_forward_hopper,attention_forward_tile_hopper", "h100", "-p", "KV=128", "--subtile", "Q_ROWS=2"});
  INFO(both.err);
  CHECK(both.code == kDone);
  CHECK(contains(both.out, "attention_forward_tile_hopper Q_ROWS/2"));
  CHECK(run_heddle({"family", "toy_fig1", "toy", "--vary", "groups=1..3", "-q"}).out.find("groups<=1") == 0);
  const auto traffic = run_heddle({"family", "gemm_hopper", "h100", "--vary", "TILE_N", "--objective", "traffic", "-q"});
  CHECK(traffic.out.find("TILE_N=256") == 0);
  const auto twice = run_heddle({"family", "gemm_hopper", "h100", "--vary", "TILE_N=128,256", "--set", "TC.capacity=2", "-q"});
  CHECK(twice.code == kDone);
  CHECK(contains(twice.out, "TILE_N=256"));
  CHECK_FALSE(contains(twice.out, "of the tensor peak"));
  // Without anybody to run the loads there is no schedule, and that is proved.
  const auto none = run_heddle({"family", "gemm_hopper", "h100", "--vary", "groups=1", "-q"});
  CHECK(none.code == kNegative);
  CHECK(contains(none.out, "no member has a schedule"));
  const auto late = run_heddle({"family", "gemm_hopper", "h100", "--vary", "groups=2,3", "--timeout", "0.000001"});
  CHECK(late.code == kNoProof);
  CHECK(contains(late.out, "time is up"));
  CHECK(contains(late.out, "partial answer"));
}

TEST_CASE("the best member's schedule on standard output has it for itself", "[app]") {
  const auto run = run_heddle({"family", "toy_fig1", "toy", "--vary", "groups=1,2", "--out", "-"});
  CHECK(run.code == kDone);
  CHECK(run.out.find("{\n  \"schema\": \"heddle.schedule/1\"") == 0);
  CHECK(contains(run.err, "members, the fastest first"));
  CHECK(run_heddle({"family", "toy_fig1", "toy", "--vary", "groups=1,2", "--out", "-", "--json"}).code == kUsage);
}

TEST_CASE("a family that makes no sense is refused with a reason", "[app]") {
  check_refused({"family", "gemm_hopper", "h100"}, "nothing varies");
  check_refused({"family", "gemm_hopper", "h100"}, "TILE_N");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE=1"}, "no kernel of the family has a parameter 'TILE'");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N=128;256"}, "is no list of integers");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N=1..99999999999999999999"}, "is no list of integers");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N=1..100000"}, "are 100000 values, a family has at most 1000");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N=3..2"}, "nothing lies from 3 to 2");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "groups"}, "needs values");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "groups=3..17"}, "groups are 1 to 16");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "groups=3", "--set", "groups=2"}, "a choice of the family");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N", "--set", "XX.capacity=2"}, "XX");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "subtile:=2"}, "names nothing");
  check_refused({"family", "gemm_hopper,", "h100", "--vary", "TILE_N"}, "");
  check_refused({"family", "gemm_hopper,gemm_hopper", "h100", "--vary", "TILE_N"}, "is named twice");
  check_refused({"family", "gemm_hopper", "h100", "--vary", "TILE_N=1..900", "--vary", "groups=1..9"}, "8100 members");
  check_refused({"family", "gemm_hopper,layernorm", "h100", "--vary", "groups=3"}, "cannot be compared");
  check_refused({"family", "gemm_hopper", "h100", "--all-choices", "--objective", "speed"}, "needs one of", kUsage);
}

#endif
