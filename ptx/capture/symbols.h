// Functions by name, without their types: for the many that are told by a table what to do.
#pragma once

#include <string>

namespace heddle::ptx::capture {

/// A function of the library that this is compiled into; null: it has none of this name.
void* own_symbol(const char* name);

/// Which threads' default stream a function is about makes no difference here: "cuLaunchKernel" of "cuLaunchKernel_ptsz", else "".
std::string without_stream_suffix(const std::string& name);

/// No function of the driver or runtime that is told by a table takes more.
inline constexpr int kMostArguments = 14;

/// Calls it with so many words; it looks at as many as it takes.
int call_words(void* function, void* const (&arguments)[kMostArguments]);

}  // namespace heddle::ptx::capture

/// Before the definition of a function that programs call.
#define HEDDLE_EXPORT extern "C" __attribute__((visibility("default")))

/// A function that gives way to one of the same name in another file, and otherwise does what `call(name, arguments)` of this file says.
#define HEDDLE_WEAK(name)                                                                                                                \
  HEDDLE_EXPORT __attribute__((weak)) int name(void* a, void* b, void* c, void* d, void* e, void* f, void* g, void* h, void* i, void* j, \
                                               void* k, void* l, void* m, void* n) {                                                     \
    return heddle::ptx::capture::call(#name, {a, b, c, d, e, f, g, h, i, j, k, l, m, n});                                                \
  }
