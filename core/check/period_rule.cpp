// An event is the end of whatever ends first; then everything that can go on goes on, and all speeds are taken anew.
#include "core/check/period_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

namespace heddle::check_period {
namespace {

using Time = std::int64_t;  // 1/4096 cycle

constexpr std::int64_t kGrainsOfTick = kGrains / kTicks;
constexpr Time kNever = std::numeric_limits<Time>::max();
constexpr Time kUnknown = -1;
constexpr std::int64_t kWhole = std::int64_t{1} << 24;  ///< a piece of arithmetic, or full speed
constexpr std::int64_t kSlowest = 20;                   ///< the tensor core keeps at least this part of its speed
constexpr std::size_t kLeastRounds = 10, kMostRounds = 160, kLongest = 12;
constexpr std::size_t kAhead = 64;    ///< rounds that a group may be ahead of the one that is watched
constexpr Time kSame = kGrains / 50;  ///< rounds that differ by less are equal
constexpr std::size_t kRepetitions = 3;
constexpr std::int64_t kFirstRounds = 3;

/// a * b / c, rounded up.
std::int64_t portion(std::int64_t a, std::int64_t b, std::int64_t c) {
  return static_cast<std::int64_t>((static_cast<__int128>(a) * b + c - 1) / c);
}

struct Instruction {
  OpId op;
  Time length = 0;
  std::int64_t step = 0;  ///< Issues are counted as they begin
  bool registers = false, last = false;
};

/// Issued and not yet drained.
struct Flight {
  OpId op;
  Time done = kUnknown;
};

struct Group {
  const std::vector<Deed>* deeds = nullptr;
  std::size_t at = 0;  ///< in deeds
  std::int64_t round = 0;
  Time ready = 0;         ///< it does nothing before
  bool working = false;   ///< at arithmetic, of which
  std::int64_t left = 0;  ///< is left, in parts of kWhole
  int accepted = -1;      ///< instructions of the product that it issues; -1: not begun
  std::int64_t step = 0;  ///< the number of that Issue
  Time held_until = 0;    ///< by its product
  bool looked = false;    ///< at the barrier that it waits at
  std::deque<Instruction> queue;
  std::deque<Flight> flights;
  std::vector<Time> ends;  ///< of its rounds

  const Deed& deed() const { return (*deeds)[at]; }
};

class Run {
 public:
  Run(const Problem& problem, const DeedCircles& circles)
      : problem_(problem),
        numbers_(problem.contention),
        turns_(circles.turns.size()),
        free_(problem.units.size(), 0),
        ended_(problem.ops.size()) {
    for (const DeedCircle& circle : circles.groups) groups_.emplace_back().deeds = &circle.deeds;
  }

  RuledPeriod period() {
    const std::size_t watched = reference();
    for (std::size_t looked_at = 0;;) {
      go_on();
      const std::vector<Time>& ends = groups_[watched].ends;
      if (ends.size() > looked_at) {
        looked_at = ends.size();
        if (const RuledPeriod found = repeated(ends); found.iterations > 0) return found;
        if (ends.size() >= kMostRounds) return mean(ends);
      }
      if (!advance()) return {0, 0, false, who_waits()};
    }
  }

 private:
  /// The group whose rounds are counted: the first with products, else the first that does anything.
  std::size_t reference() const {
    const auto has = [](const Group& group, bool product) {
      return std::any_of(group.deeds->begin(), group.deeds->end(), [&](const Deed& d) { return !product || d.act == Act::Issue; });
    };
    for (const bool product : {true, false})
      for (std::size_t g = 0; g < groups_.size(); ++g)
        if (has(groups_[g], product)) return g;
    return 0;
  }

  // --- at one moment

  void go_on() {
    for (bool moved = true; moved;) {
      moved = false;
      serve();
      for (Group& group : groups_)
        if (!group.deeds->empty() && !group.working && group.ready <= now_ && group.ends.size() < kMostRounds + kAhead && step(group))
          moved = true;
    }
  }

