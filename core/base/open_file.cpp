// Kinds are asked of what was opened, not of the name.
#include "core/base/open_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace heddle {
namespace {

constexpr int kMostLinks = 40;  // as the kernel follows

Error unreadable(const std::string& path, std::string message, std::string hint = {}) {
  return {ErrorKind::Input, {{path, {}, std::move(message), std::move(hint)}}};
}

Error not_followed(const std::string& path, std::string message) { return {ErrorKind::Environment, {{path, {}, std::move(message), {}}}}; }

}  // namespace

bool Descriptor::close() {
  const bool good = number_ < 0 || ::close(number_) == 0;
  number_ = -1;
  return good;
}

Result<Descriptor> open_to_read(const std::string& path, struct stat* facts) {
  // Non-blocking, because opening a pipe without a writer would wait for ever. No device is opened before it is known to be none:
  // opening some does something.
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 && (S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode)))
    return unreadable(path, "is a device", "give a file");
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid()) {
    if (errno == ENOENT || errno == ENOTDIR) return unreadable(path, "no such file");
    return unreadable(path, fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  if (::fstat(file.get(), &found) != 0) return unreadable(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (S_ISDIR(found.st_mode)) return unreadable(path, "is a folder", "give a file in it");
  if (!S_ISREG(found.st_mode) && !S_ISFIFO(found.st_mode)) return unreadable(path, "is a device", "give a file");
  ::fcntl(file.get(), F_SETFL, 0);
  if (facts) *facts = found;
  return file;
}

Result<std::string> followed_links(const std::string& path) {
  std::filesystem::path at = path;
  for (int hops = 0; hops <= kMostLinks; ++hops) {
    struct stat link {
    }, folder{};
    if (::lstat(at.c_str(), &link) != 0 || !S_ISLNK(link.st_mode)) return at.string();
    const std::filesystem::path parent = at.has_parent_path() ? at.parent_path() : std::filesystem::path(".");
    if (::stat(parent.c_str(), &folder) != 0) return not_followed(path, std::strerror(errno));
    if ((folder.st_mode & S_IWOTH) != 0 && link.st_uid != ::geteuid() && link.st_uid != folder.st_uid)
      return not_followed(path, "is a link that another user put into a folder open to everybody; it is not followed");
    std::error_code code;
    const std::filesystem::path next = std::filesystem::read_symlink(at, code);
    if (code) return not_followed(path, code.message());
    at = next.is_absolute() ? next : parent / next;
  }
  return not_followed(path, "is a ring of links");
}

int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t done = ::write(descriptor, content.data(), content.size());
    if (done < 0 && errno != EINTR) return errno;
    if (done > 0) content.remove_prefix(static_cast<std::size_t>(done));
  }
  return 0;
}

}  // namespace heddle
