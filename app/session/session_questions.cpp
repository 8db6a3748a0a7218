// The session's side of questions: one runs at a time, the others wait their turn.
#include <fmt/format.h>

#include <algorithm>

#include "app/session/session.h"

namespace heddle::app {
namespace {

/// The answer speaks of the schedule that was shown.
bool about_the_schedule(Topic topic) { return topic == Topic::Slack || topic == Topic::Latency; }

/// Nothing is left to find out.
bool whole(const Answer& answer) {
  return std::visit(
      [](const auto& a) {
        if constexpr (requires { a.cancelled; a.timed_out; })
          return !a.cancelled && !a.timed_out;
        else
          return false;
      },
      answer);
}

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
  AskOptions options = c.options;
  if (c.topic == Topic::Latency && !options.op.valid()) options.op = selection_.primary();
  if (inquiry.active()) on(CancelAsk{c.topic});
  put_aside(c.topic);
  if (const Inquiry* before = earlier_answer(c.topic, options); before && !(inquiry.options == options && answered(c.topic))) {
    inquiry = *before;
    say(LogLevel::Info, fmt::format("{}: known from before", to_string(c.topic)));
    return changed();
  }
  inquiry = {};
  inquiry.phase = Inquiry::Phase::Waiting;
  inquiry.options = std::move(options);
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
  if (c.topic == Topic::Pareto) question.known = known_steps(inquiry.options);
  if (c.topic == Topic::Compare) question.given = contenders_of(content_);
  questions_[static_cast<std::size_t>(c.topic)] = std::move(question);
  waiting_.push_back(c.topic);
  start_next_question();
  changed();
}

void Session::put_aside(Topic topic) {
  constexpr std::size_t kMost = 48;
  const Inquiry& inquiry = inquiry_of(topic);
  if (inquiry.active() || inquiry.answer.index() == 0 || !inquiry.failure.empty()) return;
  std::erase_if(earlier_, [&](const Earlier& e) {
    return e.topic == topic && e.inquiry.problem == inquiry.problem && e.inquiry.constraints == inquiry.constraints &&
           e.inquiry.entry == inquiry.entry && e.inquiry.options == inquiry.options;
  });
  earlier_.push_back({topic, inquiry});
  if (earlier_.size() > kMost) earlier_.erase(earlier_.begin());
}

const Inquiry* Session::earlier_answer(Topic topic, const AskOptions& options) const {
  for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e)
    if (e->topic == topic && e->inquiry.options == options && up_to_date(e->inquiry, topic, content_) && whole(e->inquiry.answer))
      return &e->inquiry;
  return nullptr;
}

bool Session::remembers(Topic topic, const AskOptions& options) const {
  const Inquiry& now = inquiry(topic);
  return earlier_answer(topic, options) ||
         (!now.active() && now.options == options && answered(topic) && whole(now.answer));
}

std::vector<ParetoStep> Session::known_steps(const AskOptions& options) const {
  for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e)
    if (const auto* front = e->inquiry.as<Pareto>();
        front && front->against == options.against && up_to_date(e->inquiry, Topic::Pareto, content_))
      return front->steps;
  return {};
}

void Session::recall_answers() {
  for (const Topic topic : kTopics) {
    Inquiry& inquiry = inquiry_of(topic);
    if (inquiry.active() || answered(topic)) continue;
    for (auto e = earlier_.rbegin(); e != earlier_.rend(); ++e) {
      if (e->topic != topic || !up_to_date(e->inquiry, topic, content_)) continue;
      Inquiry found = e->inquiry;
      put_aside(topic);
      inquiry = std::move(found);
      break;
    }
  }
}

std::shared_ptr<const Problem> Session::same_as_asked(std::shared_ptr<const Problem> problem) const {
  const std::string hash = problem_hash(*problem);
  const auto same = [&](const Inquiry& inquiry) {
    return inquiry.answer.index() != 0 && inquiry.problem && inquiry.problem->changes == problem->changes &&
           problem_hash(*inquiry.problem) == hash;
  };
  for (const Inquiry& inquiry : inquiries_)
    if (same(inquiry)) return inquiry.problem;
  for (const Earlier& e : earlier_)
    if (same(e.inquiry)) return e.inquiry.problem;
  return problem;
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
