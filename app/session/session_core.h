// The inside of the session: its parts, each of which takes its own commands; here a command finds its way, things are opened, undone,
// and what threads have done is taken in. Only session.cpp includes this.
#pragma once

#include <chrono>

#include "app/session/edits.h"
#include "app/session/environment.h"
#include "app/session/exports.h"
#include "app/session/family.h"
#include "app/session/kernel_state.h"
#include "app/session/launch_state.h"
#include "app/session/open_document.h"
#include "app/session/prediction_state.h"
#include "app/session/project.h"
#include "app/session/questions.h"
#include "app/session/rows.h"
#include "app/session/run_state.h"
#include "app/session/showing.h"
#include "app/session/solving.h"
#include "app/session/source_document.h"
#include "app/session/sweep_state.h"
#include "app/session/texts.h"
#include "app/session/truth_state.h"
#include "app/session/window_link.h"

namespace heddle {
struct ScheduleHead;  // core/formats/schedule_json.h
}

namespace heddle::app {

/// Hands the command to the first part that takes it.
template <class C, class First, class... Others>
void hand_over(const C& c, First& first, Others&... others) {
  if constexpr (requires { first.on(c); })
    first.on(c);
  else
    hand_over(c, others...);
}

class SessionCore {
 public:
  explicit SessionCore(Environment environment);
  ~SessionCore();

  template <class C>
  void take(const C& c) {
    hand_over(c, *this, rows_, texts_, solving_, questions_, edits_, showing_, projects_, windows_, kernel_, runs_, sweep_, truth_,
              sources_, launch_, family_, exports_);
  }
  bool pump();
  bool close(std::chrono::milliseconds limit);

  void on(const OpenFile& c);
  void on(const OpenKernel& c);
  void on(const OpenMachine& c);
  void on(const SwitchMachine& c);
  void on(const OpenPair& c);
  void on(const OpenSchedule& c);
  void on(const OpenMeasurement& c);
  void on(const CloseDocument& c);
  void on(const Undo& c);
  void on(const Redo& c);

 private:
  friend class Session;

  /// Kernel, machine, parameters and layouts of a schedule's file, those that are open where they are called so.
  Result<Content> content_of(const ScheduleHead& head);
  /// It becomes a row of `next`, which becomes what is open.
  void add_schedule(const OpenSchedule& c, Content next, Schedule schedule);
  void say_verdict(const ScheduleEntry& entry);
  /// A kernel of another architecture takes the machine that runs it.
  void take_usual_machine(Content& next);

  Environment environment_;
  OpenDocument document_{environment_.clock};
  SourceFiles files_;
  ScheduleRows rows_{document_};
  Solving solving_{document_, rows_, environment_};
  Questions questions_{document_, environment_};
  Edits edits_{document_, files_, rows_, solving_, questions_};
  Texts texts_{edits_, questions_};
  Projects projects_{edits_, texts_};
  Showing showing_{document_, solving_, questions_, projects_, environment_.settings_file};
  OtherWindows windows_{document_, solving_, texts_, projects_, environment_};
  KernelState kernel_{edits_, environment_.kernel, environment_.solve, environment_.wake};
  RunState runs_{edits_, environment_.run, environment_.wake};
  SweepState sweep_{edits_, texts_, environment_.sweep, environment_.wake};
  TruthState truth_{edits_, environment_.truth, environment_.wake};
  PredictionState predictions_{document_, environment_.predict, environment_.wake};
  SourceDocument sources_{edits_, environment_.triton, environment_.wake, environment_.open_place};
  LaunchState launch_{document_, environment_.launch, environment_.wake};
  FamilyMembers family_{edits_, questions_};
  Exports exports_{document_, files_, showing_};
};

}  // namespace heddle::app
