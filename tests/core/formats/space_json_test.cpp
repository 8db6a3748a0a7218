// heddle.space/1: what is read comes back, and faulty files are told all their faults.
#include <catch2/catch.hpp>

#include "core/formats/space_json.h"

using namespace heddle;

namespace {

constexpr const char* kGood = R"({"schema": "heddle.space/1", "name": "all kinds", "parameters": [
  {"name": "ratio", "kind": "real", "low": -0.5, "high": 2.5, "default": 1},
  {"name": "stages", "kind": "integer", "low": 1, "high": 4, "default": 3, "prior": [1, 2, 4, 1]},
  {"name": "TILE", "kind": "ordinal", "values": [64, 128, 256], "log": true, "default": 128},
  {"name": "grid", "kind": "categorical", "values": ["tiles", "persistent"], "default": "persistent"},
  {"name": "order", "kind": "permutation", "items": ["i", "j", "k"], "default": ["k", "i", "j"]}],
  "constraints": ["TILE * stages <= 512", "order_k < order_j"]})";

std::vector<std::string> faults_of(const std::string& text) {
  std::vector<std::string> out;
  const auto space = parse_space(text, "s.json");
  if (!space)
    for (const Fault& fault : space.error().faults) out.push_back(fault.pointer + ": " + fault.message);
  return out;
}

std::string with_parameter(const std::string& parameter) { return R"({"schema": "heddle.space/1", "parameters": [)" + parameter + "]}"; }

}  // namespace

TEST_CASE("a space comes back as it was written", "[core]") {
  const auto space = parse_space(kGood, "s.json");
  REQUIRE(space.ok());
  CHECK(config_text(*space, default_config(*space)) == "ratio=1 stages=3 TILE=128 grid=persistent order=k,i,j");
  const std::string text = space_json(*space).pretty();
  const auto again = parse_space(text, "s.json");
  REQUIRE(again.ok());
  CHECK(space_json(*again).pretty() == text);
  const Json config = config_json(*space, default_config(*space));
  CHECK(config.line() == R"({"ratio": 1.0, "stages": 3, "TILE": 128, "grid": "persistent", "order": ["k", "i", "j"]})");
  ReadLog log;
  CHECK(read_config(Cursor(config, "", log), *space) == default_config(*space));
  CHECK(log.faults.empty());
}

TEST_CASE("every fault of a space is told at once, with its place", "[core]") {
  const auto faults = faults_of(R"({"schema": "heddle.space/1", "parameters": [
    {"name": "a", "kind": "ordinal", "values": [3, 2]},
    {"name": "b", "kind": "integer", "low": 5, "high": 1},
    {"name": "c", "kind": "categorical", "values": ["x y", "z", "z"]},
    {"name": "d", "kind": "colour", "values": [1]},
    {"name": "e", "kind": "integer", "low": 0, "high": 3, "default": 9},
    {"name": "e", "kind": "integer", "low": 0, "high": 3},
    {"name": "r", "kind": "real", "low": 0, "high": 1, "log": true}],
    "constraints": ["e +", "f > 1", "r > 0"]})");
  const auto has = [&](const std::string& wanted) {
    for (const std::string& fault : faults)
      if (fault.find(wanted) != std::string::npos) return true;
    return false;
  };
  for (const std::string& fault : faults) UNSCOPED_INFO(fault);
  CHECK(has("/parameters/0/values/1: 2 does not rise above 3"));
  CHECK(has("/parameters/1: nothing lies from 5 to 1"));
  CHECK(has("/parameters/2/values/0: \"x y\" is no name"));
  CHECK(has("'z' is listed twice"));
  CHECK(has("/parameters/3/kind"));
  CHECK(has("/parameters/4/default"));
  CHECK(has("the name 'e' is already taken"));
  CHECK(has("/parameters/6: \"log\" needs numbers above 0"));
  CHECK(has("/constraints/0"));
  CHECK(has("/constraints/1: no parameter gives a meaning to 'f'"));
  CHECK(has("/constraints/2: 'r' is real"));
}

TEST_CASE("hostile spaces are refused and never crash", "[core]") {
  CHECK_FALSE(faults_of("").empty());
  CHECK_FALSE(faults_of("[]").empty());
  CHECK_FALSE(faults_of(R"({"schema": "heddle.space/1"})").empty());
  CHECK_FALSE(faults_of(R"({"schema": "heddle.space/1", "parameters": []})").empty());
  CHECK_FALSE(faults_of(R"({"schema": "heddle.space/2", "parameters": []})").empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "integer", "low": 0, "high": 1099511627776})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "permutation", "items": ["a","b","c","d","e","f","g","h","i"]})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "ordinal", "values": []})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "integer", "low": 0, "high": 1, "prior": [1, -1]})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "integer", "low": 0, "high": 1, "prior": [1]})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a", "kind": "real", "low": 1, "high": 1})")).empty());
  CHECK_FALSE(faults_of(with_parameter(R"({"name": "a\u0007", "kind": "real", "low": 0, "high": 1})")).empty());
  std::string many = R"({"schema": "heddle.space/1", "parameters": [)";
  for (int i = 0; i < 70; ++i)
    many += (i ? ", " : "") + std::string(R"({"name": "p)") + std::to_string(i) + R"(", "kind": "integer", "low": 0, "high": 1})";
  CHECK(faults_of(many + "]}").size() == 1);
  std::string deep = "a";
  for (int i = 0; i < 300; ++i) deep = "(" + deep + ")";
  CHECK_FALSE(
      faults_of(R"({"schema": "heddle.space/1", "parameters": [{"name": "a", "kind": "integer", "low": 0, "high": 1}], "constraints": [")" +
                deep + "\"]}")
          .empty());
}
