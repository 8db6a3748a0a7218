// The formula language, without any scheduling.
#include "solver/z3/backend.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "core/base/hand_over.h"

using namespace heddle::solver;
using heddle::Clock;

namespace {

/// Between the look for a stop request and the wait for one, a query's interrupter waits here until the request is made.
std::atomic<bool> looked{false}, asked{false};
void until_asked() {
  looked = true;
  while (!asked) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// More pigeons than holes: no solver of clauses gets through that in a minute.
void add_pigeons(Backend& b, std::size_t holes) {
  std::vector<std::vector<Lit>> in(holes + 1, std::vector<Lit>(holes));
  for (auto& pigeon : in) {
    for (Lit& lit : pigeon) lit = b.new_lit();
    b.add_clause(pigeon);
  }
  for (std::size_t hole = 0; hole < holes; ++hole)
    for (std::size_t p = 0; p <= holes; ++p)
      for (std::size_t q = 0; q < p; ++q) b.add_clause({-in[p][hole], -in[q][hole]});
}

}  // namespace

TEST_CASE("a sum beyond the solver's numbers refutes nothing that was only rounded", "[solver]") {
  constexpr std::int64_t kLarge = std::int64_t{1} << 30;
  Backend b(0, {});
  const Lit x = b.new_lit(), y = b.new_lit(), z = b.new_lit();
  b.add_at_most({{kLarge + 1, x}, {kLarge - 1, y}, {2 * kLarge - 1, z}}, 2 * kLarge, kTrue);
  CHECK(b.check(std::vector<Lit>{x, y}) != Answer::No);  // exactly as much as may be
  Backend c(0, {});
  const Lit p = c.new_lit(), q = c.new_lit();
  c.add_at_most({{8 * kLarge, p}, {8 * kLarge, q}}, 8 * kLarge, kTrue);  // nothing is lost here
  CHECK(c.check(std::vector<Lit>{p, q}) == Answer::No);
  CHECK(c.check(std::vector<Lit>{p}) == Answer::Yes);
}

TEST_CASE("an atom and its mirror image are one atom", "[solver]") {
  Backend b(0, {});
  const IntVar x = b.new_int(), y = b.new_int();
  CHECK(b.at_least(x, y, 3) == -b.at_least(y, x, -2));  // x - y >= 3  <=>  not (y - x >= -2)
  CHECK(b.at_least(x, y, 3) == b.at_least(x, y, 3));
  CHECK(b.at_least(x, x, 0) == kTrue);
  CHECK(b.at_least(x, x, 1) == kFalse);
}

TEST_CASE("differences in a model satisfy the atoms asserted", "[solver]") {
  Backend b(0, {});
  const IntVar x = b.new_int(), y = b.new_int(), z = b.new_int();
  b.add_clause({b.at_least(x, y, 5)});
  b.add_clause({b.at_least(y, z, 7)});
  b.add_clause({b.at_least(z, x, -12)});
  REQUIRE(b.check() == Answer::Yes);
  CHECK(b.value(x, z) == 12);
  const Lit more[] = {b.at_least(x, z, 13)};
  CHECK(b.check(more) == Answer::No);
}

TEST_CASE("weighted sums stay below their bound, whatever is constant and however large the weights", "[solver]") {
  Backend b(0, {});
  const Lit p = b.new_lit(), q = b.new_lit(), r = b.new_lit();
  const std::int64_t huge = std::int64_t{1} << 40;
  b.add_at_most({{2 * huge, p}, {3 * huge, q}, {4 * huge, r}, {huge, kTrue}, {huge, kFalse}}, 6 * huge);
  const auto allowed = [&](std::vector<Lit> lits) { return b.check(lits) == Answer::Yes; };
  CHECK(allowed({p, q, -r}));    // 2 + 3 + 1
  CHECK_FALSE(allowed({p, r}));  // 2 + 4 + 1
  CHECK_FALSE(allowed({q, r}));
  CHECK(allowed({r, -p, -q}));
}

TEST_CASE("a sum under a condition binds only when the condition holds", "[solver]") {
  Backend b(0, {});
  const Lit p = b.new_lit(), q = b.new_lit(), condition = b.new_lit();
  b.add_at_most({{1, p}, {1, q}}, 1, condition);
  const std::vector<Lit> free{p, q, -condition}, bound{p, q, condition};
  CHECK(b.check(free) == Answer::Yes);
  CHECK(b.check(bound) == Answer::No);
}

TEST_CASE("guarded clauses are named in the core that needs them", "[solver]") {
  Backend b(0, {});
  const Lit p = b.new_lit(), first = b.new_lit(), second = b.new_lit(), third = b.new_lit();
  b.set_guard(first);
  b.add_clause({p});
  b.set_guard(second);
  b.add_clause({-p});
  b.set_guard(third);
  b.add_clause({p, -p});
  const std::vector<Lit> all{first, second, third};
  REQUIRE(b.check(all) == Answer::No);
  const std::vector<Lit> core = b.core();
  CHECK(std::find(core.begin(), core.end(), first) != core.end());
  CHECK(std::find(core.begin(), core.end(), second) != core.end());
  CHECK(std::find(core.begin(), core.end(), third) == core.end());
}

TEST_CASE("the empty clause is a contradiction, and a stop request is an unknown", "[solver]") {
  Backend b(0, {});
  b.add_clause({});
  CHECK(b.check() == Answer::No);

  std::stop_source source;
  QueryLimits limits;
  limits.stop = source.get_token();
  Backend stopped(0, limits);
  source.request_stop();
  CHECK(stopped.check() == Answer::Unknown);
}

TEST_CASE("a stop request is heard at whatever moment it comes", "[solver]") {
  std::stop_source source;
  QueryLimits limits;
  limits.stop = source.get_token();
  limits.deadline = Clock::now() + std::chrono::minutes(1);
  Backend b(0, limits);
  add_pigeons(b, 14);
  looked = asked = false;
  heddle::hand_over_pause = until_asked;
  std::jthread stopper([&] {
    while (!looked) std::this_thread::yield();
    asked = true;
    source.request_stop();
  });
  const auto begin = Clock::now();
  CHECK(b.check() == Answer::Unknown);
  heddle::hand_over_pause = nullptr;
  CHECK(Clock::now() - begin < std::chrono::seconds(20));
}
