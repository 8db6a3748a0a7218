// Small kernels with one mistake each: nearly all are found, and those that are not are listed with the reason. Edits that change nothing
// raise no alarm.
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ptx/launch/by_hand.h"
#include "ptx/report/check.h"
#include "ptx/text/parse.h"
#include "tests/ptx/small_kernels.h"
#include "tests/support/mutate_text.h"
#include "tests/support/ptx_mutants.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

struct Case {
  std::string text;
  HandWords words;
  /// Mistakes that change nothing of this launch, by kind and line.
  std::map<std::pair<std::string, int>, const char*> not_found;
};

Case ring_case() {
  Case ring{test::small_ring_kernel(), {}, {}};
  ring.words.dynamic_shared = 32768;
  ring.words.maps = {"map_a=A 64x64 bf16 swizzle128 of 512x64", "map_b=B 64x8 bf16 swizzle128 of 512x8"};
  ring.words.parameters = {"result=pointer:2048"};
  ring.not_found = {{{"registers_more", 91}, "a CTA of eight warps has registers for all of them"}};
  return ring;
}

Case columns_case() {
  Case columns{test::small_tensor_memory_kernel(), {}, {}};
  columns.words.dynamic_shared = 40960;
  columns.words.maps = {"map_a=A 64x128 bf16 swizzle128 of 256x128", "map_b=B 64x16 bf16 swizzle128 of 256x16"};
  columns.words.parameters = {"result=pointer:8192"};
  const char* other_fence = "the warp that took the columns is the one that multiplies, and all others fence before they read";
  const char* no_columns = "what was waited for is a copy to shared memory, and no work on tensor memory";
  const char* loads_over = "the loads are over by wait::ld, and the columns are freed behind the CTA's barrier";
  columns.not_found = {{{"drop_tensor_fence", 38}, other_fence},
                       {{"drop_tensor_fence", 40}, other_fence},
                       {{"drop_tensor_fence", 73}, no_columns},
                       {{"drop_tensor_fence", 131}, loads_over},
                       {{"drop_tensor_fence", 134}, loads_over}};
  return columns;
}

PtxModule read(const std::string& text) {
  auto module = parse(text, "test.ptx");
  REQUIRE(module.ok());
  return std::move(module.value());
}

Launch launch_of(const Case& kernel) {
  auto launch = launch_by_hand(kernel.words, entry_parameters(read(kernel.text).functions[0]));
  REQUIRE(launch.ok());
  return std::move(launch.value());
}

Checked checked(const std::string& text, const Launch& launch) {
  auto answer = check(text, "test.ptx", launch, {});
  REQUIRE(answer.ok());
  return std::move(answer.value());
}

/// Both kernels execute every instruction but those behind their last branch.
std::set<int> lines_of(const std::string& text) {
  std::set<int> lines;
  for (const PtxInstruction& instruction : read(text).functions[0].code) lines.insert(instruction.line);
  return lines;
}

}  // namespace

TEST_CASE("small kernels are in order, and nothing of them is doubtful", "[ptx]") {
  for (const Case& kernel : {ring_case(), columns_case()}) {
    const Checked answer = checked(kernel.text, launch_of(kernel));
    CHECK(answer.verdict == CheckVerdict::InOrder);
    CHECK(answer.findings.empty());
    CHECK(answer.stopped == "");
  }
}

TEST_CASE("every mistake that is planted into small kernels is found, or listed with the reason", "[ptx]") {
  for (const Case& kernel : {ring_case(), columns_case()}) {
    const Launch launch = launch_of(kernel);
    auto expected = kernel.not_found;
    int planted = 0;
    for (const test::PtxMutant& mutant : test::ptx_mutants(kernel.text, lines_of(kernel.text))) {
      CAPTURE(mutant.kind, mutant.line);
      ++planted;
      const Checked answer = checked(mutant.text, launch);
      CHECK(answer.verdict != CheckVerdict::Stopped);
      const bool found = !answer.findings.empty();
      const bool listed = expected.erase({mutant.kind, mutant.line}) == 1;
      CHECK(found != listed);
    }
    CHECK(expected.empty());
    CHECK(planted > 35);
  }
}

TEST_CASE("a dropped arrive, a wrong number of bytes and a missing wait for a product are wrong, not doubtful", "[ptx]") {
  const std::set<std::string> kinds = {"drop_arrive",       "expect_more", "expect_half",
                                       "drop_product_wait", "flip_parity", "drop_tensor_commit"};
  for (const Case& kernel : {ring_case(), columns_case()}) {
    const Launch launch = launch_of(kernel);
    for (const test::PtxMutant& mutant : test::ptx_mutants(kernel.text, lines_of(kernel.text))) {
      if (!kinds.contains(mutant.kind)) continue;
      CAPTURE(mutant.kind, mutant.line);
      CHECK(checked(mutant.text, launch).verdict == CheckVerdict::NotInOrder);
    }
  }
}

TEST_CASE("two hundred harmless edits of each small kernel raise no alarm", "[ptx]") {
  for (const Case& kernel : {ring_case(), columns_case()}) {
    const Launch launch = launch_of(kernel);
    for (const test::PtxMutant& edit : test::harmless_ptx_edits(kernel.text, 200, 46)) {
      CAPTURE(edit.kind, edit.line);
      const Checked answer = checked(edit.text, launch);
      CHECK(answer.verdict == CheckVerdict::InOrder);
      CHECK(answer.findings.empty());
    }
  }
}

namespace {

/// Whatever a text says, it is judged, stopped or refused: this run ends, and says one of the three.
void check_damaged(int rounds, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  CheckOptions options;
  options.limit = 30'000;
  options.most_runs = 2;
  options.picture = RunPicture::Lanes;
  const std::vector<Case> kernels{ring_case(), columns_case()};
  const std::vector<std::string> texts{kernels[0].text, kernels[1].text};
  for (int round = 0; round < rounds; ++round) {
    const Case& kernel = kernels[static_cast<std::size_t>(round) % kernels.size()];
    const std::string text = test::mutate_text(kernel.text, texts, random);
    INFO("seed " << seed << ", round " << round);
    const auto answer = check(text, "test.ptx", launch_of(kernel), options);
    if (!answer) {
      REQUIRE_FALSE(answer.error().faults.empty());
      continue;
    }
    REQUIRE((answer->verdict != CheckVerdict::Stopped || !answer->stopped.empty()));
    REQUIRE((answer->verdict != CheckVerdict::NotInOrder || !answer->findings.empty()));
  }
}

}  // namespace

TEST_CASE("a damaged text is judged, stopped or refused", "[ptx]") { check_damaged(300, 46); }

TEST_CASE("ten thousand damaged texts are judged, stopped or refused", "[ptx][.slow]") { check_damaged(10'000, std::random_device{}()); }
