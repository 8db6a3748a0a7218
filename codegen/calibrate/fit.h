// A machine's formulas after measuring: each keeps its form, scaled and shifted so that it meets what was measured.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/calibrate/micro.h"
#include "core/base/expr.h"
#include "core/machine/machine.h"

namespace heddle::codegen {

struct FittedFormula {
  Expr formula;
  double worst = 0;  ///< of |formula - measured| / measured over the points
  bool changed = false;
};

/// max(1, ceil_div((old) * scale, 1000) + shift), least squares over the points; only a shift where they do not tell a scale from
/// it. Unchanged where the old formula is within a cycle, or where a point cannot be evaluated.
FittedFormula fit_formula(const Expr& old, const std::vector<std::pair<Scope, double>>& points);

struct CalibrationPoint {
  const MicroKernel* kernel = nullptr;
  MicroResult result;
};

struct CalibratedRule {
  std::string rule;
  int shapes = 0;
  double worst_latency = 0, worst_interval = 0;  ///< after fitting, relative
};

/// A machine with measured numbers. `where` is "NVIDIA H200, driver 580.65.06, 2026-01-02": it goes into the sources. `summary`
/// gets a line per rule. Unit uses: only the one that a rule reserves longest is fitted, to the interval.
Machine calibrated(const Machine& machine, const std::vector<CalibrationPoint>& points, const std::string& where,
                   std::vector<CalibratedRule>& summary);

}  // namespace heddle::codegen
