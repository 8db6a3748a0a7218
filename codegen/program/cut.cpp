// Cutting every role's loop and folding its run into prologue, steady loop and drain. Everything is read off a trace: the role's steps for
// a number of trips that is small but has the same beginning, middle and end as the real one.
#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "codegen/program/passes.h"
#include "codegen/program/trace.h"

namespace heddle::codegen {
namespace {

constexpr int kMostUnroll = 4;
constexpr int kMovedRegisters = 8;  ///< values up to this size are moved rather than given copies by unrolling

struct Copies {
  std::vector<int> count;  ///< per variable
  std::vector<bool> moves;
  int unroll = 1;
  int carried = 0;  ///< registers from one pass to the next
};

class Folder {
 public:
  Folder(const Problem& problem, const Program& program, const TurnOrder& turns, const RoleDraft& draft)
      : problem_(problem), program_(program), trips_(program.trips), order_(turns), draft_(draft) {}

  /// A pass begins with the line `cut`; those before it come last, an iteration ahead.
  void set_cut(std::size_t cut) {
    loop_.clear();
    int least = std::numeric_limits<int>::max();
    for (std::size_t k = 0; k < draft_.loop.size(); ++k) {
      const std::size_t at = (cut + k) % draft_.loop.size();
      LoopStep step = draft_.loop[at];
      if (at >= cut) ++step.step.stage;
      least = std::min(least, step.step.stage);
      loop_.push_back(std::move(step));
    }
    stages_ = 1;
    for (LoopStep& s : loop_) {
      s.step.stage -= least;
      stages_ = std::max(stages_, s.step.stage + 1);
    }
    cursors_.clear();
  }

  int stages() const { return stages_; }

  std::size_t cursor(int depth, int lag, bool per_tile) {
    for (std::size_t c = 0; c < cursors_.size(); ++c)
      if (cursors_[c].depth == depth && cursors_[c].lag == lag && cursors_[c].per_tile == per_tile) return c;
    cursors_.push_back({depth, lag, per_tile});
    return cursors_.size() - 1;
  }

  /// The run of `trips` iterations. Steps say the depth of their ring where they will have a cursor.
  std::vector<Event> trace(std::int64_t trips) {
    std::vector<Event> events;
    for (const Step& step : draft_.begin) events.push_back({with_cursors(step, 0, true), -1, {}, 0});
    std::vector<Step> loads;
    for (const Step& step : draft_.loads) loads.push_back(with_cursors(step, 0, true));
    const auto load_tile = [&](std::int64_t window) {
      for (Step& step : std::exchange(loads, {})) events.push_back({std::move(step), window, {}, 0});
    };
    const std::int64_t windows = loop_.empty() ? 0 : trips + stages_ - 1;
    const auto turns = order_.of(trips);
    for (const LoopStep& s : loop_) with_cursors(s.step, s.step.stage, false);  // all cursors exist before any advances
    for (std::int64_t w = 0; w < windows; ++w) {
      for (const LoopStep& s : loop_) {
        const std::int64_t i = w - s.step.stage;
        if (i < s.first || i < 0 || i >= trips - s.spare || i >= trips) continue;
        Event event{with_cursors(s.step, s.step.stage, false), w, s.retires, i - s.distance};
        event.step.iteration = i;
        for (Place& p : event.step.inputs)
          if (p.iteration > kPerTile) p.iteration = std::max<std::int64_t>(p.iteration + i, -1);
        event.step.output.iteration += i;
        const Step& step = event.step;
        const auto turn = step.engine == Engine::Mma && step.op.list == OpRef::List::Body ? turns.find({step.op.index, i}) : turns.end();
        const bool takes = step.kind == StepKind::Issue && turn != turns.end() && turn->second.take;
        const bool passes = step.kind == StepKind::Commit && turn != turns.end() && turn->second.pass;
        Step meet;
        meet.op = step.op;
        meet.iteration = i;
        meet.stage = step.stage;
        meet.slot = step.slot;
        meet.kind = takes ? StepKind::TakeTurn : StepKind::PassTurn;
        meet.barrier = passes ? *turn->second.pass : 0;
        const bool loads_first = step.engine == Engine::Load;
        if (takes) events.push_back({meet, w, {}, 0});
        events.push_back(std::move(event));
        if (passes) events.push_back({meet, w, {}, 0});
        if (loads_first) load_tile(w);
      }
      for (std::size_t c = 0; c < cursors_.size(); ++c) {
        const std::int64_t i = w - cursors_[c].lag;
        if (!cursors_[c].per_tile && i >= 0 && i < trips) events.push_back({advance(c, i), w, {}, 0});
      }
    }
    load_tile(windows);
    for (const Step& step : draft_.end) {
      Event event{with_cursors(step, 0, true), windows, {}, 0};
      event.step.iteration = trips;
      for (Place& p : event.step.inputs)
        if (p.iteration >= 0) p.iteration += trips - trips_;
      events.push_back(std::move(event));
    }
    await_operands(events);
    for (const Release& release : draft_.releases)
      release_tile(events, release.buffer, {with_cursors(release.arrive, 0, true), windows, {}, 0});
    if (program_.blackwell()) order_tensor_accesses(events, program_.buffers, program_.barriers, draft_);
    for (std::size_t c = 0; c < cursors_.size(); ++c)
      if (cursors_[c].per_tile) events.push_back({advance(c, trips), windows, {}, 0});
    return events;
  }

