// The session's side of questions: one runs at a time, the others wait their turn.
#include <fmt/format.h>

#include <algorithm>

#include "app/ask/price.h"
#include "app/session/session_core.h"
#include "app/session/triton_source.h"

namespace heddle::app {
namespace {

/// The answer speaks of the schedule that was shown.
bool about_the_schedule(Topic topic) { return topic == Topic::Slack || topic == Topic::Latency; }

/// Nothing is left to find out.
bool whole(const Answer& answer) { return answer.index() != 0 && cut_short(answer).empty(); }

/// The schedules of the list that are not the solver's own, which takes part anyway.
std::vector<Contender> contenders_of(const Content& content) {
  std::vector<Contender> contenders;
  for (const EntryPtr& entry : content.schedules) {
    const Provenance& from = entry->schedule.provenance;
    if (from.kind == "solver" || from.kind == "baseline") continue;
    Contender c;
    c.name = entry->name;
    c.kind = from.kind == "hand" ? ContenderKind::Hand : ContenderKind::File;
    c.about = from.note;
    c.schedule = entry->schedule;
    contenders.push_back(std::move(c));
  }
  return contenders;
}

/// Pre: there is a problem.
Subject subject_of(const Content& content, Topic topic) {
  Subject subject{Instance(content.spec(), content.problem), content.constraints};
  if (content.triton) subject.triton = {content.triton->program, content.triton->native};
  const ScheduleEntry* shown = content.entry();
  if (shown && (shown->verdict.valid() || topic == Topic::Slack)) subject.schedule = subject.incumbent = shown->schedule;
  return subject;
}

}  // namespace

bool up_to_date(const QuestionState& asked, Topic topic, const Content& content) {
  if (asked.phase == QuestionState::Phase::None || asked.problem != content.problem) return false;
  if (about_the_schedule(topic)) {
    const EntryPtr shown = content.shown ? content.schedules[*content.shown] : nullptr;
    if (!asked.entry != !shown || (shown && !same_program(asked.entry->schedule, shown->schedule))) return false;
  }
  return asked.constraints == content.constraints;
}

const QuestionState& Session::question(Topic topic) const { return core_->work_.questions[static_cast<std::size_t>(topic)]; }

QuestionState& SessionCore::question_of(Topic topic) { return work_.questions[static_cast<std::size_t>(topic)]; }

bool Session::answered(Topic topic) const { return up_to_date(question(topic), topic, content()); }

std::string Session::why_no_question(Topic topic) const {
  if (!core_->environment_.ask) return solver_name();
  if (!content().kernel) return "open a kernel first";
  if (!content().machine) return "open a machine first";
  if (!content().problem) return content().kernel->name + " cannot be scheduled on " + content().machine->name;
  const ScheduleEntry* entry = content().entry();
  if (about_the_schedule(topic) && !entry) return "there is no schedule yet";
  if (topic == Topic::Latency && !entry->verdict.valid()) return "the shown schedule breaks a rule already";
  if (topic == Topic::Latency && !selection().primary().valid()) return "select an op first";
  if (topic == Topic::Family && content().dump) return "a compiler's dump has no parameters to vary";
  if (topic == Topic::Layouts && content().dump) return "a compiler's dump says nothing of layouts";
  if (topic == Topic::Layouts && content().triton) return "how the tiles of a Triton text lie is Triton's choice";
  if (topic == Topic::Family && content().triton) return "the tiles of a Triton kernel are numbers of its text: vary them in Python";
  if (topic == Topic::Price && !has_price(content().constraints, content().choices))
    return "no constraint is switched on, and nothing is said of layouts";
  return {};
}

void SessionCore::on(const Ask& c) {
  if (const std::string reason = session_.why_no_question(c.topic); !reason.empty())
    return say(LogLevel::Warning, fmt::format("not asking ({}): {}", to_string(c.topic), reason));
  QuestionState& asked = question_of(c.topic);
  AskOptions options = c.options;
  if (!session_.why_no_question(Topic::Layouts).empty()) options.layouts_open = false;
  if (c.topic == Topic::Latency && !options.latency.op.valid()) options.latency.op = document_.selection.primary();
  if (asked.active()) on(CancelAsk{c.topic});
  put_aside(c.topic);
  if (const QuestionState* before = earlier_answer(c.topic, options); before && !(asked.options == options && session_.answered(c.topic))) {
    asked = *before;
    say(LogLevel::Info, fmt::format("{}: known from before", to_string(c.topic)));
    return changed();
  }
  asked = {};
  asked.phase = QuestionState::Phase::Waiting;
  asked.options = std::move(options);
  asked.document = document_.content.document;
  asked.kernel = document_.content.kernel;
  asked.machine = document_.content.machine;
  asked.problem = document_.content.problem;
  asked.constraints = document_.content.constraints;
  asked.entry = document_.content.shown ? document_.content.schedules[*document_.content.shown] : nullptr;
  asked.doing = "waiting for its turn";
  std::erase(work_.waiting, c.topic);
  Question question;
  question.topic = c.topic;
  question.options = asked.options;
  if (!question.options.timeout_seconds) question.options.timeout_seconds = static_cast<double>(settings_.search_seconds);
  question.subject = subject_of(document_.content, c.topic);
  if (c.topic == Topic::Pareto) question.known = known_steps(asked.options);
  if (c.topic == Topic::Compare) question.given = contenders_of(document_.content);
  work_.to_ask[static_cast<std::size_t>(c.topic)] = std::move(question);
  work_.waiting.push_back(c.topic);
  start_next_question();
  changed();
}

void SessionCore::put_aside(Topic topic) {
  constexpr std::size_t kMost = 48;
  const QuestionState& asked = question_of(topic);
  if (asked.active() || asked.answer.index() == 0 || !asked.failure.empty()) return;
  std::erase_if(work_.earlier, [&](const BackgroundWork::Earlier& e) {
    return e.topic == topic && e.asked.problem == asked.problem && e.asked.constraints == asked.constraints &&
           e.asked.entry == asked.entry && e.asked.options == asked.options;
  });
  work_.earlier.push_back({topic, asked});
  if (work_.earlier.size() > kMost) work_.earlier.erase(work_.earlier.begin());
}

const QuestionState* SessionCore::earlier_answer(Topic topic, const AskOptions& options) const {
  for (auto e = work_.earlier.rbegin(); e != work_.earlier.rend(); ++e)
    if (e->topic == topic && e->asked.options == options && up_to_date(e->asked, topic, document_.content) && whole(e->asked.answer))
      return &e->asked;
  return nullptr;
}

bool Session::remembers(Topic topic, const AskOptions& options) const {
  const QuestionState& now = question(topic);
  return core_->earlier_answer(topic, options) || (!now.active() && now.options == options && answered(topic) && whole(now.answer));
}

std::vector<ParetoStep> SessionCore::known_steps(const AskOptions& options) const {
  for (auto e = work_.earlier.rbegin(); e != work_.earlier.rend(); ++e)
    if (const auto* front = e->asked.as<Pareto>(); front && front->against == options.pareto.against &&
                                                   e->asked.options.layouts_open == options.layouts_open &&
                                                   up_to_date(e->asked, Topic::Pareto, document_.content))
      return front->steps;
  return {};
}

void SessionCore::recall_answers() {
  for (const Topic topic : kTopics) {
    QuestionState& asked = question_of(topic);
    if (asked.active() || session_.answered(topic)) continue;
    for (auto e = work_.earlier.rbegin(); e != work_.earlier.rend(); ++e) {
      if (e->topic != topic || !up_to_date(e->asked, topic, document_.content)) continue;
      QuestionState found = e->asked;
      put_aside(topic);
      asked = std::move(found);
      break;
    }
  }
}

void SessionCore::leave_answers() {
  for (const Topic topic : kTopics) {
    QuestionState& asked = question_of(topic);
    if (asked.phase != QuestionState::Phase::Done || asked.document == document_.content.document) continue;
    put_aside(topic);
    asked = {};
  }
}

std::shared_ptr<const Problem> SessionCore::same_as_asked(std::shared_ptr<const Problem> problem) const {
  const std::string hash = problem_hash(*problem);
  const auto same = [&](const QuestionState& asked) {
    // Two kernels may have one loop and differ around it.
    return asked.answer.index() != 0 && asked.problem && asked.kernel == document_.content.kernel &&
           asked.machine == document_.content.machine && asked.problem->changes == problem->changes && problem_hash(*asked.problem) == hash;
  };
  for (const QuestionState& asked : work_.questions)
    if (same(asked)) return asked.problem;
  for (const BackgroundWork::Earlier& e : work_.earlier)
    if (same(e.asked)) return e.asked.problem;
  return problem;
}

void SessionCore::start_next_question() {
  if (work_.question_job || work_.waiting.empty()) return;
  work_.answering = work_.waiting.front();
  work_.waiting.erase(work_.waiting.begin());
  QuestionState& asked = question_of(work_.answering);
  asked.phase = QuestionState::Phase::Running;
  asked.doing = "starting";
  say(LogLevel::Info, fmt::format("{}: asked", to_string(work_.answering)));
  work_.question_job =
      start_question(environment_.ask, std::move(work_.to_ask[static_cast<std::size_t>(work_.answering)]), environment_.wake);
}

void SessionCore::on(const CancelAsk& c) {
  QuestionState& asked = question_of(c.topic);
  if (asked.phase == QuestionState::Phase::Waiting) {
    std::erase(work_.waiting, c.topic);
    asked.phase = QuestionState::Phase::Done;
    asked.doing = "cancelled";
    return changed();
  }
  if (asked.phase != QuestionState::Phase::Running) return;
  work_.question_job->cancel();
  asked.phase = QuestionState::Phase::Stopping;
  asked.doing = "stopping";
  changed();
}

bool SessionCore::pump_questions() {
  if (!work_.question_job) return false;
  const bool ended = work_.question_job->state() == WorkState::Finished;
  QuestionState& asked = question_of(work_.answering);
  // A newer question of the same topic may be waiting: then these events are dropped.
  const bool ours = asked.phase == QuestionState::Phase::Running || asked.phase == QuestionState::Phase::Stopping;
  std::vector<QuestionEvent> events = work_.question_job->drain();
  if (ours) asked.seconds = work_.question_job->seconds();
  for (QuestionEvent& event : events) {
    if (!ours) break;
    if (auto* so_far = std::get_if<AnswerSoFar>(&event)) {
      if (asked.phase == QuestionState::Phase::Running) asked.doing = so_far->doing;
      if (so_far->answer.index() != 0) asked.answer = std::move(so_far->answer);
    } else if (auto* answer = std::get_if<Answer>(&event)) {
      asked.answer = std::move(*answer);
      asked.phase = QuestionState::Phase::Done;
      asked.doing.clear();
      if (whole(asked.answer))
        say(LogLevel::Good, fmt::format("{}: answered in {:.2f} s", to_string(work_.answering), asked.seconds));
      else
        say(LogLevel::Warning, fmt::format("{}: {} after {:.2f} s, the answer is partial", to_string(work_.answering),
                                           asked.answer.index() == 0 ? "no answer" : cut_short(asked.answer), asked.seconds));
    } else if (auto* failure = std::get_if<JobFailure>(&event)) {
      asked.phase = QuestionState::Phase::Done;
      asked.failure = failure->message;
      say(LogLevel::Bad, fmt::format("{}: failed: {}", to_string(work_.answering), failure->message));
    }
  }
  if (ended) {
    work_.question_job.reset();
    start_next_question();
  }
  if (!events.empty() || ended) changed();
  return !events.empty() || ended;
}

bool Session::asking() const { return core_->work_.question_job != nullptr; }

}  // namespace heddle::app
