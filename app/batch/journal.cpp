// One write per line, then fdatasync; ftruncate removes what a failed write left.
#include "app/batch/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/hash.h"
#include "core/base/line_file.h"
#include "core/base/open_file.h"

namespace heddle::app {
namespace {

Error journal_error(const std::string& path, const char* what, int code) {
  return {ErrorKind::Environment, {{path, {}, code ? fmt::format("{}: {}", what, std::strerror(code)) : what, {}}}};
}

/// Where the last whole line ends; the file is read from its end.
off_t end_of_last_line(int descriptor, off_t size) {
  char buffer[4096];
  while (size > 0) {
    const off_t from = size > static_cast<off_t>(sizeof buffer) ? size - static_cast<off_t>(sizeof buffer) : 0;
    const ssize_t got = ::pread(descriptor, buffer, static_cast<std::size_t>(size - from), from);
    if (got <= 0) return size;
    for (ssize_t i = got; i-- > 0;)
      if (buffer[i] == '\n') return from + i + 1;
    size = from;
  }
  return 0;
}

}  // namespace

std::optional<std::string_view> journal_text(std::string_view line) {
  if (line.size() <= kJournalDigits + 1 || line[kJournalDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kJournalDigits + 1);
  return Hash().add(text).hex() == line.substr(0, kJournalDigits) ? std::optional(text) : std::nullopt;
}

std::vector<Json> read_journal(const std::string& path, std::vector<std::int64_t>* numbers) {
  std::vector<Json> lines;
  Result<LineFile> file = LineFile::open(path);
  if (!file) return lines;
  for (;;) {
    const auto line = file->next();
    if (!line || !*line || !(*line)->whole) return lines;
    const auto json = journal_text((*line)->text);
    if (!json) continue;
    Result<Json> parsed = parse_json(*json, path);
    if (!parsed || !parsed->is_object()) continue;
    lines.push_back(*std::move(parsed));
    if (numbers) numbers->push_back((*line)->number);
  }
}

Result<Journal> Journal::open(const std::string& path) {
  // Its name can be foreseen, and what is cut off below must be a journal's: no link is followed.
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return errno == ELOOP ? journal_error(path, "is a link, which a journal may not be", 0)
                          : journal_error(path, "cannot be written", errno);
  Journal journal(path, descriptor);
  // Where locks are not to be had (some network file systems), one batch at a time is the user's care.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return journal_error(path, "another heddle batch is writing these results", 0);
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return journal_error(path, "cannot be read", errno);
  if (!S_ISREG(facts.st_mode)) return journal_error(path, "is no file", 0);
  if (const off_t end = end_of_last_line(descriptor, facts.st_size); end != facts.st_size && ::ftruncate(descriptor, end) != 0)
    return journal_error(path, "cannot be repaired", errno);
  return journal;
}

Journal::Journal(Journal&& other) noexcept : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<Ok> Journal::append(const Json& line) {
  const std::string json = line.line();
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  int failed = write_all(descriptor_, fmt::format("{} {}\n", Hash().add(json).hex(), json));
  if (failed == 0 && ::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) failed = errno;
  if (failed == 0) return Ok{};
  (void)!::ftruncate(descriptor_, before);
  return journal_error(path_, "cannot be written", failed);
}

Result<Ok> Journal::clear() {
  if (::ftruncate(descriptor_, 0) != 0) return journal_error(path_, "cannot be emptied", errno);
  return Ok{};
}

}  // namespace heddle::app
