// Schedule and constraint files, read against a problem.
#include <catch2/catch.hpp>

#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "tests/support/golden.h"
#include "tests/support/paths.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

struct Case {
  Problem problem;
  Schedule schedule;
};

/// A load into a ring, a product that reads it and itself, and a softmax that reads a register value.
Case small_case() {
  test::ProblemBuilder build({"TMA", "TC", "EXP"});
  const OpId load = build.load("load", "TMA", 30, 500), gemm = build.async_op("gemm", "TC", 100, 150);
  const OpId soft = build.op("soft", "EXP", 80, 80);
  build.ring(load, 1024, {{gemm, 0}});
  build.registers(gemm, 32, {{soft, 0}});
  build.edge(soft, soft, 1);
  Case c{build.problem, {}};
  c.problem.kernel = "k";
  c.problem.machine = "m";
  c.problem.params = {{"N", 4}};
  Schedule& s = c.schedule;
  s.name = "hand";
  s.kernel = "k";
  s.machine = "m";
  s.params = {{"N", 4}};
  s.ii = 120;
  s.ops = {{0, GroupId(0)}, {510, GroupId(1)}, {660, GroupId(1)}};
  s.groups = {{"producer", 1, 24}, {"consumer A", 4, 240}};
  for (const Channel& channel : c.problem.channels) s.depths.push_back(channel.only_if_crossing ? 0 : 6);
  s.provenance = {"hand", "a person", "after a figure"};
  return c;
}

std::string faults_of(const Problem& problem, const std::string& text) {
  const auto schedule = parse_schedule(text, "s.json", problem);
  return schedule ? "no fault" : to_string(schedule.error());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a schedule survives a round trip, its certificate as a claim, and reads like a table", "[core]") {
  Case c = small_case();
  Certificate certificate;
  certificate.status = Status::Optimal;
  certificate.ii = 120;
  certificate.lower_bound = 120;
  certificate.reason = BoundReason::Refutation;
  certificate.explanation = "II 119 was refuted";
  certificate.objectives = {{"stages", 6, true}, {"warps", 5, false}};
  certificate.solver = "Z3";
  certificate.seed = 18446744073709551615ull;
  certificate.seconds = 0.25;
  certificate.problem_hash = problem_hash(c.problem);
  certificate.checked = true;
  c.schedule.certificate = certificate;
  const std::string text = schedule_text(c.problem, c.schedule);
  CHECK(test::golden_difference("schedule.json", text) == "");
  std::vector<Fault> warnings;
  const auto again = parse_schedule(text, "s.json", c.problem, &warnings);
  if (!again) FAIL(to_string(again.error()));
  CHECK(warnings.empty());
  CHECK(schedule_text(c.problem, *again) == text);
  CHECK_FALSE(again->certificate.has_value());  // this process has proved nothing
  REQUIRE(again->claim.has_value());
  CHECK(again->claim->seed == certificate.seed);
  CHECK(again->claim->seconds == 0.25);
  CHECK(again->claim->reason == BoundReason::Refutation);
  CHECK(again->start(OpId(2)) == 660);
  CHECK(again->group(OpId(2)) == GroupId(1));
  CHECK(again->depths == c.schedule.depths);

  const auto head = parse_schedule_head(text, "s.json");
  REQUIRE(head.ok());
  CHECK(head->kernel == "k");
  CHECK(head->machine == "m");
  CHECK(head->params == Scope{{"N", 4}});
}

TEST_CASE("a schedule that contradicts itself or the problem is told every contradiction", "[core]") {
  const Case c = small_case();
  CHECK(faults_of(c.problem, R"({"schema": "heddle.schedule/1", "kernel": "other", "machine": "m", "ii": 100,
    "groups": [{"id": 0, "role": "p", "warps": 1, "ops": ["load", "gemm"]}, {"id": 7, "role": "c", "warps": -1}],
    "ops": [{"id": "load", "start": 250, "stage": 1, "slot": 50, "group": 0}, {"id": "gemn", "start": 1, "group": 0},
            {"id": "gemm", "start": -3, "group": 2}, {"id": "load", "start": 1, "slot": 2, "group": 0}],
    "channels": [{"value": "lod", "depth": 2}]})") ==
        "s.json: /kernel: the schedule is for kernel 'other', not 'k'\n"
        "s.json: /groups/1/id: expected 1, found 7\n"
        "s.json: /groups/1/warps: expected an integer from 0 to 1024, found -1\n"
        "s.json: /ops/0/stage: stage 1 contradicts start 250 with II 100, which is stage 2 (correct it or leave "
        "\"stage\" out)\n"
        "s.json: /ops/1/id: no op 'gemn' in the loop body of k (did you mean 'gemm'?)\n"
        "s.json: /ops/2/start: expected an integer of at least 0, found -3\n"
        "s.json: /ops/2/group: expected an integer from 0 to 1, found 2\n"
        "s.json: /ops/3/slot: slot 2 contradicts start 1 with II 100, which is slot 1 (correct it or leave \"slot\" "
        "out)\n"
        "s.json: /ops/3/id: op 'load' is placed twice\n"
        "s.json: /ops: op 'soft' has no placement\n"
        "s.json: /channels/0/value: no channel holds a value 'lod' (did you mean 'load'?)\n"
        "s.json: /channels: channel 'load' has no depth (add {\"value\": \"load\", \"depth\": 1}, or more slots)");
  const std::string good = schedule_text(c.problem, c.schedule);
  CHECK(faults_of(c.problem, replaced(good, R"("ops": ["gemm", "soft"])", R"("ops": ["gemm", "load"])")) ==
        "s.json: /groups/1/ops/1: 'load' is listed in group 1, but its placement says group 0\n"
        "s.json: /groups/1/ops: 'soft' is placed in this group but not listed (list it or leave \"ops\" out)");
  CHECK(faults_of(c.problem, replaced(good, R"("ii": 120)", R"("ii": 0)")).find("/ii: expected a positive integer, found 0") !=
        std::string::npos);
}