  /// How many copies every variable needs. A value is alive from where it is made to its last read, and as long as a
  /// wgmma in flight may still touch it.
  Copies count_copies(const std::vector<Event>& events, const std::vector<std::size_t>& finished) const {
    Copies copies;
    const std::size_t count = draft_.role.variables.size();
    copies.count.assign(count, 1);
    copies.moves.assign(count, false);
    std::vector<std::vector<std::size_t>> defined(count), last(count);
    using Version = std::tuple<std::size_t, std::size_t, std::int64_t>;
    std::map<Version, std::size_t> number;
    for (std::size_t p = 0; p < events.size(); ++p) {
      const Step& step = events[p].step;
      const bool async = step.kind == StepKind::Issue;
      for (std::size_t k = 0; k < step.inputs.size(); ++k) {
        const Place& in = step.inputs[k];
        if (in.kind != Place::Kind::Variable) continue;
        const auto it = number.find({in.index, in.value, in.iteration});
        if (it == number.end()) continue;  // the interpreter and fold() complain
        std::size_t& end = last[in.index][it->second];
        end = std::max(end, async && k != 2 ? finished[p] : p);
      }
      if (step.output.kind != Place::Kind::Variable) continue;
      const std::size_t v = step.output.index;
      number[{v, step.output.value, step.output.iteration}] = defined[v].size();
      defined[v].push_back(p);
      last[v].push_back(async && finished[p] != kNever ? finished[p] : p);
    }
    const auto middle = static_cast<std::size_t>(
        std::find_if(events.begin(), events.end(), [&](const Event& e) { return e.window == 2 * stages_ + 8; }) - events.begin());
    for (std::size_t v = 0; v < count; ++v) {
      for (std::size_t d = 0; d < defined[v].size(); ++d) {
        if (defined[v][d] < middle && last[v][d] >= middle) copies.carried += draft_.role.variables[v].registers;
        int later = 0;
        for (std::size_t n = d + 1; n < defined[v].size() && defined[v][n] < last[v][d]; ++n) ++later;
        // A chain keeps its place: the wgmma writes where it reads.
        if (later > 0 && !in_chain(events, v, defined[v], d, last[v][d])) copies.count[v] = std::max(copies.count[v], later + 1);
      }
      copies.moves[v] = copies.count[v] > 1 && !draft_.by_mma[v] && draft_.role.variables[v].registers <= kMovedRegisters;
      if (!copies.moves[v]) copies.unroll = std::lcm(copies.unroll, copies.count[v]);
    }
    return copies;
  }

