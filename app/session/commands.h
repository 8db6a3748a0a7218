// What a person can do: one struct each, with what there is to say about it. Commands are at once the unit of undo, the entries of
// menus and the words of UI tests. Those that carry schedules, changed numbers or questions are in proposal_commands.h, those that only
// change what is shown in view_commands.h. All are listed at the end; what each does is the `on` of the part of the session that takes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/session/command.h"
#include "app/session/note.h"
#include "app/session/source_text.h"
#include "app/session/view_commands.h"
#include "app/session/view_state.h"
#include "core/base/id.h"
#include "core/library/source_parts.h"
#include "core/schedule/constraints.h"

namespace heddle {
struct LayoutView;  // core/answers/layout_view.h
}
namespace heddle::triton {
enum class Whose;  // core/triton/audit/comparison.h
}

namespace heddle::app {

enum class Topic;  // app/jobs/ask_options.h

// Files. A NAME is a shipped name ("toy_fig1", "h100") or a path.
struct OpenFile {
  std::string path;
  bool solve = false;
};  ///< any of our files, told apart by its "schema" (drag and drop, open dialog), or a shipped kernel by its name
struct OpenKernel {
  std::string name;
  bool solve = false;  ///< where there is a machine for it
};
struct OpenMachine {
  std::string name;
  bool solve = false;
};
struct SwitchMachine {
  std::string name;
  bool solve = false;
};  ///< "what if it were that machine": all else stays, schedules that still fit are checked again
struct OpenPair {
  std::string kernel, machine;
  bool solve = true;
};  ///< welcome cards, command line
struct OpenSchedule {
  std::string path;
  bool as_baseline = false;  ///< it becomes B, where there is an A
};
struct ShowPart {
  FilePart part;
};  ///< another kernel, pass, loop or reading of the compiler's file that is open
struct ShowSide {
  triton::Whose whose{};
};                        ///< one of the three schedules of the open Triton kernel becomes A, by the reading that it belongs to
struct CompareTriton {};  ///< works the three out anew
struct CancelTriton {};
struct OpenPlace {
  std::string file;
  int line = 0;
};                             ///< of a source program: in the person's editor, where there is one; "file:line" goes to the clipboard
struct DemandEmitterRules {};  ///< what the emitter of the open dump's compiler demands becomes constraints, as one step
struct OpenConstraints {
  std::string path;
};
struct SaveSchedule {
  std::string path;
};  ///< the schedule that is shown
struct OpenLaunch {
  std::string path;
};                       ///< of a PTX, or a PTX with its launch beside it: it takes the place of a kernel, and is checked
struct CheckLaunch {};   ///< again: its files may have changed
struct CancelLaunch {};  ///< what was found stays
struct OpenProject {
  std::string path;
};
struct SaveProject {
  std::string path;
};  ///< empty: to the file it has
struct SaveConstraints {
  std::string path;
};  ///< with the changed numbers
struct RestoreWork {
  std::string path;
};  ///< of Projects::recoveries()
struct DiscardWork {
  std::string path;
};
struct NewKernel {
  std::string text;
};  ///< a kernel that has no file yet becomes the document, on the open machine or the usual one, and is solved
struct EditSource {
  SourceOf of = SourceOf::Kernel;
  std::string text;     ///< all of it
  bool typing = false;  ///< changes that follow each other soon are one step of undo
  std::string what{};   ///< the name of the step; empty: "edit NAME"
};                      ///< what it says is shown as soon as it has no faults, and solved when typing pauses
struct SaveSource {
  SourceOf of = SourceOf::Kernel;
  std::string path{};  ///< empty: to the file it has
};
struct ReadSourceAgain {
  SourceOf of = SourceOf::Kernel;
};                        ///< what its file holds now takes the place of the text
struct CloseDocument {};  ///< back to the welcome screen
struct DismissError {};

// The document.
struct SetParam {
  std::string name;
  std::int64_t value = 0;
};
struct SelectSchedule {
  std::size_t index = 0;
};  ///< index into Document::schedules
struct RemoveSchedule {
  std::size_t index = 0;
};
struct ToggleConstraint {
  std::size_t index = 0;
  bool solve = false;
};

// Proposals: each becomes a constraint or a change of a number, and is solved at once where `solve` says so.
struct AddConstraint {
  UserConstraint constraint;
  bool solve = true;
  bool hold_group = false;  ///< group numbers are those of the shown schedule: one op of the group keeps it (session/proposal.h)
};
struct ReplaceConstraint {
  std::size_t index = 0;
  UserConstraint constraint;
  bool solve = true;
};
struct RemoveConstraint {
  std::size_t index = 0;
};
struct MoveOp {
  OpId op;
  Cycle start = 0;               ///< in cycles of the shown schedule; negative: before its cycle 0
  std::optional<GroupId> group;  ///< of the shown schedule, when it was dropped on another group's rows
  bool pin = true;               ///< false: only the group is asked for
};                               ///< a bar was dropped: pins it there, relative to the rest (session/proposal.h)
struct TogglePin {
  OpId op;
};  ///< where it is in the shown schedule
struct PinOps {
  std::vector<OpId> ops;
  bool pin = true;  ///< false: takes their pins away
};                  ///< the same for several ops, as one step
struct RemoveChange {
  std::size_t index = 0;
  bool solve = false;
};
struct ToggleChange {
  std::size_t index = 0;
};

// Schedules side by side.
struct SetBaseline {
  std::optional<std::size_t> index;
};  ///< B; the shown one becomes B and what was shown before it becomes A; none: no comparison
struct SwapBaseline {};
struct OpenWindow {
  bool baseline = false;
};  ///< a second window, another process, with what is open; with B in A's place. Both follow each other in selection and zoom
struct SetAlignment {
  Alignment alignment;
};
struct FirstDivergence {};  ///< selects, points at and centres where the programs of A and B part
struct FirstViolation {};   ///< the same for the first rule that the shown schedule breaks
struct RenameSchedule {
  std::size_t index = 0;
  std::string name;
};

// Notes.
struct AddNote {
  Note note;
};
struct EditNote {
  std::size_t index = 0;
  std::string text;
};  ///< an empty text removes it

struct ToggleFlag {
  Cycle at = 0;
};  ///< on the ruler
struct ClearFlags {};

// Questions; see Ask in proposal_commands.h.
struct CancelAsk {
  Topic topic{};
};
/// Shows the reasons for II, and asks the solver for them where they are not known.
struct AskWhy {};
struct Undo {};
struct Redo {};

// The kernel of the shown schedule; see SetKernelOptions in proposal_commands.h.
enum class KernelStep { Text, Check, Build, Data };
inline constexpr std::int64_t kUsualInterleavings = 200;
inline constexpr std::int64_t kUsualDataInterleavings = 12;  ///< with real data each is much more work
struct WriteKernel {
  bool again = false;  ///< where it cannot be written, solves with what stands in the way until it can
};                     ///< its CUDA text
struct CheckKernel {
  std::int64_t interleavings = kUsualInterleavings;
  bool data = false;  ///< with real data, every element compared with what the kernel's graph computes
};                    ///< its program on the CPU, in so many orders of events
struct BuildKernel {
  bool again = false;  ///< the same where the compiler objects to it
};                     ///< with NVRTC or nvcc
struct CancelKernel {
  KernelStep step = KernelStep::Text;
};
struct SaveKernel {
  std::string path;
};  ///< the text
struct SavePackage {
  std::string path;     ///< a folder
  bool torch = false;   ///< an operator of PyTorch; else host code with a C interface
  std::string command;  ///< that writes the same, for its README.md
};

// Layouts of tiles.
struct SaveLayout {
  std::string path;  ///< .csv, .json, .png; else a picture as SVG
  std::shared_ptr<const LayoutView> view, beside;
  std::string colour;  ///< of the picture: "lane"
};

// Runs on a GPU.
struct RunKernel {
  bool profile = false;  ///< with the recording build, op by op
};
struct CancelRun {};
struct StartRace {};  ///< programs of the kernel against each other, the shown schedule among them
struct CancelRace {};
struct OpenMeasurement {
  std::string path;
};
struct SelectRun {
  std::optional<std::size_t> index;
};                         ///< of RunState::runs(); none: no run is chosen
struct ToggleMeasured {};  ///< the chosen run's bars over those of the chart
struct AdoptMeasured {};   ///< the chosen run's latencies become changed numbers, as one step, and it is solved again

// Sweeps: histories of a tuner, results of a batch.
struct OpenSweep {
  std::string path;
};  ///< and follows it while it grows
struct CloseSweep {};
/// How the tuner is to go about it, as `heddle tune` takes it.
struct TuneOptions {
  std::int64_t budget = 50;  ///< evaluations
  std::string method = "baco";
  std::int64_t seed = 0;
  bool written = true;  ///< only what can be written as CUDA, on machines that kernels are written for
  bool operator==(const TuneOptions&) const = default;
};
struct StartTune {
  TuneOptions options;
  bool more = false;  ///< goes on with the history that is open
};                    ///< of what is open, in a process of its own
struct CancelTune {};
struct OpenPoint {
  std::size_t index = 0;  ///< of SweepTable::points
  bool as_baseline = false;
};  ///< its problem and its schedule; without a schedule it is solved again

// Predictions against published measurements.
struct Validate {};
struct CancelValidation {};
struct SelectPublished {
  std::optional<std::size_t> index;
};  ///< a row of the validation; none: no row is chosen
struct OpenPublished {
  std::size_t index = 0;
};  ///< its kernel, machine, parameters and schedule; where it names no schedule, one is solved for

// Selection.
struct SelectOp {
  OpId op;
  bool extend = false;
};  ///< extend: add to, or take from, what is selected
struct ClearSelection {};

// Solving.
struct StartSolve {
  bool robust = false;  ///< of the schedules of least II the one whose order stands uncertain numbers best
};
struct ContinueSolve {};  ///< goes on with the search that the shown schedule comes from, from its II and bound
struct ProveShown {};     ///< proves, or refutes, that the shown schedule's II is the least
struct CancelSolve {};

// How things are shown, where it is more than a change of the view (view_commands.h): the command line does the same, something is
// asked, or it may be refused.
struct SetMode {
  GanttMode mode{};
};
struct SetIterations {
  int count = 3;
};                         ///< unrolled and pipeline modes, 1 .. 64
struct ToggleWhiskers {};  ///< how far every op can move, drawn on the bars; asks for it
struct CopyLine {};        ///< to the clipboard: the command line that does what was done last
struct Quit {
  bool even_unsaved = false;  ///< else it asks first, where work of the user's own would be lost
};

// Those of proposal_commands.h.
struct AdoptSchedule;
struct Ask;
struct ChooseLayouts;
struct OpenMember;
struct SetChange;
struct SetKernelOptions;
struct TryRelaxation;

// The types of all commands. What dispatches on them, and the tests that make random ones, go by this list.
template <class... C>
struct CommandTypes {
  static constexpr std::size_t kCount = sizeof...(C);
};

using AllCommands =
    CommandTypes<OpenFile, OpenKernel, OpenMachine, SwitchMachine, OpenPair, OpenSchedule, ShowPart, ShowSide, CompareTriton, CancelTriton,
                 OpenLaunch, CheckLaunch, CancelLaunch, OpenPlace, DemandEmitterRules, OpenConstraints, SaveSchedule, OpenProject,
                 SaveProject, SaveConstraints, RestoreWork, DiscardWork, Export, NewKernel, EditSource, SaveSource, ReadSourceAgain,
                 CloseDocument, DismissError, SetParam, SelectSchedule, RemoveSchedule, ToggleConstraint, AddConstraint, ReplaceConstraint,
                 RemoveConstraint, MoveOp, TogglePin, PinOps, SetChange, RemoveChange, ToggleChange, ChooseLayouts, SetBaseline,
                 SwapBaseline, OpenWindow, SetAlignment, FirstDivergence, FirstViolation, RenameSchedule, AdoptSchedule, AddNote, EditNote,
                 ToggleFlag, ClearFlags, Ask, CancelAsk, OpenMember, AskWhy, TryRelaxation, WriteKernel, CheckKernel, SetKernelOptions,
                 BuildKernel, CancelKernel, SaveKernel, SavePackage, SaveLayout, RunKernel, CancelRun, StartRace, CancelRace,
                 OpenMeasurement, SelectRun, ToggleMeasured, AdoptMeasured, OpenSweep, CloseSweep, StartTune, CancelTune, OpenPoint,
                 Validate, CancelValidation, SelectPublished, OpenPublished, ToggleWhiskers, Undo, Redo, SelectOp, ClearSelection,
                 StartSolve, ContinueSolve, ProveShown, CancelSolve, SetMode, SetIterations, CopyLine, ChangeView, ChangeSettings, Quit>;

}  // namespace heddle::app
