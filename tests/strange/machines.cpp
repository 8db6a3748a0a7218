// Machines: few or many units, capacities of 1 and of thousands, limits that hold next to nothing, formulas without meaning.
#include <fmt/format.h>

#include "core/kernel/op_kind.h"
#include "tests/strange/documents.h"

namespace heddle::strange {
namespace {

/// Never negative and never absurd, in the names that every cost rule knows.
Document formula(Dice& dice) {
  switch (dice.between(0, 7)) {
    case 0: return dice.between(0, 3);
    case 1: return dice.pick({1, 16, 30, 100, 600});
    case 2: return fmt::format("ceil_div({}, {})", dice.pick({"bytes", "elems", "in_elems", "out_elems", "rows"}), dice.between(1, 128));
    case 3: return fmt::format("max({}, min(rows, {}))", dice.between(0, 20), dice.between(1, 300));
    case 4:
      return fmt::format("if({} {} {}, {}, bits)", dice.pick({"cols", "rows", "inputs"}), dice.pick({"==", "<", ">=", "!="}),
                         dice.between(0, 4), dice.between(0, 99));
    case 5: return fmt::format("(rows + cols) % {} + {}", dice.between(1, 50), dice.between(0, 4));
    case 6: return fmt::format("min({}, elems * bits / 8) - min(0, -({}))", dice.between(0, 500), dice.between(0, 9));
    default: return std::to_string(dice.between(0, 60));
  }
}

Document rule_document(Dice& dice, const std::string& kind, const Document& units, std::int64_t most_warps) {
  Document rule{{"kind", kind}, {"latency", formula(dice)}};
  Document uses = Document::array();
  for (std::int64_t n = dice.chance(20) ? 0 : dice.between(1, 2); n > 0 && !units.empty(); --n) {
    const Document& unit = units[static_cast<std::size_t>(dice.between(0, static_cast<std::int64_t>(units.size()) - 1))];
    const std::int64_t capacity = unit.value("capacity", std::int64_t{1});
    Document use{{"unit", unit["name"]}};
    if (dice.chance(80)) use["duration"] = formula(dice);
    if (dice.chance(25)) use["offset"] = formula(dice);
    if (dice.chance(40))
      use["amount"] = dice.chance(50) ? Document(dice.between(1, capacity)) : Document(fmt::format("min({}, rows)", capacity));
    uses.push_back(use);
  }
  if (!uses.empty() || dice.chance(30)) rule["uses"] = uses;
  if (dice.chance(70)) rule["window"] = formula(dice);
  if (dice.chance(50)) rule["warps"] = dice.between(1, std::min<std::int64_t>(most_warps, 8));
  for (const char* flag : {"aligned", "asynchronous", "variable_latency"})
    if (dice.chance(25)) rule[flag] = dice.chance(70);
  if (rule.value("variable_latency", false) && dice.chance(80)) rule["asynchronous"] = true;
  if (dice.chance(10)) rule["source"] = "made up: \"quoted\", <tagged> & \\ slashed";
  return rule;
}

}  // namespace

Document machine_document(Dice& dice) {
  Names names(dice);
  Document machine{{"schema", "heddle.machine/1"}, {"name", names.name("odd_machine")}};
  if (dice.chance(30)) machine["arch"] = dice.pick({"", "sm_90a", "sm_100a", "none"});
  if (dice.chance(30)) machine["about"] = "a machine & its <limits>, \"as found\"";
  if (dice.chance(50)) machine["sm_count"] = dice.odd(1, 1 << 20);
  if (dice.chance(50)) machine["clock_mhz"] = dice.odd(1, 1 << 20);
  if (dice.chance(30))
    machine["streams"] = {{"arithmetic_percent", dice.odd(100, 1000)},
                          {"product_percent", dice.odd(100, 1000)},
                          {"register_product_percent", dice.odd(100, 1000)},
                          {"turn", dice.odd(0, 1'000'000)},
                          {"wait", dice.odd(0, 1'000'000)},
                          {"arrive", dice.odd(0, 1'000'000)},
                          {"product_wait", dice.odd(0, 1'000'000)}};
  if (dice.chance(30)) {
    const std::int64_t launch = dice.odd(0, 1'000'000'000);
    machine["shared"] = {{"l2_bytes", dice.odd(1, 1 << 20)}, {"launch_ns", launch}, {"dram_gbs", dice.odd(1, 1 << 30)}};
    machine["fitted"] = {{{"number", "shared.launch_ns"}, {"least", launch / 2}, {"most", launch + 3}, {"source", "none"}}};
  }
  if (dice.chance(30))
    machine["clock"] = {{"max_mhz", dice.odd(1, 1 << 20)},
                        {"power_w", dice.odd(1, 1'000'000)},
                        {"loaded_mhz", dice.odd(1, 1 << 20)},
                        {"sustained_mhz", dice.pick({"loaded_mhz", "2000 - tensor", "1 + loaded_mhz * power_w / (1 + tensor)"})}};
  Document units = Document::array();
  for (std::int64_t n = dice.chance(5) ? 0 : dice.chance(5) ? 24 : dice.between(1, 5); n > 0; --n) {
    Document unit{{"name", names.name("U")},
                  {"role", dice.pick({"tensor", "copy", "special", "float", "alu", "smem", "tmem", "sync", "other"})}};
    if (dice.chance(60)) unit["capacity"] = dice.chance(60) ? 1 : dice.odd(1, std::int64_t{1} << 31);
    if (dice.chance(10)) unit["about"] = "100 % of a unit";
    units.push_back(unit);
  }
  machine["units"] = units;
  const std::int64_t warps = dice.pick({4, 8, 16, 32, 32, 64, 1024});
  Document limits{{"smem_bytes", dice.pick({512, 4096, 49152, 232448, 232448, std::int64_t{1} << 31})},
                  {"tmem_columns", dice.pick({0, 0, 32, 512, 512, 1 << 20})},
                  {"registers_per_sm", dice.pick({2048, 65536, 65536, std::int64_t{1} << 31})},
                  {"registers_per_thread", dice.pick({64, 255, 255, 1000, 4096})},
                  {"warps_per_cta", warps}};
  if (dice.chance(60)) limits["register_granule"] = dice.pick({1, 2, 7, 8, 64});
  if (dice.chance(60)) limits["register_overhead"] = dice.pick({0, 1, 16, 32});
  if (dice.chance(60)) limits["producer_registers"] = dice.pick({0, 1, 24, 200});
  if (dice.chance(60)) limits["threads_per_warp"] = dice.pick({16, 32, 32, 64, 1024});
  if (dice.chance(60)) limits["named_barriers"] = dice.pick({0, 1, 16, 1 << 20});
  machine["limits"] = limits;
  Document rules = Document::array();
  for (const OpKind& kind : op_kinds()) {
    if (std::string(kind.name) == "opaque") continue;
    rules.push_back(rule_document(dice, kind.name, units, warps));
    if (dice.chance(15))
      rules.push_back(rule_document(
          dice, fmt::format("{}.{}", kind.name, dice.pick({"register", "smem", "tmem", "global", "ss", "rs", "ts", "add", "odd"})), units,
          warps));
  }
  machine["rules"] = rules;
  if (dice.chance(80))
    machine["handoff"] = {{"register_copy", dice.chance(50) ? Document(dice.between(0, 90)) : Document("ceil_div(bytes, 64) % 200")},
                          {"signal", dice.between(0, 60)}};
  return machine;
}

}  // namespace heddle::strange
