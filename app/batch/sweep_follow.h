// Follows a sweep's file while it grows, on a thread of its own: lines of other processes, of other machines over a network,
// of a run that was killed and goes on. Looks again several times a second; what is not a whole line yet waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/batch/sweep_table.h"
#include "app/jobs/worker.h"

namespace heddle::app {

struct SweepNews {
  bool from_start = false;  ///< the file is another one than before, or was cut: forget what came from it
  std::vector<PlacedLine> lines;
  std::vector<Fault> faults;  ///< lines that cannot be read, with their numbers
  std::uint64_t bytes = 0;    ///< read so far
  bool half = false;          ///< the last line is not whole
  bool missing = false;       ///< there is no such file, or no longer
  std::string failure;        ///< internal
};
using SweepFollower = Worker<SweepNews>;

struct SweepFile {
  std::string path;
  SweepKind kind = SweepKind::Tuning;
};

/// Until it is cancelled.
std::unique_ptr<SweepFollower> follow_sweep(SweepFile file, std::function<void()> wake);

/// What such a file is, by its first line; an input error where it cannot be read or is none.
Result<SweepKind> classify_sweep(const std::string& path);
/// The same without reasons: is it one?
bool is_sweep(const std::string& path);

/// One line of the file again.
Result<std::string> read_sweep_line(const std::string& path, std::uint64_t offset, std::uint32_t length);

/// Takes a file's bytes in pieces and gives whole lines: what the follower does, without a file.
class SweepLines {
 public:
  explicit SweepLines(SweepFile file) : file_(std::move(file)) {}
  /// The next bytes of the file. At most `most_faults` faults are kept of all.
  void take(std::string_view bytes, SweepNews& news);
  /// Nothing has come for a while: a last line without an end counts, where it is whole. True when it was.
  bool finish(SweepNews& news);
  bool half() const { return !rest_.empty(); }
  std::uint64_t bytes() const { return offset_ + rest_.size(); }

 private:
  SweepFile file_;
  std::string rest_;          ///< what follows the last end of a line
  std::uint64_t offset_ = 0;  ///< of `rest_` in the file
  std::size_t line_ = 0, faults_ = 0;
};

}  // namespace heddle::app
