// All that can happen at a moment happens (settle), then time goes on to the next moment at which something can. What happens at every
// moment is inline, because compilers put it into run() then, which takes a tenth off.
#include "core/motion/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/integer_division.h"
#include "core/problem/warp_work.h"

namespace heddle::motion {
namespace {

constexpr std::int64_t kWhole = std::int64_t{1} << 40, kShare = 1 << 16;

/// Pre: x >= 0, and the divisor is positive.
std::int64_t rounded_up(std::int64_t x, std::int64_t divisor) { return (x + divisor - 1) / divisor; }

std::int64_t share(std::int64_t work, Ticks time) { return ceil_div(work * kShare, time); }

std::array<MotionPace, kBesides> paces_of(const WarpWork& work, const Contention& c) {
  std::array<MotionPace, kBesides> paces;
  for (std::size_t b = 0; b < kBesides; ++b) {
    std::int64_t late = 0;
    if (b != kNothing) late = c.late_per_read.of(b == kRegisters).value * work.reads + c.late_per_special.value * work.specials;
    const Ticks time = std::max<Ticks>(1, work.alone + ceil_div(late, 1000));
    paces[b] = {kWhole / time, share(kCyclesOfSpecial * work.specials, time), share(work.issue, time), share(work.reads, time)};
  }
  return paces;
}

/// Last cycle of an mma on the tensor core until what waits for it goes on.
Ticks drain(const Problem& problem, OpId op) {
  if (const std::int64_t done = problem.contention.product_done.value; done > 0) return done * kCycle;
  return std::max<Cycle>(0, problem.op(op).latency - tensor_cycles(problem.op(op), problem.units)) * kCycle;
}

}  // namespace

RunCircle::RunCircle(const Problem& problem, const std::vector<CircleStep>& circle) {
  for (const CircleStep& own : circle) {
    RunStep& step = steps.emplace_back(RunStep{own, {}, {}, own.latency});
    stages = std::max(stages, step.stage);
    const auto same_op = [&](const auto& known) { return known.op == step.op; };
    if (step.kind == CircleStepKind::Await) {
      distance = std::max(distance, step.distance);
      auto known = std::find_if(awaited.begin(), awaited.end(), same_op);
      if (known == awaited.end()) known = awaited.insert(known, {step.op, 0});
      known->longest_extra = std::max(known->longest_extra, step.extra);
      continue;
    }
    if (step.op.valid() && std::none_of(ops.begin(), ops.end(), same_op)) ops.push_back({step.op, -step.stage});
    if (step.kind == CircleStepKind::Arithmetic) step.paces = paces_of(step.work, problem.contention);
    if (step.kind == CircleStepKind::Issue) {
      step.drain = drain(problem, step.op);
      has_mmas = true;
    }
    if (step.kind != CircleStepKind::Copy) continue;
    const Op& op = problem.op(step.op);
    if (const std::int64_t percent = problem.contention.first_loads.value; percent > 0 && op.variable_latency)
      step.first_latency = ceil_div(step.latency * percent, 100);
    for (const UnitUse& use : op.uses) {
      const Unit& unit = problem.unit(use.unit);
      if (is_arithmetic(unit.role)) continue;
      step.uses.push_back({use.unit.index(), use.offset * kCycle, ceil_div(use.duration * use.amount * kCycle, unit.capacity)});
    }
  }
}

Runner::Runner(const Problem& problem, const RunProgram& program, const MotionOptions& options)
    : problem_(problem), program_(program), options_(options), numbers_(problem.contention) {
  begin_groups();
  begin_ops();
  free_.assign(problem.units.size(), 0);
  constexpr std::size_t kUsually = 64;
  queue_.reserve(kUsually);
}

void Runner::begin_groups() {
  bool has_mmas = false;
  for (std::size_t g = program_.circles.size(); g-- > 0;) {
    const RunCircle& circle = *program_.circles[g];
    if (circle.steps.empty() || (has_mmas && !circle.has_mmas)) continue;
    leader_ = g;
    has_mmas |= circle.has_mmas;
  }
  groups_.resize(program_.circles.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].index = g;
    groups_[g].circle = program_.circles[g];
    if (groups_[g].circle->steps.empty())
      groups_[g].wait_until(kNever);
    else
      groups_[g].step = groups_[g].circle->steps.data();
  }
}

