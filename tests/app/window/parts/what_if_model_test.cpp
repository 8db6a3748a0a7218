// What a changed number does to the shown schedule, without a solver.
#include "app/window/parts/what_if_model.h"
#include "app/session/environment.h"
#include "app/session/proposal_commands.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "app/session/session.h"
#include "core/analysis/slack.h"
#include "tests/support/fake_solver.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using Fate = WhatIfTrial::Fate;

namespace {

/// The toy with its schedule of II 2; TC: S and O, EXP: P, one cycle each.
struct Toy {
  Session session;
  Toy() : session(environment()) {
    session.apply(OpenPair{"toy_fig1", "toy", true});
    REQUIRE(test::wait_until([&] { return !session.live().active(); }, [&] { session.pump(); }));
    REQUIRE(session.content().entry());
  }
  static Environment environment() {
    Environment e;
    e.solve = test::solve_toy;
    return e;
  }
  const Content& content() const { return session.content(); }
  WhatIfNumber number(const char* op, std::size_t index = 0) const {
    return numbers_of_op(content(), content().problem->find_op(op)).at(index);
  }
};

WhatIfReach explored(const Content& content, const WhatIfNumber& number) {
  WhatIfReach reach(content, number);
  int steps = 0;
  while (reach.step()) REQUIRE(++steps < 200);
  return reach;
}

}  // namespace

TEST_CASE("an op's numbers are its latency and how long it holds its units", "[app]") {
  const Toy toy;
  const auto numbers = numbers_of_op(toy.content(), toy.content().problem->find_op("O"));
  REQUIRE(numbers.size() == 2);
  CHECK(numbers[0].label == "latency");
  CHECK(number_name(numbers[0].number) == "O.latency");
  CHECK(numbers[0].base == 1);
  CHECK(numbers[0].low == 1);
  CHECK(numbers[0].high == 17);
  CHECK(numbers[1].label == "TC duration");
  CHECK(number_name(numbers[1].number) == "O.TC.duration");
  CHECK(numbers_of_op(toy.content(), OpId{}).empty());
  CHECK(numbers_of_op(Content{}, OpId(0)).empty());
}

TEST_CASE("a change moves the present value and leaves the base where it was", "[app]") {
  Toy toy;
  toy.session.apply(SetChange{parse_change("O.latency=9", *toy.content().kernel, *toy.content().machine).value()});
  const WhatIfNumber number = toy.number("O");
  CHECK(number.now == 9);
  CHECK(number.base == 1);
  REQUIRE(number.change);
  CHECK(*number.change == 0);
  const auto back = change_to(toy.content(), number, 1, false);
  CHECK(back.is<RemoveChange>());
  const auto on = change_to(toy.content(), number, 4, true);
  REQUIRE(on.is<SetChange>());
  CHECK(describe(on.as<SetChange>()->change) == "O.latency=4");
  CHECK(on.as<SetChange>()->solve);
  CHECK(changes_with(toy.content(), number, 4).size() == 1);
}

TEST_CASE("a tried value says what is left of the schedule, and the checker has seen it", "[app]") {
  const Toy toy;
  const WhatIfNumber latency = toy.number("O");
  CHECK(try_value(toy.content(), latency, 1).fate == Fate::Valid);
  CHECK(try_value(toy.content(), latency, 1).period.empty());  // no period decides there
  CHECK(try_value(toy.content(), latency, 2).fate == Fate::Valid);
  const WhatIfTrial three = try_value(toy.content(), latency, 3);
  CHECK(three.fate == Fate::Longer);
  REQUIRE(three.schedule);
  CHECK(three.schedule->ii == 3);
  CHECK(three.least_ii == 3);
  CHECK(check(*three.problem, *three.schedule, {}).valid());
  CHECK_FALSE(three.objection.empty());
  CHECK(try_value(toy.content(), latency, 1'000'000'000'000).fate == Fate::Impossible);
  const WhatIfTrial p = try_value(toy.content(), toy.number("P"), 3);
  CHECK(p.fate == Fate::Longer);
  CHECK(p.least_ii == 2);
}

