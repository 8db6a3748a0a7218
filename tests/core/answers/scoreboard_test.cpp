// Scoreboards: measuring, ranking, and what is written about them.
#include "core/answers/scoreboard.h"

#include <catch2/catch.hpp>

#include "core/answers/scoreboard_page.h"
#include "core/base/json.h"
#include "tests/support/json_schema.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Two ops on one unit, one after the other: II is at least 4.
Problem two_on_a_unit() {
  Problem p = empty_problem();
  p.kernel = "two", p.machine = "toy";
  const UnitId unit = add_unit(p, "U", 1);
  for (const char* name : {"a", "b"}) add_op(p, name, 2, 0, {{unit, 0, 2, 1}});
  add_edge(p, OpId(0), OpId(1), 2, 0);
  return p;
}

Contender contender(const Problem& p, std::string name, Cycle ii, Cycle a, Cycle b) {
  Contender c;
  c.name = std::move(name);
  c.kind = ContenderKind::Hand;
  c.schedule = place(p, ii, {{a, 0}, {b, 0}});
  return measured(p, {}, std::move(c));
}

Scoreboard board_of(const Problem& p) {
  Scoreboard board;
  board.lower_bound = 4;
  board.why = "U: a + b need 4 cycles";
  board.contenders = {contender(p, "loose", 6, 0, 3), contender(p, "broken", 4, 0, 1), contender(p, "tight", 4, 0, 2)};
  Contender none;
  none.name = "none";
  none.why_not = "made for another loop";
  board.contenders.push_back(measured(p, {}, none));
  return board;
}

}  // namespace

TEST_CASE("contenders are judged and measured, and those without a schedule are left alone", "[core]") {
  const Problem p = two_on_a_unit();
  const Scoreboard board = board_of(p);
  CHECK(board.contenders[0].valid());
  CHECK(board.contenders[0].status == Status::Feasible);
  CHECK(board.contenders[0].period.cycles() == 4);
  CHECK(board.contenders[1].status == Status::Invalid);
  CHECK_FALSE(board.contenders[1].valid());
  CHECK_FALSE(board.contenders[3].valid());
  CHECK(board.contenders[3].period.cycle.empty());
  CHECK(*gap_percent(board, board.contenders[0]) == Approx(0));
  CHECK_FALSE(gap_percent(board, board.contenders[1]));
  CHECK_FALSE(gap_percent(board, board.contenders[3]));
}

TEST_CASE("the ranking puts what breaks a rule behind what is legal, and what has no schedule last", "[core]") {
  const Problem p = two_on_a_unit();
  const Scoreboard board = board_of(p);
  CHECK(ranking(board) == std::vector<std::size_t>{0, 2, 1, 3});
  const std::vector<ScoreRow> rows = score_rows(board);
  // Equal periods share a place.
  CHECK(rows[0].place == 1);
  CHECK(rows[1].place == 1);
  CHECK(rows[2].place == 0);
  CHECK(rows[3].place == 0);
  for (const ScoreRow& row : rows) CHECK(row.cells.size() == std::size(kScoreColumns));
}

TEST_CASE("of legal schedules the one that is predicted to be fastest comes first, whatever its period", "[core]") {
  const Problem p = two_on_a_unit();
  Scoreboard board = board_of(p);
  const auto predict = [&](std::size_t i, Cycle cycles, double tflops) {
    SimulatedFigures figures;
    figures.cycles = cycles;
    figures.microseconds = static_cast<double>(cycles) / 1000;
    figures.tflops = tflops;
    board.contenders[i].simulated = figures;
  };
  predict(0, 9000, 100);
  predict(2, 8000, 112);
  CHECK(ranking(board) == std::vector<std::size_t>{2, 0, 1, 3});
  CHECK(score_rows(board)[1].place == 2);
  // What nothing is predicted of comes behind what is predicted.
  board.contenders[2].simulated.reset();
  CHECK(ranking(board) == std::vector<std::size_t>{0, 2, 1, 3});
}

TEST_CASE("the scoreboard can be sorted by every column, either way, and what is not ranked stays last", "[core]") {
  const Problem p = two_on_a_unit();
  const Scoreboard board = board_of(p);
  for (const ScoreColumn column : kScoreColumns)
    for (const bool descending : {false, true}) {
      CAPTURE(to_string(column), descending);
      const std::vector<ScoreRow> rows = score_rows(board, ungrouped, column, descending);
      CHECK(rows.size() == board.contenders.size());
      if (is_number(column)) CHECK(rows.back().contender == 3);
    }
  const auto first = [&](ScoreColumn column, bool descending) {
    return score_rows(board, ungrouped, column, descending).front().contender;
  };
  CHECK(board.contenders[first(ScoreColumn::Name, false)].name == "broken");
  CHECK(board.contenders[first(ScoreColumn::Name, true)].name == "tight");
}

TEST_CASE("a legal schedule below the proved bound is named as a fault", "[core]") {
  const Problem p = two_on_a_unit();
  Scoreboard board = board_of(p);
  CHECK(beyond_bound(board).empty());
  board.lower_bound = 5;
  CHECK(beyond_bound(board) == std::vector<std::string>{"loose", "tight"});
  CHECK(contains(scoreboard_text(p, board, {}), "fault: loose, tight"));
  CHECK(contains(scoreboard_html(p, board), "below the proved bound"));
}

TEST_CASE("every form of the scoreboard names every contender, and hostile names stay text", "[core]") {
  const Problem p = two_on_a_unit();
  Scoreboard board = board_of(p);
  const std::string hostile = "x<script>|\"a\"\n\x1b[31m [b](javascript:c)";
  board.contenders.push_back(contender(p, hostile, 5, 0, 2));
  board.contenders.back().about = hostile;
  board.contenders.back().log = {hostile};
  const std::string text = scoreboard_text(p, board, {}, true), markdown = scoreboard_markdown(p, board), csv = scoreboard_csv(board),
                    html = scoreboard_html(p, board), json = scoreboard_json(p, {}, board).pretty();
  CHECK(test::schema_fault(scoreboard_schema(), scoreboard_json(p, {}, board)) == "");
  for (const std::string* form : {&text, &markdown, &csv, &html, &json})
    for (const char* name : {"loose", "broken", "tight", "none", "made for another loop"}) {
      CAPTURE(*form, name);
      CHECK(contains(*form, name));
    }
  for (const std::string* form : {&text, &markdown, &csv, &html}) CHECK_FALSE(contains(*form, "\x1b"));
  CHECK_FALSE(contains(html, "<script"));
  CHECK_FALSE(contains(markdown, "<script"));
  CHECK_FALSE(contains(markdown, " [b]("));
  const Result<Json> read = parse_json(json, "board");
  REQUIRE(read.ok());
  CHECK(read->find("contenders")->items()->size() == 5);
  // RFC 4180: as many fields everywhere, quotes where a field needs them.
  CHECK(contains(csv, "\"x<script>|\"\"a\"\"?"));
}

TEST_CASE("the page has one chart per schedule, on one scale", "[core]") {
  const Problem p = two_on_a_unit();
  const std::string html = scoreboard_html(p, board_of(p), SvgTheme::Dark);
  std::size_t charts = 0;
  for (std::size_t at = html.find("<svg"); at != std::string::npos; at = html.find("<svg", at + 1)) ++charts;
  CHECK(charts == 3);
  CHECK(contains(html, "</html>"));
}
