// The session's side of questions: one runs at a time, the others wait their turn.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session.h"

namespace heddle::app {
namespace {

/// The answer speaks of the schedule that was shown.
bool about_the_schedule(Topic topic) { return topic == Topic::Slack || topic == Topic::Latency; }

}  // namespace

bool up_to_date(const Inquiry& inquiry, Topic topic, const Content& content) {
  if (inquiry.phase == Inquiry::Phase::None || inquiry.problem != content.problem) return false;
  if (about_the_schedule(topic)) {
    const EntryPtr shown = content.shown ? content.schedules[*content.shown] : nullptr;
    if (!inquiry.entry != !shown || (shown && !same_program(inquiry.entry->schedule, shown->schedule))) return false;
  }
  return inquiry.constraints == content.constraints;
}

const Inquiry& Session::inquiry(Topic topic) const { return inquiries_[static_cast<std::size_t>(topic)]; }
Inquiry& Session::inquiry_of(Topic topic) { return inquiries_[static_cast<std::size_t>(topic)]; }

bool Session::answered(Topic topic) const { return up_to_date(inquiry(topic), topic, content_); }

std::string Session::why_no_question(Topic topic) const {
  if (!environment_.ask) return environment_.solver_name;
  if (!content_.kernel) return "open a kernel first";
  if (!content_.machine) return "open a machine first";
  if (!content_.problem) return content_.kernel->name + " cannot be scheduled on " + content_.machine->name;
  const ScheduleEntry* entry = content_.entry();
  if (about_the_schedule(topic) && !entry) return "there is no schedule yet";
  if (topic == Topic::Latency && !entry->verdict.valid()) return "the shown schedule breaks a rule already";
  if (topic == Topic::Latency && !selection_.primary().valid()) return "select an op first";
  if (topic == Topic::Price && std::none_of(content_.constraints.begin(), content_.constraints.end(),
                                            [](const UserConstraint& c) { return c.enabled; }))
    return "no constraint is switched on";
  return {};
}

void Session::on(const Ask& c) {
  if (const std::string reason = why_no_question(c.topic); !reason.empty())
    return say(LogLevel::Warning, fmt::format("not asking ({}): {}", to_string(c.topic), reason));
  Inquiry& inquiry = inquiry_of(c.topic);
  if (inquiry.active()) on(CancelAsk{c.topic});
  inquiry = {};
  inquiry.phase = Inquiry::Phase::Waiting;
  inquiry.options = c.options;
  if (c.topic == Topic::Latency && !inquiry.options.op.valid()) inquiry.options.op = selection_.primary();
  inquiry.problem = content_.problem;
  inquiry.constraints = content_.constraints;
  inquiry.entry = content_.shown ? content_.schedules[*content_.shown] : nullptr;
  inquiry.doing = "waiting for its turn";
  std::erase(waiting_, c.topic);
  Question question;
  question.topic = c.topic;
  question.options = inquiry.options;
  question.kernel = content_.kernel;
  question.machine = content_.machine;
  question.overrides = content_.overrides;
  question.changes = content_.changes;
  question.problem = content_.problem;
  question.constraints = content_.constraints;
  if (inquiry.entry && (inquiry.entry->verdict.valid() || c.topic == Topic::Slack))
    question.schedule = inquiry.entry->schedule;
  questions_[static_cast<std::size_t>(c.topic)] = std::move(question);
  waiting_.push_back(c.topic);
  start_next_question();
  changed();
}

void Session::start_next_question() {
  if (question_job_ || waiting_.empty()) return;
  asked_ = waiting_.front();
  waiting_.erase(waiting_.begin());
  Inquiry& inquiry = inquiry_of(asked_);
  inquiry.phase = Inquiry::Phase::Running;
  inquiry.doing = "starting";
  say(LogLevel::Info, fmt::format("{}: asked", to_string(asked_)));
  question_job_ = start_question(environment_.ask, std::move(questions_[static_cast<std::size_t>(asked_)]), environment_.wake);
}

void Session::on(const CancelAsk& c) {
  Inquiry& inquiry = inquiry_of(c.topic);
  if (inquiry.phase == Inquiry::Phase::Waiting) {
    std::erase(waiting_, c.topic);
    inquiry.phase = Inquiry::Phase::Done;
    inquiry.doing = "cancelled";
    return changed();
  }
  if (inquiry.phase != Inquiry::Phase::Running) return;
  question_job_->cancel();
  inquiry.phase = Inquiry::Phase::Stopping;
  inquiry.doing = "stopping";
  changed();
}

bool Session::pump_questions() {
  if (!question_job_) return false;
  const bool ended = question_job_->state() == WorkState::Finished;
  Inquiry& inquiry = inquiry_of(asked_);
  // A newer question of the same topic may be waiting: then these events belong to nobody.
  const bool ours = inquiry.phase == Inquiry::Phase::Running || inquiry.phase == Inquiry::Phase::Stopping;
  std::vector<QuestionEvent> events = question_job_->drain();
  if (ours) inquiry.seconds = question_job_->seconds();
  for (QuestionEvent& event : events) {
    if (!ours) break;
    if (auto* so_far = std::get_if<AnswerSoFar>(&event)) {
      if (inquiry.phase == Inquiry::Phase::Running) inquiry.doing = so_far->doing;
      if (so_far->answer.index() != 0) inquiry.answer = std::move(so_far->answer);
    } else if (auto* answer = std::get_if<Answer>(&event)) {
      inquiry.answer = std::move(*answer);
      inquiry.phase = Inquiry::Phase::Done;
      inquiry.doing.clear();
      say(LogLevel::Good, fmt::format("{}: answered in {:.2f} s", to_string(asked_), inquiry.seconds));
    } else if (auto* failure = std::get_if<JobFailure>(&event)) {
      inquiry.phase = Inquiry::Phase::Done;
      inquiry.failure = failure->message;
      say(LogLevel::Bad, fmt::format("{}: failed: {}", to_string(asked_), failure->message));
    }
  }
  if (ended) {
    question_job_.reset();
    start_next_question();
  }
  if (!events.empty() || ended) changed();
  return !events.empty() || ended;
}

bool Session::asking() const { return question_job_ != nullptr; }

}  // namespace heddle::app
