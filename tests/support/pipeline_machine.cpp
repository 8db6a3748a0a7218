// Groups take turns at random; an asynchronous op finishes when chance says so.
#include "tests/support/pipeline_machine.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "core/analysis/channels.h"
#include "core/problem/storage.h"

namespace heddle::test {
namespace {

using Kind = PipelineLine::Kind;
using Part = PipelineWindow::Part;

/// An mbarrier: flips its phase when as many arrivals came as it expects.
struct Barrier {
  int expected = 1, pending = 1;
  int completed = 0;
  void arrive() {
    if (--pending > 0) return;
    ++completed;
    pending = expected;
  }
  /// mbarrier.try_wait.parity: the phase of this parity has completed.
  bool passed(int parity) const { return (completed & 1) != parity; }
};

struct Instruction {
  const PipelineLine* line;
  int iteration;
};

enum class State { NotYet, Issued, Finished };

class Machine {
 public:
  Machine(const Problem& problem, const Schedule& schedule, const PipelineProgram& program, int iterations, std::mt19937& random)
      : problem_(problem), schedule_(schedule), program_(program), count_(iterations), random_(random) {
    state_.assign(problem.ops.size(), std::vector<State>(static_cast<std::size_t>(iterations), State::NotYet));
    for (const PipelineGroup& group : program.groups) {
      code_.emplace_back();
      unroll(group, code_.back());
    }
    at_.assign(code_.size(), 0);
    flying_.resize(code_.size());
  }

  std::string run() {
    while (true) {
      std::vector<std::pair<std::size_t, bool>> moves;  // group, and whether one of its asynchronous ops finishes
      for (std::size_t g = 0; g < code_.size(); ++g) {
        if (at_[g] < code_[g].size() && ready(g)) moves.emplace_back(g, false);
        if (!flying_[g].empty()) moves.emplace_back(g, true);
      }
      if (moves.empty()) break;
      const auto [g, finish] = moves[random_() % moves.size()];
      if (finish)
        land(g);
      else
        step(g);
      if (!fault_.empty()) return fault_;
    }
    for (std::size_t g = 0; g < code_.size(); ++g)
      if (at_[g] < code_[g].size()) {
        const Instruction& stuck = code_[g][at_[g]];
        return fmt::format("group {} is stuck at line kind {} of {} iteration {}", g, static_cast<int>(stuck.line->kind),
                           problem_.op(stuck.line->op).name, stuck.iteration);
      }
    for (std::size_t v = 0; v < state_.size(); ++v)
      for (int i = 0; i < count_; ++i)
        if (state_[v][static_cast<std::size_t>(i)] != State::Finished)
          return fmt::format("{} of iteration {} did not run", problem_.ops[v].name, i);
    return {};
  }

 private:
  using FullKey = std::tuple<OpId, ValueId, Cycle, int>;

  void unroll(const PipelineGroup& group, std::vector<Instruction>& code) const {
    for (const PipelineWindow& window : pipeline_windows(group)) {
      const bool steady = window.part == Part::Steady;
      for (int k = steady ? group.stages - 1 : 0; k < (steady ? count_ : 1); ++k)
        for (const PipelineStep& step : window.steps) {
          const PipelineLine& line = group.lines[step.line];
          const int base = steady ? k : window.part == Part::Fill ? 0 : count_;
          const int iteration = base + step.offset;
          if (step.check_first && iteration < line.first) continue;
          if (step.check_last && iteration >= count_ - line.spare) continue;
          code.push_back({&line, iteration});
        }
    }
  }

  Barrier& full(OpId op, ValueId value, Cycle delay, int slot) { return full_[{op, value, delay, slot}]; }
  Barrier& empty(ChannelId channel, int slot) {
    const auto [found, fresh] = empty_.try_emplace({channel, slot});
    if (fresh) found->second.expected = found->second.pending = program_.releases[channel.index()];
    return found->second;
  }

  bool finished(OpId op, int iteration) const { return state_[op.index()][static_cast<std::size_t>(iteration)] == State::Finished; }

  bool ready(std::size_t g) {
    const auto [line, i] = code_[g][at_[g]];
    const int m = i - line->distance;
    switch (line->kind) {
      case Kind::Wait: {
        if (!line->channel.valid()) return told_.contains({line->other, line->value, line->delay, m});
        const int depth = schedule_.depth(line->channel);
        return full(line->other, line->value, line->delay, m % depth).passed((m / depth) & 1);
      }
      case Kind::Retire: return finished(line->other, m);
      case Kind::Acquire: {
        const int depth = schedule_.depth(line->channel);
        return empty(line->channel, i % depth).passed(((i / depth) & 1) ^ 1);
      }
      default: return true;
    }
  }

  void commit(const PipelineLine& line, int i) {
    if (line.channel.valid())
      full(line.op, line.value, line.delay, i % schedule_.depth(line.channel)).arrive();
    else
      told_.insert({line.op, line.value, line.delay, i});
  }
  void release(const PipelineLine& line, int i) { empty(line.channel, (i - line.distance) % schedule_.depth(line.channel)).arrive(); }

