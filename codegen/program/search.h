// What a schedule leaves open and no rule decides is found by trying: where results wait for the store, how many pieces of a tile pass
// through registers at once, how deep rings of loads are. A candidate is built as a whole; it is taken where it fits.
//
// In this order, each question answered under the answers before it:
//
//   staging  the roomiest way whose rings and rooms fit into shared memory: each of the others makes something wait
//   pieces   of each role, as many at once as its registers hold
//   rings    two slots where there is one, then deeper ones, while nothing has to give way to them
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/program/draft.h"

namespace heddle::codegen {

struct ProgramCandidate {
  std::vector<int> depths;  ///< of the schedule's rings
  StoreStaging staging;
};

/// A candidate that was built, and why no program came of it; no refusals: one did.
struct Trial {
  ProgramCandidate candidate;
  std::vector<Refusal> refusals;
};

class ProgramSearch {
 public:
  /// Kernel and problem outlive the search.
  ProgramSearch(const Kernel& kernel, const Problem& problem, std::optional<std::int64_t> trips, const BuildOptions& options);

  /// The program of the candidate that is preferred. Where none can be built: what else than memory the first lacks, or else the refusal
  /// whose demand is the mildest.
  BuildResult best(const Schedule& schedule);
  /// In the order in which they were built.
  const std::vector<Trial>& trials() const { return trials_; }

 private:
  struct Found {
    Schedule schedule;
    BuildResult result;
  };
  BuildResult build(const Schedule& schedule, const StoreStaging& staging);
  BuildResult best_staging(const Schedule& schedule, const std::vector<StoreStaging>& stagings);
  BuildResult best_pieces(const Schedule& schedule, const std::vector<StoreStaging>& stagings);
  /// `deeper` in place of what was found, where the checker of the problem has nothing against it and no block per SM is lost.
  void take_deeper(const Problem& problem, const Schedule& deeper, const std::vector<StoreStaging>& stagings, Found& found);

  const Kernel& kernel_;
  const Problem& problem_;
  const std::optional<std::int64_t> trips_;
  const BuildOptions options_;
  std::vector<int> pieces_at_once_;  ///< per role; empty: not asked yet
  std::vector<Trial> trials_;
};

}  // namespace heddle::codegen
