// Bounds on periods: no program may be below them, whatever its order.
#include "core/motion/bound.h"

#include <catch2/catch.hpp>

#include <random>
#include <sstream>

#include "core/check/period_bound.h"
#include "core/motion/as_compiled.h"
#include "core/motion/motion.h"
#include "tests/core/motion/measured_loops.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::string shuffled(const std::string& stream, std::mt19937& random) {
  std::istringstream in(stream);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  std::shuffle(words.begin(), words.end(), random);
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

TEST_CASE("the bound of attention is the tensor core's work and the reads that delay it", "[core]") {
  Problem problem = problem_of(measured_loops().front(), machine_of("h100"));
  const std::vector<motion::PeriodBound> bounds = motion::period_bounds(problem);
  REQUIRE(bounds.size() >= 3);
  // What hides under special functions may have all its reads while the tensor core rests: the checker's sum says so, too.
  const check_period::PeriodSums sums = check_period::period_sums(problem);
  CHECK(bounds[0].ticks > 2048 * motion::kCycle);
  CHECK(bounds[0].ticks <= sums.certain);
  CHECK(sums.certain < sums.ticks);
  problem.contention.reordered = false;
  CHECK(motion::period_bounds(problem)[0].ticks / motion::kCycle == Approx(2254).margin(3));
  INFO(bounds[0].sentence);
  CHECK(bounds[0].sentence.starts_with("tensor core 2048 + "));
  for (std::size_t i = 1; i < bounds.size(); ++i) CHECK(bounds[i].ticks <= bounds[i - 1].ticks);
}

TEST_CASE("no random program is shorter than its bounds", "[core]") {
  const Machine machine = machine_of("h100");
  std::vector<Problem> problems;
  for (const std::size_t loop : {0, 6, 11, 12}) problems.push_back(problem_of(measured_loops()[loop], machine));
  int ran = 0;
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const std::size_t which = seed % problems.size();
    const Problem& problem = problems[which];
    const MeasuredLoop& loop = measured_loops()[std::vector<std::size_t>{0, 6, 11, 12}[which]];
    const std::string turns = random() % 4 == 0 ? "" : shuffled(loop.turns, random);
    timing::LoopProgram program =
        attention_program(problem, {shuffled(loop.consumers[0], random), shuffled(loop.consumers[1], random)}, turns);
    program.depths.assign(problem.channels.size(), 8);
    const motion::GroupCircles circles = motion::as_compiled(problem, motion::circles_of(problem, program));
    const motion::Motion motion = motion::run_motion(problem, circles);
    if (motion.stuck) continue;
    ++ran;
    for (const motion::PeriodBound& bound : motion::period_bounds(problem)) {
      INFO(bound.sentence);
      CHECK(motion.period.ticks >= bound.ticks * motion.period.iterations);
    }
    for (const auto& circle : circles.groups) {
      const motion::PeriodBound bound = motion::group_bound(problem, circle);
      INFO(bound.sentence);
      CHECK(motion.period.ticks >= bound.ticks * motion.period.iterations);
    }
  }
  CHECK(ran > 100);
}
