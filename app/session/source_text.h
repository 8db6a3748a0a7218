// The text of the open kernel, and of the open machine, as it is being worked on. What the session shows is always what the last text
// without faults says; a text with faults waits beside it.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace heddle::app {

enum class SourceOf { Kernel, Machine };

struct SourceText {
  std::string text;
  std::string file;           ///< where it lies; empty: nowhere yet
  std::vector<Fault> faults;  ///< of reading it, or of scheduling what it says; empty: it is what is shown
  bool own = false;           ///< written or changed here and in no file: the user's work
};

}  // namespace heddle::app
