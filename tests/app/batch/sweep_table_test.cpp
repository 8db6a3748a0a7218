// Sweeps as the window reads them: whole and half lines, broken ones, batches begun anew; filters, orders, thinning.
#include "app/batch/sweep_table.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "app/batch/sweep_follow.h"
#include "app/window/tabs/tune/sweep_view.h"
#include "tests/support/sweep_files.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// A table of a file's text, taken in pieces of so many bytes.
struct Read {
  SweepTable table;
  SweepNews news;
  explicit Read(const std::string& text, std::size_t piece = 1u << 20) {
    const auto kind = sweep_kind(text);
    REQUIRE(kind);
    table.kind = *kind;
    SweepLines lines({"file.jsonl", *kind});
    for (std::size_t at = 0; at < text.size(); at += piece) lines.take(std::string_view(text).substr(at, piece), news);
    news.half = lines.half();
    for (const PlacedLine& line : news.lines) table.take(line);
  }
  std::vector<std::int64_t> numbers(const SweepChoice& choice) const {
    std::vector<std::int64_t> list;
    for (const std::uint32_t i : select_points(table, choice)) list.push_back(table.points[i].number);
    return list;
  }
};

std::string small_history() {
  using namespace heddle::test;
  return tuning_run() + tuning_evaluation(1, R"("TILE":128,"stages":2,"form":"plain")", "feasible", 150, R"("stages":2,"seconds":0.5)") +
         tuning_evaluation(2, R"("TILE":256,"stages":3,"form":"unrolled")", "optimal", 102, R"("stages":3,"bound":101,"seconds":0.25)") +
         tuning_evaluation(3, R"("TILE":256,"stages":4,"form":"plain")", "refused", 0, R"("why":"spills: 12 registers")") +
         tuning_evaluation(4, R"("TILE":64,"stages":1,"form":"plain")", "pruned", 0, R"("bound":140,"open":3,"excluded":17)");
}

}  // namespace

TEST_CASE("a history is read line by line, in pieces of any size", "[app]") {
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}, std::size_t{1} << 20}) {
    const Read r(small_history(), piece);
    CHECK(r.news.faults.empty());
    REQUIRE(r.table.points.size() == 4);
    CHECK(r.table.head.kernel == "toy_fig1");
    REQUIRE(r.table.axes.size() == 3);
    CHECK(r.table.axes[0].log);
    CHECK(r.table.axes[0].values.size() == 3);
    CHECK(r.table.axes[2].words);
    CHECK(r.table.best == 1u);
    CHECK(r.table.ratio(r.table.points[1]) == Approx(1.02));
    CHECK(r.table.label(r.table.points[1]) == "TILE=256 stages=3 form=unrolled");
    CHECK(r.table.points[2].why == "spills: 12 registers");
    CHECK(r.table.counts.at("pruned") == 1);
    CHECK(sweep_headline(r.table) ==
          "4 of 24 configurations · 17 excluded by proof as the file says, 3 open · best 102 predicted cycles (#2), 2.0 % above the bound "
          "100 · 1 "
          "not proved, 1 proved, 1 pruned, 1 refused");
  }
}

TEST_CASE("a half line waits, and is no error", "[app]") {
  std::string text = small_history();
  const std::string last = test::tuning_evaluation(5, R"("TILE":64)", "optimal", 99);
  for (std::size_t cut = 0; cut < last.size(); ++cut) {
    const Read r(text + last.substr(0, cut));
    CHECK(r.news.faults.empty());
    CHECK(r.table.points.size() == 4);
    CHECK(r.news.half == (cut > 0));
  }
  // Whole, but without its end: it counts once nothing more comes.
  SweepLines lines({"file.jsonl", SweepKind::Tuning});
  SweepNews news;
  lines.take(text + last.substr(0, last.size() - 1), news);
  CHECK(lines.half());
  CHECK(lines.finish(news));
  CHECK_FALSE(lines.half());
  CHECK_FALSE(lines.finish(news));
  lines.take("\n" + test::tuning_end("complete", true), news);
  CHECK(news.lines.size() == 7);
  CHECK(std::holds_alternative<SweepEnd>(news.lines.back().line));
}

TEST_CASE("a broken line is a fault with its number; the others are read", "[app]") {
  const std::string text = small_history() + "{\"line\":\"evaluation\",\"number\":5,\n" + "[1]\n" +
                           "{\"line\":\"evaluation\",\"number\":6,\"status\":\"optimal\",\"value\":\"fast\"}\n" +
                           "{\"line\":\"evaluation\",\"status\":7}\n" + "{\"line\":\"of a newer version\"}\n\n" +
                           test::tuning_evaluation(7, "", "optimal", 101);
  const Read r(text);
  CHECK(r.table.points.size() == 5);
  REQUIRE(r.news.faults.size() == 5);
  CHECK(r.news.faults[0].file == "file.jsonl:6");
  CHECK(r.news.faults[1].file == "file.jsonl:7");
  CHECK(r.news.faults[1].message == "expected a JSON object");
  CHECK(r.news.faults[2].file == "file.jsonl:8");
  CHECK(r.news.faults[2].pointer == "/value");
  CHECK(r.news.faults[3].file == "file.jsonl:9");
}

