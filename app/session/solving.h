// Solving: the job at work, what it was asked, and what has come of it as rows, numbers and log lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/jobs/solve_job.h"
#include "app/session/commands.h"
#include "app/session/document.h"
#include "app/session/live_solve.h"
#include "app/session/open_document.h"

namespace heddle::app {

class ScheduleRows;
struct Environment;

class Solving : SessionPart {
 public:
  Solving(OpenDocument& document, ScheduleRows& rows, const Environment& environment)
      : SessionPart(document), rows_(rows), environment_(environment) {}

  void on(const ContinueSolve& c);
  void on(const ProveShown& c);
  void on(const CancelSolve& c);
  void on(const RemoveSchedule& c);  ///< the search that fills the row goes with it
  void start(const StartSolve& c);
  /// Takes in what the thread has done; true when anything changed.
  bool pump();
  bool close(std::chrono::steady_clock::time_point until) { return leaving_.wait_until(until); }

  /// The solve as far as it has come.
  const LiveSolve& live() const { return live_; }
  /// With what its row has taken already.
  double seconds() const { return spent_before_ + live_.seconds; }
  /// Empty when a solve can be started, else why not, as a sentence.
  std::string why_no_solve() const;
  std::string why_no_continue() const;  ///< with the search that the shown schedule comes from
  std::string why_no_proof() const;     ///< of the shown schedule; empty: ProveShown works

  /// Where there is a problem and a solver. What is found belongs to the step that opened it.
  void solve_opened();
  /// Solves what was just put in force; its schedule will be called after it and belongs to that step of undo.
  void solve_proposal(const std::string& what);
  /// The same after numbers changed: what is known already, or still legal, stays on screen; of the latter it is proved that nothing is
  /// better.
  void solve_changed(const std::string& what);
  /// Rows whose file claims no more than earlier searches have proved are proved.
  void recall_proofs();
  void abandon(const char* why);
  /// The row of the job stays as far as it has come, also in what undo may bring back.
  void end_row();
  /// What was found is about another question than the one that is open now.
  void forget() { live_ = {}; }
  /// After undo: rows are the newest there are, and the job goes where its row has gone.
  void follow_travel();
  /// Reasons are asked for as soon as the running solve has ended; or not.
  void ask_why_after(bool wanted) { why_after_solve_ = wanted; }
  /// A solve has ended, and its reasons are to be asked for. True once.
  bool take_wants_why() { return std::exchange(wants_why_, false); }

 private:
  /// What the running job was started for, when that is a change of the question and not just F5.
  struct Proposed {
    std::size_t step = 0;  ///< how many changes of the document there had been with it
    bool opening = false;  ///< something was opened: there is nothing to compare with
  };

  /// Pre: why_no_solve() is empty. `row`: what the schedule that comes of it will be called.
  void begin_solve(std::string row, std::string proving = {}, bool robust = false);
  solver::SolveRequest request_now() const;
  /// Shows the row that is proved optimal for the question as it stands; false when there is none.
  bool show_known_answer();
  /// No row of the document has, or had, that name.
  bool is_free_name(const std::string& name) const;
  std::string free_name(const std::string& wanted) const;    ///< itself, else "WANTED (2)"
  std::string numbered_name(const std::string& word) const;  ///< "WORD #1"
  EntryPtr* solved_row(const std::string& name);
  /// The row belongs to the change of the document that the running solve was started for.
  bool of_proposal() const;
  void take_event(const solver::SolveEvent& event, std::optional<Schedule>& newest);
  void take_outcome(SolveOutcome outcome);
  void show_incumbent(Schedule schedule);
  void replace_solved(ScheduleEntry entry);
  /// Whether a schedule that a solve found becomes a row: always, but while a row's II is being proved only if it is better.
  bool makes_row(const Schedule& schedule) const;
  /// Gives the rows whose file claims a proof, and the row that is being proved, what the outcome has proved about the question.
  void settle_claims(const SolveOutcome& outcome);

  ScheduleRows& rows_;
  const Environment& environment_;
  std::map<std::pair<std::uint64_t, std::string>, EntryPtr> solved_;  ///< newest version of every solver row, by document and name
  LiveSolve live_;
  std::optional<Proposed> proposal_;
  bool why_after_solve_ = false, wants_why_ = false;
  std::string job_row_;      ///< name of the row that the running job fills
  bool job_robust_ = false;  ///< it asks for a robust schedule
  double spent_before_ = 0;  ///< seconds that its row has taken already
  std::string last_phase_;
  std::shared_ptr<const Problem> job_problem_;  ///< what the running job was asked: an answer to anything else is not taken
  Constraints job_constraints_;
  std::unique_ptr<SolveJob> job_;
  LeavingJobs<SolveJob> leaving_;
};

}  // namespace heddle::app
