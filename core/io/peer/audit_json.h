// An audit as one JSON object: the numbers, and the rows of core/report/audit_report.h as they are printed.
#pragma once

#include "core/io/json.h"
#include "core/peer/audit.h"

namespace heddle::peer {

Json audit_json(const Dump& dump, const Audit& audit);

}  // namespace heddle::peer
