// Why a kernel is, or is not, warp specialized: what the text shows of it.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/text_style.h"
#include "core/triton/audit/audit_parts.h"
#include "core/triton/read/decisions.h"

namespace heddle::triton {
namespace {

/// "default 4, partition0 1, partition1 1" of the kernel's `ttg.warp_specialize`; empty where it has none.
std::string groups_of(const TritonProgram& program) {
  for (const mlir::Op& op : program.module->ops) {
    if (op.name != "ttg.warp_specialize") continue;
    std::string text;
    for (const mlir::RegionId id : op.regions) {
      const mlir::Region& region = program.module->region(id);
      if (region.label.empty()) continue;
      const std::int64_t warps = region.warps > 0 ? region.warps : program.num_warps;
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", region.label, count_of(warps, "warp"));
    }
    return text.empty() ? "groups without labels" : text;
  }
  return {};
}

bool descriptors_from_host(const TritonProgram& program) {
  const mlir::Block* body = program.module->body(program.function);
  return body && std::any_of(body->arguments.begin(), body->arguments.end(), [&](mlir::ValueId v) { return program.type(v).descriptor; });
}

bool loads_by_pointer(const TritonProgram& program, const LoopSite& loop) {
  const mlir::Block* body = program.module->body(loop.op);
  return body && std::any_of(body->ops.begin(), body->ops.end(), [&](mlir::OpId id) {
           const mlir::Op& op = program.module->op(id);
           return op.name == "tt.load" && !op.results.empty() && program.type(op.results.front()).tile.tile();
         });
}

std::size_t partitions_of(const TritonProgram& program, const LoopSite& loop) {
  std::set<std::int64_t> partitions;
  const mlir::Block* body = program.module->body(loop.op);
  if (!body) return 0;
  for (const mlir::OpId id : body->ops)
    for (const std::int64_t number : partitions_of_op(program.module->op(id))) partitions.insert(number);
  return partitions.size();
}

}  // namespace

Finding audit_specialization(const TritonProgram& program, const LoopSite* loop) {
  Finding finding{"warp groups", RowMark::Fine, {}, {}, {}};
  if (const std::string groups = groups_of(program); !groups.empty()) {
    finding.sentence = "warp specialized: " + groups;
    return finding;
  }
  const std::string all = "all " + count_of(program.num_warps, "warp") + " do the same work";
  if (!loop) {
    finding.sentence = all;
    return finding;
  }
  const bool hopper = program.target >= 90 && program.target < 100;
  if (loop->partitioned) {
    finding.sentence = fmt::format("the loop's ops are divided among {}; Triton makes warp groups of them in its next passes",
                                   count_of(static_cast<std::int64_t>(partitions_of(program, *loop)), "partition"));
    return finding;
  }
  if (!loop->wants_specialization) {
    finding.sentence = all + ": the loop does not ask for warp specialization (tl.range(..., warp_specialize=True))";
    if (hopper && descriptors_from_host(program))
      finding.details.push_back("Triton 3.9.0 refuses that on sm_90 for descriptors made on the host, as these are");
    return finding;
  }
  if (program.form == TextForm::Final) {
    finding.weight = RowMark::Waste;
    finding.sentence = all + ", although the loop asks for warp specialization: Triton found no partition that it could carry out";
  } else if (hopper) {
    finding.weight = RowMark::Waste;
    finding.sentence =
        all + " so far: the loop asks for warp specialization, which Triton does on Hopper before it schedules, and this text shows none";
    if (loads_by_pointer(program, *loop))
      finding.details.push_back(
          "it loads by pointer, and on sm_90 Triton specializes loads by descriptor only (tl.make_tensor_descriptor), and fails on others");
    if (descriptors_from_host(program))
      finding.details.push_back(
          "its descriptors are made on the host, which Triton 3.9.0 refuses to specialize on sm_90; make them in the kernel "
          "(tl.make_tensor_descriptor)");
  } else if (program.target < 90) {
    finding.weight = RowMark::Waste;
    finding.sentence = all + fmt::format(": the loop asks for warp specialization, which sm_{} does not have", program.target);
  } else {
    finding.sentence =
        "the loop asks for warp specialization, which Triton decides in its next passes: the partitioned or specialized text shows it";
  }
  if (program.num_warps == 8 && program.form != TextForm::Final)
    finding.details.push_back(
        "with num_warps = 8 such loops have been seen to compile without a group of their own for loads; compare the warps of the finished "
        "kernel");
  return finding;
}

}  // namespace heddle::triton
