// Answers of a driver or runtime that has no device, to functions on which no launch depends: a row each. All others are refused by name.
#pragma once

namespace heddle::ptx::capture {

enum class TableAnswer {
  Nothing,  ///< it has worked
  Handle,   ///< it has worked; an argument points to where a new handle goes
  Zero4,    ///< it has worked; an argument points to 4 bytes that become 0: an int, a float, a state
  Zero8,
  Milliseconds,  ///< it has worked; an argument points to a float that becomes 1, so that nobody divides by 0
  Context,       ///< like Handle; there is one context
};

struct AnswerRow {
  const char* name;
  TableAnswer answer;
  int argument;  ///< which one, from 0
};

/// What a function of this name is to do; null: it is refused.
const AnswerRow* find_answer(const AnswerRow* begin, const AnswerRow* end, const char* name);

/// By the row, with the arguments of the call as words. 0; or, without a row, 801, not supported, after saying so.
int answered(const AnswerRow* row, const char* name, void* const* arguments);

}  // namespace heddle::ptx::capture
