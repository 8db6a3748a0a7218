// Traffic: what passes through rings worked out by hand, the verdict on kernels made to be limited by one thing, the text as a golden.
#include "core/answers/traffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"
#include "tests/support/golden.h"
#include "tests/support/json_schema.h"
#include "tests/support/paths.h"
#include "tests/support/small_problem.h"

using namespace heddle;

namespace {

/// A kernel that loads tiles of 8 KiB through one ring and works on them, on a small machine of two SMs.
struct Stream {
  Kernel kernel;
  Machine machine;
  Problem problem;
  Schedule schedule;

  Stream(Cycle load, Cycle latency, Cycle work, int depth, int dram_gbs) {
    const std::string text = fmt::format(R"({{"schema": "heddle.kernel/1", "name": "stream",
      "tensors": [{{"name": "X", "dtype": "f16", "shape": [524288, 64], "role": "input"}}],
      "grid": [{{"name": "b", "size": 2}}], "loop": {{"variable": "i", "trips": 64}},
      "values": [{{"name": "xs", "dtype": "f16", "shape": [64, 64], "space": "smem"}},
                 {{"name": "y", "dtype": "f16", "shape": [64, 64], "space": "register"}}],
      "body": [{{"name": "load_x", "kind": "load", "tensor": "X", "at": ["b * 4096 + i * 64", 0], "out": ["xs"],
                 "cost": {{"uses": [{{"unit": "TMA", "duration": {}}}], "latency": {}, "window": 10, "warps": 1, "asynchronous": true,
                          "variable_latency": true}}}},
               {{"name": "work", "kind": "copy", "in": ["xs"], "out": ["y"],
                 "cost": {{"uses": [{{"unit": "FMA", "duration": {}}}], "latency": {}, "window": {}, "warps": 4}}}}]}})",
                                         load, latency, work, work, work);
    const std::string rate = dram_gbs > 0 ? fmt::format("\"dram_gbs\": {}, ", dram_gbs) : "";
    const std::string on = fmt::format(R"({{"schema": "heddle.machine/1", "name": "small", "arch": "", "sm_count": 2, "clock_mhz": 1000,
      "shared": {{{}"launch_ns": 1000, "source": "test"}},
      "units": [{{"name": "TMA", "role": "copy", "capacity": 1, "source": "test"}}, {{"name": "FMA", "role": "float", "capacity": 1, "source": "test"}}],
      "limits": {{"smem_bytes": 65536, "tmem_columns": 0, "registers_per_sm": 65536, "registers_per_thread": 255, "register_granule": 8, "register_overhead": 0,
                 "producer_registers": 24, "warps_per_cta": 32, "threads_per_warp": 32, "named_barriers": 16}},
      "rules": [], "handoff": {{"register_copy": 0, "signal": 20, "source": "test"}}}})",
                                       rate);
    const Result<Kernel> read = parse_kernel(text, "stream.json");
    if (!read) FAIL(to_string(read.error()));
    const Result<Machine> read_machine = parse_machine(on, "small.json");
    if (!read_machine) FAIL(to_string(read_machine.error()));
    kernel = *read;
    machine = *read_machine;
    const Result<Problem> resolved = resolve(kernel, machine);
    if (!resolved) FAIL(to_string(resolved.error()));
    problem = *resolved;
    schedule = test::place(problem, std::max(load, work), {{0, 0}, {latency, 1}});
    derive_groups(problem, schedule);
    schedule.name = "by hand";
    schedule.depths[0] = depth;
  }

  Traffic traffic(KernelRun* kept = nullptr) const {
    KernelRunOptions options;
    options.ctas = 1;
    options.loop.timeline = kTrafficIterations;
    const Instance instance(spec_of(kernel, machine), problem);
    const KernelRun run = run_kernel(instance, schedule, options);
    const Traffic answer = traffic_of(instance, schedule, options, run, time_parts(instance, schedule, options, run));
    if (kept) *kept = run;
    return answer;
  }
};

struct Shipped {
  Kernel kernel;
  Machine machine;
  Problem problem;
  Schedule schedule;

  Shipped(const std::string& name, const std::string& on, const std::string& file)
      : kernel(*load_kernel(test::repository_path("kernels/" + name + ".json"))),
        machine(*load_machine(test::repository_path("assets/machines/" + on + ".json"))),
        problem(*resolve(kernel, machine)) {
    const Result<Schedule> read = read_schedule(test::repository_path(file), problem, nullptr);
    if (!read) FAIL(to_string(read.error()));
    schedule = *read;
  }
};

