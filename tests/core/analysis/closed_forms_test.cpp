// The evaluator against closed forms of known kernels. Each form is exact for an abstract kernel: constant latencies, a
// tensor core that runs products in the order in which they are issued, one number for the softmax, one for a barrier.
// Address arithmetic, registers and memory do not occur. t_x: cycles that x holds its unit, L_x: until its result is
// there, sigma: from arriving at a barrier until the other group wakes.
#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "core/analysis/period.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;

namespace {

constexpr unsigned kSeed = 20251114;
constexpr int kCases = 3000;
constexpr Cycle kII = 100000;  // starts give the order only

struct Ratio {
  std::int64_t weight = 0, tokens = 1;
};

Ratio largest(std::initializer_list<Ratio> terms) {
  return *std::max_element(terms.begin(), terms.end(),
                           [](const Ratio& a, const Ratio& b) { return a.weight * b.tokens < b.weight * a.tokens; });
}

void require_period(const Problem& problem, const Schedule& schedule, const Ratio& expected) {
  const Period period = sustainable_period(problem, schedule);
  INFO(period.sentence);
  REQUIRE_FALSE(period.deadlock);
  REQUIRE(period.weight * expected.tokens == expected.weight * period.tokens);
}

struct Draw {
  std::mt19937 random;
  explicit Draw(unsigned seed) : random(seed) {}
  Cycle operator()(Cycle low, Cycle high) { return low + static_cast<Cycle>(random() % static_cast<unsigned>(high - low + 1)); }
};

UnitUse hold(UnitId unit, Cycle cycles) { return {unit, 0, cycles, 1}; }

}  // namespace

TEST_CASE("a GEMM with D slots and P mmas in flight has the period of its closed form", "[core]") {
  // One ring for both operands. The consumer issues product k, waits until at most P are pending, and gives slot k - P
  // back.
  Draw draw(kSeed);
  for (int n = 0; n < kCases; ++n) {
    const Cycle t_l = draw(1, 900), l_l = t_l + draw(0, 1500), t_m = draw(1, 900), l_m = t_m + draw(0, 600), sigma = draw(0, 150);
    const int p = static_cast<int>(draw(0, 4)), d = p + static_cast<int>(draw(1, 5));
    Problem problem = empty_problem();
    const UnitId tma = add_unit(problem, "TMA"), tc = add_unit(problem, "TC");
    const OpId load = add_op(problem, "load", l_l, 0, {hold(tma, t_l)});
    const OpId mma = add_op(problem, "MMA", l_m, 0, {hold(tc, t_m)});
    const OpId release = add_op(problem, "release", 0);
    add_edge(problem, load, mma, l_l).handoff = sigma;
    add_edge(problem, mma, release, l_m, p).waits = true;
    problem.channels[add_channel(problem, load, 1, {{release, p, 0, sigma}}).index()].max_depth = d;
    Schedule schedule = place(problem, kII, {{0, 0}, {10, 1}, {20, 1}});
    schedule.depths = {d};
    INFO("seed " << kSeed << ", case " << n << ": t_L " << t_l << " L_L " << l_l << " t_M " << t_m << " L_M " << l_m << " sigma " << sigma
                 << " D " << d << " P " << p);
    require_period(problem, schedule, largest({{t_l, 1}, {t_m, 1}, {l_m, p + 1}, {l_l + l_m + 2 * sigma, d}, {l_l + 2 * sigma, d - p}}));
    schedule.depths = {p};  // the consumer would wait for a slot that it holds itself
    CHECK((p == 0 || sustainable_period(problem, schedule).deadlock || l_l + 2 * sigma == 0));
  }
}

TEST_CASE("attention of G groups in ping-pong has the period of its closed form", "[core]") {
  // T and U: QK and PV, U of the iteration before; c: softmax; r: rescaling of the output; b: the named barrier that is
  // handed around.
  Draw draw(kSeed + 1);
  for (int n = 0; n < kCases; ++n) {
    const int groups = static_cast<int>(draw(1, 3));
    const Cycle t_t = draw(1, 700), l_t = t_t + draw(0, 100), t_u = draw(1, 700), l_u = t_u + draw(0, 100), c = draw(1, 1500),
                r = draw(1, 200), b = draw(1, 100);
    Problem problem = empty_problem();
    const UnitId tc = add_unit(problem, "TC"), barrier = add_unit(problem, "barrier");
    const OpId load = add_op(problem, "load", 0);  // never late; but T waits for it, and so comes after whatever is before it in the stream
    std::vector<std::pair<Cycle, int>> places{{0, groups}};
    for (int g = 0; g < groups; ++g) {
      const OpId t = add_op(problem, "T", l_t, 0, {hold(tc, t_t), hold(barrier, b)}), u = add_op(problem, "U", l_u, 0, {hold(tc, t_u)});
      const OpId softmax = add_op(problem, "softmax", c, c), rescale = add_op(problem, "rescale", r, r);
      add_edge(problem, load, t, 0);
      add_edge(problem, t, softmax, l_t).waits = true;
      add_edge(problem, softmax, u, c);
      add_edge(problem, u, rescale, l_u, 1).waits = true;
      add_edge(problem, rescale, u, r);
      const Cycle turn = 10000 * g;
      places.insert(places.end(), {{turn, g}, {kII + turn + 10, g}, {turn + 20, g}, {turn + 30, g}});
    }
    const Schedule schedule = place(problem, kII, places);
    INFO("seed " << kSeed + 1 << ", case " << n << ": G " << groups << " t_T " << t_t << " L_T " << l_t << " t_U " << t_u << " L_U " << l_u
                 << " c " << c << " r " << r << " b " << b);
    require_period(problem, schedule, largest({{groups * (t_t + t_u), 1}, {std::max(l_t + c, t_t + l_u) + r, 1}, {groups * b, 1}}));
  }
}

