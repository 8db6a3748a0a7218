// What is said of a bar of the timeline beside the picture: in the window's tooltip, and on the page that heddle export writes.
#pragma once

#include <string>
#include <vector>

#include "core/chart/gantt_model.h"

namespace heddle {

struct FactLine {
  enum class Tone { Plain, Dim, Tight, Bad };
  std::string text;
  Tone tone = Tone::Plain;
};

/// "iteration k-1"; of a run from cold start "iteration 3".
std::string iteration_text(GanttMode mode, int iteration);

/// "512 cycles on TC from 1 024 (goes on at the left edge)"; both pieces of a bar that wraps around are one op of one length.
std::string bar_text(const GanttModel& model, const GanttBar& bar);

/// "start 1 264 = 0 × 2 048 + 1 264" and "latency 700, issue window 64"; all starts are `shift` cycles later than the schedule's own.
std::vector<FactLine> start_facts(const Problem& problem, const Schedule& schedule, OpId op, Cycle shift = 0);

/// Where the op's latency comes from: "rule mma.ss of h100: published: ...", "the kernel gives it", with " · changed" where it was. Empty
/// for ops whose rule the machine does not have.
std::string latency_source(const Machine& machine, const Problem& problem, OpId op);

/// One line per dependence that enters, then per one that leaves, each the tightest first; of many the first six.
std::vector<FactLine> dependence_facts(const Problem& problem, const Schedule& schedule, OpId op);

}  // namespace heddle
