// Sizes: which numbers of a launch are one, and launches worth a look.
#include "ptx/launch/sizes.h"

#include <catch2/catch.hpp>

#include "ptx/launch/by_hand.h"
#include "ptx/launch/parameter_type.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

/// C = A B: maps of A [M, K] and B [K, N], then M, N, K, a row pitch of 64 bits, and a pointer.
Launch gemm(std::uint64_t m = 512, std::uint64_t n = 768, std::uint64_t k = 1024) {
  std::vector<EntryParameter> entry = {{"a", 0, 128, 64, false, ""},   {"b", 128, 128, 64, false, ""}, {"m", 256, 4, 4, false, "b32"},
                                       {"n", 260, 4, 4, false, "b32"}, {"k", 264, 4, 4, false, "b32"}, {"pitch", 272, 8, 8, false, "b64"},
                                       {"out", 280, 8, 8, true, "b64"}};
  const auto text = [](std::uint64_t number) { return std::to_string(number); };
  HandWords words;
  words.grid = "8", words.block = "384";
  words.maps = {"0=A 64x128 bf16 swizzle128 of " + text(k) + "x" + text(m), "128=B 64x64 bf16 swizzle128 of " + text(n) + "x" + text(k)};
  words.parameters = {"m=" + text(m), "n=" + text(n), "k=" + text(k), "pitch=" + text(k)};
  Launch base;
  base.names = {{"M", 256, "u32"}, {"N", 260, "u32"}, {"K", 264, "u32"}};
  auto made = launch_by_hand(words, entry, base);
  INFO((made.ok() ? "" : to_string(made.error())));
  REQUIRE(made.ok());
  return *made;
}

std::uint64_t word(const Launch& launch, std::size_t at, std::size_t bytes = 4) {
  return number_of(std::span(launch.parameters).subspan(at, bytes));
}

std::string told(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

std::string said(const Launch& launch, const std::string& size) {
  const auto made = resized(launch, {*read_size(size)});
  return made.ok() ? "" : to_string(made.error());
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a size by its name changes its word, words of its value without a name, extents and strides", "[ptx]") {
  const auto made = resized(gemm(), {*read_size("K=320")});
  REQUIRE(made.ok());
  CHECK(word(made->launch, 264) == 320);
  CHECK(word(made->launch, 272, 8) == 320);
  CHECK(word(made->launch, 256) == 512);
  CHECK(made->launch.maps[0].map.extents == std::vector<std::uint64_t>{320, 512});
  CHECK(made->launch.maps[0].map.strides == std::vector<std::uint64_t>{640});
  CHECK(made->launch.maps[1].map.extents == std::vector<std::uint64_t>{768, 320});
  CHECK(made->launch.maps[1].map.strides == std::vector<std::uint64_t>{1536});
  CHECK(made->launch.grid == gemm().grid);
  CHECK(made->launch.buffers[0].bytes == 320 * 512 * 2);
  const std::string lines = told(made->told);
  INFO(lines);
  CHECK(has(lines, "K: 1024 at A.0, B.1, K, 272 becomes 320"));
  CHECK(has(lines, "the grid stays 8 x 1 x 1"));
}

TEST_CASE("sizes that change places do not meet", "[ptx]") {
  const auto made = resized(gemm(), {*read_size("M=768"), *read_size("N=512")});
  REQUIRE(made.ok());
  CHECK(word(made->launch, 256) == 768);
  CHECK(word(made->launch, 260) == 512);
  CHECK(made->launch.maps[0].map.extents[1] == 768);
  CHECK(made->launch.maps[1].map.extents[0] == 512);
}

TEST_CASE("a value of two parameters is asked about, and places can be named", "[ptx]") {
  const Launch square = gemm(1024, 768, 1024);
  CHECK(has(said(square, "K=320"), "M or K are all 1024: which of the extents A.0, A.1 or B.1 are K?"));
  const auto made = resized(square, {*read_size("K=320:A.0,B.1,272")});
  REQUIRE(made.ok());
  CHECK(made->launch.maps[0].map.extents == std::vector<std::uint64_t>{320, 1024});
  CHECK(word(made->launch, 256) == 1024);
  CHECK(word(made->launch, 264) == 320);
  const auto both = resized(square, {*read_size("1024=320")});
  REQUIRE(both.ok());
  CHECK(both->launch.maps[0].map.extents == std::vector<std::uint64_t>{320, 320});
  CHECK(word(both->launch, 256) == 320);
}

TEST_CASE("what a size cannot be is said", "[ptx]") {
  CHECK(has(said(gemm(), "Q=320"), "nothing is called 'Q'"));
  CHECK(has(said(gemm(), "77=320"), "nothing is 77"));
  CHECK(has(said(gemm(), "K=0"), "a size is 1 to"));
  CHECK(has(said(gemm(), "K=321"), "/maps/0/strides/0: a stride is a multiple of 16 bytes"));
  CHECK(has(said(gemm(), "K=320:A.1"), "A.1 is 512, and not 1024 as K"));
  for (const char* bad : {"", "K", "=3", "K=", "K=x", "K=1:", "K=-1"}) {
    INFO(bad);
    const auto read = read_size(bad);
    CHECK((!read.ok() || !resized(gemm(), {*read}).ok()));
  }
  CHECK(size_text(*read_size("K=320:A.0,B.1")) == "K=320:A.0,B.1");
}

TEST_CASE("sizes worth a look: few trips, odd trips, three tiles, a short tile", "[ptx]") {
  std::vector<std::string> left_out;
  const auto proposed = proposed_sizes(gemm(), {"K", 64, 4, "M", 128, 2}, &left_out);
  INFO(told(left_out));
  REQUIRE(proposed.size() == 5);
  CHECK(word(proposed[0].launch, 264) == 64);
  CHECK(proposed[0].why == "one trip");
  CHECK(word(proposed[1].launch, 264) == 192);
  CHECK(word(proposed[2].launch, 264) == 576);
  CHECK(proposed[3].launch.grid[0] == 6);
  CHECK(word(proposed[4].launch, 256) == 448);
  CHECK(left_out.empty());
  CHECK(proposed_sizes(gemm(), {}).empty());
  CHECK(proposed_sizes(gemm(512, 768, 64), {"K", 64, 1, "", 0, 1}).empty());  // the launch is that already
}
