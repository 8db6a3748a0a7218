// One question to the solver in the background: explain, slack, price, latency, sensitivity, alternatives, pareto, compare, family, paper,
// layouts.
// A question is a value that holds all it needs; partial answers come while it runs, the whole one at the end.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "app/ask/subject.h"
#include "app/jobs/ask_options.h"
#include "app/jobs/solve_job.h"
#include "app/jobs/worker.h"
#include "core/answers/alternatives.h"
#include "core/answers/chosen_layouts.h"
#include "core/answers/explanation.h"
#include "core/answers/kernel_set.h"
#include "core/answers/latency.h"
#include "core/answers/paper.h"
#include "core/answers/pareto.h"
#include "core/answers/price.h"
#include "core/answers/scoreboard.h"
#include "core/answers/sensitivity.h"
#include "core/answers/slack.h"

namespace heddle::app {

struct Question {
  Topic topic = Topic::Explain;
  AskOptions options;
  std::optional<Subject> subject;  ///< slack needs a schedule, latency's range is that of one; of its limits the options' time holds
  std::vector<ParetoStep> known;   ///< pareto: of an earlier answer to the same question
  std::vector<Contender> given;    ///< compare: of the list, besides what is shipped
};

/// A family of kernels, or what is wrong with the way it was asked for.
struct FamilyAnswer {
  KernelSetAnswer set;
  std::vector<Fault> faults;
  bool cancelled = false, timed_out = false;
};

/// Layouts, instructions and schedule chosen together, or why nothing is open.
struct LayoutsAnswer {
  ChosenLayouts chosen;
  std::vector<Fault> faults;
  bool cancelled = false, timed_out = false;
};

using AnyAnswer = std::variant<std::monostate, Explanation, SlackRanges, Prices, LatencyRange, Sensitivity, Alternatives, Pareto,
                               Scoreboard, FamilyAnswer, PaperAnswer, LayoutsAnswer>;

/// "cancelled", "time is up"; empty: nothing had a part in the answer but what was asked.
std::string cut_short(const AnyAnswer& answer);

/// The answer as far as it has come; `answer` may be empty when only `doing` is news.
struct AnswerSoFar {
  std::string doing;
  AnyAnswer answer;
};
/// The last event of a question is an AnyAnswer or a JobFailure.
using QuestionEvent = std::variant<AnswerSoFar, AnyAnswer, JobFailure>;
using QuestionJob = Worker<QuestionEvent>;
using AskListener = std::function<void(AnswerSoFar)>;
using AskFunction = std::function<AnyAnswer(const Question&, std::stop_token, const AskListener&)>;

/// The real solver, or an empty function in a build without one.
AskFunction built_in_answers();
std::unique_ptr<QuestionJob> start_question(AskFunction ask, Question question, std::function<void()> wake);

}  // namespace heddle::app
