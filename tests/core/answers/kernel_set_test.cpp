// The answer about a family, in JSON and in words: every member has its line, hostile names cannot steer the terminal, and
// what is not proved says so.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/answers/kernel_set.h"
#include "tests/support/json_schema.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

const TextStyle kPlain{120, false, false};

/// One winner, one pruned, one refuted, one that timed out, one that is no problem.
KernelSetAnswer family() {
  KernelSetAnswer f;
  f.machine = "m\x1b[31m";
  f.work = WorkKind::MultiplyAdds;
  for (const char* label : {"A=1", "A=2", "A=3", "A=4", "A=\x1b[2J"}) {
    KernelSetMember m;
    m.kernel = "kernel";
    m.label = label;
    m.choices = {{"A", 1}};
    m.subtiles = {{"Q", 2}};
    m.problem = test::empty_problem();
    test::add_op(m.problem, "op", 4);
    m.work = {WorkKind::MultiplyAdds, 4096, 640, 8};
    m.min_ii = 8;
    m.outcome.lower_bound = 8;
    m.outcome.seconds.total = 0.25;
    f.members.push_back(m);
  }
  KernelSetMember &winner = f.members[0], &pruned = f.members[1], &refuted = f.members[2], &late = f.members[3], &invalid = f.members[4];
  winner.outcome.status = Status::Optimal;
  winner.outcome.explanation = "unit U is full";
  winner.outcome.schedule = test::place(winner.problem, 10, {{0, 0}});
  winner.outcome.lower_bound = 10;
  winner.outcome.objectives = {{"ii", 10, true}, {"stages", 2, true}, {"warps", 5, false}};
  pruned.pruned = true;
  pruned.work.amount = 2048;
  pruned.why = "II >= 8, but only II <= 5 would equal A=1";
  refuted.outcome.status = Status::Infeasible;
  refuted.outcome.explanation = "too few registers";
  late.why = "time is up";
  invalid.faults = {{"k.json", "/values/3", "tile too large", "smaller"}, {"k.json", "", "more", ""}};
  invalid.outcome.status = Status::Invalid;
  f.best = {{"throughput", 0, 10, false}, {"stages", 0, 2, true}};
  f.seconds = 1.5;
  f.solver = "Z3";
  return f;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a family in words: the best first, then who did not make it and why", "[core]") {
  const std::string text = kernel_set_summary(family(), kPlain);
  INFO(text);
  CHECK_FALSE(contains(text, "\x1b"));
  CHECK(contains(text, "A=1 | II 10 | 409.6 MAC/cycle | 80.0 % of the tensor peak | not proved"));
  CHECK(contains(text, "unit U is full"));
  CHECK(contains(text, "64.0"));  // bytes per cycle
  CHECK(contains(text, "partial answer"));
  CHECK(contains(text, "pruned"));
  CHECK(contains(text, "<= 5"));  // the II with which the pruned member would have been as fast
  CHECK(contains(text, "5?"));    // warps, not proved
  CHECK(contains(text, "A=4: time is up"));
  CHECK(contains(text, "A=3: too few registers"));
  CHECK(contains(text, "tile too large (smaller), and 1 more"));
  CHECK(text.find("A=1") < text.find("A=2"));
}

TEST_CASE("a family without an answer says what is known", "[core]") {
  KernelSetAnswer f = family();
  f.best.clear();
  f.members.resize(1);
  f.members[0].outcome = {};
  f.members[0].outcome.status = Status::Infeasible;
  f.complete = true;
  CHECK(kernel_set_headline(f, kPlain) == "no member has a schedule | proved");
  f.complete = false;
  f.timed_out = true;
  CHECK(kernel_set_headline(f, kPlain) == "no schedule found | time is up");
  CHECK_FALSE(kernel_set_summary(f, kPlain).empty());
  f.members.clear();
  CHECK_FALSE(kernel_set_summary(f, kPlain).empty());
  CHECK(nlohmann::json::parse(kernel_set_json(f).pretty()).at("solution").is_null());
}

TEST_CASE("a family as JSON: exact ratios, five words, nulls where nothing is known", "[core]") {
  const auto json = nlohmann::json::parse(kernel_set_json(family()).pretty());
  CHECK(test::schema_fault(kernel_set_schema(), kernel_set_json(family())) == "");
  CHECK(json.at("work_unit") == "multiply_adds");
  REQUIRE(json.at("members").size() == 5);
  const auto& winner = json.at("members").at(0);
  CHECK(winner.at("cycles_per_work").at("cycles") == 5);
  CHECK(winner.at("cycles_per_work").at("work") == 2048);
  CHECK(winner.at("cycles_per_work_at_least").at("work") == 2048);
  CHECK(winner.at("subtiles").at(0).at("factor") == 2);
  const auto& pruned = json.at("members").at(1);
  CHECK(pruned.at("pruned") == true);
  CHECK(pruned.at("status") == "unknown");
  CHECK(pruned.at("ii").is_null());
  CHECK(pruned.at("cycles_per_work").is_null());
  CHECK(json.at("members").at(2).at("status") == "infeasible");
  CHECK(json.at("members").at(4).at("status") == "invalid");
  CHECK(json.at("members").at(4).at("faults").size() == 2);
  CHECK(json.at("best").at(0).at("proved") == false);
  CHECK(json.at("solution").at("ii") == 10);
}
