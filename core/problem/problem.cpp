#include "core/problem/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "core/base/hash.h"
#include "core/base/saturate.h"
#include "core/layout/plan.h"

namespace heddle {

OpId Problem::find_op(std::string_view name) const {
  const auto it = std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return o.name == name; });
  return it == ops.end() ? OpId{} : OpId(static_cast<std::size_t>(it - ops.begin()));
}

bool Problem::has_producer_group() const {
  return std::any_of(ops.begin(), ops.end(), [](const Op& o) { return o.variable_latency; });
}

const LayoutChoices& choices_of(const Problem& problem) {
  static const LayoutChoices today;
  return problem.layouts ? problem.layouts->choices : today;
}

std::string machine_title(const Problem& problem) {
  const std::size_t changes = problem.changes.size();
  return problem.machine + (changes == 0 ? "" : " · " + std::to_string(changes) + (changes == 1 ? " change" : " changes"));
}

namespace {

/// Adds to a digest, or writes, everything that decides which schedules are legal.
template <class Sink>
void add_legal_part(const Problem& p, Sink& h) {
  for (const Unit& u : p.units) h.add(u.name).add(u.capacity);
  const Limits& l = p.limits;
  for (std::int64_t x : {l.smem_bytes, l.tmem_columns, l.registers_per_sm, l.registers_per_thread, l.register_granule, l.register_overhead,
                         l.producer_registers, l.warps_per_cta, l.threads_per_warp})
    h.add(x);
  for (const Op& o : p.ops) {
    h.add(o.name).add(o.latency).add(o.window).add(o.warps).add(o.aligned).add(o.asynchronous).add(o.variable_latency);
    h.add(o.uses.size());
    for (const UnitUse& u : o.uses) {
      h.add(u.unit.index()).add(u.offset).add(u.duration).add(u.amount);
      if (u.in_sum > u.duration) h.add(std::string_view("in sum")).add(u.in_sum);
    }
  }
  for (const Value& v : p.values) h.add(v.name).add(static_cast<int>(v.space)).add(v.producer.index()).add(v.bytes).add(v.registers);
  for (const Edge& e : p.edges) {
    h.add(e.from.index()).add(e.to.index()).add(e.value.valid() ? e.value.index() + 1 : 0);
    h.add(e.latency).add(e.distance).add(e.handoff).add(e.waits).add(e.hold);
  }
  for (const Channel& c : p.channels) {
    h.add(c.name).add(static_cast<int>(c.space)).add(c.size).add(c.writer.index()).add(c.only_if_crossing).add(c.max_depth);
    for (const Reader& r : c.readers) h.add(r.op.index()).add(r.distance).add(r.release).add(r.signal);
  }
  h.add(p.resident_smem).add(p.resident_columns).add(p.resident_registers).add(p.max_groups);
}

/// What nothing depends on where the machine has no contention.
template <class Sink>
void add_contention(const Problem& p, Sink& h) {
  each_number(p.contention, [&](const char*, const RangedNumber& n) { h.add(n.value).add(n.least).add(n.most); });
  h.add(p.contention.reordered).add(p.barrier_wait);
  for (const Op& o : p.ops) {
    for (const std::int64_t x : {o.work.alone, o.work.exposed, o.work.reads, o.work.specials, o.work.issue}) h.add(x);
    h.add(o.instructions).add(o.from_registers);
  }
}

/// Takes what a Hash takes; texts carry their length, so that no two sequences are written alike.
class TextSink {
 public:
  TextSink& add(std::string_view text) {
    text_ += fmt::format("{}:{} ", text.size(), text);
    return *this;
  }
  TextSink& add(const std::string& text) { return add(std::string_view(text)); }
  template <std::integral T>
  TextSink& add(T number) {
    text_ += fmt::format("{} ", static_cast<std::int64_t>(number));
    return *this;
  }
  void section(const char* name, std::size_t count) { text_ += fmt::format("\n{} {} ", name, count); }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string problem_hash(const Problem& problem) {
  Hash hash;
  add_legal_part(problem, hash);
  return hash.hex();
}

std::string problem_text(const Problem& problem) {
  TextSink text;
  text.section("counts", problem.units.size());
  text.add(problem.ops.size()).add(problem.values.size()).add(problem.edges.size()).add(problem.channels.size());
  text.section("legal", 0);
  add_legal_part(problem, text);
  text.section("names", 0);
  text.add(problem.kernel).add(problem.machine).add(problem.clock_note);
  text.section("params", problem.params.size());
  for (const auto& [name, value] : problem.params) text.add(name).add(value);
  text.section("changes", problem.changes.size());
  for (const std::string& change : problem.changes) text.add(change);
  text.section("units", problem.units.size());
  for (const Unit& u : problem.units) text.add(static_cast<int>(u.role));
  text.section("ops", problem.ops.size());
  for (const Op& o : problem.ops) text.add(o.kind).add(o.rule);
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    if (const LatencySpread& spread = problem.ops[v].spread; !spread.empty()) {
      text.section("latencies", v);
      text.add(describe(spread.cases)).add(spread.at);
    }
  text.section("channels", problem.channels.size());
  for (const Channel& c : problem.channels) {
    text.add(c.values.size()).add(c.readers.size());
    for (const ValueId value : c.values) text.add(value.index());
  }
  if (problem.contention.known) {
    text.section("contention", problem.ops.size());
    add_contention(problem, text);
  }
  if (const LayoutChoices& choices = choices_of(problem); !choices.empty()) {
    text.section("layouts", choices.layouts.size());
    for (const auto& [name, layout] : choices.layouts) text.add(name).add(layout);
    text.section("instructions", choices.instructions.size());
    for (const auto& [name, choice] : choices.instructions)
      text.add(name).add(choice.name).add(choice.exchange.lane).add(choice.exchange.register_bit);
  }
  return text.take();
}

namespace {

/// All pairs of two lists of the same length.
template <class T, class Judge>
bool all_pairs(const std::vector<T>& a, const std::vector<T>& b, Judge judge) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!judge(a[i], b[i])) return false;
  return true;
}

bool stricter_op(const Op& a, const Op& b) {
  // Latency itself forbids nothing: its edges, holds and releases do.
  return a.name == b.name && a.window >= b.window && a.warps >= b.warps && a.aligned >= b.aligned && a.asynchronous == b.asynchronous &&
         a.variable_latency == b.variable_latency && all_pairs(a.uses, b.uses, [](const UnitUse& x, const UnitUse& y) {
           return x.unit == y.unit && x.offset == y.offset && x.duration >= y.duration && x.amount >= y.amount && x.work() >= y.work();
         });
}

bool stricter_edge(const Edge& a, const Edge& b) {
  return a.from == b.from && a.to == b.to && a.value == b.value && a.distance == b.distance && a.latency >= b.latency &&
         sat_add(a.latency, a.handoff) >= sat_add(b.latency, b.handoff) && a.waits >= b.waits && a.hold >= b.hold;
}

bool stricter_channel(const Channel& a, const Channel& b) {
  return a.name == b.name && a.space == b.space && a.size >= b.size && a.values == b.values && a.writer == b.writer &&
         a.only_if_crossing == b.only_if_crossing && a.max_depth <= b.max_depth &&
         all_pairs(a.readers, b.readers, [](const Reader& x, const Reader& y) {
           return x.op == y.op && x.distance == y.distance && x.release >= y.release &&
                  sat_add(x.release, x.signal) >= sat_add(y.release, y.signal);
         });
}

bool stricter_limits(const Limits& a, const Limits& b) {
  return a.smem_bytes <= b.smem_bytes && a.tmem_columns <= b.tmem_columns && a.registers_per_sm <= b.registers_per_sm &&
         a.registers_per_thread <= b.registers_per_thread && b.register_granule > 0 && a.register_granule % b.register_granule == 0 &&
         a.register_overhead >= b.register_overhead && a.producer_registers >= b.producer_registers && a.warps_per_cta <= b.warps_per_cta &&
         a.threads_per_warp == b.threads_per_warp;
}

}  // namespace

bool at_least_as_strict(const Problem& a, const Problem& b) {
  return all_pairs(a.units, b.units, [](const Unit& x, const Unit& y) { return x.name == y.name && x.capacity <= y.capacity; }) &&
         stricter_limits(a.limits, b.limits) && all_pairs(a.ops, b.ops, stricter_op) &&
         all_pairs(a.values, b.values,
                   [](const Value& x, const Value& y) {
                     return x.name == y.name && x.space == y.space && x.producer == y.producer && x.registers >= y.registers;
                   }) &&
         all_pairs(a.edges, b.edges, stricter_edge) && all_pairs(a.channels, b.channels, stricter_channel) &&
         a.resident_smem >= b.resident_smem && a.resident_columns >= b.resident_columns && a.resident_registers >= b.resident_registers &&
         a.max_groups <= b.max_groups;
}

}  // namespace heddle
