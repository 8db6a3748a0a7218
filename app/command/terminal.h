// Where the program prints: the two streams, what the terminal behind them can do, and how talkative to be.
#pragma once

#include <string>

#include "app/command/printable_stream.h"
#include "core/base/result.h"
#include "core/base/text_style.h"

namespace heddle::app {

struct Terminal {
  PrintableStream& out;
  PrintableStream& err;
  TextStyle style;          ///< of `out`
  bool err_is_tty = false;  ///< progress lines may be redrawn
  bool quiet = false, verbose = false;

  /// "heddle: ..." on err, commands in it as_called; what is of several lines goes on indented, so that none of them looks like another
  /// message.
  void complain(const std::string& message) const;
  /// The same unless quiet.
  void note(const std::string& message) const;
};

/// The process's own streams, and what its standard output can do: width from the terminal or COLUMNS, UTF-8 from the locale variables,
/// colour unless NO_COLOR is set, TERM is "dumb" or the output is not a terminal.
class ProcessTerminal {
 public:
  ProcessTerminal();
  Terminal terminal() { return {out_, err_, style_, err_is_tty_}; }

 private:
  TextStyle style_;
  bool err_is_tty_;
  PrintableStream out_, err_;
};

/// Prints every fault and returns the exit code of the error's kind. With `json` the faults go to `out` as an object
/// too.
int report(const Terminal& terminal, const Error& error, bool json);

/// The request itself makes no sense: one sentence, with `json` as an object on `out` too. Returns kUsage.
int refuse(const Terminal& terminal, const std::string& message, bool json);

/// Writes text to a file ("-": to `out`); the exit code, 0 when it worked.
int write_text(const Terminal& terminal, const std::string& path, const std::string& text);

/// 0 when write_text will have a place to write to; asked before the work whose result is to be written.
int expect_writable(const Terminal& terminal, const std::string& path, bool json);

}  // namespace heddle::app
