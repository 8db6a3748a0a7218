#include "codegen/program/program.h"

#include <algorithm>

#include "core/base/integer_division.h"
#include "core/problem/costs.h"
#include "core/problem/fault_log.h"

namespace heddle::codegen {

const TileOp& op_of(const Kernel& kernel, OpRef ref) {
  switch (ref.list) {
    case OpRef::List::Prologue: return kernel.prologue.at(ref.index);
    case OpRef::List::Epilogue: return kernel.epilogue.at(ref.index);
    case OpRef::List::Body: break;
  }
  return kernel.body.at(ref.index);
}

TensorColumns columns_of(const Kernel& kernel, const Scope& params, std::size_t value) {
  // The kernel is resolved: aliases end somewhere, extents and places are numbers (core/problem/storage.h).
  FaultLog faults;
  TensorColumns columns;
  if (const auto tile = measure(kernel.values[value], params, {}, faults)) columns.count = static_cast<int>(tile->columns);
  for (const TileValue* at = &kernel.values[value]; at && !at->alias_of.empty(); at = kernel.find_value(at->alias_of))
    columns.first += static_cast<int>(at->alias_at.evaluate(params).value());
  return columns;
}

std::int64_t rounded_trips(const Program& program, std::int64_t wanted) {
  if (!program.varies) return program.trips;
  if (!program.sizes.empty()) return ceil_div(std::max(wanted, program.least_trips), program.trip_step) * program.trip_step;
  const std::int64_t least = std::clamp(wanted, program.least_trips, program.trips);
  return program.trips - (program.trips - least) / program.trip_step * program.trip_step;
}

std::int64_t barrier_address(const Program& program, std::size_t barrier) {
  std::int64_t at = program.barrier_offset;
  for (std::size_t b = 0; b < barrier; ++b) at += std::int64_t{8} * program.buffers[program.barriers[b].buffer].depth;
  return at;
}

int rounded_load(const Program& program, std::size_t value) {
  for (const Role& role : program.roles)
    for (const Section& section : role.sections)
      for (const Step& step : section.steps)
        if (step.kind == StepKind::Issue && step.engine == Engine::Load && step.output.value == value) return step.round_to;
  return 1;
}

bool issues_products(const Role& role) {
  return std::any_of(role.sections.begin(), role.sections.end(), [](const Section& section) {
    return std::any_of(section.steps.begin(), section.steps.end(),
                       [](const Step& step) { return step.kind == StepKind::Issue && step.engine == Engine::Mma; });
  });
}

const char* to_string(StepKind kind) {
  switch (kind) {
    case StepKind::Wait: return "wait";
    case StepKind::Issue: return "issue";
    case StepKind::Commit: return "commit";
    case StepKind::Retire: return "retire";
    case StepKind::Compute: return "compute";
    case StepKind::Put: return "put";
    case StepKind::Sync: return "sync";
    case StepKind::Arrive: return "arrive";
    case StepKind::Signal: return "signal";
    case StepKind::AwaitReads: return "await reads";
    case StepKind::AwaitWrites: return "await writes";
    case StepKind::FenceBefore: return "fence before";
    case StepKind::FenceAfter: return "fence after";
    case StepKind::TakeTurn: return "take turn";
    case StepKind::PassTurn: return "pass turn";
    case StepKind::Advance: return "advance";
  }
  return "";
}

const char* to_string(Section::Part part) {
  switch (part) {
    case Section::Part::Begin: return "begin of the tile";
    case Section::Part::Fill: return "prologue";
    case Section::Part::Steady: return "steady state";
    case Section::Part::Drain: return "epilogue";
    case Section::Part::End: return "end of the tile";
  }
  return "";
}

}  // namespace heddle::codegen
