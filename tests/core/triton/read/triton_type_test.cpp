// Types and layouts of Triton's texts: what is printed, and what follows from it.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/atomic_file.h"
#include "core/mlir/module.h"
#include "core/triton/read/linear.h"
#include "core/triton/read/type.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::triton;
using Place = dump::TileType::Space;

namespace {

const mlir::Module& no_aliases() {
  static const mlir::Module module;
  return module;
}
Type type(const std::string& text) { return parse_type(text, no_aliases()); }

const std::string kMma = "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 128, 16]}>";

}  // namespace

TEST_CASE("Triton's types give shape, element, place and layout", "[core]") {
  const Type tile = type("tensor<128x128xf32, " + kMma + ">");
  CHECK(tile.tile.space == Place::Register);
  CHECK(tile.tile.text() == "128x128 f32");
  CHECK(tile.layout.kind == TritonLayout::Kind::NvidiaMma);
  CHECK(tile.layout.warps_per_cta == std::vector<std::int64_t>{8, 1});
  const Type ring = type(
      "!ttg.memdesc<3x64x64xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>, #smem, mutable>");
  CHECK(ring.tile.space == Place::Smem);
  CHECK(ring.tile.bytes() == 24576);
  CHECK(ring.layout.swizzle_bytes == 128);
  CHECK(ring.layout.transposed);
  CHECK_FALSE(ring.barrier);
  const Type barriers =
      type("!ttg.memdesc<3x1xi64, #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #smem, mutable>");
  CHECK(barriers.barrier);
  const Type pointers = type(
      "tensor<64x128x!tt.ptr<bf16>, #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, "
      "0]}>>");
  CHECK(pointers.pointer);
  CHECK(pointers.pointee == "bf16");
  CHECK(pointers.tile.elements() == 64 * 128);
  CHECK(type("!tt.ptr<f16>").pointer);
  CHECK_FALSE(type("!tt.ptr<f16>").tile.tile());
  for (const char* printed : {"!tt.tensordesc<128x64xbf16, #s>", "!tt.tensordesc<tensor<128x64xbf16, #s>>"}) {
    CHECK(type(printed).descriptor);
    CHECK(type(printed).tile.text() == "128x64 bf16");
    CHECK_FALSE(type(printed).tile.tile());
  }
  CHECK(type("!ttg.async.token").tile.space == Place::Token);
  CHECK(type("i32").tile.space == Place::None);
  CHECK(type("!tt.memdesc<64x64xf16, #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>, "
             "#triton_gpu.shared_memory>")
            .layout.kind == TritonLayout::Kind::SharedNvmma);
}

TEST_CASE("an alias stands for its layout, and one that leads to itself for none", "[core]") {
  mlir::Module module;
  module.aliases["#mma"] = kMma;
  module.aliases["#loop"] = "#loop";
  CHECK(parse_type("tensor<128x128xf32, #mma>", module).layout == type("tensor<128x128xf32, " + kMma + ">").layout);
  const TritonLayout slice = parse_layout("#ttg.slice<{dim = 1, parent = #mma}>", module);
  REQUIRE(slice.parent.size() == 1);
  CHECK(slice.parent.front().kind == TritonLayout::Kind::NvidiaMma);
  CHECK(parse_layout("#loop", module).kind == TritonLayout::Kind::Other);
  CHECK(parse_layout("#missing", module).kind == TritonLayout::Kind::Other);
}

TEST_CASE("elements and registers of a thread follow from the layout", "[core]") {
  const Type accumulator = type("tensor<128x128xf32, " + kMma + ">");
  CHECK(elements_per_thread(accumulator, 8) == 64);
  CHECK(registers_per_thread(accumulator, 8) == 64);
  // A row vector under it: 4 lanes of a row hold the same number.
  CHECK(elements_per_thread(type("tensor<128xf32, #ttg.slice<{dim = 1, parent = " + kMma + "}>>"), 8) == 2);
  CHECK(registers_per_thread(type("tensor<128x128xbf16, #ttg.dot_op<{opIdx = 0, parent = " + kMma + ", kWidth = 2}>>"), 8) == 32);
  const std::string blocked = "#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>";
  CHECK(elements_per_thread(type("tensor<128x64xbf16, " + blocked + ">"), 8) == 32);
  // A smaller tile than the layout is held more than once.
  CHECK(elements_per_thread(type("tensor<16x64xbf16, " + blocked + ">"), 8) == 8);
  const Type linear = type(
      "tensor<128x128xf32, #ttg.linear<{register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], lane = [[1, 0], [2, 0], [4, 0], [8, "
      "0], "
      "[16, 0]], warp = [[32, 0], [64, 0], [0, 64]], block = []}>>");
  CHECK(elements_per_thread(linear, 8) == 64);
  CHECK(elements_per_thread(type("tensor<8xf32, #ttg.padded<{}>>"), 4) == 0);
}

