// A family of kernels solved together: members in the order of their arithmetic bounds, each only as far as it could still
// win. What one member proves helps its neighbours: with more warp groups allowed, II can only fall, so bounds carry over
// to fewer groups and schedules to more.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "core/answers/kernel_set.h"
#include "core/schedule/constraints.h"
#include "solver/search/solve.h"

namespace heddle::solver {

struct KernelSetRequest {
  std::vector<KernelSetMember> members;  ///< from solver/questions/kernel_set_members.h
  Constraints constraints;               ///< on every member: caps, which name no ops
  double timeout_seconds = 60;           ///< for everything together
  double member_seconds = 0;             ///< for one member and question; 0: short at first, longer in later rounds
  std::uint64_t seed = 0;
  int max_stages = 6;
  std::vector<Objective> objectives = SolveRequest{}.objectives;  ///< what breaks ties, and what else is reported
  bool least_traffic = false;  ///< ties go to the member that moves fewer bytes per work, before all objectives
  bool prune = true;           ///< false: solve every member to the end
  int jobs = 1;                ///< members at a time; above 1 it depends on timing which members are pruned
};

/// What happens while it runs; called by one thread at a time. The references die with the call.
struct KernelSetProgress {
  const KernelSetAnswer& so_far;
  std::size_t member;       ///< the one that it is about
  bool decided;             ///< false: work on it begins
  std::size_t done, total;  ///< members that need no more work; valid members
};
using KernelSetListener = std::function<void(const KernelSetProgress&)>;

/// Never throws. The same request gives the same answer unless a time limit was hit or jobs > 1; the best throughput does
/// not depend on `jobs` either.
KernelSetAnswer solve_kernel_set(KernelSetRequest request, std::stop_token stop = {}, const KernelSetListener& listener = {});

}  // namespace heddle::solver
