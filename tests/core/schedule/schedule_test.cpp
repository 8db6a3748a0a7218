// Stage and slot arithmetic.
#include <catch2/catch.hpp>

#include "core/schedule/schedule.h"

using namespace heddle;

TEST_CASE("normalizing starts keeps differences and puts the earliest op at zero", "[core]") {
  Schedule s;
  s.ii = 10;
  s.ops = {{25, GroupId(0)}, {17, GroupId(0)}, {40, GroupId(0)}};
  normalize_starts(s);
  CHECK(s.ops[0].start == 8);
  CHECK(s.ops[1].start == 0);
  CHECK(s.ops[2].start == 23);
  CHECK(stage_count(s) == 3);
}
