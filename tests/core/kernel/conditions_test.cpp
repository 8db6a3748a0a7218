// Sizes that a kernel does not compute with are refused by name, and with all others it computes the whole of its formula.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "core/formats/kernel_json.h"
#include "core/kernel/conditions.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "core/patterns/pattern.h"
#include "core/problem/resolve.h"

using namespace heddle;

namespace {

std::string said(const Kernel& kernel, const Scope& params) {
  const auto scope = parameter_scope(kernel, params, false);
  return scope ? "" : to_string(scope.error());
}

std::string without_file(const Kernel& kernel, const Scope& params) {
  Kernel nameless = kernel;
  nameless.source.clear();
  return said(nameless, params);
}

/// Lengths up to some tiles, half of them whole ones; of what a tuner may choose, a choice; counts small.
Scope random_sizes(const Kernel& kernel, std::mt19937_64& random) {
  Scope sizes;
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (const Param& param : kernel.params) {
    const std::int64_t small = param.eval_value.value_or(param.value);
    if (!param.choices.empty())
      sizes[param.name] = param.choices[static_cast<std::size_t>(below(static_cast<std::int64_t>(param.choices.size())))];
    else if (small < 64)
      sizes[param.name] = 1 + below(std::min<std::int64_t>(small + 2, 12));
    else if (!param.eval_value && below(4) > 0)
      continue;  // a tile's size
    else
      sizes[param.name] = below(2) == 0 ? 1 + below(400) : 64 * (1 + below(8));
  }
  return sizes;
}

/// Tries 200 sizes and computes with at most so many of those that are taken.
void try_sizes(const Kernel& kernel, std::uint64_t seed, int most) {
  std::mt19937_64 random(seed);
  int taken = 0;
  for (int k = 0; k < 200; ++k) {
    const Scope sizes = random_sizes(kernel, random);
    std::string text;
    for (const auto& [name, value] : sizes) text += fmt::format(" -p {}={}", name, value);
    if (!parameter_scope(kernel, sizes, true) || taken >= most) continue;
    const auto report = evaluate(kernel, sizes, 1 + random() % 1000);
    INFO("eval " << kernel.name << text << ", seed " << seed << ": " << (report ? "" : to_string(report.error())));
    if (!report) {
      CHECK_FALSE(report.error().faults.empty());
      continue;
    }
    ++taken;
    for (const TensorComparison& tensor : report->tensors)
      UNSCOPED_INFO(tensor.tensor << ": " << tensor.beyond << " elements are off, " << tensor.not_finite << " not finite, worst "
                                  << tensor.worst);
    CHECK(report->pass);
  }
  INFO(kernel.name);
  CHECK(taken > 0);
}

void try_all_kernels(int most) {
  std::uint64_t seed = 20261127;
  for (const LibraryEntry& entry : list_library(Shelf::Kernels)) try_sizes(load_kernel(entry.name).value(), ++seed, most);
  for (const Pattern& pattern : patterns())
    for (const char* mask : {"none", "causal", "blocks"}) {
      const bool backward = pattern.name == "attention_backward" && mask != std::string("blocks");
      if (pattern.name != "attention" && !backward && mask != std::string("none")) continue;
      PatternChoices choices;
      if (backward) choices = {{"mask", mask}, {"head_size", "64"}, {"group", "2"}};
      if (pattern.name == "attention") choices = {{"mask", mask}, {"q_len", "8448"}};
      try_sizes(kernel_of(pattern, choices).value(), ++seed, most);
    }
}

constexpr const char* kSteps = R"({"schema": "heddle.kernel/1", "name": "steps",
  "params": [{"name": "N", "value": 128}, {"name": "STEP", "value": 32, "choices": [16, 32, 40]}], CONDITIONS
  "tensors": [{"name": "X", "dtype": "f32", "shape": ["N", 64], "role": "input"}],
  "loop": {"variable": "i", "trips": "N / STEP"},
  "values": [{"name": "x", "dtype": "f32", "shape": ["STEP", 64], "space": "smem"}],
  "body": [{"name": "load", "kind": "tma_load", "tensor": "X", "at": ["i*STEP", 0], "out": ["x"]}]})";

Kernel steps(const std::string& conditions = {}) {
  std::string text = kSteps;
  text.replace(text.find("CONDITIONS"), 10, conditions);
  const auto kernel = parse_kernel(text, "steps.json");
  if (!kernel) FAIL(to_string(kernel.error()));
  return *kernel;
}

}  // namespace

