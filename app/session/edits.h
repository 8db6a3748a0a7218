// What changes the question: kernel, machine, parameters, numbers, layouts and constraints are put in force here, each as a step of undo,
// and rows that still fit are judged again.
#pragma once

#include <optional>
#include <string>

#include "app/session/document.h"
#include "app/session/open_document.h"
#include "app/session/proposal_commands.h"
#include "core/base/result.h"

namespace heddle::app {

class Questions;
class ScheduleRows;
class Solving;
class SourceFiles;

class Edits : SessionPart {
 public:
  Edits(OpenDocument& document, SourceFiles& files, ScheduleRows& rows, Solving& solving, Questions& questions)
      : SessionPart(document), files_(files), rows_(rows), solving_(solving), questions_(questions) {}

  void on(const OpenConstraints& c);
  void on(const SetParam& c);
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
  void on(const TryRelaxation& c);
  /// Of a kernel that is no other compiler's.
  void switch_machine(const SwitchMachine& c);

  /// It becomes what is open, as one step of undo.
  void adopt(Content next, const std::string& what);
  /// The same for something that was open before: as it was left, with the answers about it.
  void go_to(Content next, const std::string& what, const char* why);
  /// After undo, and whatever else brings back what was open before.
  void settle_travel(bool other_problem);
  /// Puts other constraints in force, as one step of undo; then solves, if asked to.
  void constrain(Constraints next, const std::string& what, bool solve);
  /// The same without more; call changed() after it.
  void demand(Constraints next, const std::string& what, const char* why);
  bool change_numbers(Changes next, const std::string& what);

  // For what is put in force elsewhere (a text that was edited, a point of a sweep).
  /// Resolves content's kernel on its machine; on failure the problem is gone and the faults are returned.
  std::optional<Error> resolve();
  /// Rows of another problem that are schedules of this one too.
  void keep_rows(const Content& before);
  /// After the question changed: what was proved holds where at least as much is demanded of the same problem.
  void judge_again(const Asked& before);

 private:
  friend class Opener;

  /// Puts a content with other numbers or layouts in force, as one step of undo; schedules of the old problem that still fit are kept and
  /// checked again. False when there is no problem with it: all is as before, and said why. `why`: a running solve stops.
  bool put_in_force(Content next, const std::string& what, const char* why);
  /// These choices, with the rows of the list that have the present ones.
  static void lay_out(Content& next, LayoutChoices choices);
  /// A file of constraints: its changed numbers are put in force first, for what it demands is demanded of the problem that they make. On
  /// failure they may be in force.
  Result<Constraints> take_numbers(const std::string& path);
  /// False: nothing changed, or it is refused, with the reason on screen.
  bool choose_layouts(const LayoutChoices& choices, const std::string& what);

  SourceFiles& files_;
  ScheduleRows& rows_;
  Solving& solving_;
  Questions& questions_;
};

/// What a part has at hand that opens things: they are put in force, shown as rows, and solved.
class Opener : protected SessionPart {
 protected:
  explicit Opener(Edits& edits)
      : SessionPart(edits.document_), edits_(edits), files_(edits.files_), rows_(edits.rows_), solving_(edits.solving_) {}

  Edits& edits_;
  SourceFiles& files_;
  ScheduleRows& rows_;
  Solving& solving_;
};

}  // namespace heddle::app
