// The shipped machine files: complete, sourced, and consistent with the catalogue of tile instructions.
#include <catch2/catch.hpp>
#include <set>

#include "core/kernel/op_kind.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {
const std::vector<std::string> kShipped{"h100", "h200", "b200"};

Machine machine(const std::string& name) {
  std::vector<Fault> warnings;
  const Result<Machine> m = load_machine(test::repository_path("assets/machines/" + name + ".json"), &warnings);
  INFO((m ? "" : to_string(m.error())));
  REQUIRE(m);
  CHECK(warnings.empty());
  return *m;
}

bool says_where_from(const std::string& source) {
  for (const char* start : {"derived:", "measured by others", "published:", "assumption:", "port:", "TMA issue:"})
    if (source.rfind(start, 0) == 0) return true;
  return false;
}
}  // namespace

TEST_CASE("every number of a shipped machine says where it comes from", "[core]") {
  for (const std::string& name : kShipped) {
    const Machine m = machine(name);
    for (const Unit& unit : m.units) {
      INFO(name << " " << unit.name << ": " << unit.source);
      CHECK(says_where_from(unit.source));
      CHECK_FALSE(unit.about.empty());
    }
    for (const CostRule& rule : m.rules) {
      INFO(name << " " << rule.kind << ": " << rule.source);
      CHECK(says_where_from(rule.source));
    }
    CHECK(says_where_from(m.handoff.source));
  }
}

TEST_CASE("a shipped machine has a rule for every kind it can run and every elementwise function", "[core]") {
  for (const std::string& name : kShipped) {
    const Machine m = machine(name);
    for (const OpKind& kind : op_kinds()) {
      const std::string k = kind.name;
      if (k == "opaque" || (m.limits.tmem_columns == 0 && k.starts_with("tmem_"))) continue;
      INFO(name << " " << k);
      CHECK(m.find_rule(k));
    }
    std::set<std::string> functions;
    for (const ElementwiseFunction& f : elementwise_functions()) functions.emplace(f.name);
    for (const CostRule& rule : m.rules)
      if (rule.kind.starts_with("elementwise.")) {
        INFO(name << " " << rule.kind << " is not a function of the catalogue");
        CHECK(functions.contains(rule.kind.substr(12)));
      }
  }
}

TEST_CASE("shipped machines use only units they have and have no rule twice", "[core]") {
  for (const std::string& name : kShipped) {
    const Machine m = machine(name);
    std::set<std::string> kinds;
    for (const CostRule& rule : m.rules) {
      INFO(name << " " << rule.kind);
      CHECK(kinds.insert(rule.kind).second);
      for (const UnitCost& use : rule.uses) CHECK(m.find_unit(use.unit));
    }
  }
}

TEST_CASE("h200 has the SM of h100", "[core]") {
  const Machine a = machine("h100"), b = machine("h200");
  REQUIRE(a.rules.size() == b.rules.size());
  for (std::size_t i = 0; i < a.rules.size(); ++i) {
    CHECK(a.rules[i].kind == b.rules[i].kind);
    CHECK(a.rules[i].latency.text() == b.rules[i].latency.text());
  }
  CHECK(a.arch == b.arch);
  CHECK(a.sm_count == b.sm_count);
}
