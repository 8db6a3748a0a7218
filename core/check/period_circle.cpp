// Each group's stream is read round after round with a list of its products in flight, until what stands there repeats.
#include "core/check/period_circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/integer_division.h"

namespace heddle::check_period {
namespace {

constexpr int kLongAgo = 1 << 30;                ///< rounds: of what no group makes
constexpr std::int64_t kBetween = 112 * kTicks;  ///< own time of arithmetic that the compiler puts between two instructions of a product
constexpr std::size_t kMostHands = 4;            ///< changes of hands per iteration that are worth their barriers

std::optional<std::size_t> tensor_unit(const Problem& problem, const Op& op) {
  for (const UnitUse& use : op.uses)
    if (problem.unit(use.unit).role == UnitRole::Tensor && use.work() > 0) return use.unit.index();
  return std::nullopt;
}

std::vector<std::size_t> group_of_ops(const Problem& problem, const JudgedProgram& loop) {
  std::vector<std::size_t> group(problem.ops.size(), loop.groups.size());
  for (std::size_t g = 0; g < loop.groups.size(); ++g)
    for (const Placed& p : loop.groups[g]) group[p.op.index()] = g;
  return group;
}

/// Where around the circle of products a run of one group begins and ends.
struct TurnPlan : Turning {
  std::vector<std::size_t> owners;
};

TurnPlan plan_turns(const JudgedProgram& loop, const std::vector<std::size_t>& group) {
  TurnPlan plan;
  const std::size_t n = loop.turns.size();
  const auto owner = [&](std::size_t k) { return group[loop.turns[k % n].index()]; };
  std::size_t begin = 0;
  while (begin < n && owner(begin) == owner(begin + n - 1)) ++begin;
  if (begin == n) return plan;  // one group, or none
  for (std::size_t k = begin; k < begin + n; ++k) {
    if (owner(k) != owner(k + n - 1)) {
      plan.takes[loop.turns[k % n]] = plan.owners.size();
      plan.owners.push_back(owner(k));
    }
    if (owner(k) != owner(k + 1)) plan.passes[loop.turns[k % n]] = plan.owners.size() - 1;
  }
  return plan;
}

/// Where in its stream a group's circle begins.
std::size_t beginning(const Problem& problem, const std::vector<Placed>& stream, const Turning& plan) {
  for (std::size_t i = 0; i < stream.size(); ++i)
    if (plan.takes.contains(stream[i].op)) return i;
  for (std::size_t i = 0; i < stream.size(); ++i)
    if (is_product(problem, stream[i].op)) return i;
  return 0;
}

/// Reads one group's stream.
class StreamReading {
 public:
  StreamReading(const Problem& problem, const JudgedProgram& loop, const Turning& plan, std::size_t group)
      : problem_(problem), loop_(loop), plan_(plan), here_(group), group_(group_of_ops(problem, loop)), lag_(problem.ops.size(), 0) {
    for (const auto& stream : loop.groups) {
      const std::size_t begin = beginning(problem, stream, plan);
      for (std::size_t i = 0; i < stream.size(); ++i) lag_[stream[i].op.index()] = stream[i].stage - (i < begin);
      const bool ahead = std::any_of(stream.begin(), stream.end(), [&](const Placed& p) { return lag_[p.op.index()] < 0; });
      for (const Placed& p : stream) lag_[p.op.index()] += ahead;
    }
    for (const Edge& e : problem.edges)
      if (mine(e.from) && is_product(problem, e.from) && needs_wait(e)) awaited_.insert(e.from);
  }

  DeedCircle read() {
    const auto& stream = loop_.groups[here_];
    const std::size_t n = stream.size(), begin = beginning(problem_, stream, plan_);
    int rounds = 4;
    for (const int lag : lag_) rounds = std::max(rounds, lag + 4);
    for (const Edge& e : problem_.edges) rounds = std::max(rounds, e.distance + 4);
    DeedCircle circle;
    for (int round = 0; round < rounds; ++round) {
      deeds_.clear();
      for (std::size_t k = 0; k < n; ++k) {
        const OpId op = stream[(begin + k) % n].op;
        step(op, round - lag_[op.index()]);
      }
    }
    circle.deeds = std::move(deeds_);
    return circle;
  }

 private:
  /// A product in flight.
  struct Flying {
    OpId op;
    std::int64_t iteration = 0;
  };

