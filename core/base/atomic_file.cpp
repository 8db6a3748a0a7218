// Files by descriptor, so that sizes, kinds and flushes are asked of the very file that is read or written.
#include "core/base/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "core/base/open_file.h"

namespace heddle {
namespace {

constexpr int kMostTries = 8;  // for a name that is not taken; more would be no accident

Error unwritable(const std::string& path, const char* what, int code) {
  return {ErrorKind::Environment, {{path, {}, fmt::format("{}: {}", what, std::strerror(code)), {}}}};
}

/// A file beside `target` that was not there before, under a name that cannot be foreseen: whoever may write to the folder cannot have put
/// a link or a file in its way. Not valid, with errno: it cannot be made.
Descriptor new_file_beside(const std::string& target, mode_t mode, std::string& name) {
  for (int i = 0; i < kMostTries; ++i) {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) return Descriptor();
    name = fmt::format("{}.{:016x}.tmp", target, number);
    Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file.valid() || errno != EEXIST) return file;
  }
  return Descriptor();
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  struct stat facts {};
  const Result<Descriptor> file = open_to_read(path, &facts);
  if (!file) return file.error();
  const auto unreadable = [&](std::string message) { return Error::in_file(path, std::move(message)); };
  if (S_ISREG(facts.st_mode) && static_cast<std::uint64_t>(facts.st_size) > limit)
    return unreadable(fmt::format("is {} bytes long; the limit is {}", static_cast<std::uint64_t>(facts.st_size), limit));
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file->get(), buffer, sizeof buffer);
    if (got == 0) return content;
    if (got < 0) {
      if (errno == EINTR) continue;
      return unreadable(fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > limit) return unreadable(fmt::format("is longer than the limit of {} bytes", limit));
  }
}

Result<Ok> write_file(const std::string& path, std::string_view content, MissingFolder folder, FileMode mode) {
  const auto failure = [&](const char* what, int code) { return unwritable(path, what, code); };
  // Through a link the file it points to is replaced, not the link.
  const Result<std::string> followed = mode == FileMode::Private ? Result<std::string>(path) : followed_links(path);
  if (!followed) return followed.error();
  // A device or a pipe is written to; replacing it by a file would destroy it.
  struct stat facts {};
  const bool exists = (mode == FileMode::Private ? ::lstat(path.c_str(), &facts) : ::stat(path.c_str(), &facts)) == 0;
  if (exists && mode == FileMode::Kept && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (!device.valid()) return failure("cannot be written", errno);
    const int why = write_all(device.get(), content);
    if (why != 0) return failure("cannot be written", why);
    return Ok{};
  }
  if (exists && S_ISDIR(facts.st_mode)) return failure("cannot be written", EISDIR);
  const std::filesystem::path target = *followed;
  if (folder == MissingFolder::Create && target.has_parent_path()) {
    std::error_code code;
    std::filesystem::create_directories(target.parent_path(), code);
    if (code) return failure("its folder cannot be created", code.value());
  }
  std::string temporary;
  Descriptor file = new_file_beside(target.string(), mode == FileMode::Private ? 0600 : 0666, temporary);
  if (!file.valid()) return failure("cannot be written", errno);
  if (exists && mode == FileMode::Kept) ::fchmod(file.get(), facts.st_mode & 07777);
  const auto abandon = [&](int why) {
    ::unlink(temporary.c_str());
    return failure("cannot be written", why);
  };
  if (const int why = write_all(file.get(), content); why != 0) return abandon(why);
  if (::fsync(file.get()) != 0 || !file.close()) return abandon(errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) return abandon(errno);
  return Ok{};
}

Result<Ok> check_writable(const std::string& path) {
  if (const Result<std::string> followed = followed_links(path); !followed) return followed.error();
  std::error_code code;
  std::filesystem::path place = std::filesystem::weakly_canonical(std::filesystem::absolute(path, code), code);
  if (code) return unwritable(path, "cannot be written", code.value());
  const std::filesystem::file_status status = std::filesystem::status(place, code);
  if (std::filesystem::is_directory(status)) return unwritable(path, "cannot be written", EISDIR);
  const bool device = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  // A file is replaced, so it is its folder that must allow it.
  if (!device) place = place.parent_path();
  if (::access(place.c_str(), device ? W_OK : W_OK | X_OK) != 0) return unwritable(path, "cannot be written", errno);
  return Ok{};
}

}  // namespace heddle
