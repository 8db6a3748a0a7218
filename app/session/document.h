// What is open: a kernel on a machine, and schedules for it. The content is a cheap value (big parts are shared and
// never changed in place), so that undo is keeping old values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/jobs/kernel_options.h"
#include "app/session/note.h"
#include "app/session/source_text.h"
#include "core/analysis/bounds.h"
#include "core/analysis/period.h"
#include "core/analysis/usage.h"
#include "core/check/checker.h"
#include "core/instance/instance.h"
#include "core/library/source.h"
#include "core/schedule/constraints.h"
#include "core/schedule/outcome.h"
#include "core/schedule/schedule.h"

namespace heddle::app {

/// What is known of a schedule, as an answer to the question as it stands.
struct Standing {
  Status status = Status::Unknown;
  std::optional<Cycle> lower_bound;  ///< proved; none for schedules from files without certificate
  std::string explanation;           ///< why II is not smaller; may be empty
  std::vector<ObjectiveValue> objectives;
  bool of_solver = false;  ///< proved optimal, or chosen of all orders by time: solving again finds one just as good
  bool by_time = false;    ///< Feasible, chosen for its predicted time: lower_bound is proved to be the least II, and is smaller
  bool least_ii = false;   ///< a proposal's answer, which no other orders were compared with: solving again needs --least-ii
  bool robust = false;     ///< found by a search for an order that stands uncertain numbers: solving again needs --robust
};

/// What a proof is about.
struct Asked {
  std::shared_ptr<const Problem> problem;
  Constraints constraints;
};

/// What was known of a schedule as an answer to an earlier question. It holds wherever at least as much is demanded of the same problem.
struct EarlierStanding {
  Asked asked;
  Standing standing;
  std::optional<Certificate> claim;  ///< what the schedule's file says
};

/// A schedule with everything that is said about it.
struct ScheduleEntry : Standing {
  std::string name;
  Schedule schedule;
  double seconds = 0;                              ///< of solving
  bool running = false;                            ///< the solver is still improving it
  std::string file;                                ///< where it was read from; empty for solved ones
  std::shared_ptr<const EarlierStanding> earlier;  ///< null: nothing was proved about another question
  std::shared_ptr<const BothReadings> stored;      ///< of schedules that the open dump stores; null for others
  std::shared_ptr<const Constraints> unbound;      ///< demands that are not made of it: Triton built it without them; null: none
  Verdict verdict;
  Period period;
  Usage usage;
};

using EntryPtr = std::shared_ptr<const ScheduleEntry>;

struct Content {
  std::shared_ptr<const Kernel> kernel;
  std::shared_ptr<const Machine> machine;
  std::shared_ptr<const SourceText> kernel_text, machine_text;  ///< null: its text is the compiler's (SourceUse::KernelText, MachineText)
  SourcePtr source;  ///< the compiler's file that the kernel comes from; null: it is ours. The file may have no kernel to solve
  Scope overrides;   ///< parameters that differ from the kernel's defaults
  std::shared_ptr<const Problem> problem;   ///< null unless kernel, machine and parameters resolve
  std::shared_ptr<const Bounds> bounds;     ///< with `problem`
  std::shared_ptr<const Error> unresolved;  ///< why there is no problem, although there are a kernel and a machine
  LayoutChoices choices;                    ///< of layouts and instructions; what is not chosen is as by default
  LayoutChoices brought;                    ///< what of `choices` came with a schedule's file, and which no user chose here
  Changes changes;                          ///< numbers taken differently before the problem is resolved ("what if")
  Constraints constraints;
  std::shared_ptr<const Constraints> given;  ///< the constraints that the compiler's file brings, which no user wrote; null: none
  KernelOptions kernel_options;              ///< how its kernel is written
  std::vector<EntryPtr> schedules;
  std::optional<std::size_t> shown;     ///< A: index into `schedules`
  std::optional<std::size_t> baseline;  ///< B, which A is compared with
  std::vector<Note> notes;
  std::vector<Cycle> flags;    ///< planted on the ruler
  std::uint64_t document = 0;  ///< stays the same while one kernel is worked on; Projects knows its file

  /// Why what is open cannot be used so; empty: it can.
  const char* why_not(SourceUse use) const { return source ? source->why_not(use) : ""; }
  bool allows(SourceUse use) const { return *why_not(use) == '\0'; }
  /// Null: what is open is none.
  const DumpText* dump() const { return source ? source->dump() : nullptr; }
  const TritonText* triton() const { return source ? source->triton() : nullptr; }
  /// What the problem is made of. Pre of whoever makes it: there are a kernel and a machine.
  InstanceSpec spec() const { return {kernel, machine, overrides, changes, choices}; }
  /// What every question is about. Pre: there is a problem.
  Instance instance() const { return {spec(), problem}; }
  const std::shared_ptr<const SourceText>& text_of(SourceOf of) const { return of == SourceOf::Kernel ? kernel_text : machine_text; }
  const ScheduleEntry* entry() const { return shown ? schedules[*shown].get() : nullptr; }
  const ScheduleEntry* baseline_entry() const { return baseline ? schedules[*baseline].get() : nullptr; }
};

/// A search that ended before anything was proved, about the question as it stands: it can go on.
bool is_unfinished(const ScheduleEntry& entry);

/// The checker's verdict. Pins that were moved later together mean the schedule moved later as a whole
/// (session/proposal.h). Pre: the schedule's sizes fit the problem.
Verdict judge(const Problem& problem, const Constraints& constraints, const Schedule& schedule);

/// Judges a schedule and works out all that is derived. Pre: the schedule's sizes fit the problem.
EntryPtr make_entry(const Problem& problem, const Constraints& constraints, ScheduleEntry entry);

/// Of a schedule that was read from this file: what the file says of it stays the schedule's claim.
ScheduleEntry entry_of_file(Schedule schedule, const std::string& path);

/// True when the sizes of a schedule fit the problem, so that analysis may look at it.
bool fits(const Problem& problem, const Schedule& schedule);

}  // namespace heddle::app