TEST_CASE("each element lies in some thread, under every layout that is understood", "[core]") {
  for (const char* layout : {"#ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
                             "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [32, 1], warpsPerCTA = [2, 2], order = [0, 1]}>",
                             "#ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
                             "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
                             "#ttg.dot_op<{opIdx = 1, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [4, 1], "
                             "instrShape = [16, 8]}>, kWidth = 2}>"}) {
    for (const std::int64_t rows : {16, 64, 128})
      for (const std::int64_t columns : {16, 32, 64}) {
        INFO(layout << " " << rows << "x" << columns);
        const std::optional<Linear> linear = linear_of({rows, columns}, parse_layout(layout, no_aliases()));
        REQUIRE(linear);
        std::set<std::uint32_t> reached{0};
        for (const auto* bases : {&linear->registers, &linear->lanes, &linear->warps})
          for (const std::uint32_t basis : *bases) {
            const std::set<std::uint32_t> before = reached;
            for (const std::uint32_t at : before) reached.insert(at ^ basis);
          }
        CHECK(reached.size() == static_cast<std::size_t>(rows * columns));
      }
  }
}

TEST_CASE("warps over rows and columns of tensor memory", "[core]") {
  CHECK(warps_over_rows(parse_layout(kMma, no_aliases())) == 8);
  CHECK(warps_over_rows(parse_layout("#ttg.slice<{dim = 1, parent = " + kMma + "}>", no_aliases())) == 8);
  CHECK(warps_over_rows(parse_layout("#ttg.slice<{dim = 0, parent = " + kMma + "}>", no_aliases())) == 1);
  CHECK(warps_over_rows(TritonLayout{}) == 1);
  const auto tensor = [](const std::string& shape, const std::string& fields) {
    return type("!ttg.memdesc<" + shape + ", #ttng.tensor_memory_encoding<" + fields + ">, #ttng.tensor_memory, mutable>");
  };
  CHECK(tensor_size(tensor("128x128xf32", "blockM = 128, blockN = 128, colStride = 1")).columns == 128);
  CHECK(tensor_size(tensor("2x128x64xf32", "blockM = 128, blockN = 64, colStride = 1")).columns == 128);
  CHECK(tensor_size(tensor("128x128xbf16", "blockM = 128, blockN = 128, colStride = 1")).columns == 64);
  CHECK(tensor_size(tensor("256x128xf32", "blockM = 128, blockN = 128, colStride = 1")).columns == 256);
  CHECK(tensor_size(tensor("128x128xf32", "blockM = 128, blockN = 128, unpacked = true")).columns == 128);
}

TEST_CASE("every value of Triton's texts has a type, also where none is printed", "[core]") {
  std::size_t texts = 0;
  for (const char* folder : {"tests/triton/texts", "tests/triton/texts/more"})
    for (const auto& entry : std::filesystem::directory_iterator(test::repository_path(folder))) {
      if (entry.path().extension() != ".ttgir") continue;
      const Result<mlir::Module> module = mlir::parse(*read_file(entry.path().string()), entry.path().string());
      REQUIRE(module.ok());
      const std::vector<Type> types = value_types(*module);
      REQUIRE(types.size() == module->values.size());
      ++texts;
      for (std::size_t i = 0; i < types.size(); ++i) {
        const mlir::Value& value = module->values[i];
        INFO(entry.path().filename().string() << " %" << value.name << " " << value.type);
        const Type& each = types[i];
        CHECK((each.tile.tile() || !each.tile.element.empty() || each.descriptor || each.pointer || each.tile.space == Place::Token));
        if (each.tile.tile()) CHECK(each.layout.kind != TritonLayout::Kind::Other);
        if (!value.definer.valid()) continue;
        const mlir::Op& op = module->op(value.definer);
        if (op.name == "arith.cmpi" || op.name == "arith.cmpf") CHECK(each.tile.element == "i1");
        if (op.name == "tt.load") CHECK_FALSE(each.pointer);
        if (op.name == "tt.addptr") CHECK(each.pointer);
        if (op.name == "ttng.tmem_store" || op.name == "ttng.tc_gen5_mma") CHECK(each.tile.space == Place::Token);
        if (op.name == "ttng.tmem_load") CHECK(each.tile.space == (value.index == 0 ? Place::Register : Place::Token));
      }
    }
  CHECK(texts > 40);
}

TEST_CASE("odd types and layouts are types without a place", "[core]") {
  for (const char* odd :
       {"", "<", ">", "tensor<", "tensor<>", "tensor<4xf32, #>", "tensor<4xf32, #ttg.blocked<{sizePerThread = [}>>", "!tt.ptr<",
        "!tt.tensordesc<", "!tt.tensordesc<>", "!ttg.memdesc<4xf32, #ttg.slice<{dim = 9, parent = #ttg.blocked<{}>}>, #smem>",
        "tensor<7x3xf32, #ttg.linear<{register = [[0]], lane = [], warp = [], block = []}>>",
        "tensor<4x4xf32, #ttg.blocked<{sizePerThread = [3, 1], threadsPerWarp = [9, 9], warpsPerCTA = [0, 1], order = [5, 5]}>>"}) {
    INFO(odd);
    const Type each = type(odd);
    CHECK_NOTHROW(elements_per_thread(each, 4));
    CHECK_NOTHROW(registers_per_thread(each, 0));
    CHECK_NOTHROW(tensor_size(each));
    CHECK_NOTHROW(needs_shared_memory(each, each));
  }
}
