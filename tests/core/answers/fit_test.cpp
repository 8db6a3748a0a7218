// Fitted numbers, estimated again.
#include "core/answers/fit.h"
#include "tests/support/json_schema.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace heddle;

namespace {

const std::vector<FittedNumber> kNumbers{{"shared.l2_bytes", 20, 60, ""}, {"streams.turn", 0, 100, ""}};

/// Rows of three sources; row r has the error that its two weights say, and none where the numbers are 50 and 30.
struct World {
  std::vector<FitRow> rows;
  std::vector<std::pair<double, double>> weights;
  double outlier = 0;  ///< of source "c"

  World() {
    for (int r = 0; r < 30; ++r) {
      rows.push_back({"r", "gemm", r % 3 == 0 ? "a" : r % 3 == 1 ? "b" : "c"});
      weights.emplace_back(0.001 * (r % 5 + 1), r % 2 == 0 ? 0.002 : 0.0005);
    }
  }
  std::optional<std::vector<double>> errors(const std::vector<std::int64_t>& values) const {
    std::vector<double> all;
    for (std::size_t r = 0; r < rows.size(); ++r)
      all.push_back(weights[r].first * static_cast<double>(values[0] - 50) + weights[r].second * static_cast<double>(values[1] - 30) +
                    (rows[r].source == "c" ? outlier : 0));
    return all;
  }
  FitAnswer fit(std::vector<std::int64_t> now = {25, 90}) const {
    return fit_numbers(rows, kNumbers, now, [this](const auto& values) { return errors(values); });
  }
};

}  // namespace

TEST_CASE("a fit finds the numbers that the measurements were made with", "[core]") {
  const FitAnswer answer = World().fit();
  REQUIRE(answer.complete);
  CHECK(std::abs(answer.after[0] - 50) <= 2);
  CHECK(std::abs(answer.after[1] - 30) <= 4);
  CHECK(answer.error_after < 0.01);
  CHECK(answer.error_after < answer.error_before);
  CHECK(!answer.at_end(0));
  CHECK(answer.rows == 30);
}

TEST_CASE("a source that nothing explains neither spoils the numbers of the others nor its own error", "[core]") {
  World world;
  world.outlier = 0.5;
  const FitAnswer answer = world.fit();
  REQUIRE(answer.left_out.size() == 3);
  for (const LeftOut& left : answer.left_out) {
    CHECK(left.rows == 10);
    if (left.source == "c") {
      CHECK(std::abs(left.values[0] - 50) <= 2);
      CHECK(left.error == Approx(std::exp(0.5) - 1).epsilon(0.05));
    }
  }
  CHECK(answer.error_left_out < 0.3);
}

TEST_CASE("a number that would leave its range stops there, and the fit says so", "[core]") {
  World world;
  world.rows.resize(10);
  world.weights.assign(10, {0.01, 0});
  const FitAnswer answer = fit_numbers(world.rows, {{"shared.l2_bytes", 20, 40, ""}}, {30}, [&](const auto& values) {
    return world.errors({values[0], 30});
  });
  CHECK(answer.after == std::vector<std::int64_t>{40});
  CHECK(answer.at_end(0));
  CHECK(fit_text({}, answer, {}).find("at its end") != std::string::npos);
}

TEST_CASE("a fit that is stopped says so and has no numbers", "[core]") {
  const World world;
  int left = 3;
  const FitAnswer answer =
      fit_numbers(world.rows, kNumbers, {25, 90}, [&](const auto& values) { return left-- > 0 ? world.errors(values) : std::nullopt; });
  CHECK(!answer.complete);
  CHECK(fit_headline({}, answer).find("stopped") != std::string::npos);
  CHECK(fit_json({}, answer).find("numbers")->items()->empty());
  CHECK(test::schema_fault(fit_schema(), fit_json({}, answer)) == "");
}