  bool mine(OpId op) const { return group_[op.index()] == here_; }
  /// The reader has to be told that the value is there.
  bool needs_wait(const Edge& e) const { return e.waits || !is_product(problem_, e.to); }

  Deed& add(Act act, OpId op) {
    deeds_.push_back({});
    deeds_.back().act = act;
    deeds_.back().op = op;
    return deeds_.back();
  }

  /// Until this product of this iteration has finished, if it is in flight. Those issued before it have, too.
  void drain(OpId product, std::int64_t iteration) {
    const auto found =
        std::find_if(flight_.begin(), flight_.end(), [&](const Flying& f) { return f.op == product && f.iteration == iteration; });
    if (found == flight_.end()) return;
    Deed& deed = add(Act::Drain, product);
    deed.behind = static_cast<int>(flight_.end() - found) - 1;
    deed.older = static_cast<int>(std::count_if(found + 1, flight_.end(), [&](const Flying& f) { return f.op == product; }));
    flight_.erase(flight_.begin(), found + 1);
  }

  /// Until an op has ended in that iteration.
  void await(OpId op, std::int64_t iteration, std::int64_t round, Cycle extra) {
    const auto [known, first] = seen_.emplace(op, iteration);
    if (!first && known->second >= iteration) return;
    known->second = iteration;
    Deed& deed = add(Act::Await, op);
    const bool made = group_[op.index()] < loop_.groups.size();
    deed.rounds_back = made ? static_cast<int>(round - (iteration + lag_[op.index()])) : kLongAgo;
    deed.extra = extra;
    deed.look = !mine(op) || problem_.op(op).variable_latency;
  }

  void step(OpId op, std::int64_t iteration) {
    own_results(op, iteration);
    own_registers(op, iteration);
    slots(op, iteration, true);
    if (const auto take = plan_.takes.find(op); take != plan_.takes.end()) add(Act::Take, op).turn = take->second;
    const bool product = is_product(problem_, op);
    for (const Edge& e : problem_.edges)
      if (e.to == op && (!mine(e.from) || is_copy(problem_, e.from)))
        await(e.from, iteration - e.distance, iteration + lag_[op.index()], mine(e.from) ? 0 : e.handoff + tail(e));
    slots(op, iteration, false);
    body(op);
    if (product) {
      flight_.push_back({op, iteration});
      if (!awaited_.contains(op)) drain(op, iteration - 1);
    }
    if (const auto pass = plan_.passes.find(op); pass != plan_.passes.end()) add(Act::Pass, op).turn = pass->second;
  }

  void own_results(OpId op, std::int64_t iteration) {
    for (const Edge& e : problem_.edges)
      if (e.to == op && mine(e.from) && is_product(problem_, e.from) && needs_wait(e)) drain(e.from, iteration - e.distance);
  }

  /// Products in flight that read an older copy of what this op writes.
  void own_registers(OpId op, std::int64_t iteration) {
    for (const Edge& e : problem_.edges) {
      if (e.from != op || e.hold <= 0 || !e.value.valid() || problem_.value(e.value).space != Space::Register) continue;
      if (!mine(e.to) || !is_product(problem_, e.to)) continue;
      std::optional<std::int64_t> newest;
      for (const Flying& f : flight_)
        if (f.op == e.to && f.iteration - e.distance < iteration) newest = f.iteration;
      if (newest) drain(e.to, *newest);
    }
  }

  /// Slots of rings that this op fills again: of readers in its own group, or in others.
  void slots(OpId op, std::int64_t iteration, bool own) {
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      if (channel.writer != op || c >= loop_.depths.size() || loop_.depths[c] <= 0) continue;
      for (const Reader& r : channel.readers) {
        const std::int64_t last = iteration - loop_.depths[c] + r.distance;
        if (mine(r.op) != own) continue;
        if (!own)
          await(r.op, last, iteration + lag_[op.index()], r.signal);
        else if (channel.only_if_crossing)
          continue;
        else if (is_product(problem_, r.op))
          drain(r.op, last);
        else if (is_copy(problem_, r.op))
          await(r.op, last, iteration + lag_[op.index()], 0);
      }
    }
  }

  /// Of arithmetic in another group: from its last instruction until its result can be used.
  Cycle tail(const Edge& e) const {
    const Op& from = problem_.op(e.from);
    return from.asynchronous || is_copy(problem_, e.from) ? 0 : std::max<Cycle>(0, e.latency - from.window);
  }

