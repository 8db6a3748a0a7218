// Merging shards: the whole file again, and everything that stands in the way of it by name.
#include "app/batch/merge.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace heddle;
using namespace heddle::app;

namespace {

std::string result_of(int job, int of = 4, const char* status = "proved", const char* batch = "00000000000000aa") {
  return fmt::format(R"({{"job": {}, "of": {}, "batch": "{}", "line": 1, "id": "00000000000000bb", "status": "{}"}})", job, of, batch, status) + "\n";
}

}  // namespace

TEST_CASE("shards in any order and of any cut make the whole file", "[app]") {
  const std::string whole = result_of(1) + result_of(2) + result_of(3) + result_of(4);
  const auto merged = merge_results({{"b", result_of(2) + result_of(4)}, {"a", result_of(1)}, {"empty", ""}, {"c", result_of(3)}});
  REQUIRE(merged.ok());
  CHECK(merged->complete());
  CHECK(merged->text == whole);
  CHECK(merged->repeated.empty());
  CHECK(merge_results({{"a", whole}})->text == whole);
  CHECK(merge_results({})->complete());
}

TEST_CASE("what is missing, repeated or contradictory is named", "[app]") {
  const auto partial = merge_results({{"a", result_of(2)}});
  REQUIRE(partial.ok());
  CHECK_FALSE(partial->complete());
  REQUIRE(partial->missing.size() == 1);
  CHECK(partial->missing[0].message == "3 of 4 jobs are in none of the files: 1, 3 to 4");
  CHECK(partial->text == result_of(2));

  const std::string rest = result_of(1) + result_of(3) + result_of(4);
  const auto twice = merge_results({{"a", result_of(2) + rest}, {"b", result_of(2)}});
  CHECK(twice->complete());
  REQUIRE(twice->repeated.size() == 1);
  CHECK(to_string(twice->repeated[0]) == "b:1: job 2 is in a:1 already, with the same result");

  const auto torn = merge_results({{"a", result_of(2) + rest}, {"b", result_of(2, 4, "feasible")}});
  CHECK_FALSE(torn->complete());
  REQUIRE(torn->contradictions.size() == 1);
  CHECK(to_string(torn->contradictions[0]) == "b:1: job 2 has another result in a:1");

  const auto other = merge_results({{"a", result_of(1)}, {"b", result_of(2, 4, "proved", "00000000000000cc")}, {"c", result_of(2, 5)}});
  REQUIRE(other->contradictions.size() == 2);
  CHECK(other->contradictions[0].message == "belongs to another batch than a:1");
}

TEST_CASE("lines that are no results are located", "[app]") {
  for (const std::string& bad : {std::string("{\n"), std::string("7\n"), std::string("{}\n"), std::string("\n"), std::string(R"({"job": 5, "of": 4, "batch": "x", "status": "proved"})") + "\n",
                                 std::string(R"({"job": 1, "of": 99999999999, "batch": "x", "status": "proved"})") + "\n", std::string("\xff\xfe\n")}) {
    INFO(bad);
    const auto merged = merge_results({{"a", result_of(1) + bad}});
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().faults[0].file == "a:2");
  }
  const std::string line = result_of(1);
  const auto cut = merge_results({{"a", line.substr(0, line.size() - 1)}});
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().faults[0].message == "the line is not whole");
}
