// heddle run, profile and calibrate --on HOST: the program itself, an ssh that runs things on "another machine" (tests/gpu/ssh), the fake
// GPU there. The round trip, every fault, the end of a connection from either side.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/base/process.h"
#include "core/formats/machine_json.h"
#include "core/formats/measurement_json.h"
#include "tests/gpu/fixture.h"
#include "tests/gpu/other_machine.h"
#include "tests/support/paths.h"
#include "tests/support/wait.h"

using namespace heddle;
using heddle::test::FakeGpu;
using heddle::test::heddle_says;
using heddle::test::OtherMachine;
using heddle::test::Outcome;
namespace fs = std::filesystem;

namespace {

const std::string kGemm = heddle::test::quick_gemm() + " --sustained 2";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Lines that say the same on both machines: times differ.
std::string without_times(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (!holds(line, "cycles")) kept += line + "\n";
    at = end + 1;
  }
  return kept;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) text.replace(at, what.size(), by);
  return text;
}

}  // namespace

TEST_CASE("a run on another machine prints what a run here prints, and says where it was", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const std::string file = (machine.folder / "m.json").string();
  const Outcome here = heddle_says("run --no-color " + kGemm);
  const Outcome there = heddle_says("run --no-color " + kGemm + machine.on("me@box") + " --out '" + file + "'");
  INFO(there.out << there.err);
  CHECK(there.code == 0);
  CHECK(without_times(replaced(there.out, "fake GPU at me@box", "fake GPU")) == without_times(here.out));
  CHECK(holds(there.err, "heddle: copying the package to me@box, once"));
  CHECK(replaced(there.err, "heddle: copying the package to me@box, once (1 MB)\n", "") == here.err);
  const auto m = read_measurement(file);
  REQUIRE(m.ok());
  CHECK(m->host == "me@box");
  CHECK(m->status == RunStatus::Verified);
  CHECK(holds(m->command, "--on me@box"));
  CHECK(m->params.at("K") == 320);
  CHECK(machine.clean());

  // The second time the package is there.
  const Outcome json = heddle_says("run --json --no-time " + kGemm + machine.on("me@box"));
  CHECK(json.code == 0);
  CHECK_FALSE(holds(json.err, "copying"));
  const auto again = parse_measurement(json.out, "out");
  REQUIRE(again.ok());
  CHECK(again->schedule_hash == m->schedule_hash);
  CHECK(holds(machine.calls(), "-oBatchMode=yes"));
  CHECK(holds(machine.calls(), "-- me@box sh -s"));
}

TEST_CASE("numbers that are changed, parameters and how a kernel is written go with it", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const std::string words = "run --json --no-time --no-turns --seed 7 --set load_a0.latency=900 " + kGemm;
  const std::string cache = "XDG_CACHE_HOME='" + (machine.folder / "cache").string() + "'";
  const Outcome here = heddle_says(words, cache), there = heddle_says(words + machine.on("box"), cache);
  INFO(there.err);
  const auto a = parse_measurement(here.out, "here"), b = parse_measurement(there.out, "there");
  REQUIRE((a.ok() && b.ok()));
  CHECK(b->schedule_hash == a->schedule_hash);
  CHECK(b->build->cubin_hash == a->build->cubin_hash);
  CHECK(b->schedule == a->schedule);
  CHECK(here.code == there.code);
}

