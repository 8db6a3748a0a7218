// --timeout is one deadline for a whole command, and interrupts end whatever a command is doing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/command/exit_code.h"
#include "tests/app/cli_support.h"
#include "tests/support/paths.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::repository_path;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

namespace {

/// Sends a signal to this process as soon as a command is ready for it, and `delay` later.
class Interrupter {
 public:
  Interrupter(int signal, std::chrono::milliseconds delay) {
    std::signal(signal, SIG_DFL);  // nohup, and shells in the background, start programs that ignore some
    sigaction(signal, nullptr, &before_);
    sender_ = std::jthread([this, signal, delay](const std::stop_token& stop) {
      const auto ready = [&] {
        struct sigaction now {};
        sigaction(signal, nullptr, &now);
        return now.sa_handler != before_.sa_handler;
      };
      while (!stop.stop_requested() && !ready()) std::this_thread::yield();
      std::this_thread::sleep_for(delay);
      if (!stop.stop_requested() && ready()) std::raise(signal);
    });
  }

 private:
  struct sigaction before_ {};
  std::jthread sender_;
};

/// Of the processor, which other programs on the machine do not lengthen, or of the clock, which threads of its own do not: the shorter.
double seconds_of(const std::vector<std::string>& words, int& code) {
  const std::clock_t processor = std::clock();
  const auto clock = std::chrono::steady_clock::now();
  code = run_heddle(words).code;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - clock;
  return std::min(static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC, passed.count());
}

const std::vector<std::string> kLongEval{"eval", "gemm_hopper", "-p", "M=4096", "-p", "N=4096", "-p", "K=1024"};

std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("eval ends at its deadline with 5, and at a signal with 130", "[app]") {
  int code = 0;
  CHECK(seconds_of(with(kLongEval, {"--timeout", "0.3"}), code) < 8);
  CHECK(code == kNoProof);
  const json stopped = json::parse(run_heddle(with(kLongEval, {"--timeout", "0.05", "--json"})).out);
  CHECK((stopped.at("pass").is_null() && stopped.at("verdict") == "stopped, nothing was compared"));
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const Interrupter sender(signal, std::chrono::milliseconds(200));
    CHECK(seconds_of(kLongEval, code) < 8);
    CHECK(code == kInterrupted);
  }
}

TEST_CASE("interpret with data ends at a signal wherever it is, and never with 0", "[app]") {
  const std::string schedule = repository_path("tests/schedules/gemm_hopper_h100.json");
  for (const int delay : {0, 10, 40, 150, 400}) {
    INFO(delay);
    const Interrupter sender(SIGINT, std::chrono::milliseconds(delay));
    int code = 0;
    CHECK(seconds_of({"interpret", "gemm_hopper", "h100", schedule, "--data", "--interleavings", "100000", "-q"}, code) < 8);
    CHECK(code == kInterrupted);
  }
}

#ifdef HEDDLE_HAS_SOLVER
TEST_CASE("a signal while interpret solves ends it as well", "[app]") {
  const Interrupter sender(SIGINT, std::chrono::milliseconds(0));
  int code = 0;
  seconds_of({"interpret", "attention_forward_hopper", "h100", "--data", "--no-store", "-q"}, code);
  CHECK(code == kInterrupted);
}

TEST_CASE("one --timeout is for solving and interpreting together", "[app]") {
  int code = 0;
  CHECK(seconds_of({"interpret", "attention_forward_hopper", "h100", "--data", "--interleavings", "100000", "--timeout", "1", "-q"}, code) <
        9);
  CHECK(code == kNoProof);
  // Of a schedule that is there already: a slow machine would not have solved by then, and say that instead.
  const std::string schedule = repository_path("tests/schedules/gemm_hopper_h100.json");
  const auto run = run_heddle({"interpret", "gemm_hopper", "h100", schedule, "--interleavings", "100000000", "--timeout", "2", "--json"});
  CHECK(run.code == kNoProof);
  const json answer = json::parse(run.out);
  CHECK(answer.at("interleavings") < 100000000);
  CHECK(answer.at("asked") == 100000000);
  CHECK(answer.at("fault").is_null());
}

