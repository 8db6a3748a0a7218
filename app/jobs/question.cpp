#include "app/jobs/question.h"

#include <utility>

#ifdef HEDDLE_HAS_SOLVER
#include "app/ask/compare.h"
#include "app/ask/layouts.h"
#include "app/ask/listener.h"
#include "app/ask/price.h"
#include "app/command/option_words.h"
#include "solver/questions/kernel_set_members.h"
#endif

namespace heddle::app {

const char* to_string(Topic topic) {
  switch (topic) {
    case Topic::Explain: return "explain";
    case Topic::Slack: return "slack";
    case Topic::Price: return "price";
    case Topic::Latency: return "latency";
    case Topic::Sensitivity: return "sensitivity";
    case Topic::Alternatives: return "alternatives";
    case Topic::Pareto: return "pareto";
    case Topic::Compare: return "compare";
    case Topic::Family: return "family";
    case Topic::Paper: return "paper";
    case Topic::Layouts: return "layouts";
  }
  return "explain";
}

std::string cut_short(const AnyAnswer& answer) {
  return std::visit(
      [](const auto& a) -> std::string {
        if constexpr (requires {
                        a.cancelled;
                        a.timed_out;
                      })
          return a.cancelled ? "cancelled" : a.timed_out ? "time is up" : "";
        else
          return "";
      },
      answer);
}

#ifdef HEDDLE_HAS_SOLVER
namespace {

template <class T>
AnyAnswer partial(const T& so_far) {
  return so_far;
}
AnyAnswer partial(const KernelSetAnswer& so_far) { return FamilyAnswer{so_far, {}}; }
AnyAnswer partial(const ChosenLayouts& so_far) { return LayoutsAnswer{so_far, {}}; }

/// Hears a question for whoever takes answers of all kinds.
template <class T>
Listener<T> heard_by(const AskListener& tell) {
  Listener<T> listener;
  listener.heard = [tell, doing = std::string()](const News& news, const T* so_far) mutable {
    if (news.doing.empty() && !so_far) return;
    if (!news.doing.empty()) doing = news.doing;
    tell({doing, so_far ? partial(*so_far) : AnyAnswer()});
  };
  listener.solve = [tell](const solver::SolveEvent& event) {
    if (const auto* progress = std::get_if<solver::Progress>(&event)) tell({progress->phase, {}});
  };
  return listener;
}

AnyAnswer family(const Subject& subject, const FamilyOptions& options, std::stop_token stop, const AskListener& tell) {
  FamilyAnswer answer;
  const Result<KernelSetSpec> spec = family_of(subject, options.vary);
  Result<KernelSetAnswer> set =
      spec ? ask_family(*spec, options, subject.limits, std::move(stop), heard_by<KernelSetAnswer>(tell)) : spec.error();
  if (!set) {
    answer.faults = in_options(set.error()).faults;
    return answer;
  }
  answer.set = *std::move(set);
  answer.cancelled = answer.set.cancelled;
  answer.timed_out = answer.set.timed_out;
  return answer;
}

AnyAnswer pareto(const Subject& subject, const ParetoOptions& options, std::vector<ParetoStep> known, std::stop_token stop,
                 const AskListener& tell) {
  Pareto nothing;
  nothing.against = options.against;
  Pareto earlier = nothing;
  earlier.steps = std::move(known);
  Result<Pareto> front = ask_pareto(subject, options, earlier, std::move(stop), heard_by<Pareto>(tell));
  if (front) return *std::move(front);
  nothing.refusal = to_string(in_options(front.error()));
  return nothing;
}

AnyAnswer layouts(Subject subject, std::stop_token stop, const AskListener& tell) {
  LayoutsAnswer answer;
  subject.left_open = {"all"};  // but for what is in force: that is said
  Result<ChosenLayouts> chosen = ask_layouts(subject, {}, std::move(stop), heard_by<ChosenLayouts>(tell));
  if (!chosen) {
    answer.faults = in_options(chosen.error()).faults;
    return answer;
  }
  answer.chosen = *std::move(chosen);
  answer.cancelled = answer.chosen.outcome.cancelled;
  answer.timed_out = answer.chosen.outcome.timed_out;
  return answer;
}

AnyAnswer ask(const Question& q, std::stop_token stop, const AskListener& tell) {
  Subject subject = *q.subject;
  if (q.options.timeout_seconds) subject.limits.timeout_seconds = *q.options.timeout_seconds;
  if (q.options.layouts_open) subject.left_open = {"all"};
  switch (q.topic) {
    case Topic::Explain: return ask_explain(subject, q.options.explain, stop, heard_by<Explanation>(tell));
    case Topic::Slack:
      if (!subject.schedule) return {};
      return ask_slack(subject, q.options.slack, stop, heard_by<SlackRanges>(tell));
    case Topic::Price: return ask_price(subject, stop, heard_by<Prices>(tell));
    case Topic::Latency: return ask_latency(subject, q.options.latency, stop, heard_by<LatencyRange>(tell));
    case Topic::Sensitivity: return ask_sensitivity(subject, q.options.sensitivity, stop, heard_by<Sensitivity>(tell));
    case Topic::Alternatives: return ask_alternatives(subject, q.options.alternatives, stop, heard_by<Alternatives>(tell));
    case Topic::Pareto: return pareto(subject, q.options.pareto, q.known, stop, tell);
    case Topic::Compare: return ask_compare(subject, {}, contenders_with(subject, q.given), stop, heard_by<Scoreboard>(tell)).value();
    case Topic::Family: return family(subject, q.options.family, stop, tell);
    case Topic::Paper: return ask_paper(subject, q.options.paper, stop, heard_by<PaperAnswer>(tell));
    case Topic::Layouts: return layouts(subject, stop, tell);
  }
  return {};
}

}  // namespace

AskFunction built_in_answers() { return ask; }
#else
AskFunction built_in_answers() { return {}; }
#endif

std::unique_ptr<QuestionJob> start_question(AskFunction ask, Question question, std::function<void()> wake) {
  return std::make_unique<QuestionJob>(
      [ask = std::move(ask), question = std::move(question)](std::stop_token stop, const QuestionJob::Push& push) {
        return QuestionEvent(ask(question, std::move(stop), [&](AnswerSoFar so_far) { push(std::move(so_far)); }));
      },
      [](std::string message) { return QuestionEvent(JobFailure{std::move(message)}); }, std::move(wake));
}

}  // namespace heddle::app