void Runner::begin_ops() {
  ops_.resize(problem_.ops.size());
  int stages = 0, distance = 0;
  for (const RunCircle* circle : program_.circles) {
    stages = std::max(stages, circle->stages);
    distance = std::max(distance, circle->distance);
    for (const RunCircle::Instances& own : circle->ops) ops_[own.op.index()].first = ops_[own.op.index()].begun = own.first;
    for (const RunCircle::Awaited& awaited : circle->awaited) {
      OpState& op = ops_[awaited.op.index()];
      if (!op.awaited) awaited_.push_back(awaited.op);
      op.awaited = true;
      op.longest_extra = std::max(op.longest_extra, awaited.longest_extra);
    }
  }
  constexpr std::int64_t kMostKept = 64;  // what began so many instances ago has ended
  kept_ = std::bit_ceil(static_cast<std::size_t>(std::clamp<std::int64_t>(std::int64_t{stages} + distance + 2, 2, kMostKept)));
  ends_.assign(ops_.size() * kept_, 0);
}

Motion Runner::run() {
  if (groups_.empty() || !groups_[leader_].step) return {};
  constexpr int kEventsPerLook = 64;
  settle();
  for (int events = 0; !done_; ++events) {
    if (events % kEventsPerLook == 0 && options_.stop.stop_requested()) return {};
    if (!next_event()) break;
    settle();
  }
  if (done_ && !starved_) return finished();
  Motion motion;
  motion.stuck = true;
  motion.fault = stuck_text();
  return motion;
}

inline void Runner::settle() {
  serve();
  do {
    woken_ = false;
    for (GroupState& g : groups_)
      while (g.due <= now_ && !done_)
        if (!move(g) && g.due <= now_) g.block();
  } while (woken_ && !done_);
}

/// Groups that are blocked at such a step look again.
inline void Runner::wake(CircleStepKind kind) {
  for (GroupState& g : groups_)
    if (g.blocked && g.step->kind == kind) {
      g.unblock();
      woken_ = true;
    }
}

/// Whether anything changed.
inline bool Runner::move(GroupState& g) {
  switch (g.step->kind) {
    case CircleStepKind::Arithmetic:
      g.running = true;
      g.due = kNever;  // rates are still to come
      rates_hold_ = false;
      g.left = kWhole;
      g.rate = 0;
      g.counted = now_;
      if (g.step->first) begin_instance(*g.step, g.turn);
      return true;
    case CircleStepKind::Issue: return move_issue(g);
    case CircleStepKind::Copy:
      if (g.begun)
        next_step(g);
      else
        start_copy(g);
      return true;
    case CircleStepKind::Await: return move_await(g);
    case CircleStepKind::Take:
      if (turn_ != g.step->turn) return false;
      g.wait_until(turn_from_);
      if (turn_from_ > now_) return false;
      next_step(g);
      return true;
    case CircleStepKind::Pass:
      turn_ = (g.step->turn + 1) % program_.turns.size();
      turn_from_ = now_ + numbers_.turn.value * kCycle;
      next_step(g);
      wake(CircleStepKind::Take);
      return true;
  }
  return false;
}

inline bool Runner::move_issue(GroupState& g) {
  const RunStep& step = *g.step;
  if (!g.begun) {
    g.begun = true;
    if (step.first) {
      begin_instance(step, g.turn);
      g.wait_until(now_ + (numbers_.fence.value + (step.registers ? numbers_.register_fence.value : 0)) * kCycle);
    }
    return true;
  }
  if (g.issued == step.count) {
    if (now_ < g.since + step.held)
      g.wait_until(g.since + step.held);
    else
      next_step(g);
    return true;
  }
  if (is_full()) return false;
  accept(g);
  return true;
}

/// No instruction more is accepted.
inline bool Runner::is_full() const { return numbers_.in_flight.value > 0 && in_flight_ >= numbers_.in_flight.value; }

/// The next instruction of the step that the group does.
inline void Runner::accept(GroupState& g) {
  ++g.issued;
  ++in_flight_;
  const bool waits = g.batch != kNone && g.batch >= queue_begin_;
  if (!waits) {
    g.batch = queue_.size();
    queue_.push_back({g.index, g.step, g.turn, 0, false});
  }
  ++queue_[g.batch].count;
  queue_[g.batch].closed = g.issued == g.step->count && g.step->last;
  g.wait_until(now_ + numbers_.issue_step.value * kCycle);
  serve();
  if (g.issued < g.step->count && is_full()) g.block();
}

