// Written straight from core/problem/problem.h, family by family, with no cleverness at all.

#include "tests/support/solver/cross_check.h"

#include <fmt/format.h>
#include <z3++.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "core/base/integer_division.h"
#include "solver/encoding/registers.h"
#include "solver/encoding/user.h"

namespace heddle::solver {
namespace {

class Encoder {
 public:
  Encoder(const Problem& problem, const Constraints& constraints, Cycle ii, int stages)
      : p_(problem), constraints_(constraints), ii_(ii), stages_(stages), solver_(context_, "QF_LIA") {
    make_unknowns();
    dependences();
    units();
    issue();
    channels();
    registers();
    for (const UserConstraint& c : constraints_)
      if (c.enabled) user(c);
  }

  CrossCheck answer(double timeout_seconds) {
    solver_.set("timeout", static_cast<unsigned>(std::clamp(timeout_seconds * 1000, 1.0, 1e9)));
    CrossCheck result;
    const z3::check_result verdict = solver_.check();
    if (verdict == z3::unsat) result.answer = Answer::No;
    if (verdict != z3::sat) return result;
    result.answer = Answer::Yes;
    result.schedule = read(solver_.get_model());
    return result;
  }

 private:
  z3::expr number(std::int64_t n) { return context_.int_val(n); }
  z3::expr fresh(const char* name) { return z3::expr(context_, Z3_mk_fresh_const(context_, name, context_.int_sort())); }
  z3::expr start(OpId op) const { return starts_[op.index()]; }
  z3::expr together(OpId a, OpId b) const { return groups_[a.index()] == groups_[b.index()]; }
  z3::expr any(const z3::expr_vector& terms) { return terms.empty() ? context_.bool_val(false) : z3::mk_or(terms); }
  z3::expr add_up(const z3::expr_vector& terms) { return terms.empty() ? number(0) : z3::sum(terms); }
  z3::expr if_then(const z3::expr& condition, std::int64_t amount) { return z3::ite(condition, number(amount), number(0)); }

  /// (b - a) mod II in [low, high] for some wrap.
  z3::expr residue(const z3::expr& a, const z3::expr& b, Cycle low, Cycle high) {
    z3::expr_vector wraps(context_);
    for (int n = -stages_ - 2; n <= stages_ + 2; ++n)
      wraps.push_back(b - a + number(n * ii_) >= number(low) && b - a + number(n * ii_) <= number(high));
    return any(wraps);
  }

  void make_unknowns() {
    const bool producer = p_.has_producer_group();
    const int last = std::max(1, p_.max_groups) - 1;
    for (const Op& op : p_.ops) {
      starts_.push_back(fresh("s"));
      groups_.push_back(fresh("g"));
      solver_.add(starts_.back() >= 0 && starts_.back() < number(ii_ * stages_));
      if (op.variable_latency)
        solver_.add(groups_.back() == 0);
      else
        solver_.add(groups_.back() >= (producer ? 1 : 0) && groups_.back() <= last);
    }
    // Warps: the width of a group is that of its widest op.
    z3::expr_vector all(context_);
    for (int g = 0; g <= last; ++g) {
      widths_.push_back(fresh("w"));
      const z3::expr quarters = fresh("q");
      solver_.add(widths_.back() >= 0);
      for (std::size_t v = 0; v < p_.ops.size(); ++v) {
        const Op& op = p_.ops[v];
        solver_.add(z3::implies(groups_[v] == g, widths_.back() >= (op.aligned ? (op.warps + 3) / 4 * 4 : op.warps)));
        if (op.aligned) solver_.add(z3::implies(groups_[v] == g, widths_.back() == number(4) * quarters));
      }
      all.push_back(widths_.back());
    }
    solver_.add(add_up(all) <= number(p_.limits.warps_per_cta));
  }

  void dependences() {
    for (const Edge& e : p_.edges) {
      const z3::expr ready = start(e.from) + number(e.latency) - number(e.distance * ii_);
      solver_.add(start(e.to) >= ready);
      solver_.add(together(e.from, e.to) || start(e.to) >= ready + number(e.handoff));
    }
  }

