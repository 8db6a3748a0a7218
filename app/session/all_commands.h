// The types of all commands. What dispatches on them, and the tests that make random ones, go by this list: a new command is added here.
#pragma once

#include "app/session/commands.h"
#include "app/session/proposal_commands.h"

namespace heddle::app {

template <class... C>
struct CommandTypes {
  static constexpr std::size_t kCount = sizeof...(C);
};

using AllCommands =
    CommandTypes<OpenFile, OpenKernel, OpenMachine, SwitchMachine, OpenPair, OpenSchedule, OpenDump, ShowLoop, ShowTriton, ShowSide,
                 CompareTriton, CancelTriton, OpenPlace, DemandEmitterRules, OpenConstraints, SaveSchedule, OpenProject, SaveProject,
                 SaveConstraints, RestoreWork, DiscardWork, Export, NewKernel, EditSource, SaveSource, ReadSourceAgain, CloseDocument,
                 DismissError, SetParam, SelectSchedule, RemoveSchedule, ToggleConstraint, AddConstraint, ReplaceConstraint,
                 RemoveConstraint, MoveOp, TogglePin, PinOps, SetChange, RemoveChange, ToggleChange, ChooseLayouts, SetBaseline,
                 SwapBaseline, OpenWindow, SetAlignment, FirstDivergence, FirstViolation, RenameSchedule, AdoptSchedule, AddNote, EditNote,
                 ToggleFlag, ClearFlags, Ask, CancelAsk, OpenMember, AskWhy, TryRelaxation, WriteKernel, CheckKernel, SetKernelOptions,
                 BuildKernel, CancelKernel, SaveKernel, SaveLayout, RunKernel, CancelRun, OpenMeasurement, SelectRun, ToggleMeasured,
                 AdoptMeasured, OpenSweep, CloseSweep, StartTune, CancelTune, OpenPoint, Validate, CancelValidation, SelectPublished,
                 OpenPublished, ToggleWhiskers, Undo, Redo, SelectOp, ClearSelection, StartSolve, ContinueSolve, ProveShown, CancelSolve,
                 SetMode, SetIterations, CopyLine, ChangeView, ChangeSettings, Quit>;

}  // namespace heddle::app
