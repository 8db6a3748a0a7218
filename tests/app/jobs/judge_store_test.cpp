// Orders that were judged by their machine code, in the store: the same ones again, and none of another question.
#include "app/jobs/judge_store.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

Problem attention(const Scope& params = {}) {
  InstanceSpec spec = spec_of(load_kernel("attention_forward_hopper").value(), load_machine("h100").value());
  spec.params = params;
  return make_problem(spec).value();
}

std::vector<NextBest> by_hand(const Problem& problem) {
  std::vector<NextBest> orders;
  for (const std::string name : {"fa3", "fa3-overlap"}) {
    const std::string path = test::repository_path("kernels/schedules/attention_forward_hopper/" + name + ".json");
    orders.push_back({name, read_schedule(path, problem).value()});
  }
  return orders;
}

UserConstraint at_most_stages(std::int64_t most) {
  UserConstraint demand;
  demand.name = "few stages";
  demand.kind = ConstraintKind::MaxStages;
  demand.high = most;
  return demand;
}

}  // namespace

TEST_CASE("orders that were judged are found again, with the periods that they have", "[app]") {
  const test::ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 20});
  const Problem problem = attention();
  const OrdersQuestion question{problem, {}, 0, 6};
  CHECK_FALSE(find_orders(store, question).has_value());
  const std::vector<NextBest> orders = by_hand(problem);
  REQUIRE(keep_orders(store, question, orders));
  const auto found = find_orders(store, question);
  REQUIRE(found.has_value());
  REQUIRE(found->size() == orders.size());
  for (std::size_t i = 0; i < orders.size(); ++i) {
    CHECK((*found)[i].name == orders[i].name);
    CHECK(same_program((*found)[i].schedule, orders[i].schedule));
    CHECK((*found)[i].period == motion::motion_of(problem, orders[i].schedule).period.cycles());
    CHECK_FALSE((*found)[i].schedule.claim.has_value());
  }
}

TEST_CASE("orders of another problem, of other demands or of a shorter search are not found", "[app]") {
  const test::ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 1 << 20});
  const Problem problem = attention(), wider = attention({{"KV", 176}});
  REQUIRE(keep_orders(store, {problem, {}, 0, 6}, by_hand(problem)));
  CHECK(find_orders(store, {problem, {}, 0, 2}).has_value());
  CHECK(find_orders(store, {problem, {}, 0, 6.5}).has_value());
  CHECK_FALSE(find_orders(store, {problem, {}, 0, 60}).has_value());
  CHECK_FALSE(find_orders(store, {problem, {}, 1, 6}).has_value());
  CHECK_FALSE(find_orders(store, {problem, {at_most_stages(2)}, 0, 6}).has_value());
  CHECK_FALSE(find_orders(store, {wider, {}, 0, 6}).has_value());
}

TEST_CASE("without a store no orders are kept", "[app]") {
  const ContentStore none(StorePlace{});
  const Problem problem = attention();
  CHECK_FALSE(keep_orders(none, {problem, {}, 0, 6}, by_hand(problem)));
  CHECK_FALSE(find_orders(none, {problem, {}, 0, 6}).has_value());
}
