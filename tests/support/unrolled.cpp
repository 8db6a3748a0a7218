// Simulation of many iterations. Iteration n of op v starts at start(v) + n * II; everything below speaks of such instances.
#include "tests/support/unrolled.h"

#include <algorithm>
#include <map>

namespace heddle::test {
namespace {

class Unrolled {
 public:
  Unrolled(const Problem& problem, const Schedule& schedule) : p_(problem), s_(schedule) {
    // Everything an iteration does lies within `reach` cycles of n * II.
    Cycle reach = 1;
    int farthest = 0;
    for (const Edge& e : p_.edges) farthest = std::max(farthest, e.distance), reach = std::max(reach, e.latency + e.hold);
    for (const Channel& c : p_.channels)
      for (const Reader& r : c.readers) farthest = std::max(farthest, r.distance), reach = std::max(reach, r.release + r.signal);
    Cycle last = 0, longest = 0;
    for (std::size_t v = 0; v < p_.ops.size(); ++v) {
      last = std::max(last, s_.ops[v].start);
      longest = std::max({longest, p_.ops[v].window, p_.ops[v].latency});
      for (const UnitUse& u : p_.ops[v].uses) longest = std::max(longest, u.offset + u.duration);
    }
    for (int depth : s_.depths) farthest = std::max(farthest, depth);
    const Cycle iterations = (last + longest + reach) / s_.ii + farthest + 2;
    middle_ = iterations;
    end_ = 2 * iterations + 1;
    window_ = middle_ * s_.ii;
  }

  std::set<std::string> violated() {
    dependences();
    units();
    streams();
    groups();
    registers();
    memory();
    channels();
    return found_;
  }

 private:
  Cycle at(OpId v, Cycle iteration) const { return s_.start(v) + iteration * s_.ii; }
  bool crosses(OpId a, OpId b) const { return s_.group(a) != s_.group(b); }
  bool in_window(Cycle t) const { return window_ <= t && t < window_ + s_.ii; }
  OpId op(std::size_t v) const { return OpId(v); }

  void dependences() {
    for (const Edge& e : p_.edges) {
      const Cycle from = at(e.from, middle_ - e.distance);
      if (at(e.to, middle_) < from + e.latency + (crosses(e.from, e.to) ? e.handoff : 0)) found_.insert("dependence");
    }
  }

  void units() {
    std::map<std::pair<std::size_t, Cycle>, std::int64_t> in_use;
    for (std::size_t v = 0; v < p_.ops.size(); ++v)
      for (Cycle n = 0; n < end_; ++n)
        for (const UnitUse& u : p_.ops[v].uses)
          for (Cycle t = at(op(v), n) + u.offset, stop = t + u.duration; t < stop; ++t)
            if (in_window(t)) in_use[{u.unit.index(), t}] += u.amount;
    for (const auto& [where, amount] : in_use)
      if (amount > p_.units[where.first].capacity) found_.insert("unit");
  }

  void streams() {
    std::map<std::pair<std::size_t, Cycle>, int> issuing;
    for (std::size_t v = 0; v < p_.ops.size(); ++v)
      for (Cycle n = 0; n < end_; ++n)
        for (Cycle t = at(op(v), n), stop = t + p_.ops[v].window; t < stop; ++t)
          if (in_window(t) && ++issuing[{s_.ops[v].group.index(), t}] > 1) found_.insert("issue");
    for (const Edge& e : p_.edges) {
      if (!e.waits && !crosses(e.from, e.to)) continue;
      if (p_.op(e.to).window > 0) continue;  // its overlap counts as issue
      for (std::size_t o = 0; o < p_.ops.size(); ++o) {
        if (op(o) == e.to || crosses(op(o), e.to)) continue;
        for (Cycle n = 0; n < end_; ++n)
          if (at(op(o), n) < at(e.to, middle_) && at(e.to, middle_) < at(op(o), n) + p_.ops[o].window) found_.insert("blocking");
      }
    }
  }

  void groups() {
    std::vector<int> widest(s_.groups.size(), 0);
    std::vector<bool> aligned(s_.groups.size(), false), used(s_.groups.size(), false);
    for (std::size_t v = 0; v < p_.ops.size(); ++v) {
      const std::size_t g = s_.ops[v].group.index();
      used[g] = true;
      widest[g] = std::max(widest[g], p_.ops[v].warps);
      if (p_.ops[v].aligned) aligned[g] = true;
      if (p_.has_producer_group() && (g == 0) != p_.ops[v].variable_latency) found_.insert("variable");
    }
    int warps = 0;
    for (std::size_t g = 0; g < s_.groups.size(); ++g) {
      while (aligned[g] && widest[g] % 4 != 0) ++widest[g];
      if (s_.groups[g].warps != widest[g]) found_.insert("warps");
      warps += s_.groups[g].warps;
    }
    if (warps > p_.limits.warps_per_cta) found_.insert("warps");
    if (std::count(used.begin(), used.end(), true) > p_.max_groups) found_.insert("form");
  }

