// Published rows, what is wrong with them, and how predictions are summed up.
#include <catch2/catch.hpp>
#include <cmath>

#include "core/answers/validation.h"
#include "core/formats/published_json.h"
#include "core/library/library.h"
#include "tests/support/json_schema.h"

using namespace heddle;

namespace {

const std::string kRow =
    R"({"id":"a","kind":"ablation","kernel":"gemm","implementation":"X","machine":"h100_sxm","tflops":600,)"
    R"("problem":{"M":8,"N":4,"K":2},"heddle":{"kernel":"gemm_hopper","schedule":null,"params":{"M":8},"options":["--persistent"]}})";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::vector<PublishedRow> rows_of(const std::string& text) {
  const auto rows = parse_published(text, "rows.jsonl");
  if (!rows) FAIL(to_string(rows.error()));
  return *rows;
}

std::vector<Fault> faults_of(const std::string& text) {
  const auto rows = parse_published(text, "rows.jsonl");
  REQUIRE_FALSE(rows.ok());
  return rows.error().faults;
}

ValidatedRow predicted(const std::string& id, const std::string& kernel, double measured, double prediction) {
  ValidatedRow row;
  row.row.id = id;
  row.row.kernel = kernel;
  row.row.tflops = measured;
  row.row.counterpart = Counterpart{kernel, id, {}, {}};
  row.prediction = {"sm_90a", prediction, "1830 MHz", "", prediction > 0 ? "" : "closed"};
  return row;
}

}  // namespace

TEST_CASE("a row of published measurements says what it counts and what stands for it", "[core]") {
  const auto rows = rows_of(kRow + "\n\n" + with(kRow, R"("id":"a")", R"("id":"b","pair":[{"than":"a","changes":"all"}],"x-own":1)"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].flops == 2.0 * 8 * 4 * 2);
  REQUIRE(rows[0].counterpart);
  CHECK(rows[0].counterpart->kernel == "gemm_hopper");
  CHECK_FALSE(rows[0].counterpart->schedule);
  CHECK(rows[0].counterpart->options == std::vector<std::string>{"--persistent"});
  CHECK(rows[1].file == "rows.jsonl:3");
  CHECK(rows[1].pairs[0].than == "a");
}

TEST_CASE("attention counts half of its operations under a causal mask and more backward", "[core]") {
  const std::string forward =
      R"({"id":"a","kind":"k","kernel":"attention_forward","implementation":"X","machine":"m","tflops":1,"mask":"none",)"
      R"("problem":{"batch":2,"heads":3,"q_len":10,"kv_len":20,"head_dim":5}})";
  const double all = 4.0 * 2 * 3 * 10 * 20 * 5;
  CHECK(rows_of(forward)[0].flops == all);
  CHECK(rows_of(with(forward, "\"none\"", "\"causal\""))[0].flops == all / 2);
  CHECK(rows_of(with(forward, "attention_forward", "attention_backward"))[0].flops == 2.5 * all);
  CHECK(rows_of(with(forward, R"("batch":2,)", ""))[0].flops == 0);
}

TEST_CASE("faults of all lines come together, with their lines", "[core]") {
  const auto faults = faults_of(with(kRow, "600", "-1") + "\n{\n" + with(kRow, R"("machine":"h100_sxm",)", "") + "\n" +
                                with(kRow, R"("M":8,"N")", R"("M":0,"N")"));
  REQUIRE(faults.size() >= 4);
  CHECK(faults[0].file == "rows.jsonl:1");
  CHECK(faults[0].pointer == "/tflops");
  CHECK(faults[1].file == "rows.jsonl:2");
  CHECK(faults[2].file == "rows.jsonl:3");
  CHECK(faults.back().pointer == "/problem/M");
  CHECK_FALSE(faults_of("").empty());
  CHECK_FALSE(faults_of("[]").empty());
}

TEST_CASE("ids given twice and pairs with a row that is not there are faults", "[core]") {
  CHECK(faults_of(kRow + "\n" + kRow)[0].pointer == "/id");
  const std::string lost = with(kRow, R"("tflops")", R"("pair":[{"than":"b","changes":"all"}],"tflops")");
  CHECK(faults_of(lost)[0].pointer == "/pair/0/than");
  const std::string other = with(with(kRow, R"("id":"a")", R"("id":"b")"), "h100_sxm", "b200");
  CHECK(faults_of(lost + "\n" + other)[0].pointer == "/pair/0/than");
}

TEST_CASE("a machine with the row's power limit goes before the machine of any limit", "[core]") {
  const auto ground = parse_validation_ground(
      R"({"schema":"heddle.validation/1","machines":[{"name":"gh200","machine":"h100"},{"name":"gh200","power_limit_w":700,"machine":"h200"}]})",
      "ground.json");
  REQUIRE(ground.ok());
  PublishedRow row;
  row.machine = "gh200";
  CHECK(ground->find(row)->machine == "h100");
  row.power_w = 700;
  CHECK(ground->find(row)->machine == "h200");
  row.machine = "a100";
  CHECK(ground->find(row) == nullptr);
  CHECK_FALSE(parse_validation_ground(
                  R"({"schema":"heddle.validation/1","machines":[],"bands":[{"kind":"k","arch":"a","low":2,"high":1}]})", "ground.json")
                  .ok());
}

