#include "core/motion/as_compiled.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace heddle::motion {
namespace {

using Steps = std::vector<CircleStep>;

/// Seen between two wgmmas: 12 or 13 exponentials, 78 to 107 instructions of other kinds.
constexpr Ticks kGapTicks = 112 * kCycle;

bool is_arithmetic(const CircleStep& step) { return step.kind == CircleStepKind::Arithmetic; }
bool waits_for_own(const Problem& problem, const CircleStep& step) {
  return step.kind == CircleStepKind::Await && !step.crosses && problem.op(step.op).instructions > 0;
}
bool looks_at_barrier(const CircleStep& step) { return step.kind == CircleStepKind::Await && step.crosses; }

std::size_t end_of_arithmetic(const Steps& steps, std::size_t at) {
  while (at < steps.size() && is_arithmetic(steps[at])) ++at;
  return at;
}

/// The part of a step's work from `from` to `to` of `of`.
CircleStep part_of(const CircleStep& step, Ticks from, Ticks to, Ticks of) {
  CircleStep some = step;
  for (std::int64_t WarpWork::*work : {&WarpWork::alone, &WarpWork::exposed, &WarpWork::reads, &WarpWork::specials, &WarpWork::issue})
    some.work.*work = step.work.*work * to / of - step.work.*work * from / of;
  some.first = step.first && from == 0;
  some.last = step.last && to == of;
  return some;
}

/// Habit 1: where the wait at `at` goes, behind the wait before it; nothing: it stays.
std::optional<std::size_t> earlier_place(const Problem& problem, const Steps& steps, std::size_t at) {
  if (!waits_for_own(problem, steps[at])) return std::nullopt;
  std::size_t begin = at;
  bool arithmetic = false;
  for (; begin > 0 && (is_arithmetic(steps[begin - 1]) || looks_at_barrier(steps[begin - 1])); --begin)
    arithmetic |= is_arithmetic(steps[begin - 1]);
  const auto issues = [&](const CircleStep& step) { return step.kind == CircleStepKind::Issue; };
  if (!arithmetic || begin == 0 || !issues(steps[begin - 1])) return std::nullopt;
  for (std::size_t back = 1; back < steps.size(); ++back) {
    const std::size_t before = (at + steps.size() - back) % steps.size();
    if (issues(steps[before]) && steps[before].op == steps[at].op) return std::nullopt;
    if (waits_for_own(problem, steps[before])) return end_of_arithmetic(steps, before + 1);
  }
  return std::nullopt;
}

Steps waits_together(const Problem& problem, Steps steps) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto place = earlier_place(problem, steps, i);
    if (!place) continue;
    CircleStep wait = steps[i];
    const bool turn_before = *place > i;
    if (turn_before) --wait.distance;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(*place) - (turn_before ? 1 : 0), wait);
    if (turn_before) --i;
  }
  return steps;
}

/// Habit 2.
Steps behind_second_wait(const Problem& problem, const Steps& steps) {
  Steps out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    out.push_back(steps[i]);
    if (!waits_for_own(problem, steps[i])) continue;
    const std::size_t end = end_of_arithmetic(steps, i + 1);
    if (end == i + 1 || end == steps.size() || !waits_for_own(problem, steps[end])) continue;
    Steps behind;
    for (std::size_t k = i + 1; k < end; ++k) {
      if (problem.op(steps[k].op).kind == "reduce_max") {
        out.push_back(part_of(steps[k], 0, 1, 2));
        behind.push_back(part_of(steps[k], 1, 2, 2));
      } else {
        behind.push_back(steps[k]);
      }
    }
    out.push_back(steps[end]);
    out.insert(out.end(), behind.begin(), behind.end());
    i = end;
  }
  return out;
}

CircleStep instructions_of(const CircleStep& issue, int from, int count) {
  CircleStep some = issue;
  some.count = count;
  some.first = issue.first && from == 0;
  some.last = issue.last && from + count == issue.count;
  if (from > 0) some.held = 0;
  return some;
}

