// Waits are placed by walking each circle until what is known to have ended at its beginning no longer changes: what one turn has waited
// for, the next need not.
#include "core/motion/circle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/analysis/turns.h"
#include "core/base/assert.h"
#include "core/base/integer_division.h"
#include "core/problem/storage.h"
#include "core/problem/warp_work.h"

namespace heddle::motion {
namespace {

/// Where an op stands.
struct Place {
  std::size_t group = 0, position = 0;
  int stage = 0;
};

class CircleMaker {
 public:
  CircleMaker(const Problem& problem, const timing::LoopProgram& program)
      : problem_(problem),
        program_(program),
        places_(problem.ops.size()),
        roles_(problem.ops.size()),
        marks_(turn_marks(problem, program)) {
    for (std::size_t g = 0; g < program.streams.size(); ++g)
      for (const timing::StreamStep& step : program.streams[g]) places_[step.op.index()].group = g;
    for (std::size_t v = 0; v < problem.ops.size(); ++v) roles_[v] = warp_role(problem, OpId(v));
    for (std::size_t g = 0; g < program.streams.size(); ++g) streams_.push_back(rotated(g));
    needs_.resize(problem.ops.size());
    collect_data();
    collect_registers();
    collect_credit();
    for (std::vector<Need>& needs : needs_)
      std::stable_sort(needs.begin(), needs.end(), [](const Need& a, const Need& b) { return a.step.crosses < b.step.crosses; });
  }

  GroupCircles run() {
    GroupCircles circles;
    circles.turns = marks_.groups;
    for (std::size_t g = 0; g < streams_.size(); ++g) circles.groups.push_back(circle(g));
    return circles;
  }

  std::vector<CircleStep> circle(std::size_t g) {
    KnownEnds known(problem_.ops.size());
    std::vector<CircleStep> steps;
    constexpr int kRounds = 3;  // knowledge is of one turn back at most: one round gathers it, one uses it
    for (int round = 0; round < kRounds; ++round) {
      steps.clear();
      for (const timing::StreamStep& step : streams_[g]) add_op(step, known, steps);
      for (auto& k : known)
        if (k) --k->last;
    }
    return steps;
  }

 private:
  /// An Await before an op. `last`: of turn j its instance is j + last.
  struct Need {
    CircleStep step;
    int last = 0;
  };
  struct Known {
    int last = 0;
    Ticks extra = 0;
  };
  using KnownEnds = std::vector<std::optional<Known>>;

  const Place& place(OpId op) const { return places_[op.index()]; }
  bool is_product(OpId op) const { return roles_[op.index()] == WarpRole::Product; }

  /// The group's stream from where its circle begins.
  std::vector<timing::StreamStep> rotated(std::size_t g) {
    std::vector<timing::StreamStep> stream = program_.streams[g];
    std::size_t begin = 0;
    std::optional<std::size_t> turn;
    for (std::size_t i = stream.size(); i-- > 0;) {
      if (!is_product(stream[i].op)) continue;
      const auto takes = marks_.takes[stream[i].op.index()];
      if (takes ? !turn || *takes < *turn : !turn) begin = i;
      if (takes && (!turn || *takes < *turn)) turn = takes;
    }
    for (std::size_t i = 0; i < begin; ++i) --stream[i].stage;
    std::rotate(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(begin), stream.end());
    const bool early = std::any_of(stream.begin(), stream.end(), [](const timing::StreamStep& step) { return step.stage < 0; });
    for (std::size_t i = 0; i < stream.size(); ++i) {
      stream[i].stage += early;
      places_[stream[i].op.index()] = {g, i, stream[i].stage};
    }
    return stream;
  }

  /// Of turn j of its circle, the latest instance of `op` that has begun before position `at` of that circle is j + this.
  int latest_before(OpId op, std::size_t at) const { return -place(op).stage - (place(op).position >= at ? 1 : 0); }

  void add_need(OpId before, OpId op, int last, CircleStep step) {
    step.kind = CircleStepKind::Await;
    step.op = op;
    step.stage = place(before).stage;
    step.distance = -last - step.stage;
    step.crosses = place(op).group != place(before).group;
    std::vector<Need>& needs = needs_[before.index()];
    if (step.crosses) {
      const bool looked = std::any_of(needs.begin(), needs.end(), [&](const Need& n) {
        return n.step.crosses && n.step.channel.valid() && n.step.channel == step.channel;
      });
      step.ready = looked ? 0 : problem_.barrier_wait * kCycle;
    }
    needs.push_back({step, last});
  }

  /// From the end of `op` until what its edge says, where that is later.
  Ticks beyond_end(OpId op, Cycle since_start) const {
    const Op& from = problem_.op(op);
    const Cycle own = roles_[op.index()] == WarpRole::Arithmetic ? from.window : from.latency;
    return std::max<Cycle>(0, since_start - own) * kCycle;
  }

