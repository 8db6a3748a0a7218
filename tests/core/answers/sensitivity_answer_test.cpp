// What a sensitivity row means, in words and in JSON; which numbers there are; what an order is worth for other numbers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/analysis/retime.h"
#include "core/answers/sensitivity.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/problem/changes.h"
#include "core/problem/resolve.h"
#include "tests/support/json_schema.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

SensitivitySide side(Cycle lower_bound, Cycle ii, std::optional<Cycle> in_order, Cycle order_bound) {
  SensitivitySide s;
  s.lower_bound = lower_bound;
  s.ii = ii;
  s.in_order = in_order;
  s.order_bound = order_bound;
  return s;
}

Sensitivity example() {
  Sensitivity answer;
  answer.status = Status::Optimal;
  answer.ii = answer.lower_bound = 100;
  answer.schedule = Schedule{};
  const auto add = [&](const char* name, SensitivitySide less, SensitivitySide more) {
    SensitivityRow row;
    row.number = name;
    row.values = {10, 20};
    row.less = std::move(less);
    row.more = std::move(more);
    answer.rows.push_back(std::move(row));
  };
  SensitivitySide same;
  same.same_problem = true;
  SensitivitySide never = same;
  never.same_problem = false;
  never.fault = "it does not fit";
  add("calm", side(100, 100, 100, 100), side(100, 100, 100, 100));
  add("tiny", same, same);
  add("slow", side(95, 95, 95, 95), side(110, 110, 120, 120));
  add("order", side(100, 100, 100, 100), side(100, 100, 104, 103));
  add("perhaps", side(100, 100, 100, 100), side(100, 106, 106, 101));
  add("dead", side(100, 100, 100, 100), side(kNoFiniteII, kNoFiniteII, std::nullopt, 100));
  add("absurd", never, same);
  return answer;
}

}  // namespace

TEST_CASE("rows come by effect, and only what is proved counts as one", "[core]") {
  Sensitivity answer = example();
  const std::vector<SensitivityEffect> effects{SensitivityEffect::None,  SensitivityEffect::TooSmall,  SensitivityEffect::II,
                                               SensitivityEffect::Order, SensitivityEffect::Undecided, SensitivityEffect::II,
                                               SensitivityEffect::II};
  for (std::size_t i = 0; i < effects.size(); ++i) {
    CAPTURE(answer.rows[i].number);
    CHECK(answer.effect(answer.rows[i]) == effects[i]);
  }
  CHECK_FALSE(answer.complete());
  sort_rows(answer);
  std::string order;
  for (const SensitivityRow& row : answer.rows) order += row.number + " ";
  CHECK(order == "dead slow absurd order tiny calm perhaps ");
}

TEST_CASE("a sensitivity answer that was cut short is not complete, whatever rows it has", "[core]") {
  Sensitivity answer;
  answer.status = Status::Optimal;
  answer.schedule.emplace();
  CHECK(answer.complete());
  answer.cancelled = true;
  CHECK_FALSE(answer.complete());
}

TEST_CASE("the words of a sensitivity answer", "[core]") {
  const Problem problem = test::toy_problem();
  const std::string text = sensitivity_summary(problem, example(), false, {});
  for (const char* part : {"3 change II", "1 only the order", "1 undecided", "1 neither", "95 (-5)", "110 (+10)", "+: 120", "+: 103-104",
                           "100-106 not proved", "no schedule", "impossible", "absurd -10 %: it does not fit"}) {
    CAPTURE(text, part);
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("calm") == std::string::npos);
  CHECK(sensitivity_summary(problem, example(), true, {}).find("calm") != std::string::npos);
  const Json json = sensitivity_json(problem, example());
  CHECK(test::schema_fault(sensitivity_schema(), json) == "");
  CHECK(json.find("rows")->items()->size() == 7);
  CHECK(*json.find("rows")->items()->at(2).find("effect")->string() == "ii");
  CHECK(*json.find("rows")->items()->at(2).find("more")->find("ii")->integer() == 110);
  CHECK(json.find("rows")->items()->at(5).find("more")->find("ii")->is_null());
}

TEST_CASE("the numbers of a kernel on a machine are those that its ops use", "[core]") {
  Kernel kernel = load_kernel("attention_forward_hopper").value();
  const Machine machine = load_machine("h100").value();
  kernel.body[0].cost.emplace().latency = Expr(900);
  const Problem problem = resolve(kernel, machine).value();
  std::vector<std::string> names;
  for (Change number : numbers_of(kernel, machine, problem)) {
    const std::string text = describe(number);
    names.push_back(text.substr(0, text.rfind('=')));
    // Each can be changed, and is spelled as the command line reads it.
    CHECK(parse_change(text, kernel, machine).ok());
    number.effect = ChangeEffect::Percent;
    number.value = 10;
    CHECK(resolve(kernel, machine, {}, {number}).ok());
  }
  const auto has = [&](const char* name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  for (const char* name :
       {"mma.ss.latency", "exp2.MUFU.duration", "tma_load.window", "TC.capacity", "limits.smem_bytes", "handoff.signal", "load_k.latency"})
    CHECK(has(name));
  CHECK_FALSE(has("gather.latency"));
  CHECK_FALSE(has("limits.threads_per_warp"));
  CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("an order is re-timed to the smallest II that it allows", "[core]") {
  // S and O share the tensor core, P lies between them, O waits for itself an iteration earlier.
  Problem problem = test::toy_problem();
  Schedule slow;
  slow.ii = 9;
  slow.ops = {{0, GroupId(0)}, {4, GroupId(0)}, {7, GroupId(0)}};
  slow.groups = {{"consumer A", 1, 0}};
  slow = refitted(problem, slow);
  REQUIRE(check(problem, slow).valid());
  const auto faster = retimings(problem, slow);
  REQUIRE(!faster.empty());
  CHECK(faster.front().ii == order_bound(problem, slow));
  CHECK(faster.front().ii < 9);
  CHECK(check(problem, faster.front()).valid());
  problem.ops[0].latency += 30;
  for (Edge& e : problem.edges)
    if (e.from == OpId(0)) e.latency += 30;
  const auto later = retimings(problem, faster.front());
  REQUIRE(!later.empty());
  CHECK(check(problem, later.front()).valid());
  CHECK(later.front().ii == order_bound(problem, faster.front()));
}
