// What a batch has finished so far, so that it can be killed at any moment: a line per finished job, appended and flushed to the disk
// before the next begins. A line is 16 hexadecimal digits (Hash of what follows the blank), a blank, and the job's result line with
// "seconds" and "peak_kib"; lines whose digits do not fit were not written to their end and count for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace heddle::app {

inline constexpr std::size_t kJournalDigits = 16;

/// The JSON text of one line; nothing where the digits before it are not its own.
std::optional<std::string_view> journal_text(std::string_view line);

/// The whole lines of a journal, in the order in which jobs finished, also while a batch is writing it. Empty when there is none.
/// `numbers`: which lines of the file they are, 1 upwards.
std::vector<Json> read_journal(const std::string& path, std::vector<std::int64_t>* numbers = nullptr);

class Journal {
 public:
  /// Opens it for appending, for this process alone; what a killed writer left of a line is cut off. Environment errors: another
  /// batch has it open, it cannot be written, it is a link.
  static Result<Journal> open(const std::string& path);
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;
  ~Journal();

  /// Environment error: the disk is full, say. The journal is then as it was before.
  Result<Ok> append(const Json& line);
  /// Forgets everything.
  Result<Ok> clear();

 private:
  Journal(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace heddle::app