TEST_CASE("no schedule is read whose ops have no group to be in", "[core]") {
  const Case c = small_case();
  const std::string good = schedule_text(c.problem, c.schedule);
  const std::size_t begin = good.find("\"groups\": [") + 11, end = good.find("\"ops\": [\n", begin);
  REQUIRE(end != std::string::npos);
  const std::string none = good.substr(0, begin) + "], " + good.substr(end);
  CHECK(faults_of(c.problem, none) == "s.json: /groups: expected at least one warp group");
}

TEST_CASE("a role is a name, or nothing", "[core]") {
  const Case c = small_case();
  const std::string good = schedule_text(c.problem, c.schedule);
  CHECK(faults_of(c.problem, replaced(good, "consumer A", "")) == "no fault");
  CHECK(faults_of(c.problem, replaced(good, "consumer A", "=cmd|' /C calc'!A0"))
            .starts_with("s.json: /groups/1/role: expected a name, found "));
}

TEST_CASE("what a certificate says of a period survives a round trip; files without it open as before", "[core]") {
  Case c = small_case();
  c.schedule.certificate = Certificate{};
  c.schedule.certificate->ii = 120;
  c.schedule.certificate->problem_hash = problem_hash(c.problem);
  const std::string without = schedule_text(c.problem, c.schedule);
  CHECK(without.find("\"period\"") == std::string::npos);
  CHECK_FALSE(parse_schedule(without, "s.json", c.problem).value().claim->period);

  PeriodProof& proof = c.schedule.certificate->period.emplace();
  proof.standing = PeriodStanding::LeastOfAll;
  proof.period = 615680;
  proof.bound = 594000;
  proof.programs = 75082;
  proof.digest = "95560f5603ff48bf";
  const std::string text = schedule_text(c.problem, c.schedule);
  const auto again = parse_schedule(text, "s.json", c.problem);
  REQUIRE(again.ok());
  REQUIRE(again->claim->period);
  CHECK(again->claim->period->standing == PeriodStanding::LeastOfAll);
  CHECK(again->claim->period->period == 615680);
  CHECK(again->claim->period->programs == 75082);
  CHECK(again->claim->period->digest == proof.digest);
  CHECK(faults_of(c.problem, replaced(text, "least_of_all", "the_least")).find("/certificate/period/standing") != std::string::npos);
  CHECK(faults_of(c.problem, replaced(text, "615680", "0")).find("/certificate/period/period") != std::string::npos);
}

TEST_CASE("a certificate that names no problem, or another II, is dropped with a warning", "[core]") {
  Case c = small_case();
  c.schedule.certificate = Certificate{};
  c.schedule.certificate->ii = 120;
  std::vector<Fault> warnings;
  auto read = parse_schedule(schedule_text(c.problem, c.schedule), "s.json", c.problem, &warnings);
  REQUIRE(read.ok());
  CHECK_FALSE(read->claim.has_value());
  REQUIRE(warnings.size() == 1);
  CHECK(
      to_string(warnings[0]) ==
      "s.json: /certificate: the certificate does not say which problem it is about and is ignored (solve again to certify this schedule)");
  c.schedule.certificate->problem_hash = problem_hash(c.problem);
  CHECK(parse_schedule(schedule_text(c.problem, c.schedule), "s.json", c.problem)->claim.has_value());
  c.schedule.certificate->ii = 90;
  warnings.clear();
  read = parse_schedule(schedule_text(c.problem, c.schedule), "s.json", c.problem, &warnings);
  REQUIRE(read.ok());
  CHECK_FALSE(read->claim.has_value());
  CHECK(warnings.at(0).message == "the certificate is for II 90, the schedule has II 120; it is ignored");
}

