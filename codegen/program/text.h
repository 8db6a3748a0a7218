// A program as pseudocode, for people: threads and registers, rings and barriers, then every role step by step.
#pragma once

#include <string>

#include "codegen/program/program.h"
#include "codegen/program/refusal.h"
#include "core/base/text_style.h"

namespace heddle::codegen {

/// The whole page; names are made printable, in ASCII where the style says so.
std::string program_page(const Kernel& kernel, const Program& program, const TextStyle& style);

/// One step as it is printed: "wait full k[i-1]". `loop`: iterations are said of the loop's counter i.
std::string step_text(const Kernel& kernel, const Program& program, const Role& role, const Section& section, const Step& step);

}  // namespace heddle::codegen
