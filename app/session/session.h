// The session: everything that is open, and the one place where commands change it. The window calls `pump` and then
// `apply` for each command between two frames; nothing here waits for a solver or knows how things are drawn. Each part of it has a header
// of its own, so that whoever only shows things does not compile solvers, compilers and threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/session/live_solve.h"
#include "app/session/open_document.h"

namespace heddle::app {

class Command;          // app/session/command.h
class FamilyMembers;    // app/session/family.h
class KernelState;      // app/session/kernel_state.h
class LaunchState;      // app/session/launch_state.h
class OtherWindows;     // app/session/window_link.h
class PredictionState;  // app/session/prediction_state.h
class Projects;         // app/session/project.h
class RunState;         // app/session/run_state.h
class SessionCore;      // app/session/session_core.h
class Solving;          // app/session/solving.h
class SourceDocument;   // app/session/source_document.h
class SweepState;       // app/session/sweep_state.h
class Texts;            // app/session/texts.h
class TritonState;      // app/session/triton_state.h
class TruthState;       // app/session/truth_state.h
enum class Topic;       // app/jobs/ask_options.h
struct AskOptions;      // app/jobs/ask_options.h
struct Environment;     // app/session/environment.h
struct QuestionState;   // app/session/question_state.h

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
  const std::optional<ErrorReport>& error() const;
  const Settings& settings() const;
  /// Changes whenever content, and with it any view model, may have changed.
  std::uint64_t revision() const;
  const std::string* next_undo() const;
  const std::string* next_redo() const;
  /// The `heddle` line that does what was done last; empty before anything was (see cli_equivalent in command_line.h).
  const std::string& last_line() const;

  // How it is shown, and what passes between session and window.
  const ViewState& view() const;
  /// What the window is asked for: it clears what it has done.
  WindowRequests& requests();
  /// What its chart shows now; its size.
  void tell(ChartKept chart);
  void tell_size(int width, int height);
  PaneSizes& panes();
  /// How many iterations the unrolled and pipeline views show.
  int iterations() const;
  void save_settings_now();
  /// What came of a picture that the window was asked for.
  void note_exported(const std::string& path, const Result<Ok>& result);

  // Its parts, each with what it knows, and why what it does cannot be done now.
  const Solving& solving() const;
  const LiveSolve& live() const;
  const std::string& solver_name() const;
  const Texts& texts() const;
  const Projects& projects() const;
  const OtherWindows& windows() const;
  /// A compiler's file that is open.
  const SourceDocument& sources() const;
  const FamilyMembers& family() const;
  /// The kernel of the shown schedule, as far as it has come.
  const KernelState& kernel() const;
  /// Runs on a GPU, of this machine and from files.
  const RunState& runs() const;
  bool building() const;  ///< something about a kernel is being worked on
  /// The sweep that is open, and the tuning run at work.
  const SweepState& sweep() const;
  /// Predictions against published measurements.
  const TruthState& truth() const;
  /// What the simulator says of whole kernels.
  const PredictionState& predictions() const;
  /// The launch of a PTX, where one is open in place of a kernel.
  const LaunchState& launch() const;
  /// The three schedules of the open Triton kernel.
  const TritonState& triton() const;
  // Questions (app/session/questions.h).
  const QuestionState& question(Topic topic) const;
  bool answered(Topic topic) const;
  bool remembers(Topic topic, const AskOptions& options) const;
  std::string why_no_question(Topic topic) const;
  bool asking() const;

 private:
  std::unique_ptr<SessionCore> core_;
};

}  // namespace heddle::app
