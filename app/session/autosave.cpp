#include "app/session/autosave.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/text_style.h"
#include "core/library/project_json.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".heddle.json";

struct Owner {
  std::string host, boot;
  std::string pid, start;  ///< start in clock ticks since the boot, as the kernel says it
};

std::string first_line(const std::string& path) {
  const auto text = read_file(path, 1 << 16);
  return text ? text->substr(0, text->find('\n')) : std::string();
}

/// Empty when there is no such process, or only what its parent has not taken leave of (a zombie).
std::string start_of(const std::string& pid) {
  const std::string line = first_line("/proc/" + pid + "/stat");
  // The name of the program stands in parentheses and may hold anything.
  std::size_t at = line.rfind(')');
  if (at == std::string::npos) return {};
  constexpr std::string_view kGone = "ZXx";
  if (const std::size_t state = line.find_first_not_of(' ', at + 1); state != std::string::npos && kGone.find(line[state]) != kGone.npos)
    return {};
  constexpr int kField = 20;  // of those behind the name
  for (int field = 0; field < kField && at != std::string::npos; ++field) at = line.find(' ', at + 1);
  if (at == std::string::npos) return {};
  return line.substr(at + 1, line.find(' ', at + 1) - at - 1);
}

std::string this_host() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && name[0] ? std::string(name.data()) : "host";
}

std::string this_boot() {
  std::string id = first_line("/proc/sys/kernel/random/boot_id").substr(0, 8);
  return id.empty() ? "0" : id;
}

std::optional<Owner> owner_of(const std::string& name) {
  if (!name.ends_with(kEnding)) return std::nullopt;
  std::string rest = name.substr(0, name.size() - kEnding.size());
  std::array<std::string, 4> parts;  // number, start, pid, boot
  for (std::string& part : parts) {
    const std::size_t dot = rest.rfind('.');
    if (dot == std::string::npos) return std::nullopt;
    part = rest.substr(dot + 1);
    rest.resize(dot);
  }
  if (parts[2].empty() || parts[2].find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return Owner{rest, parts[3], parts[2], parts[1]};
}

bool is_dead(const Owner& owner) {
  if (owner.host != this_host()) return false;
  if (owner.boot != this_boot()) return true;
  const std::string start = start_of(owner.pid);
  return start.empty() || start != owner.start;
}

}  // namespace

std::string autosave_path() { return user_path(UserFolder::State, "autosave"); }

std::string describe(const Recovery& recovery) {
  std::string text = fs::path(recovery.kernel).stem().string() + " on " + fs::path(recovery.machine).stem().string();
  if (recovery.schedules > 0) text += ", " + count_of(recovery.schedules, "schedule");
  if (recovery.constraints > 0) text += ", " + count_of(recovery.constraints, "constraint");
  if (recovery.notes > 0) text += ", " + count_of(recovery.notes, "note");
  return text;
}

std::string time_of(const Recovery& recovery, std::int64_t now) {
  const std::tm then = fmt::localtime(static_cast<std::time_t>(recovery.written)), today = fmt::localtime(static_cast<std::time_t>(now));
  const bool same_day = then.tm_year == today.tm_year && then.tm_yday == today.tm_yday;
  return same_day ? fmt::format("{:%H:%M}", then) : fmt::format("{:%d %b %H:%M}", then);
}

std::vector<Recovery> find_recoveries(const std::string& folder, std::vector<std::string>& trouble) {
  std::vector<Recovery> found;
  std::error_code code;
  for (fs::directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    const std::string name = it->path().filename().string(), path = it->path().string();
    // What was half written when its process died is worth nothing: the whole version before it is still there.
    const std::size_t whole = name.find(kEnding);
    const bool half = whole != std::string::npos && name.ends_with(".tmp");
    const auto owner = owner_of(half ? name.substr(0, whole + kEnding.size()) : name);
    if (!owner || !is_dead(*owner)) continue;
    if (half) {
      std::error_code ignored;
      fs::remove(it->path(), ignored);
      continue;
    }
    const auto text = read_file(path);
    const auto head = text ? parse_project_head(*text, path) : Result<ProjectHead>(text.error());
    if (!head) {
      std::error_code failed;
      fs::rename(path, path + ".unreadable", failed);
      trouble.push_back(fmt::format("work of an earlier window cannot be read ({}); it is kept as {}", head.error().faults.front().message,
                                    failed ? path : path + ".unreadable"));
      continue;
    }
    Recovery& recovery = found.emplace_back();
    recovery.path = path;
    recovery.kernel = head->kernel;
    recovery.machine = head->machine;
    recovery.schedules = head->schedules;
    recovery.notes = head->notes;
    recovery.constraints = head->constraints;
    struct stat facts {};
    if (::stat(path.c_str(), &facts) == 0) recovery.written = facts.st_mtime;
  }
  std::sort(found.begin(), found.end(),
            [](const Recovery& a, const Recovery& b) { return a.written != b.written ? a.written > b.written : a.path < b.path; });
  return found;
}

Autosave::Autosave(std::string folder) : folder_(std::move(folder)) {
  static std::atomic<int> windows{0};
  const std::string pid = fmt::format("{}", ::getpid());
  file_ = fmt::format("{}/{}.{}.{}.{}.{}{}", folder_, this_host(), this_boot(), pid, start_of(pid), windows++, kEnding);
  thread_ = std::jthread([this](std::stop_token stop) { work(stop); });
}

Autosave::~Autosave() {
  thread_.request_stop();
  changed_.notify_all();
}

void Autosave::keep(double now, std::uint64_t revision, bool unsaved, const std::function<std::function<std::string()>()>& text) {
  if (revision == seen_ || (unsaved && now - last_ < kSeconds)) return;
  seen_ = revision;
  if (!unsaved && !kept_) return;
  last_ = now;
  kept_ = unsaved;
  {
    const std::lock_guard lock(mutex_);
    next_ = unsaved ? text() : nullptr;
    pending_ = true;
  }
  changed_.notify_all();
}

bool Autosave::take_over(const std::string& path) {
  wait();
  std::error_code code;
  fs::rename(path, file_, code);
  kept_ = kept_ || !code;
  return !code;
}

std::optional<std::string> Autosave::take_trouble() {
  const std::lock_guard lock(mutex_);
  return std::exchange(trouble_, std::nullopt);
}

void Autosave::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !pending_ && !busy_; });
}

void Autosave::discard() {
  {
    const std::lock_guard lock(mutex_);
    pending_ = false;
  }
  wait();
  std::error_code ignored;
  fs::remove(file_, ignored);
  kept_ = false;
}

void Autosave::work(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return pending_; })) {
    const std::function<std::string()> text = std::exchange(next_, nullptr);
    pending_ = false;
    busy_ = true;
    lock.unlock();
    std::optional<std::string> failure;
    if (text) {
      const auto written = write_file(file_, text(), MissingFolder::Create);
      if (!written) failure = to_string(written.error());
    } else {
      std::error_code ignored;
      fs::remove(file_, ignored);
    }
    lock.lock();
    busy_ = false;
    if (failure && !failing_) trouble_ = "work is not kept safe from crashes: " + *failure;
    failing_ = failure.has_value();
    changed_.notify_all();
  }
}

}  // namespace heddle::app
