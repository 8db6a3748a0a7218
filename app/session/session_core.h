// The inside of the session: the document that is open, the work in the background, and how things are shown; and what each command
// does to them. It asks the session itself whether it can. Only app/session includes this.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/question.h"
#include "app/jobs/solve_job.h"
#include "app/session/all_commands.h"
#include "app/session/autosave.h"
#include "app/session/environment.h"
#include "app/session/kernel_state.h"
#include "app/session/prediction_state.h"
#include "app/session/project.h"
#include "app/session/question_state.h"
#include "app/session/run_state.h"
#include "app/session/session.h"
#include "app/session/sweep_state.h"
#include "app/session/triton_state.h"
#include "app/session/truth_state.h"
#include "app/session/undo.h"
#include "app/session/window_link.h"

namespace heddle::app {

/// What is open, how it came to be so, and where it lies.
struct OpenDocument {
  Content content;
  Selection selection;
  UndoStack<Content> undo;
  std::map<std::uint64_t, ProjectPlace> places;    ///< of documents, by Content::document
  std::uint64_t documents = 0, kept_document = 0;  ///< the newest; the one that `autosave` holds
  std::unique_ptr<Autosave> autosave;
  std::vector<Recovery> recoveries;
  std::map<std::pair<std::uint64_t, std::string>, EntryPtr> solved;  ///< newest version of every solver row, by document and name
  std::map<std::string, Content> loops;  ///< of the open dump or Triton text, as they were left: what was found is there on the way back
  std::string shown_before;              ///< name of the row that was A before this one
};

/// Files that texts come from, as they were last seen on disk, and the change of a text that may still be going on.
struct SourceFiles {
  struct OnDisk {
    std::string text;
    std::filesystem::file_time_type changed;
  };
  std::map<std::string, OnDisk> seen;  ///< by path
  double looked = 0;                   ///< when they were last compared with the disk
  struct Typing {
    SourceOf of = SourceOf::Kernel;
    Content before;
    std::size_t step = 0;  ///< how many changes of the document there had been with it
    double last = 0;
    bool solve = false;  ///< what it says is not solved yet
  };
  std::optional<Typing> typing;
};

/// What threads are working on, what they were asked, and what has come of it.
struct BackgroundWork {
  explicit BackgroundWork(const Environment& environment)
      : kernel(environment.kernel, environment.wake),
        runs(environment.run, environment.wake),
        sweep(environment.sweep, environment.wake),
        truth(environment.truth, environment.wake),
        predictions(environment.predict, environment.wake),
        triton(environment.triton, environment.wake) {}

  // The solve.
  LiveSolve live;
  /// What the running job was started for, when that is a change of the question and not just F5.
  struct RunningProposal {
    std::size_t step = 0;  ///< how many changes of the document there had been with it
    bool opening = false;  ///< something was opened: there is nothing to compare with
  };
  std::optional<RunningProposal> proposal;
  bool why_after_solve = false;  ///< reasons were asked for while a solve was running
  std::string job_row;           ///< name of the row that the running job fills
  bool job_robust = false;       ///< it asks for a robust schedule
  double spent_before = 0;       ///< seconds that its row has taken already
  std::string last_phase;

  // Questions, one at a time.
  QuestionState questions[std::size(kTopics)];
  Question to_ask[std::size(kTopics)];  ///< of those that wait
  std::vector<Topic> waiting;
  struct Earlier {
    Topic topic;
    QuestionState asked;
  };
  std::vector<Earlier> earlier;      ///< newest last
  Topic answering = Topic::Explain;  ///< what `question_job` works on
  std::unique_ptr<QuestionJob> question_job;

  KernelState kernel;
  RunState runs;
  SweepState sweep;
  TruthState truth;
  PredictionState predictions;
  TritonState triton;

