// The line at the top: the period and its standing with II beside it; where nothing is known of the period II, its bound and its status.
// Then the few numbers that matter most.
#pragma once

#include <string>

#include "app/session/session.h"
#include "app/session/tone.h"
#include "app/window/parts/whole_kernel_model.h"

namespace heddle::app {

struct HeaderModel {
  std::string ii;       ///< "period 2 405", else "II 2 048"
  std::string bound;    ///< "II 2 048, proved · bound 2 048 (resource)", else the bound
  std::string status;   ///< "LEAST OF ALL 75 082 PROGRAMS", "PROVED"
  std::string verdict;  ///< what both readings say of a schedule that a dump stores
  Tone tone = Tone::Neutral;
  std::string facts;       ///< "3 stages · 9 warps · 0.21 s"
  std::string subject;     ///< "attention_forward_hopper · h100"
  WholeKernelModel whole;  ///< of the shown schedule
  std::string changes;     ///< "2 changes": numbers that are not those of the files; empty where there are none
};

/// " by the full reading"; empty: there is one only.
std::string reading_text(const Content& content);
HeaderModel build_header(const Session& session);

/// One line of the schedules list.
struct ScheduleLine {
  std::string name, detail, ii;
  Tone tone = Tone::Neutral;
};
ScheduleLine describe_entry(const ScheduleEntry& entry);

/// "3 violations", or "breaks 2 of your constraints" when nothing else is wrong.
std::string violations_text(const Verdict& verdict);
/// True while the answer to the question as it stands is "there is no schedule", whatever older row is shown.
bool no_schedule(const Session& session);

/// The machine's name, with how many numbers were changed; "no machine".
std::string machine_text(const Content& content);
/// The word for a row of the list, as shown beside an II; where only its file says that it was proved, that is what the words say.
std::string status_word(const ScheduleEntry& entry);
/// "0.21 s", "12 s", "3 min 20 s"
std::string seconds_text(double seconds);
/// "resource: tensor core" in one or two words, for the header.
std::string bound_reason(const Content& content, Cycle lower_bound);
/// The left end of the status bar: what the solver does.
std::string solver_line(const Session& session);

}  // namespace heddle::app
