// The audit of one file for heddle audit: as text, Markdown, JSON and a line, whatever compiler it is of.
#pragma once

#include <cstddef>
#include <string>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace heddle {
class DumpText;
class TritonText;
}  // namespace heddle

namespace heddle::app {

struct AuditPage {
  std::string headline, text;  ///< in the terminal's style
  std::string markdown;
  Json json;
  bool clean = true;  ///< nothing is wrong
  bool interrupted = false;
};

/// Of a compiler's dump. `files_left`, this one included, share what is left of --timeout.
Result<AuditPage> audit_of(const DumpText& text, const Arguments& arguments, const Terminal& terminal, std::size_t files_left);
/// Of a Triton text.
Result<AuditPage> audit_of(const TritonText& text, const Arguments& arguments, const Terminal& terminal, std::size_t files_left);

}  // namespace heddle::app
