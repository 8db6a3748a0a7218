// What is asked about as one value: made, asked a little differently, and shared.
#include "core/instance/instance.h"

#include <catch2/catch.hpp>

#include "core/library/library.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

InstanceSpec toy() { return spec_of(load_kernel("toy_fig1").value(), load_machine("toy").value()); }

Changes latency(Cycle cycles) {
  Change change;
  change.op = "S";
  change.value = cycles;
  return {change};
}

}  // namespace

TEST_CASE("an instance has the problem of its spec, and its bounds", "[core]") {
  const Instance instance = make_instance(toy()).value();
  CHECK(problem_text(instance.problem()) == problem_text(resolve(instance.kernel(), instance.machine()).value()));
  CHECK(instance.bounds().min_ii() == compute_bounds(instance.problem()).min_ii());
  const Instance copy = instance;
  CHECK(&copy.problem() == &instance.problem());
  CHECK(&copy.bounds() == &instance.bounds());
}

TEST_CASE("more changes come on top of an instance's own, and leave it as it is", "[core]") {
  const Instance once = make_instance(with(toy(), latency(7))).value();
  const Instance twice = with(once, latency(9)).value();
  CHECK(once.changes().size() == 1);
  CHECK(twice.changes().size() == 2);
  CHECK(once.problem().op(once.problem().find_op("S")).latency == 7);
  CHECK(twice.problem().op(twice.problem().find_op("S")).latency == 9);
  CHECK(&twice.kernel() == &once.kernel());
}

TEST_CASE("layouts that are said come in place of an instance's own", "[core]") {
  const InstanceSpec plain = spec_of(load_kernel("attention_backward_hopper").value(), load_machine("h100").value());
  LayoutChoices first, second;
  first.layouts["dqs0"] = "panels 64";
  second.layouts["dqs1"] = "panels 64";
  const Instance one = make_instance(with(plain, first)).value();
  CHECK(with(one, second).value().choices() == second);
  CHECK(with(one, second, {}).value().choices() == second);
  CHECK(choices_of(with(one, second).value().problem()) == second);
  second.layouts["nothing"] = "panels 64";
  CHECK_FALSE(with(one, second));
}

TEST_CASE("a problem that was made already says its layouts, and a machine of another pace has the same problem", "[core]") {
  const Instance plain = make_instance(spec_of(load_kernel("attention_backward_hopper").value(), load_machine("h100").value())).value();
  LayoutChoices choices;
  choices.layouts["dqs0"] = "panels 64";
  const Instance other = with(plain, with(plain, choices).value().problem());
  CHECK(other.choices() == choices);
  CHECK(problem_text(other.problem()) == problem_text(make_problem(other.spec()).value()));
  Machine slow = plain.machine();
  slow.shared.l2_bytes = 1;
  const Instance there = on_machine(plain, slow);
  CHECK(there.machine().shared.l2_bytes == 1);
  CHECK(&there.problem() == &plain.problem());
  CHECK(problem_text(there.problem()) == problem_text(make_problem(there.spec()).value()));
}

TEST_CASE("a problem allows as many groups as its spec asks for at least", "[core]") {
  InstanceSpec spec = toy();
  const int own = make_problem(spec).value().max_groups;
  spec.least_groups = own + 2;
  CHECK(make_problem(spec).value().max_groups == own + 2);
  CHECK(make_instance(spec).value().problem().max_groups == own + 2);
  spec.least_groups = 1;
  CHECK(make_problem(spec).value().max_groups == own);
}

TEST_CASE("faults of an instance are those of resolve()", "[core]") {
  InstanceSpec spec = toy();
  spec.params = {{"X", 1}};
  const auto wrong = resolve(*spec.kernel, *spec.machine, spec.params);
  REQUIRE_FALSE(wrong);
  CHECK(to_string(make_instance(spec).error()) == to_string(wrong.error()));
}

TEST_CASE("parameters of one's own are those that a file does not say, and those that it does not know", "[core]") {
  const Kernel kernel = load_kernel("toy_fig1").value();
  const std::int64_t usual = kernel.find_param("T")->value;
  CHECK(own_params(kernel, {{"T", usual}}).empty());
  CHECK(own_params(kernel, {{"T", usual + 1}, {"X", 3}}) == Scope{{"T", usual + 1}, {"X", 3}});
}