inline bool Runner::move_await(GroupState& g) {
  if (!g.begun) {
    g.begun = true;
    if (g.step->ready > 0) {
      g.wait_until(now_ + g.step->ready);
      return true;
    }
  }
  const Ticks end = end_of(g.step->op, g.turn - g.step->stage - g.step->distance);
  if (end >= kNever) return false;
  g.wait_until(end + g.step->extra);
  if (g.ready > now_) return false;
  next_step(g);
  return true;
}

inline void Runner::start_copy(GroupState& g) {
  const RunStep& step = *g.step;
  Ticks late = 0;
  for (const RunStep::Use& use : step.uses) {
    Ticks& free = free_[use.unit];
    const Ticks wanted = now_ + use.offset, begin = std::max(wanted, free);
    late = std::max(late, begin - wanted);
    if (use.duration > 0) free = begin + use.duration;
  }
  begin_instance(step, g.turn);
  end_instance(step, g.turn, now_ + late + (g.turn < kFirstTurns ? step.first_latency : step.latency));
  g.begun = true;
  g.wait_until(now_ + step.held);
}

/// The tensor core takes the next instruction of the step that began first.
inline void Runner::serve() {
  if (tensor_.busy || queue_begin_ == queue_.size()) return;
  Batch& batch = queue_[queue_begin_];
  --batch.count;
  const std::int64_t left = batch.step->each * kShare;
  tensor_ = {
      true, batch.group, batch.step, batch.turn, left, batch.closed && batch.count == 0, now_, now_, now_ + rounded_up(left, speed_)};
  if (batch.count == 0) ++queue_begin_;
}

inline std::size_t Runner::beside() const {
  if (!tensor_.busy) return kNothing;
  return tensor_.step->registers ? kRegisters : kShared;
}

/// What goes on as fast as before ends when it would have.
inline void Runner::update_rates() {
  const std::size_t now_beside = beside();
  std::int64_t specials = 0, issue = 0, reads = 0;
  for (const GroupState& g : groups_)
    if (g.running) {
      const MotionPace& pace = g.step->paces[now_beside];
      specials += pace.specials;
      issue += pace.issue;
      reads += pace.reads;
    }
  const std::int64_t over = std::max({kShare, specials, issue}), slow = over == kShare ? kShare : kShare * kShare / over;
  for (GroupState& g : groups_)
    if (g.running) {
      std::int64_t rate = g.step->paces[now_beside].rate;
      if (over != kShare) rate = std::max<std::int64_t>(1, static_cast<std::int64_t>((static_cast<__int128>(rate) * slow) >> 16));
      if (rate == g.rate) continue;
      g.left = g.left_at(now_);
      g.counted = now_;
      g.rate = rate;
      g.due = now_ + rounded_up(g.left, rate);
    }
  std::int64_t speed = kShare;
  if (tensor_.busy && reads > 0) {
    const RangedNumber& taken = tensor_.step->registers ? numbers_.product_per_read.registers : numbers_.product_per_read.shared;
    speed = std::max(kShare / 20, kShare - rounded_up(taken.value * rounded_up(reads * slow, kShare), 1000));
  }
  if (tensor_.busy && speed != speed_) {
    tensor_.left -= (now_ - tensor_.counted) * speed_;
    tensor_.counted = now_;
    tensor_.finish = now_ + rounded_up(tensor_.left, speed);
  }
  speed_ = speed;
  rates_beside_ = now_beside;
  rates_hold_ = true;
}

/// Goes on to the next moment at which something can happen. False: there is none.
inline bool Runner::next_event() {
  if (!rates_hold_ || beside() != rates_beside_) update_rates();
  Ticks next = tensor_.busy ? tensor_.finish : kNever;
  for (const GroupState& g : groups_) next = std::min(next, g.due);
  if (next >= kNever) return false;
  now_ = next;
  if (tensor_.busy && tensor_.finish <= now_) end_instruction();
  for (GroupState& g : groups_)
    if (g.running && g.due <= now_) {
      g.running = false;
      rates_hold_ = false;
      if (g.step->last) end_instance(*g.step, g.turn, now_);
      next_step(g);
    }
  return true;
}

