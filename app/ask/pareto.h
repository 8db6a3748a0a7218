// What a smaller II costs in warps, registers, memory or stages: put to the solver, and told.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "app/ask/ending.h"
#include "core/answers/pareto.h"
#include "core/base/result.h"

namespace heddle::app {

struct ParetoOptions {
  std::vector<Resource> against{Resource::Smem};
  int max_ii_factor = 4;  ///< what is slower than so many times the least II is not gone into
  bool operator==(const ParetoOptions&) const = default;
};

/// The front of layouts that are open is that of the combination which dominates all others: the subject becomes that one. A fault where
/// several are left.
Result<Ok> take_only_layouts(Subject& subject);

/// take_only_layouts() first. `known`: what is gone on from, of an earlier answer to the same question.
Result<Pareto> ask_pareto(Subject subject, const ParetoOptions& options, const Pareto& known, std::stop_token stop,
                          const Listener<Pareto>& listener);
Ended ended(const Pareto& front);
std::string told(const Subject& subject, const Pareto& front, const Telling& how);

}  // namespace heddle::app