  void collect_data() {
    for (const Edge& e : problem_.edges) {
      if (e.from == e.to) continue;
      const bool crosses = place(e.from).group != place(e.to).group;
      const bool comes_late = roles_[e.from.index()] == WarpRole::Copy && problem_.op(e.from).latency > problem_.op(e.from).window;
      if (!crosses && !e.waits && !(comes_late && !problem_.op(e.from).asynchronous)) continue;
      CircleStep step;
      step.extra = beyond_end(e.from, e.latency + (crosses ? e.handoff : 0));
      add_need(e.to, e.from, -place(e.to).stage - e.distance, step);
    }
  }

  /// One copy of each value in registers, or as many as the order needs: a write waits for the latest mma begun before it, at most for
  /// the one that reads what is overwritten.
  void collect_registers() {
    for (const Edge& e : problem_.edges) {
      if (e.hold <= 0 || !e.value.valid() || place(e.from).group != place(e.to).group || e.from == e.to) continue;
      const Place& writer = place(e.from);
      add_need(e.from, e.to, std::min(-writer.stage - 1 + e.distance, latest_before(e.to, writer.position)), {});
    }
  }

  void collect_credit() {
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) {
      const Channel& channel = problem_.channels[c];
      const Place& writer = place(channel.writer);
      for (const Reader& r : channel.readers) {
        const bool crosses = place(r.op).group != writer.group;
        if (r.op == channel.writer || (!crosses && (channel.only_if_crossing || roles_[r.op.index()] == WarpRole::Arithmetic))) continue;
        CircleStep step;
        step.credit = true;
        step.channel = ChannelId(c);
        step.extra = beyond_end(r.op, r.release + (crosses ? r.signal : 0));
        if (roles_[r.op.index()] != WarpRole::Arithmetic) step.extra = (crosses ? r.signal : 0) * kCycle;
        add_need(channel.writer, r.op, -writer.stage - std::max(1, program_.depths[c]) + r.distance, step);
      }
    }
  }

  /// Whether something in the loop makes its group wait for this mma.
  bool is_awaited(OpId op) const {
    return std::any_of(needs_.begin(), needs_.end(), [&](const std::vector<Need>& needs) {
      return std::any_of(needs.begin(), needs.end(), [&](const Need& n) { return n.step.op == op && !n.step.crosses; });
    });
  }

  void add_op(const timing::StreamStep& at, KnownEnds& known, std::vector<CircleStep>& steps) {
    const std::vector<Need>& needs = needs_[at.op.index()];
    const auto turn = marks_.takes[at.op.index()];
    for (const Need& need : needs)
      if (!need.step.crosses) await(need, known, steps);
    if (turn) steps.push_back(turn_step(CircleStepKind::Take, *turn));
    for (const Need& need : needs)
      if (need.step.crosses) await(need, known, steps);
    steps.push_back(own_step(at));
    if (const auto passed = marks_.passes[at.op.index()]) steps.push_back(turn_step(CircleStepKind::Pass, *passed));
    if (!is_product(at.op) || completes_on_barrier(problem_, at.op) || is_awaited(at.op)) return;
    Need before;
    before.last = -at.stage - 1;
    before.step.kind = CircleStepKind::Await;
    before.step.op = at.op;
    before.step.stage = at.stage;
    before.step.distance = 1;
    await(before, known, steps);
  }

  void await(const Need& need, KnownEnds& known, std::vector<CircleStep>& steps) const {
    auto& mine = known[need.step.op.index()];
    if (mine && mine->last >= need.last && mine->extra >= need.step.extra) return;
    mine = mine ? Known{std::max(mine->last, need.last), std::max(mine->extra, need.step.extra)} : Known{need.last, need.step.extra};
    steps.push_back(need.step);
    if (!is_product(need.step.op) || need.step.crosses) return;
    // Mmas of a group end in the order in which they were issued.
    const Place& waited = place(need.step.op);
    const int turn = need.last + waited.stage;
    for (std::size_t v = 0; v < problem_.ops.size(); ++v) {
      const OpId other(v);
      if (other == need.step.op || !is_product(other) || place(other).group != waited.group) continue;
      const int last = turn + latest_before(other, waited.position);
      if (!known[v] || known[v]->last < last) known[v] = Known{last, 0};
    }
  }

  static CircleStep turn_step(CircleStepKind kind, std::size_t turn) {
    CircleStep step;
    step.kind = kind;
    step.turn = turn;
    return step;
  }

