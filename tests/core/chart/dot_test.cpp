// The Graphviz export: clusters, edge styles, and names that try to break out of their quotes.
#include "core/chart/dot.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/gantt_fixture.h"

using namespace heddle;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The text with quoted strings removed; false in `closed` when a quote stays open.
std::string without_strings(const std::string& text, bool& closed) {
  std::string rest;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (inside && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      inside = !inside;
    else if (!inside)
      rest += text[i];
  }
  closed = !inside;
  return rest;
}

}  // namespace

TEST_CASE("edges say latency and distance, carried ones are dashed, the critical recurrence is bold", "[core]") {
  const auto c = test::toy_case();
  const std::string text = dependence_dot(c.problem, &c.schedule);
  CHECK(contains(text, "subgraph cluster_g0"));
  CHECK(contains(text, "n0 -> n1 [label=\"1/0\", style=\"solid\"]"));
  CHECK(contains(text, "n2 -> n2 [label=\"1/1\", style=\"dashed,bold\""));
  CHECK_FALSE(contains(dependence_dot(c.problem, nullptr), "cluster"));
}

TEST_CASE("hostile names stay inside their quotes", "[core]") {
  auto c = test::toy_case();
  c.problem.kernel = "k\" } evil [";
  c.problem.ops[0].name = "a\"]; evil -> b; \\";
  c.problem.ops[1].name = "b\\\"\n evil";
  c.schedule.groups[0].role = "\\";
  bool closed = false;
  const std::string rest = without_strings(dependence_dot(c.problem, &c.schedule), closed);
  CHECK(closed);
  CHECK_FALSE(contains(rest, "evil"));
  CHECK(std::count(rest.begin(), rest.end(), '{') == std::count(rest.begin(), rest.end(), '}'));
}
