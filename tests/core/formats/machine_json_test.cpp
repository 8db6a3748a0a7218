// Machine files that are wrong.
#include <catch2/catch.hpp>

#include "core/base/suggest.h"
#include "core/formats/machine_json.h"
#include "core/kernel/op_kind.h"

using namespace heddle;

namespace {
std::string known_kinds() {
  std::vector<std::string> names;
  for (const OpKind& kind : op_kinds()) names.emplace_back(kind.name);
  return list_of(names);
}

std::string faults_of(const std::string& text) {
  const auto machine = parse_machine(text, "m.json");
  return machine ? "no fault" : to_string(machine.error());
}
}  // namespace

TEST_CASE("all faults of a machine file come at once", "[core]") {
  CHECK(faults_of(R"({"schema": "heddle.machine/1", "name": "m", "clock_mhz": 0,
    "units": [{"name": "TC", "role": "tensr", "capacity": -1}, {"name": "TC", "role": "tensor"}],
    "limits": {"smem_bytes": "4096", "tmem_columns": 0, "registers_per_sm": 99999999999, "warps_per_cta": 32},
    "rules": [{"kind": "mma.rs", "uses": [{"unit": "tc"}], "latency": "M*", "window": true},
              {"kind": "mmma", "latency": 1}, {"kind": "mma.rs", "latency": 1}],
    "handoff": {"register_copy": 1}})") ==
        "m.json: /clock_mhz: expected an integer from 1 to 1048576, found 0\n"
        "m.json: /units/0/role: unknown role \"tensr\" (known: tensor, copy, special, float, alu, smem, tmem, sync or "
        "other) "
        "(did you mean 'tensor'?)\n"
        "m.json: /units/0/capacity: expected an integer from 1 to 2147483648, found -1\n"
        "m.json: /limits/smem_bytes: expected an integer from 0 to 2147483648, found \"4096\" (did you mean 4096?)\n"
        "m.json: /limits/registers_per_sm: expected an integer from 1 to 2147483648, found 99999999999\n"
        "m.json: /limits: missing key 'registers_per_thread'\n"
        "m.json: /rules/0/latency: expected an integer or an expression: expected a number, a name or '(', found the "
        "end at "
        "column 3 of \"M*\"\n"
        "m.json: /rules/0/window: expected an integer or an expression, found true\n"
        "m.json: /handoff: missing key 'signal'\n"
        "m.json: /units/1/name: unit 'TC' is already declared by /units/0\n"
        "m.json: /rules/0/uses/0/unit: no unit 'tc' (declared: TC or TC) (did you mean 'TC'?)\n"
        "m.json: /rules/1/kind: no kind of op is called 'mmma' (known: " +
            known_kinds() +
            ") (did you mean 'mma'?)\n"
            "m.json: /rules/2/kind: 'mma.rs' already has a rule, /rules/0");
}

TEST_CASE("a machine's unknown keys survive a save even when rules move", "[core]") {
  const std::string text = R"({"schema": "heddle.machine/1", "name": "m", "x-lab": {"rack": 7},
    "units": [{"name": "A", "role": "other", "x-a": 1}, {"name": "B", "role": "other", "x-b": 2}],
    "limits": {"smem_bytes": 0, "tmem_columns": 0, "registers_per_sm": 1, "registers_per_thread": 1, "warps_per_cta": 1, "x-l": []}})";
  auto machine = parse_machine(text, "m.json");
  if (!machine) FAIL(to_string(machine.error()));
  std::swap(machine->units[0], machine->units[1]);
  const std::string saved = machine_text(*machine, text);
  CHECK(saved.find(R"({"name": "B", "role": "other", "capacity": 1, "x-b": 2})") != std::string::npos);
  CHECK(saved.find(R"({"name": "A", "role": "other", "capacity": 1, "x-a": 1})") != std::string::npos);
  CHECK(saved.find(R"("x-lab": {"rack": 7})") != std::string::npos);
  CHECK(saved.find(R"("x-l": [])") != std::string::npos);
}