  void body(OpId id) {
    const Op& op = problem_.op(id);
    if (is_product(problem_, id)) {
      add(Act::Issue, id).count = std::max(1, op.instructions);
    } else if (is_copy(problem_, id)) {
      add(Act::Copy, id);
    } else {
      Deed& deed = add(Act::Work, id);
      if (problem_.contention.known) deed.work = op.work;
      if (deed.work == WarpWork{}) deed.work.alone = op.window * kTicks;
    }
  }

  const Problem& problem_;
  const JudgedProgram& loop_;
  const Turning& plan_;
  std::size_t here_;
  std::vector<std::size_t> group_;
  std::vector<int> lag_;               ///< in round j of its circle an op works on iteration j - lag
  std::set<OpId> awaited_;             ///< products that something in the loop waits for
  std::vector<Flying> flight_;         ///< oldest first
  std::map<OpId, std::int64_t> seen_;  ///< of other groups: the newest iteration that was waited for
  std::vector<Deed> deeds_;
};

bool is(const std::vector<Deed>& deeds, std::size_t at, Act act) { return at < deeds.size() && deeds[at].act == act; }
std::size_t end_of_work(const std::vector<Deed>& deeds, std::size_t from) {
  while (is(deeds, from, Act::Work)) ++from;
  return from;
}

/// Of the deed's work what lies between two moments of `whole`.
Deed slice_of(const Deed& deed, std::int64_t begin, std::int64_t end, std::int64_t whole) {
  Deed slice = deed;
  slice.opens = deed.opens && begin == 0;
  slice.closes = deed.closes && end == whole;
  for (std::int64_t WarpWork::*part : {&WarpWork::alone, &WarpWork::exposed, &WarpWork::reads, &WarpWork::specials, &WarpWork::issue})
    slice.work.*part = deed.work.*part * end / whole - deed.work.*part * begin / whole;
  return slice;
}

/// Habit 1.
std::vector<Deed> waits_joined(std::vector<Deed> deeds) {
  const std::size_t n = deeds.size();
  const auto movable = [&](std::size_t at) {
    bool works = false;
    while (at > 0 && (deeds[at - 1].act == Act::Work || (deeds[at - 1].act == Act::Await && deeds[at - 1].look)))
      works |= deeds[--at].act == Act::Work;
    return works && at > 0 && deeds[at - 1].act == Act::Issue;
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (deeds[i].act != Act::Drain || !movable(i)) continue;
    // Around the circle to the wait before; issues on the way are no longer behind this one.
    Deed wait = deeds[i];
    std::size_t before = (i + n - 1) % n;
    while (before != i && deeds[before].act != Act::Drain && !(deeds[before].act == Act::Issue && deeds[before].op == wait.op)) {
      wait.behind -= deeds[before].act == Act::Issue;
      before = (before + n - 1) % n;
    }
    if (before == i || deeds[before].act != Act::Drain) continue;
    const std::size_t place = end_of_work(deeds, before + 1);
    const auto at = [&](std::size_t k) { return deeds.begin() + static_cast<std::ptrdiff_t>(k); };
    if (place <= i) {
      std::rotate(at(place), at(i), at(i + 1));
      deeds[place] = wait;
    } else {
      std::rotate(at(i), at(i + 1), at(place));
      deeds[place - 1] = wait;
      --i;
    }
  }
  return deeds;
}

/// Habit 2.
std::vector<Deed> behind_the_second_wait(const Problem& problem, const std::vector<Deed>& deeds) {
  std::vector<Deed> out;
  for (std::size_t i = 0; i < deeds.size(); ++i) {
    out.push_back(deeds[i]);
    if (deeds[i].act != Act::Drain) continue;
    const std::size_t end = end_of_work(deeds, i + 1);
    if (end == i + 1 || !is(deeds, end, Act::Drain)) continue;
    std::vector<Deed> later;
    for (std::size_t k = i + 1; k < end; ++k) {
      const bool maximum = problem.op(deeds[k].op).kind == "reduce_max";
      if (maximum) out.push_back(slice_of(deeds[k], 0, 1, 2));
      later.push_back(maximum ? slice_of(deeds[k], 1, 2, 2) : deeds[k]);
    }
    out.push_back(deeds[end]);
    out.insert(out.end(), later.begin(), later.end());
    i = end;
  }
  return out;
}

/// Habit 3. The work that follows a product is cut at multiples of kBetween of its own time, one slice for each gap between instructions.
std::vector<Deed> between_instructions(const std::vector<Deed>& deeds) {
  std::vector<Deed> out;
  for (std::size_t i = 0; i < deeds.size();) {
    std::size_t from = i + 1;
    while (is(deeds, from, Act::Pass)) ++from;
    const std::size_t end = end_of_work(deeds, from);
    std::int64_t whole = 0;
    for (std::size_t k = from; k < end; ++k) whole += deeds[k].work.alone;
    if (deeds[i].act != Act::Issue || deeds[i].count < 2 || whole == 0) {
      out.push_back(deeds[i++]);
      continue;
    }
    const auto issue = [&](int count, bool opens, bool closes) {
      Deed part = deeds[i];
      part.count = count;
      part.opens = opens && deeds[i].opens;
      part.closes = closes && deeds[i].closes;
      out.push_back(part);
    };
    const auto slice = [&](std::int64_t begin, std::int64_t stop) {
      for (std::size_t k = from; k < end; ++k) out.push_back(slice_of(deeds[k], begin, stop, whole));
    };
    const std::int64_t gaps = std::min<std::int64_t>(deeds[i].count - 1, ceil_div(whole, kBetween));
    for (std::int64_t gap = 0; gap < gaps; ++gap) {
      issue(1, gap == 0, false);
      slice(gap * kBetween, std::min(whole, (gap + 1) * kBetween));
    }
    issue(deeds[i].count - static_cast<int>(gaps), false, true);
    for (std::size_t k = i + 1; k < from; ++k) out.push_back(deeds[k]);
    if (gaps * kBetween < whole) slice(gaps * kBetween, whole);
    i = end;
  }
  return out;
}

bool reads(const Problem& problem, OpId reader, OpId from) {
  return std::any_of(problem.edges.begin(), problem.edges.end(),
                     [&](const Edge& e) { return e.from == from && e.to == reader && e.value.valid(); });
}

/// Habit 4, of the stretch [begin, end).
void hide(const Problem& problem, std::vector<Deed>& deeds, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  const auto at = [&](std::size_t i) { return deeds.begin() + static_cast<std::ptrdiff_t>(i); };
  const Deed host = *std::max_element(at(begin), at(end), [](const Deed& a, const Deed& b) { return a.work.specials < b.work.specials; });
  if (host.work.specials == 0) return;
  for (std::size_t k = begin; k < end; ++k) {
    WarpWork& work = deeds[k].work;
    if (deeds[k].op == host.op || work.issue > kCyclesOfSpecial * host.work.specials) continue;
    const std::int64_t hideable = work.alone - work.exposed;
    if (work.specials > 0)
      work.alone = work.exposed + std::min(hideable, work.issue - work.specials);
    else if (reads(problem, deeds[k].op, host.op))
      work.alone = work.exposed + hideable * problem.contention.hidden.value / 100;
    else if (reads(problem, host.op, deeds[k].op))
      work.alone = work.exposed + hideable / 4;
  }
}

}  // namespace

