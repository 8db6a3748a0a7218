// The session: everything that is open, and the one place where commands change it. The window calls `pump` and then
// `apply` for each command between two frames; nothing here waits for a solver or knows how things are drawn.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/question.h"
#include "app/jobs/solve_job.h"
#include "app/session/autosave.h"
#include "app/jobs/warm_job.h"
#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/session/inquiry.h"
#include "app/session/kernel_desk.h"
#include "app/session/log.h"
#include "app/session/project.h"
#include "app/session/run_desk.h"
#include "app/session/selection.h"
#include "app/session/settings.h"
#include "app/session/sweep_desk.h"
#include "app/session/undo.h"

namespace heddle::app {

constexpr int kMostIterations = 64;  ///< that the unrolled and pipeline views show

/// What of the chart's view projects keep; the window writes it after every frame.
struct ChartKept {
  std::optional<std::pair<Cycle, Cycle>> visible;  ///< cycles at its edges
  std::map<std::string, bool> switches;            ///< overlays
};

/// What the last exports came to, for the dialog.
struct Exported {
  std::string path, sentence;
  bool good = true;
};

/// How things are shown. Not part of the document, not undoable.
struct ViewState {
  GanttMode mode = GanttMode::Steady;
  std::optional<int> iterations;  ///< of the runs, where the user has chosen; see Session::iterations
  BottomTab tab = BottomTab::Explain;
  Highlight highlight;
  ChartView chart_view = ChartView::A;
  Alignment alignment;  ///< of B with A
  bool critical = false, whiskers = false;  ///< overlays of the chart
  bool measured = false;                    ///< the same: bars of the chosen run
  bool keys_overlay = false;
  bool open_dialog = false;
  bool quit = false;
  // Wishes that the window fulfils and clears.
  bool focus_find = false, zoom_to_selection = false, fit_all = false;
  std::optional<std::string> clipboard;
  std::optional<std::pair<int, int>> window;  ///< its size, as the window last said
  std::vector<Export> pictures;             ///< PNGs that the window is to write
  std::optional<ChartKept> restored_chart;  ///< of a project that was opened
  ChartKept chart;
  std::vector<Exported> exported;
  std::string notice;      ///< one sentence that stays in view until it is dismissed
  bool ask_leave = false;  ///< the window is to ask what becomes of unsaved work
};

/// A solve as far as it has come; stays after the end, until the next one or another problem.
struct LiveSolve {
  enum class Phase { None, Running, Stopping, Done };
  Phase phase = Phase::None;
  Cycle res_mii = 0, rec_mii = 0, issue_mii = 0;
  Cycle lower_bound = 0;
  std::optional<Cycle> best;
  Status status = Status::Unknown;  ///< of the outcome, once Done
  std::string doing;                ///< "refuting II 2047"
  std::string explanation;
  std::int64_t queries = 0, conflicts = 0;
  double seconds = 0;
  bool cancelled = false, timed_out = false;
  std::string proving;              ///< the row whose II it is to prove; other solves make a row of their own
  /// Bound against best over time.
  struct Point {
    double seconds = 0;
    Cycle bound = 0;
    std::optional<Cycle> best;
  };
  std::vector<Point> history;

  bool active() const { return phase == Phase::Running || phase == Phase::Stopping; }
  /// It was proved that there is no schedule.
  bool refuted() const { return phase == Phase::Done && status == Status::Infeasible && !cancelled; }
};

/// An error that waits to be read.
struct ErrorReport {
  std::string title;  ///< "Cannot open kernel x.json"
  Error error;
};

/// What the session needs from outside.
struct Environment {
  SolveFunction solve = warm_solver();
  AskFunction ask = built_in_answers();
  std::string solver_name = built_in_solver_name();
  std::function<void()> wake;     ///< safe from any thread; may be empty
  std::function<double()> clock;  ///< seconds; empty: the steady clock
  std::string settings_file;      ///< empty: settings are not kept
  std::string autosave_folder;    ///< empty: work is not kept safe from crashes
  KernelTools kernel = built_in_tools();
  RunTools run = built_in_run_tools();
  SweepTools sweep = built_in_sweep_tools();
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