const RingTokens& ring_named(const Problem& problem, const Tokens& tokens, const std::string& name) {
  const auto ring =
      std::find_if(tokens.rings.begin(), tokens.rings.end(), [&](const RingTokens& r) { return problem.channel(r.channel).name == name; });
  REQUIRE(ring != tokens.rings.end());
  return *ring;
}

}  // namespace

TEST_CASE("what passes through the rings of the shipped GEMM is what its tiles say", "[core]") {
  const Shipped c("gemm_hopper", "h100", "tests/schedules/gemm_hopper_h100.json");
  const Tokens tokens = tokens_per_iteration(c.problem, c.schedule);
  // Two consumers of 64 rows each, TILE_K = 64, TILE_N = 256, two bytes an element; the producer's copies arrive by themselves, once per
  // full barrier, each warp of a consumer at an empty one.
  CHECK(tokens.rings.size() == 3);
  const RingTokens &a = ring_named(c.problem, tokens, "a0"), &b = ring_named(c.problem, tokens, "b");
  CHECK(a.bytes == 64 * 64 * 2);
  CHECK(a.entries == 1);
  CHECK(a.full_arrivals == 1);
  CHECK(a.empty_arrivals == 4);
  CHECK(b.bytes == 64 * 256 * 2);
  CHECK(b.readers.size() == 2);
  CHECK(b.full_arrivals == 1);
  CHECK(b.empty_arrivals == 8);
  CHECK(b.held() == b.depth * 32768);
  REQUIRE(tokens.pairs.size() == 2);
  for (const PairTokens& pair : tokens.pairs) {
    CHECK(pair.from.index() == 0);
    CHECK(pair.rings == 2);
    CHECK(pair.entries == 2);
    CHECK(pair.bytes == 64 * 64 * 2 + 64 * 256 * 2);
    CHECK(pair.full_arrivals == 2);
    CHECK(pair.empty_arrivals == 8);
  }
}

TEST_CASE("what passes through the rings of shipped attention is K and V, read by both consumers", "[core]") {
  const Shipped c("attention_forward_hopper", "h100", "tests/schedules/attention_forward_hopper_h100.json");
  const Tokens tokens = tokens_per_iteration(c.problem, c.schedule);
  CHECK(tokens.rings.size() == 2);
  for (const char* name : {"k", "v"}) {
    const RingTokens& ring = ring_named(c.problem, tokens, name);
    CHECK(ring.bytes == 128 * 128 * 2);
    CHECK(ring.full_arrivals == 1);
    CHECK(ring.empty_arrivals == 2 * 4);
  }
  REQUIRE(tokens.pairs.size() == 2);
  CHECK(tokens.pairs[0].bytes == 2 * 128 * 128 * 2);
  CHECK(tokens.pairs[1].empty_arrivals == 2 * 4);
}

TEST_CASE("a kernel whose loads are slow starves its ring, one whose work is slow fills it, and the busier side is named", "[core]") {
  const Traffic slow = Stream(400, 500, 100, 4, 0).traffic(), fast = Stream(100, 200, 400, 4, 0).traffic();
  REQUIRE(slow.rings.size() == 1);
  CHECK(slow.steady);
  CHECK(slow.rings[0].access);
  CHECK(slow.rings[0].starving > 0.5);
  CHECK(slow.rings[0].full == 0);
  CHECK(slow.verdict.limit == TrafficLimit::Access);
  CHECK(slow.verdict.what == "TMA");
  CHECK(slow.balance[0].access > 0.9);
  CHECK(slow.balance[0].execute == Approx(0.25).margin(0.02));
  CHECK(fast.rings[0].full > 0.5);
  CHECK(fast.rings[0].starving == 0);
  CHECK(fast.rings[0].taken > 3.5);
  CHECK(fast.verdict.limit == TrafficLimit::Execute);
  CHECK(fast.verdict.what == "FMA");
  for (const Traffic* t : {&slow, &fast})
    for (const BalancePoint& point : t->balance) {
      CHECK((point.access >= 0 && point.access <= 1));
      CHECK((point.execute >= 0 && point.execute <= 1));
    }
}

