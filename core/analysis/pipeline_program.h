// A schedule as the program of each warp group: its ops in stream order, with the waits and arrives that channels,
// hand-offs and asynchronous ops imply. This is what the schedule implies, before any code generator: no registers, no
// addresses, no instructions. In the words of CUTLASS: a ring has a full and an empty barrier per slot; the writer
// acquires and commits, readers wait and release, and slot and phase follow from the iteration (PipelineState).
//
// Every line has a place in time, as ops have: stage * II + slot. A group's loop runs its lines in the order of their
// slots; a line of stage l (counted from the group's first) works on the iteration l before the newest. With L stages the
// loop fills over L - 1 windows, runs N - L + 1 times (steady state) and drains over L - 1 windows,
// for any trip count N >= L.
#pragma once

#include <vector>

#include "core/problem/problem.h"
#include "core/schedule/schedule.h"

namespace heddle {

struct PipelineLine {
  enum class Kind {
    Wait,     ///< until `other` of `distance` iterations before has signalled that it is done (consumer_wait)
    Retire,   ///< until `other`, an asynchronous op of the same group, `distance` iterations before, has finished
    Acquire,  ///< until the slot to be filled is free (producer_acquire)
    Issue,    ///< the op itself
    Commit,   ///< signals that `op` is done (producer_commit)
    Release   ///< signals that what was written `distance` iterations before has been read (consumer_release)
  };
  Kind kind = Kind::Issue;
  OpId op;            ///< whose line it is
  OpId other;         ///< Wait, Retire
  ValueId value;      ///< Wait, Commit: what is handed over; invalid: only an order
  ChannelId channel;  ///< the ring in which it lies; invalid: none
  int distance = 0;
  Cycle delay = 0;        ///< Wait, Commit: after the start; tells apart orders that ask for more or less of one op
  bool hardware = false;  ///< Commit, Release: arrives by itself when the asynchronous op has finished
  Cycle time = 0;         ///< of iteration 0
  int stage = 0;          ///< counted from the group's first stage
  Cycle slot = 0;
  int first = 0;  ///< done from this iteration on: before it there is nothing to wait for
  int spare = 0;  ///< not done in the last so many iterations
};

struct PipelineGroup {
  int first_stage = 0;              ///< of the schedule, that stage 0 here is
  int stages = 1;                   ///< L
  std::vector<PipelineLine> lines;  ///< of the steady state, in order
};

struct PipelineProgram {
  std::vector<PipelineGroup> groups;  ///< as the schedule's
  std::vector<int> releases;          ///< per channel: arrivals that free a slot
};

/// Pre: the schedule's sizes fit the problem. For a schedule that is not valid the program may deadlock.
PipelineProgram pipeline_program(const Problem& problem, const Schedule& schedule);

/// What a line of a section works on: i + offset in the steady state, offset while filling, N + offset while draining.
struct PipelineStep {
  std::size_t line = 0;  ///< of the group
  int offset = 0;
  bool check_first = false, check_last = false;  ///< `first` or `spare` must be looked at when it runs
};

struct PipelineWindow {
  enum class Part { Fill, Steady, Drain };
  Part part = Part::Steady;
  int number = 0;  ///< of the windows of filling and of draining, from 0
  std::vector<PipelineStep> steps;
};

/// A loop of more stages is not written out: its filling would fill books.
inline constexpr int kMostStagesWritten = 500;

/// Windows of filling, one steady window, windows of draining; windows without steps are left out. Of a group of more than
/// kMostStagesWritten stages the steady window only.
std::vector<PipelineWindow> pipeline_windows(const PipelineGroup& group);

}  // namespace heddle