TEST_CASE("a line that contradicts itself is a fault, and no point", "[app]") {
  const Read tuned(small_history() + test::tuning_evaluation(5, "", "optimal", 101, R"("bound":102)") +
                   test::tuning_evaluation(6, "", "optimal", 101, R"("ii":9,"lower_bound_ii":7)") +
                   test::tuning_evaluation(7, "", "infeasible", 101));
  CHECK(tuned.table.points.size() == 4);
  REQUIRE(tuned.news.faults.size() == 3);
  CHECK(to_string(tuned.news.faults[0]) == "file.jsonl:6: /status: set aside: its value 101 is below its own bound of 102");
  CHECK(tuned.news.faults[1].message == "set aside: it is optimal, and its II 9 is above its own lower_bound_ii of 7");
  CHECK(tuned.news.faults[2].message == "set aside: it is infeasible, and has a value");
}

TEST_CASE("what is no sweep is not taken for one", "[app]") {
  CHECK(sweep_kind(small_history()) == SweepKind::Tuning);
  CHECK(sweep_kind("\n" + small_history()) == SweepKind::Tuning);
  const std::string line = test::batch_line(1, 2, "proved");
  CHECK(sweep_kind(line) == SweepKind::Results);
  CHECK(sweep_kind(test::journal_line(line)) == SweepKind::Journal);
  for (const char* text :
       {"", "\n\n", "{}", "{\"schema\": \"heddle.kernel/1\"}", "[", "0123456789abcdef", "0123456789abcdeg {\"job\":1}", "job,status"})
    CHECK_FALSE(sweep_kind(text));
}

TEST_CASE("a journal counts the last line of every job, passes over torn ones, and begins anew with another batch", "[app]") {
  using namespace heddle::test;
  const std::string solved = R"("result":{"status":"optimal","ii":7,"lower_bound":7,"stages":2,"explanation":"TC is full"},"seconds":0.5)";
  std::string text =
      journal_line(batch_line(1, 3, "crashed", R"("message":"signal 9")")) + journal_line(batch_line(2, 3, "proved", solved));
  std::string torn = journal_line(batch_line(3, 3, "infeasible"));
  torn[40] ^= 1;
  text += torn + journal_line(batch_line(1, 3, "timeout"));
  const Read r(text);
  CHECK(r.news.faults.empty());
  REQUIRE(r.table.points.size() == 2);
  CHECK(r.table.of == 3);
  CHECK(r.table.word(r.table.points[0].status) == "timeout");
  CHECK(r.table.counts.size() == 2);
  CHECK(r.table.points[1].value == 7);
  CHECK(r.table.points[1].why == "TC is full");
  const Read other(text + journal_line(batch_line(9, 10, "proved", solved, "00000000000000cc")));
  REQUIRE(other.table.points.size() == 1);
  CHECK(other.table.points[0].number == 9);
  CHECK(other.table.of == 10);
}

TEST_CASE("an axis of numbers takes words too, and one of many values is a line", "[app]") {
  using namespace heddle::test;
  std::string text = tuning_run() + tuning_evaluation(1, R"("X":1)", "optimal", 5) + tuning_evaluation(2, R"("X":"auto")", "optimal", 6) +
                     tuning_evaluation(3, R"("X":1,"L":["a","b"])", "optimal", 6);
  const Read r(text);
  CHECK(r.table.label(r.table.points[0]) == "X=1");
  CHECK(r.table.label(r.table.points[1]) == "X=auto");
  CHECK(r.table.label(r.table.points[2]) == "X=1 L=a, b");
  std::string many = tuning_run();
  for (int i = 1; i <= 100; ++i) many += tuning_evaluation(i, "\"R\":" + std::to_string(i * 0.5), "optimal", 100 + i);
  const Read line(many);
  const SweepAxis& axis = line.table.axes[3];
  CHECK(axis.name == "R");
  CHECK_FALSE(axis.listed());
  CHECK(axis.position(0.5) == 0);
  CHECK(axis.position(50) == 1);
  CHECK(axis.position(25.25) == Approx(0.5));
}

