#include "app/session/launch_state.h"

#include <fmt/format.h>

#include "app/session/files.h"
#include "core/base/text_style.h"

namespace heddle::app {

void LaunchState::on(const OpenLaunch& c) {
  close_launch();
  path_ = c.path;
  remember_recent(settings_, c.path);
  begin();
}

void LaunchState::on(const CheckLaunch&) {
  if (open() && !active()) begin();
}

void LaunchState::on(const CancelLaunch&) {
  if (!job_) return;
  cancelled_ = true;
  job_->cancel();
}

void LaunchState::close_launch() {
  leaving_.take(std::move(job_));
  path_.clear();
  answer_.reset();
  fault_.reset();
  changed();
}

void LaunchState::begin() {
  fault_.reset();
  cancelled_ = false;
  say(LogLevel::Info, "checking " + base_name(path_));
  job_ = std::make_unique<Job>(
      [path = path_, check = check_](std::stop_token stop, const Job::Push&) -> Event {
        Result<OpenedLaunches> answer = check(path, stop);
        if (!answer) return {nullptr, answer.error()};
        return {std::make_shared<const OpenedLaunches>(*std::move(answer)), std::nullopt};
      },
      [](std::string sentence) -> Event {
        return {nullptr, Error::input(std::move(sentence))};
      },
      wake_);
  changed();
}

bool LaunchState::pump() {
  leaving_.sweep();
  if (!job_) return false;
  const bool ended = job_->state() == WorkState::Finished;
  bool news = false;
  for (Event& event : job_->drain()) {
    news = true;
    if (cancelled_ && answer_) {  // what a cancelled check found is less than what is there
      say(LogLevel::Info, base_name(path_) + ": not checked again; what was found before stays");
      continue;
    }
    if (event.fault) {
      fault_ = event.fault;
      fail("Cannot check " + base_name(path_), *event.fault);
      continue;
    }
    answer_ = std::move(event.answer);
    for (const OpenedLaunch& launch : *answer_) {
      const bool in_order = launch.as.checked && launch.as.checked->verdict == ptx::CheckVerdict::InOrder;
      say(in_order ? LogLevel::Good : LogLevel::Bad, fmt::format("{}: {}", launch.as.name, ptx::verdict_text(launch.as)));
    }
  }
  if (ended) job_.reset();
  if (news || ended) changed();
  return news || ended;
}

bool LaunchState::close(std::chrono::steady_clock::time_point until) {
  leaving_.take(std::move(job_));
  return leaving_.wait_until(until);
}

std::string LaunchState::why_not_again() const {
  if (!open()) return "no PTX is open";
  return active() ? "it is being checked" : std::string();
}

}  // namespace heddle::app
