// The list of schedules: which one is shown, which one it is compared with, what they are called, and what is noted beside them.
#pragma once

#include <string>
#include <vector>

#include "app/session/open_document.h"
#include "app/session/proposal_commands.h"

namespace heddle::app {

class ScheduleRows : SessionPart {
 public:
  explicit ScheduleRows(OpenDocument& document) : SessionPart(document) {}

  void on(const SelectSchedule& c);
  void on(const RenameSchedule& c);
  void on(const AdoptSchedule& c);
  void on(const SetBaseline& c);
  void on(const SwapBaseline& c);
  void on(const SetAlignment& c);
  void on(const FirstDivergence& c);
  void on(const FirstViolation& c);
  void on(const AddNote& c);
  void on(const EditNote& c);
  void on(const ToggleFlag& c);
  void on(const ClearFlags& c);

  /// The schedule becomes a row, if there is none that is just it, and is shown.
  void add(const AdoptSchedule& row);

 private:
  /// Selects these ops, points at them and brings them into view.
  void point_at(const std::vector<OpId>& ops, std::string why);

  std::string shown_before_;  ///< name of the row that was A before this one
};

}  // namespace heddle::app
