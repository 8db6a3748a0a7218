// The bracket of the expected period: the worked ring, random event graphs against a simulation of their own, and bad lists of latencies.
#include "core/analysis/bracket.h"

#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "core/analysis/channels.h"
#include "core/analysis/least_depths.h"
#include "core/analysis/period.h"
#include "core/answers/bracket.h"
#include "core/base/atomic_file.h"
#include "core/check/checker.h"
#include "core/formats/changes_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/machine_numbers.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"
#include "core/simulate/simulate.h"
#include "core/simulate/spread_study.h"
#include "tests/support/paths.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Ring {
  Kernel kernel = read_kernel(repository_path("tests/kernels/ring.json")).value();
  Machine machine = read_machine(repository_path("tests/kernels/ring_machine.json")).value();

  Problem problem(const std::vector<std::string>& changes = {}) const {
    Changes parsed;
    for (const std::string& text : changes) parsed.push_back(parse_change(text, kernel, machine).value());
    return resolve(kernel, machine, {}, parsed).value();
  }
};

/// An item every 64 cycles, `depth` of them under way.
Schedule ring_schedule(const Problem& problem, int depth) {
  Schedule schedule;
  schedule.ii = 64;
  const Cycle latency = problem.ops[0].latency;
  schedule.ops = {{0, GroupId(0)}, {latency, GroupId(1)}};
  schedule.groups = {{"producer", 1, 24}, {"consumer", 4, 24}};
  schedule.depths = {depth};
  return schedule;
}

std::string ends(const PeriodBracket& bracket) {
  if (!bracket.missing.empty()) return bracket.missing;
  return fmt::format("{:.1f} {:.1f}", bracket.low.cycles(), bracket.high.cycles());
}

double simulated(const Problem& problem, const Schedule& schedule, std::uint64_t seed = 1) {
  SimulateOptions options;
  options.trips = 200'000;
  options.jitter.seed = seed;
  return simulate(problem, schedule, options).period.cycles();
}

// --- random event graphs

struct RandomGraph {
  std::vector<VaryingEdge> edges;
  std::vector<LatencySpread> spreads;
};

RandomGraph random_graph(std::mt19937_64& random) {
  const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(random() % n); };
  RandomGraph graph;
  const auto nodes = static_cast<std::size_t>(2 + below(4));
  graph.spreads.resize(nodes);
  for (LatencySpread& spread : graph.spreads) {
    if (below(3) == 0) continue;
    std::int64_t left = kWholeShare;
    Cycle cycles = below(20);
    const std::int64_t cases = 1 + below(4);
    for (std::int64_t k = 0; k < cases; ++k) {
      const std::int64_t share = k + 1 == cases ? left : 1 + below(static_cast<std::uint64_t>(left - (cases - k - 1)));
      spread.cases.push_back({cycles, share});
      left -= share;
      cycles += 1 + below(below(2) ? 30 : 300);
    }
    spread.at = static_cast<std::size_t>(below(spread.cases.size()));
  }
  const auto add = [&](std::size_t from, std::size_t to, std::int64_t tokens) {
    const LatencySpread& spread = graph.spreads[from];
    const bool late = !spread.empty() && below(4) != 0;
    graph.edges.push_back({{from, to, below(60) + (late ? spread.chosen() : 0), tokens}, late});
  };
  // A ring through all, so that there is one period; then whatever else. Edges without tokens go forward.
  for (std::size_t v = 0; v < nodes; ++v) add(v, (v + 1) % nodes, v + 1 == nodes ? 1 + below(8) : 0);
  for (std::int64_t more = below(6); more > 0; --more) {
    const auto from = static_cast<std::size_t>(below(nodes)), to = static_cast<std::size_t>(below(nodes));
    add(from, to, from < to && below(2) ? 0 : 1 + below(4));
  }
  return graph;
}

/// Mean cycles per iteration, and the standard error of that mean over consecutive stretches of the run.
struct Measured {
  double mean = 0, error = 0;
};