  void units() {
    // At the start of every use, what is active on its unit, itself included, fits.
    for (std::size_t i = 0; i < p_.units.size(); ++i)
      for (std::size_t v = 0; v < p_.ops.size(); ++v)
        for (const UnitUse& at : p_.ops[v].uses) {
          if (at.unit != UnitId(i) || at.duration == 0) continue;
          const z3::expr now = starts_[v] + number(at.offset);
          z3::expr_vector active(context_);
          for (std::size_t u = 0; u < p_.ops.size(); ++u)
            for (const UnitUse& use : p_.ops[u].uses) {
              if (use.unit != UnitId(i) || use.duration == 0) continue;
              active.push_back(number(use.duration / ii_ * use.amount));
              if (use.duration % ii_ > 0)
                active.push_back(if_then(residue(starts_[u] + number(use.offset), now, 0, use.duration % ii_ - 1), use.amount));
            }
          solver_.add(add_up(active) <= number(p_.units[i].capacity));
        }
    for (std::size_t i = 0; i < p_.units.size(); ++i) {
      std::int64_t sum = 0;
      for (const Op& op : p_.ops)
        for (const UnitUse& use : op.uses) sum += use.unit == UnitId(i) ? use.amount * use.work() : 0;
      if (sum > p_.units[i].capacity * ii_) solver_.add(context_.bool_val(false));
    }
  }

  void issue() {
    for (std::size_t a = 0; a < p_.ops.size(); ++a) {
      if (p_.ops[a].window > ii_) solver_.add(context_.bool_val(false));
      for (std::size_t b = a + 1; b < p_.ops.size(); ++b) {
        const Cycle wa = p_.ops[a].window, wb = p_.ops[b].window;
        if (wa > 0 && wb > 0) solver_.add(!together(OpId(a), OpId(b)) || residue(starts_[a], starts_[b], wa, ii_ - wb));
      }
    }
    for (std::size_t v = 0; v < p_.ops.size(); ++v) {
      z3::expr_vector waits(context_);
      for (const Edge& e : p_.edges)
        if (e.to == OpId(v)) waits.push_back(e.waits ? context_.bool_val(true) : !together(e.from, e.to));
      for (std::size_t o = 0; o < p_.ops.size(); ++o)
        if (o != v && p_.ops[o].window > 1)
          solver_.add(!any(waits) || !together(OpId(o), OpId(v)) || residue(starts_[o], starts_[v], p_.ops[o].window, ii_));
    }
  }

  /// Powers of two from 32 columns up.
  static std::int64_t allocatable(std::int64_t columns) {
    return columns < 32 ? 0 : static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(columns)));
  }

  void channels() {
    z3::expr_vector smem(context_), tmem(context_);
    for (const Channel& c : p_.channels) {
      z3::expr depth = fresh("d");
      depths_.push_back(depth);
      solver_.add(depth >= (c.only_if_crossing ? 0 : 1) && depth <= c.max_depth);
      for (const Reader& r : c.readers) {
        const z3::expr same = together(c.writer, r.op);
        const z3::expr released = start(r.op) + number(r.distance * ii_ + r.release);
        if (!c.only_if_crossing) solver_.add(start(c.writer) + depth * number(ii_) >= released);
        solver_.add(same || (depth >= 1 && start(c.writer) + depth * number(ii_) >= released + number(r.signal)));
      }
      (c.space == Space::Smem ? smem : tmem).push_back(depth * number(c.size));
    }
    smem_ = std::make_unique<z3::expr>(add_up(smem) + number(p_.resident_smem));
    tmem_ = std::make_unique<z3::expr>(add_up(tmem) + number(p_.resident_columns));
    solver_.add(*smem_ <= number(p_.limits.smem_bytes));
    solver_.add(*tmem_ <= number(allocatable(p_.limits.tmem_columns)));
  }

  /// Registers of `op`'s group at its start, as an integer expression.
  z3::expr registers_at_start(OpId at) {
    z3::expr_vector terms(context_);
    terms.push_back(number(p_.limits.register_overhead + p_.resident_registers));
    for (std::size_t x = 0; x < p_.values.size(); ++x) {
      const Value& value = p_.values[x];
      if (value.registers == 0) continue;
      if (value.producer == at) terms.push_back(number(value.registers));  // its own newest copy
      // Copy i of x was defined i iterations before this start of `at` (negative: later stages run ahead).
      for (int i = -stages_ - 1; i <= stages_ + 8; ++i) {
        if (value.producer == at && i == 0) continue;
        const z3::expr defined = start(value.producer) - number(i * ii_) <= start(at);
        z3::expr_vector needed(context_);
        needed.push_back(start(at) <= start(value.producer) - number(i * ii_));  // it lives at least one cycle
        for (const Edge& e : p_.edges)
          if (e.value == ValueId(x))
            needed.push_back(together(e.from, e.to) && start(at) < start(e.to) + number((e.distance - i) * ii_ + e.hold));
        terms.push_back(if_then(together(value.producer, at) && defined && any(needed), value.registers));
      }
    }
    for (const Edge& e : p_.edges)
      if (e.to == at && e.value.valid() && p_.value(e.value).registers > 0)
        terms.push_back(if_then(!together(e.from, at), p_.value(e.value).registers));
    return add_up(terms);
  }

