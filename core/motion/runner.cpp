// All that can happen at a moment happens (settle), then time goes on to the next moment at which something can.
#include "core/motion/runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "core/base/integer_division.h"
#include "core/problem/warp_work.h"

namespace heddle::motion {
namespace {

constexpr std::int64_t kWhole = std::int64_t{1} << 40, kShare = 1 << 16;

/// Pre: x >= 0, and the divisor is positive.
std::int64_t rounded_up(std::int64_t x, std::int64_t divisor) { return (x + divisor - 1) / divisor; }

std::int64_t share(std::int64_t work, Ticks time) { return ceil_div(work * kShare, time); }

MotionPace pace_of(const WarpWork& work, const Contention& c) {
  MotionPace pace;
  for (std::size_t b = 0; b < kBesides; ++b) {
    std::int64_t late = 0;
    if (b != kNothing) late = c.late_per_read.of(b == kRegisters).value * work.reads + c.late_per_special.value * work.specials;
    const Ticks time = std::max<Ticks>(1, work.alone + ceil_div(late, 1000));
    pace.rate[b] = kWhole / time;
    pace.specials[b] = share(kCyclesOfSpecial * work.specials, time);
    pace.issue[b] = share(work.issue, time);
    pace.reads[b] = share(work.reads, time);
  }
  return pace;
}

/// Last cycle of an mma on the tensor core until what waits for it goes on.
Ticks drain(const Problem& problem, OpId op) {
  if (const std::int64_t done = problem.contention.product_done.value; done > 0) return done * kCycle;
  return std::max<Cycle>(0, problem.op(op).latency - tensor_cycles(problem.op(op), problem.units)) * kCycle;
}

}  // namespace

Parts::Parts(const Problem& problem, const GroupCircles& circles) {
  const Contention& c = problem.contention;
  product_per_read = {0, c.product_per_read.shared.value, c.product_per_read.registers.value};
  turn = c.turn.value * kCycle;
  in_flight = c.in_flight.value;
  if (c.first_loads.value > 0) first_loads = c.first_loads.value;
  fence = c.fence.value * kCycle;
  register_fence = c.register_fence.value * kCycle;
  issue_step = c.issue_step.value * kCycle;
  units = problem.units.size();
  std::vector<std::int32_t> number(problem.ops.size(), -1);
  std::vector<int> first(problem.ops.size(), 0);
  int stages = 0, far = 0;
  bool found = false;
  for (std::size_t g = 0; g < circles.groups.size(); ++g)
    for (const CircleStep& step : circles.groups[g]) {
      stages = std::max(stages, step.stage);
      if (step.kind == CircleStepKind::Issue && !found) leader = g, found = true;
      if (step.kind != CircleStepKind::Await) {
        if (step.op.valid()) first[step.op.index()] = -step.stage;
        continue;
      }
      far = std::max(far, step.distance);
      std::int32_t& n = number[step.op.index()];
      if (n < 0) {
        n = static_cast<std::int32_t>(awaited.size());
        awaited.push_back({step.op, 0, 0});
      }
      Ticks& extra = awaited[static_cast<std::size_t>(n)].longest_extra;
      extra = std::max(extra, step.extra);
    }
  for (std::size_t g = 0; g < circles.groups.size() && !found; ++g)
    if (!circles.groups[g].empty()) leader = g, found = true;
  for (Awaited& a : awaited) a.first = first[a.op.index()];
  constexpr std::int64_t kMostKept = 64;  // what began so many instances ago has ended
  kept = std::bit_ceil(static_cast<std::size_t>(std::clamp<std::int64_t>(std::int64_t{stages} + far + 2, 2, kMostKept)));
  for (const std::vector<CircleStep>& circle : circles.groups) {
    std::vector<StepPart>& list = steps.emplace_back();
    for (const CircleStep& step : circle) {
      StepPart& part = list.emplace_back();
      if (step.op.valid()) part.awaited = number[step.op.index()];
      if (step.kind == CircleStepKind::Arithmetic) part.pace = pace_of(step.work, c);
      if (step.kind == CircleStepKind::Copy)
        for (const UnitUse& use : problem.op(step.op).uses) {
          const Unit& unit = problem.unit(use.unit);
          if (unit.role == UnitRole::Float || unit.role == UnitRole::Alu || unit.role == UnitRole::Special) continue;
          part.uses.push_back({use.unit.index(), use.offset * kCycle, ceil_div(use.duration * use.amount * kCycle, unit.capacity)});
        }
    }
  }
}

Runner::Runner(const Problem& problem, const GroupCircles& circles, const Parts& parts, const MotionOptions& options)
    : problem_(problem), circles_(circles), parts_(parts), options_(options) {
  groups_.resize(circles.groups.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    groups_[g].index = g;
    groups_[g].blocked = circles.groups[g].empty();
    groups_[g].queue.reserve(8);
  }
  free_.assign(parts.units, 0);
  ends_.assign(parts.awaited.size() * parts.kept, 0);
  for (const Parts::Awaited& a : parts.awaited) begun_.push_back(a.first);
}

Motion Runner::run() {
  if (groups_.empty() || circles_.groups[parts_.leader].empty()) return {};
  settle();
  while (!done_) {
    if (options_.stop.stop_requested()) return {};
    if (!next_event()) break;
    settle();
  }
  if (done_ && !starved_) return finished();
  Motion motion;
  motion.stuck = true;
  motion.fault = stuck_text();
  return motion;
}

void Runner::settle() {
  bool moved = true;
  while (moved && !done_) {
    moved = false;
    for (GroupState& g : groups_) {
      serve();
      while (!g.running && !g.blocked && g.ready <= now_ && !done_) {
        if (move(g))
          moved = true;
        else if (g.ready <= now_)
          g.blocked = true;
      }
    }
  }
  serve();
}

/// Something happened that a group may wait for.
void Runner::unblock() {
  for (GroupState& g : groups_) g.blocked = circle_of(g).empty();
}

/// Whether anything changed.
bool Runner::move(GroupState& g) {
  const CircleStep& step = step_of(g);
  switch (step.kind) {
    case CircleStepKind::Arithmetic:
      g.running = true;
      rates_hold_ = false;
      g.left = kWhole;
      g.rate = 0;
      if (step.first) begin_instance(part_of(g).awaited, g.turn - step.stage);
      return true;
    case CircleStepKind::Issue: return move_issue(g, step);
    case CircleStepKind::Copy:
      if (g.begun)
        next_step(g);
      else
        start_copy(g, step);
      return true;
    case CircleStepKind::Await: return move_await(g, step);
    case CircleStepKind::Take:
      if (turn_ != step.turn) return false;
      g.ready = turn_from_;
      if (turn_from_ > now_) return false;
      next_step(g);
      return true;
    case CircleStepKind::Pass:
      turn_ = (step.turn + 1) % circles_.turns.size();
      turn_from_ = now_ + parts_.turn;
      next_step(g);
      unblock();
      return true;
  }
  return false;
}

bool Runner::move_issue(GroupState& g, const CircleStep& step) {
  if (!g.begun) {
    g.begun = true;
    if (step.first) {
      begin_instance(part_of(g).awaited, g.turn - step.stage);
      g.ready = now_ + parts_.fence + (step.registers ? parts_.register_fence : 0);
    }
    return true;
  }
  if (g.issued == step.count) {
    if (now_ < g.since + step.held)
      g.ready = g.since + step.held;
    else
      next_step(g);
    return true;
  }
  if (parts_.in_flight > 0 && in_flight() >= parts_.in_flight) return false;
  ++g.issued;
  ++g.queued;
  if (g.queue.empty() || g.queue.back().step != g.at || g.queue.back().turn != g.turn)
    g.queue.push_back({g.at, g.turn, 0, accepted_++, false});
  ++g.queue.back().count;
  g.queue.back().closed = g.issued == step.count && step.last;
  g.ready = now_ + parts_.issue_step;
  serve();
  return true;
}

/// Accepted and not ended.
std::int64_t Runner::in_flight() const {
  std::int64_t sum = tensor_.busy ? 1 : 0;
  for (const GroupState& g : groups_) sum += g.queued;
  return sum;
}

bool Runner::move_await(GroupState& g, const CircleStep& step) {
  if (!g.begun) {
    g.begun = true;
    g.ready = now_ + step.ready;
    return true;
  }
  const Ticks end = end_of(part_of(g).awaited, g.turn - step.stage - step.distance);
  if (end >= kNever) return false;
  g.ready = end + step.extra;
  if (g.ready > now_) return false;
  next_step(g);
  return true;
}

void Runner::start_copy(GroupState& g, const CircleStep& step) {
  const Parts::StepPart& part = part_of(g);
  Ticks late = 0;
  for (const Parts::Use& use : part.uses) {
    Ticks& free = free_[use.unit];
    const Ticks wanted = now_ + use.offset, begin = std::max(wanted, free);
    late = std::max(late, begin - wanted);
    if (use.duration > 0) free = begin + use.duration;
  }
  begin_instance(part.awaited, g.turn - step.stage);
  const bool first = g.turn < kFirstTurns && problem_.op(step.op).variable_latency;
  const Ticks latency = first ? ceil_div(step.latency * parts_.first_loads, 100) : step.latency;
  end_instance(part.awaited, g.turn - step.stage, now_ + late + latency);
  g.begun = true;
  g.ready = now_ + step.held;
}

/// The tensor core takes the next instruction of the step that began first.
void Runner::serve() {
  if (tensor_.busy) return;
  GroupState* next = nullptr;
  for (GroupState& g : groups_)
    if (g.queued > 0 && (!next || g.queue.front().order < next->queue.front().order)) next = &g;
  if (!next) return;
  Batch& batch = next->queue.front();
  --batch.count;
  --next->queued;
  const std::int64_t left = circle_of(*next)[batch.step].each * kShare;
  tensor_ = {
      true, next->index, batch.step, batch.turn, left, batch.closed && batch.count == 0, now_, now_, now_ + rounded_up(left, speed_)};
  if (batch.count == 0) next->queue.erase(next->queue.begin());
}

std::size_t Runner::beside() const {
  if (!tensor_.busy) return kNothing;
  return circles_.groups[tensor_.group][tensor_.step].registers ? kRegisters : kShared;
}

void Runner::update_rates() {
  const std::size_t now_beside = beside();
  if (rates_hold_ && now_beside == rates_beside_) return;
  std::int64_t specials = 0, issue = 0, reads = 0;
  for (GroupState& g : groups_)
    if (g.running) {
      g.left -= (now_ - counted_) * g.rate;
      const MotionPace& pace = part_of(g).pace;
      specials += pace.specials[now_beside];
      issue += pace.issue[now_beside];
      reads += pace.reads[now_beside];
    }
  const std::int64_t over = std::max({kShare, specials, issue}), slow = kShare * kShare / over;
  for (GroupState& g : groups_)
    if (g.running) {
      const std::int64_t full = part_of(g).pace.rate[now_beside];
      g.rate = over == kShare ? full : std::max<std::int64_t>(1, static_cast<std::int64_t>((static_cast<__int128>(full) * slow) >> 16));
      g.finish = now_ + rounded_up(g.left, g.rate);
    }
  std::int64_t speed = kShare;
  if (tensor_.busy && reads > 0)
    speed = std::max(kShare / 20, kShare - rounded_up(parts_.product_per_read[now_beside] * rounded_up(reads * slow, kShare), 1000));
  if (tensor_.busy) {
    tensor_.left -= (now_ - tensor_.counted) * speed_;
    tensor_.counted = now_;
    tensor_.finish = now_ + rounded_up(tensor_.left, speed);
  }
  speed_ = speed;
  counted_ = now_;
  rates_beside_ = now_beside;
  rates_hold_ = true;
}

/// Goes on to the next moment at which something can happen. False: there is none.
bool Runner::next_event() {
  update_rates();
  Ticks next = tensor_.busy ? tensor_.finish : kNever;
  for (const GroupState& g : groups_)
    if (g.running)
      next = std::min(next, g.finish);
    else if (g.ready > now_)
      next = std::min(next, g.ready);
  if (next >= kNever) return false;
  now_ = next;
  if (tensor_.busy && tensor_.finish <= now_) end_instruction();
  for (GroupState& g : groups_)
    if (g.running && g.finish <= now_) {
      g.running = false;
      rates_hold_ = false;
      if (step_of(g).last) end_instance(part_of(g).awaited, g.turn - step_of(g).stage, now_);
      next_step(g);
    }
  return true;
}

void Runner::end_instruction() {
  const CircleStep& step = circles_.groups[tensor_.group][tensor_.step];
  if (options_.spans) spans_.push_back({tensor_.group, tensor_.step, true, tensor_.turn, tensor_.since, now_, ""});
  tensor_.busy = false;
  unblock();
  if (tensor_.closes)
    end_instance(parts_.steps[tensor_.group][tensor_.step].awaited, tensor_.turn - step.stage, now_ + drain(problem_, step.op));
}

void Runner::next_step(GroupState& g) {
  if (options_.spans) record(g);
  g.begun = false;
  g.issued = 0;
  g.since = now_;
  if (++g.at < circle_of(g).size()) return;
  g.at = 0;
  ++g.turn;
  if (g.wrapped == now_) g.ready = std::max(g.ready, now_ + 1);  // a circle that takes no time at all
  g.wrapped = now_;
  if (g.index == parts_.leader) return sample();
  constexpr std::int64_t kFarAhead = 16;
  starved_ |= g.turn - groups_[parts_.leader].turn > kFarAhead * std::max<std::int64_t>(2, options_.most_turns);
  done_ |= starved_;
}

/// kNever: not known yet.
Ticks Runner::end_of(std::int32_t awaited, std::int64_t instance) const {
  const std::size_t a = static_cast<std::size_t>(awaited);
  if (instance < parts_.awaited[a].first || instance < begun_[a] - static_cast<std::int64_t>(parts_.kept)) return 0;
  if (instance >= begun_[a]) return kNever;
  return ends_[slot(a, instance)];
}

void Runner::begin_instance(std::int32_t awaited, std::int64_t instance) {
  if (awaited < 0) return;
  const std::size_t a = static_cast<std::size_t>(awaited);
  begun_[a] = instance + 1;
  ends_[slot(a, instance)] = kNever;
}

void Runner::end_instance(std::int32_t awaited, std::int64_t instance, Ticks when) {
  if (awaited < 0) return;
  ends_[slot(static_cast<std::size_t>(awaited), instance)] = when;
  unblock();
}

/// Everything that decides what happens from now on, without the time.
void Runner::write_state() {
  const std::int64_t base = groups_[parts_.leader].turn;
  const auto put = [&](std::int64_t word) { state_.push_back(word); };
  state_.clear();
  const auto later = [&](Ticks when) { return std::max<Ticks>(0, when - now_); };
  for (const GroupState& g : groups_) {
    put(static_cast<std::int64_t>(g.at * 4 + (g.running ? 1 : 0) + (g.begun ? 2 : 0)));
    put(g.turn - base);
    put(g.running ? g.left - (now_ - counted_) * g.rate : later(g.ready));
    put(g.issued);
    // A batch is of this turn or an earlier one; few enough are open for one word.
    std::uint64_t batches = 0;
    for (const Batch& b : g.queue)
      batches = batches * 0x9e3779b97f4a7c15ull + (static_cast<std::uint64_t>(b.step) * 4096 + static_cast<std::uint64_t>(b.count)) * 64 +
                static_cast<std::uint64_t>(g.turn - b.turn) * 2 + (b.closed ? 1 : 0) + 1 +
                static_cast<std::uint64_t>(accepted_ - b.order) * 65'537;
    put(static_cast<std::int64_t>(batches));
  }
  put(tensor_.busy ? tensor_.left - (now_ - tensor_.counted) * speed_ : -1);
  put(tensor_.busy ? static_cast<std::int64_t>((tensor_.step * 64 + tensor_.group) * 2 + (tensor_.closes ? 1 : 0)) : 0);
  put(tensor_.busy ? tensor_.turn - base : 0);
  put(static_cast<std::int64_t>(turn_));
  put(later(turn_from_));
  for (const Ticks free : free_) put(later(free));
  for (std::size_t a = 0; a < begun_.size(); ++a) {
    put(begun_[a] - base);
    for (std::size_t back = 1; back <= parts_.kept; ++back) {
      const std::int64_t instance = begun_[a] - static_cast<std::int64_t>(back);
      const Ticks end = instance < parts_.awaited[a].first ? 0 : ends_[slot(a, instance)];
      put(end >= kNever ? -1 : later(end + parts_.awaited[a].longest_extra));
    }
  }
}

void Runner::sample() {
  times_.push_back(now_);
  done_ = static_cast<std::int64_t>(times_.size()) >= std::max<std::int64_t>(2, options_.most_turns);
  // The first turns are other than all later ones, whatever their state.
  const bool first =
      std::any_of(groups_.begin(), groups_.end(), [&](const GroupState& g) { return g.turn < kFirstTurns && !circle_of(g).empty(); });
  if (first) return digests_.push_back({});
  write_state();
  Digest digest{0, 1};
  for (const std::int64_t word : state_) {
    digest[0] = (digest[0] ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15ull;
    digest[1] = (digest[1] + static_cast<std::uint64_t>(word)) * 0xbf58476d1ce4e5b9ull;
    digest[0] ^= digest[0] >> 32;
    digest[1] ^= digest[1] >> 29;
  }
  for (std::size_t k = digests_.size(); k-- > 0 && repeats_ == 0;)
    if (digests_[k] == digest) repeats_ = k + 1;
  digests_.push_back(digest);
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
  const CircleStep& step = step_of(g);
  if (now_ == g.since) return;
  const bool waits = step.kind == CircleStepKind::Await || step.kind == CircleStepKind::Take;
  spans_.push_back({g.index, g.at, false, g.turn, g.since, now_, waits ? why(g) : ""});
}

std::string Runner::why(const GroupState& g) const {
  const CircleStep& step = step_of(g);
  if (step.kind == CircleStepKind::Take) {
    const std::size_t turns = circles_.turns.size();
    return fmt::format("turn of group {}", circles_.turns[(step.turn + turns - 1) % turns]);
  }
  const std::string& name = problem_.op(step.op).name;
  if (step.credit) return fmt::format("ring {} has no free slot before {} has ended", problem_.channel(step.channel).name, name);
  return fmt::format("{} runs until then", name);
}

std::string Runner::stuck_text() const {
  std::string text;
  for (const GroupState& g : groups_) {
    if (circle_of(g).empty()) continue;
    const CircleStep& step = step_of(g);
    text += fmt::format("{}group {} ", text.empty() ? "" : "; ", g.index);
    if (step.kind == CircleStepKind::Take)
      text += fmt::format("waits for its turn, which is group {}'s", circles_.turns[turn_]);
    else if (step.kind == CircleStepKind::Await)
      text += fmt::format("waits for {}{}", problem_.op(step.op).name,
                          step.credit ? fmt::format(" to free a slot of ring {}", problem_.channel(step.channel).name) : "");
    else
      text += "does not go on";
  }
  return text;
}

}  // namespace heddle::motion
