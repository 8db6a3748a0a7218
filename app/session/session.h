// The session: everything that is open, and the one place where commands change it. The window calls `pump` and then
// `apply` for each command between two frames; nothing here waits for a solver or knows how things are drawn. What is inside is in
// session_core.h, so that whoever only shows things does not compile solvers, compilers and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/document.h"
#include "app/session/live_solve.h"
#include "app/session/log.h"
#include "app/session/selection.h"
#include "app/session/settings.h"
#include "app/session/view_state.h"

namespace heddle::triton {
enum class Whose;  // core/triton/audit/comparison.h
}

namespace heddle::app {

class Command;          // app/session/command.h
class KernelState;      // app/session/kernel_state.h
class RunState;         // app/session/run_state.h
class SessionCore;      // app/session/session_core.h
class SweepState;       // app/session/sweep_state.h
class TritonState;      // app/session/triton_state.h
class TruthState;       // app/session/truth_state.h
struct AskOptions;      // app/jobs/ask_options.h
struct Environment;     // app/session/environment.h
class PredictionState;  // app/session/prediction_state.h
struct KernelText;      // app/jobs/kernel_job.h
struct QuestionState;   // app/session/question_state.h
struct Recovery;        // app/session/autosave.h
enum class Topic;       // app/jobs/ask_options.h

constexpr int kMostIterations = 64;  ///< that the unrolled and pipeline views show

/// An error that waits to be read.
struct ErrorReport {
  std::string title;  ///< "Cannot open kernel x.json"
  Error error;
};

class Session {
 public:
  explicit Session(Environment environment);
  ~Session();

  void apply(const Command& command);
  /// Takes in what the solver has found; true when anything changed.
  bool pump();
  /// Stops what runs; false when the worker did not end in time (the program should leave without it).
  bool close(std::chrono::milliseconds limit);

  const Content& content() const;
  const Selection& selection() const;
  const Log& log() const;
  const LiveSolve& live() const;
  /// The latest question of this topic and its answer.
  const QuestionState& question(Topic topic) const;
  /// Its answer, partial or whole, is one to the question as it stands now.
  bool answered(Topic topic) const;
  /// The whole answer to just this question, asked as things stand now, is still there: asking brings it back at once.
  bool remembers(Topic topic, const AskOptions& options) const;
  /// Empty when it can be asked, else why not, as a sentence.
  std::string why_no_question(Topic topic) const;
  /// Of the family that was solved; empty: OpenMember opens it.
  std::string why_no_member(std::size_t index) const;
  /// A question is being worked on.
  bool asking() const;
  /// Empty when the shown schedule can go back into the compiler's dump in this form, else why not.
  std::string why_no_dump(ExportKind kind) const;
  /// Demands of that compiler's emitter that are not in force yet.
  Constraints open_emitter_rules() const;
  /// The kernel of the shown schedule, as far as it has come.
  const KernelState& kernel() const;
  /// Its text, also of another schedule or written otherwise, but of this problem; null: there is none.
  const KernelText* kernel_text_of_problem() const;
  /// Empty when there is something to make a kernel of, else why not.
  std::string why_no_kernel() const;
  /// The same for compiling it.
  std::string why_no_build() const;
  /// Something about a kernel is being worked on.
  bool building() const;
  /// Runs on a GPU, of this machine and from files.
  const RunState& runs() const;
  /// Empty when the shown schedule's kernel can be run here, else why not.
  std::string why_no_run() const;
  /// Empty when the chosen run's times can be laid over the chart, else why not; the same for adopting its latencies.
  std::string why_no_measured() const;
  std::string why_no_adoption() const;
  /// The sweep that is open, and the tuning run at work.
  const SweepState& sweep() const;
  /// Empty when what is open can be tuned, or the open history be continued, else why not.
  std::string why_no_tune() const;
  std::string why_no_more() const;
  /// Predictions against published measurements.
  const TruthState& truth() const;
  bool validating() const;  ///< they, or the parts of one, are being worked out
  /// Empty when a validation can be started, else why not.
  std::string why_no_validation() const;
  /// The three schedules of the open Triton kernel.
  const TritonState& triton() const;
  bool comparing() const;  ///< they are being worked out
  /// Empty when that one of the three can be shown, else why not.
  std::string why_no_side(triton::Whose whose) const;
  /// What the simulator says of whole kernels.
  const PredictionState& predictions() const;
  bool predicting() const;
  const std::optional<ErrorReport>& error() const;
  const Settings& settings() const;
  const std::string& solver_name() const;
  ViewState& view();
  const ViewState& view() const;
  /// How many iterations the unrolled and pipeline views show: what the user chose, else enough for some of them to run
  /// in the steady state of the shown schedule.
  int iterations() const;
  PaneSizes& panes();
  /// Changes whenever content, and with it any view model, may have changed.
  std::uint64_t revision() const;
  const std::string* next_undo() const;
  const std::string* next_redo() const;
  /// Empty when a solve can be started, else why not, as a sentence.
  std::string why_no_solve() const;
  std::string why_no_continue() const;  ///< with the search that the shown schedule comes from
  std::string why_no_proof() const;     ///< of the shown schedule; empty: ProveShown works
  void save_settings_now();
  /// The text of what is open; null: nothing is, or a compiler's dump.
  const SourceText* text_of(SourceOf of) const;
  /// The user changed it and its file does not hold it.
  bool text_unsaved(SourceOf of) const;
  /// Empty when it can be edited, else why not.
  std::string why_no_edit(SourceOf of) const;
  /// Why what is shown may not be what the texts say: "the kernel's text has 2 faults"; empty when it is.
  std::string text_trouble() const;
  /// Why another program cannot read what is open: a text is in no file. Empty when it can.
  std::string why_no_program() const;
  /// The document's file; nothing when it has none.
  const std::string& project_file() const;
  /// The same, where that file holds just this content, with these schedules as A and B; else empty.
  const std::string& project_as_shown() const;
  /// The `heddle` line that does what was done last; empty before anything was (see cli_equivalent in command_line.h).
  const std::string& last_line() const;
  /// There is work that no project file has.
  bool unsaved() const;
  /// Leaving would lose work of the user's own, or a search that took long; not what solving again would soon find.
  bool worth_asking() const;
  /// "The search for ... is not proved after 61 s: II 4432, no II below 4352"; empty: there is none that took long, or a file has it.
  std::string unfinished_search() const;
  /// Empty when another window of it can be opened, with B in A's place if asked for, else why not.
  std::string why_no_window(bool baseline) const;
  /// 1 of the first window, while there are others; 0: this is the only one.
  int window_number() const;
  /// Empty when the document can be saved, else why not.
  std::string why_no_save() const;
  /// Work of windows that are gone.
  const std::vector<Recovery>& recoveries() const;
  /// What came of a picture that the window was asked for.
  void note_exported(const std::string& path, const Result<Ok>& result);

 private:
  std::unique_ptr<SessionCore> core_;
};

}  // namespace heddle::app
