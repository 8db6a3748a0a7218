// A table of the rules for which every schedule is as good or bad as any other, each with the reason why no demand eases it.
#include "codegen/program/refusal.h"

#include <algorithm>
#include <array>
#include <utility>

#include "codegen/program/program.h"
#include "core/schedule/constraint_text.h"

namespace heddle::codegen {
namespace {

constexpr std::string_view kKernel = "the kernel itself asks for it, whatever the schedule";
constexpr std::string_view kEnds = "what runs before and after the loop is the kernel's, and no schedule moves it";
constexpr std::string_view kText = "how this op is written does not depend on the schedule";
constexpr std::string_view kOption = "an option asks for it, not the schedule";
constexpr std::string_view kFault = "the text is at fault, not the schedule";
constexpr std::string_view kOrder =
    "the compiler orders instructions as it likes; another schedule may suit it better, for example one with fewer stages";
constexpr std::string_view kOneStage = "the schedule has one stage already: no iterations overlap";

constexpr std::array<std::pair<std::string_view, std::string_view>, 35> kReasons{{
    {"run_time_sizes", "a text of these sizes alone can be written"},
    {"numbers_only", kKernel},
    {"tensor_memory", kKernel},
    {"product_place", kKernel},
    {"tile_rows", "how large its tiles are is the kernel's"},
    {"trips", kKernel},
    {"producer", kKernel},
    {"shared_part", kKernel},
    {"written_resident", kKernel},
    {"carried_far", kKernel},
    {"ring_read_back", kKernel},
    {"load_target", kKernel},
    {"outputs", kKernel},
    {"accumulator_place", kKernel},
    {"grid", kKernel},
    {"arch", "the machine is to be another one"},
    {"tile_trips", kEnds},
    {"prologue_store", kEnds},
    {"prologue_kind", kEnds},
    {"epilogue_kind", kEnds},
    {"epilogue_reads_ring", kEnds},
    {"epilogue_crosses_roles", kEnds},
    {"illegal_schedule", "correct the schedule first: heddle check says where"},
    {"cluster", kOption},
    {"records", kOption},
    {"loop", kOneStage},
    {"copies", kOneStage},
    {"wgmma_wait", kOneStage},
    {"accumulator_copies", kOneStage},
    {"setmaxnreg", kFault},
    {"wgmma_serialized", kFault},
    {"turn_gap", kOrder},
    {"broken_batch", kOrder},
    {"uniform_chain", kOrder},
    {"gpu_fence", kFault},
}};

}  // namespace

Refusal refusal(std::string rule, std::vector<std::string> ops, std::string sentence, std::optional<UserConstraint> constraint) {
  if (constraint) constraint->name = describe(*constraint);
  return {std::move(rule), std::move(ops), std::move(sentence), std::move(constraint)};
}

UserConstraint same_group(std::vector<std::string> ops) { return {"", true, ConstraintKind::SameGroup, std::move(ops), "", 0, 0}; }

UserConstraint fewer_stages(const Program& program) { return {"", true, ConstraintKind::MaxStages, {}, "", 0, program.stages - 1}; }

std::string_view why_no_demand(std::string_view rule) {
  const auto it = std::find_if(kReasons.begin(), kReasons.end(), [&](const auto& r) { return r.first == rule; });
  return it == kReasons.end() ? kText : it->second;
}

}  // namespace heddle::codegen
