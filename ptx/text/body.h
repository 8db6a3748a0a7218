// Reads the body of a PTX function: registers, scopes, labels, places in the source, instructions.
#pragma once

#include <string>

#include "ptx/text/module.h"
#include "ptx/text/names.h"
#include "ptx/text/tokens.h"

namespace heddle::ptx {

struct BodyFault {
  std::string sentence;  ///< "" where the body is whole
  int line = 0;
};

/// Everything behind the opening brace, which was taken at `line`, up to the one that closes it.
BodyFault read_body(PtxTokens& tokens, PtxNames& names, PtxModule& module, PtxFunction& function, int line);

}  // namespace heddle::ptx
