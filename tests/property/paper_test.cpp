// Paper mode against exhaustive search: normalization, the modulo schedule, both forms of the joint problem, Algorithm 1
// with and without its accelerator; and against the native solver where the two models coincide. A failing case prints its
// seed.
#include <catch2/catch.hpp>

#include <random>

#include "core/check/checker.h"
#include "solver/paper/ask.h"
#include "solver/paper/joint.h"
#include "solver/paper/modulo.h"
#include "solver/paper/normalize.h"
#include "solver/search/solve.h"
#include "tests/property/paper_brute_force.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::solver;
using namespace heddle::solver::paper;

namespace {

int pick(std::mt19937_64& random, int low, int high) {
  return low + static_cast<int>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// The formula of section 5.2 on every C' in [least, U]^n: the smallest F, and the largest sum that has it.
struct BestNormalization {
  std::int64_t error = -1, sum = 0;
};

BestNormalization best_normalization(const std::vector<Cycle>& costs, std::int64_t u, Cycle least) {
  BestNormalization best;
  std::vector<Cycle> small(costs.size(), least);
  for (;;) {
    std::int64_t sum = 0, error = 0;
    for (const Cycle c : small) sum += c;
    if (sum >= 1 && sum <= u) {
      for (std::size_t i = 0; i < costs.size(); ++i)
        for (std::size_t j = 0; j < costs.size(); ++j) error = std::max<std::int64_t>(error, costs[i] * small[j] - costs[j] * small[i]);
      if (best.error < 0 || error < best.error || (error == best.error && sum > best.sum)) best = {error, sum};
    }
    std::size_t i = 0;
    while (i < small.size() && ++small[i] > u) small[i++] = least;
    if (i == small.size()) return best;
  }
}

Options random_options(std::mt19937_64& random) {
  Options options;
  options.concurrency = pick(random, 0, 1) ? Concurrency::Cycles : Concurrency::Issue;
  options.spill_concurrency = pick(random, 0, 2) == 0;
  options.cross_warp = static_cast<CrossWarp>(pick(random, 0, 5) < 4 ? 0 : pick(random, 1, 2));
  options.same_cycle_guard = pick(random, 0, 2) > 0;
  options.init = pick(random, 0, 1) ? Init::LastCopy : Init::ByDistance;
  return options;
}

}  // namespace

TEST_CASE("normalization finds the smallest F and, of its solutions, the largest sum", "[property]") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Cycle> costs;
    for (int n = pick(random, 1, 4); n > 0; --n) costs.push_back(pick(random, 1, 40));
    Options options;
    options.entries = pick(random, 0, 1) ? Entries::Multiset : Entries::Distinct;
    options.floor = pick(random, 0, 2) ? Floor::Zero : Floor::One;
    options.u = pick(random, static_cast<int>(costs.size()), 11);
    std::vector<Cycle> list = costs;
    if (options.entries == Entries::Distinct) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    const BestNormalization truth = best_normalization(list, options.u, options.floor == Floor::One ? 1 : 0);
    const Normalization found = normalize(costs, options);
    CAPTURE(seed, options.u, found.why);
    REQUIRE(found.possible);
    CHECK(found.error == truth.error);
    CHECK(found.tie_broken);
    std::int64_t sum = 0;
    for (const Cycle c : list) sum += found.of.at(c);
    CHECK(sum == found.sum);
    // Equal costs get equal C' here, so the largest sum of a multiset may be out of reach; it never is for distinct costs.
    if (truth.error > 0 && options.entries == Entries::Distinct) CHECK(sum == truth.sum);
    CHECK(sum <= truth.sum);
    for (const Cycle a : list)
      for (const Cycle b : list) CHECK(a * found.of.at(b) - b * found.of.at(a) <= found.error);
  }
}

TEST_CASE("the modulo schedule is as short as exhaustive search finds it", "[property]") {
  int feasible = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    const PaperGraph graph = test::random_paper_graph(seed, 4);
    const Cycle ii = 1 + static_cast<Cycle>(seed % 4);
    const Cycle truth = test::shortest_modulo_length(graph, ii, 8);
    const PaperModuloSchedule found = optimal_modulo_schedule(graph, ii, 0, {});
    CAPTURE(seed, ii);
    REQUIRE(found.answer != Answer::Unknown);
    if (truth > 0) {
      REQUIRE(found.answer == Answer::Yes);
      CHECK(found.length == truth);
      ++feasible;
    } else if (found.answer == Answer::Yes) {
      CHECK(found.length > 8);
    }
    if (found.answer == Answer::Yes) CHECK(valid_modulo_schedule(graph, ii, found.length, found.starts));
  }
  CHECK(feasible > 50);
}

