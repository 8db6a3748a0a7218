#include "app/session/run_state.h"

#include <algorithm>

namespace heddle::app {
namespace {

constexpr std::size_t kMostRuns = 500;  ///< of the history that are read

}  // namespace

void RunState::start(const KernelSubject& subject, bool profile, std::vector<std::string> words) {
  RunRequest request;
  request.profile = profiling_ = profile;
  request.program = tools_.program;
  request.folder = tools_.folder;
  request.words = std::move(words);
  request.of = subject;
  run_.start([request](std::stop_token stop, const auto& say) { return run_kernel(request, std::move(stop), say); }, wake_);
}

void RunState::read_history() {
  if (std::exchange(asked_, true) || tools_.folder.empty()) return;
  history_.start([folder = tools_.folder](std::stop_token, const auto&) { return read_runs(folder, kMostRuns); }, wake_);
}

void RunState::add(RunPtr run) {
  std::erase_if(runs_, [&](const RunPtr& known) { return known->path == run->path; });
  runs_.insert(runs_.begin(), std::move(run));
  chosen_ = 0;
}

void RunState::choose(std::optional<std::size_t> index) { chosen_ = index && *index < runs_.size() ? index : std::nullopt; }

bool RunState::pump(std::optional<RunAnswer>& ended) {
  bool news = run_.pump();
  if (news && !run_.active()) {
    if (run_.phase() == Task<RunAnswer>::Phase::Done) ended = *run_.answer();
    if (run_.phase() == Task<RunAnswer>::Phase::Failed) ended = RunAnswer{nullptr, run_.failure()};
    if (ended && ended->run) add(ended->run);
  }
  if (history_.pump()) {
    news = true;
    if (!history_.active() && history_.answer()) {
      // What was run or opened meanwhile stays in front.
      for (const RunPtr& run : *history_.answer())
        if (std::none_of(runs_.begin(), runs_.end(), [&](const RunPtr& known) { return known->path == run->path; })) runs_.push_back(run);
    }
  }
  return news;
}

}  // namespace heddle::app