/// Habit 3.
Steps among_instructions(const Steps& steps) {
  Steps out;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::size_t begin = i + 1;
    while (begin < steps.size() && steps[begin].kind == CircleStepKind::Pass) ++begin;
    const std::size_t end = end_of_arithmetic(steps, begin);
    Ticks all = 0;
    for (std::size_t k = begin; k < end; ++k) all += steps[k].work.alone;
    if (steps[i].kind != CircleStepKind::Issue || steps[i].count < 2 || all == 0) {
      out.push_back(steps[i]);
      continue;
    }
    int issued = 0;
    Ticks done = 0;
    for (; issued + 1 < steps[i].count && done < all; ++issued) {
      const Ticks until = std::min(all, done + kGapTicks);
      out.push_back(instructions_of(steps[i], issued, 1));
      for (std::size_t k = begin; k < end; ++k) out.push_back(part_of(steps[k], done, until, all));
      done = until;
    }
    out.push_back(instructions_of(steps[i], issued, steps[i].count - issued));
    for (std::size_t k = i + 1; k < begin; ++k) out.push_back(steps[k]);
    for (std::size_t k = begin; k < end && done < all; ++k) out.push_back(part_of(steps[k], done, all, all));
    i = end - 1;
  }
  return out;
}

/// Habit 4, of one stretch. While one special function runs, a quarter of an SM issues eight other instructions: what has more of them than
/// fit there does not hide.
class Hiding {
 public:
  Hiding(const Problem& problem, Steps& steps, std::size_t begin, std::size_t end)
      : problem_(problem), steps_(steps), begin_(begin), end_(end) {}

  void run() {
    std::vector<std::int64_t> alone;
    for (std::size_t i = begin_; i < end_; ++i) {
      alone.push_back(steps_[i].work.alone);
      for (std::size_t k = begin_; k < end_; ++k) alone.back() = std::min(alone.back(), alone_beside(steps_[i], steps_[k]));
    }
    for (std::size_t i = begin_; i < end_; ++i) steps_[i].work.alone = alone[i - begin_];
  }

 private:
  bool feeds(OpId from, OpId to) const {
    return std::any_of(problem_.edges.begin(), problem_.edges.end(),
                       [&](const Edge& e) { return e.value.valid() && e.from == from && e.to == to; });
  }
  std::int64_t alone_beside(const CircleStep& step, const CircleStep& special) const {
    constexpr std::int64_t kOthers = 8, kFeeder = 25;
    const WarpWork& work = step.work;
    if (step.op == special.op || special.work.specials <= work.specials || work.issue > kOthers * special.work.specials) return work.alone;
    if (work.specials > 0) return work.issue - work.specials;
    const std::int64_t hidden = problem_.contention.hidden.value, hides = work.alone - work.exposed;
    if (feeds(special.op, step.op)) return work.exposed + hides * hidden / 100;
    return feeds(step.op, special.op) ? work.exposed + hides * std::max(hidden, kFeeder) / 100 : work.alone;
  }

  const Problem& problem_;
  Steps& steps_;
  std::size_t begin_, end_;
};

}  // namespace

std::vector<CircleStep> as_compiled(const Problem& problem, std::vector<CircleStep> circle) {
  if (!problem.contention.reordered) return circle;
  Steps steps = among_instructions(behind_second_wait(problem, waits_together(problem, std::move(circle))));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::size_t end = end_of_arithmetic(steps, i);
    if (end > i) Hiding(problem, steps, i, end).run();
    i = std::max(i, end);
  }
  return steps;
}

GroupCircles as_compiled(const Problem& problem, GroupCircles circles) {
  for (Steps& steps : circles.groups) steps = as_compiled(problem, std::move(steps));
  return circles;
}

}  // namespace heddle::motion
