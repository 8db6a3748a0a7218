// Sixteen folders, one file per entry: a first line with lengths and digest, then key and value. Everything is opened by descriptor and
// looked at before it is believed.
#include "app/jobs/content_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <utility>

#include "core/base/atomic_file.h"
#include "core/base/environment.h"
#include "core/base/hash.h"
#include "core/base/open_file.h"
#include "core/base/sha256.h"

namespace heddle::app {
namespace {

constexpr std::string_view kEntryMark = "heddle.store/2 ";
constexpr std::string_view kEntryEnding = ".entry", kHalfWritten = ".tmp", kSecretName = "key";
constexpr std::string_view kFolders = "0123456789abcdef";
constexpr std::size_t kSecretBytes = 32;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20, kMostMiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kDefaultMiB = 256;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWriterGivenUp = 3600 * kSecond;  // after this time a file written aside is left over from a process that died
constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC, kOpenFile = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC;

struct Trouble {
  std::mutex mutex;
  std::optional<std::string> sentence;
  bool said = false;
};
Trouble& trouble() {
  static Trouble one;
  return one;
}

void distrust(const std::string& path, std::string_view why) {
  Trouble& t = trouble();
  const std::lock_guard lock(t.mutex);
  if (!t.said) t.sentence = fmt::format("the store of answers: {} {}", path, why);
  t.said = true;
}

/// What speaks against believing what was opened; empty: nothing. `open_to`: permissions that no other user may have.
std::string_view objection(const struct stat& facts, mode_t open_to) {
  if (facts.st_uid != ::geteuid()) return "belongs to another user; it is left alone";
  if ((facts.st_mode & open_to) != 0)
    return open_to == 022 ? "can be written by others; it is not believed" : "is open to others; it is not believed";
  return {};
}

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  const int own = ::openat(folder, ".", kOpenFolder);
  DIR* list = own >= 0 ? ::fdopendir(own) : nullptr;
  if (!list && own >= 0) ::close(own);
  if (!list) return names;
  while (const dirent* entry = ::readdir(list))
    if (const std::string_view name = entry->d_name; name != "." && name != "..") names.emplace_back(name);
  ::closedir(list);
  return names;
}

bool is_part_of_a_store(const std::string& name) {
  return (name.size() == 1 && kFolders.find(name) != std::string_view::npos) || name == kSecretName ||
         (name.starts_with(kSecretName) && name.ends_with(kHalfWritten));
}

/// The store's folder, if it can be trusted. Not valid: there is none, or it is not ours.
Descriptor open_store(const StorePlace& place, MissingFolder missing) {
  const Result<std::string> followed = followed_links(place.folder);
  if (!followed) return distrust(place.folder, followed.error().faults.front().message), Descriptor();
  const std::filesystem::path path = *followed;
  if (missing == MissingFolder::Create) {
    std::error_code code;
    std::filesystem::create_directories(path.parent_path(), code);
    ::mkdir(path.c_str(), 0700);
  }
  Descriptor folder(::open(path.c_str(), kOpenFolder | O_NOFOLLOW));
  struct stat facts {};
  if (!folder.valid() || ::fstat(folder.get(), &facts) != 0) return Descriptor();
  if (facts.st_uid != ::geteuid()) return distrust(place.folder, objection(facts, 077)), Descriptor();
  if ((facts.st_mode & 077) == 0) return folder;
  // One that Heddle made before is closed. Somebody's folder of other things is not ours to close.
  const auto names = names_in(folder.get());
  if (std::all_of(names.begin(), names.end(), is_part_of_a_store) && ::fchmod(folder.get(), 0700) == 0) return folder;
  return distrust(place.folder,
                  "is open to others, and other things are in it; it is not used (HEDDLE_STORE names another, or chmod 700 closes it)"),
         Descriptor();
}

/// One of the sixteen.
Descriptor open_shelf(const StorePlace& place, int store, char digit, MissingFolder missing) {
  const char name[] = {digit, '\0'};
  if (missing == MissingFolder::Create) ::mkdirat(store, name, 0700);
  Descriptor shelf(::openat(store, name, kOpenFolder | O_NOFOLLOW));
  if (!shelf.valid()) {
    if (errno == ELOOP || errno == ENOTDIR) distrust(fmt::format("{}/{}", place.folder, name), "is a link or no folder; it is left alone");
    return shelf;
  }
  struct stat facts {};
  if (::fstat(shelf.get(), &facts) != 0) return Descriptor();
  if (const auto why = objection(facts, 022); !why.empty()) return distrust(fmt::format("{}/{}", place.folder, name), why), Descriptor();
  return shelf;
}

/// The whole of a regular file of ours that no other user may write (or, with 077, read).
std::optional<std::string> read_trusted(int folder, const std::string& name, const std::string& path, mode_t open_to) {
  const Descriptor file(::openat(folder, name.c_str(), kOpenFile));
  if (!file.valid()) {
    if (errno == ELOOP) distrust(path, "is a link; it is not followed");
    return std::nullopt;
  }
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return std::nullopt;
  if (!S_ISREG(facts.st_mode)) return distrust(path, "is no regular file; it is left alone"), std::nullopt;
  if (const auto why = objection(facts, open_to); !why.empty()) return distrust(path, why), std::nullopt;
  if (facts.st_size < 0 || static_cast<std::uint64_t>(facts.st_size) > kLargestFile) return std::nullopt;
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t got = ::read(file.get(), text.data() + at, text.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    at += static_cast<std::size_t>(got);
  }
  return text;
}

/// What digests are keyed with. With `missing` Create one is made where there is none that can be trusted; of several processes that do so
/// at once one wins.
std::optional<std::string> secret_of(const StorePlace& place, int store, MissingFolder missing) {
  const std::string name(kSecretName), path = fmt::format("{}/{}", place.folder, name);
  const auto read = [&]() -> std::optional<std::string> {
    std::optional<std::string> secret = read_trusted(store, name, path, 077);
    return secret && secret->size() == kSecretBytes ? secret : std::nullopt;
  };
  std::optional<std::string> secret = read();
  if (secret || missing != MissingFolder::Create) return secret;
  std::string fresh(kSecretBytes, '\0');
  std::uint64_t number = 0;
  if (::getrandom(fresh.data(), fresh.size(), 0) != static_cast<ssize_t>(fresh.size()) ||
      ::getrandom(&number, sizeof number, 0) != sizeof number)
    return std::nullopt;
  const std::string aside = fmt::format("{}.{:016x}{}", name, number, kHalfWritten);
  {
    Descriptor file(::openat(store, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (file.valid() && write_all(file.get(), fresh) == 0 && ::fsync(file.get()) == 0 && file.close()) {
      if (::linkat(store, aside.c_str(), store, name.c_str(), 0) != 0 && errno == EEXIST && !read()) {
        // What is there is no key that can be trusted.
        ::unlinkat(store, name.c_str(), 0);
        (void)!::linkat(store, aside.c_str(), store, name.c_str(), 0);
      }
    }
  }
  ::unlinkat(store, aside.c_str(), 0);
  return read();
}

std::string name_of(std::string_view key) { return Hash().add(key).hex() + std::string(kEntryEnding); }

/// The last digit: of this digest the low bits are the ones that differ most.
char shelf_digit(const std::string& name) { return name[name.size() - kEntryEnding.size() - 1]; }

std::string entry_text(const std::string& secret, std::string_view key, std::string_view value) {
  const std::string lengths_and_all = fmt::format("{} {}\n{}\n{}\n", key.size(), value.size(), key, value);
  return fmt::format("{}{} {}", kEntryMark, hex(hmac_sha256(secret, lengths_and_all)), lengths_and_all);
}

struct KeyAndValue {
  std::string key, value;
};

/// Nothing unless the text is exactly what entry_text makes of some key and value.
std::optional<KeyAndValue> parse_entry(const std::string& secret, const std::string& text) {
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
  if (text != entry_text(secret, entry.key, entry.value)) return std::nullopt;
  return entry;
}

/// Of one of the sixteen folders, regular files only, with their names as paths.
std::vector<StoreEntry> entries_on(int shelf, bool half_written) {
  std::vector<StoreEntry> entries;
  for (const std::string& name : names_in(shelf)) {
    struct stat facts {};
    if (!name.ends_with(half_written ? kHalfWritten : kEntryEnding) || ::fstatat(shelf, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(facts.st_mode))
      continue;
    entries.push_back({name, static_cast<std::uint64_t>(facts.st_size), facts.st_mtim.tv_sec * kSecond + facts.st_mtim.tv_nsec});
  }
  std::sort(entries.begin(), entries.end(),
            [](const StoreEntry& a, const StoreEntry& b) { return a.used != b.used ? a.used > b.used : a.path < b.path; });
  return entries;
}

/// Each folder has its share of the cap, so that keeping it looks at one folder only. The entry just written stays.
void make_room(const StorePlace& place, int shelf, const std::string& written) {
  const std::uint64_t share = place.most_bytes / kFolders.size();
  std::uint64_t sum = 0;
  std::vector<StoreEntry> entries = entries_on(shelf, false);
  std::stable_partition(entries.begin(), entries.end(), [&](const StoreEntry& entry) { return entry.path == written; });
  for (const StoreEntry& entry : entries) {
    sum += entry.bytes;
    if (sum > share && entry.path != written) ::unlinkat(shelf, entry.path.c_str(), 0);
  }
  const std::int64_t now = std::time(nullptr) * kSecond;
  for (const StoreEntry& entry : entries_on(shelf, true))
    if (entry.used + kWriterGivenUp < now) ::unlinkat(shelf, entry.path.c_str(), 0);
}

}  // namespace

std::optional<std::string> take_store_trouble() {
  Trouble& t = trouble();
  const std::lock_guard lock(t.mutex);
  return std::exchange(t.sentence, std::nullopt);
}

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
  const Descriptor store = open_store(place_, MissingFolder::Fail);
  const auto secret = store.valid() ? secret_of(place_, store.get(), MissingFolder::Fail) : std::nullopt;
  if (!secret) return std::nullopt;
  const std::string name = name_of(key);
  const Descriptor shelf = open_shelf(place_, store.get(), shelf_digit(name), MissingFolder::Fail);
  const auto text =
      shelf.valid() ? read_trusted(shelf.get(), name, fmt::format("{}/{}/{}", place_.folder, shelf_digit(name), name), 022) : std::nullopt;
  if (!text) return std::nullopt;
  std::optional<KeyAndValue> entry = parse_entry(*secret, *text);
  if (!entry || entry->key != key) return std::nullopt;
  (void)::utimensat(shelf.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);  // used now
  return std::move(entry->value);
}

bool ContentStore::put(std::string_view key, std::string_view value) const {
  if (!on()) return false;
  const Descriptor store = open_store(place_, MissingFolder::Create);
  const auto secret = store.valid() ? secret_of(place_, store.get(), MissingFolder::Create) : std::nullopt;
  if (!secret) return false;
  const std::string name = name_of(key);
  const Descriptor shelf = open_shelf(place_, store.get(), shelf_digit(name), MissingFolder::Create);
  if (!shelf.valid()) return false;
  const std::string path = fmt::format("{}/{}/{}", place_.folder, shelf_digit(name), name);
  const bool kept = write_file(path, entry_text(*secret, key, value), MissingFolder::Fail, FileMode::Private).ok();
  make_room(place_, shelf.get(), name);
  return kept;
}

std::vector<StoreEntry> ContentStore::entries() const {
  std::vector<StoreEntry> all;
  const Descriptor store = on() ? open_store(place_, MissingFolder::Fail) : Descriptor();
  if (!store.valid()) return all;
  for (const char digit : kFolders) {
    const Descriptor shelf = open_shelf(place_, store.get(), digit, MissingFolder::Fail);
    if (!shelf.valid()) continue;
    for (StoreEntry& entry : entries_on(shelf.get(), false)) {
      entry.path = fmt::format("{}/{}/{}", place_.folder, digit, entry.path);
      all.push_back(std::move(entry));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const StoreEntry& a, const StoreEntry& b) { return a.used > b.used; });
  return all;
}

std::optional<std::string> ContentStore::key_of(const StoreEntry& entry) const {
  const Descriptor store = on() ? open_store(place_, MissingFolder::Fail) : Descriptor();
  const auto secret = store.valid() ? secret_of(place_, store.get(), MissingFolder::Fail) : std::nullopt;
  if (!secret) return std::nullopt;
  const std::string name = std::filesystem::path(entry.path).filename().string();
  const Descriptor shelf = open_shelf(place_, store.get(), shelf_digit(name), MissingFolder::Fail);
  const auto text = shelf.valid() ? read_trusted(shelf.get(), name, entry.path, 022) : std::nullopt;
  std::optional<KeyAndValue> parsed = text ? parse_entry(*secret, *text) : std::nullopt;
  return parsed ? std::optional(std::move(parsed->key)) : std::nullopt;
}

Result<std::size_t> ContentStore::clear() const {
  std::size_t removed = 0;
  const Descriptor store = on() ? open_store(place_, MissingFolder::Fail) : Descriptor();
  if (!store.valid()) return removed;
  for (const char digit : kFolders) {
    const Descriptor shelf = open_shelf(place_, store.get(), digit, MissingFolder::Fail);
    if (!shelf.valid()) continue;
    for (const bool half_written : {false, true}) {
      for (const StoreEntry& entry : entries_on(shelf.get(), half_written)) {
        if (::unlinkat(shelf.get(), entry.path.c_str(), 0) != 0 && errno != ENOENT)
          return Error{ErrorKind::Environment,
                       {{fmt::format("{}/{}/{}", place_.folder, digit, entry.path),
                         {},
                         fmt::format("cannot be removed: {}", std::strerror(errno)),
                         {}}}};
        removed += half_written ? 0 : 1;
      }
    }
  }
  return removed;
}

}  // namespace heddle::app
