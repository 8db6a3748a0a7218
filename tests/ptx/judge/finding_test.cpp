// The table of rules, and findings that are said once a place.
#include <catch2/catch.hpp>
#include <set>
#include <string_view>

#include "ptx/judge/finding.h"

using namespace heddle;
using namespace heddle::ptx;

TEST_CASE("each rule has a row of its own, with a section of the PTX ISA and a sentence") {
  std::set<std::string_view> names, keys;
  for (const RuleRow& row : rule_rows()) {
    CAPTURE(row.name);
    CHECK(&row_of(row.rule) == &row);
    CHECK(names.insert(row.name).second);
    CHECK(keys.insert(row.key).second);
    CHECK(row.key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_") == std::string_view::npos);
    CHECK(row.section.find_first_not_of("0123456789.") == std::string_view::npos);
    CHECK(row.sentence.ends_with('.'));
  }
}

TEST_CASE("a finding is said once for its rule, its place and the other place, and counted") {
  Findings findings;
  findings.add({CheckRule::ReadBeforeReady, 5, 0, "first", {}}, 7);
  findings.add({CheckRule::ReadBeforeReady, 5, 1, "second", {}}, 7);
  findings.add({CheckRule::ReadBeforeReady, 5, 0, "another writer", {}}, 8);
  findings.add({CheckRule::WriteOverWrite, 5, 0, "another rule", {}}, 7);
  CHECK(findings.again(CheckRule::ReadBeforeReady, 5, 7));
  CHECK_FALSE(findings.again(CheckRule::ReadBeforeReady, 6, 7));
  REQUIRE(findings.all().size() == 3);
  CHECK(findings.all()[0].sentence == "first");
  CHECK(findings.all()[0].times == 3);
}