  bool touches_registers(OpId op) const {
    for (const Value& x : p_.values)
      if (x.producer == op && x.space == Space::Register) return true;
    for (const Edge& e : p_.edges)
      if (e.to == op && e.value.valid() && p_.value(e.value).space == Space::Register) return true;
    return false;
  }

  void registers() {
    const std::int64_t granule = std::max<std::int64_t>(1, p_.limits.register_granule);
    z3::expr_vector file(context_);
    for (std::size_t g = 0; g < widths_.size(); ++g) {
      z3::expr granules = fresh("b");
      budgets_.push_back(granules * number(granule));
      solver_.add(budgets_.back() >= 0 && budgets_.back() <= number(p_.limits.registers_per_thread));
      // threads * budget, linear for each possible width
      z3::expr share = fresh("f");
      z3::expr_vector touching(context_);
      for (std::size_t v = 0; v < p_.ops.size(); ++v)
        if (touches_registers(OpId(v))) touching.push_back(groups_[v] == static_cast<int>(g));
      const z3::expr counted = z3::ite(any(touching), budgets_.back(), number(ceil_div(p_.limits.producer_registers, granule) * granule));
      for (std::int64_t w = 0; w <= p_.limits.warps_per_cta; ++w)
        solver_.add(z3::implies(widths_[g] == number(w), share >= counted * number(w * p_.limits.threads_per_warp)));
      file.push_back(share);
    }
    solver_.add(add_up(file) <= number(p_.limits.registers_per_sm));
    for (std::size_t v = 0; v < p_.ops.size(); ++v) {
      if (!touches_registers(OpId(v))) continue;
      const z3::expr used = registers_at_start(OpId(v));
      for (std::size_t g = 0; g < widths_.size(); ++g) solver_.add(z3::implies(groups_[v] == static_cast<int>(g), used <= budgets_[g]));
    }
  }

  void user(const UserConstraint& c) {
    std::vector<OpId> ops;
    for (const std::string& name : c.ops) ops.push_back(p_.find_op(name));
    const auto pairs = [&](auto&& relation) {
      for (std::size_t a = 0; a < ops.size(); ++a)
        for (std::size_t b = a + 1; b < ops.size(); ++b) solver_.add(relation(ops[a], ops[b]));
    };
    const auto stage_equal = [&](OpId a, OpId b) {
      z3::expr_vector stages(context_);
      for (int k = 0; k < stages_; ++k) {
        const auto inside = [&](OpId op) { return start(op) >= number(k * ii_) && start(op) < number((k + 1) * ii_); };
        stages.push_back(inside(a) && inside(b));
      }
      return any(stages);
    };
    switch (c.kind) {
      case ConstraintKind::Pin:
        for (OpId op : ops) solver_.add(start(op) == number(c.low));
        break;
      case ConstraintKind::Range:
        for (OpId op : ops) solver_.add(start(op) >= number(c.low) && start(op) <= number(c.high));
        break;
      case ConstraintKind::InGroup:
        for (OpId op : ops) solver_.add(groups_[op.index()] == number(c.low));
        break;
      case ConstraintKind::NotInGroup:
        for (OpId op : ops) solver_.add(groups_[op.index()] != number(c.low));
        break;
      case ConstraintKind::SameGroup: pairs([&](OpId a, OpId b) { return together(a, b); }); break;
      case ConstraintKind::DifferentGroup: pairs([&](OpId a, OpId b) { return !together(a, b); }); break;
      case ConstraintKind::Before: solver_.add(start(ops[1]) >= start(ops[0]) + number(c.low)); break;
      case ConstraintKind::SameStage: pairs(stage_equal); break;
      case ConstraintKind::EarlierStage: solver_.add(start(ops[1]) / number(ii_) >= start(ops[0]) / number(ii_) + number(c.low)); break;
      case ConstraintKind::MaxStages:
        for (const z3::expr& s : starts_) solver_.add(s < number(c.high * ii_));
        break;
      case ConstraintKind::MaxWarps: {
        z3::expr_vector all(context_);
        for (const z3::expr& w : widths_) all.push_back(w);
        solver_.add(add_up(all) <= number(c.high));
        break;
      }
      case ConstraintKind::OneByOne:
        for (std::size_t a = 0; a < p_.ops.size(); ++a)
          for (std::size_t b = 0; b < p_.ops.size(); ++b)
            if (a != b && p_.ops[a].window > 0 && p_.ops[b].window > 0)
              solver_.add(
                  z3::implies(together(OpId(a), OpId(b)), start(OpId(b)) + number(p_.ops[b].window) <= start(OpId(a)) + number(ii_)));
        break;
      case ConstraintKind::IIRange:
        if (ii_ < c.low || (c.high > 0 && ii_ > c.high)) solver_.add(context_.bool_val(false));
        break;
      case ConstraintKind::ClosedGroup:
        for (const Edge& e : p_.edges)
          if (ops.size() == 1 && (e.value.valid() || e.handoff > 0))
            solver_.add(together(e.from, e.to) || (!together(ops[0], e.from) && !together(ops[0], e.to)));
        break;
      case ConstraintKind::MaxWidthRegisters: {
        z3::expr_vector all(context_);
        for (const z3::expr& w : widths_) {
          z3::expr registers = number(0);
          for (std::int64_t warps = 1; warps <= p_.limits.warps_per_cta; ++warps)
            registers = z3::ite(w == number(warps), number(width_registers(static_cast<int>(warps))), registers);
          all.push_back(registers);
        }
        solver_.add(add_up(all) <= number(c.high));
        break;
      }
      case ConstraintKind::MaxStageSmem: {
        z3::expr_vector zero(context_), bytes(context_);
        for (const z3::expr& s : starts_) zero.push_back(s == number(0));
        solver_.add(any(zero));
        for (const StageRing& ring : c.rings) {
          const z3::expr slots = context_.int_const(fmt::format("stage_slots_{}", bytes.size()).c_str());
          const z3::expr filled = start(p_.find_op(ring.writer)) / number(ii_);
          solver_.add(slots >= number(1));
          for (const std::string& reader : ring.readers) solver_.add(slots >= start(p_.find_op(reader)) / number(ii_) - filled + number(1));
          bytes.push_back(slots * number(ring.bytes));
        }
        solver_.add(add_up(bytes) <= number(c.high));
        break;
      }
      case ConstraintKind::MaxCrossingSmem: {
        z3::expr_vector bytes(context_);
        for (const StageRing& ring : c.rings) {
          z3::expr_vector apart(context_);
          for (const std::string& reader : ring.readers) apart.push_back(!together(p_.find_op(reader), p_.find_op(ring.writer)));
          bytes.push_back(z3::ite(any(apart), number(ring.bytes), number(0)));
        }
        solver_.add(add_up(bytes) + number(c.low) <= number(c.high));
        break;
      }
      case ConstraintKind::MaxGroups:
        for (const z3::expr& g : groups_) solver_.add(g < number(c.high));
        break;
      case ConstraintKind::MaxRegisters:
        for (const z3::expr& b : budgets_) solver_.add(b <= number(c.high));
        break;
      case ConstraintKind::MaxSmem: solver_.add(*smem_ <= number(c.high)); break;
      case ConstraintKind::MaxTmem: solver_.add(*tmem_ <= number(allocatable(c.high))); break;
      case ConstraintKind::MaxDepth:
        for (std::size_t i = 0; i < p_.channels.size(); ++i)
          if (p_.channels[i].name == c.channel) solver_.add(depths_[i] <= number(c.high));
        break;
    }
  }

