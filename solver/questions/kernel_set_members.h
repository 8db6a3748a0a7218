// A family of kernels, written down as what may vary, and its members as problems.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "core/answers/kernel_set.h"
#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/kernel/subtile.h"

namespace heddle {

struct Variation {
  enum class Kind { Param, Subtile, Groups };
  Kind kind = Kind::Param;
  std::string name;                  ///< of the parameter; empty for Groups
  std::vector<std::int64_t> values;  ///< empty (Param only): the choices that the kernel file gives
};

/// "TILE_N=128,192", "TILE_N" (its choices), "groups=2..5", "subtile:PARAM=1,2,4". Faults are about the part "vary".
Result<Variation> parse_variation(const std::string& text);

struct KernelSetSpec {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  /// With each of them in place of its kernel. Parameters hold for those that have them; with changes shares of the peak are not known.
  InstanceSpec each;
  std::vector<Variation> vary;
  bool all_choices = false;  ///< also every parameter with choices that is neither set nor varied
};

inline constexpr std::size_t kMostKernelSetMembers = 1000;

/// The cross product, kernel by kernel, the number of groups varying fastest. A parameter that a kernel does not have does
/// not vary there. A member that cannot be cut or resolved is there with its faults. Errors: names that no kernel has,
/// nothing to choose from, too many members, members whose work is of different kinds. A stop cuts the list short.
Result<std::vector<KernelSetMember>> kernel_set_members(const KernelSetSpec& spec, const std::stop_token& stop = {});

}  // namespace heddle
