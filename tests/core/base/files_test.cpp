// Whole files in and out, settings, and the guesses at misspelt words.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "core/base/atomic_file.h"
#include "core/base/line_file.h"
#include "core/base/suggest.h"
#include "core/formats/settings_file.h"

using namespace heddle;
namespace fs = std::filesystem;

namespace {
/// A folder of its own, gone afterwards.
struct Scratch {
  fs::path folder = fs::temp_directory_path() / ("heddle_io_files_" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(folder); }
  ~Scratch() {
    std::error_code code;
    fs::remove_all(folder, code);
  }
  std::string path(const std::string& name) const { return (folder / name).string(); }
};
std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator{}));
}
}  // namespace

TEST_CASE("a place that cannot be written to is known before anything is written", "[core]") {
  const Scratch scratch;
  REQUIRE(write_file(scratch.path("file"), "x").ok());
  for (const std::string& good : {scratch.path("file"), scratch.path("new"), std::string("new file here"), std::string("/dev/null")}) {
    INFO(good);
    CHECK(check_writable(good).ok());
  }
  CHECK(files_in(scratch.folder) == 1);
  for (const std::string& bad :
       {scratch.folder.string(), scratch.path("file/below"), scratch.path("mistyped/file"), std::string("/dev/null/below")}) {
    INFO(bad);
    const auto result = check_writable(bad);
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().kind == ErrorKind::Environment);
    CHECK_FALSE(write_file(bad, "x").ok());
  }
}

TEST_CASE("a written file is read back, replaces the old one, and leaves nothing beside it", "[core]") {
  const Scratch scratch;
  const std::string path = scratch.path("deep/er/file.txt");
  REQUIRE(write_file(path, "one", MissingFolder::Create).ok());
  REQUIRE(write_file(path, std::string("two\0three", 9)).ok());
  CHECK(read_file(path).value() == std::string("two\0three", 9));
  CHECK(files_in(fs::path(path).parent_path()) == 1);
  REQUIRE(write_file(path, "").ok());
  CHECK(read_file(path).value().empty());
}