/// By the definition: x_v(i) = max over edges of x_u(i - tokens) + weight, with latencies drawn for each op and iteration.
Measured run(const RandomGraph& graph, std::mt19937_64& random) {
  constexpr int kStretches = 30, kLength = 40, kHistory = 16;
  const std::size_t nodes = graph.spreads.size();
  std::vector<double> time(nodes * kHistory, 0), extra(nodes * kHistory, 0), marks;
  std::vector<std::vector<VaryingEdge>> edges_to(nodes);
  for (const VaryingEdge& e : graph.edges) edges_to[e.edge.to].push_back(e);
  const auto at = [&](std::size_t v, int i) { return v * kHistory + static_cast<std::size_t>(i) % kHistory; };
  for (int i = 0; i <= (kStretches + 2) * kLength; ++i) {
    for (std::size_t v = 0; v < nodes; ++v) {
      const LatencySpread& spread = graph.spreads[v];
      extra[at(v, i)] =
          spread.empty()
              ? 0
              : static_cast<double>(spread.cases[drawn_case(spread.cases, static_cast<std::int64_t>(random() % kWholeShare))].cycles -
                                    spread.chosen());
      double start = 0;
      for (const VaryingEdge& e : edges_to[v]) {
        if (i < e.edge.tokens) continue;
        const std::size_t source = at(e.edge.from, i - static_cast<int>(e.edge.tokens));
        start = std::max(start, time[source] + static_cast<double>(e.edge.weight) + (e.late ? extra[source] : 0));
      }
      time[at(v, i)] = start;
    }
    if (i % kLength == 0 && i >= 2 * kLength) marks.push_back(time[at(0, i)]);
  }
  Measured measured;
  std::vector<double> stretches;
  for (std::size_t k = 1; k < marks.size(); ++k) stretches.push_back((marks[k] - marks[k - 1]) / kLength);
  const auto count = static_cast<double>(stretches.size());
  for (const double s : stretches) measured.mean += s / count;
  double squares = 0;
  for (const double s : stretches) squares += (s - measured.mean) * (s - measured.mean);
  measured.error = std::sqrt(squares / (count - 1) / count);
  return measured;
}

/// Stretches hang together a little and there are thirty of them: seven errors are a chance of about one in ten million. Where nothing is
/// left to chance the last op may still be some cycles ahead or behind.
double allowance(const Measured& measured) { return 7 * measured.error + 1e-9 * measured.mean + 0.5; }

/// The upper end that other chosen values would give, in cycles.
double high_at(const RandomGraph& graph, const std::vector<Cycle>& chosen) {
  std::vector<RatioEdge> edges;
  for (const VaryingEdge& e : graph.edges) {
    edges.push_back(e.edge);
    if (e.late) edges.back().weight += chosen[e.edge.from] - graph.spreads[e.edge.from].chosen();
  }
  const CycleRatio ratio = max_cycle_ratio(graph.spreads.size(), edges);
  double high = static_cast<double>(ratio.weight) / static_cast<double>(ratio.tokens);
  for (std::size_t v = 0; v < chosen.size(); ++v)
    if (!graph.spreads[v].empty()) high += static_cast<double>(graph.spreads[v].mean_excess(chosen[v])) / kWholeShare;
  return high;
}

}  // namespace

