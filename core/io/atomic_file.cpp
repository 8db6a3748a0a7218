// Files by descriptor, so that sizes, kinds and flushes are asked of the very file that is read or written.
#include "core/io/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace heddle {
namespace {

Error unreadable(const std::string& path, std::string message, std::string hint = {}) {
  return {ErrorKind::Input, {{path, {}, std::move(message), std::move(hint)}}};
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
  int get() const { return number_; }
  bool close() {
    const bool good = number_ < 0 || ::close(number_) == 0;
    number_ = -1;
    return good;
  }

 private:
  int number_;
};

/// 0, or the errno of the failure.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t done = ::write(descriptor, content.data(), content.size());
    if (done < 0 && errno != EINTR) return errno;
    if (done > 0) content.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

Error unwritable(const std::string& path, const char* what, int code) {
  return {ErrorKind::Environment, {{path, {}, fmt::format("{}: {}", what, std::strerror(code)), {}}}};
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  // Non-blocking, because opening a pipe without a writer would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return unreadable(path, "no such file");
    return unreadable(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0)
    return unreadable(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (S_ISDIR(facts.st_mode)) return unreadable(path, "is a folder", "give a file in it");
  if (S_ISREG(facts.st_mode) && static_cast<std::uint64_t>(facts.st_size) > limit)
    return unreadable(
        path, fmt::format("is {} bytes long; the limit is {}", static_cast<std::uint64_t>(facts.st_size), limit));
  ::fcntl(file.get(), F_SETFL, 0);
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer, sizeof buffer);
    if (got == 0) return content;
    if (got < 0) {
      if (errno == EINTR) continue;
      return unreadable(path, fmt::format("cannot be read: {}", std::strerror(errno)));
    }
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > limit) return unreadable(path, fmt::format("is longer than the limit of {} bytes", limit));
  }
}

Result<Ok> write_file(const std::string& path, std::string_view content, MissingFolder folder) {
  const auto failure = [&](const char* what, int code) { return unwritable(path, what, code); };
  // A device or a pipe is written to; replacing it by a file would destroy it.
  struct stat facts {};
  const bool exists = ::stat(path.c_str(), &facts) == 0;
  if (exists && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    Descriptor device(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.get() < 0) return failure("cannot be written", errno);
    const int why = write_all(device.get(), content);
    if (why != 0) return failure("cannot be written", why);
    return Ok{};
  }
  std::error_code code;
  // Through a link the file it points to is replaced, not the link.
  std::filesystem::path target = path;
  if (std::filesystem::is_symlink(target, code)) target = std::filesystem::weakly_canonical(target, code);
  if (std::filesystem::is_directory(target, code)) return failure("cannot be written", EISDIR);
  if (folder == MissingFolder::Create && target.has_parent_path()) {
    std::filesystem::create_directories(target.parent_path(), code);
    if (code) return failure("its folder cannot be created", code.value());
  }
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", target.string(), ::getpid(), counter++);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return failure("cannot be written", errno);
  if (exists) ::fchmod(file.get(), facts.st_mode & 07777);
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
