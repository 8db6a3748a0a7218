// The file a tuning session writes: appended to line by line, so that whatever happens to the process the evaluations made by then are
// kept.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/records/tuning.h"

namespace heddle::app {

class HistoryFile {
 public:
  /// Opens or creates it (through a link only by the rule of core/base/open_file.h) and takes it for itself: an input error when another
  /// process writes it, when it is a history of something else than `session` (other numbers or another space), or no history at all. A
  /// line that was cut off is cut away. `session` is not written yet.
  static Result<HistoryFile> open(const std::string& path, const TuneSession& session);

  HistoryFile(HistoryFile&& other) noexcept;
  HistoryFile& operator=(HistoryFile&&) = delete;
  ~HistoryFile();

  /// What earlier sessions found, as the file says.
  const TuneHistory& earlier() const { return earlier_; }
  /// What was left out of it, and why.
  const std::vector<Fault>& warnings() const { return warnings_; }
  /// Each goes to the disk at once. A full disk is an environment error; the file then ends with the last whole line.
  Result<Ok> append(const TuneSession& session);
  Result<Ok> append(const SearchSpace& space, const TuneEvaluation& evaluation);
  Result<Ok> append(const TuneEnd& end);

 private:
  HistoryFile() = default;
  Result<Ok> write(const std::string& line);

  std::string path_;
  int file_ = -1;
  long long bytes_ = 0;  ///< of whole lines
  TuneHistory earlier_;
  std::vector<Fault> warnings_;
};

}  // namespace heddle::app
