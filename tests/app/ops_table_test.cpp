// The ops table: columns, order, filter, clipboard text.
#include "app/viewmodel/ops_table.h"

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

}  // namespace

TEST_CASE("the ops table shows where ops are and what they use", "[app]") {
  const Case c;
  const auto rows = build_ops_table(c.problem, &c.schedule);
  REQUIRE(rows.size() == 3);
  CHECK(cell(rows[0], OpsColumn::Unit) == "TC");
  CHECK(cell(rows[2], OpsColumn::Start) == "30");
  CHECK(cell(rows[2], OpsColumn::Stage) == "1");
  CHECK(cell(rows[2], OpsColumn::Slot) == "10");
  CHECK(cell(rows[0], OpsColumn::Latency) == "5");
  CHECK(rows[0].occupancy == 4);
  CHECK(rows[0].slack == Cycle{2});
  const auto bare = build_ops_table(c.problem, nullptr);
  CHECK(cell(bare[0], OpsColumn::Start) == "-");
  CHECK(cell(bare[0], OpsColumn::Group) == "-");
}

TEST_CASE("ops are sorted by any column, both ways, rows without a value last", "[app]") {
  const Case c;
  auto rows = build_ops_table(c.problem, &c.schedule);
  sort_ops(rows, OpsColumn::Start, true);
  CHECK(names(rows) == std::vector<std::string>{"PV0", "exp0", "QK0"});
  sort_ops(rows, OpsColumn::Name, false);
  CHECK(names(rows) == std::vector<std::string>{"exp0", "PV0", "QK0"});
  rows[0].slack.reset();
  for (const bool descending : {false, true}) {
    sort_ops(rows, OpsColumn::Slack, descending);
    CHECK(rows.back().name == "exp0");
  }
  for (const OpsColumn column : kOpsColumns) sort_ops(rows, column, true);
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

TEST_CASE("the clipboard gets tab-separated plain numbers", "[app]") {
  const Case c;
  const std::string text = ops_as_text(build_ops_table(c.problem, &c.schedule));
  CHECK(text.substr(0, text.find('\n')) == "op\tunit\tgroup\tstart\tstage\tslot\tlatency\tslack");
  CHECK(text.find("QK0\tTC\t") != std::string::npos);
}

TEST_CASE("negative slack is marked in words too", "[app]") {
  OpsTableRow row;
  row.scheduled = true;
  row.slack = -3;
  CHECK(cell(row, OpsColumn::Slack).substr(0, 2) == "! ");
  row.slack = 0;
  CHECK(cell(row, OpsColumn::Slack) == "0");
}
