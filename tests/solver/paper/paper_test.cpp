// Paper mode: the paper's own example, normalization, and what each switch does.
#include <catch2/catch.hpp>

#include <set>

#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "solver/paper/ask.h"
#include "solver/paper/joint.h"
#include "solver/paper/modulo.h"
#include "solver/paper/normalize.h"
#include "tests/support/paths.h"
#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;
using namespace heddle::solver::paper;

namespace {

Problem shipped(const std::string& kernel, const std::string& machine) {
  const auto k = load_kernel(test::repository_path("kernels/" + kernel + ".json"));
  const auto m = load_machine(test::repository_path("assets/machines/" + machine + ".json"));
  REQUIRE(k);
  REQUIRE(m);
  const auto problem = resolve(*k, *m);
  REQUIRE(problem);
  return *problem;
}

/// All starts with which the joint problem holds.
std::set<std::vector<Cycle>> all_starts(const PaperGraph& graph, const Options& options, Cycle ii, Cycle length) {
  JointQuery query{ii, length, 0, {}, 0};
  std::set<std::vector<Cycle>> found;
  for (;;) {
    const JointAnswer answer = swp_and_ws(graph, options, query, {});
    REQUIRE(answer.answer != Answer::Unknown);
    if (answer.answer == Answer::No) return found;
    query.excluded.push_back(answer.schedule.starts);
    REQUIRE(found.insert(answer.schedule.starts).second);
  }
}

/// Nodes of one cycle on units of their own, in a chain with delay 1.
PaperGraph chain(int nodes) {
  PaperGraph graph;
  graph.memory_capacity = {100, 100};
  graph.register_limit = 100;
  graph.pool = 2;
  for (int v = 0; v < nodes; ++v) {
    PaperNode node;
    node.name = std::string(1, static_cast<char>('a' + v));
    node.cycles = 1;
    node.table = {{static_cast<std::size_t>(v), 0, 1, 1}};
    graph.unit_capacity.push_back(1);
    graph.nodes.push_back(node);
    if (v == 0) continue;
    graph.arcs.push_back({static_cast<std::size_t>(v - 1), static_cast<std::size_t>(v), 1, 0, false, true});
    graph.nodes[static_cast<std::size_t>(v - 1)].reads = {{static_cast<std::size_t>(v), 0}};
  }
  return graph;
}

Answer decide(const PaperGraph& graph, const Options& options, Cycle ii, Cycle length) {
  return swp_and_ws(graph, options, {ii, length, 0, {}, 0}, {}).answer;
}

}  // namespace

TEST_CASE("the paper's example: I = 2, L = 4, two copies, and exactly two schedules", "[solver]") {
  Request request;
  request.problem = shipped("toy_fig1", "toy");
  const PaperAnswer answer = ask(request);
  CHECK(answer.status == Status::Optimal);
  CHECK(answer.ii == 2);
  CHECK(answer.length == 4);
  CHECK(answer.copies == 2);
  CHECK(answer.modulo_ii == 2);
  CHECK(answer.modulo_length == 4);
  CHECK(answer.normalization.error == 0);
  REQUIRE(answer.worth.has_value());
  CHECK(answer.worth->period == 2);
  CHECK(answer.worth->native_ii == Cycle{2});
  CHECK(check(request.problem, answer.worth->schedule).valid());

  Options options;
  const PaperGraph graph = make_graph(request.problem, options);
  const std::set<std::vector<Cycle>> both{{0, 2, 3}, {0, 1, 3}};
  CHECK(all_starts(graph, options, 2, 4) == both);
  options.form = PaperForm::Literal;
  CHECK(all_starts(graph, options, 2, 4) == both);
  CHECK(decide(graph, options, 1, 3) == Answer::No);
  CHECK(decide(graph, options, 2, 3) == Answer::No);
  options.accelerate = false;  // Algorithm 1 counting from 1
  const SearchResult literal = algorithm1(graph, options);
  CHECK(literal.ii == 2);
  CHECK(literal.length == 4);
}