  /// The trace's copies, then its windows as sections. False: the windows of the loop are not alike.
  bool fold(const Copies& copies, Role& role) {
    const int unroll = copies.unroll;
    std::int64_t low = 0;
    std::int64_t below = 0;  // steps are left out in so many of the last windows
    for (const LoopStep& s : loop_) {
      low = std::max<std::int64_t>(low, s.step.stage + (may_be_skipped(s.step) ? 0 : s.first));
      below = std::max<std::int64_t>(below, stages_ - 1 - s.step.stage + (may_be_skipped(s.step) ? 0 : s.spare));
    }
    const std::int64_t enough = low + below + 2 * stages_ + 8 * unroll + 8;
    const std::int64_t small = loop_.empty() || trips_ <= enough + unroll ? trips_ : enough + (trips_ - enough) % unroll;
    auto events = trace(small);
    settle_groups(events);
    drop_idle(events);
    resolve_copies(copies, events);
    const std::int64_t windows = loop_.empty() ? 0 : small + stages_ - 1;
    const std::int64_t shift = trips_ - small;
    std::vector<std::vector<Step>> steps(static_cast<std::size_t>(windows) + 2);  // begin, windows, end
    for (Event& e : events) steps[static_cast<std::size_t>(e.window + 1)].push_back(std::move(e.step));

    role.sections.clear();
    role.stages = stages_;
    role.cursors = cursors_;
    using Part = Section::Part;
    bool after_loop = false;
    const auto straight = [&](Part part, std::size_t index, std::int64_t move) {
      Section section{part, false, 1, 1, static_cast<std::int64_t>(index) - 1, std::move(steps[index])};
      for (Step& s : section.steps) move_by(s, move);
      section.first += move;
      section.after = after_loop;
      if (!section.steps.empty()) role.sections.push_back(std::move(section));
    };
    straight(Part::Begin, 0, 0);
    after_loop = loop_.empty();           // a role without a loop has its end after the loops of the others
    std::int64_t high = windows - below;  // one past the last full window
    std::vector<Step> pass;               // of the loop
    for (int tries = 0; (high - low) / unroll >= 2; ++tries) {
      const End differs = one_pass(steps, low, (high - low) / unroll, unroll, pass);
      if (differs == End::None) break;
      if (tries == 4 * stages_ + 4) return false;
      differs == End::First ? ++low : --high;
    }
    const std::int64_t small_passes = high > low ? (high - low) / unroll : 0;
    const bool loop = small_passes >= 2;
    const std::int64_t passes = loop ? small_passes + shift / unroll : 0;
    const std::int64_t end_of_loop = loop ? low + small_passes * unroll : 0;
    if (!loop && shift != 0) return false;
    for (std::int64_t w = 0; w < (loop ? low : 0); ++w) straight(Part::Fill, static_cast<std::size_t>(w + 1), 0);
    if (loop) {
      Section section{Part::Steady, true, passes, unroll, low, {}};
      section.steps = std::move(pass);
      role.sections.push_back(std::move(section));
      after_loop = true;
    }
    for (std::int64_t w = end_of_loop; w < windows; ++w) {
      const Part part = w < low ? Part::Fill : w < high ? Part::Steady : Part::Drain;
      straight(part, static_cast<std::size_t>(w + 1), shift);
    }
    straight(Part::End, static_cast<std::size_t>(windows + 1), shift);
    for (std::size_t v = 0; v < role.variables.size(); ++v) {
      role.variables[v].copies = copies.count[v];
      role.variables[v].moves = copies.moves[v];
    }
    return true;
  }

  /// The wgmma ops whose groups cross the back edge, are over when others are left in flight, and whose registers ordinary code of
  /// the loop touches, be it after another wait (probed: C7514 too). A wait for a sum is one for all that it adds up.
  std::vector<OpId> lost_groups(const Role& role) const {
    std::vector<OpId> lost;
    for (const Section& section : role.sections) {
      if (!section.loop) continue;
      struct Group {
        std::vector<std::size_t> ops;
        bool crossed = false;
      };
      std::deque<Group> flying;
      std::vector<std::size_t> open;
      for (int pass = 0; pass < 2; ++pass) {
        for (Group& group : flying) group.crossed = true;
        for (const Step& step : section.steps) {
          if (step.engine != Engine::Mma) continue;
          if (step.kind == StepKind::Issue) open.push_back(step.op.index);
          if (step.kind == StepKind::Commit) flying.push_back({std::exchange(open, {})});
          if (step.kind != StepKind::Retire) continue;
          for (; flying.size() > static_cast<std::size_t>(step.keep); flying.pop_front())
            for (const std::size_t op : flying.front().ops)
              if (flying.front().crossed && step.keep > 0 && touched(section, op)) lost.emplace_back(op);
        }
      }
    }
    return lost;
  }

 private:
  Step advance(std::size_t c, std::int64_t iteration) const {
    Step step;
    step.kind = StepKind::Advance;
    step.cursor = c;
    step.iteration = iteration;
    step.stage = cursors_[c].lag;
    return step;
  }

  static bool on_ring(const Step& step) {
    return step.kind == StepKind::Wait || step.kind == StepKind::Arrive || step.kind == StepKind::Signal || step.engine == Engine::Load;
  }