  const Content& content() const { return content_; }
  const Selection& selection() const { return selection_; }
  const Log& log() const { return log_; }
  const LiveSolve& live() const { return live_; }
  /// The latest question of this topic and its answer.
  const Inquiry& inquiry(Topic topic) const;
  /// Its answer, partial or whole, is one to the question as it stands now.
  bool answered(Topic topic) const;
  /// The whole answer to just this question, asked as things stand now, is still there: asking brings it back at once.
  bool remembers(Topic topic, const AskOptions& options) const;
  /// Empty when it can be asked, else why not, as a sentence.
  std::string why_no_question(Topic topic) const;
  /// A question is being worked on.
  bool asking() const;
  /// Empty when the shown schedule can go back into the compiler's dump in this form, else why not.
  std::string why_no_dump(ExportKind kind) const;
  /// Demands of that compiler's emitter that are not in force yet.
  Constraints open_emitter_rules() const;
  /// The kernel of the shown schedule, as far as it has come.
  const KernelDesk& kernel() const { return kernel_; }
  /// Its text, also of another schedule or written otherwise, but of this problem; null: there is none.
  const KernelText* kernel_text_of_problem() const;
  /// Empty when there is something to make a kernel of, else why not.
  std::string why_no_kernel() const;
  /// The same for compiling it.
  std::string why_no_build() const;
  /// Something about a kernel is being worked on.
  bool building() const { return kernel_.active() || runs_.active(); }
  /// Runs on a GPU, of this machine and from files.
  const RunDesk& runs() const { return runs_; }
  /// Empty when the shown schedule's kernel can be run here, else why not.
  std::string why_no_run() const;
  /// Empty when the chosen run's times can be laid over the chart, else why not; the same for adopting its latencies.
  std::string why_no_measured() const;
  std::string why_no_adoption() const;
  /// The sweep that is open, and the tuning run at work.
  const SweepDesk& sweep() const { return sweep_; }
  /// Empty when what is open can be tuned, or the open history be continued, else why not.
  std::string why_no_tune() const;
  std::string why_no_more() const;
  const std::optional<ErrorReport>& error() const { return error_; }
  const Settings& settings() const { return settings_; }
  const std::string& solver_name() const { return environment_.solver_name; }
  ViewState& view() { return view_; }
  const ViewState& view() const { return view_; }
  /// How many iterations the unrolled and pipeline views show: what the user chose, else enough for some of them to run
  /// in the steady state of the shown schedule.
  int iterations() const;
  Layout& layout() { return settings_.layout; }
  /// Changes whenever content, and with it any view model, may have changed.
  std::uint64_t revision() const { return revision_; }
  const std::string* next_undo() const { return undo_.next_undo(); }
  const std::string* next_redo() const { return undo_.next_redo(); }
  /// Empty when a solve can be started, else why not, as a sentence.
  std::string why_no_solve() const;
  std::string why_no_proof() const;  ///< of the shown schedule; empty: ProveShown works
  void save_settings_now();
  /// The document's file; nothing when it has none.
  const std::string& project_file() const;
  /// The same, where that file holds just this content, with these schedules as A and B; else empty.
  const std::string& project_as_shown() const;
  /// The `heddle` line that does what was done last; empty before anything was (see twin_of in command_line.h).
  const std::string& last_line() const { return last_line_; }
  /// There is work that no project file has.
  bool unsaved() const;
  /// Leaving would lose work of the user's own, not only what solving again would find.
  bool worth_asking() const;
  /// Empty when the document can be saved, else why not.
  std::string why_no_save() const;
  /// Work of windows that are gone.
  const std::vector<Recovery>& recoveries() const { return recoveries_; }
  /// What came of a picture that the window was asked for.
  void note_exported(const std::string& path, const Result<Ok>& result);

