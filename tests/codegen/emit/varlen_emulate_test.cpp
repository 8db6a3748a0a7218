// Attention over sequences of their own lengths: the text, run on the CPU, against heddle eval, which the formula is compared with.
#include <algorithm>
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include "codegen/emit/emit.h"
#include "codegen/interpret/interpret.h"
#include "core/base/random.h"
#include "core/kernel/evaluate.h"
#include "core/kernel/index_data.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using test::run_text;

namespace {

using Lengths = std::vector<std::int64_t>;

std::vector<std::int64_t> starts_of(const Lengths& lengths) {
  std::vector<std::int64_t> starts{0};
  for (const std::int64_t length : lengths) starts.push_back(starts.back() + length);
  return starts;
}

Scope given_to(const test::Lowering& from) {
  Scope given;
  for (const auto& [key, value] : from.problem.params) given[key] = value;
  return given;
}

/// The kernel for sequences of these lengths.
test::Lowering with_lengths(const std::string& name, Scope sizes, const Lengths& queries, const Lengths& keys) {
  const auto of_queries = starts_of(queries), of_keys = starts_of(keys);
  sizes["SEQUENCES"] = static_cast<std::int64_t>(queries.size());
  sizes["TOTAL_Q"] = of_queries.back(), sizes["TOTAL_KV"] = of_keys.back();
  sizes["MAX_Q"] = *std::max_element(queries.begin(), queries.end());
  sizes["MAX_KV"] = *std::max_element(keys.begin(), keys.end());
  test::Lowering from = test::lowering(name, sizes);
  for (Tensor& tensor : from.kernel.tensors)
    if (tensor.role == TensorRole::Index) tensor.data = IndexData{"", std::nullopt, tensor.name == "cu_seqlens_q" ? of_queries : of_keys};
  const auto machine = load_machine(test::repository_path(fmt::format("assets/machines/{}.json", from.problem.machine)));
  const auto problem = resolve(from.kernel, *machine, given_to(from));
  if (!problem) FAIL(to_string(problem.error()));
  from.problem = *problem;
  return from;
}

void formula_agrees(const test::Lowering& from) {
  const auto report = evaluate(from.kernel, given_to(from));
  if (!report) FAIL(to_string(report.error()));
  for (const TensorComparison& tensor : report->tensors) {
    INFO(tensor.tensor << ": " << tensor.worst);
    CHECK(tensor.pass);
  }
}

Lengths random_lengths(std::size_t count, std::int64_t most, std::uint64_t seed) {
  SplitMix64 random(seed);
  Lengths lengths;
  for (std::size_t s = 0; s < count; ++s)
    lengths.push_back(static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most + 1)));
  lengths[random.next() % count] = most;
  return lengths;
}

}  // namespace

TEST_CASE("the text of attention computes what heddle eval computes, whatever the lengths of its sequences", "[codegen][.slow]") {
  for (const char* name : {"attention_forward_varlen_hopper", "attention_forward_causal_varlen_hopper",
                           "attention_forward_varlen_blackwell", "attention_forward_causal_varlen_blackwell"}) {
    INFO(name);
    const test::Lowering few = with_lengths(name, {{"HEADS", 2}}, {3, 0, 128, 300, 200}, {5, 7, 129, 400, 100});
    formula_agrees(few);
    CHECK(run_text(few, 3) < 4e-3);
    for (const std::uint64_t seed : {1, 2}) {
      INFO("seed " << seed);
      const test::Lowering any = with_lengths(name, {{"HEADS", 1}}, random_lengths(4, 300, seed), random_lengths(4, 500, seed + 10));
      formula_agrees(any);
      CHECK(run_text(any, 2) < 4e-3);
    }
  }
}

TEST_CASE("sequences of 3, 512 and 4097 queries and keys go through one launch", "[codegen][.slow]") {
  const test::Lowering from = with_lengths("attention_forward_varlen_hopper", {{"HEADS", 1}}, {3, 512, 4097}, {3, 512, 4097});
  CHECK(run_text(from, 3) < 4e-3);
}

TEST_CASE("one text serves any number of sequences of any lengths", "[codegen][.slow]") {
  const auto sizes = [](std::int64_t sequences, std::int64_t most, std::int64_t queries, std::int64_t keys) {
    return Scope{{"SEQUENCES", sequences}, {"HEADS", 2}, {"MAX_Q", most}, {"MAX_KV", most}, {"TOTAL_Q", queries}, {"TOTAL_KV", keys}};
  };
  for (const char* name : {"attention_forward_varlen_hopper", "attention_forward_causal_varlen_hopper"})
    CHECK(test::run_with_sizes(name, {sizes(1, 1, 1, 1), sizes(3, 200, 350, 500), sizes(2, 400, 500, 127)}, 2) < 4e-3);
}

TEST_CASE("LSE of sequences of any lengths stands in a place for the longest", "[codegen][.slow]") {
  for (const char* name : {"attention_forward_varlen_hopper", "attention_forward_varlen_blackwell"}) {
    const test::Lowering from = with_lengths(name, {{"HEADS", 2}, {"LSE", 1}}, {256, 256, 256}, {5, 0, 700});
    formula_agrees(from);
    CHECK(run_text(from, 2) < 4e-3);
  }
}

TEST_CASE("the text of attention backward computes what heddle eval computes, whatever the lengths of its sequences", "[codegen][.slow]") {
  for (const char* name : {"attention_backward_varlen_hopper", "attention_backward_causal_varlen_hopper",
                           "attention_backward_varlen_blackwell", "attention_backward_causal_varlen_blackwell"}) {
    INFO(name);
    const test::Lowering from = with_lengths(name, {{"HEADS", 2}}, {3, 0, 128, 250, 130}, {5, 7, 129, 290, 100});
    formula_agrees(from);
    CHECK(run_text(from, 3) < 4e-3);
  }
}

TEST_CASE("Delta of sequences of any lengths stands where LSE does", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_delta_varlen", {{"SEQUENCES", 4}, {"HEADS", 2}, {"MAX_Q", 200}, {"TOTAL_Q", 350}});
  formula_agrees(from);
  CHECK(run_text(from, 3) < 1e-5);
}

TEST_CASE("a store that does not stop where its sequence ends is found out", "[codegen][.slow]") {
  const test::Lowering from = with_lengths("attention_forward_varlen_hopper", {{"HEADS", 2}}, {3, 100, 128}, {5, 129, 60});
  CHECK(run_text(from, 3) < 4e-3);
  // The blocks come one after the other, and the second sequence in the last of them.
  CHECK(run_text(from, 3, {"if (rows >= 64) {", "if (rows >= 0) {"}) > 4e-3);
}

TEST_CASE("programs of sequences of any lengths survive interleavings and compute what heddle eval computes", "[codegen]") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    INFO("seed " << seed);
    const test::Lowering from =
        with_lengths("attention_forward_varlen_hopper", {{"HEADS", 1}}, random_lengths(3, 200, seed), random_lengths(3, 400, seed + 10));
    const Scope scope = *parameter_scope(from.kernel, given_to(from), false);
    TensorMap tensors = *make_tensors(from.kernel, scope, 1), expected = tensors;
    REQUIRE(execute(from.kernel, scope, expected).ok());
    const auto fault = codegen::run_with_data(from.kernel, test::program_of(from), tensors, {.seed = seed, .tiles = 3});
    REQUIRE(fault.ok());
    if (*fault) FAIL(to_string(**fault));
    CHECK(tensors.find("O")->second.array.data == expected.find("O")->second.array.data);
  }
}