TEST_CASE("a profile comes back with its trace; what it measured can be adopted", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  // A name that a shell would make something of.
  const fs::path folder = machine.folder / "it's $(a) \"folder\"";
  fs::create_directories(folder);
  fs::copy_file(heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json"), folder / "-o;x.json");
  const std::string words = replaced(kGemm, heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json"),
                                     replaced((folder / "-o;x.json").string(), "'", "'\\''"));
  const std::string trace = (machine.folder / "trace.json").string(), file = (machine.folder / "profile.json").string();
  const Outcome text = heddle_says(fmt::format("profile --no-color {}{} --trace '{}' --out '{}'", words, machine.on("box"), trace, file));
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(holds(text.out, "ops in the steady loop, cycles"));
  CHECK(holds(read_file(trace).value(), "gemm_hopper on fake GPU, measured"));
  const Outcome adopted = heddle_says(fmt::format("adopt gemm_hopper h100 '{}'", file));
  CHECK(adopted.code == 0);
}

TEST_CASE("what goes wrong on the GPU there has the exit code that it has here", "[gpu]") {
  const OtherMachine machine;
  {
    const FakeGpu gpu("wrong");
    const Outcome text = heddle_says("run --quiet --no-time " + kGemm + machine.on("box"));
    CHECK(text.code == 7);
    CHECK(holds(text.out, "wrong"));
    CHECK(text.err.empty());
  }
  {
    const FakeGpu gpu("no-device");
    const Outcome text = heddle_says("run --no-time " + kGemm + machine.on("box"));
    CHECK(text.code == 6);
    CHECK(holds(text.err, "heddle: on box: the CUDA driver finds no GPU"));
    CHECK_FALSE(holds(text.err, "without a GPU"));
  }
  const FakeGpu gpu;
  const Outcome text = heddle_says("run --no-time " + kGemm + machine.on("driverless"));
  CHECK(text.code == 6);
  CHECK(holds(text.err, "on driverless: there is no CUDA driver here (/nowhere/libcuda.so cannot be opened); a driver there"));
  const Outcome refused = heddle_says("run toy_fig1 toy" + machine.on("box"));
  CHECK(refused.code == 4);
  const Outcome unknown = heddle_says("run --json no_such_kernel h100" + machine.on("nowhere"));
  CHECK(unknown.code == 3);
  CHECK(holds(unknown.err, "no_such_kernel"));
}

TEST_CASE("every way in which a host cannot be used is one sentence with its remedy", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  struct Case {
    std::string words;
    int code;
    std::string says;
  };
  const Case cases[] = {
      {machine.on("nowhere"), 6, "nowhere cannot be reached: ssh: Could not resolve hostname nowhere"},
      {machine.on("locked"), 6, "let ssh log in with a key (ssh-copy-id locked)"},
      {machine.on("stranger"), 6, "ssh stranger in a terminal shows it"},
      {machine.on("nologin"), 6, "nologin answers, but runs no sh: This account is currently not available."},
      {machine.on("arm"), 6, "the package is for Linux x86_64"},
      {machine.on("bare"), 6, "bare has no NVIDIA GPU, or no driver"},
      {machine.on("flooding"), 6, "flooding: ssh writes without end; it was ended after 64 MiB (see what 'ssh flooding true' prints"},
      {machine.on("grumbling"), 6, "grumbling: ssh writes without end"},
      {machine.on("full"), 6, "nothing could be written to a folder of its own on full: mktemp"},
      {machine.on("-oProxyCommand=touch"), 3, "a host does not begin with '-'"},
      {machine.on("$(touch x)"), 3, "no blanks, quotes or other signs of a shell"},
      {" --on box --package /nowhere/package.tar.gz", 3, "/nowhere/package.tar.gz"},
      {" --on box --package '" + heddle::test::repository_path("README.md") + "'", 3, "is no package for servers"},
      {" --on box --remote-program '~/no such/heddle'", 6, "there is no program ~/no such/heddle on box"},
      {" --on box --remote-program false", 6, "false does not run on box"},
      {" --package x", 2, "--package goes with --on HOST"},
  };
  for (const Case& c : cases) {
    const Outcome text = heddle_says("run --no-time " + kGemm + c.words);
    INFO(c.words << "\n" << text.err);
    CHECK(text.code == c.code);
    CHECK(text.out.empty());
    CHECK(holds(text.err, c.says));
    CHECK(machine.clean());
  }
  const Outcome none = heddle_says("run --no-time " + kGemm + machine.on("box"), "PATH=/nowhere");
  CHECK(none.code == 6);
  CHECK(holds(none.err, "there is no ssh on this machine (install OpenSSH's client)"));
  const Outcome json = heddle_says("run --no-time --json " + kGemm + machine.on("nowhere"));
  CHECK(json.code == 6);
  CHECK(holds(json.out, "\"error\": \"environment\""));
}

TEST_CASE("what a login prints does not disturb", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const Outcome text = heddle_says("run --json --no-time " + kGemm + machine.on("chatty"));
  CHECK(text.code == 0);
  CHECK(parse_measurement(text.out, "out").ok());
  CHECK_FALSE(holds(text.err, "quota"));
}

TEST_CASE("what is compiled here needs no compiler there", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const Outcome run = heddle_says("run --no-color " + kGemm + machine.on("nocompiler"));
  INFO(run.out << run.err);
  CHECK(run.code == 0);
  CHECK(holds(run.out, "verified"));
  const Outcome profile = heddle_says("profile --json " + kGemm + machine.on("nocompiler"));
  INFO(profile.err);
  CHECK(profile.code == 0);
  const auto m = parse_measurement(profile.out, "out");
  REQUIRE(m.ok());
  CHECK(m->profile.has_value());
  CHECK(machine.clean());
  // What is proved here is not known there, and the same text all the same.
  const std::string solved = replaced(kGemm, "'" + heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json") + "'", "");
  const Outcome proved = heddle_says("run --no-time " + solved + machine.on("nocompiler"));
  INFO(proved.err);
  CHECK((proved.code == 0 || holds(proved.err, "no solver")));
  // With a compiler on neither machine it is said there, once.
  const Outcome none =
      heddle_says("run " + kGemm + machine.on("nocompiler"), "HEDDLE_NVRTC=/nowhere/libnvrtc.so HEDDLE_NVCC=/nowhere/nvcc");
  CHECK(none.code == 6);
  CHECK(holds(none.err, "/nowhere/libnvrtc.so"));
}

TEST_CASE("the environment may name the package", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const Outcome text = heddle_says("run --no-time " + kGemm + " --on box", "HEDDLE_PACKAGE='" + machine.package() + "'");
  CHECK(text.code == 0);
  const Outcome wrong = heddle_says("run --no-time " + kGemm + " --on box", "HEDDLE_PACKAGE=package.tar.gz");
  CHECK(wrong.code == 6);
  CHECK(holds(wrong.err, "HEDDLE_PACKAGE"));
}

TEST_CASE("a heddle that is there already needs no package", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  fs::create_directories(machine.folder / "home/my tools");
  fs::copy_file(machine.folder / "heddle-server-9/bin/heddle", machine.folder / "home/my tools/heddle");
  const Outcome text = heddle_says("run --no-time " + kGemm + " --on box --remote-program '~/my tools/heddle'");
  INFO(text.err);
  CHECK(text.code == 0);
  CHECK(holds(text.out, "verified"));
}

TEST_CASE("where the connection is lost the kernel is not left running", "[gpu]") {
  const FakeGpu gpu("hang");
  const OtherMachine machine;
  const Outcome text = heddle_says("run --no-time --limit 30 " + kGemm + machine.on("lost"));
  INFO(text.err);
  CHECK(text.code == 6);
  CHECK(holds(text.err, "the connection to lost was lost while the kernel ran: client_loop: send disconnect: Broken pipe"));
  CHECK(holds(text.err, "run it again"));
  CHECK(machine.clean_soon());
}

TEST_CASE("Ctrl-C ends the run there too", "[gpu]") {
  const FakeGpu gpu("hang");
  const OtherMachine machine;
  const std::string schedule = heddle::test::repository_path("tests/schedules/gemm_hopper_h100.json");
  Process heddle({{HEDDLE_PROGRAM, "run", "gemm_hopper", "h100", schedule, "-p", "M=256", "-p", "N=256", "-p", "K=320", "--limit", "30",
                   "--on", "box", "--package", machine.package(), "--quiet"}});
  REQUIRE(heddle.failure() == 0);
  const auto begun = [&] { return fs::exists(machine.folder / "tmp") && !machine.clean(); };
  REQUIRE(heddle::test::wait_until(begun));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  heddle.send(SIGINT);
  CHECK(heddle.wait().code == 130);
  CHECK(machine.clean_soon());
}

TEST_CASE("a machine is calibrated where its GPU is", "[gpu]") {
  const FakeGpu gpu;
  const OtherMachine machine;
  const Outcome refused = heddle_says("calibrate h100 --emit-only x" + machine.on("box"));
  CHECK(refused.code == 2);
  const std::string file = (machine.folder / "machine.json").string();
  const Outcome made = heddle_says("calibrate h100 --compiler nvrtc --out '" + file + "'" + machine.on("box"));
  INFO(made.err);
  CHECK(made.code == 0);
  CHECK(holds(made.out, "measured on fake GPU, driver CUDA 13.0"));
  const auto calibrated = read_machine(file);
  REQUIRE(calibrated.ok());
  CHECK(calibrated->find_rule("exp2")->source.starts_with("measured: heddle calibrate on fake GPU"));
}
