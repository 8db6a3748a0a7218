// Spaces of configurations: their values, their constraints, and the chain of trees against plain enumeration.
#include <catch2/catch.hpp>

#include <cstdlib>
#include <map>
#include <set>

#include "core/tuning_space/tree.h"
#include "tests/support/space_scope.h"

using namespace heddle;

namespace {

Parameter range_of(std::string name, std::int64_t low, std::int64_t high) {
  Parameter p;
  p.name = std::move(name);
  p.kind = ParameterKind::Integer;
  p.low = low;
  p.high = high;
  return p;
}

Parameter words_of(std::string name, ParameterKind kind, std::vector<std::string> words) {
  Parameter p;
  p.name = std::move(name);
  p.kind = kind;
  p.words = std::move(words);
  return p;
}

SearchSpace space_with(std::vector<Parameter> parameters, std::vector<const char*> constraints) {
  SearchSpace space;
  space.parameters = std::move(parameters);
  for (const char* text : constraints) space.constraints.push_back(*Expr::parse(text));
  REQUIRE(validate(space).empty());
  return space;
}

/// Every combination that satisfies everything, by an odometer.
std::set<Config> by_enumeration(const SearchSpace& space) {
  std::set<Config> out;
  Config config(space.parameters.size(), 0);
  while (true) {
    const Scope scope = test::scope_of(space, config);
    bool good = true;
    for (const Expr& constraint : space.constraints) good = good && holds(constraint, scope);
    if (good) out.insert(config);
    std::size_t d = 0;
    while (d < config.size() && ++config[d] == static_cast<double>(space.parameters[d].count())) config[d++] = 0;
    if (d == config.size()) return out;
  }
}

void check_tree(const SearchSpace& space) {
  const std::set<Config> expected = by_enumeration(space);
  const auto tree = ChainOfTrees::build(space);
  if (expected.empty()) {
    CHECK_FALSE(tree.ok());
    return;
  }
  REQUIRE(tree.ok());
  REQUIRE(tree->size() == static_cast<std::int64_t>(expected.size()));
  std::set<Config> seen;
  for (std::int64_t n = 0; n < tree->size(); ++n) {
    const Config config = tree->at(n);
    CHECK(tree->number_of(config) == n);
    seen.insert(config);
  }
  CHECK(seen == expected);
}

}  // namespace

TEST_CASE("an arrangement and its number are each other's way back", "[core]") {
  for (std::int64_t n = 0; n < 120; ++n) CHECK(arrangement_number(arrangement(n, 5)) == n);
  CHECK(arrangement(0, 3) == std::vector<std::size_t>{0, 1, 2});
  CHECK(arrangement(5, 3) == std::vector<std::size_t>{2, 1, 0});
  CHECK(arrangement(0, 1) == std::vector<std::size_t>{0});
  CHECK(words_of("p", ParameterKind::Permutation, {"a", "b", "c", "d"}).count() == 24);
}

TEST_CASE("constraints see values, words and positions", "[core]") {
  const SearchSpace space = space_with({range_of("tile", 2, 9), words_of("grid", ParameterKind::Categorical, {"tiles", "persistent"}),
                                        words_of("order", ParameterKind::Permutation, {"i", "j"})},
                                       {"if(grid == persistent, tile % 2 == 0, 1)", "order_j < order_i"});
  const auto tree = ChainOfTrees::build(space);
  REQUIRE(tree.ok());
  CHECK(tree->size() == 12);  // 4 even tiles when persistent, 8 otherwise; one order
  CHECK(tree->trees() == 2);
  CHECK(config_text(space, tree->at(0)) == "tile=2 grid=tiles order=j,i");
  check_tree(space);
}

TEST_CASE("a constraint that cannot be evaluated does not hold", "[core]") {
  const SearchSpace space = space_with({range_of("a", -2, 2), range_of("b", -2, 2)}, {"4 / a == b", "9223372036854775807 + b > 0"});
  check_tree(space);  // a = 0 divides by zero, b > 0 overflows
  CHECK_FALSE(holds(*Expr::parse("1 / 0"), {}));
}

