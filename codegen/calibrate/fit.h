// A machine's formulas after measuring: each keeps its form, scaled and shifted so that it meets what was measured.
#pragma once

#include <optional>
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

/// max(1, ceil_div(old * scale, 1000) + shift), least squares over the points; only a shift where they do not tell a scale from
/// it. A constant stays one number, but for shapes that differ by more than 15 % in what they take: max(old, what grows with `bytes`).
/// Unchanged where the old formula is within a cycle, or where a point cannot be evaluated.
FittedFormula fit_formula(const Expr& old, const std::vector<std::pair<Scope, double>>& points);

struct CalibrationPoint {
  const MicroKernel* kernel = nullptr;
  MicroResult result;
};

struct CalibratedRule {
  std::string rule;
  int shapes = 0;
  std::optional<double> window, latency, interval;  ///< worst residual after fitting, relative; nothing: not measured
  std::string says;                                 ///< of an instruction "16 lanes at a time, 1 cycle", of a bad fit what was measured
};

/// By what rule the lanes of an instruction take turns, as cycles at several ways tell.
struct FittedPhases {
  int lanes = 0;            ///< at a time
  std::int64_t cycles = 1;  ///< of a phase without conflicts
  double least = 0;         ///< cycles of an instruction, however few its phases take: its issue; 0: the phases tell all
  double worst = 0;         ///< of |rule - measured| / measured over the points
  bool told = false;        ///< false: no rule explains what was measured, or several do
};
/// `measured`: cycles of one instruction of a warp among many, for each kernel; `before`: the lanes that the catalogue has.
FittedPhases fit_phases(const std::vector<std::pair<const MicroKernel*, double>>& measured, int before);

/// A machine with measured numbers. `where` is "NVIDIA H200, driver 580.65.06, 2026-01-02": it goes into the sources. `summary`
/// gets a line per rule, and one per instruction of the catalogue, whose phases are no assumption any more where the times tell. Unit uses:
/// only the one that a rule reserves longest is fitted, to the interval; never one of `port`, which follows from the catalogue.
Machine calibrated(const Machine& machine, const std::vector<CalibrationPoint>& points, const std::string& where,
                   std::vector<CalibratedRule>& summary);

}  // namespace heddle::codegen
