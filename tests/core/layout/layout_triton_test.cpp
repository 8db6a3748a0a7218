// Layouts as Triton prints them, as layouts: the same places as the names and notations that mean the same.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/layout/known.h"
#include "core/layout/reader.h"
#include "core/triton/read/as_layout.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

using Axis = LayoutAxis;

triton::PrintedLayout printed(const std::string& text, const LayoutContext& context = {}) {
  const Result<triton::PrintedLayout> layout = triton::read_layout(text, context, "file", "/x");
  INFO(text << ": " << (layout ? "" : to_string(layout.error())));
  REQUIRE(layout);
  CHECK(faults_of(layout->layout).empty());
  return *layout;
}
std::string printed_fault(const std::string& text, const LayoutContext& context = {}) {
  const Result<triton::PrintedLayout> layout = triton::read_layout(text, context, "file.json", "/x");
  if (layout) return "none";
  CHECK(layout.error().faults.front().file == "file.json");
  CHECK(layout.error().faults.front().pointer == "/x");
  return layout.error().faults.front().message;
}
Layout notation(const std::string& text, const LayoutContext& context = {}) {
  const Result<Layout> layout = parse_layout(text, context);
  REQUIRE(layout);
  return *layout;
}

const std::string kMma = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>";

}  // namespace

TEST_CASE("the mmas' layouts that Triton prints are the accumulator, the operand and their statistics") {
  CHECK(same_places(printed("tensor<64x64xf32, " + kMma + ">").layout, accumulator_layout(64)));
  CHECK(printed("tensor<64x64xf32, " + kMma + ">").bits == 32);
  CHECK(same_places(printed("#mma = " + kMma + "\ntensor<64x128xf32, #mma>").layout, accumulator_layout(128)));
  CHECK(same_places(printed("#mma = " + kMma, {{64, 64}, 32}).layout, accumulator_layout(64)));
  for (const int bits : {8, 16})
    CHECK(
        same_places(printed(fmt::format("#ttg.dot_op<{{opIdx = 0, parent = {}, kWidth = {}}}>", kMma, 32 / bits), {{64, 64}, bits}).layout,
                    operand_layout(64, bits)));
  // Triton numbers no registers that hold what others hold.
  CHECK(same_places(printed("#ttg.slice<{dim = 1, parent = " + kMma + "}>", {{64}, 32}).layout,
                    without_dimension(accumulator_layout(64), 1)));
  CHECK(same_places(
      printed("tensor<64x64xf16, #ttg.linear<{register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], "
              "[2, 0], [4, 0]], warp = [[16, 0], [32, 0]], block = []}>>")
          .layout,
      accumulator_layout(64)));
}

TEST_CASE("a blocked layout gives each thread its block, threads theirs, warps theirs, over and over") {
  const Layout layout =
      printed("#blocked = #ttg.blocked<{sizePerThread = [1, 4],\n threadsPerWarp = [4, 8], warpsPerCTA = [4, 1],\n order = [1, 0]}>",
              {{32, 64}, 16})
          .layout;
  const LayoutReader reader(layout);
  bool same = true;
  for (int r = 0; r < 16; ++r)
    for (int l = 0; l < 32; ++l)
      for (int w = 0; w < 4; ++w) {
        LayoutPlace place;
        place[Axis::Register] = r, place[Axis::Lane] = l, place[Axis::Warp] = w;
        const int row = l / 8 + 4 * w + 16 * (r / 8), column = r % 4 + 4 * (l % 8) + 32 * (r / 4 % 2);
        same = same && reader.element(place) == row * 64 + column;
      }
  CHECK(same);
}

TEST_CASE("shared memory as Triton prints it is CuTe's swizzle and TMA's panels") {
  const std::string shared = "#ttg.swizzled_shared<{{vec = {}, perPhase = {}, maxPhase = {}, order = [{}]}}>";
  const auto swizzled = [&](int vec, int per, int most, const std::string& order, std::vector<std::int64_t> shape) {
    return printed(fmt::format(fmt::runtime(shared), vec, per, most, order), {std::move(shape), 16}).layout;
  };
  CHECK(same_places(swizzled(8, 1, 8, "1, 0", {64, 64}), notation("Sw<3,3,3> o (64,64):(64,1)")));
  CHECK(same_places(swizzled(8, 2, 4, "1, 0", {64, 32}), *panels_layout(64, 32, 16, 64)));
  CHECK(same_places(swizzled(8, 1, 8, "0, 1", {64, 64}), notation("Sw<3,3,3> o (64,64):(1,64)")));
  CHECK(same_places(swizzled(1, 1, 1, "1, 0", {32, 64}), rows_layout(32, 64)));
  const auto box = [&](int bytes, bool transposed, std::vector<std::int64_t> shape) {
    return printed(fmt::format("#ttg.nvmma_shared<{{swizzlingByteWidth = {}, transposed = {}, elementBitWidth = 16}}>", bytes, transposed),
                   {std::move(shape), 16})
        .layout;
  };
  for (const int bytes : {32, 64, 128}) CHECK(same_places(box(bytes, false, {128, 128}), *panels_layout(128, 128, 16, bytes)));
  CHECK(same_places(box(128, true, {64, 128}), notation("Sw<3,3,3> o ((64),(128)):((1),(64))")));
  CHECK(same_places(box(128, false, {2, 64, 64}), notation("Sw<3,3,3> o (2,64,64):(4096,64,1)")));
  CHECK(same_places(box(0, false, {16, 32}), notation("(16,(8,4)):(8,(1,128))")));
  CHECK(printed("#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
                "!ttg.memdesc<128x64xbf16, #shared, #smem, mutable>")
            .bits == 16);
  CHECK(same_places(printed("#ttg.shared_linear<{offset = [[0, 1], [0, 2], [1, 0], [2, 0]], block = []}, alignment = 16>").layout,
                    rows_layout(4, 4)));
  CHECK(same_places(printed("Sw<3,3,3> o (64,64):(64,1)").layout, notation("Sw<3,3,3> o (64,64):(64,1)")));
}

