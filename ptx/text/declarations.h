// Reads declarations of a PTX text: variables with their first contents, parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/text/module.h"
#include "ptx/text/names.h"
#include "ptx/text/tokens.h"

namespace heddle::ptx {

/// The space that a directive names (".shared"); false: none of them.
bool variable_space(std::string_view directive, PtxVariable::Space& space);

/// What follows the word of the space up to the semicolon, which is taken: ".align 16 .b8 name[64] = {1, 2}, other". What is wrong with it;
/// "" where nothing is.
std::string read_variables(PtxTokens& tokens, PtxVariable::Space space, bool external, PtxNames& names,
                           std::vector<PtxVariable>& variables);

/// "(.param .u64 .ptr .align 16 name, ...)", the opening bracket being next. Parameters in registers (of functions) become registers.
std::string read_parameters(PtxTokens& tokens, PtxNames& names, PtxFunction& function, std::vector<PtxParameter>& parameters);

}  // namespace heddle::ptx
