// The machine's own driver, where HEDDLE_CAPTURE_DRIVER names one: what the program says is written down, and then said to it.
#pragma once

namespace heddle::ptx::capture {

/// A function of the real driver; null where there is none, or it has no such function.
void* real_symbol(const char* name);

template <class Function>
Function* real_function(Function*, const char* name) {
  return reinterpret_cast<Function*>(real_symbol(name));
}

}  // namespace heddle::ptx::capture

// cuda.h calls functions by the names of their newest versions: the macro's argument is replaced before it becomes text.
#define HEDDLE_REAL_NAMED(function, name) heddle::ptx::capture::real_function(&function, name)
#define HEDDLE_TEXT(name) #name
#define HEDDLE_NAME(name) HEDDLE_TEXT(name)
#define HEDDLE_REAL(function) HEDDLE_REAL_NAMED(function, HEDDLE_NAME(function))

/// First line of a function that only the real driver can do better.
#define HEDDLE_PASS(function, ...) \
  if (const auto real = HEDDLE_REAL(function)) return real(__VA_ARGS__)
