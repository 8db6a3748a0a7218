// Edits by class, each timed on one solver that lives through all of them.
#include "tests/bench/warm_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "solver/search/warm.h"

namespace heddle::bench {
namespace {

constexpr Cycle kDrag = 200;

struct EditClass {
  std::string name;
  std::vector<Constraints> edits;
};

UserConstraint pin(const Problem& problem, const Schedule& schedule, std::size_t op, Cycle by) {
  UserConstraint c;
  c.name = fmt::format("pin {} {:+}", problem.ops[op].name, by);
  c.kind = ConstraintKind::Pin;
  c.ops = {problem.ops[op].name};
  c.low = schedule.ops[op].start + by;
  return c;
}

UserConstraint cap(ConstraintKind kind, std::int64_t limit) {
  UserConstraint c;
  c.name = fmt::format("{} {}", to_string(kind), limit);
  c.kind = kind;
  c.high = limit;
  return c;
}

std::int64_t value_of(const SolveOutcome& outcome, const char* name) {
  for (const ObjectiveValue& o : outcome.objectives)
    if (o.name == name) return o.value;
  return 0;
}

std::vector<EditClass> edits_for(const Problem& problem, const SolveOutcome& base) {
  const Schedule& schedule = *base.schedule;
  EditClass drag{"drag one op", {}}, again{"drag a second op", {}}, group{"put into a group", {}}, caps{"cap", {}},
      order{"order two ops", {}};
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    for (const Cycle by : {-kDrag, kDrag}) {
      const UserConstraint one = pin(problem, schedule, v, by);
      if (one.low < 0) continue;
      drag.edits.push_back({one});
      const std::size_t other = (v + problem.ops.size() / 2) % problem.ops.size();
      again.edits.push_back({one, pin(problem, schedule, other, 0)});
    }
    for (int g = problem.has_producer_group() ? 1 : 0; g < problem.max_groups; ++g) {
      if (problem.ops[v].variable_latency) continue;
      UserConstraint c;
      c.kind = ConstraintKind::InGroup;
      c.ops = {problem.ops[v].name};
      c.low = g;
      c.name = fmt::format("{} in group {}", c.ops[0], g);
      group.edits.push_back({c});
    }
    const std::size_t next = (v + 1) % problem.ops.size();
    UserConstraint c;
    c.kind = ConstraintKind::Before;
    c.ops = {problem.ops[next].name, problem.ops[v].name};
    c.name = fmt::format("{} before {}", c.ops[0], c.ops[1]);
    if (next != v) order.edits.push_back({c});
  }
  for (const std::int64_t fewer : {0, 1}) {
    caps.edits.push_back({cap(ConstraintKind::MaxStages, std::max<std::int64_t>(1, stage_count(schedule) - fewer))});
    caps.edits.push_back({cap(ConstraintKind::MaxWarps, value_of(base, "warps") - 4 * fewer)});
    caps.edits.push_back({cap(ConstraintKind::MaxSmem, value_of(base, "smem") - 1024 * fewer)});
    caps.edits.push_back({cap(ConstraintKind::MaxRegisters, value_of(base, "registers") - 8 * fewer)});
  }
  return {drag, again, group, caps, order};
}

struct Times {
  std::vector<double> first, proof, total;
  int raised = 0, infeasible = 0, open = 0;

  void add(const SolveOutcome& outcome, Cycle base_ii) {
    if (outcome.schedule) first.push_back(outcome.seconds.first);
    (outcome.status == Status::Optimal || outcome.status == Status::Infeasible) ? proof.push_back(outcome.seconds.proof) : void(++open);
    total.push_back(outcome.seconds.total);
    infeasible += outcome.status == Status::Infeasible;
    raised += outcome.schedule && outcome.schedule->ii > base_ii;
  }
};

std::string both(std::vector<double> values) {
  if (values.empty()) return "";
  std::sort(values.begin(), values.end());
  return fmt::format("{:.1f} / {:.1f}", 1000 * values[values.size() / 2], 1000 * values.back());
}

Line cells(const std::string& label, const std::string& name, const Times& t) {
  return {label,
          name,
          fmt::format("{}", t.total.size()),
          fmt::format("{}", t.raised),
          fmt::format("{}", t.infeasible),
          fmt::format("{}", t.open),
          both(t.first),
          both(t.proof),
          both(t.total)};
}

void compare(const solver::SolveRequest& request, const Constraints& edit, const SolveOutcome& warm) {
  solver::SolveRequest cold = request;
  cold.constraints = edit;
  const SolveOutcome truth = solver::solve(cold);
  bool same = truth.status == warm.status && truth.schedule.has_value() == warm.schedule.has_value();
  if (same && truth.schedule) same = truth.schedule->ii == warm.schedule->ii;
  if (same && truth.objectives.size() == warm.objectives.size())
    for (std::size_t i = 0; i < truth.objectives.size(); ++i)
      same &= truth.objectives[i].value == warm.objectives[i].value || !truth.objectives[i].proved || !warm.objectives[i].proved;
  fmt::print(stderr, "    from scratch {:.1f} ms{}\n", 1000 * truth.seconds.total, same ? "" : ": ANOTHER ANSWER");
  if (same) return;
  for (const SolveOutcome* o : {&truth, &warm}) {
    fmt::print(stderr, "      {}:", to_string(o->status));
    for (const ObjectiveValue& value : o->objectives) fmt::print(stderr, " {} {}{}", value.name, value.value, value.proved ? "" : "?");
    fmt::print(stderr, "\n");
  }
}

}  // namespace

Line warm_header() { return {"kernel / machine", "edit", "edits", "II rose", "infeasible", "open", "first ms", "proof ms", "all ms"}; }

std::vector<Line> warm_lines(const std::string& label, const Problem& problem, const WarmOptions& options) {
  solver::SolveRequest request;
  request.problem = problem;
  request.timeout_seconds = options.timeout;
  solver::WarmSolver warm(request);
  const SolveOutcome base = warm.solve({});
  if (!base.schedule) return {};
  std::vector<Line> lines;
  Times base_times, undo;
  base_times.add(base, base.schedule->ii);
  lines.push_back(cells(label, "(first solve)", base_times));
  for (const EditClass& edits : edits_for(problem, base)) {
    Times times;
    for (const Constraints& edit : edits.edits) {
      const SolveOutcome outcome = warm.solve(edit);
      times.add(outcome, base.schedule->ii);
      if (options.log)
        fmt::print(stderr, "  {}: {} II {} first {:.1f} proof {:.1f} all {:.1f} ms, {} queries\n", edit[0].name, to_string(outcome.status),
                   outcome.schedule ? outcome.schedule->ii : 0, 1000 * outcome.seconds.first, 1000 * outcome.seconds.proof,
                   1000 * outcome.seconds.total, outcome.queries);
      if (options.compare) compare(request, edit, outcome);
      undo.add(warm.solve({}), base.schedule->ii);
    }
    lines.push_back(cells(label, edits.name, times));
  }
  lines.push_back(cells(label, "take it back", undo));
  return lines;
}

}  // namespace heddle::bench
