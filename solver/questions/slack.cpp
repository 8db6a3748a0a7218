// Every schedule found moves the known ends of all ops outward, every refutation moves one bound inward, until they meet.
#include "solver/questions/slack.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "core/check/checker.h"
#include "solver/encoding/closure.h"
#include "solver/encoding/user.h"
#include "solver/search/decide.h"
#include "solver/search/solve.h"
#include "solver/search/stage_range.h"

namespace heddle::solver {
namespace {

constexpr std::uint64_t kEffortPerQuery = kEffortPerSecond;

class Ranges {
 public:
  Ranges(const SlackRequest& request, std::stop_token stop, const SlackListener& listener)
      : request_(request), problem_(request.problem), stop_(std::move(stop)), listener_(listener), begin_(Clock::now()) {
    limits_ = {deadline_after(begin_, request.timeout_seconds), stop_};
  }

  SlackRanges run() {
    // Demands that make no sense say nothing; what costs no query is answered without them.
    answer_.fault = constraint_faults(problem_, request_.constraints);
    if (answer_.fault.empty()) constraints_ = request_.constraints;
    start();
    try {
      if (request_.exact && answer_.fault.empty()) settle();
    } catch (const Stopped&) {
    } catch (const std::exception& e) {  // Z3 reports memory limits and internal faults this way
      answer_.fault = fmt::format("the solver failed: {}", e.what());
    }
    answer_.cancelled = stop_.stop_requested();
    answer_.timed_out = !answer_.cancelled && Clock::now() >= limits_.deadline;
    answer_.seconds = seconds_between(begin_, Clock::now());
    for (const OpId op : wanted_) answer_.ops.push_back(all_[op.index()]);
    return std::move(answer_);
  }

 private:
  void start();
  void settle();
  void settle_op(LiveModel& live, OpRange& range);
  bool ask(LiveModel& live, OpId op, bool later, Cycle at, RangeEnd& end);
  void see(const Schedule& schedule);
  bool exhausted() const { return stop_.stop_requested() || Clock::now() >= limits_.deadline; }
  Cycle anchor_start() const { return request_.schedule.start(answer_.anchor); }

  const SlackRequest& request_;
  const Problem& problem_;
  Constraints constraints_;
  std::stop_token stop_;
  const SlackListener& listener_;
  Clock::time_point begin_;
  QueryLimits limits_;
  std::vector<OpId> wanted_;
  std::vector<OpRange> all_;  // of every op: what one query finds helps the others
  SlackRanges answer_;
};

/// All that needs no query.
void Ranges::start() {
  const Schedule& schedule = request_.schedule;
  const Cycle ii = schedule.ii;
  answer_.ii = ii;
  answer_.exact = request_.exact;
  answer_.solver = solver_version();
  answer_.absolute = fixes_rotation(constraints_);
  answer_.legal = check(problem_, schedule, constraints_).valid();
  for (std::size_t v = 0; v < problem_.ops.size(); ++v)
    if (!answer_.anchor.valid() || schedule.ops[v].start < schedule.start(answer_.anchor)) answer_.anchor = OpId(v);
  if (request_.anchor.valid()) answer_.anchor = request_.anchor;
  const int usual = stage_range(problem_, constraints_, std::max(request_.max_stages, stage_count(schedule)), ii).stages;
  // Where rotation is free, one more number covers every rotation of that many stages.
  answer_.stages = capped_stages(constraints_, request_.stages.value_or(answer_.absolute ? usual : usual + 1));
  if (request_.ops.empty())
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) wanted_.push_back(OpId(v));
  else
    wanted_ = request_.ops;

  const Closure closure(problem_, ii, answer_.stages, {});  // what follows from it is an answer also where time is up
  const std::vector<Slack> alone = compute_slack(problem_, schedule);
  const Cycle fixed = anchor_start();
  for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
    const OpId op{v};
    OpRange range;
    range.op = op;
    range.start = schedule.start(op);
    range.alone = alone[v];
    range.path_earliest = fixed + closure.at(answer_.anchor, op);
    range.path_latest = fixed - closure.at(op, answer_.anchor);
    if (answer_.absolute) {
      range.path_earliest = std::max<Cycle>(range.path_earliest, 0);
      range.path_latest = std::min(range.path_latest, answer_.stages * ii - 1);
    }
    range.earliest.bound = range.path_earliest;
    range.latest.bound = range.path_latest;
    all_.push_back(range);
  }
  if (answer_.legal) see(schedule);
}