TEST_CASE("the constraints of a published SpMM space leave 36 leaves", "[core]") {
  // BaCO's artifact prints this count for chunk_size x unroll_factor, nine powers of two each.
  Parameter chunk = range_of("chunk_size", 1, 1), unroll = range_of("unroll_factor", 1, 1);
  chunk.kind = unroll.kind = ParameterKind::Ordinal;
  chunk.values = unroll.values = {2, 4, 8, 16, 32, 64, 128, 256, 512};
  const auto tree = ChainOfTrees::build(space_with({chunk, unroll, range_of("other", 0, 4)}, {"unroll_factor < chunk_size"}));
  REQUIRE(tree.ok());
  CHECK(tree->leaves(0) == 36);
  CHECK(tree->size() == 180);
  CHECK(tree->unconstrained() == 405);
}

TEST_CASE("the chain of trees holds what plain enumeration finds", "[core]") {
  const char* given = std::getenv("HEDDLE_SEED");
  std::uint64_t state = given ? std::strtoull(given, nullptr, 10) : 1;
  const auto draw = [&](std::uint64_t count) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (state >> 33) % count;
  };
  const char* forms[] = {"{} % {} == 0", "{} + {} <= 5", "{} * {} != 4", "{} < {}", "{} / {} >= 1", "max({}, {}) > 2", "{} - {} == 1"};
  for (int round = 0; round < 60; ++round) {
    INFO("HEDDLE_SEED=" << state);
    std::vector<Parameter> parameters;
    const std::uint64_t count = 2 + draw(4);
    for (std::uint64_t p = 0; p < count; ++p) {
      const auto low = static_cast<std::int64_t>(draw(4)) - 1;
      parameters.push_back(range_of(std::string(1, static_cast<char>('a' + p)), low, low + static_cast<std::int64_t>(draw(5))));
    }
    SearchSpace space;
    space.parameters = parameters;
    for (std::uint64_t c = draw(4); c > 0; --c) {
      std::string text = forms[draw(std::size(forms))];
      for (int k = 0; k < 2; ++k) text.replace(text.find("{}"), 2, parameters[draw(count)].name);
      space.constraints.push_back(*Expr::parse(text));
    }
    check_tree(space);
  }
}

TEST_CASE("sampling by number is uniform over the leaves, not over branches", "[core]") {
  // a = 0 has one leaf, a = 9 has ten: a walk from the root that picks children alike would visit a = 0 ten times too often.
  const auto tree = ChainOfTrees::build(space_with({range_of("a", 0, 9), range_of("b", 0, 9)}, {"b <= a"}));
  REQUIRE(tree->size() == 55);
  std::map<double, int> per_a;
  for (std::int64_t n = 0; n < 55; ++n) ++per_a[tree->at(n)[0]];
  for (int a = 0; a <= 9; ++a) CHECK(per_a[a] == a + 1);
}

TEST_CASE("spaces that leave nothing, or too much to list, are refused", "[core]") {
  const auto none = ChainOfTrees::build(space_with({range_of("a", 0, 3), range_of("b", 0, 3)}, {"a > b", "b > a"}));
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().faults.size() == 2);
  CHECK(none.error().faults[0].pointer == "/constraints/0");
  const auto never = ChainOfTrees::build(space_with({range_of("a", 0, 3)}, {"1 > 2"}));
  CHECK(never.error().faults[0].message == "\"1 > 2\" never holds");
  const auto huge =
      ChainOfTrees::build(space_with({range_of("a", 0, 99'999), range_of("b", 0, 99'999), range_of("c", 0, 99'999)}, {"a + b + c >= 0"}));
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().faults[0].message.find("more than can be listed") != std::string::npos);
  // Without a constraint the same is no trouble, and numbers saturate.
  std::vector<Parameter> many;
  for (int i = 0; i < 8; ++i) many.push_back(range_of("p" + std::to_string(i), 0, 999'999));
  const auto free = ChainOfTrees::build(space_with(many, {}));
  REQUIRE(free.ok());
  CHECK(free->size() == std::int64_t{1} << 62);
}
