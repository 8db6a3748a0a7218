#include "app/session/triton_state.h"

#include <algorithm>
#include <utility>

#include "core/library/triton_text.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostTexts = 64;

}  // namespace

std::optional<TritonQuestion> TritonState::question_of(const Content& content) {
  // What has no problem by one reading may have none by the other either; its faults are on the screen.
  if (!content.triton() || !content.kernel || !content.machine || !content.problem) return std::nullopt;
  return TritonQuestion{content.triton()->lowered()->loop, content.machine};
}

TritonState::Known* TritonState::find(const TritonQuestion& question) {
  const auto found = std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.of == question; });
  return found == known_.end() ? nullptr : &*found;
}

const TritonState::Known* TritonState::of(const Content& content) const {
  const std::optional<TritonQuestion> question = question_of(content);
  return question ? const_cast<TritonState*>(this)->find(*question) : nullptr;
}

void TritonState::begin(const TritonQuestion& question) {
  leave(false);
  if (!find(question)) {
    if (known_.size() >= kMostTexts) known_.erase(known_.begin());
    known_.push_back({question, nullptr, {}});
  }
  Known& known = *find(question);
  known.running = true;
  known.ended = known.cancelled = false;
  known.faults.clear();
  asked_ = question;
  job_ = std::make_unique<Job>(
      [compare = tools_.compare, question](std::stop_token stop, const Job::Push& push) {
        Result<triton::Comparison> answer = compare(question, std::move(stop), [&](const triton::Comparison& so_far) {
          push({std::make_shared<const triton::Comparison>(so_far), {}, false});
        });
        if (!answer) return Event{nullptr, answer.error().faults, true};
        return Event{std::make_shared<const triton::Comparison>(*std::move(answer)), {}, true};
      },
      [](std::string why) {
        return Event{nullptr, {{{}, {}, "internal error: " + why, {}}}, true};
      },
      wake_);
}

void TritonState::leave(bool cancelled) {
  if (!job_) return;
  if (Known* known = find(*asked_)) {
    known->running = false;
    known->cancelled = cancelled;
  }
  leaving_.take(std::move(job_));
}

void TritonState::follow(const Content& content) {
  const std::optional<TritonQuestion> question = question_of(content);
  if (job_ && question != asked_) leave(false);
  if (!question || job_ || !tools_.compare) return;
  const Known* known = find(*question);
  if (!known || (!known->ended && !known->cancelled)) begin(*question);
}

void TritonState::start(const Content& content) {
  const std::optional<TritonQuestion> question = question_of(content);
  if (question && tools_.compare) begin(*question);
}

void TritonState::cancel() { leave(true); }

bool TritonState::pump() {
  leaving_.sweep();
  if (!job_) return false;
  std::vector<Event> events = job_->drain();
  Known* known = find(*asked_);
  known->seconds = job_->seconds();
  bool last = false;
  for (Event& event : events) {
    if (event.comparison) known->comparison = std::move(event.comparison);
    if (!event.faults.empty()) known->faults = std::move(event.faults);
    last = last || event.last;
  }
  if (last) {
    known->running = false;
    known->ended = true;
    leaving_.take(std::move(job_));
  }
  return !events.empty();
}

bool TritonState::close(std::chrono::steady_clock::time_point until) {
  leave(false);
  return leaving_.wait_until(until);
}

}  // namespace heddle::app
