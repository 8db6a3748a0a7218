// A small judge of JSON Schema: the keywords that core/formats/schema.h writes, and no others.
#pragma once

#include <string>

#include "core/base/json.h"

namespace heddle::test {
/// Empty where the document is valid, else where and why not. A keyword that is not known here is a fault as well.
std::string schema_fault(const Json& schema, const Json& document);
}  // namespace heddle::test
