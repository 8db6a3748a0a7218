// The store on disk: hits and misses, damage of every kind, several writers, a disk that is full, the cap.
#include "app/jobs/content_store.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/atomic_file.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using namespace heddle::app;
using test::ScratchFolder;

namespace {

constexpr std::uint64_t kRoomy = 64 << 20;

void overwrite(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary | std::ios::trunc) << text; }

/// Files may not grow beyond so many bytes while it lives: what a full disk does, without one.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit small{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, before_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit old_{};
  void (*before_)(int) = SIG_DFL;
};

/// Entries, and what writers left; not the key.
std::size_t files_below(const std::string& folder) {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    count += at->is_regular_file() && at->path().filename() != "key" ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a kept value is found under its key and under no other", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  CHECK_FALSE(store.find("question"));
  CHECK(store.put("question", "answer\nof two lines"));
  CHECK(store.find("question") == std::string("answer\nof two lines"));
  CHECK_FALSE(store.find("question "));
  CHECK(store.put("question", ""));
  CHECK(store.find("question") == std::string());
  const std::string binary("\0\n\xff", 3);
  CHECK(store.put(binary, binary));
  CHECK(store.find(binary) == binary);
  CHECK(store.entries().size() == 2);
  CHECK(store.key_of(store.entries().front()).has_value());
}

TEST_CASE("a store that is off, or has no place, finds and keeps nothing", "[app]") {
  const ContentStore off(StorePlace{});
  CHECK_FALSE(off.on());
  CHECK_FALSE(off.put("a", "b"));
  CHECK_FALSE(off.find("a"));
  CHECK(off.entries().empty());
  CHECK(*off.clear() == 0);
  const ContentStore nowhere({"/proc/heddle/store", kRoomy});
  CHECK_FALSE(nowhere.put("a", "b"));
  CHECK_FALSE(nowhere.find("a"));
}

TEST_CASE("whatever is done to an entry's bytes, it gives its value or nothing", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("the key", "the value"));
  const std::string path = store.entries().front().path, whole = *read_file(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char bits : {1, 0x20, -1}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ bits);
      overwrite(path, damaged);
      CHECK_FALSE(store.find("the key"));
    }
    overwrite(path, whole.substr(0, i));
    CHECK_FALSE(store.find("the key"));
    overwrite(path, whole + whole.substr(0, i));
    CHECK(store.find("the key").has_value() == (i == 0));
  }
  overwrite(path, "heddle.store/2 0123456789abcdef 18446744073709551615 2\n");
  CHECK_FALSE(store.find("the key"));
  CHECK_FALSE(store.key_of(store.entries().front()));
  overwrite(path, whole);
  CHECK(store.find("the key") == std::string("the value"));
  // Two keys of one digest cannot be made here; a file under another key's name is the same thing.
  REQUIRE(store.put("another key", "another value"));
  for (const StoreEntry& entry : store.entries())
    if (entry.path != path) overwrite(entry.path, whole);
  CHECK_FALSE(store.find("another key"));
}

TEST_CASE("an entry that is a folder, a pipe or a dangling link is a miss and does no harm", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("k", "v"));
  const std::string path = store.entries().front().path;
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  CHECK_FALSE(store.find("k"));
  CHECK_FALSE(store.put("k", "v"));
  std::filesystem::remove(path);
  std::filesystem::create_symlink(scratch.path("nothing"), path);
  CHECK_FALSE(store.find("k"));
  std::filesystem::remove(path);
  CHECK(store.put("k", "v"));
  CHECK(store.find("k") == std::string("v"));
}

namespace {

std::filesystem::perms mode_of(const std::string& path) { return std::filesystem::symlink_status(path).permissions(); }

std::string only_entry(const ContentStore& store) {
  REQUIRE(store.entries().size() == 1);
  return store.entries().front().path;
}

}  // namespace

