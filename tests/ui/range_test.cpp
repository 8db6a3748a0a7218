// The measured stretch of the chart: its statistics stand in the inspector and can be copied.
#include <catch2/catch.hpp>

#include "app/session/commands.h"
#include "tests/ui/person.h"

using namespace heddle;
using namespace heddle::app;
using namespace heddle::test;

TEST_CASE("a measured range says how busy units are and what groups wait for, and goes with Escape", "[ui]") {
  Person p("attention_forward_hopper", least_ii_solver());
  CHECK_FALSE(p.has("inspector/range"));
  p.session().apply(SelectOp{p.content().problem->find_op("exp0")});
  p.frame(3);
  p.key(Key::M);
  p.frame(3);
  REQUIRE(p.has("inspector/range"));
  p.click("inspector/range/copy");
  p.frame(2);
  const std::string text = p.clipboard();
  INFO(text);
  CHECK(text.find("of the schedule as drawn") != std::string::npos);
  CHECK(text.find("MUFU") != std::string::npos);
  CHECK(text.find("consumer A") != std::string::npos);
  p.session().apply(SelectOp{});
  p.key(Key::Escape);
  p.key(Key::Escape);
  p.frame(2);
  CHECK_FALSE(p.has("inspector/range"));
}
