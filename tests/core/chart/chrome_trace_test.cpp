// The Chrome trace: slices of a thread nest, async spans pair up, times are microseconds, output is deterministic.
#include "core/chart/chrome_trace.h"

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "tests/support/gantt_fixture.h"

using namespace heddle;
using nlohmann::json;

namespace {

/// Checks everything that viewers rely on.
void check_trace(const json& file) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> threads;
  std::map<std::int64_t, int> open;
  std::map<std::pair<std::string, std::int64_t>, std::string> flows;
  std::set<std::int64_t> async_ids;
  for (const json& event : file.at("traceEvents")) {
    const std::string phase = event.at("ph");
    if (phase == "M") continue;
    const double at = event.at("ts");
    if (phase == "X") {
      const double length = event.at("dur");
      CHECK(length >= 0);
      threads[{event.at("pid"), event.at("tid")}].emplace_back(at, at + length);
      CHECK(event.at("args").at("start_cycle").get<std::int64_t>() == std::llround(at * 1000));
    } else if (phase == "b") {
      CHECK(async_ids.insert(event.at("id").get<std::int64_t>()).second);
      ++open[event.at("id")];
    } else if (phase == "e") {
      --open[event.at("id")];
    } else if (phase == "s" || phase == "f") {
      flows[{event.at("cat"), event.at("id")}] += phase;
    }
  }
  for (auto& [thread, slices] : threads) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i - 1].second <= slices[i].first + 1e-9);
  }
  for (const auto& [id, balance] : open) CHECK(balance == 0);
  for (const auto& [id, phases] : flows) CHECK(phases == "sf");
}

}  // namespace

TEST_CASE("the toy's trace has every op of every iteration, in nanoseconds", "[core]") {
  const auto c = test::toy_case();
  TraceOptions options;
  options.iterations = 4;
  const json file = json::parse(chrome_trace(c.problem, c.schedule, options));
  check_trace(file);
  CHECK(file.at("displayTimeUnit") == "ns");
  std::map<std::string, int> slices;
  for (const json& event : file.at("traceEvents")) {
    if (event.at("ph") == "X") ++slices[event.at("name").get<std::string>()];
  }
  CHECK(slices == std::map<std::string, int>{{"S", 4}, {"P", 4}, {"O", 4}});
}

TEST_CASE("slices of one thread never overlap and async spans pair up, whatever the schedule", "[core]") {
  const auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 40; ++round) {
    auto c = test::random_case(random);
    for (Op& op : c.problem.ops) op.asynchronous = random() % 2 == 0;
    TraceOptions options;
    options.iterations = 1 + static_cast<int>(random() % 6);
    const std::string text = chrome_trace(c.problem, c.schedule, options);
    check_trace(json::parse(text));
    CHECK(text == chrome_trace(c.problem, c.schedule, options));
  }
}

TEST_CASE("hostile names are escaped in the trace", "[core]") {
  auto c = test::toy_case();
  c.problem.ops[0].name = "a\"\\\n\x01";
  const json file = json::parse(chrome_trace(c.problem, c.schedule));
  bool found = false;
  for (const json& event : file.at("traceEvents")) found |= event.at("name") == c.problem.ops[0].name;
  CHECK(found);
}
