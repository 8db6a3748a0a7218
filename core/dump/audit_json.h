// An audit as one JSON object: the numbers, and the rows of core/dump/audit_report.h as they are printed.
#pragma once

#include "core/base/json.h"
#include "core/dump/audit.h"

namespace heddle::dump {

Json audit_json(const Dump& dump, const DumpAudit& audit);

}  // namespace heddle::dump
