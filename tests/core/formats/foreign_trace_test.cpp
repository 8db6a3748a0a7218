// Traces of other profilers: what is read, what is matched with which op, what is refused.
#include "core/formats/foreign_trace.h"

#include <catch2/catch.hpp>
#include <random>

#include "core/formats/measurement_json.h"
#include "tests/support/gantt_fixture.h"

using namespace heddle;

namespace {

/// As Proton writes it: a thread per warp and line, times of 1/1000 cycle.
std::string proton(const std::string& more = "") {
  std::string events;
  for (int i = 0; i < 4; ++i)
    for (const auto& [name, tid, at, length] : {std::tuple{"S", "warp 0 (line 0)", 0, 2},
                                                {"attn/p_7", "warp 0 (line 1)", 3, 1},
                                                {"o", "warp 4 (line 0)", 5, 2},
                                                {"epilogue", "warp 4 (line 0)", 9, 1}})
      events += std::string(events.empty() ? "" : ",") + "{\"ph\":\"X\",\"cat\":\"toy\",\"name\":\"" + name +
                "\",\"pid\":\"toy Core3 CTA0\",\"tid\":\"" + tid + "\",\"ts\":" + std::to_string(0.001 * (100 + 10 * i + at)) +
                ",\"dur\":" + std::to_string(0.001 * length) + ",\"args\":{}}";
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" + events + more + "]}";
}

const OpTiming* timing(const Measurement& m, const std::string& op) {
  for (const OpTiming& t : m.profile->ops)
    if (t.op == op) return &t;
  return nullptr;
}

}  // namespace

TEST_CASE("a trace of Proton becomes a measurement that the window can read", "[core]") {
  const test::GanttCase toy = test::toy_case();
  const auto trace = parse_foreign_trace(proton(), "t.json");
  REQUIRE(trace.ok());
  CHECK(trace->proton);
  CHECK(trace->events.size() == 16);
  const auto found = measure_trace(*trace, {}, 1000, toy.problem, toy.schedule);
  REQUIRE(found.ok());
  const Measurement& m = found->measurement;
  REQUIRE(m.measured_ii);
  CHECK(*m.measured_ii == Approx(10));
  REQUIRE(m.profile->ops.size() == 3);
  CHECK(timing(m, "P")->samples == 4);
  CHECK(timing(m, "P")->duration == Approx(1));
  CHECK(timing(m, "O")->start - timing(m, "S")->start == Approx(5));
  CHECK(m.profile->timeline.size() == 12);
  CHECK(m.profile->timeline.front().start == 0);
  REQUIRE(found->unmatched.size() == 1);
  CHECK(found->unmatched[0].name == "epilogue");
  CHECK(found->unmatched[0].events == 4);
  const auto again = parse_measurement(measurement_text(m), "m.json");
  REQUIRE(again.ok());
  CHECK(measurement_text(*again) == measurement_text(m));
}

TEST_CASE("names are matched exactly, then without case, then without a path and a number, and only where one op is meant", "[core]") {
  test::GanttCase toy = test::toy_case();
  const TraceMap none;
  CHECK(match_op(toy.problem, none, "S", "") == toy.problem.find_op("S"));
  CHECK(match_op(toy.problem, none, "s", "") == toy.problem.find_op("S"));
  CHECK(match_op(toy.problem, none, "kernel/attn.s_12", "") == toy.problem.find_op("S"));
  CHECK_FALSE(match_op(toy.problem, none, "load", "").valid());
  toy.problem.ops[0].name = "QK0";
  toy.problem.ops[1].name = "QK1";
  CHECK_FALSE(match_op(toy.problem, none, "QK", "").valid());
  CHECK(match_op(toy.problem, none, "attn/qk1_17", "") == OpId(1));
  CHECK(match_op(toy.problem, none, "qk1.17", "") == OpId(1));
  TraceMap map;
  map.ops = {{"QK", "QK0"}, {"QK @ warp 4", "QK1"}};
  CHECK(match_op(toy.problem, map, "QK", "warp 0") == OpId(0));
  CHECK(match_op(toy.problem, map, "QK", "warp 4") == OpId(1));
}

