// What `heddle eval` prints with --json. Written only.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/kernel/evaluate.h"

namespace heddle {

std::string eval_text(const EvalReport& report);
Json eval_schema();

}  // namespace heddle
