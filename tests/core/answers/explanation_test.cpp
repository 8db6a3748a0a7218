// An explanation as text and as JSON.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "core/answers/explanation.h"
#include "tests/support/json_schema.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

Problem two_ops() {
  Problem p = test::empty_problem();
  const UnitId tc = test::add_unit(p, "TC");
  test::add_op(p, "qk", 10, 1, {{tc, 0, 10, 1}});
  test::add_op(p, "pv\x1b[2J", 10, 1, {{tc, 0, 10, 1}});
  return p;
}

Explanation refutation() {
  Explanation e;
  e.status = Status::Optimal;
  e.ii = 21;
  e.refuted = 20;
  e.reason = BoundReason::Refutation;
  e.sentence = "II 21 is the least: 20 has no schedule";
  e.together = e.verified = true;
  e.members.push_back(
      {"unit", "TC does one op at a time: qk, pv\x1b[2J", {OpId(0u), OpId(1u)}, {{"capacity", 1}}, {}, true, "TC: 2 at slot 4", 4});
  e.members.push_back({"dependence", "dependences qk -10-> pv", {OpId(0u), OpId(1u)}, {}, {}, true, "", -1});
  e.ways_out.push_back({0, "capacity of TC", "1", "2", Status::Optimal, 11, "MUFU", 0.5});
  e.ways_out.push_back({1, "latency", "10", "0", Status::Optimal, 21, "", 0.5});
  e.ways_out.push_back({1, "hand-off", "10", "0", Status::Feasible, 19, "", 0.5});
  e.ways_out.push_back({1, "other", "", "dropped", Status::Infeasible, 0, "", 0.5});
  e.ways_out.push_back({1, "slow", "1", "2", Status::Unknown, 0, "", 0.5});
  return e;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an explanation says what meets, what was shown, and what each way out is worth", "[report]") {
  const std::string text = explanation_summary(two_ops(), refutation(), TextStyle{});
  CAPTURE(text);
  CHECK(contains(text, "because these two cannot hold together"));
  CHECK(contains(text, "without it: TC: 2 at slot 4"));
  CHECK(contains(text, "without any one of them"));
  CHECK(contains(text, "II 11 (proved)"));
  CHECK(contains(text, "no gain (proved)"));
  CHECK(contains(text, "at most II 19, not decided"));
  CHECK(contains(text, "still infeasible (proved)"));
  CHECK(contains(text, "not decided in time"));
  CHECK_FALSE(contains(text, "\x1b"));
}

TEST_CASE("what was not decided in time stands apart, and that time is up stands at the top", "[report]") {
  const std::string text = explanation_summary(two_ops(), refutation(), TextStyle{});
  CAPTURE(text);
  CHECK(explanation_end(refutation()) == "time is up: 2 of 5 changes are not decided");
  CHECK(contains(explanation_headline(refutation()).c_str(), "time is up: 2 of 5 changes are not decided"));
  CHECK(text.find("time is up") < text.find("because these two"));
  CHECK(text.find("still infeasible (proved)") < text.find("not decided: more time may find more"));
  CHECK(text.find("not decided: more time may find more") < text.find("at most II 19, not decided"));
  Explanation whole = refutation();
  std::erase_if(whole.ways_out, [](const WayOut& way) { return !decided(way); });
  CHECK(explanation_end(whole).empty());
  CHECK_FALSE(contains(explanation_summary(two_ops(), whole, TextStyle{}), "not decided"));
}

TEST_CASE("an explanation that was not verified says so", "[report]") {
  Explanation e = refutation();
  e.verified = false;
  e.members[1].needed = false;
  e.timed_out = true;
  e.ways_out_left = 3;
  const std::string text = explanation_summary(two_ops(), e, TextStyle{});
  CHECK(contains(text, "needed for certain: 1 of 2"));
  CHECK(contains(text, "3 changes were not tried"));
  CHECK(contains(text, "time is up"));
}

TEST_CASE("an explanation as JSON keeps names, numbers and statuses", "[io]") {
  const auto root = nlohmann::json::parse(explanation_json(two_ops(), refutation()).pretty());
  CHECK(test::schema_fault(explanation_schema(), explanation_json(two_ops(), refutation())) == "");
  CHECK(root.at("status") == "optimal");
  CHECK(root.at("refuted") == 20);
  CHECK(root.at("core").at(0).at("ops").at(0) == "qk");
  CHECK(root.at("core").at(0).at("numbers").at("capacity") == 1);
  CHECK(root.at("core").at(0).at("slot") == 4);
  CHECK(root.at("core").at(1).at("slot").is_null());
  CHECK(root.at("relaxations").at(0).at("ii") == 11);
  CHECK(root.at("relaxations").at(3).at("ii").is_null());
  CHECK(root.at("relaxations").at(3).at("status") == "infeasible");
}
