// Walks over the events in order, with the groups that are in flight.
#include "codegen/program/trace.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
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
  const bool at_issue = arrive.step.kind == StepKind::Signal;  // the hardware tells when it is over
  std::size_t last = kNever;
  for (std::size_t p = 0; p < events.size(); ++p)
    for (const Place& in : events[p].step.inputs)
      if (in.kind == Place::Kind::Buffer && in.index == buffer)
        last = events[p].step.kind == StepKind::Issue && !at_issue ? finished[p] : p;
  if (last == kNever) return events.push_back(std::move(arrive));
  // Behind the signals and waits that stand together: of several waits in a row the last one is written.
  const auto stands_by = [&](const Event& e) {
    return e.window == events[last].window && (e.step.kind == StepKind::Arrive || e.step.kind == StepKind::Signal ||
                                               (e.step.kind == StepKind::Retire && e.step.engine == Engine::Mma));
  };
  while (last + 1 < events.size() && stands_by(events[last + 1])) ++last;
  arrive.window = events[last].window;
  arrive.step.iteration = events[last].step.iteration;
  events.insert(events.begin() + static_cast<std::ptrdiff_t>(last) + 1, std::move(arrive));
}

namespace {

/// One role's accesses to tensor memory, event by event, and what still has to follow them.
class TensorOrder {
 public:
  TensorOrder(const std::vector<Buffer>& buffers, const std::vector<Barrier>& barriers, const RoleDraft& draft)
      : buffers_(buffers), barriers_(barriers), rewritten_(draft.rewritten), warps_(draft.role.warps) {}

  void run(std::vector<Event>& events) {
    // A tile's first mma comes after what the warps did at the end of the tile before.
    for (const Event& e : events)
      if (is_own_access(e.step)) remember(e.step);
    loads_.clear(), stores_.clear(), untold_.clear();
    waited_ = true;
    for (Event& e : events) {
      before(e);
      made_.push_back(std::move(e));
    }
    events = std::move(made_);
  }

