// Which member of a family of kernels is fastest: put to the solver, and told. A family is about more than one instance, so its subject is
// what it is made of (solver/questions/kernel_set_members.h).
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/answers/kernel_set.h"
#include "core/base/result.h"

namespace heddle {
struct KernelSetSpec;
}

namespace heddle::app {

struct SearchLimits;  // app/ask/subject.h

struct FamilyOptions {
  std::vector<std::string> vary{};        ///< "TILE_N=128,192", "groups=2..4", "subtile:Q_ROWS=1,2"
  std::vector<std::string> objectives{};  ///< what breaks ties first, by name; "traffic" before all others
  double member_seconds = 0;              ///< for one member; 0: short at first, longer in later rounds
  bool exhaustive = false;                ///< members that cannot win are solved to the end, too
  int jobs = 1;                           ///< members at a time
  std::optional<int> most_stages{};       ///< of every member
  bool operator==(const FamilyOptions&) const = default;
};

/// The subject's kernel, with everything that is said of it but what varies. Faults: of `vary`.
Result<KernelSetSpec> family_of(const Subject& subject, const std::vector<std::string>& vary);

/// `options.vary` is not looked at: the spec has it. Faults: of the spec.
Result<KernelSetAnswer> ask_family(const KernelSetSpec& spec, const FamilyOptions& options, const SearchLimits& limits,
                                   std::stop_token stop, const Listener<KernelSetAnswer>& listener);
Ended ended(const KernelSetAnswer& family);
std::string told(const KernelSetAnswer& family, const Telling& how);

}  // namespace heddle::app