  Schedule read(const z3::model& model) {
    Schedule schedule;
    schedule.name = "cross-check";
    schedule.kernel = p_.kernel;
    schedule.machine = p_.machine;
    schedule.params = p_.params;
    schedule.layouts = choices_of(p_);
    schedule.ii = ii_;
    for (std::size_t v = 0; v < p_.ops.size(); ++v)
      schedule.ops.push_back({model.eval(starts_[v], true).get_numeral_int64(),
                              GroupId(static_cast<std::size_t>(model.eval(groups_[v], true).get_numeral_int64()))});
    for (std::size_t c = 0; c < p_.channels.size(); ++c) {
      const Channel& channel = p_.channels[c];
      const bool crosses = std::any_of(channel.readers.begin(), channel.readers.end(),
                                       [&](const Reader& r) { return schedule.group(r.op) != schedule.group(channel.writer); });
      const auto depth = static_cast<int>(model.eval(depths_[c], true).get_numeral_int64());
      schedule.depths.push_back(channel.only_if_crossing && !crosses ? 0 : depth);
    }
    schedule.groups.resize(widths_.size());
    derive_groups(p_, schedule, names_groups(constraints_) ? UnusedGroups::Keep : UnusedGroups::Drop);
    set_register_budgets(p_, schedule);
    return schedule;
  }

  const Problem& p_;
  const Constraints& constraints_;
  Cycle ii_;
  int stages_;
  z3::context context_;
  z3::solver solver_;
  std::vector<z3::expr> starts_, groups_, widths_, depths_, budgets_;
  std::unique_ptr<z3::expr> smem_, tmem_;
};

}  // namespace

CrossCheck cross_check(const Problem& problem, const Constraints& constraints, Cycle ii, int stages, double timeout_seconds) {
  try {
    return Encoder(problem, constraints, ii, stages).answer(timeout_seconds);
  } catch (const z3::exception&) {
    return {};
  }
}

}  // namespace heddle::solver