TEST_CASE("the bracket of the worked ring is exact at every depth, and the simulated mean lies between its ends", "[core]") {
  const Ring ring;
  const Problem problem = ring.problem();
  REQUIRE(problem.ops[0].spread.cases == std::vector<LatencyCase>{{270, 800'000}, {700, 180'000}, {1400, 20'000}});
  CHECK(problem.ops[0].latency == 270);  // at least half of all draws are at most as long
  struct Known {
    int depth;
    const char* ends;
    double mean;
  };
  for (const Known& known : {Known{4, "108.5 183.5", 147.9},
                             {8, "64.0 109.5", 96.9},
                             {12, "64.0 77.9", 75.6},
                             {16, "64.0 72.8", 70.9},
                             {24, "64.0 64.0", 64.0}}) {
    INFO("depth " << known.depth);
    const Schedule schedule = ring_schedule(problem, known.depth);
    const PeriodBracket bracket = period_bracket(problem, schedule);
    CHECK(ends(bracket) == known.ends);
    const double mean = simulated(problem, schedule);
    CHECK(mean == Approx(known.mean).epsilon(0.015));
    CHECK(mean >= bracket.low.cycles());
    CHECK(mean <= bracket.high.cycles());
  }
  // Of the listed latencies 700 gives twelve slots the least upper end, 78; of all chosen values it is 704.
  const Problem at_700 = ring.problem({"fetch.latency_at=2"});
  CHECK(sustainable_period(at_700, ring_schedule(at_700, 12)).cycles() + at_700.ops[0].spread.mean_excess(700) / kWholeShare == 78);
  CHECK(period_bracket(problem, ring_schedule(problem, 12)).high == ExactCycles{1948, 25});
  const PeriodBracket sixteen = period_bracket(problem, ring_schedule(problem, 16));
  CHECK(sixteen.high == ExactCycles{364, 5});
  REQUIRE(sixteen.thresholds.size() == 1);
  CHECK(sixteen.thresholds[0].cycles == ExactCycles{960, 1});
  CHECK(sixteen.thresholds[0].excess == ExactCycles{44, 5});
  CHECK(sixteen.at_thresholds == ExactCycles{64, 1});
}

TEST_CASE("the ring's bracket is the same for whichever latency it is scheduled", "[core]") {
  const Ring ring;
  for (const char* at : {"fetch.latency_at=1", "tma_load.latency_at=2", "fetch.latency_at=3", "fetch.latency=270:80%,700:18%,1400:2%"}) {
    const Problem problem = ring.problem({at});
    CHECK(ends(period_bracket(problem, ring_schedule(problem, 8))) == "64.0 109.5");
    CHECK(simulated(problem, ring_schedule(problem, 8)) == simulated(ring.problem(), ring_schedule(ring.problem(), 8)));
  }
  CHECK(ring.problem({"fetch.latency_at=3"}).ops[0].latency == 1400);
  CHECK(ring.problem({"fetch.latency_at=3"}).channels[0].max_depth == 64);
  CHECK(ring.problem({"fetch.latency=700"}).ops[0].spread.empty());
  CHECK(describe(ring.problem({"fetch.latency=+10%"}).ops[0].spread.cases) == "297:80%,770:18%,1540:2%");
}

TEST_CASE("where nobody competes for a unit, first come is as the schedule has it, draws and all", "[core]") {
  const Ring ring;
  const Problem problem = ring.problem();
  SimulateOptions options;
  options.trips = 50'000;
  const double scheduled = simulate(problem, ring_schedule(problem, 8), options).period.cycles();
  for (const Arbitration other : {Arbitration::FirstCome, Arbitration::Interleaved}) {
    options.arbitration = other;
    const Simulation run = simulate(problem, ring_schedule(problem, 8), options);
    CHECK_FALSE(run.period.exact);
    CHECK(run.period.cycles() == Approx(scheduled).epsilon(0.02));
  }
}

TEST_CASE("without latencies that vary both ends are the sustainable period, and simulation repeats itself as before", "[core]") {
  const Ring ring;
  const Problem problem = ring.problem({"fetch.latency=700"});
  CHECK_FALSE(latencies_vary(problem));
  for (const int depth : {1, 3, 8, 12}) {
    const Schedule schedule = ring_schedule(problem, depth);
    const Period period = sustainable_period(problem, schedule);
    const PeriodBracket bracket = period_bracket(problem, schedule);
    CHECK(bracket.low == bracket.high);
    CHECK(bracket.low.weight * period.tokens == period.weight * bracket.low.tokens);
    CHECK(simulate(problem, schedule).period.exact);
  }
  CHECK(problem.channels[0].max_depth == 8);
}

TEST_CASE("the bracket holds on 10 000 random event graphs, and one that forgets the mean excess does not", "[core]") {
  const std::uint64_t seed = 20'241;
  std::mt19937_64 random(seed);
  int caught = 0, wide = 0, deadlocks = 0;
  for (int i = 0; i < 10'000; ++i) {
    INFO("seed " << seed << ", graph " << i);
    const RandomGraph graph = random_graph(random);
    const PeriodBracket bracket = bracket_of(graph.edges, graph.spreads);
    if (!bracket.missing.empty()) {
      ++deadlocks;
      continue;
    }
    const Measured measured = run(graph, random);
    const double allowed = allowance(measured);
    CHECK(measured.mean >= bracket.low.cycles() - allowed);
    CHECK(measured.mean <= bracket.high.cycles() + allowed);
    caught += measured.mean > bracket.at_thresholds.cycles() + allowed;
    wide += less(bracket.low, bracket.high);
  }
  CHECK(deadlocks == 0);
  CHECK(wide > 3000);
  CHECK(caught > 1000);
}

TEST_CASE("the upper end proves itself: its thresholds keep its period, and no other chosen values give a lower end", "[core]") {
  const std::uint64_t seed = 77;
  std::mt19937_64 random(seed);
  for (int i = 0; i < 3000; ++i) {
    INFO("seed " << seed << ", graph " << i);
    const RandomGraph graph = random_graph(random);
    const PeriodBracket bracket = bracket_of(graph.edges, graph.spreads);
    REQUIRE(bracket.missing.empty());
    CHECK_FALSE(less(bracket.high, bracket.low));
    // Everything times the thresholds' common denominator is whole.
    const std::int64_t scale = bracket.at_thresholds.tokens;
    std::vector<RatioEdge> edges;
    double sum = bracket.at_thresholds.cycles();
    for (const VaryingEdge& e : graph.edges) {
      edges.push_back(e.edge);
      edges.back().weight *= scale;
      for (const LatencyThreshold& t : bracket.thresholds)
        if (e.late && t.op == e.edge.from)
          edges.back().weight += t.cycles.weight * (scale / t.cycles.tokens) - graph.spreads[t.op].chosen() * scale;
    }
    const CycleRatio ratio = max_cycle_ratio(graph.spreads.size(), edges);
    CHECK_FALSE(ratio.impossible);
    CHECK(ratio.weight <= bracket.at_thresholds.weight * ratio.tokens);
    std::vector<Cycle> around(graph.spreads.size(), 0);
    for (const LatencyThreshold& t : bracket.thresholds) {
      sum += t.excess.cycles();
      around[t.op] = static_cast<Cycle>(std::llround(t.cycles.cycles()));
    }
    CHECK(sum == Approx(bracket.high.cycles()).epsilon(1e-9));
    for (int other = 0; other < 20; ++other) {
      std::vector<Cycle> chosen = around;
      for (std::size_t v = 0; v < chosen.size(); ++v)
        if (!graph.spreads[v].empty()) {
          const auto& cases = graph.spreads[v].cases;
          chosen[v] = other % 2 ? cases[random() % cases.size()].cycles : chosen[v] + static_cast<Cycle>(random() % 21) - 10;
        }
      CHECK(high_at(graph, chosen) >= bracket.high.cycles() - 1e-6);
    }
  }
}

TEST_CASE("no end of the bracket rises with any depth, and the least depths are those of trying all", "[core]") {
  const Ring ring;
  const Problem problem = ring.problem();
  ExactCycles before{1'000'000, 1};
  for (int depth = 1; depth <= 26; ++depth) {
    const PeriodBracket bracket = period_bracket(problem, ring_schedule(problem, depth));
    CHECK_FALSE(less(before, bracket.high));
    before = bracket.high;
    // Above 78 cycles twelve slots do; the least that keep any of the ends are found again.
    const ExactCycles asked = bracket.high;
    const LeastDepths least = least_depths(problem, ring_schedule(problem, 1), {{ChannelId(0), 1, 64}},
                                           [&](const PeriodBracket& b) { return !less(asked, b.high); });
    REQUIRE(least.end == LeastDepths::End::Found);
    CHECK(least.depths[0] <= depth);
    CHECK(ends(period_bracket(problem, ring_schedule(problem, least.depths[0]))) == ends(bracket));
    if (least.depths[0] > 1) CHECK(less(asked, period_bracket(problem, ring_schedule(problem, least.depths[0] - 1)).high));
  }
  const LeastDepths none = least_depths(problem, ring_schedule(problem, 1), {{ChannelId(0), 1, 64}}, [](const PeriodBracket& b) {
    return less(b.high, {64, 1});
  });
  CHECK(none.end == LeastDepths::End::None);
  CHECK(ends(none.bracket) == "64.0 64.0");
}

TEST_CASE("of two rings the least memory is that of trying all depths", "[core]") {
  const std::uint64_t seed = 5;
  std::mt19937_64 random(seed);
  int gaps = 0;
  for (int i = 0; i < 40; ++i) {
    INFO("seed " << seed << ", problem " << i);
    ProblemBuilder b({"TC", "COPY", "OTHER"});
    const OpId k = b.load("K", "COPY", 2, 100), v = b.load("V", "OTHER", 2, 100);
    const OpId use_k = b.op("S", "TC", 10, 10), use_v = b.op("O", "TC", 10, 10);
    b.edge(use_k, use_v);
    b.ring(k, 64 + static_cast<std::int64_t>(random() % 3) * 64, {{use_k, 0}, {use_v, 0}}, 3);
    b.ring(v, 64 + static_cast<std::int64_t>(random() % 3) * 64, {{use_v, 0}}, 3);
    for (const OpId load : {k, v})
      b.problem.ops[load.index()].spread = {{{60, 600'000}, {100, 390'000}, {100 + 100 * (1 + static_cast<Cycle>(random() % 3)), 10'000}},
                                            1};
    Schedule schedule;
    schedule.ii = 20;
    // Each load has a stream and a unit of its own: else one that waits for its slot keeps the other from going ahead.
    schedule.ops = {{0, GroupId(0)}, {4, GroupId(2)}, {120, GroupId(1)}, {130, GroupId(1)}};
    schedule.groups = {{"producer", 1, 24}, {"consumer", 4, 24}, {"second producer", 1, 24}};
    schedule.depths = {1, 1};
    const ExactCycles limit{20 * (101 + static_cast<std::int64_t>(random() % 20)), 100};
    const auto good = [&](const PeriodBracket& bracket) { return !less(limit, bracket.high); };
    const LeastDepths least = least_depths(b.problem, schedule, {{ChannelId(0), 1, 24}, {ChannelId(1), 1, 24}}, good);
    std::int64_t best = std::numeric_limits<std::int64_t>::max();
    std::array<int, 2> need{25, 25};
    for (int x = 1; x <= 24; ++x)
      for (int y = 1; y <= 24; ++y) {
        schedule.depths = {x, y};
        if (!good(period_bracket(b.problem, schedule))) continue;
        best = std::min(best, allocated(b.problem, schedule, Space::Smem));
        need = {std::min(need[0], x), std::min(need[1], y)};
      }
    REQUIRE((least.end == LeastDepths::End::Found) == (best < std::numeric_limits<std::int64_t>::max()));
    if (least.end != LeastDepths::End::Found) continue;
    CHECK(least.bytes == best);
    CHECK(good(least.bracket));
    gaps += least.depths[0] > need[0] || least.depths[1] > need[1];
  }
  CHECK(gaps > 0);  // the needs of the rings by themselves are not always enough
}

TEST_CASE("the study of depths has the least memory for each upper end, the simulated value between the ends", "[core]") {
  const Ring ring;
  const Problem problem = ring.problem();
  const SpreadStudy study = spread_study(problem, ring_schedule(problem, 8));
  REQUIRE(study.rows.size() >= 20);
  CHECK_FALSE(study.cut);
  CHECK(ends(study.rows.back().bracket) == "64.0 64.0");
  for (std::size_t i = 0; i < study.rows.size(); ++i) {
    const SpreadRow& row = study.rows[i];
    INFO("depth " << row.depths[0]);
    CHECK(row.mean >= row.bracket.low.cycles() - 5 * row.error - 0.01);
    CHECK(row.mean <= row.bracket.high.cycles() + 5 * row.error + 0.01);
    CHECK(row.bytes == 256 * row.depths[0]);
    CHECK(row.now == (row.depths[0] == 8));
    if (i > 0) CHECK(less(row.bracket.high, study.rows[i - 1].bracket.high));
  }
  const std::string text = spread_summary(problem, ring_schedule(problem, 8), study, {}, {});
  CHECK(text.find("109.5") != std::string::npos);
  StudyOptions first_come;
  first_come.arbitration = Arbitration::FirstCome;
  first_come.runs = 2;
  const std::string without =
      spread_summary(problem, ring_schedule(problem, 8), spread_study(problem, ring_schedule(problem, 8), first_come), first_come, {});
  CHECK(without.find("no bracket of the expected period") != std::string::npos);
  CHECK(without.find("109.5") == std::string::npos);
}

TEST_CASE("what is wrong with lists of latencies is said all at once, where it stands", "[core]") {
  const auto faults_of = [](const std::string& latency) {
    const std::string text = R"({"schema": "heddle.machine/1", "name": "m", "units": [{"name": "U", "role": "copy"}],
      "limits": {"smem_bytes": 1, "tmem_columns": 0, "registers_per_sm": 1, "registers_per_thread": 1, "warps_per_cta": 1, "threads_per_warp": 1},
      "rules": [{"kind": "tma_load", "latency": )" +
                             latency + "}]}";
    const Result<Machine> machine = parse_machine(text, "m.json");
    return machine ? std::string() : to_string(machine.error());
  };
  CHECK(faults_of(R"([{"cycles": 270, "share": 0.8}, {"cycles": "2 * bytes", "share": 0.2}])").empty());
  CHECK(faults_of(R"([{"cycles": 270, "share": 1}])").empty());
  CHECK(faults_of("[]") == "m.json: /rules/0/latency: there are no latencies in the list (list cycles and shares, or write one number)");
  CHECK(faults_of(R"([{"cycles": 270, "share": 0.8}, {"cycles": 700, "share": 0.18}])") ==
        "m.json: /rules/0/latency: the shares add up to 98%, expected 100% (every draw takes one of them)");
  CHECK(faults_of(R"([{"cycles": 270, "share": 1.2}, {"cycles": 700, "share": -0.1}, {"cycles": 900, "share": 0}])") ==
        "m.json: /rules/0/latency/1/share: a share of -10%: expected more than 0\n"
        "m.json: /rules/0/latency/2/share: a share of 0%: expected more than 0\n"
        "m.json: /rules/0/latency: the shares add up to 110%, expected 100% (every draw takes one of them)");
  CHECK(faults_of(R"([{"cycles": 270, "share": 0.12345678}, {"cycles": "2 *", "share": "all"}, {"share": 1}])")
            .find("/rules/0/latency/0/share: expected a share of at most six decimals") != std::string::npos);
  CHECK(faults_of(R"([{"cycles": 270, "share": 1e-3}, {"cycles": "2 *", "share": "all"}, {"share": 1}])").find("/rules/0/latency/2: ") !=
        std::string::npos);
  CHECK_FALSE(faults_of("{}").empty());
  CHECK_FALSE(faults_of("[5, null]").empty());

  const Ring ring;
  Machine falling = ring.machine;
  falling.rules[0].latencies[1].cycles = Expr::parse("bytes").value();
  const auto problem = resolve(ring.kernel, falling);
  REQUIRE_FALSE(problem);
  CHECK(to_string(problem.error())
            .find("/rules/0/latency/1/cycles: latency of op 'fetch': 256 cycles after 270: expected latencies that rise") !=
        std::string::npos);
}

TEST_CASE("lists of latencies on a command line are judged in the same words", "[core]") {
  const Ring ring;
  const auto fault_of = [&](const std::string& text) {
    const auto change = parse_change(text, ring.kernel, ring.machine);
    if (!change) return to_string(change.error());
    const auto problem = resolve(ring.kernel, ring.machine, {}, {*change});
    return problem ? "" : to_string(problem.error());
  };
  CHECK(fault_of("fetch.latency=270:80%,700:20%").empty());
  CHECK(fault_of("fetch.latency=270:99.9999%,700:0.0001%").empty());
  CHECK(
      fault_of("fetch.latency=700:80%,270:30%,x,900:-5%") ==
      "'fetch.latency=700:80%,270:30%,x,900:-5%': 'x' is no latency with its share (write CYCLES:P%, separated by commas: "
      "270:80%,700:18%,1400:2%)\n"
      "'fetch.latency=700:80%,270:30%,x,900:-5%': 270 cycles after 700: expected latencies that rise (list the shortest first, each once)");
  CHECK(fault_of("fetch.latency=270:80%,700:19%").find("the shares add up to 99%, expected 100%") != std::string::npos);
  CHECK(fault_of("fetch.latency=270:110%,700:-10%").find("a share of -10%: expected more than 0") != std::string::npos);
  CHECK(fault_of("fetch.latency=-3:100%").find("becomes -3, expected 0 to") != std::string::npos);
  CHECK(fault_of("fetch.window=270:100%").find("only a latency may be a list") != std::string::npos);
  CHECK(fault_of("fetch.latency_at=4").find("becomes 4, expected 1 to 3") != std::string::npos);
  CHECK(fault_of("use.latency_at=1").find("is always the same, 64") != std::string::npos);
  CHECK(fault_of("fetch.latency=270:99999999999999999999%").find("expected 100%") != std::string::npos);
}

TEST_CASE("random words are no latencies, or latencies that are written as they are read", "[core]") {
  const Ring ring;
  const std::uint64_t seed = 9;
  std::mt19937_64 random(seed);
  int good = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = "fetch.latency=";
    // Half of them nearly right: cycles that mostly rise, shares that may add up.
    const std::vector<std::string> shares{"100%", "60%", "40%", "0.5%", "99.5%", "-10%", "110%", "60"};
    std::uint64_t cycles = 0;
    for (std::uint64_t k = 1 + random() % 3; k > 0; --k) {
      cycles += random() % 300;
      text += i % 2 ? fmt::format("{}:{}{}", cycles, shares[random() % shares.size()], k > 1 ? "," : "")
                    : std::string(1, "0123456789:,%.-+ x"[random() % 18]);
    }
    INFO("seed " << seed << ", " << text);
    const auto change = parse_change(text, ring.kernel, ring.machine);
    if (!change || change->cases.empty()) continue;
    ++good;
    const auto again = parse_change(describe(*change), ring.kernel, ring.machine);
    REQUIRE(again);
    CHECK(again->cases == change->cases);
    (void)resolve(ring.kernel, ring.machine, {}, {*change});
  }
  CHECK(good > 200);
}

TEST_CASE("draws come as often as their shares, and depend on seed, op and iteration alone", "[core]") {
  const Ring ring;
  const Op op = ring.problem({"fetch.latency_at=2"}).ops[0];
  constexpr int kDraws = 1'000'000;
  std::map<Cycle, int> count;
  for (int i = 0; i < kDraws; ++i) ++count[lateness({}, op, 0, static_cast<std::uint64_t>(i))];
  REQUIRE(count.size() == 3);
  for (const auto& [late, share] : std::map<Cycle, double>{{270 - 700, 0.8}, {0, 0.18}, {1400 - 700, 0.02}})
    CHECK(count[late] == Approx(share * kDraws).margin(5 * std::sqrt(share * (1 - share) * kDraws)));
  LatencyJitter other;
  other.seed = 2;
  int differ = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) differ += lateness({}, op, 0, i) != lateness(other, op, 0, i);
  CHECK(differ > 200);
}

TEST_CASE("changes with several latencies are read from files as they are written", "[core]") {
  const Ring ring;
  Changes changes{parse_change("fetch.latency=270:80%,700:19.9999%,1400:0.0001%", ring.kernel, ring.machine).value(),
                  parse_change("tma_load.latency_at=2", ring.kernel, ring.machine).value()};
  const std::string text = Json::object().set("schema", "heddle.constraints/1").set("changes", changes_json(changes)).pretty();
  const auto again = parse_changes(text, "c.json");
  if (!again) FAIL(to_string(again.error()));
  REQUIRE(again->size() == 2);
  CHECK((*again)[0].cases == changes[0].cases);
  CHECK(describe((*again)[1]) == "tma_load.latency_at=2");
  const auto bad = parse_changes(
      R"({"schema": "heddle.constraints/1", "changes": [{"name": "a", "kind": "latency", "op": "fetch", "to": [{"cycles": 9, "share": 0.5}, {"cycles": 8, "share": 0.4}]}]})",
      "c.json");
  REQUIRE_FALSE(bad);
  CHECK(to_string(bad.error()) ==
        "c.json: /changes/0/to: the shares add up to 90%, expected 100% (every draw takes one of them)\n"
        "c.json: /changes/0/to/1/cycles: 8 cycles after 9: expected latencies that rise (list the shortest first, each once)");
}

TEST_CASE("cycles and shares of a machine file are numbers that can be changed in its text", "[core]") {
  const std::string text = read_file(repository_path("tests/kernels/ring_machine.json")).value();
  std::string names;
  for (const MachineNumber& number : machine_numbers(text))
    if (number.part == "tma_load") names += number.name + " " + number.value + ", ";
  CHECK(names ==
        "ACCESS duration 4, window 4, latency cycles bytes + 14, latency share 0.8, latency cycles 700, latency share 0.18, "
        "latency cycles 1400, latency share 0.02, ");
  std::string changed = text;
  for (const auto& [old, fresh] :
       std::vector<std::pair<std::string, std::string>>{{"0.8", "0.75"}, {"0.18", "0.23"}, {"1400", "2 * bytes + 900"}})
    for (const MachineNumber& number : machine_numbers(changed))
      if (number.value == old) {
        changed = with_number(changed, number, fresh);
        break;
      }
  const Result<Machine> machine = parse_machine(changed, "changed.json");
  if (!machine) FAIL(to_string(machine.error()));
  CHECK(describe(resolve(Ring().kernel, *machine, {}).value().ops[0].spread.cases) == "270:75%,700:23%,1412:2%");
}

TEST_CASE("an op of several latencies keeps them through machine files, and its problem has a text of its own", "[core]") {
  const Ring ring;
  const Result<Machine> again = parse_machine(machine_text(ring.machine, ""), "again.json");
  if (!again) FAIL(to_string(again.error()));
  CHECK(again->rules[0].latencies.size() == 3);
  CHECK(problem_text(resolve(ring.kernel, *again).value()) == problem_text(ring.problem()));
  CHECK(problem_text(ring.problem({"fetch.latency_at=1"})) != problem_text(ring.problem({"fetch.latency=270"})));
  CHECK(problem_hash(ring.problem({"fetch.latency=270:60%,700:40%"})) == problem_hash(ring.problem()));
}