  std::unique_ptr<SolveJob> job;
  std::shared_ptr<const Problem> job_problem;  ///< what the running job was asked: an answer to anything else is not taken
  Constraints job_constraints;
  LeavingJobs<SolveJob> leaving;
};

/// Other windows of what is open.
struct OtherWindows {
  std::vector<std::unique_ptr<WindowLink>> links;
  int number = 1, last = 1;  ///< of this window; of the last that was opened from here
  LinkedView known;          ///< by the others
  double quiet_until = 0;    ///< what changes before is what they have told
};

class SessionCore {
 public:
  SessionCore(const Session& session, Environment environment);
  ~SessionCore();

  bool pump();
  bool close(std::chrono::milliseconds limit);
  void save_settings_now();
  void export_for_triton(const Export& c);
  void refuse_export(const std::string& path, const Error& error);
  void note_exported(const std::string& path, const Result<Ok>& result);

 private:
  friend class Session;

  void on(const OpenFile& c);
  void on(const OpenKernel& c);
  void on(const OpenMachine& c);
  void on(const SwitchMachine& c);
  void on(const OpenPair& c);
  void on(const OpenSchedule& c);
  void on(const OpenDump& c);
  void on(const ShowLoop& c);
  void on(const ShowTriton& c);
  void on(const ShowSide& c);
  void on(const CompareTriton& c);
  void on(const CancelTriton& c);
  void on(const OpenPlace& c);
  void on(const DemandEmitterRules& c);
  void on(const OpenConstraints& c);
  void on(const SaveSchedule& c);
  void on(const OpenProject& c);
  void on(const SaveProject& c);
  void on(const SaveConstraints& c);
  void on(const RestoreWork& c);
  void on(const DiscardWork& c);
  void on(const Export& c);
  void on(const NewKernel& c);
  void on(const EditSource& c);
  void on(const SaveSource& c);
  void on(const ReadSourceAgain& c);
  void on(const CloseDocument& c);
  void on(const DismissError& c);
  void on(const SetParam& c);
  void on(const SelectSchedule& c);
  void on(const RemoveSchedule& c);
  void on(const ToggleConstraint& c);
  void on(const AddConstraint& c);
  void on(const ReplaceConstraint& c);
  void on(const RemoveConstraint& c);
  void on(const MoveOp& c);
  void on(const TogglePin& c);
  void on(const PinOps& c);
  void on(const SetChange& c);
  void on(const RemoveChange& c);
  void on(const ToggleChange& c);
  void on(const ChooseLayouts& c);
  void on(const SetBaseline& c);
  void on(const SwapBaseline& c);
  void on(const OpenWindow& c);
  void on(const SetAlignment& c);
  void on(const FirstDivergence& c);
  void on(const FirstViolation& c);
  void on(const RenameSchedule& c);
  void on(const AdoptSchedule& c);
  void on(const AddNote& c);
  void on(const EditNote& c);
  void on(const ToggleFlag& c);
  void on(const ClearFlags& c);
  void on(const Ask& c);
  void on(const CancelAsk& c);
  void on(const AskWhy& c);
  void on(const TryRelaxation& c);
  void on(const WriteKernel& c);
  void on(const CheckKernel& c);
  void on(const SetKernelOptions& c);
  void on(const BuildKernel& c);
  void on(const CancelKernel& c);
  void on(const SaveKernel& c);
  void on(const SaveLayout& c);
  void on(const RunKernel& c);
  void on(const CancelRun& c);
  void on(const OpenMeasurement& c);
  void on(const SelectRun& c);
  void on(const ToggleMeasured& c);
  void on(const AdoptMeasured& c);
  void on(const OpenSweep& c);
  void on(const CloseSweep& c);
  void on(const StartTune& c);
  void on(const CancelTune& c);
  void on(const OpenPoint& c);
  void on(const OpenMember& c);
  void on(const Validate& c);
  void on(const CancelValidation& c);
  void on(const SelectPublished& c);
  void on(const OpenPublished& c);
  void on(const ToggleWhiskers& c);
  void on(const Undo& c);
  void on(const Redo& c);
  void on(const SelectOp& c);
  void on(const ClearSelection& c);
  void on(const StartSolve& c);
  void on(const ContinueSolve& c);
  void on(const ProveShown& c);
  void on(const CancelSolve& c);
  void on(const SetMode& c);
  void on(const SetIterations& c);
  void on(const CopyLine& c);
  void on(const ChangeView& c);
  void on(const ChangeSettings& c);
  void on(const Quit& c);

