// Predictions against measurements in the session: validated in the background, shown as rows, kinds and pairs, a row opened as what
// stands for it.
#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <chrono>

#include "app/session/command_line.h"
#include "app/session/commands.h"
#include "app/session/environment.h"
#include "app/session/session.h"
#include "app/session/truth_state.h"
#include "app/window/tabs/truth/truth_model.h"
#include "tests/support/truth_files.h"
#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;

namespace {

struct TruthBench {
  test::TruthFiles files;
  Session session;
  TruthBench() : session(environment(files.tools())) {}
  ~TruthBench() { CHECK(session.close(test::kPatience)); }
  static Environment environment(TruthTools tools) {
    Environment e;
    e.solve = test::solve_toy;
    e.run = {"", "", "no GPU in tests"};
    e.truth = std::move(tools);
    return e;
  }
  void settle() {
    REQUIRE(test::wait_until([&] { return !(session.truth().active() || session.live().active()); }, [&] { session.pump(); }));
  }
  const TruthAnswer& validated() {
    session.apply(Validate{});
    settle();
    REQUIRE(session.truth().answer());
    return *session.truth().answer();
  }
};

}  // namespace

TEST_CASE("a validation becomes points, kinds and pairs that say what it says", "[app]") {
  TruthBench b;
  CHECK_FALSE(b.session.truth().answer());
  const TruthAnswer& answer = b.validated();
  CHECK(b.session.view().tab == BottomTab::Truth);
  CHECK(b.session.last_line() == validate_command(b.session));
  CHECK(b.session.last_line().find("heddle validate ") == 0);
  const TruthModel model = build_truth(answer);
  CHECK(model.headline == validation_headline(answer.validation));
  CHECK(b.session.log().back().text == model.headline);
  REQUIRE(model.rows.size() == 5);
  CHECK(model.kinds == std::vector<std::string>{"gemm", "attention_forward"});
  CHECK(model.machines == std::vector<std::string>{"toy"});
  const TruthRow &fast = model.rows[0], &made = model.rows[2], &closed = model.rows[3];
  CHECK(fast.has_point());
  CHECK(fast.predicted == answer.validation.rows[0].prediction.tflops);
  CHECK(fast.ratio == fast.measured / fast.predicted);
  CHECK(fast.machine == "toybox");
  CHECK(made.fitted == "the toy");
  CHECK(made.color == 1);
  CHECK_FALSE(closed.has_point());
  CHECK(closed.why_not == "no kernel or schedule here stands for it");
  CHECK(about_truth(closed).find("not predicted: no kernel") != std::string::npos);
  CHECK(model.low < std::min(20.0, fast.predicted));
  REQUIRE(model.pairs.size() == 1);
  CHECK(model.pairs[0].row == 0);
  CHECK(model.pairs[0].who == "fast > slow");
  CHECK(model.pairs[0].measured == "+150.0 %");
  CHECK(model.pairs[0].verdict == pair_verdict(answer.validation.pairs[0]));
  REQUIRE(model.kind_rows.size() == 1);  // nothing counts that was fitted
  CHECK(model.kind_rows[0].rows == "2");
}

TEST_CASE("rows sort by speed and ratio, those without a prediction last", "[app]") {
  TruthBench b;
  const TruthModel model = build_truth(b.validated());
  const auto order = [&](const char* column, bool descending) {
    std::vector<TruthRow> rows = model.rows;
    const auto columns = truth_columns();
    sort_by(rows, std::span(columns), {column, descending});
    std::vector<std::string> ids;
    for (const TruthRow& row : rows) ids.push_back(row.id);
    return ids;
  };
  CHECK(order("measured", true) == std::vector<std::string>{"fast", "made", "slow", "closed", "elsewhere"});
  CHECK(order("ratio", false).back() == "elsewhere");
  CHECK(order("ratio", true).back() == "elsewhere");
  const auto columns = truth_columns();
  CHECK(table_as_text(std::span(columns), model.rows).find("fast\tgemm\ttoy\ttoybox\t50.000\t") != std::string::npos);
}

