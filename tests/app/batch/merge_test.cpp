// Merging shards: the whole file again, and everything that stands in the way of it by name.
#include "app/batch/merge.h"

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace heddle;
using namespace heddle::app;

namespace {

std::string result_of(int job, int of = 4, const char* status = "proved", const char* batch = "00000000000000aa") {
  return fmt::format(R"({{"job": {}, "of": {}, "batch": "{}", "line": 1, "id": "00000000000000bb", "status": "{}"}})", job, of, batch,
                     status) +
         "\n";
}

Result<Merged> merged_of(const std::vector<std::pair<std::string, std::string>>& parts) {
  Merger merger;
  for (const auto& [name, text] : parts) {
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      merger.take(fmt::format("{}:{}", name, ++number), text.substr(at, end - at), end != std::string::npos);
      at = end == std::string::npos ? text.size() : end + 1;
    }
  }
  return merger.end();
}

/// A solved job of one question.
std::string solved(int job, const std::string& answer, int of = 2, const char* options = "{}", const char* status = "proved") {
  return fmt::format(
             R"({{"job": {}, "of": {}, "batch": "aa", "do": "solve", "options": {}, "status": "{}", "result": {{"problem_hash": "cc", {}}}}})",
             job, of, options, status, answer) +
         "\n";
}

}  // namespace

TEST_CASE("shards in any order and of any cut make the whole file", "[app]") {
  const std::string whole = result_of(1) + result_of(2) + result_of(3) + result_of(4);
  const auto merged = merged_of({{"b", result_of(2) + result_of(4)}, {"a", result_of(1)}, {"empty", ""}, {"c", result_of(3)}});
  REQUIRE(merged.ok());
  CHECK(merged->complete());
  CHECK(merged->text == whole);
  CHECK(merged->repeated.empty());
  CHECK(merged_of({{"a", whole}})->text == whole);
}

TEST_CASE("no shards, or shards without a line, are not complete", "[app]") {
  for (const auto& parts : {std::vector<std::pair<std::string, std::string>>{}, {{"a", ""}}, {{"a", ""}, {"b", ""}}}) {
    const auto merged = merged_of(parts);
    REQUIRE(merged.ok());
    CHECK_FALSE(merged->complete());
    REQUIRE(merged->missing.size() == 1);
    CHECK(merged->missing[0].message == "there is no result in any of the files");
  }
}

TEST_CASE("a result that contradicts itself is set aside, and its job is missing", "[app]") {
  const std::string good = solved(1, R"("status": "optimal", "ii": 4, "lower_bound": 4)");
  for (const auto& [answer, why] : std::vector<std::pair<std::string, std::string>>{
           {R"("status": "optimal", "ii": 3, "lower_bound": 4)", "II 3 is below its own lower_bound of 4"},
           {R"("status": "optimal", "ii": 5, "lower_bound": 4)", "it says optimal, but II 5 is above its own lower_bound of 4"},
           {R"("status": "optimal", "ii": 4, "lower_bound": 4, "res_mii": 6)", "II 4 is below its own res_mii of 6"},
           {R"("status": "optimal", "ii": null, "lower_bound": 4)", "it says optimal, but has no schedule"},
           {R"("status": "infeasible", "ii": 4, "lower_bound": 4)", "it says proved, but its answer is infeasible"},
           {R"("status": "feasible", "ii": 9, "lower_bound": 4)", "it says proved, but its answer is feasible"},
           {R"("status": "optimal", "ii": 4, "lower_bound": 4, "objectives": [{"name": "ii", "value": 7}])",
            "its II is 4, and 7 among its objectives"},
           {R"("status": "optimal", "ii": 4, "lower_bound": 4, "checker": {"valid": false})",
            "it says optimal of a schedule that breaks rules"}}) {
    INFO(answer);
    const auto merged = merged_of({{"a", good}, {"b", solved(2, answer)}});
    REQUIRE(merged.ok());
    CHECK_FALSE(merged->complete());
    REQUIRE(merged->set_aside.size() == 1);
    CHECK(to_string(merged->set_aside[0]) == "b:1: set aside: " + why);
    CHECK(merged->text == good);
  }
  CHECK(merged_of({{"a", good + solved(2, R"("status": "feasible", "ii": 9, "lower_bound": 4)", 2, "{}", "feasible")}})->complete());
}

