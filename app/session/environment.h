// What the session needs from outside; tests put other solvers, tools and clocks in.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/jobs/kernel_job.h"
#include "app/jobs/launch_job.h"
#include "app/jobs/question.h"
#include "app/jobs/run_job.h"
#include "app/jobs/solve_job.h"
#include "app/jobs/triton_job.h"
#include "app/jobs/warm_job.h"
#include "app/session/prediction_state.h"
#include "app/session/sweep_state.h"
#include "app/session/truth_state.h"
#include "app/session/window_link.h"

namespace heddle::app {

struct Environment {
  SolveFunction solve = warm_solver();
  RecallFunction recall = kept_proofs();  ///< empty: what earlier searches have proved is not known
  AskFunction ask = built_in_answers();
  std::string solver_name = built_in_solver_name();
  std::function<void()> wake;     ///< safe from any thread; may be empty
  std::function<double()> clock;  ///< seconds; empty: the steady clock
  std::string settings_file;      ///< empty: settings are not kept
  std::string autosave_folder;    ///< empty: work is not kept safe from crashes
  KernelTools kernel = built_in_tools();
  RunTools run = built_in_run_tools();
  SweepTools sweep = built_in_sweep_tools();
  TruthTools truth{};
  /// Starts another window with this project, of this number; our end of the link. Empty: there is no display for one.
  std::function<Result<Descriptor>(const std::string& project, int number)> open_window{};
  std::optional<HandedOver> handed_over{};          ///< by the window that opened this one
  PredictFunction predict = built_in_prediction();  ///< empty: whole kernels are not predicted
  TritonTools triton = built_in_triton_tools();
  CheckLaunchFunction launch = built_in_launch_check();
  /// Shows a line of a file in the person's own editor. Empty: there is none.
  std::function<Result<Ok>(const std::string& file, int line)> open_place{};
};

}  // namespace heddle::app
