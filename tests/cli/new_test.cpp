// heddle new: kernels from patterns, on the command line.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>

#include "app/command/exit_code.h"
#include "codegen/compile/compile.h"
#include "core/patterns/pattern.h"
#include "tests/app/cli_support.h"

using namespace heddle::app;
using heddle::test::contains;
using heddle::test::run_heddle;
using heddle::test::ScratchFolder;
using nlohmann::json;

TEST_CASE("new without a pattern lists patterns with their options", "[app]") {
  const auto run = run_heddle({"new"});
  CHECK(run.code == kDone);
  const json all = json::parse(run_heddle({"new", "--json"}).out)["patterns"];
  REQUIRE(all.size() == heddle::patterns().size());
  for (const json& pattern : all) {
    CHECK(contains(run.out, pattern["name"].get<std::string>() + ": "));
    for (const json& option : pattern["options"])
      CHECK(contains(run.out, option["name"].get<std::string>() + "=" + option["default"].get<std::string>()));
  }
  const auto one = run_heddle({"new", "softmax", "--list"});
  CHECK(contains(one.out, "columns=1024"));
  CHECK_FALSE(contains(one.out, "gemm"));
  CHECK(contains(run_heddle({"new", "--quiet"}).out, "batched_gemm\n"));
}

TEST_CASE("new writes a kernel that the other commands take, and leaves files that exist alone", "[app]") {
  ScratchFolder folder;
  const std::string path = folder.path("mine.json");
  const auto run = run_heddle({"new", "gemm", "bias=yes", "activation=gelu", "tile_n=64", "-o", path});
  CHECK(run.code == kDone);
  CHECK(contains(run.err, "C = gelu(A @ B + Bias)"));
  CHECK(json::parse(heddle::test::read_text(path))["name"] == "mine");
  CHECK(contains(run_heddle({"eval", path}).out, "agrees"));
  CHECK(contains(run_heddle({"solve", path, "h100"}).out, "proved"));
  CHECK(contains(run_heddle({"emit", path, "h100"}).out, "load_bias"));
  const auto again = run_heddle({"new", "gemm", "-o", path});
  CHECK(again.code == kInvalidInput);
  CHECK(contains(again.err, "exists already"));
  CHECK(json::parse(heddle::test::read_text(path))["tensors"].size() == 4);
  CHECK(json::parse(run_heddle({"new", "rmsnorm", "--name", "norm"}).out)["name"] == "norm");
}

TEST_CASE("wrong patterns and options are named, all at once", "[app]") {
  CHECK(run_heddle({"new", "gem"}).code == kUsage);
  const auto run = run_heddle({"new", "gemm", "bais=yes", "n=7", "fast", "--json"});
  CHECK(run.code == kInvalidInput);
  CHECK(contains(run.err, "expected NAME=VALUE, found 'fast'"));
  const auto options = run_heddle({"new", "gemm", "bais=yes", "n=7"});
  CHECK(options.code == kInvalidInput);
  CHECK(contains(options.err, "did you mean 'bias'?"));
  CHECK(contains(options.err, "a multiple of 8"));
  CHECK(run_heddle({"new", "gemm", "n=8", "n=16"}).code == kInvalidInput);
  CHECK(run_heddle({"new", "gemm", "--name", "a\nb"}).code == kInvalidInput);
}

TEST_CASE("GEMM with bias and GELU goes from new to a clean kernel", "[app][.slow]") {
  if (!heddle::codegen::find_compiler(heddle::codegen::Compiler::Auto).ok()) return;
  ScratchFolder folder;
  const std::string path = folder.path("mine.json");
  REQUIRE(run_heddle({"new", "gemm", "bias=yes", "activation=gelu", "-o", path}).code == kDone);
  const auto run = run_heddle({"compile", path, "h100"});
  INFO(run.out << run.err);
  CHECK(run.code == kDone);
  CHECK(contains(run.out, "0 bytes of spills"));
}
