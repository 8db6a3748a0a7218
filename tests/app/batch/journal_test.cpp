// The journal of a batch: what was written whole is read, whatever happened to the rest.
#include "app/batch/journal.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/base/atomic_file.h"
#include "tests/app/cli_support.h"

using namespace heddle;
using namespace heddle::app;
using test::ScratchFolder;

namespace {

Json numbered(int number) { return Json::object().set("job", number).set("status", "proved"); }

void fill(const std::string& path, int count) {
  Result<Journal> journal = Journal::open(path);
  REQUIRE(journal.ok());
  for (int i = 1; i <= count; ++i) REQUIRE(journal->append(numbered(i)).ok());
}

}  // namespace

TEST_CASE("a journal gives back its lines in order, also while it grows", "[app]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("j");
  CHECK(read_journal(path).empty());
  Result<Journal> journal = Journal::open(path);
  REQUIRE(journal.ok());
  for (int i = 1; i <= 3; ++i) {
    REQUIRE(journal->append(numbered(i)).ok());
    CHECK(read_journal(path).size() == static_cast<std::size_t>(i));
  }
  CHECK(*read_journal(path)[2].find("job")->integer() == 3);
  CHECK(journal->clear().ok());
  CHECK(read_journal(path).empty());
}

TEST_CASE("one batch at a time writes a journal", "[app]") {
  const ScratchFolder scratch;
  {
    const Result<Journal> first = Journal::open(scratch.path("j"));
    REQUIRE(first.ok());
    const Result<Journal> second = Journal::open(scratch.path("j"));
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().kind == ErrorKind::Environment);
    CHECK(to_string(second.error()).find("another heddle batch") != std::string::npos);
  }
  CHECK(Journal::open(scratch.path("j")).ok());
  CHECK_FALSE(Journal::open("/dev/null").ok());
  CHECK_FALSE(Journal::open(scratch.path("no/such/folder")).ok());
}

TEST_CASE("a link planted under a journal's name is not followed", "[app]") {
  const ScratchFolder scratch;
  const std::string victim = scratch.write("victim", "not a journal"), path = scratch.path("j");
  std::filesystem::create_symlink(victim, path);
  const Result<Journal> journal = Journal::open(path);
  REQUIRE_FALSE(journal.ok());
  CHECK(journal.error().kind == ErrorKind::Environment);
  CHECK(*read_file(victim) == "not a journal");
}

TEST_CASE("cut off at any byte, a journal keeps its whole lines and takes new ones", "[app]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("j");
  fill(path, 3);
  const std::string whole = *read_file(path);
  const std::size_t line = whole.size() / 3;
  for (std::size_t cut = 0; cut <= whole.size(); ++cut) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, cut);
    CHECK(read_journal(path).size() == cut / line);
    Result<Journal> journal = Journal::open(path);
    REQUIRE(journal.ok());
    REQUIRE(journal->append(numbered(9)).ok());
    const auto lines = read_journal(path);
    REQUIRE(lines.size() == cut / line + 1);
    CHECK(*lines.back().find("job")->integer() == 9);
  }
}

TEST_CASE("a damaged line of a journal costs that line only", "[app]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("j");
  fill(path, 3);
  const std::string whole = *read_file(path);
  const std::size_t line = whole.size() / 3;
  for (std::size_t at = line; at < 2 * line; ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
    const auto lines = read_journal(path);
    CHECK(lines.size() >= (at == 2 * line - 1 ? 1u : 2u));  // without the newline between them two lines are lost
    for (const Json& json : lines) CHECK(*json.find("job")->integer() != 2);
  }
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "\n\n \nnonsense\n0123456789abcdef [1]\n"
                                                          << whole << "0123456789abcdef {\"job\": 1}\n";
  CHECK(read_journal(path).size() == 3);
}

TEST_CASE("a full disk leaves a journal as it was", "[app]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("j");
  fill(path, 2);
  const std::string before = *read_file(path);
  const auto old_action = std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{before.size() + 10, old.rlim_max};
  Result<Journal> journal = Journal::open(path);
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Result<Ok> full = journal->append(numbered(3));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, old_action);
  REQUIRE_FALSE(full.ok());
  CHECK(full.error().kind == ErrorKind::Environment);
  CHECK(*read_file(path) == before);
  CHECK(journal->append(numbered(3)).ok());
  CHECK(read_journal(path).size() == 3);
}
