// What a kernel takes at least, whatever its schedule: cycles of the whole grid by arithmetic, before anything is solved.
//
// The busiest SM runs at least its share of all iterations, and each of its units has to do their work: first the unit waits for what comes
// before it in an iteration, last something may come after it. Where only one CTA fits on an SM at a time and CTAs are not persistent, that
// filling and draining is paid for by every tile. A dependence cycle, and the issue streams of one CTA, hold for each CTA on its own: their
// bound counts as often as tiles follow each other in one place. What L2 supplies to all SMs bounds their loads. Hand-offs, prologue and
// epilogue are not counted.
//
// It bounds run_kernel() of every legal schedule, and every objective made from II (a modulo schedule's II is at least MinII; a
// self-timed run may beat II where a ratio is no whole number, so refutations by the solver do not enter here).
#pragma once

#include <cstdint>
#include <string>

#include "core/analysis/bounds.h"
#include "core/instance/instance.h"
#include "core/simulate/kernel_run.h"

namespace heddle {

struct KernelBound {
  Cycle cycles = 0;
  std::string why;    ///< what binds: "TC: 16 tiles of 128 iterations, 1024 cycles each"
  int most_ctas = 1;  ///< no schedule has more of them on one SM
};

/// Pre: `bounds` are the instance's own, or hold under what else is asked of its schedules.
KernelBound kernel_bound(const Instance& instance, const Bounds& bounds, const KernelRunOptions& options = {});

/// CTAs that fit on one SM at best: every ring one slot deep, every group as narrow as its ops allow.
int most_ctas(const Problem& problem);

}  // namespace heddle