  /// Gives what was opened its texts.
  void attach_texts(Content& next);
  /// What the text says, where it can be read and scheduled, takes the place of what is shown; else its faults are kept with it.
  void take_text(SourceOf of, const std::string& text, const Content& before);
  /// Rows of another problem that are schedules of this one too.
  void keep_rows(const Content& before);
  /// Reads again what has changed on disk, and solves what was typed.
  bool pump_texts();
  bool look_at_files();
  void add_texts(Project& project) const;
  void take_project(Project project, const std::string& path, const std::string& what);
  void keep_safe();
  void look_for_lost_work();
  /// `solve`: where it has no schedule of its own.
  void open_dump(const std::string& name, bool solve);
  /// Another file's schedules of the loop that is open become rows of the list; false when its ops are others.
  bool add_dumped_schedules(const DumpSource& source);
  /// The problem as files say it: texts that were edited and are in no file count as changes.
  Problem problem_to_write() const;
  Result<std::string> dump_text(ExportKind kind) const;
  /// While a dump is open.
  void refuse_machine(const std::string& name);
  void show_dump(std::shared_ptr<const DumpSource> source, const std::string& what);
  /// The Triton kernel of that name becomes the document; `machine` empty: the one of its target.
  void open_triton(const std::string& name, const std::string& machine, bool solve);
  /// The schedule of its own that a Triton text holds.
  void open_triton_schedule(const std::string& name);
  void show_triton(std::shared_ptr<const TritonSource> source, std::shared_ptr<const Machine> machine, const std::string& what);
  /// The same by another reading, or of another loop: as it was left, where it was shown already.
  void turn_to_triton(std::shared_ptr<const TritonSource> source, const std::string& what);
  /// Everything is resolved again on it: rules, Triton's own schedule, the three.
  void switch_triton_machine(const std::string& name);
  /// What the comparison has found for the reading that is open becomes rows of the list.
  void take_sides();
  bool pump_triton();
  bool pump_runs();
  bool pump_sweep();
  bool pump_truth();
  bool pump_predictions();
  bool pump_windows();
  /// Where another window has opened this one: what it has handed over.
  void begin_as_another();
  LinkedView linked_view() const;
  void follow(const LinkedView& view);
  /// While its tab is shown, the text is that of the shown schedule.
  void keep_kernel_fresh();
  bool pump_kernel();