bool is_product(const Problem& problem, OpId op) {
  const Op& o = problem.op(op);
  return o.asynchronous && !o.variable_latency && tensor_unit(problem, o).has_value();
}

bool is_copy(const Problem& problem, OpId op) {
  const Op& o = problem.op(op);
  return !is_product(problem, op) && (o.asynchronous || (problem.contention.known && o.work == WarpWork{}));
}

JudgedProgram loop_of(const Problem& problem, const Schedule& schedule) {
  JudgedProgram loop;
  loop.depths = schedule.depths;
  loop.groups.resize(schedule.groups.size());
  std::vector<OpId> by_slot;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) by_slot.push_back(OpId(v));
  std::stable_sort(by_slot.begin(), by_slot.end(), [&](OpId a, OpId b) {
    return std::pair(schedule.slot(a), problem.op(a).window > 0) < std::pair(schedule.slot(b), problem.op(b).window > 0);
  });
  std::set<GroupId> works;
  for (const OpId op : by_slot) {
    loop.groups[schedule.group(op).index()].push_back({op, schedule.stage(op)});
    if (!problem.op(op).asynchronous && problem.op(op).window > 0) works.insert(schedule.group(op));
  }
  if (!schedule.turns) return loop;
  std::map<std::size_t, std::vector<std::pair<Cycle, OpId>>> products;  // by unit
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      if (problem.unit(use.unit).role == UnitRole::Tensor && use.duration > 0 && 2 * use.amount > problem.unit(use.unit).capacity)
        products[use.unit.index()].emplace_back(modulo(schedule.start(OpId(v)) + use.offset, schedule.ii), OpId(v));
  for (auto& [unit, list] : products) {
    std::sort(list.begin(), list.end());
    std::size_t changes = 0;
    bool worth = true;
    for (std::size_t k = 0; k < list.size(); ++k) {
      const GroupId group = schedule.group(list[k].second);
      changes += group != schedule.group(list[(k + 1) % list.size()].second);
      worth = worth && works.contains(group) && schedule.groups[group.index()].warps == 4;
    }
    if (!worth || changes == 0 || changes > kMostHands) continue;
    for (const auto& [slot, op] : list) loop.turns.push_back(op);
    break;
  }
  return loop;
}

