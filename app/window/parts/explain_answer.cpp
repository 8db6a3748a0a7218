// Each member becomes a card, and each way out a step on the card of the member that it eases.
#include "app/window/parts/explain_answer.h"
#include "app/session/proposal_commands.h"
#include "app/session/question_state.h"
#include "app/window/kit/pretty_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/explanation.h"
#include "core/answers/period_parts.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/chart/gantt_facts.h"
#include "core/simulate/forecast.h"

namespace heddle::app {
namespace {

/// With more members than this, what each of them prevents would be too long to read at once.
constexpr std::size_t kFew = 6;
constexpr std::size_t kStepsInOneLine = 3;

Highlight pointing(const Session& session, const ExplanationMember& member) {
  const Content& content = session.content();
  Highlight shown;
  shown.why = pretty(member.what);
  shown.ops = member.ops;
  shown.edges = member.edges;
  for (const EdgeId id : member.edges)
    for (const OpId op : {content.problem->edge(id).from, content.problem->edge(id).to})
      if (std::find(shown.ops.begin(), shown.ops.end(), op) == shown.ops.end()) shown.ops.push_back(op);
  if (member.unit.valid()) shown.lanes.push_back(unit_label(content.problem->unit(member.unit)));
  if (member.memory) shown.lanes.push_back(*member.memory == Space::Tmem ? "TMEM live" : "SMEM live");
  if (const ScheduleEntry* entry = content.entry(); entry && member.family.starts_with("register"))
    for (const ScheduleGroup& group : entry->schedule.groups) shown.lanes.push_back("regs " + group.role);
  return shown;
}

ExplainStep step_of(const Explanation& answer, const WayOut& r) {
  ExplainStep step;
  step.decided = decided(r);
  step.change = pretty(r.from.empty() ? fmt::format("{} {}", r.what, r.to) : fmt::format("{} {} -> {}", r.what, r.from, r.to));
  switch (r.status) {
    case Status::Optimal:
      step.gains = !buys_nothing(answer, r);
      step.result = step.gains ? fmt::format("II {}, proved", grouped(r.ii)) : "no gain, proved";
      step.tone = step.gains ? Tone::Good : Tone::Neutral;
      break;
    case Status::Feasible:
      step.result = fmt::format("at most II {}, not decided", grouped(r.ii));
      step.tone = Tone::Warning;
      break;
    case Status::Infeasible:
      step.result = "still no schedule, proved";
      step.tone = Tone::Bad;
      break;
    default:
      step.result = "not decided in time";
      step.tone = Tone::Warning;
      break;
  }
  if (!r.then.empty())
    step.result += (r.status == Status::Infeasible ? "; then in the way: " : "; then ") + pretty(r.then) +
                   (r.status == Status::Infeasible ? "" : " binds");
  if (r.can_be_tried())
    step.attempt = TryRelaxation{r.changes, r.constraint, r.limit, r.choices};
  else
    step.why_not = "no single number of kernel or machine stands for this step";
  return step;
}

std::string best_steps(const std::vector<ExplainStep>& steps) {
  std::string text;
  std::size_t shown = 0;
  for (const ExplainStep& step : steps) {
    if (!step.gains || shown == kStepsInOneLine) continue;
    text += (shown++ ? " · " : "") + step.change + ": " + step.result;
  }
  const auto open = static_cast<std::size_t>(std::count_if(steps.begin(), steps.end(), [](const ExplainStep& s) { return !s.decided; }));
  const std::size_t more = steps.size() - shown - open;
  if (shown == 0)
    text = fmt::format("{} tried, none {}", count_of(steps.size(), "change"),
                       std::all_of(steps.begin(), steps.end(), [](const ExplainStep& s) { return s.tone == Tone::Neutral; })
                           ? "buys anything: proved"
                           : "known to help");
  else if (more > 0)
    text += fmt::format(" · {} more", more);
  return open > 0 ? text + fmt::format(" · {} not decided", open) : text;
}

std::string title_of(const Explanation& e) {
  if (e.refuted) return fmt::format("Why II {} is impossible", grouped(*e.refuted));
  switch (e.status) {
    case Status::Infeasible: return "Why there is no schedule";
    case Status::Invalid: return "This cannot be asked";
    case Status::Optimal: return "No II can be smaller";
    default: return e.ii ? fmt::format("II {} is not proved to be the smallest", grouped(*e.ii)) : "Not decided";
  }
}

std::string note_of(const Explanation& e) {
  const std::size_t n = e.members.size();
  if (n == 0) return pretty(e.sentence);
  if (!e.together) return n == 1 ? "1 reason, by arithmetic" : fmt::format("{} reasons, each enough by itself, by arithmetic", n);
  const std::string count = n == 1 ? "1 rule that cannot hold" : fmt::format("{} rules that cannot hold together", n);
  return count + (e.verified ? " · minimal, re-checked" : " · not shown to be minimal");
}

/// What the period consists of, in one card.
ExplainCard parts_card(const motion::PeriodParts& parts) {
  ExplainCard card;
  card.rule = "period";
  card.sentence = pretty(period_parts_line(parts));
  for (const motion::PeriodPart& part : parts.parts)
    if (part.without) card.detail += fmt::format("{}without {}: {:.1f}", card.detail.empty() ? "" : " · ", part.name, *part.without);
  return card;
}

}  // namespace

void explain_by_answer(const Session& session, const Explanation& e, ExplainModel& model) {
  const Content& content = session.content();
  model.solved = true;
  model.title = title_of(e);
  model.note = note_of(e);
  for (std::size_t i = 0; i < e.members.size(); ++i) {
    const ExplanationMember& member = e.members[i];
    ExplainCard card;
    card.rule = member.family;
    card.sentence = pretty(member.what);
    if (member.unit.valid())
      card.role = content.problem->unit(member.unit).role;
    else
      card.tone = member.family == "user" ? Tone::Warning : Tone::Busy;
    if (e.together && !member.without.empty() && e.members.size() <= kFew)
      card.detail = "Needed: the others alone can be met. This is what then breaks the rule: " + pretty(member.without);
    else if (e.together)
      card.detail = member.needed ? "Needed: the others alone can be met" : "Whether it is needed was not decided";
    card.shown = pointing(session, member);
    for (const WayOut& r : e.ways_out)
      if (r.member == i) card.steps.push_back(step_of(e, r));
    std::stable_partition(card.steps.begin(), card.steps.end(), [](const ExplainStep& s) { return s.decided; });
    if (!card.steps.empty()) card.eased = best_steps(card.steps);
    model.cards.push_back(std::move(card));
    if (e.status == Status::Infeasible && member.constraint) model.core.push_back(*member.constraint);
  }
  if (e.period && chooses_by_period(*content.problem)) model.cards.push_back(parts_card(*e.period));
  const auto remark = [&](std::string text) { model.remarks.push_back(std::move(text)); };
  if (!e.members.empty()) remark(explanation_standing(e));
  for (const std::string& text : e.remarks) remark(pretty(text));
  if (!e.assumptions.empty()) remark("taken for granted: " + pretty(fmt::format("{}", fmt::join(e.assumptions, "; "))));
  if (!session.question(Topic::Explain).active()) model.cut_short = explanation_end(e);
  const ScheduleEntry* entry = content.entry();
  if (entry && e.ii && entry->schedule.ii > *e.ii)
    remark(
        fmt::format("the shown schedule {} has II {}; there is one with II {}", entry->name, grouped(entry->schedule.ii), grouped(*e.ii)));
}

}  // namespace heddle::app
