#include "app/session/questions.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/ask/price.h"
#include "app/session/environment.h"
#include "app/session/open_document.h"

namespace heddle::app {
namespace {

/// The answer speaks of the schedule that was shown.
bool about_the_schedule(Topic topic) { return topic == Topic::Slack || topic == Topic::Latency; }

/// Nothing is left to find out.
bool whole(const AnyAnswer& answer) { return answer.index() != 0 && cut_short(answer).empty(); }

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
  Subject subject{content.instance(), content.constraints};
  subject.source = content.source;
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

bool Questions::answered(Topic topic) const { return up_to_date(question(topic), topic, document_.content); }

std::string Questions::why_no_question(Topic topic) const {
  if (!environment_.ask) return environment_.solver_name;
  if (!document_.content.kernel) return "open a kernel first";
  if (!document_.content.machine) return "open a machine first";
  if (!document_.content.problem) return document_.content.kernel->name + " cannot be scheduled on " + document_.content.machine->name;
  const ScheduleEntry* entry = document_.content.entry();
  if (about_the_schedule(topic) && !entry) return "there is no schedule yet";
  if (topic == Topic::Latency && !entry->verdict.valid()) return "the shown schedule breaks a rule already";
  if (topic == Topic::Latency && !document_.selection.primary().valid()) return "select an op first";
  if (topic == Topic::Family || topic == Topic::Layouts)
    if (const std::string reason = document_.content.why_not(topic == Topic::Family ? SourceUse::Family : SourceUse::Layouts);
        !reason.empty())
      return reason;
  if (topic == Topic::Price && !has_price(document_.content.constraints, document_.content.choices))
    return "no constraint is switched on, and nothing is said of layouts";
  return {};
}

void Questions::on(const Ask& c) {
  if (const std::string reason = why_no_question(c.topic); !reason.empty())
    return say(LogLevel::Warning, fmt::format("not asking ({}): {}", to_string(c.topic), reason));
  QuestionState& asked = question_of(c.topic);
  AskOptions options = c.options;
  if (!why_no_question(Topic::Layouts).empty()) options.layouts_open = false;
  if (c.topic == Topic::Latency && !options.latency.op.valid()) options.latency.op = document_.selection.primary();
  if (asked.active()) on(CancelAsk{c.topic});
  put_aside(c.topic);
  if (const QuestionState* before = earlier_answer(c.topic, options); before && !(asked.options == options && answered(c.topic))) {
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
  std::erase(waiting_, c.topic);
  Question question;
  question.topic = c.topic;
  question.options = asked.options;
  if (!question.options.timeout_seconds) question.options.timeout_seconds = static_cast<double>(settings_.search_seconds);
  question.subject = subject_of(document_.content, c.topic);
  if (c.topic == Topic::Pareto) question.known = known_steps(asked.options);
  if (c.topic == Topic::Compare) question.given = contenders_of(document_.content);
  to_ask_[static_cast<std::size_t>(c.topic)] = std::move(question);
  waiting_.push_back(c.topic);
  start_next_question();
  changed();
}

void Questions::put_aside(Topic topic) {
  constexpr std::size_t kMost = 48;
  const QuestionState& asked = question_of(topic);
  if (asked.active() || asked.answer.index() == 0 || !asked.failure.empty()) return;
  std::erase_if(earlier_, [&](const Earlier& e) {
    return e.topic == topic && e.asked.problem == asked.problem && e.asked.constraints == asked.constraints &&
           e.asked.entry == asked.entry && e.asked.options == asked.options;
  });
  earlier_.push_back({topic, asked});
  if (earlier_.size() > kMost) earlier_.erase(earlier_.begin());
}

const QuestionState* Questions::earlier_answer(Topic topic, const AskOptions& options) const {
  for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e)
    if (e->topic == topic && e->asked.options == options && up_to_date(e->asked, topic, document_.content) && whole(e->asked.answer))
      return &e->asked;
  return nullptr;
}

bool Questions::remembers(Topic topic, const AskOptions& options) const {
  const QuestionState& now = question(topic);
  return earlier_answer(topic, options) || (!now.active() && now.options == options && answered(topic) && whole(now.answer));
}

std::vector<ParetoStep> Questions::known_steps(const AskOptions& options) const {
  for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e)
    if (const auto* front = e->asked.as<Pareto>(); front && front->against == options.pareto.against &&
                                                   e->asked.options.layouts_open == options.layouts_open &&
                                                   up_to_date(e->asked, Topic::Pareto, document_.content))
      return front->steps;
  return {};
}

void Questions::recall_answers() {
  for (const Topic topic : kTopics) {
    QuestionState& asked = question_of(topic);
    if (asked.active() || answered(topic)) continue;
    for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e) {
      if (e->topic != topic || !up_to_date(e->asked, topic, document_.content)) continue;
      QuestionState found = e->asked;
      put_aside(topic);
      asked = std::move(found);
      break;
    }
  }
}