  void take_event(const solver::SolveEvent& event, std::optional<Schedule>& newest);
  void take_outcome(SolveOutcome outcome);
  void show_incumbent(Schedule schedule);
  void replace_solved(ScheduleEntry entry);
  /// Selects these ops, points at them and brings them into view.
  void point_at(const std::vector<OpId>& ops, std::string why);
  void abandon_job(const char* why);
  /// The row of the job stays as far as it has come, also in what undo may bring back.
  void end_row();
  bool pump_solve();
  bool pump_questions();
  void start_next_question();
  QuestionState& question_of(Topic topic);
  /// An answer makes room for the next one, but is not forgotten.
  void put_aside(Topic topic);
  const QuestionState* earlier_answer(Topic topic, const AskOptions& options) const;
  /// Steps of a front against the same resources that an earlier sweep has settled.
  std::vector<ParetoStep> known_steps(const AskOptions& options) const;
  /// After the question became another one: answers to what it is now come back.
  void recall_answers();
  /// The problem as it was held when something was asked about it, if this is the same one.
  std::shared_ptr<const Problem> same_as_asked(std::shared_ptr<const Problem> problem) const;
  /// Puts other constraints in force, as one step of undo; then solves, if asked to.
  void constrain(Constraints next, const std::string& what, bool solve);
  /// Pre: why_no_solve() is empty. `row`: what the schedule that comes of it will be called.
  void begin_solve(std::string row, std::string proving = {}, bool robust = false);
  /// Solves what was just put in force; its schedule will be called after it and belongs to that step of undo.
  void solve_proposal(const std::string& what);
  /// The same after numbers changed: what is known already, or still legal, stays on screen; of the latter it is proved that nothing is
  /// better.
  void solve_changed(const std::string& what);
  /// Shows the row that is proved optimal for the question as it stands; false when there is none.
  bool show_known_answer();
  /// No row of the document has, or had, that name.
  bool is_free_name(const std::string& name) const;
  std::string free_name(const std::string& wanted) const;    ///< itself, else "WANTED (2)"
  std::string numbered_name(const std::string& word) const;  ///< "WORD #1"
  EntryPtr* solved_row(const std::string& name);
  /// The row belongs to the change of the document that the running solve was started for.
  bool of_proposal() const;
  /// Asks why II is not smaller, unless that is known or being asked.
  void ask_why();
  /// Puts a content with other numbers or layouts in force, as one step of undo; schedules of the old problem that still fit are kept and
  /// checked again. False when there is no problem with it: all is as before, and said why. `why`: a running solve stops.
  bool put_in_force(Content next, const std::string& what, const char* why);
  bool change_numbers(Changes next, const std::string& what);
  /// These choices, with the rows of the list that have the present ones.
  static void lay_out(Content& next, LayoutChoices choices);
  /// False: nothing changed, or it is refused, with the reason on screen.
  bool choose_layouts(const LayoutChoices& choices, const std::string& what);
  /// Resolves content's kernel on its machine; on failure the problem is gone and the faults are returned.
  std::optional<Error> resolve_content();
  /// Where there is a problem and a solver. What is found belongs to the step that opened it.
  void solve_opened();
  /// Rows whose file claims no more than earlier searches have proved are proved.
  void recall_proofs();
  /// Answers about another document make room; they come back with it.
  void leave_answers();
  solver::SolveRequest request_now() const;
  void adopt(Content next, const std::string& what);
  /// The schedule becomes a row, if there is none that is just it, and is shown.
  void add_row(const AdoptSchedule& row);
  /// After the question changed: what was proved holds where at least as much is demanded of the same problem.
  void judge_again(const Asked& before);
  Asked asked_now() const { return {document_.content.problem, document_.content.constraints}; }
  /// Into the log, the last one in view until it is dismissed.
  void warn_aloud(const std::vector<Fault>& warnings);
  /// Whether a schedule that a solve found becomes a row: always, but while a row's II is being proved only if it is better.
  bool makes_row(const Schedule& schedule) const;
  /// Gives the rows whose file claims a proof, and the row that is being proved, what the outcome has proved about the question.
  void settle_claims(const SolveOutcome& outcome);
  void settle_after_travel(bool other_problem);
  /// Call after every change of the content: models are made again, and what is selected, pointed at and aligned is in the problem again.
  void changed();
  double now() const;
  void say(LogLevel level, std::string text);
  void fail(std::string title, Error error);

  const Session& session_;  ///< the outside of this: answers what all others can ask too
  Environment environment_;
  OpenDocument document_;
  SourceFiles files_;
  ViewState view_;
  Log log_;
  std::optional<ErrorReport> error_;
  Settings settings_;
  Settings kept_, saved_settings_;  ///< without what holds for this run only; as the file has them
  std::string last_line_;
  std::string highlight_of_;  ///< name of the schedule that was shown when something was last pointed at
  std::uint64_t revision_ = 1;
  double began_ = 0;
  OtherWindows windows_;
  BackgroundWork work_;  ///< last: its threads are joined before anything else of this goes
};

}  // namespace heddle::app