void Ranges::see(const Schedule& schedule) {
  const Cycle shift = anchor_start() - schedule.start(answer_.anchor);
  for (OpRange& range : all_) {
    const Cycle start = schedule.start(range.op) + shift;
    range.earliest.seen = std::min(start, range.earliest.seen.value_or(start));
    range.latest.seen = std::max(start, range.latest.seen.value_or(start));
    // A schedule may be longer than the stages that are asked about.
    range.earliest.bound = std::min(range.earliest.bound, *range.earliest.seen);
    range.latest.bound = std::max(range.latest.bound, *range.latest.seen);
  }
}

/// Can the op start at `at` or beyond? Moves the end's bound if not. False when that was not decided.
bool Ranges::ask(LiveModel& live, OpId op, bool later, Cycle at, RangeEnd& end) {
  Model& model = live.model();
  const OpId from = later ? answer_.anchor : op, to = later ? op : answer_.anchor;
  const Cycle apart = later ? at - anchor_start() : anchor_start() - at;
  const Lit beyond =
      live.switch_named(fmt::format("{} {} {}", from.index(), to.index(), apart), [&] { return model.apart(from, to, apart); });
  Schedule schedule;
  const Lit assumptions[] = {beyond};
  const Answer answer = live.check(assumptions, schedule, {}, kEffortPerQuery);
  if (answer == Answer::Unknown) return false;
  if (answer == Answer::No) {
    end.bound = later ? at - 1 : at + 1;
    return true;
  }
  if (!answer_.absolute) normalize_starts(schedule);
  const Verdict verdict = check(problem_, schedule, constraints_);
  if (!verdict.valid()) {
    answer_.fault = "internal fault: the checker rejects a schedule the solver found: " + verdict.violations.front().message;
    throw Stopped{};
  }
  see(schedule);
  return true;
}

void Ranges::settle_op(LiveModel& live, OpRange& range) {
  for (const bool later : {false, true}) {
    RangeEnd& end = later ? range.latest : range.earliest;
    const Cycle towards = later ? 1 : -1;
    // Mostly the op reaches its bound, or cannot move at all; then one query is enough. Otherwise bisection.
    for (int tries = 0; !end.proved() && !exhausted(); ++tries) {
      const Cycle known = end.seen.value_or(range.start);
      const Cycle room = (end.bound - known) * towards;
      if (end.seen && room <= 0) break;
      const Cycle at = !end.seen || tries == 0 ? end.bound : tries == 1 ? known + towards : known + towards * ((room + 1) / 2);
      if (!ask(live, range.op, later, at, end)) break;
      if (!end.seen && tries > 64) break;  // nothing is legal here at all
    }
  }
}

void Ranges::settle() {
  if (exhausted()) return;
  ModelOptions options;
  options.ii = answer_.ii;
  options.stages = answer_.stages;
  options.anchored = !answer_.absolute;
  options.anchor = answer_.anchor;
  options.switchable = true;
  options.seed = request_.seed;
  options.limits = limits_;
  Constraints constraints = constraints_;
  if (answer_.absolute) {
    UserConstraint held;
    held.name = "anchor";
    held.ops = {problem_.op(answer_.anchor).name};
    held.low = anchor_start();
    constraints.push_back(held);
  }
  LiveModel live(problem_, constraints, options);
  if (!names_groups(constraints)) live.set_context({live.model().symmetry()});
  const auto count = [&] {
    answer_.queries = live.queries();
    answer_.conflicts = live.model().backend().conflicts();
  };
  try {
    Schedule any;
    const Answer possible = answer_.legal ? Answer::Yes : live.check({}, any);
    if (possible == Answer::No)
      answer_.fault = fmt::format("no schedule at II {} with at most {} stages{}", answer_.ii, answer_.stages,
                                  answer_.absolute ? " and the anchor where it is" : "");
    if (possible == Answer::Yes && !answer_.legal) {
      if (!answer_.absolute) normalize_starts(any);
      if (check(problem_, any, constraints_).valid()) see(any);
    }
    std::size_t done = 0;
    for (const OpId op : wanted_) {
      if (possible != Answer::Yes || exhausted()) break;
      settle_op(live, all_[op.index()]);
      if (listener_) listener_(all_[op.index()], ++done, wanted_.size());
    }
  } catch (...) {
    count();
    throw;
  }
  count();
}

}  // namespace

SlackRanges slack_ranges(const SlackRequest& request, std::stop_token stop, const SlackListener& listener) {
  return Ranges(request, std::move(stop), listener).run();
}

}  // namespace heddle::solver
