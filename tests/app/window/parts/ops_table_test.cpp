// The ops table: columns, order, filter, clipboard text.
#include "app/window/parts/ops_table.h"

#include <catch2/catch.hpp>

#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::app;

namespace {

struct Case {
  Problem problem = test::empty_problem();
  Schedule schedule;
  Case() {
    const UnitId tc = test::add_unit(problem, "TC"), mufu = test::add_unit(problem, "MUFU");
    const OpId a = test::add_op(problem, "QK0", 5, 1, {{tc, 0, 4, 1}});
    const OpId b = test::add_op(problem, "exp0", 3, 1, {{mufu, 0, 2, 1}});
    const OpId c = test::add_op(problem, "PV0", 5, 1, {{tc, 0, 4, 1}});
    test::add_edge(problem, a, b, 5);
    test::add_edge(problem, b, c, 3);
    schedule = test::place(problem, 20, {{0, 0}, {7, 0}, {30, 0}});
  }
};

std::vector<std::string> names(const std::vector<OpsTableRow>& rows) {
  std::vector<std::string> out;
  for (const OpsTableRow& row : rows) out.push_back(row.name);
  return out;
}

std::string cell(const OpsTableRow& row, std::string_view column) { return column_of(ops_columns(), column).text(row); }

}  // namespace

TEST_CASE("the ops table shows where ops are and what they use", "[app]") {
  const Case c;
  const auto rows = build_ops_table(c.problem, &c.schedule);
  REQUIRE(rows.size() == 3);
  CHECK(cell(rows[0], "unit") == "TC");
  CHECK(cell(rows[2], "start") == "30");
  CHECK(cell(rows[2], "stage") == "1");
  CHECK(cell(rows[2], "slot") == "10");
  CHECK(cell(rows[0], "latency") == "5");
  CHECK(rows[0].occupancy == 4);
  CHECK(rows[0].slack == Cycle{2});
  const auto bare = build_ops_table(c.problem, nullptr);
  CHECK(cell(bare[0], "start") == "-");
  CHECK(cell(bare[0], "group") == "-");
}

TEST_CASE("ops are sorted by any column, both ways, rows without a value last", "[app]") {
  const Case c;
  auto rows = build_ops_table(c.problem, &c.schedule);
  sort_by(rows, column_of(ops_columns(), "start"), true);
  CHECK(names(rows) == std::vector<std::string>{"PV0", "exp0", "QK0"});
  sort_by(rows, column_of(ops_columns(), "op"), false);
  CHECK(names(rows) == std::vector<std::string>{"exp0", "PV0", "QK0"});
  rows[0].slack.reset();
  for (const bool descending : {false, true}) {
    sort_by(rows, column_of(ops_columns(), "slack"), descending);
    CHECK(rows.back().name == "exp0");
  }
  for (const auto& column : ops_columns()) sort_by(rows, column, true);
}

TEST_CASE("the filter looks for every word in name, unit and group, in any case", "[app]") {
  const Case c;
  auto rows = build_ops_table(c.problem, &c.schedule);
  filter_ops(rows, "tc 0");
  CHECK(names(rows) == std::vector<std::string>{"QK0", "PV0"});
  filter_ops(rows, "  pv ");
  CHECK(names(rows) == std::vector<std::string>{"PV0"});
  filter_ops(rows, "");
  CHECK(rows.size() == 1);
  filter_ops(rows, "nothing");
  CHECK(rows.empty());
}

TEST_CASE("negative slack is marked in words too", "[app]") {
  OpsTableRow row;
  row.scheduled = true;
  row.slack = -3;
  CHECK(cell(row, "slack").substr(0, 2) == "! ");
  row.slack = 0;
  CHECK(cell(row, "slack") == "0");
}
