// The baselines themselves, one file each; baselines.cpp lists them.
#pragma once

#include "solver/baselines/baselines.h"

namespace heddle::solver {

Result<BaselineOutcome> run_serial(const BaselineInput& input);
Result<BaselineOutcome> run_triton(const BaselineInput& input);
Result<BaselineOutcome> run_triton_autows(const BaselineInput& input);
Result<BaselineOutcome> run_tawa(const BaselineInput& input);
Result<BaselineOutcome> run_rau(const BaselineInput& input);
Result<BaselineOutcome> run_swing(const BaselineInput& input);
Result<BaselineOutcome> run_greedy_partition(const BaselineInput& input);
Result<BaselineOutcome> run_tilelang(const BaselineInput& input);
Result<BaselineOutcome> run_twill_two_phase(const BaselineInput& input);

}  // namespace heddle::solver