 private:
  void on(const OpenProject& c);
  void on(const SaveProject& c);
  void on(const SaveConstraints& c);
  void on(const RestoreWork& c);
  void on(const DiscardWork& c);
  void on(const Export& c);
  void on(const ToggleFlag& c);
  void on(const ClearFlags& c);
  void on(const DismissNotice& c);
  void take_project(Project project, const std::string& path, const std::string& what);
  void keep_safe();
  void look_for_lost_work();
  void on(const OpenFile& c);
  void on(const OpenKernel& c);
  void on(const OpenMachine& c);
  void on(const SwitchMachine& c);
  void on(const OpenPair& c);
  void on(const OpenSchedule& c);
  void on(const OpenDump& c);
  void on(const ShowLoop& c);
  void on(const DemandEmitterRules& c);
  /// `solve`: where it has no schedule of its own.
  void open_dump(const std::string& name, bool solve);
  /// Another file's schedules of the loop that is open become rows of the list; false when its ops are others.
  bool add_dumped_schedules(const DumpSource& source);
  Result<std::string> dump_text(ExportKind kind) const;
  /// While a dump is open.
  void refuse_machine(const std::string& name);
  void show_dump(std::shared_ptr<const DumpSource> source, const std::string& what);
  void on(const OpenConstraints& c);
  void on(const SaveSchedule& c);
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
  void on(const SetBaseline& c);
  void on(const SwapBaseline& c);
  void on(const SetChartView& c);
  void on(const SetAlignment& c);
  void on(const FirstDivergence& c);
  void on(const FirstViolation& c);
  void on(const RenameSchedule& c);
  void on(const AdoptSchedule& c);
  void on(const AddNote& c);
  void on(const EditNote& c);
  void on(const Ask& c);
  void on(const CancelAsk& c);
  void on(const SetHighlight& c);
  void on(const AskWhy& c);
  void on(const TryRelaxation& c);
  void on(const WriteKernel& c);
  void on(const CheckKernel& c);
  void on(const SetKernelOptions& c);
  void on(const BuildKernel& c);
  void on(const CancelKernel& c);
  void on(const SaveKernel& c);
  void on(const RunKernel& c);
  void on(const CancelRun& c);
  void on(const OpenMeasurement& c);
  void on(const SelectRun& c);
  void on(const ToggleMeasured& c);
  void on(const AdoptMeasured& c);
  bool pump_runs();
  void on(const OpenSweep& c);
  void on(const CloseSweep& c);
  void on(const StartTune& c);
  void on(const CancelTune& c);
  void on(const OpenPoint& c);
  bool pump_sweep();
  /// While its tab is shown, the text is that of the shown schedule.
  void keep_kernel_fresh();
  bool pump_kernel();
  void on(const ToggleCritical& c);
  void on(const ToggleWhiskers& c);
  void on(const Undo& c);
  void on(const Redo& c);
  void on(const SelectOp& c);
  void on(const ClearSelection& c);
  void on(const StartSolve& c);
  void on(const ProveShown& c);
  void on(const CancelSolve& c);
  void on(const SetMode& c);
  void on(const SetIterations& c);
  void on(const SetTheme& c);
  void on(const SetScale& c);
  void on(const SetKeys& c);
  void on(const ResetKeys& c);
  void on(const SetWheelScrolls& c);
  void on(const FoldPane& c);
  void on(const RememberUsed& c);
  void on(const ShowTab& c);
  void on(const ToggleKeys& c);
  void on(const ShowOpenDialog& c);
  void on(const FocusFind& c);
  void on(const ZoomToSelection& c);
  void on(const FitAll& c);
  void on(const CopyText& c);
  void on(const CopyLine& c);
  void on(const Quit& c);

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
  Inquiry& inquiry_of(Topic topic);
  /// An answer makes room for the next one, but is not forgotten.
  void put_aside(Topic topic);
  const Inquiry* earlier_answer(Topic topic, const AskOptions& options) const;
  /// Steps of a front against the same resources that an earlier sweep has settled.
  std::vector<ParetoStep> known_steps(const AskOptions& options) const;
  /// After the question became another one: answers to what it is now come back.
  void recall_answers();
  /// The problem as it was held when something was asked about it, if this is the same one.
  std::shared_ptr<const Problem> same_as_asked(std::shared_ptr<const Problem> problem) const;
  /// Puts other constraints in force, as one step of undo; then solves, if asked to.
  void constrain(Constraints next, const std::string& what, bool solve);
  /// Pre: why_no_solve() is empty. `row`: what the schedule that comes of it will be called.
  void begin_solve(std::string row, std::string proving = {});
  /// Solves what was just put in force; its schedule will be called after it and belongs to that step of undo.
  void solve_proposal(const std::string& what);
  /// Asks why II is not smaller, unless that is known or being asked.
  void ask_why();
  /// Puts other numbers in force, as one step of undo; schedules of the old problem that still fit are kept and judged anew.
  /// False when there is no problem with them.
  bool change_numbers(Changes next, const std::string& what);
  /// Resolves content's kernel on its machine; on failure the problem is gone and the faults are returned.
  std::optional<Error> resolve_content();
  void adopt(Content next, const std::string& what);
  /// After the constraints changed: what was proved about the old question is gone.
  /// `tighter`: everything demanded before still is, so that what was proved about a row that is still legal holds.
  void judge_again(bool tighter = false);
  /// Into the log, the last one in view until it is dismissed.
  void warn_aloud(const std::vector<Fault>& warnings);
  /// Whether a schedule that a solve found becomes a row: always, but while a row's II is being proved only if it is better.
  bool makes_row(const Schedule& schedule) const;
  /// Gives the rows whose file claims a proof, and the row that is being proved, what the outcome has proved about the question.
  void settle_claims(const SolveOutcome& outcome);
  void settle_after_travel(bool other_problem);
  /// Call after every change of `content_`: models are made anew, and what is selected, pointed at and aligned is in the problem again.
  void changed();
  double now() const;
  void say(LogLevel level, std::string text);
  void fail(std::string title, Error error);