inline void Runner::end_instruction() {
  if (options_.spans) {
    const auto at = static_cast<std::size_t>(tensor_.step - groups_[tensor_.group].circle->steps.data());
    spans_.push_back({tensor_.group, at, true, tensor_.turn, tensor_.since, now_, ""});
  }
  tensor_.busy = false;
  --in_flight_;
  wake(CircleStepKind::Issue);
  if (tensor_.closes) end_instance(*tensor_.step, tensor_.turn, now_ + tensor_.step->drain);
}

inline void Runner::next_step(GroupState& g) {
  if (options_.spans) record(g);
  g.begun = false;
  g.issued = 0;
  g.batch = kNone;
  g.since = now_;
  if (++g.step != g.circle->steps.data() + g.circle->steps.size()) return;
  g.step = g.circle->steps.data();
  ++g.turn;
  if (g.wrapped == now_) g.wait_until(std::max(g.ready, now_ + 1));  // a circle that takes no time at all
  g.wrapped = now_;
  if (g.index == leader_) return sample();
  constexpr std::int64_t kFarAhead = 16;
  starved_ |= g.turn - groups_[leader_].turn > kFarAhead * std::max<std::int64_t>(2, options_.most_turns);
  done_ |= starved_;
}

/// kNever: not known yet.
inline Ticks Runner::end_of(OpId op, std::int64_t instance) const {
  const OpState& of = ops_[op.index()];
  if (instance < of.first || instance < of.begun - static_cast<std::int64_t>(kept_)) return 0;
  if (instance >= of.begun) return kNever;
  return ends_[slot(op, instance)];
}

/// Of the step's op, in this turn of its group.
inline void Runner::begin_instance(const RunStep& step, std::int64_t turn) {
  const std::int64_t instance = turn - step.stage;
  ops_[step.op.index()].begun = instance + 1;
  ends_[slot(step.op, instance)] = kNever;
}

inline void Runner::end_instance(const RunStep& step, std::int64_t turn, Ticks when) {
  ends_[slot(step.op, turn - step.stage)] = when;
  if (ops_[step.op.index()].awaited) wake(CircleStepKind::Await);
}

void Runner::Digest::add(std::int64_t word) {
  const auto bits = static_cast<std::uint64_t>(word);
  a_ = (a_ ^ bits) * 0x9e3779b97f4a7c15ull;
  b_ = (b_ + bits) * 0xbf58476d1ce4e5b9ull;
  a_ ^= a_ >> 32;
  b_ ^= b_ >> 29;
}

/// Everything that decides what happens from now on, without the time.
Runner::Digest Runner::state() const {
  Digest digest;
  const std::int64_t base = groups_[leader_].turn;
  const auto later = [&](Ticks when) { return std::max<Ticks>(0, when - now_); };
  const auto place = [&](std::size_t group, const RunStep* step) {
    return (step - groups_[group].circle->steps.data()) * 64 + static_cast<std::int64_t>(group);
  };
  for (const GroupState& g : groups_) {
    if (!g.step) continue;
    digest.add(place(g.index, g.step) * 4 + (g.running ? 1 : 0) + (g.begun ? 2 : 0));
    digest.add(g.turn - base);
    digest.add(g.running ? g.left_at(now_) : later(g.ready));
    digest.add(g.issued);
  }
  digest.add(static_cast<std::int64_t>(queue_.size() - queue_begin_));
  for (std::size_t b = queue_begin_; b < queue_.size(); ++b) {
    const Batch& batch = queue_[b];
    digest.add((place(batch.group, batch.step) * 2 + (batch.closed ? 1 : 0)) * 4096 + batch.count);
    digest.add(batch.turn - base);
  }
  digest.add(tensor_.busy ? tensor_.left - (now_ - tensor_.counted) * speed_ : -1);
  digest.add(tensor_.busy ? place(tensor_.group, tensor_.step) * 2 + (tensor_.closes ? 1 : 0) : 0);
  digest.add(tensor_.busy ? tensor_.turn - base : 0);
  digest.add(static_cast<std::int64_t>(turn_));
  digest.add(later(turn_from_));
  for (const Ticks free : free_) digest.add(later(free));
  for (const OpId awaited : awaited_) {
    const OpState& op = ops_[awaited.index()];
    digest.add(op.begun - base);
    for (std::size_t back = 1; back <= kept_; ++back) {
      const std::int64_t instance = op.begun - static_cast<std::int64_t>(back);
      const Ticks end = instance < op.first ? 0 : ends_[slot(awaited, instance)];
      digest.add(end >= kNever ? -1 : later(end + op.longest_extra));
    }
  }
  return digest;
}

