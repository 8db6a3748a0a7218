#include "ptx/capture/answers.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "ptx/capture/say.h"

namespace heddle::ptx::capture {
namespace {

constexpr int kNotSupported = 801;
constexpr std::uint64_t kContext = 0x2000;
std::atomic<std::uint64_t> next_handle{0x40000000};

}  // namespace

const AnswerRow* find_answer(const AnswerRow* begin, const AnswerRow* end, const char* name) {
  const AnswerRow* at = std::find_if(begin, end, [&](const AnswerRow& row) { return std::strcmp(row.name, name) == 0; });
  return at == end ? nullptr : at;
}

int answered(const AnswerRow* row, const char* name, void* const* arguments) {
  if (!row) {
    say(std::string(name) + " is not answered here; the program is told that it is not supported");
    return kNotSupported;
  }
  void* const to = arguments[row->argument];
  if (row->answer == TableAnswer::Nothing || !to) return 0;
  const float millisecond = 1;
  std::uint64_t value = 0;
  if (row->answer == TableAnswer::Handle) value = next_handle += 16;
  if (row->answer == TableAnswer::Context) value = kContext;
  if (row->answer == TableAnswer::Milliseconds) std::memcpy(&value, &millisecond, sizeof millisecond);
  std::memcpy(to, &value, row->answer == TableAnswer::Zero4 || row->answer == TableAnswer::Milliseconds ? 4 : 8);
  return 0;
}

}  // namespace heddle::ptx::capture
