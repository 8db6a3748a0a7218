// The last inputs that a test gave to the window, kept so that a crash can print them: its message alone says where the program
// died, not how it came there.
#pragma once

#include <string>
#include <string_view>

namespace heddle::test {

inline constexpr int kInputsKept = 40;

/// Forgets all inputs. `heading` is printed above those that follow: the test, its seed.
void begin_inputs(std::string_view heading);
/// One line; what is too long is cut.
void remember_input(std::string_view what);
/// Those that are kept, oldest first, one per line.
std::string last_inputs();
/// From now on a program that dies of a signal, or of a sanitizer's finding, prints heading and last inputs to standard error first.
/// Call before Catch2 runs: its own handlers come before these.
void print_inputs_when_dying();

}  // namespace heddle::test