DeedCircles circles_of(const Problem& problem, const JudgedProgram& loop) {
  const TurnPlan plan = plan_turns(loop, group_of_ops(problem, loop));
  DeedCircles circles;
  circles.turns = plan.owners;
  for (std::size_t g = 0; g < loop.groups.size(); ++g)
    circles.groups.push_back(compiled(problem, StreamReading(problem, loop, plan, g).read()));
  return circles;
}

DeedCircle text_circle_of(const Problem& problem, const std::vector<Placed>& stream, const Turning& turning) {
  const JudgedProgram alone{{stream}, {}, {}};
  return StreamReading(problem, alone, turning, 0).read();
}

DeedCircle circle_of(const Problem& problem, const std::vector<Placed>& stream, const Turning& turning) {
  return compiled(problem, text_circle_of(problem, stream, turning));
}

DeedCircle compiled(const Problem& problem, DeedCircle circle) {
  if (!problem.contention.reordered) return circle;
  circle.deeds = between_instructions(behind_the_second_wait(problem, waits_joined(std::move(circle.deeds))));
  for (std::size_t i = 0; i < circle.deeds.size(); ++i) {
    const std::size_t end = end_of_work(circle.deeds, i);
    hide(problem, circle.deeds, i, end);
    i = end;
  }
  return circle;
}

std::string signature(const DeedCircle& circle, const std::vector<std::size_t>& number) {
  std::string text;
  std::vector<std::string> tokens;
  const auto& deeds = circle.deeds;
  for (std::size_t i = 0; i < deeds.size(); ++i) {
    const Deed& d = deeds[i];
    const std::size_t n = d.op.valid() ? number[d.op.index()] : 0;
    switch (d.act) {
      case Act::Take: tokens.emplace_back("t"); break;
      case Act::Pass: tokens.emplace_back("p"); break;
      case Act::Issue: tokens.push_back(fmt::format("{}{}", d.opens && d.closes ? 'i' : d.opens ? 'f' : 'l', n)); break;
      case Act::Drain: tokens.push_back(d.older > 0 ? fmt::format("w{}-{}", n, d.older) : fmt::format("w{}", n)); break;
      case Act::Copy: tokens.push_back(fmt::format("c{}", n)); break;
      case Act::Await: {
        const bool after_work = i > 0 && deeds[i - 1].act == Act::Work;
        while (is(deeds, i + 1, Act::Await)) ++i;
        if (after_work && is(deeds, i + 1, Act::Work)) tokens.emplace_back("|");
        break;
      }
      case Act::Work: {
        const std::size_t end = end_of_work(deeds, i);
        std::vector<std::pair<std::size_t, bool>> ops;
        for (std::size_t k = i; k < end; ++k) ops.emplace_back(number[deeds[k].op.index()], !(deeds[k].opens && deeds[k].closes));
        std::sort(ops.begin(), ops.end());
        std::string stretch = "a{";
        for (const auto& [op, half] : ops) stretch += fmt::format("{}{}{}", stretch.size() > 2 ? "," : "", op, half ? "/2" : "");
        tokens.push_back(stretch + "}");
        i = end - 1;
      }
    }
  }
  for (const std::string& token : tokens) text += (text.empty() ? "" : " ") + token;
  return text;
}

}  // namespace heddle::check_period