TEST_CASE("begins and ends are paired, threads have the names that the trace gives them, and nanoseconds become cycles", "[core]") {
  const test::GanttCase toy = test::toy_case();
  const auto trace = parse_foreign_trace(
      R"([{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"group 1"}},
          {"ph":"E","pid":1,"tid":2,"ts":0},
          {"ph":"B","name":"S","pid":1,"tid":2,"ts":1},{"ph":"B","name":"P","pid":1,"tid":2,"ts":1.5},
          {"ph":"E","pid":1,"tid":2,"ts":1.75},{"ph":"E","pid":1,"tid":2,"ts":2},{"ph":"B","name":"O","pid":1,"tid":2,"ts":3}])",
      "t.json");
  REQUIRE(trace.ok());
  CHECK(trace->dropped == 2);
  REQUIRE(trace->events.size() == 2);
  CHECK(trace->events[0].lane == "group 1");
  const auto found = measure_trace(*trace, {}, 2000, toy.problem, toy.schedule);
  REQUIRE(found.ok());
  CHECK(timing(found->measurement, "S")->duration == Approx(2000));
  CHECK(timing(found->measurement, "P")->duration == Approx(500));
  CHECK(found->missing == std::vector<OpId>{toy.problem.find_op("O")});
  TraceMap cycles;
  cycles.cycles = true;
  CHECK(timing(measure_trace(*trace, cycles, 2000, toy.problem, toy.schedule)->measurement, "S")->duration == Approx(1000));
}

TEST_CASE("what is wrong with a trace is said with its place, all of it", "[core]") {
  const auto fault = [](const std::string& text) {
    const auto trace = parse_foreign_trace(text, "t.json");
    return trace.ok() ? std::string("none") : to_string(trace.error());
  };
  CHECK(fault("{}").find("traceEvents") != std::string::npos);
  CHECK(fault("[]").find("no event has a duration") != std::string::npos);
  CHECK(fault(std::string("\x0a\x05\x00\x01", 4)).find("traceconv") != std::string::npos);
  const std::string two = fault(R"({"traceEvents":[{"ph":"X","name":"S","ts":"soon","dur":1},{"ph":"X","name":"S","ts":1,"dur":-1}]})");
  CHECK(two.find("/traceEvents/0/ts") != std::string::npos);
  CHECK(two.find("/traceEvents/1/dur") != std::string::npos);
  const test::GanttCase toy = test::toy_case();
  const auto foreign = parse_foreign_trace(R"([{"ph":"X","name":"gemm","ts":1,"dur":1}])", "t.json");
  REQUIRE(foreign.ok());
  const auto none = measure_trace(*foreign, {}, 1000, toy.problem, toy.schedule);
  REQUIRE_FALSE(none.ok());
  CHECK(to_string(none.error()).find("gemm") != std::string::npos);
  TraceMap map;
  map.ops = {{"gemm", "Q"}};
  CHECK(to_string(measure_trace(*foreign, map, 1000, toy.problem, toy.schedule).error()).find("no op 'Q'") != std::string::npos);
}

TEST_CASE("a file of names says what stands for what, and what is wrong with it", "[core]") {
  const auto map = parse_trace_map(R"({"schema":"heddle.trace_map/1","ops":{"a":"S"},"counts":"ns","clock_mhz":1755})", "m.json");
  REQUIRE(map.ok());
  CHECK(map->ops.at("a") == "S");
  CHECK(map->cycles == false);
  CHECK(map->clock_mhz == 1755);
  const auto bad = parse_trace_map(R"({"schema":"heddle.trace_map/1","ops":{"a":3},"counts":"days","clock_mhz":0})", "m.json");
  REQUIRE_FALSE(bad.ok());
  CHECK(bad.error().faults.size() == 3);
  CHECK_FALSE(parse_trace_map("[]", "m.json").ok());
  std::vector<Fault> warnings;
  CHECK(parse_trace_map(R"({"schema":"heddle.trace_map/1","opps":{}})", "m.json", &warnings).ok());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].hint.find("ops") != std::string::npos);
}

TEST_CASE("broken traces end with an answer", "[core]") {
  const unsigned seed = 174;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  const test::GanttCase toy = test::toy_case();
  const std::string good = proton(R"(,{"ph":"B","name":"S","pid":1,"tid":2,"ts":1},{"ph":"E","pid":1,"tid":2,"ts":2})");
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (int k = 0; k < 1 + round % 4; ++k) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 9);
      else
        text[at] = "0-9eE{}[]\",:XBtd\x01"[random() % 17];
      if (text.empty()) text = "{";
    }
    const auto trace = parse_foreign_trace(text, "t.json");
    if (!trace.ok()) continue;
    const auto found = measure_trace(*trace, {}, 1755, toy.problem, toy.schedule);
    if (found.ok()) REQUIRE(parse_measurement(measurement_text(found->measurement), "m.json").ok());
  }
}