  CircleStep own_step(const timing::StreamStep& at) const {
    const Op& op = problem_.op(at.op);
    CircleStep step;
    step.op = at.op;
    step.stage = at.stage;
    switch (roles_[at.op.index()]) {
      case WarpRole::Arithmetic: step.work = op.work == WarpWork{} ? usual_work(op, problem_.units) : op.work; break;
      case WarpRole::Product:
        step.kind = CircleStepKind::Issue;
        step.count = std::max(1, op.instructions);
        step.each = ceil_div(tensor_cycles(op, problem_.units) * kCycle, step.count);
        step.registers = op.from_registers;
        if (problem_.contention.issue_step.value == 0) step.held = op.window * kCycle;
        break;
      case WarpRole::Copy:
        step.kind = CircleStepKind::Copy;
        step.held = op.window * kCycle;
        step.latency = op.latency * kCycle;
        break;
    }
    return step;
  }

  const Problem& problem_;
  const timing::LoopProgram& program_;
  std::vector<Place> places_;  ///< per op; stages are those of the rotated streams
  std::vector<WarpRole> roles_;
  TurnMarks marks_;
  std::vector<std::vector<timing::StreamStep>> streams_;
  std::vector<std::vector<Need>> needs_;  ///< per op, its own group's first
};

}  // namespace

TurnMarks turn_marks(const Problem& problem, const timing::LoopProgram& program) {
  TurnMarks marks;
  marks.takes.resize(problem.ops.size());
  marks.passes.resize(problem.ops.size());
  std::vector<std::size_t> group(problem.ops.size());
  for (std::size_t g = 0; g < program.streams.size(); ++g)
    for (const timing::StreamStep& step : program.streams[g]) group[step.op.index()] = g;
  const auto group_of = [&](OpId op) { return group[op.index()]; };
  for (std::vector<OpId> ops : program.turns) {
    std::erase_if(ops, [&](OpId op) { return warp_role(problem, op) != WarpRole::Product; });
    const auto change = std::adjacent_find(ops.begin(), ops.end(), [&](OpId a, OpId b) { return group_of(a) != group_of(b); });
    if (change == ops.end()) continue;
    if (group_of(ops.front()) == group_of(ops.back())) std::rotate(ops.begin(), change + 1, ops.end());
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (i == 0 || group_of(ops[i]) != group_of(ops[i - 1])) {
        marks.takes[ops[i].index()] = marks.groups.size();
        marks.groups.push_back(group_of(ops[i]));
      }
      if (i + 1 == ops.size() || group_of(ops[i]) != group_of(ops[i + 1])) marks.passes[ops[i].index()] = marks.groups.size() - 1;
    }
    break;  // one tensor core
  }
  return marks;
}

GroupCircles circles_of(const Problem& problem, const timing::LoopProgram& program) {
  HEDDLE_ASSERT(program.depths.size() == problem.channels.size(), "a program needs one depth per ring");
  return CircleMaker(problem, program).run();
}

std::vector<CircleStep> circle_of(const Problem& problem, const timing::LoopProgram& program, std::size_t group) {
  HEDDLE_ASSERT(program.depths.size() == problem.channels.size(), "a program needs one depth per ring");
  return CircleMaker(problem, program).circle(group);
}

timing::LoopProgram program_of(const Problem& problem, const Schedule& schedule) {
  timing::LoopProgram program = timing::program_of(problem, schedule);
  if (schedule.turns)
    for (const Turns& turns : kept_turns(problem, schedule)) {
      std::vector<OpId>& ops = program.turns.emplace_back(turns.ops);
      const auto earlier = [&](OpId a, OpId b) { return schedule.slot(a) < schedule.slot(b); };
      std::rotate(ops.begin(), std::min_element(ops.begin(), ops.end(), earlier), ops.end());
    }
  return program;
}

std::vector<std::string> circle_text(const Problem& problem, const GroupCircles& circles) {
  const auto name = [&](const CircleStep& step) { return problem.op(step.op).name + (step.stage ? fmt::format("@{}", step.stage) : ""); };
  std::vector<std::string> texts;
  for (const std::vector<CircleStep>& circle : circles.groups) {
    std::string& text = texts.emplace_back();
    for (const CircleStep& step : circle) {
      if (!text.empty()) text += " · ";
      switch (step.kind) {
        case CircleStepKind::Arithmetic: text += name(step); break;
        case CircleStepKind::Issue:
          text += fmt::format("issue {}{}", name(step), step.first && step.last ? "" : fmt::format(" x {}", step.count));
          break;
        case CircleStepKind::Copy: text += fmt::format("copy {}", name(step)); break;
        case CircleStepKind::Await: {
          const int back = step.stage + step.distance;
          text += fmt::format("{} {}{}", step.credit ? "free" : "wait", problem.op(step.op).name, back ? fmt::format("@{}", back) : "");
          break;
        }
        case CircleStepKind::Take: text += fmt::format("take {}", step.turn); break;
        case CircleStepKind::Pass: text += fmt::format("pass {}", step.turn); break;
      }
    }
  }
  return texts;
}

}  // namespace heddle::motion