 private:
  bool tensor(const Place& p) const { return p.kind == Place::Kind::Buffer && buffers_[p.index].tensor(); }
  bool is_own_access(const Step& step) const {
    return step.kind == StepKind::Compute &&
           (tensor(step.output) || std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return tensor(p); }));
  }
  void remember(const Step& step) {
    for (const Place& in : step.inputs)
      if (tensor(in)) unmet_.insert(in.index), loads_.push_back({in.index, step.output.index});
    if (tensor(step.output)) unmet_.insert(step.output.index), stores_.push_back({step.output.index, step.piece});
    touched_ = true;
    for (const Place& in : step.inputs)
      if (tensor(in) && rewritten_.contains(in.index)) untold_.insert(in.index);
    if (tensor(step.output) && rewritten_.contains(step.output.index)) untold_.insert(step.output.index);
  }

  void put(const Event& at, StepKind kind) {
    Event made;
    made.window = at.window;
    made.step.kind = kind;
    made.step.op = at.step.op;
    made.step.iteration = at.step.iteration;
    made.step.stage = at.step.stage;
    made.step.slot = at.step.slot;
    made_.push_back(std::move(made));
  }
  void await_reads(const Event& at) {
    if (!loads_.empty()) put(at, StepKind::AwaitReads);
    loads_.clear();
  }
  void await_writes(const Event& at) {
    if (!stores_.empty()) put(at, StepKind::AwaitWrites);
    stores_.clear();
  }
  void fence_before(const Event& at) {
    if (std::exchange(touched_, false)) put(at, StepKind::FenceBefore);
  }
  void fence_after(const Event& at) {
    if (std::exchange(waited_, false)) put(at, StepKind::FenceAfter);
  }
  bool loads_from(std::size_t buffer) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.buffer == buffer; });
  }

  void before(const Event& e) {
    const Step& step = e.step;
    switch (step.kind) {
      case StepKind::Wait: waited_ = true; return;
      case StepKind::Sync: waited_ = true; return;
      case StepKind::Arrive: {
        const std::size_t buffer = barriers_[step.barrier].buffer;
        if (barriers_[step.barrier].full && !untold_.empty()) {
          untold_.clear();
          await_reads(e);
          await_writes(e);
          return fence_before(e);
        }
        if (!buffers_[buffer].tensor()) return;
        if (loads_from(buffer)) await_reads(e);
        if (stored_to(buffer, {})) await_writes(e);
        return fence_before(e);
      }
      case StepKind::Compute:
      case StepKind::Put: return before_own(e);
      case StepKind::Issue:
        if (step.engine == Engine::Mma) before_product(e);
        return;
      default: return;
    }
  }

  void before_own(const Event& e) {
    const Step& step = e.step;
    const auto pending = [&](const Place& p) {
      return p.kind == Place::Kind::Variable &&
             std::any_of(loads_.begin(), loads_.end(), [&](const Load& l) { return l.variable == p.index; });
    };
    if (std::any_of(step.inputs.begin(), step.inputs.end(), pending) || pending(step.output)) await_reads(e);
    if (!is_own_access(step)) return;
    for (const Place& in : step.inputs)
      if (tensor(in) && stored_to(in.index, step.piece)) await_writes(e);
    if (tensor(step.output) && loads_from(step.output.index)) await_reads(e);
    // The next piece is loaded while this one is worked on: a wait covers all loads before it, so it comes first.
    if (step.piece.number > 0 &&
        std::any_of(step.inputs.begin(), step.inputs.end(), [&](const Place& p) { return tensor(p) && loads_from(p.index); }))
      await_reads(e);
    fence_after(e);
    remember(step);
  }

  void before_product(const Event& e) {
    const Step& step = e.step;
    bool met = true;
    const auto meet = [&](const Place& p) {
      if (!tensor(p) || !unmet_.contains(p.index) || warps_ == 1) return;
      met = false;
      if (loads_from(p.index)) await_reads(e);
      if (stored_to(p.index, {})) await_writes(e);
    };
    for (const Place& in : step.inputs) meet(in);
    meet(step.output);
    if (!met) {
      fence_before(e);
      put(e, StepKind::Sync);
      // What is still on its way comes before neither the fence nor the meeting.
      unmet_.clear();
      for (const Load& l : loads_) unmet_.insert(l.buffer);
      for (const Store& s : stores_) unmet_.insert(s.buffer);
      touched_ = !unmet_.empty();
      waited_ = true;
    }
    fence_after(e);
  }

  /// Another piece of the tile lies in other columns.
  bool stored_to(std::size_t buffer, const Piece& piece) const {
    return std::any_of(stores_.begin(), stores_.end(), [&](const Store& s) {
      return s.buffer == buffer && (s.piece.count != piece.count || s.piece.number == piece.number);
    });
  }

  struct Load {
    std::size_t buffer, variable;
  };
  struct Store {
    std::size_t buffer;
    Piece piece;
  };
  const std::vector<Buffer>& buffers_;
  const std::vector<Barrier>& barriers_;
  const std::set<std::size_t>& rewritten_;
  const int warps_;
  std::vector<Event> made_;
  std::set<std::size_t> untold_;  ///< of those, touched since the role has told anybody
  std::vector<Load> loads_;       ///< not awaited
  std::vector<Store> stores_;     ///< not awaited
  std::set<std::size_t> unmet_;   ///< buffers that the warps have touched since they met
  bool touched_ = false;          ///< since the last fence before
  bool waited_ = false;           ///< since the last fence after
};

}  // namespace

void order_tensor_accesses(std::vector<Event>& events, const std::vector<Buffer>& buffers, const std::vector<Barrier>& barriers,
                           const RoleDraft& draft) {
  TensorOrder(buffers, barriers, draft).run(events);
}

}  // namespace heddle::codegen