TEST_CASE("kinds have median, geometric mean, spread and the part within ten percent", "[core]") {
  ValidationGround ground;
  ground.bands = {{"gemm", "sm_90a", 0.9, 1.1}};
  const auto sum = sum_up({predicted("a", "gemm", 100, 100), predicted("b", "gemm", 50, 100), predicted("c", "gemm", 105, 100),
                           predicted("d", "other", 10, 100), predicted("e", "gemm", 1, 0)},
                          ground, true);
  REQUIRE(sum.kinds.size() == 2);
  CHECK(sum.kinds[0].rows == 3);
  CHECK(sum.kinds[0].median == Approx(1));
  CHECK(sum.kinds[0].mean == Approx(std::cbrt(0.525)));
  CHECK(sum.kinds[0].close == Approx(2.0 / 3));
  CHECK(sum.holds());
  ground.bands[0].low = 1.05;
  CHECK_FALSE(sum_up(sum.rows, ground, true).holds());
  CHECK(sum_up(sum.rows, ground, true).kinds[1].inside());  // a kind without a band
}

TEST_CASE("a pair is right in sign, right in size, turned, or not expressed", "[core]") {
  const auto judge = [](double measured, double with_it, double without_it, const std::string& not_yet = "") {
    std::vector<ValidatedRow> rows{predicted("a", "gemm", measured, with_it), predicted("b", "gemm", 100, without_it)};
    rows[0].row.pairs = {{"b", "ping-pong", not_yet}};
    return sum_up(std::move(rows), {}, true);
  };
  const auto pair_of = [](const Validation& validation) { return validation.pairs.at(0); };
  CHECK(pair_of(judge(110, 220, 200)).size_right());
  CHECK(pair_of(judge(110, 202, 200)).sign_right());
  CHECK_FALSE(pair_of(judge(110, 202, 200)).size_right());
  CHECK_FALSE(judge(110, 190, 200).holds());
  CHECK_FALSE(judge(110, 200, 200).holds());  // no difference is no sign
  CHECK(judge(110, 190, 200, "known").holds());
  CHECK(judge(110, 0, 200).holds());
  CHECK_FALSE(pair_of(judge(110, 0, 200)).predicted);
  auto same = judge(110, 220, 200).rows;
  same[1].row.counterpart = same[0].row.counterpart;
  CHECK(sum_up(same, {}, true).pairs[0].why_not == "both are the same simulation");
}

TEST_CASE("rows that a number was fitted to are shown and do not count", "[core]") {
  std::vector<ValidatedRow> rows{predicted("a", "gemm", 100, 100), predicted("b", "gemm", 50, 100)};
  rows[0].row.fitted = "the clock";
  const Validation validation = sum_up(rows, {}, true);
  CHECK(validation.kinds[0].rows == 1);
  CHECK(validation.kinds[0].median == Approx(0.5));
  CHECK(validation_text(validation, {}).find("fitted: the clock") != std::string::npos);
}

TEST_CASE("how far a kind of kernel can be trusted is what was written down of it", "[core]") {
  ValidationGround ground;
  ground.bands = {{"gemm", "sm_90a", 0.9, 1.0, 0.97, 0.09, 34}, {"gemm", "sm_100a", 0.6, 0.7}};
  CHECK(trust_of(ground, "gemm", "sm_90a").text ==
        "validated for gemm on sm_90a: measured / predicted 0.97 in the median, spread 9 %, over 34 published measurements");
  CHECK(trust_of(ground, "gemm", "sm_90a").brief == "validated, spread 9 %");
  for (const auto& [kind, arch] : {std::pair{"gemm", "sm_100a"}, std::pair{"layernorm", "sm_90a"}}) {
    CHECK_FALSE(trust_of(ground, kind, arch).validated);
    CHECK(trust_of(ground, kind, arch).brief == "model, not validated");
  }
}

TEST_CASE("the validation is told as text, markdown and JSON", "[core]") {
  std::vector<ValidatedRow> rows{predicted("a|b", "gemm", 110, 220), predicted("b", "gemm", 100, 230), predicted("c", "gemm", 100, 0)};
  rows[0].row.pairs = {{"b", "ping-pong", ""}};
  const Validation validation = sum_up(rows, {}, true);
  const std::string text = validation_text(validation, {});
  for (const char* part : {"2 of 3 rows predicted", "sign wrong", "1 pair changed sign", "closed", "+10.0 %"})
    CHECK(text.find(part) != std::string::npos);
  CHECK(validation_markdown(validation).find("a\\|b") != std::string::npos);
  const Json json = validation_json(validation);
  CHECK(test::schema_fault(validated_schema(), json) == "");
  CHECK(json.find("rows")->items()->size() == 3);
  CHECK((*json.find("rows")->items())[2].find("predicted")->is_null());
  CHECK(*json.find("holds")->boolean() == false);
}

TEST_CASE("what ships is read without a doubt, and every machine of its list is a machine file", "[core]") {
  std::vector<Fault> warnings;
  const auto rows = read_published(library_file("assets/published/measurements.jsonl").value(), &warnings);
  const auto ground = read_validation_ground(library_file("assets/published/validation.json").value(), &warnings);
  REQUIRE(rows.ok());
  REQUIRE(ground.ok());
  CHECK(warnings.empty());
  for (const NamedMachine& machine : ground->machines) CHECK(find_in_library(Shelf::Machines, machine.machine).ok());
  for (const PublishedRow& row : *rows)
    if (row.counterpart) {
      INFO(row.id);
      CHECK(find_in_library(Shelf::Kernels, row.counterpart->kernel).ok());
      if (row.counterpart->schedule) CHECK(find_in_library(Shelf::Schedules, *row.counterpart->schedule).ok());
      CHECK(ground->find(row) != nullptr);
    }
}
