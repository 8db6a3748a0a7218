// Views of layouts, made in the background: of values of the open kernel as a schedule chooses them, and of texts by themselves. What was
// worked out is kept, so that going back to it costs nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/task.h"
#include "core/answers/layout_view.h"
#include "core/instance/instance.h"

namespace heddle::app {

/// What a view is of. Two of them are equal only if they are about the same open kernel, machine and numbers.
struct LayoutAsk {
  /// Its choices are those of the schedule that is meant. No kernel: a text by itself; no machine: no instruction is known.
  InstanceSpec spec;
  std::shared_ptr<const Problem> problem;  ///< that is open
  std::string value, op;
  bool alternatives = false;
  std::optional<LayoutQuestion> text;  ///< by itself; of a kernel: what is shown where the choices cannot be had
  bool operator==(const LayoutAsk& other) const;
};

struct LayoutAnswer {
  LayoutAsk of;
  std::optional<LayoutView> view;
  Error error;  ///< where there is none
};

/// Works it out; takes as long as resolving a kernel, once for each alternative.
LayoutAnswer answer_layout(const LayoutAsk& ask);

class LayoutViews {
 public:
  using Answer = std::shared_ptr<const LayoutAnswer>;

  /// Takes in what has come. Call once per frame before want().
  void begin_frame();
  /// What is known of it; null while it is not. What is wanted in a frame is worked out one after the other.
  Answer want(const LayoutAsk& ask);
  /// Starts what was wanted and is not known; ends what no frame wants any more.
  void end_frame();
  bool working() const { return task_.active(); }

 private:
  Task<LayoutAnswer> task_;
  std::optional<LayoutAsk> running_;
  std::vector<LayoutAsk> wanted_;
  std::vector<Answer> known_;  ///< newest last, a few
};

}  // namespace heddle::app
