// The kernel made from the shown schedule: its text, the check on the CPU, the build, each as far as it has come. What is there
// may be about an earlier schedule; `is_current` says so.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/jobs/kernel_job.h"
#include "app/jobs/solve_job.h"
#include "app/jobs/task.h"
#include "app/session/document.h"
#include "app/session/edits.h"
#include "app/session/proposal_commands.h"

namespace heddle::app {

class KernelState : Opener {
 public:
  KernelState(Edits& edits, KernelTools tools, SolveFunction solve, std::function<void()> wake)
      : Opener(edits), tools_(std::move(tools)), solve_(std::move(solve)), wake_(std::move(wake)) {}

  void on(const WriteKernel& c);
  void on(const CheckKernel& c);
  void on(const SetKernelOptions& c);
  void on(const BuildKernel& c);
  void on(const CancelKernel& c);
  void on(const SaveKernel& c);
  void on(const SavePackage& c);
  /// While its tab is shown, the text is that of the shown schedule.
  void keep_fresh();
  /// Takes in what threads have done; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until);

  /// What the kernel of this content would be made of; nothing without a schedule to show.
  static std::optional<KernelSubject> subject_of(const Content& content);
  /// Empty when there is something to make a kernel of, else why not.
  static std::string why_no_kernel(const Content& content);
  /// The same for compiling it.
  std::string why_no_build() const;
  /// The text, also of another schedule or written otherwise, but of the open problem; null: there is none.
  const KernelText* text_of_problem() const;

  const Task<KernelText>& text() const { return text_; }
  const Task<KernelCheck>& checked() const { return check_; }
  const Task<KernelCheck>& verified() const { return data_; }  ///< the same with real data
  const Task<KernelBuild>& built() const { return build_; }
  /// Solving again until there is a kernel.
  const Task<KernelAnswer>& again() const { return again_; }
  std::string why_not_again() const;  ///< empty: it can be begun
  /// Whether there is a compiler, by name: nothing while that is being found out.
  const Result<std::string>* compiler() const { return compiler_.answer() ? compiler_.answer().get() : nullptr; }
  bool active() const {
    return text_.active() || check_.active() || data_.active() || build_.active() || compiler_.active() || again_.active();
  }
  bool waits(KernelStep step) const {
    return step == KernelStep::Check  ? check_next_.has_value()
           : step == KernelStep::Data ? data_next_.has_value()
           : step == KernelStep::Text ? again_.active() && !again_builds_
                                      : build_next_ || (again_.active() && again_builds_);
  }

  /// The answer is one about this subject.
  template <class T>
  static bool is_current(const Task<T>& task, const std::optional<KernelSubject>& subject) {
    return subject && task.answer() && same_kernel(task.answer()->of, *subject);
  }

 private:
  // Starting and stopping; each of the later steps writes the text first where it is not current.
  void write(const KernelSubject& subject);
  void check(const KernelSubject& subject, const CheckRequest& request);
  void build(const KernelSubject& subject);
  void cancel(KernelStep step);
  void solve_again(KernelGoal goal);
  void take(const KernelAnswer& answer);
  /// Looks for a compiler, once.
  void look_for_compiler();
  /// The text was asked for, of just this subject, and not given up by anybody.
  bool writes_or_has(const KernelSubject& subject) const;
  /// Somebody cancelled the writing of just this subject.
  bool gave_up(const KernelSubject& subject) const { return given_up_ && same_kernel(*given_up_, subject); }
  void start_check(std::optional<CheckRequest>& next);
  void start_build();
  /// What waits for a text keeps waiting while another one is written.
  void write_first(const KernelSubject& subject);

  KernelTools tools_;
  SolveFunction solve_;
  std::function<void()> wake_;
  Task<KernelText> text_;
  Task<KernelCheck> check_, data_;
  Task<KernelBuild> build_;
  Task<Result<std::string>> compiler_;
  Task<KernelAnswer> again_;
  bool again_builds_ = false;
  Asked again_asked_;
  std::optional<KernelSubject> writing_, given_up_;
  std::optional<CheckRequest> check_next_, data_next_;  ///< once there is a text
  bool build_next_ = false;
};

}  // namespace heddle::app
