#include "core/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace heddle {

void assertion_failed(const char* condition, const char* sentence, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: internal error: %s (%s)\n", file, line, sentence, condition);
  std::abort();
}

std::string to_string(const Fault& fault) {
  std::string text;
  if (!fault.file.empty()) text += fault.file + ": ";
  if (!fault.pointer.empty()) text += fault.pointer + ": ";
  text += fault.message;
  if (!fault.hint.empty()) text += " (" + fault.hint + ")";
  return text;
}

std::string to_string(const Error& error) {
  std::string text;
  for (const Fault& fault : error.faults) {
    if (!text.empty()) text += '\n';
    text += to_string(fault);
  }
  return text;
}

Error Error::input(std::string message, std::string hint) { return {ErrorKind::Input, {{{}, {}, std::move(message), std::move(hint)}}}; }

Error Error::in_file(std::string file, std::string message, std::string hint) {
  return {ErrorKind::Input, {{std::move(file), {}, std::move(message), std::move(hint)}}};
}

Error Error::about(const char* part, std::string message, std::string hint) {
  return {ErrorKind::Input, {{"", "", std::move(message), std::move(hint), part}}};
}

Error Error::environment(std::string message, std::string hint) {
  return {ErrorKind::Environment, {{{}, {}, std::move(message), std::move(hint)}}};
}

}  // namespace heddle
