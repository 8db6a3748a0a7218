// A compiler's log, message by message: what it is about, how bad, and the line of the generated text where one is named. Read by
// people only; parse_ptxas_log() is what decides about a kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heddle::codegen {

struct BuildMessage {
  enum class Level { Info, Warning, Error };
  Level level = Level::Info;
  int line = 0;      ///< of the text, 1-based; 0: none is named
  std::string code;  ///< "C7510", "#177-D"; may be empty
  std::string text;  ///< printable, without level, line and code; what the compiler says below it in further lines of its own
  bool operator==(const BuildMessage&) const = default;
};

/// Forgiving: a line that is no message belongs to the one before it, or is dropped.
std::vector<BuildMessage> parse_build_log(std::string_view log);

}  // namespace heddle::codegen