TEST_CASE("the parts of a prediction are worked out for the row that is chosen", "[app]") {
  TruthBench b;
  const TruthAnswer& answer = b.validated();
  b.session.apply(SelectPublished{1});
  b.settle();
  REQUIRE(b.session.truth().parts());
  const TimeBar bar = build_bar(answer.validation.rows[1], *b.session.truth().parts());
  REQUIRE_FALSE(bar.pieces.empty());
  CHECK(bar.pieces.front().from == 0);
  CHECK(bar.pieces.back().to == Approx(bar.predicted));
  CHECK(bar.pieces.back().speed == fmt::format("{:.0f}", answer.validation.rows[1].prediction.tflops));
  CHECK(bar.measured / bar.predicted == Approx(answer.validation.rows[1].prediction.tflops / 20));
  // What nothing stands for has none, at once.
  b.session.apply(SelectPublished{3});
  REQUIRE(b.session.truth().parts());
  CHECK(b.session.truth().parts()->empty());
  b.session.apply(SelectPublished{99});
  CHECK_FALSE(b.session.truth().chosen());
  // The same row is still chosen after the next validation.
  b.session.apply(SelectPublished{0});
  b.session.apply(Validate{});
  b.settle();
  CHECK(b.session.truth().chosen() == 0u);
  CHECK(b.session.truth().parts());
  CHECK(simulate_line(*b.session.truth().answer(), 0).find("heddle simulate toy_fig1 toy ") == 0);
  CHECK(simulate_line(*b.session.truth().answer(), 3).empty());
}

TEST_CASE("a row is opened as its kernel, machine, parameters and schedule", "[app]") {
  TruthBench b;
  b.validated();
  b.session.apply(OpenPublished{1});
  CHECK_FALSE(b.session.error());
  const Content& content = b.session.content();
  REQUIRE(content.problem);
  CHECK(content.kernel->name == "toy_fig1");
  CHECK(content.machine->name == "toy");
  CHECK(content.overrides == Scope{{"T", 80}});
  REQUIRE(content.entry());
  CHECK(content.entry()->schedule.ii == 3);
  CHECK(content.entry()->verdict.valid());
  CHECK(b.session.last_line().find("--param T=80") != std::string::npos);
  CHECK(b.session.last_line().find("other.json") != std::string::npos);
  b.session.apply(Undo{});
  CHECK_FALSE(b.session.content().kernel);
  b.session.apply(OpenPublished{3});
  CHECK(b.session.log().back().level == LogLevel::Warning);
  CHECK_FALSE(b.session.content().kernel);
  b.session.apply(OpenPublished{99});
  CHECK_FALSE(b.session.error());
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("a row that names no schedule is opened and solved", "[app]") {
  TruthBench b;
  b.files.write_rows(b.files.row("free", "gemm", 50, "solved", 12));
  CHECK(b.validated().validation.rows[0].predicted());
  b.session.apply(OpenPublished{0});
  CHECK(b.session.content().overrides == Scope{{"T", 12}});
  b.settle();
  REQUIRE(b.session.content().entry());
  CHECK(b.session.content().entry()->file.empty());
}
#endif

TEST_CASE("files that are wrong say so, and the next validation is right again", "[app]") {
  TruthBench b;
  const std::string good = b.files.row("fast", "gemm", 50, "best.json", 8);
  b.files.write_rows("{\"id\": 1}\n");
  b.session.apply(Validate{});
  b.settle();
  CHECK_FALSE(b.session.truth().answer());
  CHECK_FALSE(b.session.truth().faults().empty());
  b.files.write_rows(b.files.row("wrong", "gemm", 50, "no such schedule.json", 8));
  b.session.apply(Validate{});
  b.settle();
  CHECK_FALSE(b.session.truth().faults().empty());
  b.session.apply(SelectPublished{0});
  CHECK_FALSE(b.session.truth().chosen());
  b.session.apply(OpenPublished{0});
  b.files.write_rows(good);
  CHECK(b.validated().validation.rows.size() == 1);
  CHECK(b.session.truth().faults().empty());
}

TEST_CASE("a cancelled validation leaves the earlier one", "[app]") {
  TruthBench b;
  b.session.apply(CancelValidation{});
  b.validated();
  b.session.apply(Validate{});
  CHECK(b.session.truth().why_no_validation() == "it is being validated");
  b.session.apply(CancelValidation{});
  CHECK(b.session.truth().why_no_validation().empty());
  b.settle();
  CHECK(b.session.truth().answer());
}

TEST_CASE("times are written in the unit that suits them", "[app]") {
  CHECK(time_text(12.34) == "12.3 us");
  CHECK(time_text(674.4) == "674 us");
  CHECK(time_text(3550) == "3.55 ms");
  CHECK(time_text(12345) == "12.3 ms");
}
