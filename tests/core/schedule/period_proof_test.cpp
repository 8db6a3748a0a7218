// Sentences about periods.
#include "core/schedule/period_proof.h"

#include <catch2/catch.hpp>

#include "core/problem/problem.h"

using namespace heddle;

namespace {

PeriodProof attention() {
  PeriodProof proof;
  proof.standing = PeriodStanding::LeastOfAll;
  proof.period = 2 * 2405 * 256;
  proof.iterations = 2;
  proof.bound = 2321 * 256 - 100;
  proof.groups = 2;
  proof.stages = 3;
  proof.registers = 240;
  proof.orders = 734;
  proof.programs = 75082;
  return proof;
}

}  // namespace

TEST_CASE("the three standings have three different words", "[core]") {
  PeriodProof proof = attention();
  CHECK(standing_text(proof) == "least of all 75 082 programs");
  CHECK(
      period_sentence(proof, 2048) ==
      "period 2405 cycles in the machine's model with contention (numbers: see file): the least of all 75 082 programs of two groups that "
      "keep the dependences in 3 stages, the fewest of their order, and fit 240 registers; no program at all is below 2321. II 2048 where "
      "nothing contends.");
  proof.standing = PeriodStanding::WithinBound;
  CHECK(standing_text(proof) == "within 3.7 % of a bound");
  CHECK(period_sentence(proof, 2048) ==
        "period 2405 cycles in the machine's model with contention (numbers: see file), within 3.7 % of a bound; no program is below 2321 "
        "(proved), not all were compared. II 2048 where nothing contends.");
  PeriodProof least = proof;
  least.period = 2 * least.bound;
  CHECK(period_sentence(least, 2048) ==
        "period 2321 cycles in the machine's model with contention (numbers: see file), least, by a bound; no program is below 2321 "
        "(proved). II 2048 where nothing contends.");
  proof.standing = PeriodStanding::ByPrediction;
  CHECK(standing_text(proof) == "by prediction");
  CHECK(period_sentence(proof, 2048) ==
        "period 2405 cycles in the machine's model with contention (numbers: see file), by prediction: other programs were not compared. "
        "II 2048 where nothing contends.");
}

TEST_CASE("numbers of programs are written in thousands from five digits on", "[core]") {
  PeriodProof proof = attention();
  for (const auto& [programs, text] : {std::pair<std::int64_t, const char*>(8791, "least of all 8791 programs"),
                                       {17700000, "least of all 17 700 000 programs"},
                                       {122434, "least of all 122 434 programs"}}) {
    proof.programs = programs;
    CHECK(standing_text(proof) == text);
  }
}

TEST_CASE("the digest of a model's numbers follows the numbers, not their ranges", "[core]") {
  Problem p;
  p.ops.resize(2);
  const std::string before = motion_hash(p);
  p.contention.turn.most = 7;
  CHECK(motion_hash(p) == before);
  p.contention.turn.value = 7;
  CHECK(motion_hash(p) != before);
  p.contention.turn.value = 0;
  p.ops[1].work.reads = 1;
  CHECK(motion_hash(p) != before);
}
