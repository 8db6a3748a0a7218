// Why an op starts where it does.
#include "app/window/chart/why_here.h"
#include "app/session/commands.h"
#include "app/session/environment.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "app/session/session.h"
#include "core/analysis/slack.h"
#include "core/schedule/constraint_text.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

TEST_CASE("why here names what touches the op, and the dependences without slack", "[app]") {
  Session session{Environment{}};
  session.apply(OpenSchedule{test::repository_path("tests/schedules/attention_ping_pong.json")});
  REQUIRE(session.content().entry());
  const Problem& problem = *session.content().problem;
  const Schedule& schedule = session.content().entry()->schedule;
  std::size_t told = 0;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const Highlight why = why_here(problem, schedule, {}, OpId(v));
    INFO(why.why);
    CHECK(why.why.find(problem.ops[v].name + " starts at ") == 0);
    CHECK(why.ops.front() == OpId(v));
    CHECK(why.why.find("you demand") == std::string::npos);
    told += why.ops.size() > 1;
    for (const EdgeId edge : why.edges) {
      CHECK(edge_slack(problem, schedule, edge) == 0);
      // Whoever waits without slack is among the ops that are pointed at.
      const Edge& e = problem.edge(edge);
      for (const OpId end : {e.from, e.to}) CHECK(std::find(why.ops.begin(), why.ops.end(), end) != why.ops.end());
    }
  }
  CHECK(told > problem.ops.size() / 2);
  const auto demand = parse_constraint("pin QK1 at 1088", problem);
  REQUIRE(demand);
  Constraints constraints{*demand};
  const OpId op = problem.find_op("QK1");
  CHECK(why_here(problem, schedule, constraints, op).why.find("; you demand pin QK1 at 1088") != std::string::npos);
  constraints[0].enabled = false;
  CHECK(why_here(problem, schedule, constraints, op).why.find("you demand") == std::string::npos);
}