  bool in_registers(const Edge& e) const { return e.value.valid() && p_.value(e.value).space == Space::Register; }

  void registers() {
    const Limits& l = p_.limits;
    std::int64_t file = 0;
    for (std::size_t g = 0; g < s_.groups.size(); ++g) {
      const GroupId group(g);
      bool touched = false;
      for (const Value& x : p_.values) touched |= x.space == Space::Register && s_.group(x.producer) == group;
      for (const Edge& e : p_.edges) touched |= in_registers(e) && s_.group(e.to) == group;
      std::int64_t need = touched ? 0 : l.producer_registers;
      for (std::size_t y = 0; y < p_.ops.size() && touched; ++y) {
        if (s_.ops[y].group != group) continue;
        const Cycle now = at(op(y), middle_);
        std::int64_t sum = p_.resident_registers + l.register_overhead;
        for (std::size_t x = 0; x < p_.values.size(); ++x) {
          const Value& value = p_.values[x];
          if (value.space != Space::Register || s_.group(value.producer) != group) continue;
          for (Cycle n = 0; n < end_ + middle_; ++n) {
            const Cycle born = at(value.producer, n);
            bool alive = born == now;
            for (const Edge& e : p_.edges)
              if (e.value == ValueId(x) && s_.group(e.to) == group) alive |= born <= now && now < at(e.to, n + e.distance) + e.hold;
            if (alive) sum += value.registers;
          }
        }
        std::set<std::pair<ValueId, int>> tiles;
        for (const Edge& e : p_.edges)
          if (e.to == op(y) && in_registers(e) && s_.group(p_.value(e.value).producer) != group)
            if (tiles.insert({e.value, e.distance}).second) sum += p_.value(e.value).registers;
        need = std::max(need, sum);
      }
      std::int64_t budget = s_.groups[g].registers;
      if (budget == 0)
        while (budget < need || budget % l.register_granule != 0) ++budget;
      if (budget < need || budget % l.register_granule != 0 || budget > l.registers_per_thread) found_.insert("registers");
      file += budget * s_.groups[g].warps * l.threads_per_warp;
    }
    if (file > l.registers_per_sm) found_.insert("registers");
  }

  void memory() {
    std::int64_t bytes = p_.resident_smem, columns = p_.resident_columns, power = 32;
    for (std::size_t c = 0; c < p_.channels.size(); ++c)
      (p_.channels[c].space == Space::Tmem ? columns : bytes) += s_.depths[c] * p_.channels[c].size;
    while (power < columns) power *= 2;
    if (bytes > p_.limits.smem_bytes || (columns > 0 && power > p_.limits.tmem_columns)) found_.insert("memory");
  }

  void channels() {
    for (std::size_t i = 0; i < p_.channels.size(); ++i) {
      const Channel& c = p_.channels[i];
      std::vector<Reader> readers;
      for (const Reader& r : c.readers)
        if (!c.only_if_crossing || crosses(r.op, c.writer)) readers.push_back(r);
      const int depth = s_.depths[i];
      if (c.only_if_crossing && readers.empty()) {
        if (depth != 0) found_.insert("depth");
        continue;
      }
      if (depth < 1 || depth > c.max_depth) found_.insert("depth");
      if (depth < 1) continue;
      for (Cycle now = window_; now < window_ + s_.ii; ++now) {
        int copies = 0;
        for (Cycle n = 0; n < end_ + middle_; ++n) {
          const bool alive = std::any_of(readers.begin(), readers.end(), [&](const Reader& r) {
            return at(c.writer, n) <= now && now < at(r.op, n + r.distance) + r.release;
          });
          copies += alive ? 1 : 0;
        }
        if (copies > depth) found_.insert("depth");
      }
      // Iteration n + depth writes into the slot that iteration n wrote.
      for (const Reader& r : readers) {
        const Cycle free = at(r.op, middle_ + r.distance) + r.release, refill = at(c.writer, middle_ + depth);
        if (refill >= free && crosses(r.op, c.writer) && refill < free + r.signal) found_.insert("credit");
      }
    }
  }

  const Problem& p_;
  const Schedule& s_;
  Cycle middle_ = 0, end_ = 0, window_ = 0;
  std::set<std::string> found_;
};

}  // namespace

std::set<std::string> violated_when_unrolled(const Problem& problem, const Schedule& schedule) {
  return Unrolled(problem, schedule).violated();
}

}  // namespace heddle::test