TEST_CASE("every register layout of the kept Triton texts is one of ours, with the elements of Triton's bases") {
  std::size_t understood = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::repository_path("tests/triton/texts"))) {
    std::ifstream file(entry.path());
    std::string line, head;
    std::set<std::string> types;
    while (std::getline(file, line)) {
      if (line.starts_with("#") && line.find("loc(") == std::string::npos) head += line + "\n";
      for (std::size_t at = line.find("tensor<"); at != std::string::npos; at = line.find("tensor<", at + 1)) {
        const std::size_t end = line.find('>', at), name = line.find('#', at);
        if (end == std::string::npos || name == std::string::npos || name > end || line.find('!', at) < end || line.find('<', at + 7) < end)
          continue;
        types.insert(line.substr(at, end - at + 1));
      }
    }
    if (head.size() > 20000) continue;
    for (const std::string& type : types) {
      const Result<triton::PrintedLayout> layout = triton::read_layout(head + type, {});
      if (!layout) {
        // Blocks that share a tile, and extents that are no power of two, are said, not guessed.
        CHECK_THAT(layout.error().faults.front().message, Catch::Contains("no layout is known"));
        continue;
      }
      CHECK(faults_of(layout->layout).empty());
      ++understood;
    }
  }
  CHECK(understood > 50);
}

TEST_CASE("what is pasted and is no layout of Triton is a fault that says what is missing") {
  CHECK_THAT(printed_fault(kMma), Catch::Contains("needs the shape"));
  CHECK_THAT(printed_fault("#mma"), Catch::Contains("needs the shape"));
  CHECK_THAT(printed_fault("#ttg.amd_mfma<{version = 3}>", {{64, 64}, 16}), Catch::Contains("no layout is known that #amd_mfma"));
  CHECK_THAT(printed_fault("#ttg.blocked<{sizePerThread = [1, 4]}>", {{64, 64}, 16}), Catch::Contains("no layout is known"));
  CHECK_THAT(printed_fault("tensor<64x48xf32, " + kMma + ">"), Catch::Contains("no layout is known"));
  CHECK_THAT(printed_fault("tensor<64x64xf32, " + kMma + ">", {{32, 64}, 32}), Catch::Contains("the tile is (32, 64)"));
  CHECK_THAT(printed_fault("tensor<"), Catch::Contains("type of a tile"));
  CHECK_THAT(printed_fault("!tt.ptr<f16>"), Catch::Contains("type of a tile"));
  CHECK_THAT(printed_fault("tensor<99999999999x9999999999xf16, " + kMma + ">"), Catch::Contains("type of a tile"));
  CHECK_THAT(printed_fault("tensor<99999999x64xf16, " + kMma + ">"), Catch::Contains("at most"));
  CHECK_THAT(printed_fault("#" + std::string(1 << 20, '<')), Catch::Contains("characters"));
  CHECK(printed_fault("#" + std::string(60000, '<')) != "none");
  CHECK(printed_fault("#a = #a\n#a", {{64, 64}, 16}) != "none");
  std::string nested;
  for (int i = 0; i < 2000; ++i) nested += "#ttg.slice<{dim = 0, parent = ";
  CHECK(printed_fault(nested, {{64}, 16}) != "none");
  CHECK(printed_fault("#ttg.swizzled_shared<{vec = 99999999999999999999, perPhase = -1, maxPhase = 0, order = [1, 0]}>", {{64, 64}, 16}) !=
        "none");
  CHECK(printed_fault(
            "#ttg.blocked<{sizePerThread = [1073741824, 1073741824], threadsPerWarp = [1, 32], warpsPerCTA = [1, 1], order = [1, 0]}>",
            {{64, 64}, 16}) != "none");
}