TEST_CASE("a store is for its user alone: folder, key and entries", "[app]") {
  const ScratchFolder scratch;
  const mode_t before = ::umask(0);
  const ContentStore store({scratch.path("deep/store"), kRoomy});
  REQUIRE(store.put("k", "v"));
  ::umask(before);
  using std::filesystem::perms;
  CHECK(mode_of(store.place().folder) == perms::owner_all);
  CHECK(mode_of(store.place().folder + "/key") == (perms::owner_read | perms::owner_write));
  CHECK(std::filesystem::file_size(store.place().folder + "/key") == 32);
  CHECK(mode_of(only_entry(store)) == (perms::owner_read | perms::owner_write));
  // Two stores have two secrets.
  const ContentStore other({scratch.path("other"), kRoomy});
  REQUIRE(other.put("k", "v"));
  CHECK(*read_file(other.place().folder + "/key") != *read_file(store.place().folder + "/key"));
  CHECK(*store.clear() == 1);
  CHECK(std::filesystem::exists(store.place().folder + "/key"));
}

TEST_CASE("an entry made without the key is a miss, however well it is made", "[app]") {
  const ScratchFolder scratch;
  const ContentStore mine({scratch.path("mine"), kRoomy}), foreign({scratch.path("foreign"), kRoomy});
  REQUIRE(mine.put("question", "truth"));
  REQUIRE(foreign.put("question", "forgery"));
  const std::string path = only_entry(mine);
  overwrite(path, *read_file(only_entry(foreign)));
  CHECK_FALSE(mine.find("question"));
  CHECK_FALSE(mine.key_of(mine.entries().front()));
  REQUIRE(mine.put("question", "truth"));
  // Without its key, or with a key that others can read, nothing in it can be told from a forgery.
  const std::string key = mine.place().folder + "/key";
  std::filesystem::permissions(key, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  CHECK_FALSE(mine.find("question"));
  CHECK(mine.put("question", "truth again"));
  CHECK(mine.find("question") == std::string("truth again"));
  std::filesystem::remove(key);
  CHECK_FALSE(mine.find("question"));
  overwrite(key, "short");
  CHECK_FALSE(mine.find("question"));
  CHECK(mine.put("question", "truth"));
  CHECK(mine.find("question") == std::string("truth"));
}

TEST_CASE("entries that are pipes, links, or open to others are misses at once", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("k", "v"));
  const std::string path = only_entry(store), shelf = std::filesystem::path(path).parent_path().string(), away = scratch.path("away");
  std::filesystem::permissions(path, std::filesystem::perms::group_write, std::filesystem::perm_options::add);
  CHECK_FALSE(store.find("k"));
  std::filesystem::rename(path, away);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK_FALSE(store.find("k"));  // and does not wait for a writer
  CHECK(store.entries().empty());
  CHECK(store.put("k", "v"));
  CHECK(store.find("k") == std::string("v"));
  std::filesystem::rename(path, away);
  std::filesystem::create_symlink(away, path);
  CHECK_FALSE(store.find("k"));
  std::filesystem::remove(path);
  // A link in place of one of the sixteen folders: nothing behind it is read, written or removed.
  std::filesystem::rename(away, path);
  std::filesystem::rename(shelf, away);
  std::filesystem::create_symlink(away, shelf);
  CHECK_FALSE(store.find("k"));
  CHECK_FALSE(store.put("k", "v"));
  CHECK(store.entries().empty());
  CHECK(*store.clear() == 0);
  CHECK(files_below(away) == 1);
  std::filesystem::remove(shelf);
  std::filesystem::rename(away, shelf);
  CHECK(store.find("k") == std::string("v"));
  std::filesystem::permissions(shelf, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  CHECK_FALSE(store.find("k"));
}

TEST_CASE("a store that is open to others is closed, a folder of other things is left alone", "[app]") {
  using std::filesystem::perms;
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("k", "v"));
  std::filesystem::permissions(store.place().folder, perms::others_all, std::filesystem::perm_options::add);
  CHECK(store.find("k") == std::string("v"));
  CHECK(mode_of(store.place().folder) == perms::owner_all);
  std::filesystem::create_directory(scratch.path("home"));
  scratch.write("home/letter", "dear");
  std::filesystem::permissions(scratch.path("home"), perms::owner_all | perms::group_read);
  const ContentStore home({scratch.path("home"), kRoomy});
  CHECK_FALSE(home.put("k", "v"));
  CHECK_FALSE(home.find("k"));
  CHECK(mode_of(scratch.path("home")) == (perms::owner_all | perms::group_read));
  CHECK(files_below(scratch.path("home")) == 1);
}

