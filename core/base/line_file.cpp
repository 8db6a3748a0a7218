#include "core/base/line_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 16;

}  // namespace

Result<LineFile> LineFile::open(const std::string& path) {
  Result<Descriptor> file = open_to_read(path);
  if (!file) return file.error();
  return LineFile(path, std::move(file).value());
}

Error LineFile::trouble(std::string message) {
  ended_ = true;
  held_.clear();
  at_ = 0;
  return {ErrorKind::Input, {{fmt::format("{}:{}", path_, number_ + 1), {}, std::move(message), {}}}};
}

Result<std::optional<LineFile::Line>> LineFile::next() {
  std::size_t searched = at_;
  for (;;) {
    if (const std::size_t end = held_.find('\n', searched); end != std::string::npos) {
      const Line line{std::string_view(held_).substr(at_, end - at_), ++number_, true};
      bytes_ += end + 1 - at_;
      at_ = end + 1;
      return std::optional(line);
    }
    held_.erase(0, at_);
    at_ = 0;
    searched = held_.size();
    if (ended_) {
      if (held_.empty()) return std::optional<Line>();
      at_ = held_.size();
      return std::optional(Line{held_, ++number_, false});
    }
    if (held_.size() > kLongestLine) return trouble(fmt::format("the line has no end after {} MiB", kLongestLine >> 20));
    held_.resize(searched + kReadAtOnce);
    const ssize_t got = ::read(file_.get(), held_.data() + searched, kReadAtOnce);
    const int why = errno;
    held_.resize(searched + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == 0) ended_ = true;
    if (got < 0 && why != EINTR) return trouble(fmt::format("cannot be read: {}", std::strerror(why)));
  }
}

}  // namespace heddle
