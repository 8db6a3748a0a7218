// From PTX text to a Module.
#pragma once

#include <string>

#include "core/base/result.h"
#include "ptx/text/module.h"

namespace heddle::ptx {

/// Fails where the text has no structure (braces that do not close, a text cut in the middle, no function): a fault names its line. What is
/// wrong with one instruction is that instruction's `fault`, so that a text is judged by what it executes.
Result<PtxModule> parse(std::string text, const std::string& file);

}  // namespace heddle::ptx
