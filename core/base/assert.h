// Programmer errors stop the program with a sentence; they are never reachable from user input.
#pragma once

namespace heddle {
[[noreturn]] void assertion_failed(const char* condition, const char* sentence, const char* file, int line);
}

#define HEDDLE_ASSERT(condition, sentence) ((condition) ? (void)0 : ::heddle::assertion_failed(#condition, sentence, __FILE__, __LINE__))
