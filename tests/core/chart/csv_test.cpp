// The CSV of ops: header, quoting, and that a strict reader gets the fields back.
#include "core/chart/csv.h"

#include <catch2/catch.hpp>

#include "tests/support/gantt_fixture.h"

using namespace heddle;

namespace {

/// RFC 4180, strictly: CRLF between records, doubled quotes inside quoted fields.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> records{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& field = records.back().back();
    if (quoted) {
      if (text[i] != '"')
        field += text[i];
      else if (i + 1 < text.size() && text[i + 1] == '"')
        field += text[i++];
      else
        quoted = false;
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == ',') {
      records.back().push_back("");
    } else if (text.compare(i, 2, "\r\n") == 0) {
      records.push_back({""});
      ++i;
    } else {
      field += text[i];
    }
  }
  records.pop_back();
  return records;
}

}  // namespace

TEST_CASE("the CSV has one record per op with units in the column names", "[core]") {
  const auto c = test::toy_case();
  const auto records = parse_csv(op_csv(c.problem, &c.schedule));
  REQUIRE(records.size() == 4);
  CHECK(records[0] == std::vector<std::string>{"op", "kind", "group", "role", "warps", "stage", "slot_cycles", "start_cycles", "end_cycles",
                                               "latency_cycles", "window_cycles", "slack_cycles", "units", "section", "machine"});
  CHECK(records[3][0] == "O");
  CHECK(records[3][5] == "1");
  CHECK(records[3][6] == "1");
  CHECK(records[3][7] == "3");
}

TEST_CASE("hostile names survive the CSV", "[core]") {
  auto c = test::toy_case();
  const std::string name = "a,\"b\"\r\nc";
  c.problem.ops[1].name = name;
  for (const Schedule* schedule : {static_cast<const Schedule*>(&c.schedule), static_cast<const Schedule*>(nullptr)}) {
    const auto records = parse_csv(op_csv(c.problem, schedule));
    REQUIRE(records.size() == 4);
    CHECK(records[2][0] == "a,\"b\"  c");
    for (const auto& record : records) CHECK(record.size() == 15);
  }
}

TEST_CASE("a spreadsheet finds no formula and no control character in a CSV, and numbers stay numbers", "[core]") {
  for (const char* number : {"-5", "+5", "0", "-0.25", "+1e-3", "12", "-", ""}) {
    const auto records = parse_csv(csv_record({number}));
    CHECK(records[0][0] == (std::string(number) == "-" ? "'-" : number));
  }
  for (const std::string formula : {"=1+2", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2+3", "-5 %", "=HYPERLINK(\"http://x\",\"y\")", " =1",
                                    "\t=1", "\r=1", "-inf", "+nan", "--5", "+-5"}) {
    const auto records = parse_csv(csv_record({formula, "x"}));
    INFO(formula);
    REQUIRE(records.size() == 1);
    CHECK(records[0][0].front() == '\'');
    CHECK(records[0][1] == "x");
  }
  std::string controls;
  for (char c = 1; c < 0x20; ++c) controls += c;
  CHECK(csv_record({"a" + controls + "\x7f"}) == "a" + std::string(32, ' ') + "\r\n");
}