  /// Until now `cursor` holds the depth of the ring.
  Step with_cursors(Step step, int lag, bool per_tile) {
    if (on_ring(step)) step.cursor = cursor(static_cast<int>(step.cursor), lag, per_tile);
    const auto place = [&](Place& p) {
      if (p.kind != Place::Kind::Buffer) return;
      const Buffer& buffer = program_.buffers[p.index];
      const bool tile = p.iteration <= kPerTile || (buffer.tensor() && buffer.per_tile);
      p.cursor = cursor(static_cast<int>(p.cursor), tile ? 0 : lag, tile || per_tile);
      if (p.iteration <= kPerTile) p.iteration = kPerTile;
    };
    for (Place& p : step.inputs) place(p);
    place(step.output);
    return step;
  }

  bool in_chain(const std::vector<Event>& events, std::size_t variable, const std::vector<std::size_t>& defined, std::size_t d,
                std::size_t last) const {
    // The next definitions up to `last` are wgmmas that add to this one while it is in flight.
    for (std::size_t n = d + 1; n < defined.size() && defined[n] < last; ++n) {
      const Step& step = events[defined[n]].step;
      if (step.engine != Engine::Mma || step.inputs.size() < 3 || step.inputs[2].index != variable) return false;
    }
    return true;
  }

  /// Without: waits for groups that have been awaited already or are awaited again at once; advances of cursors whose slot is
  /// always 0 and whose phase is not needed.
  void drop_idle(std::vector<Event>& events) const {
    std::vector<bool> matters;
    for (const RingCursor& c : cursors_) matters.push_back(c.depth > 1);
    for (const Event& e : events)
      if (on_ring(e.step)) matters[e.step.cursor] = true;
    int flying = 0;
    std::erase_if(events, [&](const Event& e) {
      if (e.step.kind == StepKind::Advance) return !matters[e.step.cursor];
      if (e.step.engine != Engine::Mma) return false;
      if (e.step.kind == StepKind::Commit) ++flying;
      if (e.step.kind != StepKind::Retire) return false;
      const bool idle = flying <= e.step.keep;
      flying = std::min(flying, e.step.keep);
      return idle;
    });
    const auto retires = [](const Event& e) { return e.step.kind == StepKind::Retire && e.step.engine == Engine::Mma; };
    for (std::size_t p = 0; p + 1 < events.size(); ++p)
      if (retires(events[p]) && retires(events[p + 1]) && events[p].window == events[p + 1].window)
        events.erase(events.begin() + static_cast<std::ptrdiff_t>(p--));
  }

  void resolve_copies(const Copies& copies, std::vector<Event>& events) const {
    std::map<std::tuple<std::size_t, std::size_t, std::int64_t>, int> made;  // version -> which definition
    std::vector<int> definitions(copies.count.size(), 0);
    for (Event& event : events) {
      const auto modulo = [&](const Place& p) {
        const int count = copies.count[p.index];
        return static_cast<int>(((p.iteration % count) + count) % count);
      };
      for (Place& p : event.step.inputs) {
        if (p.kind != Place::Kind::Variable) continue;
        const auto it = made.find({p.index, p.value, p.iteration});
        if (!copies.moves[p.index])
          p.copy = p.iteration <= kPerTile ? 0 : modulo(p);
        else if (it != made.end())
          p.copy = definitions[p.index] - 1 - it->second;
      }
      Place& out = event.step.output;
      if (out.kind != Place::Kind::Variable) continue;
      made[{out.index, out.value, out.iteration}] = definitions[out.index]++;
      if (!copies.moves[out.index]) out.copy = out.iteration <= kPerTile ? 0 : modulo(out);
    }
  }

  static void move_by(Step& step, std::int64_t shift) {
    step.iteration += shift;
    const auto place = [&](Place& p) {
      if (p.kind != Place::Kind::None && p.iteration >= 0) p.iteration += shift;
    };
    for (Place& p : step.inputs) place(p);
    place(step.output);
  }

  /// What a pass may leave out without a copy of its own: a branch around it costs nothing, and ptxas follows wgmmas over it.
  static bool may_be_skipped(const Step& s) {
    return s.kind == StepKind::TakeTurn || s.kind == StepKind::PassTurn || s.kind == StepKind::Sync || s.kind == StepKind::FenceBefore ||
           s.kind == StepKind::FenceAfter || s.kind == StepKind::AwaitReads || s.kind == StepKind::AwaitWrites ||
           (s.kind == StepKind::Retire && s.engine == Engine::Store);
  }