TEST_CASE("rows are filtered by words and comparisons, brushed, and sorted with what is unknown last", "[app]") {
  const Read r(small_history());
  const auto filtered = [&](const char* filter) { return r.numbers({filter, {}, {}, false}); };
  CHECK(filtered("") == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(filtered("status=proved") == std::vector<std::int64_t>{2});
  CHECK(filtered("SPILLS") == std::vector<std::int64_t>{3});
  CHECK(filtered("TILE=256") == std::vector<std::int64_t>{2, 3});
  CHECK(filtered("tile>=128 form=plain") == std::vector<std::int64_t>{1, 3});
  CHECK(filtered("form!=plain") == std::vector<std::int64_t>{2});
  CHECK(filtered("ratio<1.1") == std::vector<std::int64_t>{2});
  CHECK(filtered("cycles<=150 ") == std::vector<std::int64_t>{1, 2});
  CHECK(filtered("cycles<") == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(filtered("nothing of it").empty());
  CHECK(filtered("status=pruned") == std::vector<std::int64_t>{4});
  const SweepColumnRef value{SweepColumn::Value}, tile{SweepColumn::Axis, 0}, status{SweepColumn::Status};
  CHECK(r.numbers({"", {}, value, false}) == std::vector<std::int64_t>{2, 1, 3, 4});
  CHECK(r.numbers({"", {}, value, true}) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(r.numbers({"", {}, tile, true}) == std::vector<std::int64_t>{2, 3, 1, 4});
  CHECK(r.numbers({"", {}, status, false}) == std::vector<std::int64_t>{1, 2, 4, 3});
  CHECK(r.numbers({"", {}, {}, true}) == std::vector<std::int64_t>{4, 3, 2, 1});
  CHECK(r.numbers({"", {{0, 0.8, 1}}, {}, false}) == std::vector<std::int64_t>{2, 3});
  CHECK(r.numbers({"", {{0, 0.8, 1}, {3, 0, kValueShare}}, {}, false}) == std::vector<std::int64_t>{2});
  CHECK(r.numbers({"", {{3, 0.95, 1}}, {}, false}) == std::vector<std::int64_t>{3, 4});
  CHECK(r.numbers({"", {{0, 0.2, 0.3}}, {}, false}).empty());
}

TEST_CASE("the curve falls where something better is found, and the table copies as text", "[app]") {
  const Read r(small_history());
  const Convergence c = convergence_of(r.table);
  REQUIRE(c.steps.size() == 2);
  CHECK(c.steps[1].evaluation == 2);
  CHECK(c.steps[1].value == 102);
  CHECK(c.evaluations == 4);
  const std::string text = sweep_as_text(r.table, {1, 3});
  CHECK(text.find("#\tstatus\tcycles\tratio\tbound\tTILE\tstages\tform\t") == 0);
  CHECK(text.find("\n2\tproved\t102\t1.02\t101\t256\t3\tunrolled\t") != std::string::npos);
  CHECK(about_point(r.table, r.table.points[3]).find("at least 140") != std::string::npos);
}

TEST_CASE("of 100 000 points a picture draws the best and an even part of the rest", "[app]") {
  const Read r(test::long_history(100'000));
  REQUIRE(r.table.points.size() == 100'000);
  const std::vector<std::uint32_t> all = select_points(r.table, {});
  const std::vector<std::uint32_t> some = thinned(r.table, all, 1500);
  CHECK(some.size() <= 1500);
  CHECK(some.size() > 1000);
  CHECK(std::find(some.begin(), some.end(), *r.table.best) != some.end());
  CHECK(std::is_sorted(some.begin(), some.end()));
  CHECK(thinned(r.table, all, 1500) == some);
  CHECK(r.numbers({"form=plain TILE=256 stages=2", {}, {SweepColumn::Value}, false}).size() > 1000);
}

TEST_CASE("hostile numbers and names of a sweep do no harm", "[app]") {
  using namespace heddle::test;
  const std::string text =
      tuning_run("k\\u001b[31m", "m") +
      R"({"line":"evaluation","number":1,"status":"opt\u001bimal","config":{"a\nb":1e300,"c":"\u202e"},"value":1e-300,"bound":0})" + "\n" +
      R"({"line":"evaluation","number":-5,"status":"optimal","config":{},"value":-3,"ii":-1,"stages":99999999999})" + "\n" +
      R"({"line":"evaluation","number":2,"status":"optimal","config":7,"schedule":[],"value":1e999})" + "\n";
  const Read r(text);
  CHECK(r.news.faults.size() == 1);
  REQUIRE(r.table.points.size() == 2);
  for (const SweepColumnRef column : sweep_columns(r.table, true))
    for (const SweepPoint& point : r.table.points) {
      const std::string cell = cell_of(r.table, point, column);
      CHECK(cell.find('\x1b') == std::string::npos);
      CHECK(cell.find('\n') == std::string::npos);
    }
  CHECK_FALSE(sweep_headline(r.table).empty());
  for (const SweepAxis& axis : r.table.axes) CHECK(std::isfinite(axis.position(0.5)));
}
