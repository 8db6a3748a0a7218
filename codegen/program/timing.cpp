// The role that is least far in time goes on, until all have finished or none can.
#include "codegen/program/timing.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace heddle::codegen {
namespace {

constexpr std::int64_t kMostStagesTimed = 64;

class TimedBlock {
 public:
  TimedBlock(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program, bool in_order)
      : kernel_(kernel), problem_(problem), program_(program) {
    free_.assign(problem.units.size(), 0);
    turns_.resize(problem.units.size());
    for (std::size_t u = 0; u < turns_.size() && in_order; ++u) {
      if (problem.units[u].capacity != 1) continue;
      for (std::size_t v = 0; v < problem.ops.size(); ++v)
        if (uses(problem.ops[v], u)) turns_[u].ops.push_back({schedule.slot(OpId(v)), schedule.stage(OpId(v)), v});
      std::sort(turns_[u].ops.begin(), turns_[u].ops.end());
      settle(turns_[u]);
    }
    for (const Barrier& barrier : program.barriers) rings_.emplace_back(static_cast<std::size_t>(program.buffers[barrier.buffer].depth));
    writer_.assign(program.barriers.size(), program.roles.size());
    for (std::size_t r = 0; r < program.roles.size(); ++r) {
      Agent& agent = agents_.emplace_back();
      agent.counts.assign(program.roles[r].cursors.size(), 0);
      for_each_step(program.roles[r], [&](const Section&, const Step& step, std::int64_t shift) {
        agent.code.push_back({&step, step.iteration + shift});
        const bool tells = step.kind == StepKind::Arrive || step.kind == StepKind::Signal || step.engine == Engine::Load;
        if (tells) writer_[step.barrier] = r;
      });
    }
  }

  ProgramPeriod run() {
    for (;;) {
      std::optional<std::size_t> next;
      Cycle when = 0;
      bool all = true;
      for (std::size_t r = 0; r < agents_.size(); ++r) {
        if (agents_[r].at == agents_[r].code.size()) continue;
        all = false;
        const auto time = ready(r);
        if (time && (!next || *time < when)) next = r, when = *time;
      }
      if (all) return result();
      if (!next) return {.stuck = true};
      agents_[*next].now = when;
      step(*next);
      ++agents_[*next].at;
    }
  }

 private:
  struct Timed {
    const Step* step;
    std::int64_t iteration;
  };
  struct Slot {
    int arrived = 0;
    Cycle last = 0;
    std::vector<Cycle> over;  ///< when each phase was
  };
  struct Agent {
    std::vector<Timed> code;
    std::size_t at = 0;
    Cycle now = 0, told = 0;
    std::vector<std::int64_t> counts;            ///< per cursor
    std::map<std::size_t, Cycle> variables;      ///< ready
    Cycle loaded = 0, stored = 0, products = 0;  ///< when all of them are complete
    std::deque<Cycle> groups[2];                 ///< of wgmmas, of stores
    Cycle open[2] = {0, 0};
    std::map<std::int64_t, Cycle> iterations;  ///< of the role's first op of the loop
    std::optional<std::size_t> first_op;
  };

  /// Ops of a unit in the schedule's order, window after window.
  struct OrderedUses {
    struct Use {
      Cycle slot;
      std::int64_t stage;
      std::size_t op;
      auto operator<=>(const Use&) const = default;
    };
    std::vector<Use> ops;
    std::size_t next = 0;
    std::int64_t window = 0;
    void advance() {
      if (++next == ops.size()) next = 0, ++window;
    }
  };

  Slot& slot_of(std::size_t role, const Step& step) {
    auto& ring = rings_[step.barrier];
    const auto depth = program_.roles[role].cursors[step.cursor].depth;
    return ring[static_cast<std::size_t>(agents_[role].counts[step.cursor] % depth) % ring.size()];
  }
  std::int64_t phase_of(std::size_t role, const Step& step) const {
    return agents_[role].counts[step.cursor] / program_.roles[role].cursors[step.cursor].depth - (step.ahead ? 1 : 0);
  }
  const Op* op_of_step(const Step& step) const { return step.op.list == OpRef::List::Body ? &problem_.ops[step.op.index] : nullptr; }