TEST_CASE("what belongs to another user is not believed", "[app]") {
  if (::geteuid() != 0) return;  // nobody else can give files away
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("k", "v"));
  const std::string path = only_entry(store), shelf = std::filesystem::path(path).parent_path().string(),
                    key = store.place().folder + "/key";
  for (const std::string& part : {path, shelf, key, store.place().folder}) {
    INFO(part);
    REQUIRE(::chown(part.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(store.find("k"));
    REQUIRE(::chown(part.c_str(), 0, 0) == 0);
    CHECK(store.find("k") == std::string("v"));
  }
}

TEST_CASE("several writers and readers of the same entries never see a wrong value", "[app]") {
  const ScratchFolder scratch;
  const StorePlace place{scratch.path("store"), kRoomy};
  const auto value_of = [](int key) { return std::string(static_cast<std::size_t>(1000 + key * 37), static_cast<char>('a' + key)); };
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        const ContentStore store(place);
        for (int i = 0; i < 60; ++i) {
          const int key = (i * 7 + t) % 5;
          if (i % 2 == t % 2) store.put(std::to_string(key), value_of(key));
          if (const auto found = store.find(std::to_string(key)); found && *found != value_of(key)) ++wrong;
        }
      });
  }
  CHECK(wrong == 0);
  const ContentStore store(place);
  for (int key = 0; key < 5; ++key) CHECK(store.find(std::to_string(key)) == value_of(key));
  CHECK(files_below(place.folder) == 5);
}

TEST_CASE("on a full disk nothing is kept, nothing is left, and what was kept stays", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), kRoomy});
  REQUIRE(store.put("small", "old"));
  {
    const SmallDisk disk(100);
    CHECK_FALSE(store.put("large", std::string(5000, 'x')));
    CHECK_FALSE(store.put("small", std::string(5000, 'x')));
  }
  CHECK(store.find("small") == std::string("old"));
  CHECK_FALSE(store.find("large"));
  CHECK(files_below(store.place().folder) == 1);
}

TEST_CASE("what was not used longest makes room, and a writer's leavings go", "[app]") {
  const ScratchFolder scratch;
  const ContentStore store({scratch.path("store"), 16 * 4000});  // four entries of 900 bytes in each of the sixteen folders
  for (int i = 0; i < 200; ++i) REQUIRE(store.put("key " + std::to_string(i), std::string(900, 'v')));
  CHECK(store.find("key 199"));
  CHECK(store.entries().size() <= 16 * 4);
  CHECK(store.entries().size() >= 16);
  std::uint64_t bytes = 0;
  for (const StoreEntry& entry : store.entries()) bytes += entry.bytes;
  CHECK(bytes <= store.place().most_bytes);

  const std::string folder = std::filesystem::path(store.entries().front().path).parent_path().string(), left = folder + "/0.entry.1.0.tmp";
  overwrite(left, "half");
  std::filesystem::last_write_time(left, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  const std::string own = folder + "/notes.txt";
  overwrite(own, "a user's");
  for (int i = 0; i < 100; ++i) store.put("more " + std::to_string(i), "v");
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(*store.clear() > 0);
  CHECK(store.entries().empty());
  CHECK(std::filesystem::exists(own));  // what is not ours stays
}

TEST_CASE("the environment says where the store is and how large it may become", "[app]") {
  const auto place = [](const char* folder, const char* mib) {
    ::setenv("HEDDLE_STORE", folder, 1);
    ::setenv("HEDDLE_STORE_MIB", mib, 1);
    const StorePlace found = store_place();
    ::setenv("HEDDLE_STORE", "off", 1);
    ::unsetenv("HEDDLE_STORE_MIB");
    return found;
  };
  CHECK(place("off", "5").folder.empty());
  CHECK(place("/a/b", "5").folder == "/a/b");
  CHECK(place("/a/b", "5").most_bytes == 5u << 20);
  CHECK(place("/a/b", "nonsense").most_bytes == 256u << 20);
  CHECK(place("/a/b", "99999999999999999999").most_bytes == 256u << 20);
  CHECK(place("", "-1").folder.ends_with("/heddle/store"));
}
