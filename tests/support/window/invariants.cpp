// Rules of a session, and a walk through its undo stack.
#include "tests/support/window/invariants.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/commands.h"
#include "app/session/question_state.h"
#include "app/session/showing.h"
#include "core/formats/schedule_json.h"
#include "core/problem/resolve.h"

namespace heddle::test {

using namespace heddle::app;

namespace {

using Broken = std::vector<std::string>;

bool same(const Verdict& a, const Verdict& b) {
  return std::equal(a.violations.begin(), a.violations.end(), b.violations.begin(), b.violations.end(),
                    [](const Violation& x, const Violation& y) {
                      return x.family == y.family && x.message == y.message && x.ops == y.ops && x.slot == y.slot && x.amount == y.amount &&
                             x.limit == y.limit;
                    });
}

std::string said(const Verdict& verdict) {
  std::string text;
  for (const Violation& violation : verdict.violations) text += (text.empty() ? "" : "; ") + violation.message;
  return text;
}

void look_at_problem(const Content& content, Broken& broken) {
  if (!content.problem != !content.bounds) broken.push_back("problem and bounds come together");
  if (!content.problem) {
    if (!content.schedules.empty()) broken.push_back("there are schedules without a problem");
    if (content.kernel && content.machine && !content.unresolved) broken.push_back("no problem, and no reason");
    return;
  }
  if (!content.kernel || !content.machine) return broken.push_back("a problem without kernel or machine");
  const auto again = resolve(*content.kernel, *content.machine, content.overrides, content.changes, content.choices);
  if (!again)
    broken.push_back("the problem does not resolve: " + to_string(again.error()));
  else if (problem_hash(*again) != problem_hash(*content.problem))
    broken.push_back("the problem is not that of kernel, machine, parameters and changes");
}

void look_at_entry(const Content& content, const ScheduleEntry& entry, const LiveSolve& live, Broken& broken) {
  const auto wrong = [&](const std::string& what) { broken.push_back(fmt::format("{}: {}", entry.name, what)); };
  if (!content.problem) return;
  if (!fits(*content.problem, entry.schedule)) return wrong("does not fit the problem");
  // What a schedule is not bound by, since others made it for themselves, does not count against it.
  Constraints demands = content.constraints;
  if (entry.unbound)
    for (const UserConstraint& demand : *entry.unbound) std::erase(demands, demand);
  const Verdict verdict = judge(*content.problem, demands, entry.schedule);
  if (!same(verdict, entry.verdict)) wrong(fmt::format("breaks [{}], its verdict says [{}]", said(verdict), said(entry.verdict)));
  // Pins may mean the schedule moved as a whole; the rules are the same everywhere.
  const bool only_user =
      std::all_of(verdict.violations.begin(), verdict.violations.end(), [](const Violation& v) { return v.family == "user"; });
  if (check(*content.problem, entry.schedule).valid() != only_user) wrong("its verdict is not that of the checker");
  if ((entry.status == Status::Invalid) == verdict.valid()) wrong("status and verdict disagree");
  if (entry.status == Status::Infeasible) wrong("is a schedule and called infeasible");
  const Period period = sustainable_period(*content.problem, entry.schedule);
  if (period.cycles() != entry.period.cycles() || period.deadlock != entry.period.deadlock) wrong("its sustainable period is another one");
  if (verdict.valid() && entry.lower_bound && *entry.lower_bound > entry.schedule.ii)
    wrong(fmt::format("II {} below the bound {}", entry.schedule.ii, *entry.lower_bound));
  if (verdict.valid() && entry.status == Status::Optimal && entry.lower_bound != entry.schedule.ii)
    wrong("is called optimal without its bound");
  if (entry.running && !live.active()) wrong("is still running while nothing is solved");
}

void look_at_pointing(const Session& session, Broken& broken) {
  const Content& content = session.content();
  const std::size_t ops = content.problem ? content.problem->ops.size() : 0;
  const std::size_t edges = content.problem ? content.problem->edges.size() : 0;
  const std::vector<OpId>& chosen = session.selection().ops;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (!chosen[i].valid() || chosen[i].index() >= ops) broken.push_back("an op is selected that does not exist");
    if (std::count(chosen.begin(), chosen.end(), chosen[i]) > 1) broken.push_back("an op is selected twice");
  }
  for (const OpId op : session.view().highlight.ops)
    if (!op.valid() || op.index() >= ops) broken.push_back("an op is highlighted that does not exist");
  const Alignment& aligned = session.view().alignment;
  if (aligned.at == Alignment::At::Op && (!aligned.op.valid() || aligned.op.index() >= ops))
    broken.push_back("A and B are aligned at an op that does not exist");
  for (const EdgeId edge : session.view().highlight.edges)
    if (!edge.valid() || edge.index() >= edges) broken.push_back("a dependence is highlighted that does not exist");
}

void look_at_questions(const Session& session, Broken& broken) {
  std::size_t at_work = 0;
  for (const Topic topic : kTopics) {
    const QuestionState& asked = session.question(topic);
    const auto wrong = [&](const char* what) { broken.push_back(fmt::format("{}: {}", to_string(topic), what)); };
    if (asked.phase != QuestionState::Phase::None && !asked.problem) wrong("asked about nothing");
    if (asked.phase == QuestionState::Phase::Running || asked.phase == QuestionState::Phase::Stopping) ++at_work;
    if (session.answered(topic) && asked.problem != session.content().problem) wrong("answers another problem");
  }
  if (at_work > 1) broken.push_back("two questions are worked on at once");
  if (at_work > 0 && !session.asking()) broken.push_back("a question is worked on by nobody");
}

}  // namespace

