#include "app/session/prediction_state.h"

#include <algorithm>
#include <utility>

#include "app/session/open_document.h"
#include "core/library/trust.h"
#include "core/simulate/forecast.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostPredictions = 200;

SimulationAnswer predict(const PredictionSubject& of, std::stop_token stop) {
  KernelRunOptions options;
  const Schedule& schedule = of.entry->schedule;
  options.loop.arbitration = Arbitration::Interleaved;
  options.loop.stop = std::move(stop);
  SimulationAnswer answer;
  if (of.details) {
    options.loop.timeline = kTrafficIterations;
    answer = simulate_kernel(of.instance, schedule, options);
    if (answer.kernel.fault.empty()) answer.traffic = traffic_of(of.instance, schedule, options, answer.kernel, answer.parts);
    // Lanes are there where tiles differ and can be told apart.
    if (answer.kernel.fault.empty() && !answer.kernel.lanes.empty()) answer.balance = balance_study(of.instance, schedule, options);
    if (latencies_vary(of.instance.problem())) {
      StudyOptions study;
      study.stop = options.loop.stop;
      answer.depths = spread_study(of.instance.problem(), schedule, study);
    }
  } else {
    answer.options = options;
    answer.kernel = heddle::run_kernel(of.instance, schedule, options);
  }
  answer.trust = trust_in(of.instance.kernel().reference, of.instance.machine().arch, of.edited || !of.instance.changes().empty());
  return answer;
}

}  // namespace

PredictFunction built_in_prediction() { return predict; }

std::string PredictionState::why_not(const Content& content, const ScheduleEntry& entry) {
  if (std::string reason = content.why_not(SourceUse::WholeKernel); !reason.empty()) return reason;
  if (entry.running) return "the solver is still improving this schedule";
  if (!entry.verdict.valid()) return "the schedule breaks rules of the model";
  return "";
}

std::shared_ptr<const SimulationAnswer> PredictionState::find(const Content& content, const ScheduleEntry& entry, bool details) const {
  const auto found = std::find_if(known_.rbegin(), known_.rend(), [&](const Known& known) {
    return known.problem == content.problem && (known.details || !details) && same_program(known.schedule, entry.schedule);
  });
  return found == known_.rend() ? nullptr : found->answer;
}

std::optional<PredictionSubject> PredictionState::next(const Content& content, bool details) const {
  const auto missing = [&](const EntryPtr& entry, bool all) {
    return why_not(content, *entry).empty() && find(content, *entry, all) == nullptr;
  };
  const auto subject = [&](const EntryPtr& entry, bool all) {
    const bool edited = content.machine_text && content.machine_text->own;
    return PredictionSubject{content.instance(), entry, edited, all};
  };
  if (!predict_ || !content.problem) return std::nullopt;
  if (content.shown)
    for (const bool all : {false, true})
      if (const EntryPtr& shown = content.schedules[*content.shown]; (!all || details) && missing(shown, all)) return subject(shown, all);
  for (const EntryPtr& entry : content.schedules)
    if (missing(entry, false)) return subject(entry, false);
  return std::nullopt;
}

bool PredictionState::wanted(const Content& content, bool details) const {
  const auto it = [&](const EntryPtr& entry) { return same_program(entry->schedule, subject_->entry->schedule); };
  if (content.problem != subject_->instance.shared_problem()) return false;
  if (subject_->details) return details && content.shown && it(content.schedules[*content.shown]);
  return std::any_of(content.schedules.begin(), content.schedules.end(), it);
}

void PredictionState::follow(const Content& content, bool details) {
  if (task_.active() && wanted(content, details)) return;
  std::optional<PredictionSubject> now = next(content, details);
  if (!now) return task_.cancel();
  subject_ = std::move(now);
  task_.start([predict = predict_, subject = *subject_](std::stop_token stop, const auto&) { return predict(subject, std::move(stop)); },
              wake_);
}

bool PredictionState::pump() {
  const bool news = take();
  follow(content_, view_.tab == BottomTab::Simulate);
  if (news) changed();
  return news;
}

bool PredictionState::take() {
  const bool news = task_.pump();
  if (!news || task_.active()) return news;
  // One that failed is known too: it would fail again.
  auto answer = task_.answer();
  if (task_.phase() == Task<SimulationAnswer>::Phase::Failed) {
    SimulationAnswer failed;
    failed.kernel.fault = task_.failure();
    answer = std::make_shared<const SimulationAnswer>(std::move(failed));
  }
  if (task_.phase() == Task<SimulationAnswer>::Phase::Cancelled) return news;
  if (known_.size() >= kMostPredictions) known_.erase(known_.begin());
  known_.push_back({subject_->instance.shared_problem(), subject_->entry->schedule, std::move(answer), subject_->details});
  return news;
}

}  // namespace heddle::app
