// The chart as a page to read elsewhere, in a pull request for instance: one HTML file that holds everything it shows and loads nothing.
// Zoom, pan, hover; steady state, iterations and, where the machine has contention, the periodic run with it; tables of ops, warp groups
// and rings; what is proved and what is predicted.
#pragma once

#include <optional>
#include <string>

#include "core/chart/gantt_model.h"
#include "core/check/checker.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/kernel_run.h"

namespace heddle {

/// "whole kernel, predicted: 1.52 ms ... · 1 CTA per SM", or why nothing is predicted; for the titles of pictures and files.
std::string whole_kernel_text(const KernelRun& prediction);

/// What the simulator predicts of the whole kernel on the whole machine, as hardware runs it; a fault where it predicts nothing.
KernelRun predict_kernel(const Instance& instance, const Schedule& schedule);

struct ChartPage {
  const Problem& problem;
  const Schedule& schedule;
  const Verdict& verdict;
  GanttMode mode = GanttMode::Steady;     ///< shown first
  int iterations = 3;                     ///< of the view of iterations
  const Machine* machine = nullptr;       ///< where latencies come from
  const EndOps* ends = nullptr;           ///< the kernel's prologue and epilogue
  bool barriers = false;                  ///< lanes of barriers and phases too
  const Kernel* tensor = nullptr;         ///< lanes of tensor memory too, of this kernel
  bool queues = false;                    ///< lanes of rings as queues too
  std::optional<KernelRun> prediction{};  ///< of the whole kernel
  std::string trust{};                    ///< how far such predictions can be trusted; "": not known
};

/// The same page gives the same bytes. Pre: as for build_gantt().
std::string chart_html(const ChartPage& page);

}  // namespace heddle
