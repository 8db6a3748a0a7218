// What the parts of the audit share: lists of stages in words, and the findings of each part.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/triton/audit/audit.h"
#include "core/triton/read/order.h"

namespace heddle::triton {

/// A short list of stages: "0, 2 and 3".
std::string list_of_stages(const std::vector<std::int64_t>& stages);

/// Whether stages and clusters let every op read the tile of its own iteration; ops without a stage; stages that are declared and not
/// used; slots of rings that are filled too early.
std::vector<Finding> audit_order(const TritonProgram& program, const LoopSite& loop);
/// Whether work of different kinds is in different stages.
Finding audit_overlap(const TritonProgram& program, const LoopSite& loop);
/// The table of loads, and what is to be said about it.
std::vector<LoadRow> load_rows(const TritonProgram& program, const LoopSite& loop, const std::vector<TritonBuffer>& rings);
std::vector<Finding> audit_loads(const TritonProgram& program, const LoopSite& loop, const std::vector<LoadRow>& rows);
/// Products that are not given to the asynchronous tensor cores: why, and what would change it; nothing where there is none.
std::optional<Finding> audit_products(const TritonProgram& program, const LoopSite& loop);
/// Registers of a thread that hold tiles at the loop's fullest place; nothing where layouts do not say.
std::optional<Finding> audit_registers(const TritonProgram& program, const LoopSite& loop, const Machine& machine);
/// Why the kernel is, or is not, warp specialized, as far as the text shows it.
Finding audit_specialization(const TritonProgram& program, const LoopSite* loop);

}  // namespace heddle::triton
