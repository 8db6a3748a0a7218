#include "codegen/program/passes.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "codegen/program/accumulators.h"
#include "codegen/program/cluster.h"
#include "codegen/program/copies.h"
#include "codegen/program/epilogue.h"
#include "codegen/program/prologue.h"

namespace heddle::codegen {
namespace {

/// Which numbers of trips a tile may have.
void vary_trips(ProgramDraft& draft) {
  for (const auto* list : {&draft.kernel.prologue, &draft.kernel.epilogue})
    for (const TileOp& op : *list)
      for (const Expr& at : op.at)
        if (const auto names = at.names(); std::find(names.begin(), names.end(), draft.kernel.loop.variable) != names.end())
          return draft.refuse("tile_trips", {op.name},
                              fmt::format("'{}' outside the loop depends on the number of trips, which {}", op.name,
                                          draft.options.run_time_sizes ? "is known at run time only" : "differs from tile to tile"));
  // One pass stays, so that what comes after the loop is never the first to use a register or a slot.
  draft.program.varies = true;
  for (const Role& role : draft.program.roles) {
    const bool loops = std::any_of(role.sections.begin(), role.sections.end(), [](const Section& section) {
      return section.part != Section::Part::Begin && section.part != Section::Part::End;
    });
    std::int64_t least = loops ? draft.program.trips : 1;
    for (const Section& section : role.sections) {
      if (!section.loop) continue;
      int skipped_first = 0, skipped_last = 0;
      for (const Step& step : section.steps) {
        skipped_first = std::max(skipped_first, step.skip_first);
        skipped_last = std::max(skipped_last, step.skip_last);
      }
      least = draft.program.trips - std::max<std::int64_t>(section.times - 1 - skipped_first - skipped_last, 0) * section.unroll;
      draft.program.trip_step = std::lcm(draft.program.trip_step, static_cast<std::int64_t>(section.unroll));
    }
    draft.program.least_trips = std::max(draft.program.least_trips, least);
  }
  draft.program.least_trips = rounded_trips(draft.program, draft.program.least_trips);
}

/// The program has the roles from here on.
void finish(ProgramDraft& draft) {
  for (RoleDraft& role : draft.roles) draft.program.roles.push_back(std::move(role.role));
  if (draft.kernel.loop.tile_trips || draft.options.run_time_sizes) vary_trips(draft);
  lay_out(draft);
}

}  // namespace

BuildResult run_passes(ProgramDraft draft, std::optional<std::int64_t> trips) {
  begin_program(draft, trips);
  for (const auto pass : {lower_loops, keep_one_in_flight, order_turns, note_rewritten, lower_prologue, lower_epilogue, share_loads,
                          arrange_copies, begin_boxes, cut_loops, finish})
    if (draft.refusals.empty()) pass(draft);
  if (draft.refusals.empty()) return {std::move(draft.program), {}};
  // What goes wrong because iterations overlap goes wrong less with fewer of them.
  for (Refusal& r : draft.refusals)
    if (!r.constraint && draft.program.stages > 1 &&
        (r.rule == "wgmma_wait" || r.rule == "copies" || r.rule == "accumulator_copies" || r.rule == "loop"))
      r = refusal(r.rule, r.ops, r.sentence, fewer_stages(draft.program));
  return {std::nullopt, std::move(draft.refusals)};
}

}  // namespace heddle::codegen