  static bool differ_in_iterations_only(const Step& a, const Step& b) {
    const auto same_place = [](const Place& p, const Place& q) {
      return p.kind == q.kind && p.index == q.index && p.copy == q.copy && p.cursor == q.cursor && p.value == q.value;
    };
    if (a.kind != b.kind || a.op != b.op || a.engine != b.engine || a.barrier != b.barrier || a.cursor != b.cursor || a.keep != b.keep ||
        a.piece != b.piece || a.ahead != b.ahead || a.fence != b.fence || a.inputs.size() != b.inputs.size() ||
        !same_place(a.output, b.output))
      return false;
    for (std::size_t p = 0; p < a.inputs.size(); ++p)
      if (!same_place(a.inputs[p], b.inputs[p])) return false;
    return true;
  }

  enum class End { None, First, Last };

  /// A tile that was loaded once is free: the last pass may end with it and others not.
  bool frees_tile(const Step& s) const { return (s.kind == StepKind::Arrive || s.kind == StepKind::Signal) && cursors_[s.cursor].per_tile; }

  /// The `count` passes that begin at window `low` as one of them, its iterations those of the first. Not None: the first or the
  /// last of them is not like those in the middle.
  End one_pass(const std::vector<std::vector<Step>>& steps, std::int64_t low, std::int64_t count, int unroll,
               std::vector<Step>& pass) const {
    const auto steps_of = [&](std::int64_t number) {
      std::vector<const Step*> list;
      for (std::int64_t w = low + number * unroll; w < low + (number + 1) * unroll; ++w)
        for (const Step& s : steps[static_cast<std::size_t>(w + 1)]) list.push_back(&s);
      return list;
    };
    const std::int64_t middle = count / 2;
    auto whole = steps_of(middle);
    std::erase_if(whole, [&](const Step* s) { return frees_tile(*s); });
    std::vector<std::pair<std::size_t, const Step*>> only_last;             // before which of the whole
    std::vector<std::int64_t> from(whole.size(), -1), to(whole.size(), 0);  // passes that have the step
    for (std::int64_t p = 0; p < count; ++p) {
      const auto other = steps_of(p);
      std::size_t at = 0;
      bool like = true;
      for (std::size_t k = 0; k <= whole.size() && like; ++k) {
        for (; at < other.size() && frees_tile(*other[at]); ++at) only_last.emplace_back(k, other[at]), like = p + 1 == count;
        if (k == whole.size()) break;
        if (at < other.size() && differ_in_iterations_only(*whole[k], *other[at])) {
          if (from[k] < 0) from[k] = p;
          like = like && (from[k] == p || to[k] == p);  // in one run of passes
          to[k] = p + 1;
          ++at;
        } else {
          like = like && may_be_skipped(*whole[k]);
        }
      }
      if (!like || at < other.size()) return p < middle ? End::First : End::Last;
    }
    pass.clear();
    auto last = only_last.begin();
    for (std::size_t k = 0; k <= whole.size(); ++k) {
      for (; last != only_last.end() && last->first == k; ++last) {
        pass.push_back(*last->second);
        move_by(pass.back(), -(count - 1) * unroll);
        pass.back().only_last = true;
      }
      if (k == whole.size()) break;
      pass.push_back(*whole[k]);
      move_by(pass.back(), -middle * unroll);
      pass.back().skip_first = static_cast<int>(from[k]);
      pass.back().skip_last = static_cast<int>(count - to[k]);
    }
    return End::None;
  }

  std::vector<std::size_t> registers_of(std::size_t mma) const {
    std::vector<std::size_t> registers;
    for (const LoopStep& s : loop_)
      if (s.step.kind == StepKind::Issue && s.step.engine == Engine::Mma && s.step.op.index == mma) {
        if (s.step.output.kind == Place::Kind::Variable) registers.push_back(s.step.output.index);
        for (const Place& p : s.step.inputs)
          if (p.kind == Place::Kind::Variable) registers.push_back(p.index);
      }
    return registers;
  }

  bool touched(const Section& section, std::size_t mma) const {
    const std::vector<std::size_t> registers = registers_of(mma);
    const auto hits = [&](const Place& p) {
      return p.kind == Place::Kind::Variable && std::find(registers.begin(), registers.end(), p.index) != registers.end();
    };
    return std::any_of(section.steps.begin(), section.steps.end(), [&](const Step& s) {
      return (s.kind == StepKind::Compute || s.kind == StepKind::Put) &&
             (hits(s.output) || std::any_of(s.inputs.begin(), s.inputs.end(), hits));
    });
  }

