// The table of rules, and findings that are said once a place.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/judge/finding.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::test;
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

TEST_CASE("docs/ptx.md lists the rules as they are") {
  std::ifstream file(repository_path("docs/ptx.md"));
  std::string page, word;  // lines are broken anywhere: words with one blank between
  while (file >> word) page += word + " ";
  const std::size_t begin = page.find("`wrong`: - "), end = page.find("What this launch did not execute");
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  std::string expected;
  const std::pair<Rank, std::string> heads[] = {{Rank::Wrong, "`wrong`: "}, {Rank::Doubtful, "`doubtful`: "}, {Rank::Note, "Notes: "}};
  for (const auto& [rank, head] : heads) {
    expected += head;
    for (const RuleRow& row : rule_rows())
      if (row.rank == rank) expected += fmt::format("- {} ({}): {} ", row.name, row.section, row.sentence);
  }
  CHECK(page.substr(begin, end - begin) == expected);
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
