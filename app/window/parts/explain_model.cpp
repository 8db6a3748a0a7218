#include "app/window/parts/explain_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"
#include "app/window/parts/explain_answer.h"
#include "core/answers/summary.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"

namespace heddle::app {
namespace {

std::vector<OpId> users_of(const Problem& problem, UnitId unit) {
  std::vector<OpId> ops;
  for (std::size_t v = 0; v < problem.ops.size(); ++v)
    for (const UnitUse& use : problem.ops[v].uses)
      if (use.unit == unit && use.duration > 0 && (ops.empty() || ops.back() != OpId(v))) ops.push_back(OpId(v));
  return ops;
}

std::string names(const Problem& problem, const std::vector<OpId>& ops) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> words;
  for (OpId op : ops)
    if (words.size() < kMost) words.push_back(problem.op(op).name);
  std::string text = fmt::format("{}", fmt::join(words, " + "));
  return ops.size() > kMost ? text + fmt::format(" and {} more", ops.size() - kMost) : text;
}

std::vector<OpId> ops_of(const Problem& problem, const Recurrence& recurrence) {
  std::vector<OpId> ops;
  for (EdgeId edge : recurrence.edges) ops.push_back(problem.edge(edge).from);
  return ops;
}

std::string path(const Problem& problem, const Recurrence& recurrence) {
  std::string text;
  for (EdgeId edge : recurrence.edges) text += problem.op(problem.edge(edge).from).name + " → ";
  return recurrence.edges.empty() ? text : text + problem.op(problem.edge(recurrence.edges.front()).from).name;
}

/// The card of what arithmetic alone says.
ExplainCard bound_card(const Problem& problem, const Bounds& bounds) {
  ExplainCard card;
  const Cycle low = bounds.min_ii();
  if (bounds.res_mii == low && bounds.binding_unit.valid()) {
    const Unit& unit = problem.unit(bounds.binding_unit);
    card.role = unit.role;
    card.rule = "unit";
    card.shown.ops = users_of(problem, bounds.binding_unit);
    card.shown.lanes = {unit_label(unit)};
    const auto load =
        std::find_if(bounds.units.begin(), bounds.units.end(), [&](const UnitLoad& l) { return l.unit == bounds.binding_unit; });
    card.sentence =
        fmt::format("{}: {} need{} {} cycles of every {}", unit.name, names(problem, card.shown.ops), card.shown.ops.size() == 1 ? "s" : "",
                    grouped(load == bounds.units.end() ? low : load->bound), grouped(low));
  } else if (bounds.rec_mii == low && !bounds.critical.edges.empty()) {
    card.rule = "recurrence";
    card.shown.ops = ops_of(problem, bounds.critical);
    card.shown.edges = bounds.critical.edges;
    card.sentence = fmt::format("Recurrence: {} takes {} cycles for {}", path(problem, bounds.critical), grouped(bounds.critical.latency),
                                count_of(bounds.critical.distance, "iteration"));
  } else {
    card.sentence = bounds.sentence;
  }
  if (!card.shown.ops.empty()) card.shown.why = card.sentence;
  return card;
}

std::string next_limits(const Problem& problem, const Bounds& bounds, const std::string& binding) {
  std::vector<std::pair<Cycle, std::string>> limits;
  for (const UnitLoad& load : bounds.units) limits.push_back({load.bound, problem.unit(load.unit).name});
  limits.push_back({bounds.rec_mii, "recurrence"});
  limits.push_back({bounds.issue_mii, "issue"});
  std::erase_if(limits, [&](const auto& l) { return l.second == binding || l.first <= 1; });
  std::stable_sort(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < limits.size() && i < 5; ++i)
    text += (i ? " · " : "") + fmt::format("{} {}", limits[i].second, grouped(limits[i].first));
  return text;
}

ExplainCard period_card(const ScheduleEntry& entry) {
  ExplainCard card;
  card.sentence = entry.period.deadlock
                      ? "Run as it stands, this schedule deadlocks"
                      : fmt::format("Run as it stands, an iteration starts every {} cycles", grouped(entry.period.cycles()));
  card.tone = entry.period.deadlock || entry.period.cycles() > entry.schedule.ii ? Tone::Bad : Tone::Good;
  card.rule = "run";
  card.detail = pretty(entry.period.sentence);
  for (const EventEdge& edge : entry.period.cycle) card.shown.ops.push_back(edge.from);
  if (!card.shown.ops.empty()) card.shown.why = card.detail;
  return card;
}

/// What the last solve proved, as far as its own words tell: the sentence, then one card per member of the core.
void explain_refutation(const Session& session, ExplainModel& model) {
  const std::string& text = session.live().explanation;
  constexpr std::string_view kTurn = "because these cannot hold together: ";
  const std::size_t turn = text.find(kTurn);
  model.title = "Why there is no schedule";
  model.note = "proved by the solver";
  ExplainCard first;
  first.tone = Tone::Bad;
  first.sentence = text.empty() ? "The solver refuted every II" : pretty(text.substr(0, turn));
  if (turn != std::string::npos) first.sentence += "because these cannot hold together:";
  model.cards.push_back(std::move(first));
  std::set<std::string> members;
  for (std::size_t at = turn == std::string::npos ? text.size() : turn + kTurn.size(); at < text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    ExplainCard card;
    card.tone = Tone::Warning;
    card.sentence = pretty(text.substr(at, end - at));
    members.insert(text.substr(at, end - at));
    model.cards.push_back(std::move(card));
    at = end + 2;
  }
  const Constraints& constraints = session.content().constraints;
  for (std::size_t i = 0; i < constraints.size(); ++i)
    if (constraints[i].enabled && members.count("user: " + constraints[i].name) > 0) model.core.push_back(i);
}

/// What the independent checker objects to.
void explain_violations(const Problem& problem, const ScheduleEntry& entry, ExplainModel& model) {
  model.title = fmt::format("Why {} is not valid", entry.name);
  model.note = violations_text(entry.verdict) + ", says the independent checker";
  for (const Violation& violation : entry.verdict.violations) {
    ExplainCard card;
    card.tone = Tone::Bad;
    card.rule = violation.family;
    card.sentence = pretty(violation.message);
    if (violation.slot >= 0) card.detail = fmt::format("at slot {}", grouped(violation.slot));
    card.shown = {card.sentence, violation.ops, {}, {}};
    if (violation.family == "unit")
      for (const Unit& unit : problem.units)
        if (violation.message.starts_with(unit.name + ":")) card.shown.lanes.push_back(unit_label(unit));
    if (violation.family == "dependence")
      for (std::size_t e = 0; e < problem.edges.size(); ++e)
        if (violation.ops.size() == 2 && problem.edges[e].from == violation.ops[0] && problem.edges[e].to == violation.ops[1])
          card.shown.edges.push_back(EdgeId(e));
    if (card.shown.ops.empty() && card.shown.lanes.empty()) card.shown = {};
    model.cards.push_back(std::move(card));
  }
  model.cards.push_back(period_card(entry));
}

/// What is known without asking: arithmetic, and what the solve said when it ended.
void explain_at_once(const Content& content, ExplainModel& model) {
  const Problem& problem = *content.problem;
  const Bounds& bounds = *content.bounds;
  const ScheduleEntry* entry = content.entry();
  const Cycle low = bounds.min_ii();
  if (!entry) {
    model.title = fmt::format("Why no II below {} is possible", grouped(low));
    model.note = "arithmetic, no solver needed";
    model.cards.push_back(bound_card(problem, bounds));
    return;
  }
  const Cycle ii = entry->schedule.ii;
  if (ii == low) {
    model.title = fmt::format("Why II {} is impossible", grouped(ii - 1));
    model.note = "by arithmetic, no solver needed";
    model.cards.push_back(bound_card(problem, bounds));
  } else if (entry->lower_bound && *entry->lower_bound == ii) {
    model.title = fmt::format("Why II {} is impossible", grouped(ii - 1));
    model.note = "refuted by the solver";
    ExplainCard card;
    card.sentence = entry->explanation.empty() ? "No schedule exists at that II" : pretty(entry->explanation);
    card.tone = Tone::Busy;
    card.detail = "Neither a unit nor a recurrence alone sets II: the interaction does. By arithmetic alone: " + pretty(bounds.sentence);
    model.cards.push_back(std::move(card));
  } else if (entry->by_time) {
    const auto& proof = entry->schedule.certificate;
    model.title = fmt::format("II {} was chosen for its predicted time", grouped(ii));
    model.note = fmt::format("the least II is {}, proved", grouped(entry->lower_bound.value_or(low))) +
                 (proof ? stages_text(proof->bound_stages) : "");
    model.cards.push_back(bound_card(problem, bounds));
  } else {
    model.title = fmt::format("II {} is not proved to be the smallest", grouped(ii));
    model.note = fmt::format("no II below {} is possible", grouped(entry->lower_bound.value_or(low)));
    model.cards.push_back(bound_card(problem, bounds));
  }
}

/// The answer to the present question, if it says anything.
const Explanation* usable_answer(const Session& session) {
  if (!session.answered(Topic::Explain)) return nullptr;
  const auto* answer = session.question(Topic::Explain).as<Explanation>();
  return answer && (!answer->members.empty() || !session.question(Topic::Explain).active()) ? answer : nullptr;
}

}  // namespace

