// Child processes: streams, ends, groups, and programs that are not there.
#include <signal.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cerrno>
#include <string>

#include "core/base/process.h"

using namespace heddle;

namespace {

/// What a shell says on both streams until its end.
std::pair<std::string, ProcessEnd> said_by(const std::string& script) {
  std::optional<Pipe> pipe = make_pipe();
  REQUIRE(pipe);
  Process child({{"/bin/sh", "-c", script}, {{STDIN_FILENO, -1}, {STDOUT_FILENO, pipe->to.get()}, {STDERR_FILENO, pipe->to.get()}}});
  REQUIRE(child.failure() == 0);
  pipe->to.close();
  std::string text;
  listen({{&pipe->from, [&](std::string_view bytes) { text += bytes; }}}, [] { return true; });
  const ProcessEnd end = child.wait();
  return {text, end};
}

}  // namespace

TEST_CASE("a child's words are heard, and its exit code is known", "[core]") {
  const auto [text, end] = said_by("echo out; echo err >&2; cat; exit 7");
  CHECK(text == "out\nerr\n");
  CHECK(end.code == 7);
  CHECK(end.signal == 0);
  CHECK(end.peak_kib > 0);
}

TEST_CASE("a child that a signal ended has no exit code", "[core]") {
  const ProcessEnd end = said_by("kill -TERM $$").second;
  CHECK(end.code == -1);
  CHECK(end.signal == SIGTERM);
}

TEST_CASE("a program that is not there gives the system's reason", "[core]") {
  CHECK(Process({{"/nothing/of/this/name"}}).failure() == ENOENT);
  CHECK(Process({{"no-program-of-this-name"}, {}, true}).failure() == ENOENT);
  Process found({{"true"}, {}, true});
  REQUIRE(found.failure() == 0);
  CHECK(found.wait().code == 0);
}

TEST_CASE("what a child of its own group has started ends with it", "[core]") {
  std::optional<Pipe> pipe = make_pipe();
  REQUIRE(pipe);
  {
    Process child({{"/bin/sh", "-c", "sleep 1000 & echo started; wait"}, {{STDOUT_FILENO, pipe->to.get()}}, false, true});
    REQUIRE(child.failure() == 0);
    pipe->to.close();
    std::string text;
    listen({{&pipe->from, [&](std::string_view bytes) { text += bytes; }}}, [&] { return text.empty(); });
    CHECK(text == "started\n");
  }
  // The sleeper held the pipe: its end is heard only because it was killed too.
  int rounds = 0;
  listen({{&pipe->from, [](std::string_view) {}}}, [&] { return ++rounds < 500; });
  CHECK(rounds < 500);
}
