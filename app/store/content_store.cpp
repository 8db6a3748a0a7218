// Sixteen folders, one file per entry: a first line with lengths and digest, then key and value.
#include "app/store/content_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "core/base/hash.h"
#include "core/io/atomic_file.h"
#include "core/io/user_folder.h"

namespace heddle::app {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kEntryMark = "heddle.store/1 ";
constexpr std::string_view kEntryEnding = ".entry", kHalfWritten = ".tmp";
constexpr std::string_view kFolders = "0123456789abcdef";
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kMostMiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kDefaultMiB = 256;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWriterGivenUp = 3600 * kSecond;  // after which a file written aside belongs to nobody

std::string folder_of(const StorePlace& place, char digit) { return fmt::format("{}/{}", place.folder, digit); }

/// The last digit: of this digest the low bits are the ones that differ most.
char folder_digit(std::string_view digest) { return digest.back(); }

std::string path_of(const StorePlace& place, std::string_view key) {
  const std::string name = Hash().add(key).hex();
  return fmt::format("{}/{}{}", folder_of(place, folder_digit(name)), name, kEntryEnding);
}

std::string digest_of(std::string_view key, std::string_view value) { return Hash().add(key).add(value).hex(); }

std::string entry_text(std::string_view key, std::string_view value) {
  return fmt::format("{}{} {} {}\n{}\n{}\n", kEntryMark, digest_of(key, value), key.size(), value.size(), key, value);
}

struct KeyAndValue {
  std::string key, value;
};

/// Nothing unless the text is exactly what entry_text makes of some key and value.
std::optional<KeyAndValue> parse_entry(const std::string& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || !text.starts_with(kEntryMark)) return std::nullopt;
  const char* at = text.data() + kEntryMark.size();
  const char* const stop = text.data() + end;
  at = std::find(at, stop, ' ');
  std::size_t sizes[2] = {0, 0};
  for (std::size_t& size : sizes) {
    if (at == stop) return std::nullopt;
    const auto [next, error] = std::from_chars(at + 1, stop, size);
    if (error != std::errc() || size > text.size()) return std::nullopt;
    at = next;
  }
  if (end + 1 + sizes[0] + 1 + sizes[1] + 1 != text.size()) return std::nullopt;
  KeyAndValue entry{text.substr(end + 1, sizes[0]), text.substr(end + 2 + sizes[0], sizes[1])};
  if (text != entry_text(entry.key, entry.value)) return std::nullopt;
  return entry;
}

/// Of one of the sixteen folders.
std::vector<StoreEntry> entries_in(const std::string& folder, bool half_written) {
  std::vector<StoreEntry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    struct stat facts {};
    if (!path.ends_with(half_written ? kHalfWritten : kEntryEnding) || ::lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    entries.push_back({path, static_cast<std::uint64_t>(facts.st_size), facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec});
  }
  std::sort(entries.begin(), entries.end(), [](const StoreEntry& a, const StoreEntry& b) { return a.used != b.used ? a.used > b.used : a.path < b.path; });
  return entries;
}

/// Each folder has its share of the cap, so that keeping it looks at one folder only. The entry just written stays.
void make_room(const StorePlace& place, const std::string& written) {
  const std::string folder = fs::path(written).parent_path().string();
  const std::uint64_t share = place.most_bytes / kFolders.size();
  std::uint64_t sum = 0;
  std::vector<StoreEntry> entries = entries_in(folder, false);
  std::stable_partition(entries.begin(), entries.end(), [&](const StoreEntry& entry) { return entry.path == written; });
  for (const StoreEntry& entry : entries) {
    sum += entry.bytes;
    if (sum > share && entry.path != written) ::unlink(entry.path.c_str());
  }
  const std::int64_t now = std::time(nullptr) * kSecond;
  for (const StoreEntry& entry : entries_in(folder, true))
    if (entry.used + kWriterGivenUp < now) ::unlink(entry.path.c_str());
}

}  // namespace

StorePlace store_place() {
  StorePlace place;
  std::uint64_t mib = 0;
  const char* size = std::getenv("HEDDLE_STORE_MIB");
  const bool sized = size && std::from_chars(size, size + std::strlen(size), mib).ec == std::errc() && mib > 0;
  place.most_bytes = (sized ? std::min(mib, kMostMiB) : kDefaultMiB) * kMiB;
  const char* folder = std::getenv("HEDDLE_STORE");
  if (folder && *folder)
    place.folder = std::string_view(folder) == "off" ? "" : folder;
  else
    place.folder = user_path(UserFolder::Cache, "store");
  return place;
}

std::optional<std::string> ContentStore::find(std::string_view key) const {
  if (!on()) return std::nullopt;
  const std::string path = path_of(place_, key);
  const Result<std::string> text = read_file(path);
  if (!text) return std::nullopt;
  std::optional<KeyAndValue> entry = parse_entry(*text);
  if (!entry || entry->key != key) return std::nullopt;
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return std::move(entry->value);
}

bool ContentStore::put(std::string_view key, std::string_view value) const {
  if (!on()) return false;
  const std::string path = path_of(place_, key);
  const bool kept = write_file(path, entry_text(key, value), MissingFolder::Create).ok();
  make_room(place_, path);
  return kept;
}

std::vector<StoreEntry> ContentStore::entries() const {
  std::vector<StoreEntry> all;
  if (!on()) return all;
  for (const char digit : kFolders) {
    const auto some = entries_in(folder_of(place_, digit), false);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const StoreEntry& a, const StoreEntry& b) { return a.used > b.used; });
  return all;
}

std::optional<std::string> ContentStore::key_of(const StoreEntry& entry) const {
  const Result<std::string> text = read_file(entry.path);
  if (!text) return std::nullopt;
  std::optional<KeyAndValue> parsed = parse_entry(*text);
  return parsed ? std::optional(std::move(parsed->key)) : std::nullopt;
}

Result<std::size_t> ContentStore::clear() const {
  std::size_t removed = 0;
  if (!on()) return removed;
  for (const char digit : kFolders) {
    const std::string folder = folder_of(place_, digit);
    for (const bool half_written : {false, true}) {
      for (const StoreEntry& entry : entries_in(folder, half_written)) {
        if (::unlink(entry.path.c_str()) != 0 && errno != ENOENT)
          return Error{ErrorKind::Environment, {{entry.path, {}, fmt::format("cannot be removed: {}", std::strerror(errno)), {}}}};
        removed += half_written ? 0 : 1;
      }
    }
  }
  return removed;
}

}  // namespace heddle::app
