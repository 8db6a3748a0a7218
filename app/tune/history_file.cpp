// POSIX files, because a line has to reach the disk whole or not at all.
#include "app/tune/history_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/open_file.h"
#include "core/formats/space_json.h"
#include "core/formats/tuning_json.h"

namespace heddle::app {
namespace {

Error history_error(const std::string& path, const char* what) {
  return {ErrorKind::Environment, {{path, "", fmt::format("{}: {}", what, std::strerror(errno)), ""}}};
}

}  // namespace

HistoryFile::HistoryFile(HistoryFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(other.file_),
      bytes_(other.bytes_),
      earlier_(std::move(other.earlier_)),
      warnings_(std::move(other.warnings_)) {
  other.file_ = -1;
}

HistoryFile::~HistoryFile() {
  if (file_ >= 0) ::close(file_);
}

Result<HistoryFile> HistoryFile::open(const std::string& path, const TuneSession& session) {
  HistoryFile history;
  history.path_ = path;
  const Result<std::string> followed = followed_links(path);
  if (!followed) return followed.error();
  history.file_ = ::open(followed->c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (history.file_ < 0) return history_error(path, "the history cannot be opened");
  struct stat facts {};
  if (::fstat(history.file_, &facts) != 0 || !S_ISREG(facts.st_mode)) return Error::in_file(path, "a history is kept in a regular file");
  if (::flock(history.file_, LOCK_EX | LOCK_NB) != 0)
    return Error::in_file(path, "another session is writing this history", "wait for it, or name another file");
  if (facts.st_size == 0) return history;
  Result<ReadTuning> read = read_tuning(path, &history.warnings_);
  if (!read) return read.error();
  const TuneSession& first = read->history.sessions.front();
  if (first.subject != session.subject)
    return Error{ErrorKind::Input,
                 {{path, "",
                   fmt::format("a history of {} on {}, objective {}, fidelity {}, with other numbers than this session", first.kernel,
                               first.machine, to_string(first.objective), to_string(first.fidelity)),
                   "go on with the options that it was begun with, or name another file"}}};
  if (space_json(first.space).line() != space_json(session.space).line())
    return Error{ErrorKind::Input,
                 {{path, "/space", "the history is of another space", "go on with the same space, or name another file"}}};
  history.bytes_ = static_cast<long long>(read->whole_bytes);
  if (history.bytes_ != facts.st_size && ::ftruncate(history.file_, history.bytes_) != 0)
    return history_error(path, "the cut-off line cannot be removed");
  history.earlier_ = std::move(read->history);
  return history;
}

Result<Ok> HistoryFile::write(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t count = ::pwrite(file_, text.data() + at, text.size() - at, bytes_ + static_cast<long long>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      Error error = history_error(path_, "the history cannot be written");
      if (::ftruncate(file_, bytes_) != 0) error.faults.push_back({path_, "", "its last line may be cut off", ""});
      return error;
    }
    at += static_cast<std::size_t>(count);
  }
  bytes_ += static_cast<long long>(text.size());
  return Ok{};
}

Result<Ok> HistoryFile::append(const TuneSession& session) { return write(session_json(session).line()); }
Result<Ok> HistoryFile::append(const SearchSpace& space, const TuneEvaluation& evaluation) {
  return write(evaluation_json(space, evaluation).line());
}
Result<Ok> HistoryFile::append(const TuneEnd& end) { return write(end_json(end).line()); }

}  // namespace heddle::app
