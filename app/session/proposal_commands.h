// The rest of what a person can do (see commands.h): commands that carry schedules, changed numbers, questions or ways to write a
// kernel. A header of their own because those types are large.
#pragma once

#include "app/jobs/ask_options.h"
#include "app/jobs/kernel_options.h"
#include "app/session/commands.h"
#include "core/layout/choices.h"
#include "core/problem/changes.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

struct SetChange {
  Change change;
  bool solve = false;
};  ///< replaces one of the same number; one that is switched off is not in force

/// Layouts of values and instructions of ops: these are in force from then on, and no others.
struct ChooseLayouts {
  LayoutChoices choices;
  std::string what;  ///< the name of the step, and of the schedule that is found: "dqs0 panels 32"; empty: all choices in words
  bool solve = false;
};

struct AdoptSchedule {
  Schedule schedule;
  std::string name;
  bool as_baseline = false;
  std::optional<Cycle> lower_bound = {};  ///< proved of the problem as it stands: no schedule has a smaller II
  std::string explanation = {};           ///< why not
};                                        ///< one of an answer becomes a row of the list

struct Ask {
  Topic topic = Topic::Explain;
  AskOptions options;
};

struct OpenMember {
  std::size_t index = 0;
};  ///< of the family that was solved: its parameters and groups become the document, its schedule is shown

/// Puts one way out in force and solves again; what was shown becomes B. See Relaxation.
struct TryRelaxation {
  Changes changes;
  std::optional<std::size_t> constraint;
  std::optional<std::int64_t> limit;
  LayoutChoices choices{};  ///< not empty: these, and nothing of the others
};

struct SetKernelOptions {
  KernelOptions options;
};  ///< how it is written, as a step of undo

}  // namespace heddle::app
