// What is to be said about a Triton kernel before it is launched: loads that are not pipelined and why, whether anything overlaps,
// memory against the limits, stages that no data passes, why it was not warp specialized, stages and distances of equal loads beside each
// other.
#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/report_rows.h"
#include "core/base/text_style.h"
#include "core/machine/machine.h"
#include "core/triton/audit/comparison.h"
#include "core/triton/memory/memory.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct Finding {
  std::string topic;  ///< "shared memory", "loads", "overlap" ...
  RowMark weight = RowMark::Fine;
  std::string sentence;
  std::vector<std::string> details;
  std::vector<mlir::OpId> ops;  ///< that it speaks of
};

struct LoadRow {
  std::string name, tile;
  std::string source;  ///< "kernels.py:125"
  std::int64_t stage = -1, use_stage = -1, slots = 0, bytes = 0;
  std::string remark;
  mlir::OpId op;
};

struct TextLoopAudit {
  const LoopSite* loop = nullptr;
  std::size_t edges = 0, fused = 0;  ///< of its graph; 0 where it has none
  std::vector<LoadRow> loads;
  std::vector<Finding> findings;
};

struct TextAudit {
  std::string kernel;
  TextForm form = TextForm::Input;
  int target = 90;
  std::int64_t num_warps = 4;
  TritonMemory memory;
  std::string title;              ///< "attention_forward, sm_90, 8 warps, scheduled"
  std::vector<Finding> findings;  ///< of the whole kernel: memory, specialization
  std::vector<TextLoopAudit> loops;
  bool clean() const;  ///< nothing is Wrong
};

/// `program` must outlive the audit. `loop`: only that one.
TextAudit audit(const TritonProgram& program, const Machine& machine, const LoopSite* loop = nullptr);

std::string audit_headline(const TextAudit& audit);
/// With a comparison, its three rows and the table of options stand at the end.
std::string audit_text(const TextAudit& audit, const Comparison* comparison, const TextStyle& style);
std::string audit_markdown(const TextAudit& audit, const Comparison* comparison);
Json audit_json(const TextAudit& audit, const Comparison* comparison);

}  // namespace heddle::triton