TEST_CASE("tune ends at its deadline, whatever it is doing", "[app]") {
  int code = 0;
  CHECK(seconds_of({"tune", "gemm_hopper", "h100", "--timeout", "1", "--no-store", "-q"}, code) < 9);
  CHECK((code == kDone || code == kNoProof));
}

TEST_CASE("where time runs out before anything is found, one op after the other is the answer, and the exit code is 5", "[app]") {
  const ScratchFolder folder;
  std::string values, body;
  for (int i = 0; i < 1000; ++i) {
    const std::string n = std::to_string(i), comma = i ? ", " : "";
    values += comma + R"({"name": "v)" + n + R"(", "dtype": "f32", "shape": [4], "space": "register", "registers": 1})";
    body += comma + R"({"name": "op)" + n + R"(", "kind": "opaque", "in": [)" + (i ? "\"v" + std::to_string(i - 1) + "\"" : "") +
            R"(], "out": ["v)" + n + R"("], "cost": {"latency": 3, "window": 1, "uses": [{"unit": "TC", "duration": 1}]}})";
  }
  const std::string chain = folder.write(
      "chain.json",
      R"({"schema": "heddle.kernel/1", "name": "chain", "max_groups": 1, "loop": {"variable": "i", "trips": 10}, "values": [)" + values +
          R"(], "body": [)" + body + "]}");
  const auto run = run_heddle({"solve", chain, "h100", "--timeout", "0.1", "--out", folder.path("chain.schedule.json"), "--no-store"});
  INFO(run.err);
  CHECK(run.code == kNoProof);
  CHECK(contains(run.out, "not proved"));
  CHECK(contains(run.out, "bound 1000"));
  CHECK(contains(run.err, "one op after the other"));
  CHECK(run_heddle({"check", chain, "h100", folder.path("chain.schedule.json")}).code == kDone);
  const json answer = json::parse(run_heddle({"solve", chain, "h100", "--timeout", "0.1", "--json", "--no-store"}).out);
  CHECK(answer.at("status") == "feasible");
  CHECK(answer.at("serial") == true);
}

TEST_CASE("where nothing can fit, arithmetic says so at once", "[app]") {
  const std::string less = "limits.smem_bytes=30000";
  const auto run = run_heddle({"solve", "layernorm", "h100", "--set", less, "--timeout", "0.5", "--no-store"});
  INFO(run.err << run.out);
  CHECK(run.code == kNegative);
  CHECK(contains(run.out, "32768 bytes of shared memory are needed at any II"));
  CHECK(contains(run.out, "the machine has 30000"));
  CHECK(contains(run_heddle({"explain", "layernorm", "h100", "--set", less, "--no-relax"}).out,
                 "32768 bytes of shared memory are needed at any II"));
}
#endif

TEST_CASE("eval without a formula compares nothing and says so", "[app]") {
  const ScratchFolder folder;
  json kernel = json::parse(heddle::test::read_text(repository_path("kernels/toy_fig1.json")));
  kernel.erase("reference");
  const std::string path = folder.write("toy.json", kernel.dump());
  const auto run = run_heddle({"eval", path});
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "finite, not compared"));
  CHECK_FALSE(contains(run.out, "agrees"));
  CHECK(run_heddle({"eval", path, "-q"}).out == "finite, not compared\n");
  const json answer = json::parse(run_heddle({"eval", path, "--json"}).out);
  CHECK(answer.at("pass").is_null());
  CHECK(answer.at("verdict") == "finite, not compared");
  CHECK(json::parse(run_heddle({"eval", "toy_fig1", "--json"}).out).at("pass") == true);
}