TEST_CASE("lengths that are no multiple of a step are refused with the values and the nearest that would do", "[core]") {
  const Kernel kernel = steps(R"("conditions": [{"expr": "N % STEP == 0", "about": "rows are read in whole steps"}],)");
  CHECK(without_file(kernel, {{"STEP", 40}, {"N", 8192}}) ==
        "/conditions/0: N % STEP == 0 does not hold with N = 8192, STEP = 40: rows are read in whole steps (N = 8160 or 8200; or STEP = "
        "32 would do)");
  CHECK(said(kernel, {{"STEP", 40}, {"N", 40}}) == "");
  const Kernel causal = load_kernel("attention_forward_causal_hopper").value();
  CHECK(said(causal, {{"KV_LEN", 8200}, {"Q_LEN", 8200}}) == "");
  CHECK(without_file(causal, {{"KV_LEN", 128}, {"Q_LEN", 256}}) ==
        "/conditions/0: KV_LEN >= Q_LEN does not hold with KV_LEN = 128, Q_LEN = 256: the mask is aligned at the last query and the last "
        "key, so every query sees a key (KV_LEN = 256; or Q_LEN = 128 would do)");
}

TEST_CASE("whoever resolves a kernel, or computes with it, hears of the same broken condition", "[core]") {
  const Kernel kernel = load_kernel("attention_block_sparse_hopper").value();
  const Scope params{{"KV_LEN", 8200}};
  const std::string sentence = said(kernel, params);
  CHECK(sentence.find("KV_LEN % KV == 0 does not hold") != std::string::npos);
  CHECK(to_string(resolve(kernel, load_machine("h100").value(), params).error()) == sentence);
  CHECK(to_string(evaluate(kernel, {{"KV_LEN", 8200}, {"HEADS", 12}, {"Q_LEN", 8192}}).error()) == sentence);
}

TEST_CASE("a division in sizes that leaves a remainder is refused, conditions or none", "[core]") {
  const std::string sentence =
      "steps.json: /loop/trips: \"N / STEP\" leaves a remainder with N = 100, STEP = 32: as the number of trips, it would drop what is "
      "left "
      "(N = 96 or 128 would do)";
  CHECK(said(steps(), {{"N", 100}}) == sentence);
  CHECK(said(steps(R"("conditions": [{"expr": "N >= STEP"}],)"), {{"N", 100}}) == sentence);
  CHECK(said(steps(), {{"N", 120}}) ==
        "steps.json: /loop/trips: \"N / STEP\" leaves a remainder with N = 120, STEP = 32: as the number of trips, it would drop what is "
        "left "
        "(N = 96 or 128; or STEP = 40 would do)");
  CHECK(said(steps(), {{"N", 96}}) == "");
  Kernel grid = steps();
  grid.loop.trips = Expr(2);
  grid.grid.push_back({"b", Expr::parse("N / 24").value()});
  CHECK(said(grid, {}).find("as the size of the grid along b, it would drop what is left") != std::string::npos);
  grid.grid[0].size = Expr::parse("ceil_div(N, 24)").value();
  CHECK(said(grid, {}) == "");
  grid.values[0].shape[0] = Expr::parse("STEP / 3").value();
  CHECK(said(grid, {}).find("an extent of tile 'x'") != std::string::npos);
}

TEST_CASE("conditions are of the parameters, and survive being written and read", "[core]") {
  const Kernel kernel = steps(R"("conditions": [{"expr": "N % 4 == 0", "about": "four at a time"}, {"expr": "N > STEP"}],)");
  REQUIRE(kernel.conditions.size() == 2);
  const std::string text = kernel_text(kernel);
  CHECK(kernel_text(parse_kernel(text, "steps.json").value()) == text);
  CHECK(said(kernel, {{"N", 32}}) ==
        "steps.json: /conditions/1: N > STEP does not hold with N = 32, STEP = 32 (N = 64; or STEP = 16 would do)");
  std::string bad = kSteps;
  bad.replace(bad.find("CONDITIONS"), 10, R"("conditions": [{"expr": "M % 4 == 0"}, {"about": "nothing"}],)");
  const auto read = parse_kernel(bad, "steps.json");
  REQUIRE_FALSE(read.ok());
  const std::string faults = to_string(read.error());
  CHECK(faults.find("/conditions/0/expr: unknown name 'M'") != std::string::npos);
  CHECK(faults.find("/conditions/1") != std::string::npos);
}

TEST_CASE("200 random sizes of some shipped kernels: refused, or the whole formula comes out", "[core]") {
  for (const char* name : {"gemm_hopper", "layernorm", "gemm_blackwell", "attention_forward_hopper"})
    try_sizes(load_kernel(name).value(), 20261127, 2);
}

TEST_CASE("the same of every shipped kernel and pattern", "[core][.slow]") { try_all_kernels(200); }
