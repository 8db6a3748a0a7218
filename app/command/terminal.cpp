#include "app/command/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string_view>

#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/command/option_words.h"
#include "core/answers/summary.h"
#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/scanner.h"

namespace heddle::app {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The first of the locale variables that is set decides.
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = variable(name);
    if (value.empty()) continue;
    return value.find("UTF-8") != value.npos || value.find("utf8") != value.npos || value.find("UTF8") != value.npos ||
           value.find("utf-8") != value.npos;
  }
  return false;
}

std::string error_object(const char* kind, const std::vector<Fault>& faults) {
  return Json(Json::Object{{"error", kind}, {"faults", faults_json(faults)}}).pretty();
}

int terminal_width() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const int width = number_in_front<int>(variable("COLUMNS"));
  return width > 0 && width <= 2000 ? width : TextStyle{}.width;
}

bool stderr_is_tty() { return isatty(STDERR_FILENO) != 0 && variable("TERM") != "dumb"; }

TextStyle detect_style() {
  TextStyle style;
  style.width = terminal_width();
  style.utf8 = locale_is_utf8();
  style.color = isatty(STDOUT_FILENO) && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  return style;
}

}  // namespace

ProcessTerminal::ProcessTerminal()
    : style_(detect_style()),
      err_is_tty_(stderr_is_tty()),
      out_(std::cout, {style_.color, false}, isatty(STDOUT_FILENO) != 0),
      err_(std::cerr, {false, err_is_tty_}, isatty(STDERR_FILENO) != 0) {}

void Terminal::complain(const std::string& message) const {
  std::string text = as_called(message);
  text.erase(text.find_last_not_of('\n') + 1);
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 9) text.replace(at, 1, "\n        ");
  err << "heddle: " << text << '\n' << std::flush;
}

void Terminal::note(const std::string& message) const {
  if (!quiet) complain(message);
}

int report(const Terminal& terminal, const Error& error, bool json) {
  const Error said = in_options(error);
  for (const Fault& fault : said.faults) terminal.complain(to_string(fault));
  const bool input = error.kind == ErrorKind::Input;
  if (json) terminal.out << error_object(input ? "input" : "environment", said.faults);
  return input ? kInvalidInput : kEnvironment;
}

int refuse(const Terminal& terminal, const std::string& message, bool json) {
  terminal.complain(message);
  if (json) terminal.out << error_object("usage", {{"", "", message, ""}});
  return kUsage;
}

int write_text(const Terminal& terminal, const std::string& path, const std::string& text) {
  if (path == "-") {
    terminal.out.data() << text;
    return kDone;
  }
  const Result<Ok> written = write_file(path, text);
  return written ? kDone : report(terminal, written.error(), false);
}

int expect_writable(const Terminal& terminal, const std::string& path, bool json) {
  if (path == "-") return kDone;
  const Result<Ok> writable = check_writable(path);
  return writable ? kDone : report(terminal, writable.error(), json);
}

}  // namespace heddle::app