  /// The tensor core takes what was issued by the Issue that began first.
  void serve() {
    if (busy_) return;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (!groups_[g].queue.empty() && (!busy_ || groups_[g].queue.front().step < groups_[served_].queue.front().step)) {
        busy_ = true;
        served_ = g;
      }
    if (!busy_) return;
    at_work_ = groups_[served_].queue.front();
    tensor_left_ = at_work_.length;
    groups_[served_].queue.pop_front();
  }

  /// What the group can do at this moment without time going by; false: nothing.
  bool step(Group& group) {
    const Deed& d = group.deed();
    switch (d.act) {
      case Act::Work:
        group.working = true;
        group.left = kWhole;
        return true;
      case Act::Issue: return issue(group, d);
      case Act::Copy: copy(group, d); return next(group);
      case Act::Drain:
        if (drained(group, d) > now_) return false;
        while (group.flights.size() > static_cast<std::size_t>(d.behind)) group.flights.pop_front();
        return next(group);
      case Act::Await: return await(group, d);
      case Act::Take:
        if (held_ || turn_ != d.turn || turn_from_ > now_) return false;
        held_ = true;
        return next(group);
      case Act::Pass:
        held_ = false;
        turn_ = (d.turn + 1) % turns_;
        turn_from_ = now_ + numbers_.turn.value * kGrains;
        return next(group);
    }
    return false;
  }

  bool next(Group& group) {
    group.at = (group.at + 1) % group.deeds->size();
    if (group.at != 0) return true;
    group.ends.push_back(now_);
    ++group.round;
    return true;
  }

  /// The look at the barrier takes its time even where there is nothing to wait for.
  bool await(Group& group, const Deed& d) {
    if (d.look && !group.looked) {
      group.looked = true;
      group.ready = now_ + problem_.barrier_wait * kGrains;
      return true;
    }
    if (known_end(group, d) > now_) return false;
    group.looked = false;
    return next(group);
  }

  bool issue(Group& group, const Deed& d) {
    const bool registers = problem_.op(d.op).from_registers;
    if (group.accepted < 0) {
      group.accepted = 0;
      if (!d.opens) return true;
      group.flights.push_back({d.op, kUnknown});
      group.ready = now_ + (numbers_.fence.value + (registers ? numbers_.register_fence.value : 0)) * kGrains;
      // Without numbers of contention an instruction that issues a product holds its group for its window.
      group.held_until = numbers_.known ? 0 : now_ + problem_.op(d.op).window * kGrains;
      return true;
    }
    if (group.accepted == d.count) {
      group.accepted = -1;
      group.ready = std::max(group.ready, group.held_until);
      return next(group);
    }
    std::size_t in_flight = busy_;
    for (const Group& any : groups_) in_flight += any.queue.size();
    if (numbers_.in_flight.value > 0 && static_cast<std::int64_t>(in_flight) >= numbers_.in_flight.value) return false;
    if (group.accepted == 0) group.step = steps_++;
    ++group.accepted;
    group.queue.push_back({d.op, instruction_length(d.op), group.step, registers, d.closes && group.accepted == d.count});
    group.ready = now_ + numbers_.issue_step.value * kGrains;
    return true;
  }

  Time instruction_length(OpId op) const {
    Cycle work = 0;
    for (const UnitUse& use : problem_.op(op).uses)
      if (problem_.unit(use.unit).role == UnitRole::Tensor) work = std::max(work, use.work());
    return portion(work, kGrains, std::max(1, problem_.op(op).instructions));
  }

  /// Each unit takes it up behind what it had before; it ends as much later as the slowest of them came late.
  void copy(Group& group, const Deed& d) {
    const Op& op = problem_.op(d.op);
    Time late = 0;
    for (const UnitUse& use : op.uses) {
      if (use.work() <= 0) continue;
      const Time wanted = now_ + use.offset * kGrains;
      Time& free = free_[use.unit.index()];
      late = std::max(late, free - wanted);
      free = std::max(free, wanted) + use.work() * kGrains;
    }
    // Nothing of the first loads lies in L2 yet.
    const bool first = op.variable_latency && group.round < kFirstRounds && numbers_.first_loads.value > 0;
    const Time latency = first ? portion(op.latency * kGrains, numbers_.first_loads.value, 100) : op.latency * kGrains;
    ended_[d.op.index()].push_back(now_ + latency + late);
    group.ready = now_ + op.window * kGrains;
  }