ExplainModel build_explain(const Session& session) {
  const Content& content = session.content();
  ExplainModel model;
  if (!content.problem) {
    if (content.unresolved) {
      model.title = fmt::format("Why {} does not run on {}", content.kernel->name, content.machine->name);
      for (const Fault& fault : content.unresolved->faults) {
        ExplainCard card;
        card.tone = Tone::Bad;
        card.sentence = pretty(fault.message);
        card.detail = pretty(fault.hint);
        model.cards.push_back(std::move(card));
      }
      return model;
    }
    model.title = "Nothing to explain yet";
    model.note = content.kernel ? "choose a machine" : "open a kernel and a machine";
    return model;
  }
  const QuestionState& asked = session.question(Topic::Explain);
  model.outdated = asked.as<Explanation>() && !session.answered(Topic::Explain);
  const Explanation* answer = usable_answer(session);
  const ScheduleEntry* entry = content.entry();
  const bool none = no_schedule(session);
  if (entry && !entry->verdict.valid() && !none && !(answer && answer->status == Status::Infeasible)) {
    explain_violations(*content.problem, *entry, model);
    return model;
  }
  if (answer)
    explain_by_answer(session, *answer, model);
  else if (none)
    explain_refutation(session, model);
  else
    explain_at_once(content, model);
  if (none || (answer && answer->status == Status::Infeasible)) return model;
  const Bounds& bounds = *content.bounds;
  const Cycle low = bounds.min_ii();
  const std::string binding = bounds.res_mii == low && bounds.binding_unit.valid() ? content.problem->unit(bounds.binding_unit).name
                              : bounds.rec_mii == low                              ? "recurrence"
                                                                                   : "issue";
  model.next = next_limits(*content.problem, bounds, binding);
  if (entry) model.cards.push_back(period_card(*entry));
  return model;
}

std::string explain_as_text(const ExplainModel& model) {
  std::string text = "rule\treason\tdetail\tchange\tresult\n";
  for (const ExplainCard& card : model.cards) {
    text += fmt::format("{}\t{}\t{}\t\t\n", card.rule, card.sentence, card.detail);
    for (const ExplainStep& step : card.steps) text += fmt::format("{}\t\t\t{}\t{}\n", card.rule, step.change, step.result);
  }
  return text;
}

}  // namespace heddle::app
