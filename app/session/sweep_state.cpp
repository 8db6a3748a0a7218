#include "app/session/sweep_state.h"

#include <algorithm>

#include "app/jobs/heddle_child.h"
#include "core/base/environment.h"

namespace heddle::app {
namespace {

constexpr std::size_t kMostFaultsShown = 200;
constexpr int kStoppedByHand = 130, kTerminated = 143;  // exit codes of heddle when it was interrupted

}  // namespace

SweepTools built_in_sweep_tools() { return {heddle_beside(), {}}; }

std::string sweeps_path() { return user_path(UserFolder::State, "sweeps"); }

void SweepState::open(SweepFile file) {
  shut();
  table_.kind = file.kind;
  file_ = file;
  follower_ = follow_sweep(std::move(file), wake_);
}

void SweepState::shut() {
  leaving_.take(std::move(follower_));
  file_.reset();
  const std::uint64_t before = table_.revision;
  table_ = {};
  table_.revision = before + 1;
  faults_.clear();
  bytes_ = 0;
  half_ = missing_ = false;
}

void SweepState::start(std::vector<std::string> words, SweepFile file) {
  run_.start(
      [words = std::move(words)](std::stop_token stop, const auto& say) {
        const auto child = run_heddle_child(words, std::move(stop), say);
        SweepRunEnd end;
        if (!child.ok()) {
          end.failure = to_string(child.error());
        } else if (child->cancelled || child->code == kStoppedByHand || child->code == kTerminated) {
          end.cancelled = true;
        } else if (child->code != 0) {
          end.failure = ending_of(*child, words[1]);
        }
        return end;
      },
      wake_);
  // A history that goes on is followed already.
  if (!file_ || file_->path != file.path) open(std::move(file));
}

bool SweepState::pump(std::optional<SweepRunEnd>& ended) {
  leaving_.sweep();
  bool news = run_.pump();
  if (news && !run_.active()) {
    if (run_.phase() == Task<SweepRunEnd>::Phase::Done) ended = *run_.answer();
    if (run_.phase() == Task<SweepRunEnd>::Phase::Failed) ended = SweepRunEnd{run_.failure(), false};
  }
  if (!follower_) return news;
  for (SweepNews& piece : follower_->drain()) {
    news = true;
    if (piece.from_start) {
      table_.clear();
      faults_.clear();
    }
    for (const PlacedLine& line : piece.lines) table_.take(line);
    for (Fault& fault : piece.faults)
      if (faults_.size() < kMostFaultsShown) faults_.push_back(std::move(fault));
    if (!piece.failure.empty()) faults_.push_back({file_->path, {}, piece.failure, {}});
    missing_ = piece.missing;
    if (missing_) continue;
    bytes_ = piece.bytes;
    half_ = piece.half;
  }
  return news;
}

bool SweepState::close(std::chrono::steady_clock::time_point until) {
  leaving_.take(std::move(follower_));
  return run_.close(until) && leaving_.wait_until(until);
}

}  // namespace heddle::app
