// How things are shown: what is selected, the view, settings; and what is asked so that it can be shown.
#pragma once

#include <string>

#include "app/session/commands.h"
#include "app/session/open_document.h"
#include "app/session/settings.h"
#include "app/session/view_commands.h"

namespace heddle::app {

class Projects;
class Questions;
class Solving;

constexpr int kMostIterations = 64;  ///< that the unrolled and pipeline views show

class Showing : SessionPart {
 public:
  /// Settings are read from their file; empty: they are not kept.
  Showing(OpenDocument& document, Solving& solving, Questions& questions, const Projects& projects, std::string settings_file);

  void on(const SelectOp& c);
  void on(const ClearSelection& c);
  void on(const SetMode& c);
  void on(const SetIterations& c);
  void on(const ChangeView& c);
  void on(const ChangeSettings& c);
  void on(const ToggleWhiskers& c);
  void on(const AskWhy& c);
  void on(const CopyLine& c);
  void on(const DismissError& c);
  void on(const Quit& c);

  /// Asks why II is not smaller, unless that is known or being asked.
  void ask_why();
  void save_settings_now();
  /// How many iterations the unrolled and pipeline views show: what the user chose, else enough for some of them to run
  /// in the steady state of the shown schedule.
  int iterations() const;

 private:
  Solving& solving_;
  Questions& questions_;
  const Projects& projects_;
  std::string file_;       ///< of settings
  Settings kept_, saved_;  ///< without what holds for this run only; as the file has them
};

}  // namespace heddle::app
