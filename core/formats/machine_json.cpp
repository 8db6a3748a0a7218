#include "core/formats/machine_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/formats/cost_json.h"
#include "core/kernel/op_kind.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {

constexpr const char* kMachineSchema = "heddle.machine/1";
constexpr std::int64_t kLargestCount = std::int64_t{1} << 31;

const std::vector<std::string> kUnitRoleNames = words_up_to(UnitRole::Other);

Unit read_unit(const Cursor& at) {
  ObjectReader object(at);
  Unit unit;
  unit.name = object.name("name");
  if (const auto role = object.require("role")) unit.role = role->word("role", kUnitRoleNames, parse_unit_role).value_or(UnitRole::Other);
  unit.capacity = object.integer("capacity", 1, kLargestCount, 1);
  unit.about = object.string("about");
  unit.source = object.string("source");
  return unit;
}

CostRule read_rule(const Cursor& at) {
  ObjectReader object(at);
  CostRule rule;
  rule.kind = object.name("kind");
  rule.uses = read_unit_costs(object.list("uses"));
  rule.latency = object.expr("latency");
  rule.window = object.expr("window", Expr(1));
  rule.warps = object.expr("warps", Expr(1));
  rule.aligned = object.boolean("aligned", false);
  rule.asynchronous = object.boolean("asynchronous", false);
  rule.variable_latency = object.boolean("variable_latency", false);
  rule.source = object.string("source");
  return rule;
}

ClockModel read_clock(const Cursor& at) {
  ObjectReader object(at);
  ClockModel clock;
  clock.max_mhz = object.integer("max_mhz", 1, 1 << 20);
  clock.power_w = object.integer("power_w", 1, 1'000'000);
  clock.sustained_mhz = object.expr("sustained_mhz");
  for (const Cursor& item : object.list("anchors")) {
    ObjectReader anchor(item);
    ClockModel::Anchor read{anchor.name("name"), 0};
    if (const auto tflops = anchor.require("tflops")) read.tflops = tflops->real().value_or(1);
    if (read.tflops <= 0) item.fault("expected a speed above 0 TFLOP/s");
    clock.anchors.push_back(std::move(read));
  }
  clock.source = object.string("source");
  for (const std::int64_t tensor : {0, 1000}) {
    const auto mhz = clock.sustained_mhz.evaluate({{"tensor", tensor}, {"power_w", clock.power_w}, {"zeros", 0}});
    if (!mhz || *mhz <= 0) {
      at.log().fault(
          at.pointer() + "/sustained_mhz",
          mhz ? fmt::format("{} MHz where tensor is {}: expected more than 0", *mhz, tensor) : mhz.error().faults.front().message,
          "it may name tensor (busy cycles of the tensor cores, per mille), power_w and zeros (1 where the data is all zeros)");
      break;
    }
  }
  return clock;
}

Json clock_json(const ClockModel& clock) {
  Json item = Json::object(), anchors = Json::array();
  for (const ClockModel::Anchor& anchor : clock.anchors) anchors.push(Json::object().set("name", anchor.name).set("tflops", anchor.tflops));
  item.set("max_mhz", clock.max_mhz).set("power_w", clock.power_w).set("sustained_mhz", expr_json(clock.sustained_mhz));
  if (!clock.anchors.empty()) item.set("anchors", std::move(anchors));
  if (!clock.source.empty()) item.set("source", clock.source);
  return item;
}

/// Names given twice, units that no one declared, kinds that do not exist.
void judge(const Machine& machine, ReadLog& log) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < machine.units.size(); ++i)
    if (const auto [it, fresh] = seen.emplace(machine.units[i].name, i); !fresh && !machine.units[i].name.empty())
      log.fault(fmt::format("/units/{}/name", i), fmt::format("unit '{}' is already declared by /units/{}", it->first, it->second));

  std::vector<std::string> kinds;
  for (const OpKind& kind : op_kinds()) kinds.push_back(kind.name);
  seen.clear();
  for (std::size_t i = 0; i < machine.rules.size(); ++i) {
    const CostRule& rule = machine.rules[i];
    const std::string at = fmt::format("/rules/{}", i);
    if (rule.kind.empty()) continue;
    if (const auto [it, fresh] = seen.emplace(rule.kind, i); !fresh)
      log.fault(at + "/kind", fmt::format("'{}' already has a rule, /rules/{}", rule.kind, it->second));
    const std::string base = rule.kind.substr(0, rule.kind.find('.'));
    if (!find_op_kind(base))
      log.fault(at + "/kind", fmt::format("no kind of op is called '{}' (known: {})", base, list_of(kinds)), did_you_mean(base, kinds));
    for (std::size_t k = 0; k < rule.uses.size(); ++k)
      if (!rule.uses[k].unit.empty() && !machine.find_unit(rule.uses[k].unit)) {
        const auto units = names_of(machine.units);
        log.fault(fmt::format("{}/uses/{}/unit", at, k),
                  fmt::format("no unit '{}' (declared: {})", rule.uses[k].unit, units.empty() ? "none" : list_of(units)),
                  did_you_mean(rule.uses[k].unit, units));
      }
  }
}

