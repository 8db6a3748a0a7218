// A table of numbers over threads and issues as a formula over the bits of both, and the formula as text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace heddle::codegen {

/// What a formula is over: the digits of a thread's number and of a running number j, bit by bit.
struct FormulaBit {
  enum class Digit { Thread, Inner, Outer };  ///< Inner: j % inner, Outer: j / inner
  Digit digit = Digit::Thread;
  int bit = 0;
  std::int64_t step = 0;
  std::size_t group = 0;
};

/// Steps of one group are combined by exclusive or, groups are added.
class BitFormula {
 public:
  /// at(thread, j); -1: any number will do. Nothing where the numbers follow no such pattern. Pre: at(0, 0) is a number.
  static std::optional<BitFormula> of(int threads, int issues, const std::function<std::int64_t(int, int)>& at);

  std::int64_t value(int thread, int j) const;
  std::int64_t base() const { return base_; }
  /// What the thread's bits say: "(warp * 16 + (lane & 15)) * 128 + ((lane >> 4) ^ (lane & 7)) * 16"; empty where they say nothing.
  std::string thread_text() const;
  /// What j adds where no thread's bit is in the way; empty: nothing.
  std::string added_text(const std::string& j) const;
  /// What j flips of what the thread's bits set; empty: nothing.
  std::string flipped_text(const std::string& j) const;
  std::int64_t flips() const;  ///< all bits of it
  /// thread_text() flipped, and then added to, is the value everywhere.
  bool splits() const;

 private:
  std::int64_t thread_value(int thread) const;
  bool meets_threads(std::size_t group) const;
  std::string issue_text(const std::string& j, bool flipped) const;

  int threads_ = 1, issues_ = 1, inner_ = 1;
  std::int64_t base_ = 0;
  std::vector<FormulaBit> bits_;
};

}  // namespace heddle::codegen
