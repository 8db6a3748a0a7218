// When wgmmas are issued and awaited: one of a sum in flight, and whose turn it is on the tensor core.
#include <algorithm>
#include <set>

#include "codegen/program/passes.h"

namespace heddle::codegen {
namespace {

constexpr std::size_t kMostSwitches =
    4;  ///< from role to role per iteration; each costs about 30 cycles, and more of them order nothing worth it

bool may_stay_in_flight(const ProgramDraft& draft, std::size_t role, OpId product) {
  const RoleDraft& role_draft = draft.roles[role];
  const Op& op = draft.problem.op(product);
  const Cycle start = draft.schedule.ops[product.index()].start;
  const Step* issue = nullptr;
  int waits = 0;
  for (const LoopStep& s : role_draft.loop) {
    if (s.step.kind == StepKind::Issue && s.step.engine == Engine::Mma && s.step.op.index == product.index()) issue = &s.step;
    waits += s.step.kind == StepKind::Retire && s.retires == product;
  }
  if (!issue || waits != 1 || !role_draft.chained[issue->output.index]) return false;
  for (const Place& p : issue->inputs)
    if (p.kind == Place::Kind::Variable && p.index != issue->output.index) return false;
  for (const LoopStep& s : role_draft.loop) {
    const auto touches = [&](const Place& p) { return p.kind == Place::Kind::Variable && p.index == issue->output.index; };
    const bool own = s.step.engine == Engine::Mma && s.step.op.index == product.index();
    if (!own && (touches(s.step.output) || std::any_of(s.step.inputs.begin(), s.step.inputs.end(), touches))) return false;
  }
  for (std::size_t c = 0; c < draft.problem.channels.size(); ++c) {
    const Channel& channel = draft.problem.channels[c];
    const auto reader = std::find_if(channel.readers.begin(), channel.readers.end(), [&](const Reader& r) { return r.op == product; });
    if (reader == channel.readers.end() || draft.schedule.depths[c] == 0) continue;
    if (start + draft.schedule.ii + op.window + reader->signal >
        draft.schedule.ops[channel.writer.index()].start + draft.schedule.depths[c] * draft.schedule.ii)
      return false;
  }
  return true;
}

}  // namespace

std::map<std::pair<std::size_t, std::int64_t>, TurnOrder::Turn> TurnOrder::of(std::int64_t trips, std::size_t* first,
                                                                              std::size_t* last) const {
  struct Issue {
    Cycle time;
    std::size_t op, role;
    std::int64_t iteration;
  };
  std::vector<Issue> issues;
  for (const Product& p : products)
    for (std::int64_t i = 0; i < trips; ++i) issues.push_back({p.start + i * ii, p.op, p.role, i});
  std::sort(issues.begin(), issues.end(), [](const Issue& a, const Issue& b) { return std::tie(a.time, a.op) < std::tie(b.time, b.op); });
  std::map<std::pair<std::size_t, std::int64_t>, Turn> turns;
  for (std::size_t k = 0; k < issues.size(); ++k) {
    const Issue &before = issues[(k + issues.size() - 1) % issues.size()], &after = issues[(k + 1) % issues.size()];
    Turn turn{before.role != issues[k].role, {}};
    if (after.role != issues[k].role) turn.pass = after.role;
    turns[{issues[k].op, issues[k].iteration}] = turn;
  }
  if (first && !issues.empty()) *first = issues.front().role;
  if (last && !issues.empty()) *last = issues.back().role;
  return turns;
}

void keep_one_in_flight(ProgramDraft& draft) {
  if (draft.program.blackwell()) return;
  for (std::size_t r = 0; r < draft.roles.size(); ++r) {
    auto& loop = draft.roles[r].loop;
    std::vector<OpId> products;
    for (const LoopStep& s : loop)
      if (s.step.kind == StepKind::Retire && s.step.engine == Engine::Mma && s.distance == 0 && may_stay_in_flight(draft, r, s.retires))
        products.push_back(s.retires);
    for (const OpId product : products) {
      // The wait and what it is there for go behind the commit, for the iteration before.
      const auto wait = std::find_if(loop.begin(), loop.end(),
                                     [&](const LoopStep& s) { return s.step.kind == StepKind::Retire && s.retires == product; });
      const auto end = std::find_if(
          wait + 1, loop.end(), [&](const LoopStep& s) { return s.step.kind != StepKind::Arrive || s.step.op.index != product.index(); });
      std::vector<LoopStep> moved(wait, end);
      if (end != loop.end()) end->new_line = true;
      loop.erase(wait, end);
      const auto commit = std::find_if(loop.begin(), loop.end(), [&](const LoopStep& s) {
        return s.step.kind == StepKind::Commit && s.step.engine == Engine::Mma && s.step.op.index == product.index();
      });
      for (LoopStep& s : moved) {
        s.step.stage = commit->step.stage + 1;
        s.step.slot = commit->step.slot;
        s.new_line = false;  // the loop is not cut between an mma and the wait for the one before
      }
      loop.insert(commit + 1, moved.begin(), moved.end());
    }
  }
}

void order_turns(ProgramDraft& draft) {
  if (draft.program.blackwell()) return;
  draft.turns.products.clear();
  draft.turns.ii = draft.schedule.ii;
  std::set<std::size_t> works;  // roles that do more in the loop than issue wgmmas
  for (std::size_t r = 0; r < draft.roles.size(); ++r)
    for (const LoopStep& s : draft.roles[r].loop) {
      if (s.step.kind == StepKind::Compute) works.insert(r);
      if (s.step.kind == StepKind::Issue && s.step.engine == Engine::Mma)
        draft.turns.products.push_back({s.step.op.index, r, draft.schedule.ops[s.step.op.index].start});
    }
  std::set<std::size_t> roles;
  for (const TurnOrder::Product& p : draft.turns.products) roles.insert(p.role);
  std::size_t switches = 0;
  std::vector<std::pair<Cycle, std::size_t>> window;
  for (const TurnOrder::Product& p : draft.turns.products) window.emplace_back(p.start % draft.schedule.ii, p.role);
  std::sort(window.begin(), window.end());
  for (std::size_t k = 0; k < window.size(); ++k) switches += window[k].second != window[(k + 1) % window.size()].second;
  const bool wanted = draft.options.turns && draft.schedule.turns && roles.size() > 1 && draft.roles.size() < 8 &&
                      switches <= kMostSwitches &&
                      std::all_of(roles.begin(), roles.end(), [&](std::size_t r) { return works.contains(r) && draft.warps_of(r) == 4; });
  if (!wanted) return draft.turns.products.clear();
  OrderBarriers turns{{roles.begin(), roles.end()}, 0, 0};
  (void)draft.turns.of(draft.program.trips, &turns.first, &turns.last);
  draft.program.turns = std::move(turns);
}

}  // namespace heddle::codegen