TEST_CASE("without a legal schedule a trial has nothing to judge", "[app]") {
  Toy toy;
  toy.session.apply(SetChange{parse_change("O.latency=9", *toy.content().kernel, *toy.content().machine).value()});
  REQUIRE_FALSE(toy.content().entry()->verdict.valid());
  CHECK(try_value(toy.content(), toy.number("O"), 5).fate == Fate::Nothing);
  const WhatIfReach reach = explored(toy.content(), toy.number("O"));
  CHECK_FALSE(reach.valid_to());
  CHECK(reach.sentence().empty());
}

TEST_CASE("how far the schedule goes is where the checker begins to object", "[app]") {
  const Toy toy;
  for (const char* op : {"S", "P", "O"})
    for (const std::size_t index : {std::size_t{0}, std::size_t{1}}) {
      const WhatIfNumber number = toy.number(op, index);
      const WhatIfReach reach = explored(toy.content(), number);
      CAPTURE(op, number.label);
      REQUIRE(reach.valid_to());
      if (*reach.valid_to() >= kUnlimited) continue;
      CHECK(try_value(toy.content(), number, *reach.valid_to()).fate == Fate::Valid);
      CHECK(try_value(toy.content(), number, *reach.valid_to() + 1).fate != Fate::Valid);
      CHECK(try_value(toy.content(), number, *reach.valid_to() + 1).objection == reach.objection());
      CHECK(reach.sentence().find("stays valid up to") != std::string::npos);
    }
  CHECK(*explored(toy.content(), toy.number("O")).valid_to() == 2);
}

TEST_CASE("steps of II over a latency are told in one sentence", "[app]") {
  LatencyRange answer;
  answer.op = "exp0";
  answer.latency = 552;
  answer.from = 276;
  answer.to = 1104;
  CHECK(latency_sentence(answer).empty());
  answer.steps = {{276, 812, 2048, 2048, 0, "TC"}, {813, 1104, 2160, 2160, 0, "order"}};
  CHECK(latency_sentence(answer) == "II 2 048 until 812, then 2 160, proved");
  answer.steps[1].lower_bound = 2100;
  CHECK(latency_sentence(answer) == "II 2 048 until 812, then 2 100 to 2 160, not all proved");
  const auto rows = latency_rows(answer);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].now);
  CHECK(rows[0].status == "proved");
  CHECK(rows[1].status == "not proved");
  answer.steps = {{276, 1104, 2048, 2048, 0, "TC"}};
  CHECK(latency_sentence(answer) == "II 2 048 from 276 to 1 104, proved");
  const std::string table = latency_as_text(answer);
  CHECK(std::count(table.begin(), table.end(), '\n') == 2);
}

TEST_CASE("steps of II sort by every column, and those that are equal stay in order", "[app]") {
  LatencyRange answer;
  answer.from = 0;
  answer.to = 40;
  answer.steps = {{0, 9, 30, 30, 0, "b"}, {10, 19, 10, 9, 0, "a"}, {20, 40, 30, 30, 0, "a"}};
  auto rows = latency_rows(answer);
  REQUIRE(rows.size() == 3);
  const std::vector<Column<LatencyRow>> columns = latency_columns();
  const auto order = [&](const char* column, bool descending) {
    sort_by(rows, std::span(columns), {column, descending});
    std::vector<Cycle> lows;
    for (const LatencyRow& row : rows) lows.push_back(row.segment.step.low);
    sort_by(rows, std::span(columns), {"latency", false});
    return lows;
  };
  CHECK(order("latency", true) == std::vector<Cycle>{20, 10, 0});
  CHECK(order("II", false) == std::vector<Cycle>{10, 0, 20});
  CHECK(order("II", true) == std::vector<Cycle>{0, 20, 10});
  CHECK(order("why not smaller", false) == std::vector<Cycle>{10, 20, 0});
}

TEST_CASE("the list of changes says what every number was", "[app]") {
  Toy toy;
  toy.session.apply(SetChange{parse_change("O.latency=9", *toy.content().kernel, *toy.content().machine).value()});
  toy.session.apply(SetChange{parse_change("TC.capacity=+1", *toy.content().kernel, *toy.content().machine).value()});
  toy.session.apply(ToggleChange{1});
  const auto rows = change_rows(toy.content());
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].number == "O.latency");
  CHECK(rows[0].value == "9");
  CHECK(rows[0].was == "1");
  CHECK(rows[1].value == "+1");
  CHECK_FALSE(rows[1].enabled);
  CHECK(rows[1].number == "TC.capacity");
  CHECK(rows[1].was == "1");
}
