// Launches in words, and from what Triton leaves beside its text.
#include "ptx/launch/by_hand.h"

#include <catch2/catch.hpp>

#include "ptx/launch/parameter_type.h"
#include "ptx/launch/triton_launch.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

/// A map, a pointer that the text marks, an int, a 64-bit word of which nobody knows what it is, a struct.
std::vector<EntryParameter> entry() {
  return {{"k_param_0", 0, 128, 64, false, ""},
          {"k_param_1", 128, 8, 8, true, "b64"},
          {"k_param_2", 136, 4, 4, false, "b32"},
          {"k_param_3", 144, 8, 8, false, "b64"},
          {"k_param_4", 152, 24, 8, false, ""}};
}

HandWords words() {
  HandWords words;
  words.grid = "4x2", words.block = "128", words.dynamic_shared = 1024;
  words.maps = {"0=K 64x176x1 bf16 swizzle128"};
  words.parameters = {"param_2=i32:2048", "144=pointer:4096:zero", "160=u32:7"};
  return words;
}

std::string said(const HandWords& words, Launch base = {}) {
  const auto made = launch_by_hand(words, entry(), std::move(base));
  return made.ok() ? "" : to_string(made.error());
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::uint64_t word(const Launch& launch, std::size_t at, std::size_t bytes) {
  return number_of(std::span(launch.parameters).subspan(at, bytes));
}

}  // namespace

TEST_CASE("a launch is said by hand, and pointers get memory of their own", "[ptx]") {
  const auto made = launch_by_hand(words(), entry());
  INFO(said(words()));
  REQUIRE(made.ok());
  CHECK(made->grid == std::array<std::uint32_t, 3>{4, 2, 1});
  CHECK(made->block == std::array<std::uint32_t, 3>{128, 1, 1});
  CHECK(made->parameters.size() == 176);
  CHECK(word(*made, 136, 4) == 2048);
  CHECK(word(*made, 160, 4) == 7);
  REQUIRE(made->maps.size() == 1);
  const TensorMap& map = made->maps[0].map;
  CHECK(map.box == std::vector<std::uint32_t>{64, 176, 1});
  CHECK(map.strides == dense_strides(map));
  REQUIRE(made->buffers.size() == 3);  // K, the word that is a pointer, the pointer that the text marks
  CHECK(word(*made, 144, 8) == made->buffers[1].address);
  CHECK(made->buffers[1].zero);
  CHECK(word(*made, 128, 8) == made->buffers[2].address);
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = a + 1; b < 3; ++b) CHECK(made->buffers[a].address + made->buffers[a].bytes < made->buffers[b].address);
}

TEST_CASE("every parameter that nobody speaks of is asked for at once", "[ptx]") {
  const std::string text = said({});
  INFO(text);
  CHECK(has(text, "not given: k_param_0, 128 bytes at 0, a tensor map"));
  CHECK_FALSE(has(text, "k_param_1"));
  CHECK(has(text, "not given: k_param_2, b32 at 136"));
  CHECK(has(text, "144=pointer"));
  CHECK(has(text, "not given: k_param_4, 24 bytes at 152"));
}

TEST_CASE("words that cannot be read say which and what was expected", "[ptx]") {
  HandWords wrong = words();
  wrong.grid = "4,,2", wrong.cluster = "2x2x2x2";
  wrong.maps = {"0=K 64y176 bf16", "0=K 64x64 bf61", "0=K 64x64 bf16 swizzel128", "0=K", "memory x=K 64 u8", "param_9=K 64 u8"};
  wrong.parameters = {"136=u7:1", "136=u32:x", "136", "9999=u32:1", "4000000000000000000000=u32:1", "144=pointer:x"};
  wrong.buffers = {"12", "x=1", "12=1:one"};
  const std::string text = said(wrong);
  INFO(text);
  for (const char* part : {"'4,,2'", "'2x2x2x2'", "expected the box as sizes like 64x176, found '64y176'", "unknown element type 'bf61'",
                           "unknown word 'swizzel128' (did you mean 'swizzle128'?)", "needs name, box and element type",
                           "expected an address behind 'memory'", "no parameter is called 'param_9'", "unknown type 'u7'",
                           "expected a value of type u32, found 'x'", "expected PLACE=TYPE:VALUE, found '136'",
                           "4 bytes at 9999 end behind the block's 176", "pointer:BYTES", "found '12'", "found 'x=1'", "found '12=1:one'"})
    CHECK(has(text, part));
}

