// A Triton text among the words of a command line: its machine may be left out, and its own schedule is one where none is given.
#pragma once

#include <cstddef>
#include <string>

#include "app/command/arguments.h"
#include "app/command/command_table.h"

namespace heddle {
class TritonText;
}

namespace heddle::app {

/// Whether the word for positional `at`, a MACHINE, is one, and no SCHEDULE or OP: a shipped name, a machine's file, or what is nearly a
/// shipped name. `left` words are to come, itself included.
bool is_machine_word(const CommandSpec& command, std::size_t at, const std::string& word, std::size_t left);

/// Triton's own schedule in its text is the SCHEDULE, or A, where none is given: always by the reading that has it. Commands that look at a
/// schedule take that reading where none is said; those that make a kernel of it take the best schedule of the free one.
/// `text`: what KERNEL is. Pre: `schedule` is not given.
void add_own_schedule(const CommandSpec& command, const PositionalSpec& schedule, const TritonText& text, Arguments& arguments);

}  // namespace heddle::app
