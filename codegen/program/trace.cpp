// Walks over the events in order, with the groups that are in flight.
#include "codegen/program/trace.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace heddle::codegen {

std::vector<std::size_t> settle_groups(std::vector<Event>& events) {
  std::vector<std::size_t> finished(events.size(), kNever);
  for (const Engine engine : {Engine::Mma, Engine::Store}) {
    std::map<std::pair<std::size_t, std::int64_t>, std::size_t> group;  // op, iteration -> number
    std::vector<std::vector<std::size_t>> members;
    std::vector<std::size_t> open;
    std::size_t done = 0;
    for (std::size_t p = 0; p < events.size(); ++p) {
      Event& e = events[p];
      if (e.step.engine != engine) continue;
      if (e.step.kind == StepKind::Issue) open.push_back(p);
      if (e.step.kind == StepKind::Commit) {
        if (e.step.op.list == OpRef::List::Body) group[{e.step.op.index, e.step.iteration}] = members.size();
        members.push_back(std::exchange(open, {}));
      }
      if (e.step.kind != StepKind::Retire) continue;
      if (e.retires.valid()) {
        const auto it = group.find({e.retires.index(), e.retired_iteration});
        e.step.keep = it == group.end() ? 0 : static_cast<int>(members.size() - 1 - it->second);
      }
      for (; done + static_cast<std::size_t>(e.step.keep) < members.size(); ++done)
        for (const std::size_t issue : members[done]) finished[issue] = p;
    }
  }
  return finished;
}

void await_operands(std::vector<Event>& events) {
  struct Flight {
    std::size_t op;
    std::int64_t iteration;
    Place operand;
  };
  std::deque<Flight> flying;  // in the order of issue, which is that of their groups
  const auto land = [&](std::size_t op, std::int64_t iteration) {
    const auto last = std::find_if(flying.rbegin(), flying.rend(), [&](const Flight& f) { return f.op == op && f.iteration == iteration; });
    flying.erase(flying.begin(), last.base());
  };
  for (std::size_t p = 0; p < events.size(); ++p) {
    const Step& step = events[p].step;
    if (step.kind == StepKind::Issue && step.engine == Engine::Mma) flying.push_back({step.op.index, step.iteration, step.inputs.front()});
    if (step.kind == StepKind::Retire && step.engine == Engine::Mma) {
      if (events[p].retires.valid())
        land(events[p].retires.index(), events[p].retired_iteration);
      else
        flying.clear();
    }
    if (step.kind != StepKind::Compute && step.kind != StepKind::Put) continue;
    const auto taken = std::find_if(flying.rbegin(), flying.rend(), [&](const Flight& f) {
      return f.operand.kind == Place::Kind::Variable && std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& in) {
               return in.kind == Place::Kind::Variable && in.index == f.operand.index && in.value == f.operand.value &&
                      in.iteration == f.operand.iteration;
             });
    });
    if (taken == flying.rend()) continue;
    Event wait{step, events[p].window, OpId(taken->op), taken->iteration};
    wait.step.kind = StepKind::Retire;
    wait.step.engine = Engine::Mma;
    wait.step.inputs.clear();
    wait.step.output = {};
    land(taken->op, taken->iteration);
    events.insert(events.begin() + static_cast<std::ptrdiff_t>(p++), std::move(wait));
  }
}

void release_tile(std::vector<Event>& events, std::size_t buffer, Event arrive) {
  const auto finished = settle_groups(events);
  std::size_t last = kNever;
  for (std::size_t p = 0; p < events.size(); ++p)
    for (const Place& in : events[p].step.inputs)
      if (in.kind == Place::Kind::Buffer && in.index == buffer) last = events[p].step.kind == StepKind::Issue ? finished[p] : p;
  if (last == kNever) return events.push_back(std::move(arrive));
  // Behind the signals and waits that stand together: of several waits in a row the last one is written.
  const auto stands_by = [&](const Event& e) {
    return e.window == events[last].window &&
           (e.step.kind == StepKind::Arrive || (e.step.kind == StepKind::Retire && e.step.engine == Engine::Mma));
  };
  while (last + 1 < events.size() && stands_by(events[last + 1])) ++last;
  arrive.window = events[last].window;
  arrive.step.iteration = events[last].step.iteration;
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::move(arrive));
}

}  // namespace heddle::codegen