TEST_CASE("words change a launch of a file, by its names, and are judged by the driver's rules", "[ptx]") {
  Launch base = *launch_by_hand(words(), entry());
  base.names = {{"keys", 136, "s32"}};
  HandWords change;
  change.parameters = {"keys=-3"}, change.grid = "3";
  const auto made = launch_by_hand(change, entry(), base);
  REQUIRE(made.ok());
  CHECK(word(*made, 136, 4) == 0xfffffffd);
  CHECK(made->maps == base.maps);
  change.cluster = "2", change.maps = {"0=K 65x176 bf16 of 4096x1024"};
  const std::string text = said(change, base);
  CHECK(has(text, "3 CTAs along x are no multiple of 2"));
  CHECK(has(text, "K: a box of 65 bf16 has rows of 130 bytes"));
  base.parameters.resize(8);
  CHECK(has(said({}, base), "the launch has 8 bytes of parameters, the text 176"));
}

TEST_CASE("maps by hand take extents, strides, steps, atoms and addresses", "[ptx]") {
  const auto map = map_by_hand("A 32x64 f32 swizzle128 atom32 of 1024x512 strides 8192 steps 1x2 at 0x600000000000");
  REQUIRE(map.ok());
  CHECK(map->extents == std::vector<std::uint64_t>{1024, 512});
  CHECK(map->strides == std::vector<std::uint64_t>{8192});
  CHECK(map->steps == std::vector<std::uint32_t>{1, 2});
  CHECK(map->swizzle_atom == 32);
  CHECK(map->address == 0x600000000000);
  CHECK(box_bytes(*map) == 8192);
  CHECK(tensor_bytes(*map) == 511 * 8192 + 4096);
  CHECK(box_bytes(*map_by_hand("S 128x64 u4_align16")) == 8192);
  CHECK(box_bytes(*map_by_hand("S 128x64 u4_align8")) == 4096);
}

TEST_CASE("Triton's .json gives maps, shapes and shared memory; names come from its text", "[ptx]") {
  const TritonBeside beside{R"({"name":"gemm","shared":100000,"num_warps":4,"num_ctas":1,"tensordesc_meta":[
{"swizzle":3,"elem_size":2,"elem_type":10,"block_size":[128,64],"fp4_padded":false,"is_im2col":false}]})",
                            "gemm.json",
                            "tt.func public @gemm(%a: !tt.tensordesc<128x64xbf16, #s> loc(\"a\"(#loc)), %a.shape.0: i32 loc(\"x\"(#l)), "
                            "%a.shape.1: i32, %a.stride.0: i64, %a.stride.1: i64, %out: !tt.ptr<f32>, %k: i32) attributes {} {"};
  const std::vector<EntryParameter> entry = {{"gemm_param_0", 0, 128, 64, false, ""},   {"gemm_param_1", 128, 4, 4, false, "b32"},
                                             {"gemm_param_2", 132, 4, 4, false, "b32"}, {"gemm_param_3", 136, 8, 8, false, "b64"},
                                             {"gemm_param_4", 144, 8, 8, false, "b64"}, {"gemm_param_5", 152, 8, 8, true, "b64"},
                                             {"gemm_param_6", 160, 4, 4, false, "b32"}, {"gemm_param_7", 168, 8, 8, true, "b64"}};
  const std::vector<std::string> given = {"k=1024", "a.shape.1=1024"};
  auto triton = triton_launch(beside, entry, given);
  REQUIRE(triton.ok());
  triton->words.parameters.insert(triton->words.parameters.end(), given.begin(), given.end());
  const auto made = launch_by_hand(triton->words, entry, triton->base);
  INFO((made.ok() ? "" : to_string(made.error())));
  REQUIRE(made.ok());
  CHECK(made->dynamic_shared == 100000);
  CHECK(made->kernel == "gemm");
  CHECK(made->maps[0].map.box == std::vector<std::uint32_t>{64, 128});
  CHECK(made->maps[0].map.name == "a");
  CHECK(made->maps[0].map.element == MapElement::Bf16);
  CHECK(made->maps[0].map.extents[0] == 1024);
  CHECK(word(*made, 132, 4) == 1024);
  CHECK(word(*made, 136, 8) == 1024);
  CHECK(word(*made, 144, 8) == 1);
  CHECK(word(*made, 160, 4) == 1024);
  CHECK(made->buffers.size() == 3);

  const auto without = launch_by_hand(triton_launch({beside.json, "gemm.json", ""}, entry)->words, entry);
  REQUIRE_FALSE(without.ok());  // k, which nobody speaks of
  CHECK(without.error().faults.size() == 1);
  CHECK(says_triton(beside.json));
  CHECK_FALSE(triton_launch({"{", "x.json", ""}, entry).ok());
  CHECK(
      has(to_string(triton_launch({R"({"tensordesc_meta":[{"swizzle":7}]})", "x.json", ""}, entry).error()), "/tensordesc_meta/0/swizzle"));
}