TEST_CASE("a schedule made for changed numbers says so, and is read elsewhere with a warning", "[core]") {
  Case c = small_case();
  const Problem as_it_was = c.problem;
  c.problem.changes = {"load.latency=+1"};
  const std::string text = schedule_text(c.problem, c.schedule);
  std::vector<Fault> warnings;
  REQUIRE(parse_schedule(text, "s.json", c.problem, &warnings).ok());
  CHECK(warnings.empty());
  REQUIRE(parse_schedule(text, "s.json", as_it_was, &warnings).ok());
  REQUIRE(warnings.size() == 1);
  CHECK(to_string(warnings[0]) == "s.json: /changes: the schedule is for changed numbers: load.latency=+1");
  CHECK(warnings[0].part == "other changes");
}

TEST_CASE("a schedule for other parameters or another machine is read with warnings", "[core]") {
  const Case c = small_case();
  std::string text = replaced(schedule_text(c.problem, c.schedule), R"({"N": 4})", R"({"N": 8, "M": 1})");
  text = replaced(text, R"("machine": "m")", R"("machine": "other")");
  std::vector<Fault> warnings;
  REQUIRE(parse_schedule(text, "s.json", c.problem, &warnings).ok());
  REQUIRE(warnings.size() == 3);
  CHECK(to_string(warnings[0]) == "s.json: /machine: the schedule is for machine 'other', not 'm'");
  CHECK(to_string(warnings[1]) == "s.json: /params/M: the kernel has no parameter 'M'");
  CHECK(to_string(warnings[2]) == "s.json: /params/N: the schedule is for N = 8, the problem has 4");
}

TEST_CASE("every kind of constraint survives a round trip", "[core]") {
  const Case c = small_case();
  const auto constraints_file = test::repository_path("tests/golden/constraints.json");
  std::vector<Fault> warnings;
  const auto constraints = read_constraints(constraints_file, c.problem, &warnings);
  if (!constraints) FAIL(to_string(constraints.error()));
  CHECK(warnings.empty());
  CHECK(constraints->size() == 16);
  CHECK(test::golden_difference("constraints.json", constraints_text(*constraints)) == "");
  CHECK(describe(constraints->at(0)) == "pin gemm at 128");
  CHECK(describe(constraints->at(1)) == "gemm and soft from 1 to 9");
  CHECK(describe(constraints->at(15)) == "at most 2 slots for load");
}

TEST_CASE("all faults of a constraints file come at once", "[core]") {
  const Case c = small_case();
  const auto read = parse_constraints(R"({"schema": "heddle.constraints/1", "constraints": [
    {"kind": "pinn", "ops": ["gemm"], "at": 1}, {"name": "x", "kind": "pin", "ops": ["gem"], "att": 1},
    {"name": "x", "kind": "before", "ops": ["gemm"], "delay": 1}, {"kind": "range", "ops": ["soft", "soft"], "low": 5, "high": 2},
    {"kind": "max_depth", "channel": "laod", "limit": -1}, {"kind": "max_warps", "limit": "12"}]})",
                                      "c.json", c.problem);
  REQUIRE(!read.ok());
  CHECK(to_string(read.error()) ==
        "c.json: /constraints/0/kind: unknown kind of constraint \"pinn\" (known: pin, range, in_group, not_in_group, "
        "same_group, different_group, before, same_stage, earlier_stage, max_stages, max_warps, max_groups, max_registers, max_smem, "
        "max_tmem, "
        "max_depth, one_by_one, ii_range, closed_group, max_width_registers, max_stage_smem or max_crossing_smem) (did you mean 'pin'?)\n"
        "c.json: /constraints/1/ops/0: no op 'gem' in the loop body of k (did you mean 'gemm'?)\n"
        "c.json: /constraints/1: missing key 'at' (is 'att' meant to be it?)\n"
        "c.json: /constraints/2/ops: before takes 2 ops, found 1\n"
        "c.json: /constraints/2: name 'x' is already taken by /constraints/1 (constraints are told apart by name)\n"
        "c.json: /constraints/3/ops/1: op 'soft' is listed twice\n"
        "c.json: /constraints/3: low 5 is above high 2; nothing lies between (swap the two)\n"
        "c.json: /constraints/4/channel: no channel 'laod' (did you mean 'load'?)\n"
        "c.json: /constraints/4/limit: expected an integer of at least 0, found -1\n"
        "c.json: /constraints/5/limit: expected an integer of at least 0, found \"12\" (did you mean 12?)");
}
