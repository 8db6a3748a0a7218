// Sentences of the judges with names in place of numbers: roles, lines, rings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/report/record.h"
#include "ptx/report/rings.h"
#include "ptx/report/roles.h"

namespace heddle::ptx {

struct SpelledNames {
  const PtxRecord& record;
  std::vector<PtxRole> roles;
  std::vector<PtxRing> rings;
};

/// The sentence with its references (ptx/judge/reference.h) spelled.
std::string spelled(std::string_view sentence, const SpelledNames& names);

/// "gemm.cu:120, inlined at gemm.cu:44"; "" without -lineinfo.
std::string source_of(const PtxRecord& record, int pc);

}  // namespace heddle::ptx
