// Sentences of the judges with names in place of numbers: roles, lines, rings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/report/record.h"
#include "ptx/report/rings.h"
#include "ptx/report/roles.h"

namespace heddle::ptx {

/// What the parts of a run are called.
struct RunNames {
  explicit RunNames(const PtxRecord& record)
      : record(record), roles(roles_of(record)), rings(rings_of(record)), barriers(record, roles, rings) {}

  const PtxRecord& record;
  const std::vector<PtxRole> roles;
  const std::vector<PtxRing> rings;
  const BarrierNames barriers;
};

/// The sentence with its references (ptx/judge/reference.h) spelled.
std::string spelled(std::string_view sentence, const RunNames& names);

/// "wait FULL of K[1]", "LOAD A (16384)": as short as a trip on one line needs it.
std::string event_text(const RunEvent& event, const RunNames& names);

/// "gemm.cu:120, inlined at gemm.cu:44"; "" without -lineinfo.
std::string source_of(const PtxRecord& record, int pc);

}  // namespace heddle::ptx
