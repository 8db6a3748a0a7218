// A run as text: roles, rings, and one steady trip of each role.
#pragma once

#include <string>

#include "ptx/report/record.h"

namespace heddle::ptx {

std::string show_text(const PtxRecord& record, bool times);

}  // namespace heddle::ptx