TEST_CASE("the compact form, the literal form and exhaustive search agree on the joint problem", "[property]") {
  int feasible = 0, decided = 0;
  for (std::uint64_t seed = 1; seed <= 350; ++seed) {
    std::mt19937_64 random(seed * 7919);
    const PaperGraph graph = test::random_paper_graph(seed, 4);
    Options options = random_options(random);
    const Cycle ii = pick(random, 1, 4), length = pick(random, 2, 6);
    const bool truth = test::paper_schedule_exists(graph, options, ii, length);
    CAPTURE(seed, ii, length);
    for (const PaperForm form : {PaperForm::Compact, PaperForm::Literal}) {
      options.form = form;
      const JointAnswer found = swp_and_ws(graph, options, {ii, length, 0, {}, 0}, {});
      INFO((form == PaperForm::Compact ? "compact" : "literal"));
      REQUIRE(found.answer == (truth ? Answer::Yes : Answer::No));
      if (!truth) continue;
      std::vector<int> groups;
      for (const auto& warps : found.schedule.warps) groups.push_back(warps.front());
      CHECK(test::paper_formulas_hold(graph, options, ii, length, found.schedule.starts, groups));
    }
    ++decided;
    feasible += truth;
  }
  CAPTURE(decided, feasible);
  CHECK(feasible > decided / 10);
  CHECK(feasible < decided * 9 / 10);
}

TEST_CASE("the accelerator changes neither I nor L nor what is found infeasible", "[property]") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    std::mt19937_64 random(seed * 104729);
    const PaperGraph graph = test::random_paper_graph(seed + 5000, 4);
    Options fast = random_options(random), slow = fast;
    slow.accelerate = false;
    const SearchResult a = algorithm1(graph, fast), b = algorithm1(graph, slow);
    CAPTURE(seed, a.why, b.why);
    REQUIRE(a.status == b.status);
    CHECK(a.ii == b.ii);
    CHECK(a.length == b.length);
    found += a.status == Status::Optimal;
  }
  CHECK(found > 20);
}

// Where the models coincide: every op is synchronous, takes one cycle of one unit and its result after one cycle; no values
// (so no registers, memory or hand-offs), no issue windows, no variable latency; order edges of latency 1.
TEST_CASE("with unit costs and nothing but units and dependences, paper mode and the native solver have the same I", "[property]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    Problem problem = test::empty_problem();
    const int capacity = pick(random, 1, 2);
    const UnitId first = test::add_unit(problem, "A"), second = test::add_unit(problem, "B", capacity);
    const int ops = pick(random, 2, 7);
    for (int v = 0; v < ops; ++v)
      test::add_op(problem, std::string(1, static_cast<char>('a' + v)), 1, 0, {{pick(random, 0, 1) ? first : second, 0, 1, 1}});
    for (int k = pick(random, 1, 2 * ops); k > 0; --k) {
      const int from = pick(random, 0, ops - 1), to = pick(random, 0, ops - 1);
      test::add_edge(problem, OpId(static_cast<std::size_t>(from)), OpId(static_cast<std::size_t>(to)), 1,
                     from < to ? pick(random, 0, 1) : pick(random, 1, 2));
    }
    Request request;
    request.problem = problem;
    const PaperAnswer answer = ask(request);
    CAPTURE(seed, answer.explanation);
    REQUIRE(answer.status == Status::Optimal);
    CHECK(answer.normalization.error == 0);
    for (const PaperCost& cost : answer.costs) CHECK(cost.native == cost.normalized);
    REQUIRE(answer.worth.has_value());
    REQUIRE(answer.worth->native_proved);
    CHECK(answer.ii == *answer.worth->native_ii);
    // Retiming keeps the order; what only three ops together exceed is no order (core/analysis/period.h).
    if (capacity > 1) continue;
    CHECK_FALSE(answer.worth->deadlock);
    CHECK(answer.worth->period == answer.ii);
    CHECK(check(problem, answer.worth->schedule).valid());
  }
}