  void step(std::size_t g) {
    const auto [line, i] = code_[g][at_[g]++];
    switch (line->kind) {
      case Kind::Issue: return issue(g, line->op, i);
      case Kind::Commit:
        if (!line->hardware && line->delay >= problem_.op(line->op).latency && !finished(line->op, i))
          return fail(line->op, i, "is committed before it has finished");
        if (line->hardware)
          after_flight(g, line, i, false);
        else
          commit(*line, i);
        return;
      case Kind::Release:
        if (line->hardware)
          after_flight(g, line, i, true);
        else
          release(*line, i);
        return;
      default: return;
    }
  }

  /// A copy signals when it has finished itself; a product, like tcgen05.commit, when everything issued so far has.
  void after_flight(std::size_t g, const PipelineLine* line, int i, bool all) {
    std::vector<std::pair<OpId, int>> open;
    for (const auto& [op, iteration] : flying_[g])
      if (all || (op == line->op && iteration == i)) open.emplace_back(op, iteration);
    if (open.empty()) return signal(*line, i);
    owed_.push_back({{line, i}, std::move(open)});
  }
  void signal(const PipelineLine& line, int i) { line.kind == Kind::Commit ? commit(line, i) : release(line, i); }

  void issue(std::size_t g, OpId op, int i) {
    State& state = state_[op.index()][static_cast<std::size_t>(i)];
    if (state != State::NotYet) return fail(op, i, "runs twice");
    if (i > 0 && state_[op.index()][static_cast<std::size_t>(i - 1)] == State::NotYet) return fail(op, i, "overtakes the iteration before");
    for (const Edge& e : problem_.edges) {
      if (e.to != op || i < e.distance) continue;
      const State from = state_[e.from.index()][static_cast<std::size_t>(i - e.distance)];
      const bool loose = e.latency < problem_.op(e.from).latency && schedule_.group(e.from) == schedule_.group(op);
      const bool order_only = !e.value.valid() && e.latency < problem_.op(e.from).latency;
      if (from == State::NotYet || (from == State::Issued && !loose && !order_only))
        return fail(op, i, fmt::format("runs before {} of {} iterations ago has finished", problem_.op(e.from).name, e.distance));
    }
    for (std::size_t c = 0; c < problem_.channels.size(); ++c) check_slot(ChannelId(c), op, i);
    if (problem_.op(op).asynchronous) {
      state = State::Issued;
      flying_[g].emplace_back(op, i);
    } else {
      state = State::Finished;
    }
  }

  /// The writer of iteration i refills what iteration i - depth wrote: all its readers must have finished.
  void check_slot(ChannelId id, OpId op, int i) {
    const Channel& channel = problem_.channel(id);
    const int m = i - schedule_.depth(id);
    if (channel.writer != op || schedule_.depth(id) == 0 || m < 0) return;
    for (const Reader& r : channel.readers)
      if (reader_counts(channel, r, schedule_) && m + r.distance < count_ && !(r.op == op && m + r.distance == i) &&
          !finished(r.op, m + r.distance))
        return fail(op, i, fmt::format("overwrites ring {} while {} reads it", channel.name, problem_.op(r.op).name));
  }

  /// Ops whose end arrives on a barrier finish in any order, the others of a group in theirs.
  void land(std::size_t g) {
    auto& flying = flying_[g];
    std::size_t which = random_() % flying.size();
    if (!completes_on_barrier(problem_, flying[which].first)) {
      which = 0;
      while (completes_on_barrier(problem_, flying[which].first)) ++which;
    }
    const auto ended = flying[which];
    flying.erase(flying.begin() + static_cast<std::ptrdiff_t>(which));
    state_[ended.first.index()][static_cast<std::size_t>(ended.second)] = State::Finished;
    for (std::size_t o = 0; o < owed_.size();) {
      std::erase(owed_[o].second, ended);
      if (!owed_[o].second.empty()) {
        ++o;
        continue;
      }
      const Instruction then = owed_[o].first;
      owed_.erase(owed_.begin() + static_cast<std::ptrdiff_t>(o));
      signal(*then.line, then.iteration);
    }
  }

  void fail(OpId op, int i, const std::string& what) { fault_ = fmt::format("{} of iteration {} {}", problem_.op(op).name, i, what); }

  const Problem& problem_;
  const Schedule& schedule_;
  const PipelineProgram& program_;
  const int count_;
  std::mt19937& random_;
  std::vector<std::vector<State>> state_;
  std::vector<std::vector<Instruction>> code_;
  std::vector<std::size_t> at_;
  std::vector<std::vector<std::pair<OpId, int>>> flying_;                        ///< per group, in the order of issue
  std::vector<std::pair<Instruction, std::vector<std::pair<OpId, int>>>> owed_;  ///< signals, and what they wait for
  std::map<FullKey, Barrier> full_;                                              ///< by slot
  std::set<FullKey> told_;                                                       ///< by iteration, where no ring gives the signal a slot
  std::map<std::pair<ChannelId, int>, Barrier> empty_;
  std::string fault_;
};

}  // namespace

std::string run_pipeline(const Problem& problem, const Schedule& schedule, const PipelineProgram& program, int iterations,
                         std::mt19937& random) {
  return Machine(problem, schedule, program, iterations, random).run();
}

}  // namespace heddle::test
