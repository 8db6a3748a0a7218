// Undo by keeping old values: a stack of values with what led away from each.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heddle::app {

template <class T>
class UndoStack {
 public:
  /// Call before a change: `now` is the value that undo brings back, `what` names the change ("open kernel").
  void remember(T now, std::string what) {
    undo_.push_back({std::move(now), std::move(what)});
    ++changes_;
    if (undo_.size() > kDepth) undo_.erase(undo_.begin());
    redo_.clear();
  }

  /// Swaps `now` for the value before the last change; the name of that change, or nothing when there is none.
  std::optional<std::string> undo(T& now) { return step(undo_, redo_, now); }
  std::optional<std::string> redo(T& now) { return step(redo_, undo_, now); }

  /// Grows with every change, undone and redone ones too: equal numbers mean that nothing happened in between.
  std::size_t changes() const { return changes_; }

  const std::string* next_undo() const { return undo_.empty() ? nullptr : &undo_.back().what; }
  const std::string* next_redo() const { return redo_.empty() ? nullptr : &redo_.back().what; }

 private:
  struct Step {
    T value;
    std::string what;
  };
  static constexpr std::size_t kDepth = 200;

  std::optional<std::string> step(std::vector<Step>& from, std::vector<Step>& to, T& now) {
    if (from.empty()) return std::nullopt;
    ++changes_;
    Step taken = std::move(from.back());
    from.pop_back();
    to.push_back({std::exchange(now, std::move(taken.value)), taken.what});
    return taken.what;
  }

  std::vector<Step> undo_, redo_;
  std::size_t changes_ = 0;
};

}  // namespace heddle::app