TEST_CASE("a replaced file keeps its permissions, and a link keeps pointing", "[core]") {
  const Scratch scratch;
  const std::string path = scratch.path("file"), link = scratch.path("link");
  REQUIRE(write_file(path, "one").ok());
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(path, link);
  REQUIRE(write_file(link, "two").ok());
  CHECK(fs::is_symlink(link));
  CHECK(read_file(path).value() == "two");
  CHECK(fs::status(path).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a pipe is written to, not replaced by a file", "[core]") {
  const Scratch scratch;
  const std::string pipe = scratch.path("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  CHECK(write_file(pipe, "text").ok());
  char got[8] = {};
  CHECK(::read(reader, got, sizeof got) == 4);
  CHECK(std::string(got) == "text");
  ::close(reader);
  CHECK(fs::is_fifo(pipe));
  CHECK(files_in(scratch.folder) == 1);
}

TEST_CASE("what cannot be read or written is said in a sentence", "[core]") {
  const Scratch scratch;
  const std::string folder = scratch.folder.string();
  CHECK(to_string(read_file(folder + "/nothing").error()) == folder + "/nothing: no such file");
  CHECK(to_string(read_file(folder).error()) == folder + ": is a folder (give a file in it)");
  REQUIRE(write_file(scratch.path("big"), "0123456789").ok());
  CHECK(to_string(read_file(scratch.path("big"), 5).error()) == scratch.path("big") + ": is 10 bytes long; the limit is 5");
  for (const char* device : {"/dev/zero", "/dev/null", "/dev/random"})
    CHECK(to_string(read_file(device).error()) == std::string(device) + ": is a device (give a file)");
  CHECK(read_file(scratch.path("big") + "/x").error().faults[0].message == "no such file");
  CHECK(write_file(folder, "x").error().kind == ErrorKind::Environment);
  CHECK(write_file(scratch.path("mistyped") + "/x", "x").error().kind == ErrorKind::Environment);
  CHECK(write_file(scratch.path("wanted") + "/deep/x", "x", MissingFolder::Create).ok());
  CHECK(write_file(scratch.path("big") + "/x", "x").error().kind == ErrorKind::Environment);
  CHECK(write_file("/proc/nothing/x", "x").error().kind == ErrorKind::Environment);
}

TEST_CASE("what comes through a pipe is read, up to the limit", "[core]") {
  int ends[2];
  for (const std::size_t size : {std::size_t{10}, std::size_t{50'000}}) {
    REQUIRE(::pipe(ends) == 0);
    const std::string text(size, 'x'), path = "/dev/fd/" + std::to_string(ends[0]);
    REQUIRE(::write(ends[1], text.data(), size) == static_cast<ssize_t>(size));
    ::close(ends[1]);
    const auto read = read_file(path, 20'000);
    CHECK(read.ok() == (size == 10));
    if (!read) CHECK(read.error().faults[0].message == "is longer than the limit of 20000 bytes");
    ::close(ends[0]);
  }
}

TEST_CASE("links and files planted for temporary ones are not written through", "[core]") {
  const Scratch scratch;
  const std::string victim = scratch.path("victim"), path = scratch.path("file");
  REQUIRE(write_file(victim, "precious").ok());
  for (int i = 0; i < 50; ++i) fs::create_symlink(victim, path + "." + std::to_string(::getpid()) + "." + std::to_string(i) + ".tmp");
  const std::size_t before = files_in(scratch.folder);
  for (int i = 0; i < 50; ++i) REQUIRE(write_file(path, std::to_string(i)).ok());
  CHECK(read_file(victim).value() == "precious");
  CHECK(read_file(path).value() == "49");
  CHECK(files_in(scratch.folder) == before + 1);
}

TEST_CASE("another user's link in a folder open to everybody is not followed, one's own is", "[core]") {
  const Scratch scratch;
  const std::string shared = scratch.path("shared"), victim = scratch.path("victim"), link = shared + "/link";
  fs::create_directory(shared);
  REQUIRE(::chmod(shared.c_str(), 01777) == 0);
  REQUIRE(write_file(victim, "precious").ok());
  fs::create_symlink(victim, link);
  REQUIRE(write_file(link, "mine").ok());
  CHECK(read_file(victim).value() == "mine");
  if (::geteuid() != 0) return;  // no other user can give files away
  REQUIRE(::lchown(link.c_str(), 12345, 12345) == 0);
  for (const std::string& path : {link, shared + "/to_link"}) {
    if (path != link) fs::create_symlink("link", path);
    const auto written = write_file(path, "stolen");
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().kind == ErrorKind::Environment);
    CHECK(written.error().faults[0].message.find("another user") != std::string::npos);
    CHECK_FALSE(check_writable(path).ok());
  }
  CHECK(read_file(victim).value() == "mine");
  // In a folder of one's own a link is one's own business.
  REQUIRE(::chmod(shared.c_str(), 0755) == 0);
  CHECK(write_file(link, "again").ok());
}

TEST_CASE("a ring of links is an error, and a private file replaces a link", "[core]") {
  const Scratch scratch;
  fs::create_symlink("b", scratch.path("a"));
  fs::create_symlink("a", scratch.path("b"));
  CHECK(write_file(scratch.path("a"), "x").error().kind == ErrorKind::Environment);
  REQUIRE(write_file(scratch.path("victim"), "precious").ok());
  fs::create_symlink("victim", scratch.path("link"));
  REQUIRE(write_file(scratch.path("link"), "secret", MissingFolder::Fail, FileMode::Private).ok());
  CHECK(read_file(scratch.path("victim")).value() == "precious");
  CHECK_FALSE(fs::is_symlink(scratch.path("link")));
  CHECK(fs::status(scratch.path("link")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("a file comes line by line, and a line without an end is refused before it fills the memory", "[core]") {
  const Scratch scratch;
  std::string text;
  for (int i = 0; i < 5000; ++i) text += std::string(static_cast<std::size_t>(i % 97), 'a') + "\n";
  REQUIRE(write_file(scratch.path("lines"), text + "half").ok());
  auto file = LineFile::open(scratch.path("lines"));
  REQUIRE(file.ok());
  for (int i = 0; i < 5000; ++i) {
    const auto line = file->next();
    REQUIRE((line.ok() && line->has_value()));
    REQUIRE(((*line)->text.size() == static_cast<std::size_t>(i % 97) && (*line)->number == i + 1 && (*line)->whole));
  }
  CHECK(file->bytes() == text.size());
  const auto half = file->next();
  REQUIRE((half.ok() && half->has_value()));
  CHECK((*half)->text == "half");
  CHECK_FALSE((*half)->whole);
  CHECK_FALSE(file->next()->has_value());
  CHECK_FALSE(LineFile::open("/dev/zero").ok());
  REQUIRE(::truncate(scratch.path("lines").c_str(), static_cast<off_t>(LineFile::kLongestLine) * 2) == 0);
  auto endless = LineFile::open(scratch.path("lines"));
  for (int i = 0; i < 5000; ++i) REQUIRE(endless->next().ok());
  CHECK(to_string(endless->next().error()).find("lines:5001: the line has no end after 64 MiB") != std::string::npos);
  CHECK_FALSE(endless->next()->has_value());
}

TEST_CASE("settings keep what they do not know and answer defaults for what is not there", "[core]") {
  const Scratch scratch;
  const std::string path = scratch.path("settings.json");
  SettingsFile settings = SettingsFile::load(path);
  CHECK(settings.integer("width", 1280) == 1280);
  settings.set("width", 900);
  settings.set("theme", "dark");
  settings.set("scale", 1.25);
  settings.set("lanes", true);
  settings.set("recent", std::vector<std::string>{"a.json", "b.json"});
  REQUIRE(settings.save(path).ok());
  SettingsFile again = SettingsFile::load(path);
  CHECK(again.integer("width", 0) == 900);
  CHECK(again.text("theme") == "dark");
  CHECK(again.number("scale", 0) == 1.25);
  CHECK(again.number("width", 0) == 900.0);
  CHECK(again.flag("lanes", false));
  CHECK(again.list("recent") == std::vector<std::string>{"a.json", "b.json"});
  CHECK(again.text("width", "none") == "none");

  SettingsFile newer = SettingsFile::parse(R"({"future": {"a": [1]}, "width": 3})", "s.json");
  newer.set("width", 4);
  CHECK(newer.to_text() == "{\n  \"future\": {\"a\": [1]},\n  \"width\": 4\n}\n");
}

TEST_CASE("damaged settings mean defaults and a reason", "[core]") {
  for (const char* text : {"", "{\"a\": ", "[1]", "{\"a\": 1, \"a\": 2}"}) {
    std::vector<Fault> trouble;
    const SettingsFile settings = SettingsFile::parse(text, "s.json", &trouble);
    CHECK(settings.integer("a", 7) == 7);
    CHECK(trouble.size() == 1);
  }
}

TEST_CASE("guesses are close, ignore case, and know swapped letters", "[core]") {
  const std::vector<std::string> words{"latency", "window", "warps", "a", "b"};
  CHECK(nearest("latnecy", words) == "latency");
  CHECK(nearest("LATENCY", words) == "latency");
  CHECK(nearest("warp", words) == "warps");
  CHECK(nearest("c", words).empty());
  CHECK(nearest("", words).empty());
  CHECK(nearest("duration", words).empty());
  CHECK(nearest(std::string(100000, 'x'), words).empty());
  CHECK(edit_distance("ab", "ba") == 1);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(list_of({"x", "y", "z"}) == "x, y or z");
  CHECK(list_of({"x", "y", "z"}, 2) == "x, y, ...");
}