TEST_CASE(
    "attention without overlap inside a group has the period of its closed form, or a larger one when groups keep one "
    "order",
    "[core]") {
  // The form lets groups come to the tensor core as they are ready, in a pattern that may take several iterations; an
  // order that is the same in every iteration cannot do better, and a single group has only one.
  Draw draw(kSeed + 2);
  for (int n = 0; n < kCases; ++n) {
    const int groups = static_cast<int>(draw(1, 3));
    const Cycle t_t = draw(1, 700), l_t = t_t + draw(0, 100), t_u = draw(1, 700), l_u = t_u + draw(0, 100), c = draw(1, 1500),
                r = draw(1, 200);
    const bool products_together = draw(0, 1) == 1;
    Problem problem = empty_problem();
    const UnitId tc = add_unit(problem, "TC");
    std::vector<std::pair<Cycle, int>> places;
    for (int g = 0; g < groups; ++g) {
      const OpId t = add_op(problem, "T", l_t, 0, {hold(tc, t_t)}), softmax = add_op(problem, "softmax", c, c),
                 rescale = add_op(problem, "rescale", r, r);
      const OpId u = add_op(problem, "U", l_u, 0, {hold(tc, t_u)}), wait = add_op(problem, "wait", 0);
      add_edge(problem, t, softmax, l_t).waits = true;
      add_edge(problem, softmax, rescale, c);
      add_edge(problem, rescale, u, r).waits = true;
      add_edge(problem, u, wait, l_u).waits = true;
      const Cycle turn = products_together ? 10000 * g : 10 * g, late = products_together ? turn + 50 : 50000 + turn;
      // Together: U and the T after it are one turn, so U lags one iteration behind and comes first.
      if (products_together)
        places.insert(places.end(), {{turn + 40, g}, {turn + 60, g}, {turn + 70, g}, {kII + turn, g}, {kII + turn + 10, g}});
      else
        places.insert(places.end(), {{turn, g}, {late, g}, {late + 1000, g}, {late + 2000, g}, {late + 3000, g}});
    }
    const Schedule schedule = place(problem, kII, places);
    const Ratio form = largest({{groups * (t_t + t_u), 1}, {l_t + c + r + l_u, 1}});
    INFO("seed " << kSeed + 2 << ", case " << n << ": G " << groups << " t_T " << t_t << " L_T " << l_t << " t_U " << t_u << " L_U " << l_u
                 << " c " << c << " r " << r);
    if (groups == 1) {
      require_period(problem, schedule, form);
      continue;
    }
    const Period period = sustainable_period(problem, schedule);
    REQUIRE_FALSE(period.deadlock);
    REQUIRE(period.weight >= form.weight * period.tokens);
  }
}

TEST_CASE("attention of two query tiles with a warp of its own for mmas has the period of its closed form", "[core]") {
  // The MMA warp issues PV(i-1), QK(i) of one tile, then of the other; QK overwrites the scores that PV has read as P,
  // so it follows PV on the tensor core and needs no barrier. X: everything the softmax group does between the two.
  Draw draw(kSeed + 3);
  for (int n = 0; n < kCases; ++n) {
    const Cycle t_t = draw(1, 700), l_t = t_t + draw(0, 200), t_u = draw(1, 700), l_u = t_u + draw(0, 200), x = draw(1, 2500),
                sigma = draw(0, 150);
    Problem problem = empty_problem();
    const UnitId tc = add_unit(problem, "TC");
    std::vector<std::pair<Cycle, int>> places;
    for (int tile = 0; tile < 2; ++tile) {
      const OpId qk = add_op(problem, "QK", l_t, 0, {hold(tc, t_t)}), softmax = add_op(problem, "softmax", x, x),
                 pv = add_op(problem, "PV", l_u, 0, {hold(tc, t_u)});
      add_edge(problem, qk, softmax, l_t).handoff = sigma;
      add_edge(problem, softmax, pv, x).handoff = sigma;
      const Cycle turn = 1000 * tile;
      places.insert(places.end(), {{turn + 10, 0}, {turn + 5000, 1 + tile}, {kII + turn, 0}});
    }
    const Schedule schedule = place(problem, kII, places);
    INFO("seed " << kSeed + 3 << ", case " << n << ": t_T " << t_t << " L_T " << l_t << " t_U " << t_u << " X " << x << " sigma " << sigma);
    require_period(problem, schedule, largest({{2 * (t_t + t_u), 1}, {t_u + l_t + x + 2 * sigma, 1}}));
  }
}
