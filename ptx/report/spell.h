// Sentences of the judges with names in place of numbers: roles, lines, rings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/report/record.h"
#include "ptx/report/rings.h"
#include "ptx/report/roles.h"

namespace heddle::ptx {

/// What the parts of a run are called: worked out when first asked for, once.
class RunNames {
 public:
  explicit RunNames(const PtxRecord& run) : record(run) {}
  const PtxRecord record;
  const std::vector<PtxRole>& roles() const;
  const std::vector<PtxRing>& rings() const;
  const BarrierNames& barriers() const;
  /// A warp's own, as indexes into the trace.
  const std::vector<int>& events_of(int warp) const;

 private:
  mutable std::optional<std::vector<PtxRole>> roles_;
  mutable std::optional<std::vector<PtxRing>> rings_;
  mutable std::optional<BarrierNames> barriers_;
  mutable std::vector<std::vector<int>> events_;  ///< by warp; empty: not asked for yet
};

/// The sentence with its references (ptx/judge/reference.h) spelled.
std::string spelled(std::string_view sentence, const RunNames& names);

/// "wait FULL of K[1]", "LOAD A (16384)": as short as a trip on one line needs it.
std::string event_text(const RunEvent& event, const RunNames& names);

/// "gemm.cu:120, inlined at gemm.cu:44"; "" without -lineinfo.
std::string source_of(const PtxRecord& record, int pc);

}  // namespace heddle::ptx