void Questions::leave_answers() {
  for (const Topic topic : kTopics) {
    QuestionState& asked = question_of(topic);
    if (asked.phase != QuestionState::Phase::Done || asked.document == document_.content.document) continue;
    put_aside(topic);
    asked = {};
  }
}

std::shared_ptr<const Problem> Questions::same_as_asked(std::shared_ptr<const Problem> problem) const {
  const std::string hash = problem_hash(*problem);
  const auto same = [&](const QuestionState& asked) {
    // Two kernels may have one loop and differ around it.
    return asked.answer.index() != 0 && asked.problem && asked.kernel == document_.content.kernel &&
           asked.machine == document_.content.machine && asked.problem->changes == problem->changes && problem_hash(*asked.problem) == hash;
  };
  for (const QuestionState& asked : questions_)
    if (same(asked)) return asked.problem;
  for (const Earlier& e : earlier_)
    if (same(e.asked)) return e.asked.problem;
  return problem;
}

void Questions::start_next_question() {
  if (question_job_ || waiting_.empty()) return;
  answering_ = waiting_.front();
  waiting_.erase(waiting_.begin());
  QuestionState& asked = question_of(answering_);
  asked.phase = QuestionState::Phase::Running;
  asked.doing = "starting";
  say(LogLevel::Info, fmt::format("{}: asked", to_string(answering_)));
  question_job_ = start_question(environment_.ask, std::move(to_ask_[static_cast<std::size_t>(answering_)]), environment_.wake);
}

void Questions::on(const CancelAsk& c) {
  QuestionState& asked = question_of(c.topic);
  if (asked.phase == QuestionState::Phase::Waiting) {
    std::erase(waiting_, c.topic);
    asked.phase = QuestionState::Phase::Done;
    asked.doing = "cancelled";
    return changed();
  }
  if (asked.phase != QuestionState::Phase::Running) return;
  question_job_->cancel();
  asked.phase = QuestionState::Phase::Stopping;
  asked.doing = "stopping";
  changed();
}

bool Questions::pump() {
  if (!question_job_) return false;
  const bool ended = question_job_->state() == WorkState::Finished;
  QuestionState& asked = question_of(answering_);
  // A newer question of the same topic may be waiting: then these events are dropped.
  const bool ours = asked.phase == QuestionState::Phase::Running || asked.phase == QuestionState::Phase::Stopping;
  std::vector<QuestionEvent> events = question_job_->drain();
  if (ours) asked.seconds = question_job_->seconds();
  for (QuestionEvent& event : events) {
    if (!ours) break;
    if (auto* so_far = std::get_if<AnswerSoFar>(&event)) {
      if (asked.phase == QuestionState::Phase::Running) asked.doing = so_far->doing;
      if (so_far->answer.index() != 0) asked.answer = std::move(so_far->answer);
    } else if (auto* answer = std::get_if<AnyAnswer>(&event)) {
      asked.answer = std::move(*answer);
      const bool stopped = asked.phase == QuestionState::Phase::Stopping;  // by the user: no warning
      asked.phase = QuestionState::Phase::Done;
      asked.doing.clear();
      if (whole(asked.answer))
        say(LogLevel::Good, fmt::format("{}: answered in {:.2f} s", to_string(answering_), asked.seconds));
      else
        say(stopped ? LogLevel::Info : LogLevel::Warning,
            fmt::format("{}: {} after {:.2f} s, the answer is partial", to_string(answering_),
                        asked.answer.index() == 0 ? "no answer" : cut_short(asked.answer), asked.seconds));
    } else if (auto* failure = std::get_if<JobFailure>(&event)) {
      asked.phase = QuestionState::Phase::Done;
      asked.failure = failure->message;
      say(LogLevel::Bad, fmt::format("{}: failed: {}", to_string(answering_), failure->message));
    }
  }
  if (ended) {
    question_job_.reset();
    start_next_question();
  }
  if (!events.empty() || ended) changed();
  return !events.empty() || ended;
}

}  // namespace heddle::app
