// What certificates say of periods, and what the checker finds wrong with it.
#include "core/check/period_claim.h"

#include <catch2/catch.hpp>

#include "core/check/certify.h"
#include "core/check/period_bound.h"
#include "core/check/period_rule.h"
#include "core/check/program_count.h"
#include "tests/support/attention_loop.h"
#include "tests/support/small_problem.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::check_period;

namespace {

constexpr const char* kLeast[] = {"QK", "rescale", "PV", "max", "alpha", "sub", "exp", "sum", "cvt"};
constexpr const char* kOther[] = {"QK", "PV", "max", "alpha", "sub", "exp", "sum", "rescale", "cvt"};

/// Both groups in this order, their products in turn.
Schedule in_order(const Problem& p, const char* const (&order)[9]) {
  std::vector<std::pair<Cycle, int>> places(p.ops.size());
  constexpr Cycle kII = 2048;
  for (const int group : {0, 1}) {
    std::vector<OpId> ops;
    for (const char* name : order) ops.push_back(p.find_op(name + std::to_string(group)));
    const std::vector<int> stages = least_stages(p, ops);
    for (std::size_t i = 0; i < ops.size(); ++i)
      places[ops[i].index()] = {stages[i] * kII + 1000 * group + 10 * static_cast<Cycle>(i), group};
  }
  return place(p, kII, places);
}

struct Claimed {
  Problem problem = attention_loop(Attention::Plain, 176);
  Schedule schedule = in_order(problem, kLeast);
  PeriodProof proof = right();

  PeriodProof right() const {
    const ProgramCount count = count_programs(problem, {3, 240});
    const RuledPeriod period = period_by_rule(problem, loop_of(problem, schedule));
    PeriodProof claim;
    claim.standing = PeriodStanding::LeastOfAll;
    claim.period = period.grains * kTicks / kGrains;
    claim.iterations = period.iterations;
    claim.bound = period_sums(problem).ticks;
    claim.groups = 2;
    claim.stages = 3;
    claim.registers = 240;
    claim.orders = count.orders;
    claim.programs = count.programs;
    claim.digest = count.digest;
    claim.numbers = motion_hash(problem);
    return claim;
  }
  template <class Change>
  std::string why(Change change) const {
    PeriodProof claim = proof;
    change(claim);
    return why_period_is_void(problem, schedule, claim).value_or("stands");
  }
};

}  // namespace

TEST_CASE("a schedule is read as the program that it stands for", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 176);
  const JudgedProgram loop = loop_of(p, in_order(p, kLeast));
  REQUIRE(loop.groups.size() == 2);
  CHECK(loop.groups[0][1].op == p.find_op("rescale0"));
  CHECK(loop.groups[0][1].stage == 1);
  CHECK(loop.turns == std::vector<OpId>{p.find_op("QK0"), p.find_op("PV0"), p.find_op("QK1"), p.find_op("PV1")});
  Schedule free = in_order(p, kLeast);
  free.turns = false;
  CHECK(loop_of(p, free).turns.empty());
}

TEST_CASE("a claim of a period stands where the checker finds the same", "[core]") {
  const Claimed c;
  CHECK(c.why([](PeriodProof&) {}) == "stands");
  CHECK(c.why([](PeriodProof& p) { p.standing = PeriodStanding::WithinBound; }) == "stands");
  CHECK(c.why([](PeriodProof& p) { p.standing = PeriodStanding::ByPrediction, p.bound = 0; }) == "stands");
  CHECK(c.why([](PeriodProof& p) { p.period += p.period / 2000; }) == "stands");  // as exact as two rules are
}

TEST_CASE("wrong claims of a period are refused with what the checker finds", "[core]") {
  const Claimed c;
  const std::string found = "by the checker's rule it is " + std::to_string(c.proof.period / c.proof.iterations / 256);
  CHECK(c.why([](PeriodProof& p) { p.period = p.period * 99 / 100; }).find(found) != std::string::npos);
  CHECK(c.why([](PeriodProof& p) { p.period = p.period * 101 / 100; }).find(found) != std::string::npos);
  CHECK(c.why([](PeriodProof& p) { p.period = 0; }) == "says a period of no cycles, or of no iterations");
  CHECK(c.why([](PeriodProof& p) { p.bound = 2 * p.period; }).find("says that no program's period is below 64") == 0);
  CHECK(c.why([](PeriodProof& p) { p.bound = p.period - 256; }).find("the checker's sums are less: tensor core 2816 + ") !=
        std::string::npos);
  CHECK(c.why([](PeriodProof& p) { p.numbers = "0"; }).find("says a period for other numbers of contention") == 0);
  CHECK(c.why([](PeriodProof& p) { p.standing = PeriodStanding::WithinBound, p.bound = 0; }).find("and no bound") != std::string::npos);
  CHECK(c.why([](PeriodProof& p) { p.programs = 8790; }) ==
        "says that 8790 programs were compared, and the checker counts 8791 that keep the dependences in 3 stages and fit 240 registers");
  CHECK(c.why([](PeriodProof& p) { p.orders = 7; }).find("says that 7 orders were compared, and the checker counts 283") == 0);
  CHECK(c.why([](PeriodProof& p) { p.registers = 220; }).find("orders were compared, and the checker counts ") != std::string::npos);
  CHECK(c.why([](PeriodProof& p) { p.digest = "0123456789abcdef"; }).find("has another digest") == 0);
}

TEST_CASE("a machine without contention has no period of that kind", "[core]") {
  Claimed c;
  c.problem.contention = {};
  CHECK(c.why([](PeriodProof&) {}).find("knows no contention") != std::string::npos);
}

TEST_CASE("another order has another period, so its neighbour's claim is void", "[core]") {
  Claimed c;
  c.schedule = in_order(c.problem, kOther);
  CHECK(c.why([](PeriodProof&) {}).find("by the checker's rule it is ") != std::string::npos);
}

TEST_CASE("a period that the checker bears out goes onto the certificate, another does not", "[core]") {
  Claimed c;
  c.schedule.certificate.emplace();
  PeriodProof wrong = c.proof;
  wrong.period = wrong.period * 9 / 10;
  CHECK(certify_period(c.problem, wrong, c.schedule).has_value());
  CHECK_FALSE(c.schedule.certificate->period);
  PeriodProof right = c.proof;
  right.numbers.clear();
  CHECK_FALSE(certify_period(c.problem, right, c.schedule));
  REQUIRE(c.schedule.certificate->period);
  CHECK(c.schedule.certificate->period->numbers == motion_hash(c.problem));
}