TEST_CASE("normalization keeps ratios where it can and says how many costs it loses", "[solver]") {
  Options options;
  const Normalization exact = normalize({512, 1024, 512, 2048, 0}, options);
  CHECK(exact.error == 0);
  CHECK(exact.of.at(512) == 1);
  CHECK(exact.of.at(2048) == 4);
  CHECK(exact.zeros == 0);

  options.u = 4;
  const Normalization coarse = normalize({1000, 990, 10, 7}, options);
  CHECK(coarse.of.at(1000) == 1);
  CHECK(coarse.of.at(990) == 1);
  CHECK(coarse.error == 10);
  CHECK(coarse.entries == 4);
  CHECK(coarse.zeros == 2);
  options.tie_break = TieBreak::MinSum;
  CHECK(normalize({1000, 990, 10, 7}, options).sum <= coarse.sum);
  options.floor = Floor::One;
  const Normalization floored = normalize({1000, 990, 10, 7}, options);
  CHECK(floored.zeros == 0);
  CHECK(floored.sum == 4);
  options.floor = Floor::Zero;
  options.cluster = 5;
  const Normalization clustered = normalize({1000, 990, 10, 7}, options);
  CHECK(clustered.of.at(1000) == clustered.of.at(990));
  CHECK(clustered.largest == 1000);

  // One cost often, the other once: counted once each there is room for more.
  options = {};
  options.u = 30;
  std::vector<Cycle> often(20, 100);
  often.push_back(731);
  const Normalization distinct = normalize(often, options);
  options.entries = Entries::Multiset;
  const Normalization multiset = normalize(often, options);
  CHECK(distinct.error < multiset.error);
  CHECK(multiset.entries == 21);
  CHECK(multiset.sum <= 30);

  options = {};
  options.u = 2;
  options.floor = Floor::One;
  const Normalization impossible = normalize({5, 6, 7}, options);
  CHECK_FALSE(impossible.possible);
  CHECK(impossible.why.find("U = 2") != std::string::npos);
  CHECK(normalize({}, options).possible);

  QueryLimits over;
  over.deadline = Clock::now();
  options.u = 1'000'000;
  CHECK_THROWS_AS(normalize({1'000'003, 999'983, 7}, options, over), Stopped);
  CHECK(normalize({std::int64_t{1} << 40, 3}, Options{}).possible);
}

TEST_CASE("every switch has a sentence, a default that it accepts, and refuses nonsense", "[solver]") {
  Options options;
  const auto list = settings(options);
  std::set<std::string> names;
  for (const PaperSetting& setting : list) {
    CAPTURE(setting.name);
    CHECK(names.insert(setting.name).second);
    CHECK(setting.about.size() > 40);
    CHECK(setting.about.back() == '.');
    CHECK(setting.value == setting.standard);
    CHECK(set_switch(options, setting.name + "=" + setting.standard));
    for (const std::string& word : setting.words) {
      Options changed;
      REQUIRE(set_switch(changed, setting.name + "=" + word));
      const auto after = settings(changed);
      for (const PaperSetting& other : after) CHECK(other.value == (other.name == setting.name ? word : other.standard));
    }
    CHECK_FALSE(set_switch(options, setting.name + "=sideways"));
    CHECK_FALSE(set_switch(options, setting.name + "="));
    CHECK_FALSE(set_switch(options, setting.name + "=-7"));
    CHECK_FALSE(set_switch(options, setting.name + "=99999999999999999999"));
  }
  CHECK_FALSE(set_switch(options, "u"));
  const auto wrong = set_switch(options, "concurency=issue");
  REQUIRE_FALSE(wrong);
  CHECK(to_string(wrong.error()).find("concurrency") != std::string::npos);
}

TEST_CASE("switches of the graph: table, streaming, variable latency, spill cost, blocking, charge", "[solver]") {
  const Problem problem = shipped("attention_forward_hopper", "h100");
  const auto index = [&](const char* name) { return problem.find_op(name).index(); };
  const PaperGraph graph = make_graph(problem, {});
  CHECK(graph.nodes[index("QK0")].cycles == 542);
  CHECK(graph.nodes[index("load_k")].variable_latency);
  CHECK(graph.pool == 3);
  Options options;
  options.table = Table::Occupancy;
  CHECK(make_graph(problem, options).nodes[index("QK0")].cycles == 512);

  const auto delay = [&](const PaperGraph& g, const char* from) {
    for (const Arc& arc : g.arcs)
      if (arc.from == index(from)) return arc.delay;
    return Cycle{-1};
  };
  CHECK(delay(graph, "load_k") == 0);
  CHECK_FALSE(graph.nodes[index("load_k")].table.empty());
  options = {};
  options.streaming = Streaming::Whole;
  CHECK(make_graph(problem, options).nodes[index("load_k")].table.empty());
  options.streaming = Streaming::Off;
  CHECK(delay(make_graph(problem, options), "load_k") == 962);
  options.variable = VariableRule::None;
  CHECK_FALSE(make_graph(problem, options).has_variable_latency);

  options = {};
  options.spill_cost = 30;
  const PaperGraph thirty = make_graph(problem, options);
  CHECK(thirty.nodes[index("QK0")].spill == 30);
  CHECK(thirty.nodes[index("load_k")].spill == 0);
  CHECK(graph.nodes[index("QK0")].spill > 0);

  const auto blocking = [](const PaperGraph& g) {
    return std::count_if(g.arcs.begin(), g.arcs.end(), [](const Arc& arc) { return arc.blocking; });
  };
  options = {};
  options.blocking = Blocking::Waits;  // products onto one accumulator follow each other without waiting
  const Problem gemm = shipped("gemm_hopper", "h100");
  CHECK(blocking(make_graph(gemm, options)) < blocking(make_graph(gemm, {})));
  options.blocking = Blocking::None;
  CHECK(blocking(make_graph(problem, options)) == 0);

  options = {};
  options.charge = Charge::Whole;
  CHECK(make_graph(problem, options).nodes[index("QK0")].registers == 4 * graph.nodes[index("QK0")].registers);
  options.registers = 128;
  options.groups = 7;
  CHECK(make_graph(problem, options).register_limit == 128);
  CHECK(make_graph(problem, options).pool == 7);

  const Problem backward = shipped("attention_backward_hopper", "h100");
  options = {};
  options.variable = VariableRule::Copies;
  CHECK_FALSE(make_graph(backward, {}).nodes[backward.find_op("add_dq0").index()].variable_latency);
  CHECK(make_graph(backward, options).nodes[backward.find_op("add_dq0").index()].variable_latency);
  CHECK(cost_list(graph, {}).size() > graph.nodes.size());
  options = {};
  options.list = CostList::Ops;
  CHECK(cost_list(graph, options).size() < cost_list(graph, {}).size());
}

TEST_CASE("switches of the joint problem: guard, init, concurrency, spills, cross-warp", "[solver]") {
  Options options;
  // A value used in the cycle of its definition: without the guard it is live from cycle 0 on.
  PaperGraph same = chain(3);
  same.arcs[1].delay = 0;  // b and c may start together
  same.nodes[1].registers = 1;
  same.register_limit = 0;
  CHECK(decide(same, options, 3, 3) == Answer::Yes);
  options.same_cycle_guard = false;
  CHECK(decide(same, options, 3, 3) == Answer::No);

  // Read two iterations later: two copies are alive at the end, the printed INIT keeps one.
  PaperGraph late = chain(1);
  late.nodes[0].reads = {{0, 2}};
  late.arcs = {{0, 0, 1, 2, false, false}};
  late.nodes[0].footprint = {1, 0};
  late.memory_capacity = {1, 0};
  options = {};
  CHECK(decide(late, options, 1, 2) == Answer::Yes);
  options.init = Init::ByDistance;
  CHECK(decide(late, options, 1, 2) == Answer::No);

  // c waits for b while the long asynchronous d executes; all on one group.
  PaperGraph busy = chain(3);
  busy.pool = 1;
  busy.arcs[1].blocking = true;
  busy.nodes[1].asynchronous = true;
  PaperNode d;
  d.name = "d";
  d.cycles = 3;
  d.asynchronous = true;
  busy.nodes.push_back(d);
  options = {};
  CHECK(decide(busy, options, 3, 3) == Answer::Yes);
  options.concurrency = Concurrency::Cycles;
  CHECK(decide(busy, options, 3, 3) == Answer::No);
  CHECK(decide(busy, options, 4, 4) == Answer::Yes);
  busy.pool = 2;
  CHECK(decide(busy, options, 3, 3) == Answer::Yes);  // on another group

  // Registers for one value per group, so that a and b must part; the spill takes 2 cycles.
  PaperGraph spill = chain(3);
  spill.nodes[0].spill = 2;
  spill.arcs.push_back({0, 2, 1, 0, false, true});
  spill.nodes[0].reads.push_back({2, 0});
  spill.nodes[0].registers = spill.nodes[1].registers = 1;
  spill.register_limit = 1;
  options = {};
  CHECK(decide(spill, options, 5, 4) == Answer::No);
  CHECK(decide(spill, options, 5, 5) == Answer::Yes);
  options.cross_warp = CrossWarp::NoRegisters;
  CHECK(decide(spill, options, 9, 9) == Answer::No);
  spill.arcs[0].registers = spill.arcs[1].registers = spill.arcs[2].registers = false;
  CHECK(decide(spill, options, 5, 5) == Answer::Yes);
  options.cross_warp = CrossWarp::Never;
  CHECK(decide(spill, options, 9, 9) == Answer::No);

  // The receiver of a spill blocks: another op of its group may not run at that time.
  PaperGraph receive = chain(2);
  receive.nodes[0].spill = 1;
  receive.nodes[0].variable_latency = receive.has_variable_latency = true;  // a alone on group 0
  receive.nodes.push_back(receive.nodes[1]);
  receive.nodes[2].name = "c";
  receive.nodes[2].table.clear();
  receive.nodes[2].cycles = 3;
  options = {};
  CHECK(decide(receive, options, 3, 3) == Answer::Yes);
  options.spill_concurrency = true;
  CHECK(decide(receive, options, 3, 3) == Answer::No);
}

TEST_CASE("single warps: how many an op takes, and when two ops are on the same warp", "[solver]") {
  // A four-warp op and a one-warp op that reads its register: another warp, unless a set inside the other is the same.
  PaperGraph graph = chain(2);
  graph.nodes[0].warps = 4;
  graph.nodes[0].spill = 1;
  graph.pool = 4;
  Options options;
  options.pool = Pool::Warps;
  options.same_warp = SameWarp::Contain;
  const JointAnswer contained = swp_and_ws(graph, options, {2, 2, 0, {}, 0}, {});
  REQUIRE(contained.answer == Answer::Yes);
  CHECK(contained.schedule.warps[0].size() == 4);
  CHECK(contained.schedule.warps[1].size() == 1);
  options.same_warp = SameWarp::Equal;
  CHECK(decide(graph, options, 3, 2) == Answer::No);
  CHECK(decide(graph, options, 3, 3) == Answer::Yes);
  graph.nodes[1].warps = 4;
  CHECK(decide(graph, options, 2, 2) == Answer::Yes);
  options.same_warp = SameWarp::Literal;
  CHECK(decide(graph, options, 2, 2) == Answer::No);
  graph.pool = 3;
  CHECK(decide(graph, options, 9, 9) == Answer::No);  // too few warps
}

TEST_CASE("switches of the search: fewest groups, limit, and the proof that no I works", "[solver]") {
  PaperGraph graph = chain(3);
  graph.pool = 3;
  Options options;
  options.secondary = Secondary::FewestGroups;
  const SearchResult few = algorithm1(graph, options);
  REQUIRE(few.status == Status::Optimal);
  for (const auto& warps : few.schedule.warps) CHECK(warps == few.schedule.warps.front());

  graph.nodes[0].footprint = {200, 0};  // never fits
  const SearchResult never = algorithm1(graph, options);
  CHECK(never.status == Status::Infeasible);
  options.accelerate = false;
  CHECK(algorithm1(graph, options).status == Status::Infeasible);
  options.limit = 2;
  const SearchResult cut = algorithm1(graph, options);
  CHECK(cut.status == Status::Unknown);
  CHECK(cut.why.find("limit") != std::string::npos);
}

TEST_CASE("sub-tiles are merged into one tile of twice the rows", "[solver]") {
  const Problem problem = shipped("attention_forward_blackwell", "b200");
  PaperGraph graph = make_graph(problem, {});
  const PaperGraph before = graph;
  CHECK(merge_subtiles(graph) == 13);
  CHECK(graph.nodes.size() == before.nodes.size() - 13);
  CHECK(graph.nodes[problem.find_op("QK0").index()].cycles == 2 * before.nodes[problem.find_op("QK0").index()].cycles);
  for (const Arc& arc : graph.arcs) CHECK((arc.from < graph.nodes.size() && arc.to < graph.nodes.size()));
  PaperGraph other = make_graph(shipped("attention_backward_blackwell", "b200"), {});
  CHECK(merge_subtiles(other) == 0);
}

TEST_CASE("attention forward on Hopper: three groups, retimed into a legal native schedule", "[solver]") {
  Request request;
  request.problem = shipped("attention_forward_hopper", "h100");
  const PaperAnswer answer = ask(request);
  REQUIRE(answer.status == Status::Optimal);
  CHECK(answer.normalization.sum <= 300);
  CHECK(answer.groups.size() == 3);
  CHECK(answer.groups.front().variable_latency);
  CHECK(answer.groups.front().ops.size() == 2);
  REQUIRE(answer.worth.has_value());
  CHECK(answer.worth->native_ii == Cycle{2048});
  CHECK(answer.worth->period >= 2048);
  CHECK(check(request.problem, answer.worth->schedule).valid());
}

TEST_CASE("a stop request and a time limit end paper mode, and the answer says so", "[solver]") {
  Request request;
  request.problem = shipped("attention_forward_blackwell", "b200");
  std::stop_source stop;
  stop.request_stop();
  const PaperAnswer stopped = ask(request, stop.get_token());
  CHECK(stopped.cancelled);
  CHECK(stopped.status == Status::Unknown);
  CHECK(stopped.ii == 0);
  request.timeout_seconds = 0.05;
  const PaperAnswer late = ask(request);
  CHECK(late.timed_out);
  CHECK(late.status == Status::Unknown);
  // Native cycles in Boolean form are refused before they fill the memory.
  request.timeout_seconds = 60;
  request.options.normalize = false;
  const PaperAnswer native = ask(request);
  CHECK(native.status == Status::Unknown);
  CHECK(native.explanation.find("not attempted") + native.explanation.find("attempted") != std::string::npos);
}
