#include "codegen/program/search.h"

#include <algorithm>

#include "codegen/program/cluster.h"
#include "codegen/program/passes.h"
#include "codegen/program/rings.h"
#include "core/check/checker.h"

namespace heddle::codegen {
namespace {

constexpr int kAllPieces = 256;  ///< at once: more than a tile has

/// In its loop.
bool works_in_pieces(const Role& role) {
  return std::any_of(role.sections.begin(), role.sections.end(), [](const Section& section) {
    return std::any_of(section.steps.begin(), section.steps.end(),
                       [](const Step& s) { return s.piece.count > 1 && s.op.list == OpRef::List::Body; });
  });
}

/// Bytes of shared memory that it asks the rings to keep to; 0: it asks nothing.
std::int64_t asks(const BuildResult& refused) {
  return refused.refusals.front().constraint ? refused.refusals.front().constraint->high : 0;
}

}  // namespace

ProgramSearch::ProgramSearch(const Kernel& kernel, const Problem& problem, std::optional<std::int64_t> trips, const BuildOptions& options)
    : kernel_(kernel), problem_(problem), trips_(trips), options_(options) {}

BuildResult ProgramSearch::best(const Schedule& schedule) {
  const StoreStaging plain, overlay{.overlay = true}, two{.panels = 2}, one{.panels = 1};
  // Out of tensor memory results come panel by panel anyway.
  const bool tensor = std::any_of(kernel_.values.begin(), kernel_.values.end(), [](const TileValue& v) { return v.space == Space::Tmem; });
  const std::vector<StoreStaging> all = tensor ? std::vector{two, one, overlay} : std::vector{plain, overlay, two, one};
  Found found{schedule, best_pieces(schedule, all)};
  if (!found.result.program || !options_.deep_rings) return std::move(found.result);
  const Problem kept = found.result.program->pair ? of_pair(kernel_, problem_) : problem_;
  // A ring of one slot stands still for every load: for a second one results may lie where the tile's query lay.
  take_deeper(kept, with_double_rings(kept, schedule), tensor ? all : std::vector{plain, overlay}, found);
  take_deeper(kept, with_deeper_rings(kept, found.schedule, *found.result.program), all, found);
  return std::move(found.result);
}

BuildResult ProgramSearch::build(const Schedule& schedule, const StoreStaging& staging) {
  BuildResult built = run_passes({kernel_, problem_, schedule, options_, staging}, trips_);
  trials_.push_back({{schedule.depths, staging}, built.refusals});
  return built;
}

BuildResult ProgramSearch::best_staging(const Schedule& schedule, const std::vector<StoreStaging>& stagings) {
  BuildResult mildest;
  for (StoreStaging staging : stagings) {
    staging.pieces_at_once = pieces_at_once_;
    BuildResult next = build(schedule, staging);
    const bool only_memory = next.refusals.size() == 1 && next.refusals.front().rule == "shared_memory";
    if (next.program || !only_memory) return mildest.refusals.empty() || next.program ? next : mildest;
    if (mildest.refusals.empty() || asks(next) > asks(mildest)) mildest = std::move(next);
  }
  return mildest;
}

/// They are asked for once: deeper rings take no registers.
BuildResult ProgramSearch::best_pieces(const Schedule& schedule, const std::vector<StoreStaging>& stagings) {
  BuildResult best = best_staging(schedule, stagings);
  if (!pieces_at_once_.empty() || !best.program) return best;
  pieces_at_once_.assign(best.program->roles.size(), 1);
  for (std::size_t r = 0; r < pieces_at_once_.size(); ++r) {
    if (!works_in_pieces(best.program->roles[r])) continue;
    for (const int more : {kAllPieces, 2}) {
      pieces_at_once_[r] = more;
      BuildResult next = best_staging(schedule, stagings);
      if (next.program) {
        best = std::move(next);
        break;
      }
      pieces_at_once_[r] = 1;
    }
  }
  return best;
}

void ProgramSearch::take_deeper(const Problem& problem, const Schedule& deeper, const std::vector<StoreStaging>& stagings, Found& found) {
  if (deeper.depths == found.schedule.depths || !check(problem, deeper).valid()) return;
  BuildResult next = best_pieces(deeper, stagings);
  if (!next.program || next.program->smem_bytes > room_of_block(problem, *found.result.program)) return;
  found = {deeper, std::move(next)};
}

}  // namespace heddle::codegen
