// A run as text: roles, rings, and one steady trip of each role.
#pragma once

#include <string>
#include <vector>

#include "ptx/report/record.h"
#include "ptx/report/rings.h"

namespace heddle::ptx {

/// "wait FULL of K[1]", "LOAD A (16384)": as short as a trip on one line needs it.
std::string event_text(const RunEvent& event, const PtxRecord& record, const std::vector<PtxRing>& rings);

std::string show_text(const PtxRecord& record, bool times);

}  // namespace heddle::ptx