std::vector<std::string> broken_invariants(const Session& session) {
  Broken broken;
  const Content& content = session.content();
  look_at_problem(content, broken);
  if (content.shown && *content.shown >= content.schedules.size()) broken.push_back("A is no schedule of the list");
  if (content.baseline && *content.baseline >= content.schedules.size()) broken.push_back("B is no schedule of the list");
  if (!broken.empty()) return broken;
  if (content.shown.has_value() == content.schedules.empty()) broken.push_back("a list of schedules shows one of them");
  if (content.baseline && content.baseline == content.shown) broken.push_back("A and B are the same schedule");
  int running = 0;
  for (const EntryPtr& entry : content.schedules) {
    look_at_entry(content, *entry, session.live(), broken);
    running += entry->running;
  }
  if (running > 1) broken.push_back("two schedules are running");
  look_at_pointing(session, broken);
  look_at_questions(session, broken);
  const LiveSolve& live = session.live();
  if (live.best && !live.cancelled && *live.best < live.lower_bound) broken.push_back("the best is below the bound");
  const int scale = session.settings().scale_percent;
  if (scale < 50 || scale > 300) broken.push_back(fmt::format("scale {} %", scale));
  if (session.iterations() < 1 || session.iterations() > kMostIterations)
    broken.push_back(fmt::format("{} iterations", session.iterations()));
  return broken;
}

std::string fingerprint(const Content& content) {
  std::string text;
  const auto line = [&](const std::string& what) { text += what + "\n"; };
  if (content.kernel) line("kernel " + content.kernel->name);
  if (content.machine) line("machine " + content.machine->name);
  for (const auto& [name, value] : content.overrides) line(fmt::format("{}={}", name, value));
  if (content.problem) line("problem " + problem_hash(*content.problem));
  if (content.unresolved) line("unresolved " + to_string(*content.unresolved));
  for (const Change& change : content.changes) line(fmt::format("change {} {}", describe(change), change.enabled));
  for (const UserConstraint& c : content.constraints)
    line(fmt::format("constraint {} {} {} {} {} {}", c.name, c.enabled, static_cast<int>(c.kind), fmt::join(c.ops, ","), c.low, c.high));
  for (const EntryPtr& entry : content.schedules) {
    line(fmt::format("schedule {} {} bound {}", entry->name, static_cast<int>(entry->status), entry->lower_bound.value_or(-1)));
    if (content.problem && fits(*content.problem, entry->schedule)) line(schedule_text(*content.problem, entry->schedule));
  }
  if (content.shown) line(fmt::format("A {}", *content.shown));
  if (content.baseline) line(fmt::format("B {}", *content.baseline));
  for (const Note& note : content.notes) line(fmt::format("note {} {} {}", note.text, note.op, note.at));
  return text;
}

std::vector<std::string> walk_undo(Session& session) {
  Broken broken;
  const auto look = [&](const char* when) {
    for (const std::string& rule : broken_invariants(session)) broken.push_back(fmt::format("{}: {}", when, rule));
  };
  while (session.next_redo()) session.apply(Redo{});
  std::vector<std::string> stops{fingerprint(session.content())};
  while (session.next_undo() && broken.empty()) {
    session.apply(Undo{});
    stops.push_back(fingerprint(session.content()));
    look("undoing");
  }
  for (std::size_t left = stops.size() - 1; left-- > 0 && broken.empty();) {
    if (!session.next_redo()) {
      broken.push_back("redo ends before undo began");
      break;
    }
    const std::string what = *session.next_redo();
    session.apply(Redo{});
    if (fingerprint(session.content()) != stops[left]) broken.push_back("done again, it is something else: " + what);
    look("doing again");
  }
  if (broken.empty() && session.next_redo()) broken.push_back("more can be done again than was undone");
  return broken;
}

}  // namespace heddle::test
