// Look-ups in a problem, and the digest and the text that identify it.
#include "core/problem/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>

#include "core/base/hash.h"
#include "core/problem/identity.h"

namespace heddle {

OpId Problem::find_op(std::string_view name) const {
  const auto it = std::find_if(ops.begin(), ops.end(), [&](const Op& o) { return o.name == name; });
  return it == ops.end() ? OpId{} : OpId(static_cast<std::size_t>(it - ops.begin()));
}

bool Problem::has_producer_group() const {
  return std::any_of(ops.begin(), ops.end(), [](const Op& o) { return o.variable_latency; });
}

std::string machine_title(const Problem& problem) { return problem.machine + (problem.changes.empty() ? "" : " (changed)"); }

namespace {

/// Adds to a digest, or writes, everything that decides which schedules are legal.
template <class Sink>
void add_legal_part(const Problem& p, Sink& h) {
  for (const Unit& u : p.units) h.add(u.name).add(u.capacity);
  const Limits& l = p.limits;
  for (std::int64_t x : {l.smem_bytes, l.tmem_columns, l.registers_per_sm, l.registers_per_thread, l.register_granule,
                         l.register_overhead, l.producer_registers, l.warps_per_cta, l.threads_per_warp})
    h.add(x);
  for (const Op& o : p.ops) {
    h.add(o.name).add(o.latency).add(o.window).add(o.warps).add(o.aligned).add(o.asynchronous).add(o.variable_latency);
    h.add(o.uses.size());
    for (const UnitUse& u : o.uses) {
      h.add(u.unit.index()).add(u.offset).add(u.duration).add(u.amount);
      if (u.in_sum > u.duration) h.add(std::string_view("in sum")).add(u.in_sum);
    }
  }
  for (const Value& v : p.values)
    h.add(v.name).add(static_cast<int>(v.space)).add(v.producer.index()).add(v.bytes).add(v.registers);
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
  text.section("channels", problem.channels.size());
  for (const Channel& c : problem.channels) {
    text.add(c.values.size()).add(c.readers.size());
    for (const ValueId value : c.values) text.add(value.index());
  }
  return text.take();
}

}  // namespace heddle