  const Problem& problem_;
  const Program& program_;
  const std::int64_t trips_;
  const TurnOrder& order_;
  const RoleDraft& draft_;
  std::vector<LoopStep> loop_;
  std::vector<RingCursor> cursors_;
  int stages_ = 1;
};

/// An mma and what comes after it of the same iteration, up to who first touches its result with ordinary code: in one stage
/// there is a cut that none of them crosses.
std::optional<UserConstraint> within_one_pass(const Problem& problem, OpId product) {
  UserConstraint demand{"", true, ConstraintKind::SameStage, {problem.op(product).name}, "", 0, 0};
  const auto next = [&](OpId from) {
    for (const Edge& e : problem.edges)
      if (e.from == from && e.distance == 0 && e.to != from && e.value.valid() && problem.value(e.value).space == Space::Register)
        return e.to;
    return OpId();
  };
  for (OpId op = next(product); op.valid() && demand.ops.size() <= problem.ops.size(); op = next(op)) {
    demand.ops.push_back(problem.op(op).name);
    if (!problem.op(op).asynchronous) return demand;
  }
  return std::nullopt;
}

void cut_loop(ProgramDraft& draft, std::size_t role) {
  RoleDraft& role_draft = draft.roles[role];
  Folder folder(draft.problem, draft.program, draft.turns, role_draft);
  std::map<std::tuple<int, int, int, int>, Role> choices;  // of those that are alike in this, the first
  Refusal why = refusal("loop", {}, fmt::format("the loop of role '{}' has no regular middle", role_draft.role.name));
  for (std::size_t cut = 0; cut < std::max<std::size_t>(role_draft.loop.size(), 1); ++cut) {
    if (cut > 0 && !role_draft.loop[cut].new_line) continue;
    folder.set_cut(cut);
    auto events = folder.trace(4 * folder.stages() + 16);  // copies are those of the steady loop, whatever the trips
    const auto finished = settle_groups(events);
    const Copies copies = folder.count_copies(events, finished);
    for (std::size_t v = 0; v < copies.count.size(); ++v)
      if (role_draft.chained[v] && copies.count[v] > 1)
        why = refusal("accumulator_copies", {},
                      fmt::format("the accumulator '{}' would have to exist twice at a time", role_draft.role.variables[v].name));
    bool chains = true;
    for (std::size_t v = 0; v < copies.count.size(); ++v) chains = chains && !(role_draft.chained[v] && copies.count[v] > 1);
    if (!chains) continue;
    if (copies.unroll > kMostUnroll) {
      for (std::size_t v = 0; v < copies.count.size(); ++v)
        if (copies.count[v] > 1 && !copies.moves[v]) {
          const Variable& variable = role_draft.role.variables[v];
          why = refusal("copies", {},
                        fmt::format("'{}' is alive in {} iterations at a time; at most {} copies are written out", variable.name,
                                    copies.count[v], kMostUnroll));
        }
      continue;
    }
    Role folded = role_draft.role;
    if (!folder.fold(copies, folded)) continue;
    int moved = 0;
    for (std::size_t v = 0; v < copies.count.size(); ++v) moved += copies.moves[v] ? copies.count[v] - 1 : 0;
    if (const auto lost = folder.lost_groups(folded); !lost.empty()) {
      const std::string& mma = draft.problem.op(lost.front()).name;
      why = refusal("wgmma_wait", {mma},
                    fmt::format("'{}' is in flight across the back edge of every possible loop and awaited while a younger wgmma "
                                "stays in flight; ptxas would serialise all of them (C7514)",
                                mma),
                    within_one_pass(draft.problem, lost.front()));
      continue;
    }
    choices.emplace(std::tuple(copies.unroll, folder.stages(), moved, copies.carried), std::move(folded));
  }
  if (choices.empty()) return draft.refusals.push_back(std::move(why));
  const int choice = role < draft.options.cuts.size() ? draft.options.cuts[role] : 0, count = static_cast<int>(choices.size());
  role_draft.role = std::move(std::next(choices.begin(), std::clamp(choice, 0, count - 1))->second);
  role_draft.role.cuts = count;
}

}  // namespace

void cut_loops(ProgramDraft& draft) {
  for (std::size_t r = 0; r < draft.roles.size(); ++r) cut_loop(draft, r);
}

}  // namespace heddle::codegen