TEST_CASE("a ring too shallow for its latency is what limits, deeper ones help until the unit does, and Little's law says how deep",
          "[core]") {
  // An entry every 100 cycles at best, 1000 cycles of latency: ten of them have to be on their way.
  const Traffic shallow = Stream(100, 1000, 90, 3, 0).traffic(), deep = Stream(100, 1000, 90, 14, 0).traffic();
  CHECK(shallow.verdict.limit == TrafficLimit::Rings);
  CHECK(shallow.verdict.what == "xs");
  REQUIRE(shallow.verdict.deeper_us);
  CHECK(shallow.verdict.allowed_us > 2.5 * *shallow.verdict.deeper_us);
  CHECK(shallow.rings[0].starving > 0.5);
  REQUIRE(shallow.floor);
  CHECK(shallow.floor->latency == 1000);
  CHECK(shallow.floor->needed > 8 * 8192);
  CHECK(shallow.floor->needed <= 10 * 8192);
  CHECK(shallow.floor->held == 3 * 8192);
  CHECK(shallow.floor->in_flight <= 3 * 8192);
  CHECK(shallow.floor->in_flight > 2.5 * 8192);
  CHECK(deep.verdict.limit != TrafficLimit::Rings);
  CHECK(deep.floor->in_flight > 9 * 8192);
  // One slot more helps where one slot less hurts.
  REQUIRE(shallow.balance.size() == 3);
  CHECK(shallow.balance[1].microseconds > shallow.balance[0].microseconds);
  CHECK(shallow.balance[2].microseconds < shallow.balance[0].microseconds);
  CHECK(shallow.balance[2].access > shallow.balance[0].access);
  CHECK(shallow.balance[2].fits);
  CHECK_FALSE(Stream(100, 1000, 90, 8, 0).traffic().balance[2].fits);  // nine slots of 8 KiB on 64 KiB
}

TEST_CASE("where DRAM takes longer than the SMs, no ring and no II limits, and nothing is faster than every byte once", "[core]") {
  const Traffic slow = Stream(100, 200, 90, 4, 100).traffic();
  CHECK(slow.verdict.limit == TrafficLimit::Dram);
  const double dram = 524288.0 * 64 * 2 / 100e3;
  CHECK(slow.verdict.best_us == Approx(dram + 1));
  CHECK(slow.verdict.allowed_us == Approx(dram + 1));
  CHECK(slow.verdict.sentence.find("DRAM-bound: at best") == 0);
  CHECK(slow.verdict.sentence.find("predicted") != std::string::npos);
  CHECK(slow.verdict.sentence.find("II 100 does not limit") != std::string::npos);
  CHECK(slow.balance[0].access == Approx(1));
  CHECK(slow.floor->dram == 100 * 200 / 2);
}

TEST_CASE("best, allowed and deeper are in this order, and the text says what the numbers say", "[core]") {
  KernelRun run;
  const Stream c(100, 1000, 90, 3, 10000);
  const Traffic t = c.traffic(&run);
  CHECK(t.verdict.best_us <= *t.verdict.deeper_us);
  CHECK(*t.verdict.deeper_us <= t.verdict.allowed_us);
  CHECK(test::golden_difference("traffic.txt", traffic_summary(c.problem, c.schedule, run, {t}, {100, false, false})) == "");
  CHECK(test::golden_difference("traffic.json", traffic_json(c.problem, {t}).pretty()) == "");
  CHECK(test::schema_fault(traffic_schema(), traffic_json(c.problem, {t})) == "");
  const std::string csv = traffic_csv(c.problem, {t, t});
  CHECK(std::count(csv.begin(), csv.end(), '\r') == 3);
}

TEST_CASE("a schedule that deadlocks has its traffic per iteration, and a sentence for the rest", "[core]") {
  Stream c(100, 200, 90, 2, 0);
  c.schedule.ops[0].start = 5000;
  c.schedule.ops[1].start = 0;
  c.schedule.depths[0] = 1;
  KernelRun run;
  const Traffic t = c.traffic(&run);
  if (t.fault.empty()) return;  // the simulator may stand such an order
  CHECK(t.tokens.rings.size() == 1);
  CHECK(traffic_summary(c.problem, c.schedule, run, {t}, {}).find("deadlock") != std::string::npos);
}