  std::map<std::uint64_t, ProjectPlace> places_;  ///< of documents, by Content::document
  std::uint64_t documents_ = 0, kept_document_ = 0;  ///< the newest; the one that `autosave_` holds
  std::unique_ptr<Autosave> autosave_;
  std::vector<Recovery> recoveries_;
  Environment environment_;
  Content content_;
  Selection selection_;
  Log log_;
  LiveSolve live_;
  std::optional<ErrorReport> error_;
  Settings settings_;
  Settings kept_, saved_settings_;  ///< without what holds for this run only; as the file has them
  ViewState view_;
  UndoStack<Content> undo_;
  std::string last_line_;
  std::uint64_t revision_ = 1;
  double began_ = 0;
  int solves_ = 0;
  /// What the running job was started for, when that is a change of the question and not just F5.
  struct RunningProposal {
    std::size_t step = 0;  ///< how many changes of the document there had been with it
  };
  std::optional<RunningProposal> proposal_;
  std::map<std::string, EntryPtr> solved_;  ///< newest version of every solver row, by its name
  bool why_after_solve_ = false;            ///< reasons were asked for while a solve was running
  bool compare_next_ = false;               ///< what is shown becomes B when the running solve has a row
  std::string job_row_;                     ///< name of the row that the running job fills
  std::string last_phase_;
  std::map<std::string, Content> loops_;    ///< of the open dump, as they were left: what was found is there on the way back
  std::string shown_before_;                ///< name of the row that was A before this one
  Inquiry inquiries_[std::size(kTopics)];
  Question questions_[std::size(kTopics)];  ///< of those that wait
  std::vector<Topic> waiting_;
  struct Earlier {
    Topic topic;
    Inquiry inquiry;
  };
  std::vector<Earlier> earlier_;  ///< newest last
  Topic asked_ = Topic::Explain;            ///< what `question_job_` works on
  std::unique_ptr<QuestionJob> question_job_;
  KernelDesk kernel_;
  RunDesk runs_;
  SweepDesk sweep_;
  std::unique_ptr<SolveJob> job_;
  std::shared_ptr<const Problem> job_problem_;  ///< what the running job was asked: an answer to anything else is not taken
  Constraints job_constraints_;
  LeavingJobs<SolveJob> leaving_;
};

}  // namespace heddle::app
