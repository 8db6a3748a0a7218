// The three schedules in words, of sides that are made by hand.
#include <catch2/catch.hpp>

#include "core/base/json.h"
#include "core/triton/audit/comparison.h"
#include "tests/support/golden.h"

using namespace heddle;
using namespace heddle::triton;

namespace {

Side side(Whose whose, Cycle ii, Cycle period, Status status) {
  Side s;
  s.whose = whose;
  s.schedule.emplace();
  s.schedule->ii = ii;
  s.period = period;
  s.status = status;
  s.lower_bound = status == Status::Optimal ? ii : ii - 100;
  s.explanation = "TC: 2 mmas need 2048 cycles";
  s.groups = whose == Whose::BestOfMachine ? 3 : 1;
  s.warps = whose == Whose::BestOfMachine ? 12 : 8;
  s.stages = 3;
  s.shared_bytes = 229432;
  return s;
}

Comparison comparison() {
  Comparison c;
  c.kernel = "attention_forward";
  c.machine = "h100";
  c.file = "attention.ttgir";
  c.sides = {side(Whose::Tritons, 3612, 3612, Status::Feasible), side(Whose::BestOfTriton, 3480, 3480, Status::Optimal),
             side(Whose::BestOfMachine, 2048, 2100, Status::Feasible)};
  c.options = {
      {2, 8, 3900, 163872, false, ""}, {3, 8, 3612, 229432, true, ""}, {4, 8, 3500, 294992, false, "does not fit: 294992 of 232448 bytes"}};
  return c;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the headline gives the three periods and their differences", "[core]") {
  CHECK(headline(comparison(), ungrouped) ==
        "Triton's own schedule takes 3612 cycles per iteration, the best that its passes could build 3480 (3.7 % less), "
        "the best the machine could do 2100 (42 % less)");
}

TEST_CASE("a side without a schedule says why, and the others are still compared", "[core]") {
  Comparison c = comparison();
  c.sides[0].schedule.reset();
  c.sides[0].why_not = "the text is in input form";
  CHECK(
      headline(c, ungrouped) ==
      "the best that its passes could build takes 3480 cycles per iteration, the best the machine could do 2100 (40 % less); Triton's own "
      "schedule is not known: the text is in input form");
  const std::string text = comparison_text(c, {});
  CHECK(has(text, "None: the text is in input form."));
  CHECK(has(text, "no schedule"));
  CHECK(has(text, "costs 1380 cycles per iteration"));
  const Json json = comparison_json(c);
  CHECK((*json.find("sides")->items())[0].find("schedule")->is_null());
}

TEST_CASE("prices say what each step is worth", "[core]") {
  const std::string text = comparison_text(comparison(), {.width = 200});
  CHECK(has(text, "Triton's order costs 132 cycles per iteration more than the best that its passes could build (3.8 %)"));
  CHECK(has(text, "Staying within what Triton's passes can build costs 1380 cycles per iteration (65.7 %)"));
  Comparison same = comparison();
  same.sides[0] = side(Whose::Tritons, 3480, 3480, Status::Feasible);
  CHECK(has(comparison_text(same, {.width = 200}), "Triton's order is as good as the best that its passes could build."));
  same.sides[1] = side(Whose::BestOfTriton, 3600, 3600, Status::Feasible);
  CHECK(has(comparison_text(same, {.width = 200}), "No schedule better than Triton's own was found in time."));
}

TEST_CASE("the table of options names the best one that fits", "[core]") {
  Comparison c = comparison();
  CHECK(has(comparison_text(c, {.width = 200}), "None of these options is better than what the text was compiled with."));
  c.options[2].why_not.clear();
  CHECK(has(comparison_text(c, {.width = 200}),
            "num_stages = 4 and num_warps = 8 would take 3500 cycles per iteration (3.1 % less than now), by the model."));
  c.options.clear();
  CHECK_FALSE(has(comparison_text(c, {}), "num_stages"));
}

TEST_CASE("a schedule that is stuck or breaks a rule is not the best", "[core]") {
  Comparison c = comparison();
  c.sides[2].status = Status::Invalid;
  c.sides[2].period = 10;
  const std::string text = comparison_text(c, {.width = 200});
  CHECK(has(text, "breaks a rule"));
  CHECK_FALSE(has(headline(c, ungrouped), "the best the machine could do"));
  c.sides[0].period = 0;
  CHECK(has(comparison_text(c, {.width = 200}), "stuck"));
}

TEST_CASE("the comparison as text, Markdown, CSV and JSON", "[core]") {
  const Comparison c = comparison();
  CHECK(test::golden_difference("triton_comparison.txt", comparison_text(c, {})).empty());
  CHECK(test::golden_difference("triton_comparison.md", comparison_markdown(c)).empty());
  CHECK(test::golden_difference("triton_comparison.csv", comparison_csv(c)).empty());
  CHECK(test::golden_difference("triton_comparison.json", comparison_json(c).pretty()).empty());
}