void read_machine_root(ObjectReader& root, Machine& machine) {
  machine.file = root.cursor().log().file;
  machine.name = root.name("name");
  machine.arch = root.string("arch");
  machine.about = root.string("about");
  machine.sm_count = root.integer("sm_count", 1, 1 << 20, machine.sm_count);
  machine.clock_mhz = root.integer("clock_mhz", 1, 1 << 20, machine.clock_mhz);
  if (const auto clock = root.find("clock")) machine.clock = read_clock(*clock);
  if (const auto shared = root.find("shared")) {
    ObjectReader object(*shared);
    machine.shared.l2_bytes = object.integer("l2_bytes", 1, 1 << 20, 0);
    machine.shared.launch_ns = object.integer("launch_ns", 0, 1'000'000'000, 0);
    machine.shared.source = object.string("source");
  }
  for (const Cursor& unit : root.required_list("units")) machine.units.push_back(read_unit(unit));
  if (const auto limits = root.require("limits")) {
    ObjectReader object(*limits);
    for (const LimitField& limit : limit_fields())
      machine.limits.*limit.field = limit.required ? object.integer(limit.name, limit.low, limit.high)
                                                   : object.integer(limit.name, limit.low, limit.high, machine.limits.*limit.field);
  }
  for (const Cursor& rule : root.list("rules")) machine.rules.push_back(read_rule(rule));
  if (const auto handoff = root.find("handoff")) {
    ObjectReader object(*handoff);
    machine.handoff.register_copy = object.expr("register_copy");
    machine.handoff.signal = object.expr("signal");
    machine.handoff.source = object.string("source");
  }
  judge(machine, root.cursor().log());
}

Json unit_json(const Unit& unit) {
  Json item = Json::object();
  item.set("name", unit.name).set("role", to_string(unit.role)).set("capacity", unit.capacity);
  if (!unit.about.empty()) item.set("about", unit.about);
  if (!unit.source.empty()) item.set("source", unit.source);
  return item;
}

Json rule_json(const CostRule& rule) {
  Json item = Json::object();
  item.set("kind", rule.kind).set("uses", unit_costs_json(rule.uses)).set("latency", expr_json(rule.latency));
  item.set("window", expr_json(rule.window)).set("warps", expr_json(rule.warps));
  if (rule.aligned) item.set("aligned", true);
  if (rule.asynchronous) item.set("asynchronous", true);
  if (rule.variable_latency) item.set("variable_latency", true);
  if (!rule.source.empty()) item.set("source", rule.source);
  return item;
}

Json machine_json(const Machine& machine) {
  Json root = Json::object();
  root.set("schema", kMachineSchema).set("name", machine.name).set("arch", machine.arch);
  if (!machine.about.empty()) root.set("about", machine.about);
  root.set("sm_count", machine.sm_count).set("clock_mhz", machine.clock_mhz);
  if (machine.clock.max_mhz > 0) root.set("clock", clock_json(machine.clock));
  if (const SharedSupply& shared = machine.shared; shared.l2_bytes > 0 || shared.launch_ns > 0) {
    Json item = Json::object();
    if (shared.l2_bytes > 0) item.set("l2_bytes", shared.l2_bytes);
    item.set("launch_ns", shared.launch_ns);
    if (!shared.source.empty()) item.set("source", shared.source);
    root.set("shared", std::move(item));
  }
  Json units = Json::array(), limits = Json::object(), rules = Json::array(), handoff = Json::object();
  for (const Unit& unit : machine.units) units.push(unit_json(unit));
  for (const LimitField& limit : limit_fields()) limits.set(limit.name, machine.limits.*limit.field);
  for (const CostRule& rule : machine.rules) rules.push(rule_json(rule));
  handoff.set("register_copy", expr_json(machine.handoff.register_copy)).set("signal", expr_json(machine.handoff.signal));
  if (!machine.handoff.source.empty()) handoff.set("source", machine.handoff.source);
  root.set("units", std::move(units)).set("limits", std::move(limits)).set("rules", std::move(rules));
  root.set("handoff", std::move(handoff));
  return root;
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Machine>(text, file_name, kMachineSchema, warnings, read_machine_root);
}

Result<Machine> read_machine(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_machine(*text, path, warnings) : text.error();
}

std::string machine_text(const Machine& machine, std::string_view original) {
  return document_text<Machine>(machine_json(machine), original, kMachineSchema, read_machine_root);
}

}  // namespace heddle