TEST_CASE("of answers to one question that exclude each other the refuted one is set aside", "[app]") {
  const std::string four = R"("status": "optimal", "ii": 4, "lower_bound": 4)", nine = R"("status": "optimal", "ii": 9, "lower_bound": 9)";
  const std::string found = R"("status": "feasible", "ii": 4, "lower_bound": 2)",
                    none = R"("status": "infeasible", "ii": null, "lower_bound": 2)";
  const auto aside = [](const std::string& text) {
    std::vector<std::string> lines;
    const auto merged = merged_of({{"a", text}});
    REQUIRE(merged.ok());
    for (const Fault& fault : merged->set_aside) lines.push_back(to_string(fault));
    return lines;
  };
  CHECK(aside(solved(1, four) + solved(2, nine)) ==
        std::vector<std::string>{"a:1: set aside: II 4 is proved, it says; a:2 says the same of 9",
                                 "a:2: set aside: II 9 is proved, it says; a:1 says the same of 4"});
  CHECK(aside(solved(1, nine) + solved(2, found, 2, R"({"seed": 7})", "feasible")) ==
        std::vector<std::string>{"a:1: set aside: II is at least 9, it says; a:2 has a schedule of 4"});
  CHECK(aside(solved(1, none, 2, "{}", "infeasible") + solved(2, found, 2, "{}", "feasible")) ==
        std::vector<std::string>{"a:1: set aside: it says infeasible, but a:2 has a schedule of II 4"});
  // Another demand is another question.
  CHECK(aside(solved(1, four) + solved(2, nine, 2, R"({"max-stages": 1})")).empty());
  CHECK(aside(solved(1, four) + solved(2, four, 2, R"({"seed": 7})")).empty());
}

TEST_CASE("what may come without end is kept as a number", "[app]") {
  Merger merger;
  REQUIRE(merger.take("a:1", result_of(1).substr(0, result_of(1).size() - 1), true));
  for (int i = 0; i < 5000; ++i) merger.take("b:1", result_of(1).substr(0, result_of(1).size() - 1), true);
  const auto merged = merger.end();
  REQUIRE(merged.ok());
  CHECK(merged->repeated.size() < 1000);
  CHECK(merged->repeated.back().message.starts_with("and "));
  Merger noise;
  int taken = 0;
  while (noise.take("a:1", "", true)) ++taken;
  CHECK(taken < 1000);
}

TEST_CASE("what is missing, repeated or contradictory is named", "[app]") {
  const auto partial = merged_of({{"a", result_of(2)}});
  REQUIRE(partial.ok());
  CHECK_FALSE(partial->complete());
  REQUIRE(partial->missing.size() == 1);
  CHECK(partial->missing[0].message == "3 of 4 jobs are in none of the files: 1, 3 to 4");
  CHECK(partial->text == result_of(2));

  const std::string rest = result_of(1) + result_of(3) + result_of(4);
  const auto twice = merged_of({{"a", result_of(2) + rest}, {"b", result_of(2)}});
  CHECK(twice->complete());
  REQUIRE(twice->repeated.size() == 1);
  CHECK(to_string(twice->repeated[0]) == "b:1: job 2 is in a:1 already, with the same result");

  const auto torn = merged_of({{"a", result_of(2) + rest}, {"b", result_of(2, 4, "feasible")}});
  CHECK_FALSE(torn->complete());
  REQUIRE(torn->contradictions.size() == 1);
  CHECK(to_string(torn->contradictions[0]) == "b:1: job 2 has another result in a:1");

  const auto other = merged_of({{"a", result_of(1)}, {"b", result_of(2, 4, "proved", "00000000000000cc")}, {"c", result_of(2, 5)}});
  REQUIRE(other->contradictions.size() == 2);
  CHECK(other->contradictions[0].message == "belongs to another batch than a:1");
}

TEST_CASE("lines that are no results are located", "[app]") {
  for (const char* bad : {"{", "7", "{}", "", R"({"job": 5, "of": 4, "batch": "x", "status": "proved"})",
                          R"({"job": 1, "of": 99999999999, "batch": "x", "status": "proved"})", "\xff\xfe"}) {
    INFO(bad);
    const auto merged = merged_of({{"a", result_of(1) + bad + "\n"}});
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().faults[0].file == "a:2");
  }
  const std::string line = result_of(1);
  const auto cut = merged_of({{"a", line.substr(0, line.size() - 1)}});
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().faults[0].message == "the line is not whole");
}
