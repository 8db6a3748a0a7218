// Errors that are not programmer errors, as values.
//
// A fault is one thing wrong, said so that a person can correct it: where (file and JSON Pointer), what was expected, and a
// guess at what was meant. Readers collect all faults of a file before giving up.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/assert.h"

namespace heddle {

struct Fault {
  std::string file;     ///< path as the user gave it; may be empty
  std::string pointer;  ///< JSON Pointer ("/body/3/latency"); empty when the whole file is meant
  std::string message;  ///< what was expected and what was found
  std::string hint;     ///< how to correct it, or what was probably meant; may be empty
  std::string part{};   ///< of what was asked ("demand", "layout"): programs name what says it; empty: not said, or named already
};

/// "file: /pointer: message (hint)"
std::string to_string(const Fault& fault);

enum class ErrorKind {
  Input,        ///< the user's files or arguments: exit code 3
  Environment,  ///< no display, GPU, library, permission: exit code 6
};

struct Error {
  ErrorKind kind = ErrorKind::Input;
  std::vector<Fault> faults;

  static Error input(std::string message, std::string hint = {});
  static Error in_file(std::string file, std::string message, std::string hint = {});
  /// A fault of one part of what was asked (Fault::part).
  static Error about(const char* part, std::string message, std::string hint = {});
  static Error environment(std::string message, std::string hint = {});
};

/// All faults, one per line.
std::string to_string(const Error& error);

/// A value or an error. `Result<void>`-like functions return Result<Ok>.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    HEDDLE_ASSERT(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T& value() & {
    HEDDLE_ASSERT(ok(), "value() of a failed Result");
    return std::get<0>(state_);
  }
  T&& value() && {
    HEDDLE_ASSERT(ok(), "value() of a failed Result");
    return std::get<0>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const {
    HEDDLE_ASSERT(!ok(), "error() of a good Result");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};

}  // namespace heddle