void Runner::sample() {
  times_.push_back(now_);
  done_ = static_cast<std::int64_t>(times_.size()) >= std::max<std::int64_t>(2, options_.most_turns);
  // The first turns are other than all later ones, whatever their state.
  if (std::any_of(groups_.begin(), groups_.end(), [](const GroupState& g) { return g.step && g.turn < kFirstTurns; })) return;
  const Digest now = state();
  const std::size_t first_turns = times_.size() - 1 - digests_.size();
  for (std::size_t k = digests_.size(); k-- > 0 && repeats_ == 0;)
    if (digests_[k] == now) repeats_ = first_turns + k + 1;
  digests_.push_back(now);
  done_ |= repeats_ > 0;
}

namespace {

/// By begin; instructions of an mma that follow each other without a gap are one span.
void join_instructions(std::vector<MotionSpan>& spans) {
  std::stable_sort(spans.begin(), spans.end(),
                   [](const MotionSpan& a, const MotionSpan& b) { return std::pair(!a.tensor, a.begin) < std::pair(!b.tensor, b.begin); });
  std::vector<MotionSpan> joined;
  for (MotionSpan& span : spans) {
    MotionSpan* before = joined.empty() ? nullptr : &joined.back();
    if (before && before->tensor && span.tensor && before->group == span.group && before->step == span.step && before->end == span.begin)
      before->end = span.end;
    else
      joined.push_back(std::move(span));
  }
  std::stable_sort(joined.begin(), joined.end(), [](const MotionSpan& a, const MotionSpan& b) { return a.begin < b.begin; });
  spans = std::move(joined);
}

}  // namespace

Motion Runner::finished() const {
  Motion motion;
  const std::size_t last = times_.size() - 1, from = repeats_ > 0 ? repeats_ - 1 : last / 2;
  motion.period = {times_[last] - times_[from], static_cast<std::int64_t>(last - from), repeats_ > 0};
  const Ticks begin = times_[from];
  for (MotionSpan span : spans_) {
    if (span.end <= begin || span.end > times_[last]) continue;
    // What began before this period begins in it as well, a period later.
    const bool later = span.begin < begin;
    span.begin += (later ? motion.period.ticks : 0) - begin;
    span.end += (later ? motion.period.ticks : 0) - begin;
    span.turn += later ? motion.period.iterations : 0;
    motion.spans.push_back(std::move(span));
  }
  join_instructions(motion.spans);
  return motion;
}

void Runner::record(const GroupState& g) {
  const CircleStep& step = *g.step;
  if (now_ == g.since) return;
  const bool waits = step.kind == CircleStepKind::Await || step.kind == CircleStepKind::Take;
  spans_.push_back({g.index, g.at(), false, g.turn, g.since, now_, waits ? why(g) : ""});
}

std::string Runner::why(const GroupState& g) const {
  const CircleStep& step = *g.step;
  if (step.kind == CircleStepKind::Take) {
    const std::size_t turns = program_.turns.size();
    return fmt::format("turn of group {}", program_.turns[(step.turn + turns - 1) % turns]);
  }
  const std::string& name = problem_.op(step.op).name;
  if (step.credit) return fmt::format("ring {} has no free slot before {} has ended", problem_.channel(step.channel).name, name);
  return fmt::format("{} runs until then", name);
}

std::string Runner::stuck_text() const {
  std::string text;
  for (const GroupState& g : groups_) {
    if (!g.step) continue;
    const CircleStep& step = *g.step;
    text += fmt::format("{}group {} ", text.empty() ? "" : "; ", g.index);
    if (step.kind == CircleStepKind::Take)
      text += fmt::format("waits for its turn, which is group {}'s", program_.turns[turn_]);
    else if (step.kind == CircleStepKind::Await)
      text += fmt::format("waits for {}{}", problem_.op(step.op).name,
                          step.credit ? fmt::format(" to free a slot of ring {}", problem_.channel(step.channel).name) : "");
    else
      text += "does not go on";
  }
  return text;
}

}  // namespace heddle::motion