  /// A signal takes time from role to role, unless hardware gives it to one that waits for the result anyway.
  Cycle hand_over(std::size_t role, const Step& step) const {
    const Barrier& barrier = program_.barriers[step.barrier];
    if (step.op.list != OpRef::List::Body || writer_[step.barrier] == role) return 0;
    Cycle most = 0;
    const std::string& value = kernel_.values[barrier.value].name;
    if (barrier.full) {
      for (const Edge& e : problem_.edges)
        if (e.value.valid() && problem_.value(e.value).name == value && e.to.index() == step.op.index) most = std::max(most, e.handoff);
    }
    return most;
  }
  Cycle release_signal(const Step& step) const {
    const Barrier& barrier = program_.barriers[step.barrier];
    if (barrier.full || step.op.list != OpRef::List::Body) return 0;
    for (const Channel& channel : problem_.channels)
      if (channel.name == program_.buffers[barrier.buffer].name)
        for (const Reader& reader : channel.readers)
          if (reader.op.index() == step.op.index) return reader.signal;
    return 0;
  }

  /// When the role's next step begins; nothing while it waits for what has not been told.
  std::optional<Cycle> ready(std::size_t r) {
    Agent& agent = agents_[r];
    const Step& step = *agent.code[agent.at].step;
    Cycle time = agent.now;
    switch (step.kind) {
      case StepKind::Wait: {
        const std::int64_t phase = phase_of(r, step);
        if (phase < 0) return time;
        const Slot& slot = slot_of(r, step);
        if (static_cast<std::size_t>(phase) >= slot.over.size()) return std::nullopt;
        return std::max(time, slot.over[static_cast<std::size_t>(phase)] + hand_over(r, step));
      }
      case StepKind::TakeTurn: return std::nullopt;  // programs with turns are not timed
      case StepKind::AwaitReads: return std::max(time, agent.loaded);
      case StepKind::AwaitWrites: return std::max(time, agent.stored);
      case StepKind::Retire: {
        const auto& groups = agent.groups[step.engine == Engine::Mma ? 0 : 1];
        for (std::size_t g = 0; g + static_cast<std::size_t>(step.keep) < groups.size(); ++g) time = std::max(time, groups[g]);
        return time;
      }
      case StepKind::Compute:
        for (const Place& in : step.inputs)
          if (in.kind == Place::Kind::Variable)
            if (const auto known = agent.variables.find(in.index); known != agent.variables.end()) time = std::max(time, known->second);
        return begin_in_turn(step, time);
      case StepKind::Issue:
        // An mma queues, and the thread goes on; that it is its turn is known by then all the same.
        if (step.engine != Engine::Mma) return begin_in_turn(step, time);
        return has_turn(step) ? std::optional(time) : std::nullopt;
      default: return time;
    }
  }

  static bool uses(const Op& op, std::size_t unit) {
    return std::any_of(op.uses.begin(), op.uses.end(), [&](const UnitUse& use) { return use.unit.index() == unit && use.duration > 0; });
  }
  /// On to the next op that there is: the pipeline fills and drains.
  void settle(OrderedUses& turns) const {
    while (!turns.ops.empty() && turns.window < program_.trips + kMostStagesTimed) {
      const std::int64_t iteration = turns.window - turns.ops[turns.next].stage;
      if (iteration >= 0 && iteration < program_.trips) return;
      turns.advance();
    }
  }
  bool has_turn(const Step& step) const {
    const Op* op = op_of_step(step);
    return !op || std::all_of(op->uses.begin(), op->uses.end(), [&](const UnitUse& use) {
      const OrderedUses& turns = turns_[use.unit.index()];
      return use.duration == 0 || turns.ops.empty() || turns.ops[turns.next].op == step.op.index;
    });
  }

  Cycle share(Cycle cycles, const Step& step) const { return (cycles + step.piece.count - 1) / step.piece.count; }

  /// Until it is the op's turn there is no telling.
  std::optional<Cycle> begin_in_turn(const Step& step, Cycle time) const {
    return has_turn(step) ? std::optional(begin(step, time)) : std::nullopt;
  }

  /// When the units are free for it.
  Cycle begin(const Step& step, Cycle time) const {
    if (const Op* op = op_of_step(step); op)
      for (const UnitUse& use : op->uses)
        if (problem_.unit(use.unit).capacity == 1 && use.duration > 0) time = std::max(time, free_[use.unit.index()] - use.offset);
    return time;
  }
  void occupy(const Step& step, const Op& op, Cycle start) {
    for (const UnitUse& use : op.uses) {
      if (use.duration == 0) continue;
      free_[use.unit.index()] = std::max(free_[use.unit.index()], start + use.offset + share(use.duration, step));
      OrderedUses& turns = turns_[use.unit.index()];
      if (turns.ops.empty() || step.piece.number + 1 < step.piece.count) continue;
      turns.advance();
      settle(turns);
    }
  }

