// The primitives of the model against plain arithmetic, for every pair of starts: what they mean is all that families rest on.
#include "solver/encoding/model.h"

#include <catch2/catch.hpp>

#include "tests/support/problem_builder.h"

using namespace heddle;
using namespace heddle::solver;

namespace {

constexpr Cycle kIi = 4;
constexpr int kStages = 3;

Problem two_ops() {
  test::ProblemBuilder b({"A", "B"});
  b.op("u", "A", 1);
  b.op("v", "B", 1);
  return b.problem;
}

ModelOptions small() {
  ModelOptions options;
  options.ii = kIi;
  options.stages = kStages;
  options.anchored = false;
  return options;
}

/// Literals that put an op at exactly this start.
void place(Model& model, OpId op, Cycle start, std::vector<Lit>& assumptions) {
  const Cycle slot = start % kIi;
  const int stage = static_cast<int>(start / kIi);
  assumptions.push_back(model.backend().at_least(model.slot(op), model.slot(model.origin()), slot));
  assumptions.push_back(model.backend().at_least(model.slot(model.origin()), model.slot(op), -slot));
  assumptions.push_back(model.stage_at_least(op, stage));
  assumptions.push_back(-model.stage_at_least(op, stage + 1));
}

template <class Meaning>
void compare(Model& model, Meaning&& meaning) {
  for (Cycle u = 0; u < kIi * kStages; ++u)
    for (Cycle v = 0; v < kIi * kStages; ++v) {
      std::vector<Lit> assumptions;
      place(model, OpId(0), u, assumptions);
      place(model, OpId(1), v, assumptions);
      CAPTURE(u, v);
      REQUIRE((model.backend().check(assumptions) == Answer::Yes) == meaning(u, v));
    }
}

Cycle residue(Cycle x) { return ((x % kIi) + kIi) % kIi; }

}  // namespace

TEST_CASE("starts that must be apart are apart, for every distance and every pair of starts", "[solver]") {
  const Problem problem = two_ops();
  for (Cycle apart = -kIi * kStages - 1; apart <= kIi * kStages + 1; ++apart) {
    Model model(problem, {}, small());
    model.require_apart(OpId(0), OpId(1), apart, {});
    CAPTURE(apart);
    compare(model, [&](Cycle u, Cycle v) { return v - u >= apart; });
  }
}

TEST_CASE("a residue must lie in its window, for every window, wrapping or not", "[solver]") {
  const Problem problem = two_ops();
  for (Cycle low = -5; low <= 5; ++low)
    for (Cycle length = -1; length <= kIi; ++length) {
      Model model(problem, {}, small());
      model.require_residue(OpId(0), OpId(1), low, length, {});
      CAPTURE(low, length);
      compare(model, [&](Cycle u, Cycle v) { return length >= 0 && residue(v - u - low) <= length; });
    }
}

TEST_CASE("a condition that holds lifts both primitives", "[solver]") {
  const Problem problem = two_ops();
  Model model(problem, {}, small());
  const Lit lifted = model.backend().new_lit();
  model.require_apart(OpId(0), OpId(1), 3, {lifted});
  model.require_residue(OpId(0), OpId(1), 1, 0, {lifted});
  const Lit assume[] = {lifted};
  model.backend().add_clause(assume);
  compare(model, [](Cycle, Cycle) { return true; });
}

TEST_CASE("stage differences are noticed wherever they occur", "[solver]") {
  const Problem problem = two_ops();
  for (int j = -3; j <= 3; ++j) {
    Model model(problem, {}, small());
    const Lit noticed = model.stage_difference_at_least(OpId(0), OpId(1), 0, j);
    model.backend().add_clause({-noticed});
    CAPTURE(j);
    compare(model, [&](Cycle u, Cycle v) { return u / kIi - v / kIi < j; });
  }
}

TEST_CASE("the literal for one group is true exactly for ops in one group", "[solver]") {
  Problem problem = two_ops();
  problem.max_groups = 3;
  Model model(problem, {}, small());
  const Lit same = model.same_group(OpId(0), OpId(1));
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b) {
      const std::vector<Lit> assume{model.in_group(OpId(0), a), model.in_group(OpId(1), b), a == b ? -same : same};
      CHECK(model.backend().check(assume) == Answer::No);
    }
}

TEST_CASE("the closure refutes a cycle that does not fit without asking the solver", "[solver]") {
  test::ProblemBuilder b({"A"});
  const OpId u = b.op("u", "A", 5);
  b.edge(u, u, 1);
  CHECK(Closure(b.problem, 4, 3, {}).contradiction());
  CHECK_FALSE(Closure(b.problem, 5, 3, {}).contradiction());
}
