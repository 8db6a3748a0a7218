// What a configuration means for a kernel: the space's parameters by their names.
//
//   NAME of a parameter of the kernel   its value (tile sizes)
//   subtile_NAME                        that tile dimension cut into so many parts (core/kernel/subtile.h)
//   groups, stages, warps, registers, smem, tmem    caps on the schedule
//   grid                                "tiles": a CTA per tile; "persistent": CTAs stay and take tile after tile
//   order                               "grid": tiles in the grid's order; "longest": longest first
//   cluster                             1 or 2 CTAs that share loads by multicast (kernels that are written only)
//   split                               tiles of more iterations are cut into pieces of so many; 0: none
//   merge                               "add", "second_pass": how the pieces of cut tiles meet
//   turns                               "on", "off": barriers keep the schedule's order on the tensor cores (the same)
//
// Everything that the problem model refuses is known before anything is solved: sizes that do not divide, values that fit nowhere, ops that
// cannot be cut.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/kernel/kernel.h"
#include "core/kernel/subtile.h"
#include "core/machine/machine.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/constraints.h"
#include "core/simulate/kernel_run.h"
#include "core/tuning_space/space.h"

namespace heddle {

/// What is tuned, apart from the space.
struct TuningSubject {
  Kernel kernel;
  Machine machine;
  Scope params;             ///< fixed: problem sizes
  Changes changes;          ///< of numbers, for every candidate
  LayoutChoices choices{};  ///< of layouts and instructions
};

struct Candidate {
  Kernel kernel;                  ///< cut
  Scope params;                   ///< set by the space or fixed
  std::vector<Subtile> subtiles;  ///< factors above 1
  Problem problem;
  Constraints demands;   ///< caps
  int groups = 0;        ///< 0: what the kernel says
  KernelRunOptions run;  ///< persistent, longest_first
  int cluster = 1;
  bool turns = true;
};

/// The problem of a configuration, or why there is none. Pre: check_binding() has no faults.
Result<Candidate> make_candidate(const TuningSubject& subject, const SearchSpace& space, const Config& config);

/// Parameters of the space that mean nothing for this kernel, or hold values that cannot be meant ("/parameters/3/name").
std::vector<Fault> check_binding(const SearchSpace& space, const TuningSubject& subject, const std::string& file = {});

struct SpaceOptions {
  bool emission = false;  ///< cluster and turns too
};

/// The space that the kernel file suggests: parameters with several choices, tile dimensions that can be cut in two (but for the loop's own
/// step, where a smaller step says the same), groups up to what it says, stages up to six, persistent CTAs or not, and for tiles of
/// different lengths their order. Fixed parameters do not vary.
SearchSpace space_of(const TuningSubject& subject, const SpaceOptions& options = {});

}  // namespace heddle