  void arrive(Slot& slot, std::size_t barrier, int count, Cycle time) {
    slot.arrived += count;
    slot.last = std::max(slot.last, time);
    const int of_both = program_.barriers[barrier].arrivals;  // blocks of a pair, of which one is timed
    if (slot.arrived < (program_.pair ? std::max(1, of_both / 2) : of_both)) return;
    slot.over.push_back(slot.last);
    slot.arrived = 0;
    slot.last = 0;
  }

  void step(std::size_t r) {
    Agent& agent = agents_[r];
    const Timed& timed = agent.code[agent.at];
    const Step& step = *timed.step;
    const Op* op = op_of_step(step);
    if (op && (step.kind == StepKind::Issue || step.kind == StepKind::Compute)) {
      if (!agent.first_op) agent.first_op = step.op.index;
      if (*agent.first_op == step.op.index) agent.iterations.try_emplace(timed.iteration, agent.now);
    }
    switch (step.kind) {
      case StepKind::Advance: ++agent.counts[step.cursor]; return;
      case StepKind::Put:  // as soon as the registers are ready, while the next op is being issued already
        agent.told = std::max(agent.now, agent.variables[step.inputs.at(0).index]);
        return;
      case StepKind::Arrive:
        return arrive(slot_of(r, step), step.barrier, step.count,
                      std::max(agent.now, std::exchange(agent.told, 0)) + (writer_of_buffer(step) == r ? 0 : release_signal(step)));
      case StepKind::Signal: return arrive(slot_of(r, step), step.barrier, 1, std::max(agent.now, agent.products));
      case StepKind::Commit: {
        const int kind = step.engine == Engine::Mma ? 0 : 1;
        agent.groups[kind].push_back(agent.open[kind]);
        return;
      }
      case StepKind::Retire: {
        auto& groups = agent.groups[step.engine == Engine::Mma ? 0 : 1];
        while (groups.size() > static_cast<std::size_t>(step.keep)) groups.pop_front();
        return;
      }
      case StepKind::Issue:
      case StepKind::Compute: return work(r, step, op);
      default: return;
    }
  }

  /// Who refills what an arrival frees.
  std::size_t writer_of_buffer(const Step& step) const {
    const Barrier& barrier = program_.barriers[step.barrier];
    for (std::size_t b = 0; b < program_.barriers.size(); ++b)
      if (program_.barriers[b].full && program_.barriers[b].buffer == barrier.buffer) return writer_[b];
    return program_.roles.size();
  }

  void work(std::size_t r, const Step& step, const Op* op) {
    Agent& agent = agents_[r];
    Cycle start = agent.now, done = start;
    if (op) {
      if (step.engine == Engine::Mma) start = begin(step, start);  // it queues; the issuing thread goes on
      occupy(step, *op, start);
      done = start + op->latency - op->window + share(op->window, step);
      agent.now += share(op->window, step);
    }
    if (step.engine == Engine::Load) {
      arrive(slot_of(r, step), step.barrier, step.copies ? step.count : 1, done);
    } else if (step.engine == Engine::Mma) {
      agent.products = std::max(agent.products, done);
      agent.open[0] = done;
    } else if (step.engine == Engine::Store) {
      agent.open[1] = done;
    }
    if (step.output.kind == Place::Kind::Variable) agent.variables[step.output.index] = done;
    const std::string& kind = op_of(kernel_, step.op).kind;
    if (kind == "tmem_load") agent.loaded = std::max(agent.loaded, done);
    if (kind == "tmem_store") agent.stored = std::max(agent.stored, done);
  }

  ProgramPeriod result() const {
    // The middle half, so that filling and draining do not count.
    ProgramPeriod found;
    const std::int64_t from = program_.trips / 4, to = program_.trips - 1 - program_.trips / 4;
    if (to - from < 4) return found;
    for (const Agent& agent : agents_) {
      if (!agent.iterations.contains(from) || !agent.iterations.contains(to)) continue;
      found.cycles = std::max(found.cycles, agent.iterations.at(to) - agent.iterations.at(from));
      found.iterations = to - from;
    }
    return found;
  }

  const Kernel& kernel_;
  const Problem& problem_;
  const Program& program_;
  std::vector<Agent> agents_;
  std::vector<std::vector<Slot>> rings_;  ///< per barrier
  std::vector<std::size_t> writer_;       ///< per barrier: the role that tells
  std::vector<Cycle> free_;               ///< per unit
  std::vector<OrderedUses> turns_;        ///< per unit; of those that serve one op at a time
};

}  // namespace

ProgramPeriod program_period(const Kernel& kernel, const Problem& problem, const Schedule& schedule, const Program& program) {
  const ProgramPeriod found = TimedBlock(kernel, problem, schedule, program, true).run();
  return found.stuck ? TimedBlock(kernel, problem, schedule, program, false).run() : found;
}

}  // namespace heddle::codegen
