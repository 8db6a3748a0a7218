// What a kernel file may leave out of its values, because it follows from their ops.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/base/atomic_file.h"
#include "core/formats/kernel_json.h"
#include "core/kernel/infer.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

constexpr const char* kShort = R"({"schema": "heddle.kernel/1", "name": "t", "params": [{"name": "N", "value": 4}],
  "tensors": [{"name": "A", "dtype": "bf16", "shape": ["N", 64], "role": "input"}, {"name": "V", "dtype": "f32", "shape": [64], "role": "input"},
    {"name": "C", "dtype": "bf16", "shape": ["N", 64], "role": "output"}],
  "loop": {"variable": "i", "trips": "N"},
  "values": [{"name": "a", "shape": [16, 64]}, {"name": "v", "shape": [64], "x-note": "kept"}, {"name": "h", "dtype": "bf16"}],
  "prologue": [{"name": "v", "kind": "load", "tensor": "V", "at": [0], "out": ["v"]}],
  "body": [{"name": "a", "kind": "tma_load", "tensor": "A", "at": ["i*16", 0], "out": ["a"]},
    {"name": "r", "kind": "smem_load", "in": ["a"], "out": ["r"]},
    {"name": "s", "kind": "elementwise", "in": ["v", "r"], "out": ["s"], "attrs": {"fn": "add", "axis": 1}},
    {"name": "m", "kind": "reduce_sum", "in": ["s"], "out": ["m"]},
    {"name": "p", "kind": "mma", "in": ["r", "r"], "out": ["p"], "attrs": {"transpose_b": true}},
    {"name": "h", "kind": "convert", "in": ["s"], "out": ["h"]},
    {"name": "o", "kind": "smem_store", "in": ["h"], "out": ["o"]},
    {"name": "c", "kind": "tma_store", "in": ["o"], "tensor": "C", "at": ["i*16", 0]}]})";

std::string said(const TileValue& value) {
  std::string text = std::string(to_string(value.dtype)) + " " + to_string(value.space);
  for (const Expr& extent : value.shape) text += " " + extent.text();
  return text;
}

}  // namespace

TEST_CASE("type, shape and space of values follow from their ops", "[core]") {
  const auto kernel = parse_kernel(kShort, "k.json", nullptr);
  INFO((kernel.ok() ? "" : to_string(kernel.error())));
  REQUIRE(kernel.ok());
  const auto is = [&](const char* name) { return kernel->find_value(name) ? said(*kernel->find_value(name)) : "missing"; };
  CHECK(is("a") == "bf16 smem 16 64");
  CHECK(is("v") == "f32 register 64");
  CHECK(is("r") == "bf16 register 16 64");
  CHECK(is("s") == "f32 register 16 64");
  CHECK(is("m") == "f32 register 16");
  CHECK(is("p") == "f32 register 16 16");
  CHECK(is("h") == "bf16 register 16 64");
  CHECK(is("o") == "bf16 smem 16 64");
}

TEST_CASE("what a file leaves out stays out when it is written, and what it says stays in", "[core]") {
  const auto kernel = parse_kernel(kShort, "k.json", nullptr);
  REQUIRE(kernel.ok());
  const std::string text = kernel_text(*kernel, kShort);
  CHECK(text.find(R"({"name": "a", "shape": [16, 64]})") != std::string::npos);
  CHECK(text.find(R"({"name": "v", "shape": [64], "x-note": "kept"})") != std::string::npos);
  CHECK(text.find(R"({"name": "r"})") == std::string::npos);
  CHECK(kernel_text(*parse_kernel(text, "k.json", nullptr)) == kernel_text(*kernel));
  CHECK(kernel_text(*kernel).find(R"({"name": "r", "dtype": "bf16", "shape": [16, 64], "space": "register"})") != std::string::npos);
  // Said although it follows.
  std::string wordy = kShort;
  wordy.replace(wordy.find(R"({"name": "h")"), 12, R"({"name": "s", "space": "register"}, {"name": "h")");
  const auto again = parse_kernel(wordy, "k.json", nullptr);
  REQUIRE(again.ok());
  CHECK(kernel_text(*again, wordy).find(R"({"name": "s", "space": "register"})") != std::string::npos);
}

TEST_CASE("what does not follow must be said", "[core]") {
  std::string text = kShort;
  const auto replace = [&](const std::string& from, const std::string& to) { text.replace(text.find(from), from.size(), to); };
  replace(R"("a", "shape": [16, 64])", R"("a")");
  replace(R"("h", "dtype": "bf16")", R"("h")");
  const auto kernel = parse_kernel(text, "k.json", nullptr);
  REQUIRE_FALSE(kernel.ok());
  const std::string faults = to_string(kernel.error());
  CAPTURE(faults);
  CHECK(faults.find(
            "k.json: /values/0: nothing says the shape of 'a' (add \"shape\"; it does not follow from the op that defines the value)") !=
        std::string::npos);
  CHECK(faults.find("k.json: /values/2: nothing says the dtype of 'h'") != std::string::npos);
}

TEST_CASE("every shipped kernel and every pattern says the same in brief", "[core]") {
  std::vector<Kernel> kernels;
  for (const auto& file : std::filesystem::directory_iterator(test::repository_path("kernels")))
    if (file.path().extension() == ".json") kernels.push_back(*load_kernel(file.path().string()));
  for (const Pattern& pattern : patterns()) kernels.push_back(*kernel_of(pattern, {}));
  CHECK(kernels.size() > 20);
  for (const Kernel& kernel : kernels) {
    CAPTURE(kernel.name);
    const std::string brief = brief_kernel_text(kernel), whole = kernel_text(kernel);
    const auto read = parse_kernel(brief, "k.json", nullptr);
    INFO((read.ok() ? "" : to_string(read.error())) << brief);
    REQUIRE(read.ok());
    CHECK(brief.size() < whole.size());
    // Values may stand in another order: those without an entry come last.
    REQUIRE(read->values.size() == kernel.values.size());
    for (const TileValue& value : kernel.values) CHECK(said(*read->find_value(value.name)) == said(value));
    CHECK(brief_kernel_text(*read) == brief);
    CHECK(kernel_text(*read, brief) == brief);
  }
}
