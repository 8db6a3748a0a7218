#include "core/formats/machine_json.h"

#include <fmt/format.h>

#include <map>

#include "core/base/atomic_file.h"
#include "core/formats/cost_members.h"
#include "core/formats/instructions_json.h"
#include "core/formats/latency_members.h"
#include "core/kernel/op_kind.h"
#include "core/machine/fitted.h"
#include "core/machine/limit_fields.h"

namespace heddle {
namespace {
constexpr const char* kMachineSchema = "heddle.machine/1";
constexpr std::int64_t kLargestCount = std::int64_t{1} << 31;
}  // namespace

template <class Io>
void visit(Io& io, Unit& u) {
  io.required("name", u.name, as::name);
  io.required("role", u.role, as::word("role", UnitRole::Other));
  io.always("capacity", u.capacity, as::integer(1, kLargestCount), "amount available in every cycle; default 1");
  io.optional("about", u.about);
  io.optional("source", u.source);
}

template <class Io>
void visit(Io& io, WarpRule& w) {
  io.part("warp", "What an op is to the warp of one quarter of an SM, in thousandths.");
  io.optional("alone", w.alone, "thousandths of a cycle with nothing beside it; default: the window");
  io.optional("exposed", w.exposed, "of these so many hide under nothing, not even under special functions of its own warp; default 0");
  io.optional("reads", w.reads, "register operands that are read; default 0");
  io.optional("specials", w.specials, "special functions; default: the cycles of units of that role, 8 each");
  io.optional("issue", w.issue, "instructions; default: the cycles of special, ALU and FP32 units, 8, 2 and 1 each");
  io.optional("source", w.source);
}

template <class Io>
void visit(Io& io, CostRule& r) {
  io.required("kind", r.kind, as::name, "a kind of op, or a more specific \"mma.rs\"");
  io.always("uses", r.uses);
  io.required("latency", r, as::OneOrSeveral<as::Expression, CostRule, Expr, RuleLatency>{{}, &CostRule::latency, &CostRule::latencies},
              "issue until a dependent may issue; where that is not always the same, a list of cycles and shares");
  io.always("window", r.window, "cycles the issuing warps are busy; default 1");
  io.always("warps", r.warps, "default 1");
  io.optional("aligned", r.aligned);
  io.optional("asynchronous", r.asynchronous);
  io.optional("variable_latency", r.variable_latency);
  io.optional("warp", r.warp, "of arithmetic, beside mmas; names: those of the rule, per_thread and special_interval");
  io.optional("instructions", r.instructions, "of an mma: so many run on the tensor core one after the other; default 1");
  io.optional("source", r.source, "where the numbers come from");
}

template <class Io>
void visit(Io& io, Limits& limits) {
  for (const LimitField& f : limit_fields())
    f.required ? io.required(f.name, limits.*f.field, as::integer(f.low, f.high), f.about)
               : io.always(f.name, limits.*f.field, as::integer(f.low, f.high), f.about);
}

template <class Io>
void visit(Io& io, HandOff& h) {
  io.required("register_copy", h.register_copy, "register to register in another group, by way of shared memory");
  io.required("signal", h.signal, "barrier arrive until the other group wakes");
  io.optional("source", h.source);
}

template <class Io>
void visit(Io& io, ClockModel::Anchor& a) {
  io.required("name", a.name, as::name);
  io.required("tflops", a.tflops, as::positive);
}

template <class Io>
void visit(Io& io, ClockModel& c) {
  io.required("max_mhz", c.max_mhz, as::integer(1, 1 << 20));
  io.required("power_w", c.power_w, as::integer(1, 1'000'000), "the power limit where no other is given");
  io.optional("loaded_mhz", c.loaded_mhz, as::integer(1, 1 << 20),
              "at that limit, with the tensor cores 95 % busy and random data; sustained_mhz may name it");
  io.optional("arithmetic_power", c.arithmetic_power, as::integer(0, 10'000),
              "power of a busy unit of arithmetic or special functions, per mille of that of busy tensor cores");
  io.required("sustained_mhz", c.sustained_mhz,
              "under load, of loaded_mhz, tensor (per mille of all cycles in which the tensor cores work), arithmetic (the same of the "
              "units of arithmetic and special functions, added up), arithmetic_power, power_w and zeros (1 where the data is all zeros, "
              "else 0)");
  io.optional("anchors", c.anchors, "speeds of known kernels on the device that sustained_mhz stands for");
  io.optional("source", c.source);
}

template <class Io>
void visit(Io& io, StreamCosts& s) {
  io.always("arithmetic_percent", s.arithmetic_percent, as::integer(100, 1000),
            "time of a group's own arithmetic, in percent of what the rates of its units say");
  io.optional("product_percent", s.product_percent, as::integer(100, 1000),
              "time of an mma in a loop that also computes, in percent of what its unit's rate says; both operands in shared memory");
  io.optional("register_product_percent", s.register_product_percent, as::integer(100, 1000),
              "the same where the first operand is in registers");
  io.always("turn", s.turn, as::integer(0, 1'000'000),
            "to pass the turn on the tensor cores to another group by its named barrier, in cycles");
  const auto cycles = as::integer(0, 1'000'000);
  io.optional("wait", s.wait, cycles, "that a wait on an mbarrier that is ready holds its stream");
  io.optional("arrive", s.arrive, cycles, "that an arrival at an mbarrier holds its stream");
  io.optional("product_wait", s.product_wait, cycles,
              "from the end of an mma until what waited for it in its own group starts, beyond its latency");
  io.optional("source", s.source);
}

template <class Io>
void visit(Io& io, RangedNumber& n) {
  const auto number = as::integer(0, 1'000'000);
  io.part("ranged_number", "A number, what it may be, and where it comes from.");
  io.required("value", n.value, number);
  io.required("least", n.least, number);
  io.required("most", n.most, number);
  io.required("source", n.source);
}

template <class Io>
void visit(Io& io, ByOperand& n) {
  io.part("by_operand", "Of an mma with its first operand in shared memory, and in registers.");
  io.unless(n.shared == RangedNumber{}, "shared", n.shared);
  io.unless(n.registers == RangedNumber{}, "registers", n.registers);
}

template <class Io>
void visit(Io& io, Contention& c) {
  if constexpr (Io::reads) c.known = true;
  const ByOperand none;
  const RangedNumber zero;
  io.unless(c.in_flight == zero, "in_flight", c.in_flight,
            "mma instructions of all groups that are accepted and have not ended; 0: no limit");
  io.unless(c.late_per_read == none, "late_per_read", c.late_per_read,
            "a register read of arithmetic beside an mma: so much later, thousandths of a cycle");
  io.unless(c.late_per_special == zero, "late_per_special", c.late_per_special, "the same of a special function");
  io.unless(c.product_per_read == none, "product_per_read", c.product_per_read,
            "a register read beside an mma takes so much from the tensor core, thousandths of a cycle");
  io.unless(c.product_done == zero, "product_done", c.product_done, "last cycle of an mma until its waiting group goes on, cycles");
  io.unless(c.turn == zero, "turn", c.turn, "a turn is passed until the other group goes on, cycles");
  io.unless(c.special_interval == zero, "special_interval", c.special_interval,
            "of one warp's special functions in a row, thousandths of a cycle");
  io.unless(c.fence == zero, "fence", c.fence, "before the first instruction of an mma, cycles");
  io.unless(c.register_fence == zero, "register_fence", c.register_fence,
            "so much later where its first operand lies in registers, cycles");
  io.unless(c.issue_step == zero, "issue_step", c.issue_step, "between two mma instructions of a group, cycles");
  io.optional("reordered", c.reordered, "the compiler of this architecture moves arithmetic across waits and mmas");
  io.unless(c.first_loads == zero, "first_loads", c.first_loads, "of its latency a loop's first loads take so much, percent; 0: 100");
  io.unless(c.hidden == zero, "hidden", c.hidden,
            "of its own time arithmetic keeps so much beside special functions of its own stretch, percent");
}

template <class Io>
void visit(Io& io, SharedSupply& s) {
  io.optional("l2_bytes", s.l2_bytes, as::integer(1, 1 << 20), "that L2 supplies per SM cycle and SM when all SMs load");
  io.always("launch_ns", s.launch_ns, as::integer(0, 1'000'000'000), "of a kernel, on top of its cycles");
  io.optional("dram_gbs", s.dram_gbs, as::integer(1, 1 << 30), "10^9 bytes per second to and from DRAM");
  io.optional("source", s.source);
}

template <class Io>
void visit(Io& io, FittedNumber& f) {
  io.required("number", f.number, as::label, "where it stands in this file, \"shared.l2_bytes\"");
  io.required("least", f.least, as::integer(0, kLargestCount));
  io.required("most", f.most, as::integer(0, kLargestCount));
  io.required("source", f.source, "of that range");
}

template <class Io>
void visit(Io& io, Machine& m) {
  io.required("name", m.name, as::name);
  io.always("arch", m.arch, "\"sm_90a\"; empty for toys");
  io.optional("about", m.about);
  io.always("sm_count", m.sm_count, as::integer(1, 1 << 20));
  io.always("clock_mhz", m.clock_mhz, as::integer(1, 1 << 20), "behind the rates of the datasheet");
  io.unless(m.clock.max_mhz == 0, "clock", m.clock, "the clock under load");
  io.unless(m.shared.l2_bytes == 0 && m.shared.launch_ns == 0 && m.shared.dram_gbs == 0, "shared", m.shared, "what all SMs share");
  io.unless(m.streams == StreamCosts{}, "streams", m.streams, "what a warp group's stream takes beyond its units");
  io.unless(!m.contention.known, "contention", m.contention, "what warps of one quarter of an SM take from each other side by side");
  io.required("units", m.units);
  io.required("limits", m.limits);
  io.always("rules", m.rules, "cost per kind of op, in tile dimensions");
  io.optional("instructions", m.instructions, as::rows,
              "the catalogue: in which instructions ops are written, and how their lanes meet shared memory");
  io.always("handoff", m.handoff);
  io.optional("fitted", m.fitted, "numbers that heddle fit may move, at most 8");
}

namespace {

/// A clock has to be positive under every load.
void judge_clock(const ClockModel& clock, ReadLog& log) {
  if (clock.max_mhz == 0 || log.touched("/clock/sustained_mhz")) return;
  for (const std::int64_t tensor : {0, 1000}) {
    const auto mhz = clock.sustained_mhz.evaluate(clock.scope(clock.power_w, tensor, 3 * tensor, false));
    if (mhz && *mhz > 0) continue;
    return log.fault(
        "/clock/sustained_mhz",
        mhz ? fmt::format("{} MHz where tensor is {}: expected more than 0", *mhz, tensor) : mhz.error().faults.front().message,
        "it may name loaded_mhz, tensor and arithmetic (busy cycles of the tensor cores and of the other units, per mille), "
        "arithmetic_power, power_w and zeros (1 where the data is all zeros)");
  }
}

void judge_ranges(const Contention& contention, ReadLog& log) {
  each_number(contention, [&](const char* name, const RangedNumber& n) {
    const std::string at = fmt::format("/contention/{}", name);
    if (!log.touched(at) && (n.value < n.least || n.value > n.most))
      log.fault(at, fmt::format("{} is not between least and most, {} and {}", n.value, n.least, n.most));
  });
  if (contention.hidden.most > 100 && !log.touched("/contention/hidden"))
    log.fault("/contention/hidden/most", fmt::format("{} percent, expected at most 100", contention.hidden.most));
}

void judge_fitted(const Machine& machine, ReadLog& log) {
  if (machine.fitted.size() > kMostFitted)
    log.fault("/fitted", fmt::format("{} numbers, expected at most {}", machine.fitted.size(), kMostFitted),
              "a model that is fitted by many numbers explains nothing");
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < machine.fitted.size(); ++i) {
    const FittedNumber& fitted = machine.fitted[i];
    const std::string at = fmt::format("/fitted/{}", i);
    const FittedField* field = find_fitted_field(fitted.number);
    if (!field && !fitted.number.empty()) {
      std::vector<std::string> known;
      for (const FittedField& f : fitted_fields()) known.push_back(f.name);
      log.fault(at + "/number", fmt::format("'{}' is no number that can be fitted (known: {})", fitted.number, list_of(known)),
                did_you_mean(fitted.number, known));
    }
    if (!field) continue;
    if (const auto [it, fresh] = seen.emplace(fitted.number, i); !fresh)
      log.fault(at + "/number", fmt::format("'{}' already is /fitted/{}", fitted.number, it->second));
    if (const std::int64_t value = field->get(machine); value < fitted.least || value > fitted.most)
      log.fault(at, fmt::format("{} is {}, not between {} and {}", fitted.number, value, fitted.least, fitted.most));
  }
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
  read_members(root, machine);
  judge_clock(machine.clock, root.cursor().log());
  judge_fitted(machine, root.cursor().log());
  judge_ranges(machine.contention, root.cursor().log());
  judge(machine, root.cursor().log());
  judge_instructions(machine, root.cursor().log());
}

}  // namespace

Json machine_schema() { return document_schema<Machine>(kMachineSchema, "Heddle machine"); }

Result<Machine> parse_machine(std::string_view text, const std::string& file_name, std::vector<Fault>* warnings) {
  return read_document<Machine>(text, file_name, kMachineSchema, warnings, read_machine_root);
}

Result<Machine> read_machine(const std::string& path, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_machine(*text, path, warnings) : text.error();
}

std::string machine_text(const Machine& machine, std::string_view original) {
  return document_text<Machine>(document_json(kMachineSchema, machine), original, kMachineSchema, read_machine_root);
}

}  // namespace heddle
