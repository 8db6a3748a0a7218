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

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/kernel/subtile.h"
#include "core/schedule/constraints.h"
#include "core/simulate/kernel_run.h"
#include "core/tuning_space/space.h"

namespace heddle {

/// What a configuration says beside parameters.
struct CandidateSettings {
  std::vector<Subtile> subtiles{};  ///< factors above 1
  Constraints demands{};            ///< caps
  int groups = 0;                   ///< 0: what the kernel says
  KernelRunOptions run{};           ///< persistent, longest_first
  int cluster = 1;
  bool turns = true;
};

struct Candidate : CandidateSettings {
  Instance instance;  ///< its kernel cut, its parameters set by the space or fixed
};

// The subject is what is tuned, apart from the space: its parameters are fixed (problem sizes), its changes and choices are every
// candidate's.

/// The problem of a configuration, or why there is none. Pre: check_binding() has no faults.
Result<Candidate> make_candidate(const InstanceSpec& subject, const SearchSpace& space, const Config& config);

/// Parameters of the space that mean nothing for this kernel, or hold values that cannot be meant ("/parameters/3/name").
std::vector<Fault> check_binding(const SearchSpace& space, const InstanceSpec& subject, const std::string& file = {});

struct SpaceOptions {
  bool emission = false;  ///< cluster and turns too
};

/// The space that the kernel file suggests: parameters with several choices, tile dimensions that can be cut in two (but for the loop's own
/// step, where a smaller step says the same), groups up to what it says, stages up to six, persistent CTAs or not, and for tiles of
/// different lengths their order. Fixed parameters do not vary.
SearchSpace space_of(const InstanceSpec& subject, const SpaceOptions& options = {});

}  // namespace heddle
