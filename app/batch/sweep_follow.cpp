#include "app/batch/sweep_follow.h"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <mutex>

#include <fmt/format.h>

namespace heddle::app {
namespace {

constexpr auto kFollowPause = std::chrono::milliseconds(200);
constexpr std::size_t kFollowPiece = 4u << 20;   ///< bytes read at once: the window hears of a long file bit by bit
constexpr std::size_t kLongestLine = 64u << 20;  ///< what has no end by then has none
constexpr std::size_t kMostFaults = 200;         ///< that are kept of one file

std::string sweep_bytes_at(const std::string& path, std::uint64_t offset, std::size_t most) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return {};
  in.seekg(static_cast<std::streamoff>(offset));
  std::string bytes(most, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(most));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return bytes;
}

void pause_following(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, kFollowPause, [] { return false; });
}

SweepNews follow_until_stopped(const SweepFile& file, const std::stop_token& stop, const SweepFollower::Push& push) {
  SweepLines lines(file);
  std::uint64_t device = 0, inode = 0;
  bool said_missing = false, said_half = false;
  while (!stop.stop_requested()) {
    struct stat found {};
    if (::stat(file.path.c_str(), &found) != 0) {
      if (!std::exchange(said_missing, true)) {
        SweepNews news;
        news.missing = true;
        push(std::move(news));
      }
      pause_following(stop);
      continue;
    }
    SweepNews news;
    const auto size = static_cast<std::uint64_t>(found.st_size);
    const bool other = inode != 0 && (found.st_ino != inode || found.st_dev != device);
    if (other || size < lines.bytes()) {
      lines = SweepLines(file);
      news.from_start = true;
    }
    device = found.st_dev, inode = found.st_ino;
    const bool back = std::exchange(said_missing, false);
    const std::string bytes = size > lines.bytes() ? sweep_bytes_at(file.path, lines.bytes(), kFollowPiece) : std::string();
    if (bytes.empty() && !news.from_start && !back && !lines.finish(news)) {
      pause_following(stop);
      continue;
    }
    lines.take(bytes, news);
    news.bytes = lines.bytes();
    news.half = lines.half();
    if (!news.lines.empty() || !news.faults.empty() || news.from_start || back || news.half != said_half) {
      said_half = news.half;
      push(std::move(news));
    }
  }
  return {};
}

}  // namespace

void SweepLines::take(std::string_view bytes, SweepNews& news) {
  rest_ += bytes;
  std::size_t at = 0;
  for (std::size_t end; (end = rest_.find('\n', at)) != std::string::npos; at = end + 1) {
    ++line_;
    const std::string_view text = std::string_view(rest_).substr(at, end - at);
    auto read = parse_sweep_line(file_.kind, text, fmt::format("{}:{}", file_.path, line_));
    if (!read.ok()) {
      for (const Fault& fault : read.error().faults)
        if (faults_++ < kMostFaults) news.faults.push_back(fault);
    } else if (*read) {
      news.lines.push_back({std::move(**read), offset_ + at, static_cast<std::uint32_t>(text.size())});
    }
  }
  rest_.erase(0, at);
  offset_ += at;
  if (rest_.size() > kLongestLine) {
    if (faults_++ < kMostFaults)
      news.faults.push_back(
          {fmt::format("{}:{}", file_.path, line_ + 1), {}, fmt::format("the line has no end after {} MiB", kLongestLine >> 20), {}});
    offset_ += rest_.size();
    rest_.clear();
  }
}

bool SweepLines::finish(SweepNews& news) {
  if (!rest_.ends_with('}')) return false;
  auto read = parse_sweep_line(file_.kind, rest_, file_.path);
  if (!read.ok() || !*read) return false;
  ++line_;
  news.lines.push_back({std::move(**read), offset_, static_cast<std::uint32_t>(rest_.size())});
  offset_ += rest_.size();
  rest_.clear();
  return true;
}

std::unique_ptr<SweepFollower> follow_sweep(SweepFile file, std::function<void()> wake) {
  return std::make_unique<SweepFollower>(
      [file = std::move(file)](std::stop_token stop, const SweepFollower::Push& push) { return follow_until_stopped(file, stop, push); },
      [](std::string why) {
        SweepNews news;
        news.failure = std::move(why);
        return news;
      },
      std::move(wake));
}

Result<SweepKind> classify_sweep(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return Error::input(fmt::format("there is no file {}", path));
  if (!S_ISREG(found.st_mode)) return Error::input(fmt::format("{} is no file", path));
  constexpr std::size_t kBeginning = 256u << 10;  // a run's line has a whole space in it
  if (const auto kind = sweep_kind(sweep_bytes_at(path, 0, kBeginning))) return *kind;
  return Error::input("this is not a tuner's history, and not the results or the journal of heddle batch",
                      "their first line says what they are");
}

bool is_sweep(const std::string& path) { return classify_sweep(path).ok(); }

Result<std::string> read_sweep_line(const std::string& path, std::uint64_t offset, std::uint32_t length) {
  std::string text = sweep_bytes_at(path, offset, length);
  if (text.size() != length) return Error::input(fmt::format("{} has become shorter", path), "it is being written again");
  return text;
}

}  // namespace heddle::app
