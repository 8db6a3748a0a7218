// The text begins with the claim: how far it reaches is what a reader must know.
#include "core/answers/chosen_layouts.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/answers/answer_members.h"
#include "core/answers/layout_choice.h"
#include "core/answers/summary.h"
#include "core/formats/choices_json.h"

namespace heddle {
namespace {

constexpr std::int64_t kMostCounted = 1'000'000'000'000'000'000;

/// "a, b and c"
std::string all_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

std::size_t dropped(const LayoutDecision& decision) { return decision.candidates.size() - decision.open().size(); }

std::vector<std::string> decided_values(const OpenLayouts& question) {
  std::vector<std::string> names;
  for (const LayoutDecision& decision : question.decisions) names.insert(names.end(), decision.values.begin(), decision.values.end());
  return names;
}

std::string why_not(const LayoutDecision& decision, std::size_t index, std::size_t chosen) {
  const LayoutCandidate& candidate = decision.candidates[index];
  if (index == chosen) return "chosen";
  if (!candidate.dominated_by) return "open, and no better";
  return candidate.numbers == decision.candidates[*candidate.dominated_by].numbers ? "costs the schedule the same"
                                                                                   : "needs more of something";
}

/// The chosen one, those that were open, then the dominated ones with the fewest cycles of the port.
std::vector<std::size_t> in_order(const LayoutDecision& decision, std::size_t chosen) {
  std::vector<std::size_t> order(decision.candidates.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto key = [&](std::size_t i) {
    const LayoutCandidate& each = decision.candidates[i];
    return std::tuple(i != chosen, each.dominated_by.has_value(), each.cost().port, each.bytes);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace

std::string several_left_text(const OpenLayouts& question) {
  return fmt::format("a front is proved for one problem, and {} combinations of layouts are left after dominated ones are dropped",
                     question.complete ? std::to_string(question.left) : "unknown");
}

std::string open_layouts_text(const OpenLayouts& question) {
  return fmt::format(
      "the layouts and instructions of {} that the catalogue of {} offers ({} in all, {} after those that others dominate "
      "are dropped)",
      all_of(decided_values(question)), question.problem.machine,
      question.combinations < kMostCounted ? count_of(question.combinations, "combination") : "more than 10^18 combinations",
      question.left < kMostCounted ? std::to_string(question.left) : "more than 10^18");
}

std::string layout_claim(const ChosenLayouts& answer) {
  const OpenLayouts& question = answer.question;
  if (question.decisions.empty()) {
    std::string why;
    for (const std::string& each : question.left_out) why += (why.empty() ? "" : "; ") + each;
    return "there is nothing to choose: " + (why.empty() ? "the loop moves no tile between registers and shared memory" : why);
  }
  const std::string where = open_layouts_text(question);
  const SolveOutcome& outcome = answer.outcome;
  const std::string stages = stages_text(outcome.bound_stages);
  if (!question.complete) return fmt::format("of {} some were looked at; there are more, so nothing is said of all", where);
  if (outcome.status == Status::Infeasible)
    return answer.asked_ii ? fmt::format("no schedule at II {} with any of {}", *answer.asked_ii, where)
                           : fmt::format("no schedule with any of {}", where);
  if (!outcome.schedule) return fmt::format("no schedule found yet with {}", where);
  if (answer.asked_ii) return fmt::format("a schedule at II {} with {}", outcome.schedule->ii, where);
  if (outcome.lower_bound < outcome.schedule->ii)
    return fmt::format("no II below {}{} with {}; {} is the best found", outcome.lower_bound, stages, where, outcome.schedule->ii);
  return fmt::format("II {} is the least{} over all schedules and {}{}", outcome.schedule->ii, stages, where,
                     answer.cases > 1 ? fmt::format(", decided in {} cases", answer.cases) : std::string());
}

std::vector<CandidateRow> candidate_rows(const ChosenLayouts& answer) {
  std::vector<CandidateRow> rows;
  for (std::size_t d = 0; d < answer.question.decisions.size(); ++d) {
    const LayoutDecision& decision = answer.question.decisions[d];
    for (const std::size_t i : in_order(decision, answer.chosen[d]))
      rows.push_back(
          {d, i, i == answer.chosen[d], decision.candidates[i].dominated_by.has_value(), why_not(decision, i, answer.chosen[d])});
  }
  return rows;
}

std::string decision_text(const LayoutDecision& decision) {
  return fmt::format("{} for {}, {} of them dominated", count_of(static_cast<std::int64_t>(decision.candidates.size()), "candidate"),
                     all_of(decision.values), dropped(decision));
}

LayoutChoices choices_to_use(const ChosenLayouts& answer, LayoutChoices now) {
  for (std::size_t d = 0; d < answer.question.decisions.size(); ++d)
    if (const LayoutCandidate& chosen = answer.question.decisions[d].candidates[answer.chosen[d]]; !chosen.current)
      now = merged(std::move(now), chosen.choices);
  return now;
}

std::string chosen_layouts_text(const ChosenLayouts& answer, const TextStyle& style) {
  constexpr std::size_t kMostRows = 5;  // of a decision
  std::string text = wrapped(styled(layout_claim(answer), style), "layouts: ", style.width);
  if (!answer.question.decisions.empty())
    for (const std::string& each : answer.question.left_out) text += wrapped(styled(each, style), "left out: ", style.width);
  const std::vector<CandidateRow> all = candidate_rows(answer);
  for (std::size_t d = 0; d < answer.question.decisions.size(); ++d) {
    const LayoutDecision& decision = answer.question.decisions[d];
    std::vector<std::vector<std::string>> rows;
    for (const CandidateRow& row : all) {
      if (row.decision != d || rows.size() == kMostRows) continue;
      const LayoutCandidate& each = decision.candidates[row.candidate];
      const AccessCost sum = each.cost();
      rows.push_back({styled(choices_text(each.choices), style), std::to_string(sum.port), std::to_string(sum.ways),
                      std::to_string(sum.issues), std::to_string(sum.selects), std::to_string(each.bytes), styled(row.why, style)});
    }
    text += "\n" + decision_text(decision) + "\n";
    text += text_table(
        {{"layout and instructions"}, {"port", true}, {"ways", true}, {"issues", true}, {"selects", true}, {"bytes", true}, {"why"}}, rows,
        style.width);
    if (decision.candidates.size() > rows.size())
      text += fmt::format("  and {} more ({} has all)\n", decision.candidates.size() - rows.size(), said_by(style, "json"));
  }
  return text;
}

namespace {

struct CandidateLine {
  const LayoutDecision& decision = blank<LayoutDecision>;
  std::size_t candidate = 0, chosen = 0;
};

struct DecisionLine {
  const LayoutDecision& decision = blank<LayoutDecision>;
  std::size_t chosen = 0;
  std::vector<CandidateLine> candidates{};
};

struct LayoutsAnswer {
  const ChosenLayouts& answer = blank<ChosenLayouts>;
  std::vector<DecisionLine> decisions{};
};

/// {"stage_dq0": "st.shared.8,2,3"}
struct InstructionTexts {
  Json write(const LayoutChoices& choices) const {
    Json object = Json::object();
    for (const auto& [op, choice] : choices.instructions) object.set(op, instruction_text(choice));
    return object;
  }
  Json schema(const LayoutChoices&, Json& definitions) const { return layouts_schema(definitions); }
};

template <class Io>
void visit(Io& io, const CandidateLine& line) {
  const LayoutCandidate candidate = line.decision.candidates.empty() ? LayoutCandidate{} : line.decision.candidates[line.candidate];
  const AccessCost sum = candidate.cost();
  io.written("layouts", candidate.choices.layouts, as::layout_texts), io.written("instructions", candidate.choices, InstructionTexts{});
  io.written("port", sum.port), io.written("ways", sum.ways), io.written("issues", sum.issues), io.written("selects", sum.selects);
  io.written("bytes", candidate.bytes), io.written("registers", candidate.registers), io.written("current", candidate.current);
  io.written(
      "why", [&] { return why_not(line.decision, line.candidate, line.chosen); }, "chosen, or why it is not");
}

template <class Io>
void visit(Io& io, const DecisionLine& line) {
  io.written("values", line.decision.values), io.written("ops", line.decision.ops);
  io.written("chosen", line.chosen, "its place among the candidates");
  io.written("candidates", line.candidates);
}

template <class Io>
void visit(Io& io, const LayoutsAnswer& of) {
  const OpenLayouts& question = of.answer.question;
  io.part("layouts_chosen");
  io.written(
      "claim", [&] { return layout_claim(of.answer); }, "what was proved");
  io.written("not_open", question.left_out), io.written("complete", question.complete), io.written("combinations", question.combinations);
  io.written("left", question.left, "combinations, without those that others dominate");
  io.written("cases", of.answer.cases, "sets of combinations that were solved or refuted, each at once");
  io.written("decisions", of.decisions);
}

}  // namespace

Json chosen_layouts_json(const ChosenLayouts& answer) {
  LayoutsAnswer of{answer};
  for (std::size_t d = 0; d < answer.question.decisions.size(); ++d) {
    of.decisions.push_back({answer.question.decisions[d], answer.chosen[d]});
    DecisionLine& line = of.decisions.back();
    for (std::size_t i = 0; i < line.decision.candidates.size(); ++i) line.candidates.push_back({line.decision, i, line.chosen});
  }
  return as::part.write(of);
}

Json chosen_layouts_schema(Json& definitions) { return as::part.schema(LayoutsAnswer{}, definitions); }

}  // namespace heddle
