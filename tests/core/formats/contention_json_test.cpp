// The contention of a machine file, and the work of warps in its rules: read, written, judged; and what does not depend on them.
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/formats/machine_json.h"
#include "core/formats/machine_numbers.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

std::string h100_text() { return *read_file(test::repository_path("assets/machines/h100.json")); }

/// The text with the first `from` behind `after` replaced.
std::string edited(const std::string& after, const std::string& from, const std::string& to) {
  std::string text = h100_text();
  const std::size_t at = text.find(from, text.find(after));
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string faults_of(const std::string& text) {
  const Result<Machine> machine = parse_machine(text, "m.json");
  REQUIRE_FALSE(machine);
  return to_string(machine.error());
}

}  // namespace

TEST_CASE("contention is read, and written as it was read", "[core]") {
  const Machine machine = *parse_machine(h100_text(), "m.json");
  const Contention& c = machine.contention;
  CHECK(c.known);
  CHECK(c.in_flight.value == 8);
  CHECK(c.late_per_read.of(false).value > c.late_per_read.of(true).value);
  CHECK(c.product_done.value == 44);
  CHECK(c.product_done.least < c.product_done.value);
  CHECK(c.reordered);
  const Machine again = *parse_machine(machine_text(machine, ""), "again.json");
  CHECK(again.contention == c);
  CHECK(again.find_rule("exp2")->warp.alone->text() == machine.find_rule("exp2")->warp.alone->text());
  CHECK(again.find_rule("mma.rs")->instructions.has_value());
  CHECK_FALSE(load_machine("toy")->contention.known);
}

TEST_CASE("numbers of contention that cannot be are faults with their place", "[core]") {
  CHECK_THAT(faults_of(edited("\"product_done\"", "44", "99")),
             Catch::Contains("/contention/product_done: 99 is not between least and most"));
  CHECK_THAT(faults_of(edited("\"late_per_read\"", "860", "-1")), Catch::Contains("/contention/late_per_read/shared/value"));
  CHECK_THAT(faults_of(edited("\"product_done\"", "44", "\"soon\"")), Catch::Contains("/contention/product_done/value"));
  CHECK_THAT(faults_of(edited("\"product_done\"", "\"least\": 37, ", "")), Catch::Contains("/contention/product_done"));
  CHECK_THAT(faults_of(edited("\"hidden\"", "\"most\": 25", "\"most\": 250")), Catch::Contains("/contention/hidden/most"));
}

TEST_CASE("a formula of a rule's warp that names nothing known is a fault of the machine file", "[core]") {
  const Machine machine = *parse_machine(edited("\"warp\"", "per_thread", "per_warp"), "m.json");
  const Result<Problem> problem = resolve(*load_kernel("attention_forward_hopper"), machine, {});
  REQUIRE_FALSE(problem);
  CHECK_THAT(to_string(problem.error()), Catch::Contains("/warp/") && Catch::Contains("per_warp"));
}

TEST_CASE("numbers of contention are listed with unit, standing and source", "[core]") {
  int found = 0;
  for (const MachineNumber& n : machine_numbers(h100_text())) {
    const std::string name = n.part + ": " + n.name;
    if (name == "contention: late_per_read shared value") {
      ++found;
      CHECK(n.value == "860");
      CHECK(n.unit == "cycles/1000");
      CHECK(n.standing == "fitted");
    } else if (name == "contention: turn value") {
      ++found;
      CHECK(n.unit == "cycles");
    } else if (name == "exp2: warp alone") {
      ++found;
      CHECK(n.expression);
    }
  }
  CHECK(found == 3);
}

TEST_CASE("which schedules are legal does not depend on contention, and its answers have a text of their own", "[core]") {
  const Kernel kernel = *load_kernel("attention_forward_hopper");
  const Machine machine = *load_machine("h100");
  Machine without = machine;
  without.contention = {};
  for (CostRule& rule : without.rules) rule.warp = {}, rule.instructions.reset();
  const Problem a = *resolve(kernel, machine, {}), b = *resolve(kernel, without, {});
  CHECK(problem_hash(a) == problem_hash(b));
  CHECK(problem_text(a) != problem_text(b));
  CHECK(problem_text(b).find("contention") == std::string::npos);
}

TEST_CASE("a tile of 64 rows and 128 columns is 64 elements a thread, and an op with costs of its own works for its window", "[core]") {
  Kernel kernel = *load_kernel("attention_forward_hopper");
  const Machine machine = *load_machine("h100");
  const Problem problem = *resolve(kernel, machine, {});
  const auto op = [](const Problem& of, const char* name) { return of.op(of.find_op(name)); };
  CHECK(op(problem, "exp0").work.specials == 64 * 256);
  CHECK(op(problem, "exp0").work.alone == (9625 * 64 + 22000) * 256 / 1000);
  CHECK(op(problem, "max0").work.reads == 136 * 256);
  CHECK(op(problem, "QK0").instructions == 8);
  CHECK_FALSE(op(problem, "QK0").from_registers);
  CHECK(op(problem, "PV0").from_registers);
  CHECK(op(problem, "PV0").work == WarpWork{});
  CHECK(op(problem, "load_k").instructions == 0);
  for (TileOp& body : kernel.body)
    if (body.name == "exp0") body.cost.emplace().window = Expr(300);
  CHECK(op(*resolve(kernel, machine, {}), "exp0").work.alone == 300 * 256);
  Change longer;
  longer.op = "sub0";
  longer.kind = ChangeKind::Window;
  longer.effect = ChangeEffect::Percent;
  longer.value = 100;
  CHECK(op(*resolve(kernel, machine, {}, {longer}), "sub0").work.alone == 2 * op(problem, "sub0").work.alone);
}
