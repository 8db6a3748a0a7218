// The checker's rule of motion against the one that searches use: they share no code, and have to find the same periods.
#include <catch2/catch.hpp>

#include "core/check/program_count.h"
#include "core/motion/motion.h"
#include "tests/core/check/motion_program.h"
#include "tests/support/attention_loop.h"

using namespace heddle;
using namespace heddle::test;
using namespace heddle::check_period;

TEST_CASE("both rules of motion find the same period for programs of attention", "[core]") {
  const Problem p = attention_loop(Attention::Plain, 176);
  std::int64_t number = 0;
  visit_programs(p, {3, 240}, [&](const JudgedProgram& loop) {
    if (number++ % 61 != 0) return true;
    const RuledPeriod ours = period_by_rule(p, loop);
    const motion::MotionPeriod theirs = motion::motion_of(p, program_of(p, loop)).period;
    INFO("program " << number - 1 << ": " << ours.cycles() << " and " << theirs.cycles());
    CHECK(agrees(ours, theirs.ticks, theirs.iterations));
    return true;
  });
  CHECK(number == 8791);
}