  /// When no more than d.behind products of the group are unfinished.
  Time drained(const Group& group, const Deed& d) const {
    if (group.flights.size() <= static_cast<std::size_t>(d.behind)) return 0;
    const Flight& last = group.flights[group.flights.size() - static_cast<std::size_t>(d.behind) - 1];
    return last.done == kUnknown ? kNever : last.done;
  }

  /// When an Await is over, as far as that is known.
  Time known_end(const Group& group, const Deed& d) const {
    const std::int64_t round = group.round - d.rounds_back;
    const std::vector<Time>& ended = ended_[d.op.index()];
    if (round < 0) return 0;
    return round < static_cast<std::int64_t>(ended.size()) ? ended[static_cast<std::size_t>(round)] + d.extra * kGrains : kNever;
  }

  // --- from one moment to the next

  struct Speeds {
    std::vector<Time> whole;       ///< per group at work: the time of all of its deed
    std::int64_t tensor = kWhole;  ///< of kWhole
  };

  Speeds speeds() const {
    Speeds speeds{std::vector<Time>(groups_.size(), 0), kWhole};
    std::int64_t specials = 0, issued = 0;  // use of what all share, in kWhole
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].working) continue;
      const Deed& d = groups_[g].deed();
      Time whole = d.work.alone * kGrainsOfTick;
      if (busy_) {
        const std::int64_t thousandths =
            numbers_.late_per_read.of(at_work_.registers).value * d.work.reads + numbers_.late_per_special.value * d.work.specials;
        whole += portion(thousandths, kGrainsOfTick, 1000);
      }
      speeds.whole[g] = whole = std::max<Time>(1, whole);
      if (numbers_.known) specials += portion(d.work.specials * kCyclesOfSpecial * kGrainsOfTick, kWhole, whole);
      if (numbers_.known) issued += portion(d.work.issue * kGrainsOfTick, kWhole, whole);
    }
    const std::int64_t demand = std::max({kWhole, specials, issued});
    std::int64_t taken = 0;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (!groups_[g].working) continue;
      speeds.whole[g] = portion(speeds.whole[g], demand, kWhole);
      if (busy_)
        taken += portion(numbers_.product_per_read.of(at_work_.registers).value * groups_[g].deed().work.reads * kGrainsOfTick, kWhole,
                         speeds.whole[g] * 1000);
    }
    speeds.tensor = std::max(kWhole / kSlowest, kWhole - taken);
    return speeds;
  }

  /// To the next event; false: there is none.
  bool advance() {
    const Speeds speed = speeds();
    Time until = kNever;
    const auto at = [&](Time when) {
      if (when > now_) until = std::min(until, when);
    };
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      if (group.deeds->empty()) continue;
      if (group.working)
        at(now_ + std::max<Time>(1, portion(group.left, speed.whole[g], kWhole)));
      else if (group.ready > now_)
        at(group.ready);
      else if (group.deed().act == Act::Drain)
        at(drained(group, group.deed()));
      else if (group.deed().act == Act::Await)
        at(known_end(group, group.deed()));
      else if (group.deed().act == Act::Take && !held_ && turn_ == group.deed().turn)
        at(turn_from_);
    }
    if (busy_) at(now_ + std::max<Time>(1, portion(tensor_left_, kWhole, speed.tensor)));
    if (until == kNever) return false;
    const Time passed = until - now_;
    now_ = until;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      if (groups_[g].working) work(groups_[g], passed, speed.whole[g]);
    if (busy_ && (tensor_left_ -= portion(passed, speed.tensor, kWhole)) <= 0) finish_instruction();
    return true;
  }

  void work(Group& group, Time passed, Time whole) {
    group.left -= portion(passed, kWhole, whole);
    if (group.left > 0) return;
    group.working = false;
    if (group.deed().closes) ended_[group.deed().op.index()].push_back(now_);
    next(group);
  }

  void finish_instruction() {
    busy_ = false;
    if (!at_work_.last) return;
    const Op& op = problem_.op(at_work_.op);
    Cycle work = 0;
    for (const UnitUse& use : op.uses) work = std::max(work, use.work());
    const Cycle tail = numbers_.product_done.value > 0 ? numbers_.product_done.value : std::max<Cycle>(0, op.latency - work);
    const Time done = now_ + tail * kGrains;
    std::deque<Flight>& flights = groups_[served_].flights;
    const auto first = std::find_if(flights.begin(), flights.end(), [](const Flight& f) { return f.done == kUnknown; });
    if (first != flights.end()) first->done = done;
    ended_[at_work_.op.index()].push_back(done);
  }

  // --- what comes of it

  /// The last rounds are the same several times over.
  static RuledPeriod repeated(const std::vector<Time>& ends) {
    for (std::size_t p = 1; p <= kLongest; ++p) {
      const std::size_t needed = kRepetitions * p + 1;
      if (ends.size() < std::max(kLeastRounds, needed + 2)) return {};
      bool same = true;
      const std::size_t n = ends.size();
      for (std::size_t k = 0; same && k + p + 1 < needed; ++k) {
        const Time a = ends[n - 1 - k] - ends[n - 2 - k], b = ends[n - 1 - k - p] - ends[n - 2 - k - p];
        same = std::abs(a - b) <= kSame;
      }
      if (same) return {ends[n - 1] - ends[n - 1 - p], static_cast<std::int64_t>(p), true, {}};
    }
    return {};
  }

  static RuledPeriod mean(const std::vector<Time>& ends) {
    const std::size_t half = ends.size() / 2;
    return {ends.back() - ends[half], static_cast<std::int64_t>(ends.size() - 1 - half), false, {}};
  }

  std::string who_waits() const {
    std::string text;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (groups_[g].deeds->empty()) continue;
      const Deed& d = groups_[g].deed();
      const std::string what = d.act == Act::Take ? fmt::format("its turn for {}", problem_.op(d.op).name) : problem_.op(d.op).name;
      text += fmt::format("{}group {} waits for {}", text.empty() ? "" : ", ", g, what);
    }
    return text.empty() ? "nothing is to be done" : text;
  }

  const Problem& problem_;
  const Contention& numbers_;
  std::size_t turns_, turn_ = 0;
  std::int64_t steps_ = 0;
  bool held_ = false;                     ///< somebody has the turn
  Time turn_from_ = 0;                    ///< when the next one can be taken
  std::vector<Time> free_;                ///< per unit, for copies
  std::vector<std::vector<Time>> ended_;  ///< per op, by round of its circle
  std::vector<Group> groups_;
  Time now_ = 0;
  std::size_t served_ = 0;  ///< the group whose instruction the tensor core has, or had last
  bool busy_ = false;
  Instruction at_work_;
  Time tensor_left_ = 0;
};

}  // namespace

bool longer(const RuledPeriod& a, const RuledPeriod& b) {
  return static_cast<__int128>(a.grains) * b.iterations > static_cast<__int128>(b.grains) * a.iterations;
}

RuledPeriod period_by_rule(const Problem& problem, const DeedCircles& circles) { return Run(problem, circles).period(); }

RuledPeriod period_by_rule(const Problem& problem, const JudgedProgram& loop) { return period_by_rule(problem, circles_of(problem, loop)); }

bool agrees(const RuledPeriod& period, std::int64_t ticks, std::int64_t iterations) {
  if (period.iterations <= 0 || iterations <= 0) return false;
  const __int128 ours = static_cast<__int128>(period.grains) * iterations;
  const __int128 theirs = static_cast<__int128>(ticks) * (kGrains / kTicks) * period.iterations;
  const __int128 apart = ours > theirs ? ours - theirs : theirs - ours;
  return apart * kTolerance <= ours;
}

}  // namespace heddle::check_period
