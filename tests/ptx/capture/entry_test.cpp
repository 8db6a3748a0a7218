// What capture reads of a PTX text, and of the binaries that hold one.
#include "ptx/capture/entry.h"

#include <catch2/catch.hpp>

#include "ptx/capture/hardware_map.h"
#include "ptx/capture/image.h"
#include "ptx/capture/memory.h"

#ifdef HEDDLE_CAPTURED_PROGRAMS  // no toolkit, no stand-ins

using namespace heddle;
using namespace heddle::ptx::capture;

TEST_CASE("parameters of an entry lie as in C", "[capture]") {
  const auto entries = entries_of(
      ".version 8.0\n.target sm_90a, debug\n.visible .entry a$1(\n .param .u8 p0, // a comment, with a comma\n"
      " .param .u64 .ptr .shared .align 1 p1,\n .param .align 16 .b8 p2[20],\n .param .b16 p3)\n.reqntid 64, 2\n{ ret; }\n"
      ".entry b { ret; }\n.visible .entry declared(.param .u32 x);\n");
  REQUIRE(entries.size() == 2);
  CHECK(entries[0].name == "a$1");
  REQUIRE(entries[0].parameters.size() == 4);
  CHECK(entries[0].parameters[1].at == 8);
  CHECK(entries[0].parameters[2].at == 16);
  CHECK(entries[0].parameters[2].array);
  CHECK(entries[0].parameters[3].at == 36);
  CHECK(entries[0].block_bytes == 38);
  CHECK(entries[0].most_threads == 128);
  CHECK(entries[1].name == "b");
  CHECK(entries[1].block_bytes == 0);
}

TEST_CASE("a text that ends anywhere is read without harm", "[capture]") {
  const std::string text =
      ".target sm_90a\n.visible .entry k(.param .align 8 .b8 p[16], /* x */ .param .u32 n)\n.reqnctapercluster 2, 1, 1\n{\n}\n";
  for (std::size_t length = 0; length <= text.size(); ++length) CHECK(entries_of(text.substr(0, length)).size() <= 1);
  REQUIRE(entries_of(text).size() == 1);
  CHECK(entries_of(text)[0].cluster[0] == 2);
  CHECK(target_of(text) == "sm_90a");
  CHECK(target_of("// .target sm_80") == "");
}

TEST_CASE("a text runs on its own architecture, and a common one on newer ones", "[capture]") {
  CHECK(runs_on("sm_90a", "sm_90a"));
  CHECK_FALSE(runs_on("sm_90a", "sm_100a"));
  CHECK(runs_on("sm_80", "sm_90a"));
  CHECK_FALSE(runs_on("sm_100", "sm_90a"));
  CHECK(runs_on("sm_100f", "sm_103a"));
  CHECK_FALSE(runs_on("sm_100f", "sm_120a"));
  CHECK_FALSE(runs_on("", "sm_90a"));
}

TEST_CASE("LZ4 blocks are unpacked, and damaged ones end early", "[capture]") {
  // "abcabcabcabcX": three letters, nine copied from three back, a letter.
  const unsigned char packed[] = {0x35, 'a', 'b', 'c', 3, 0, 0x10, 'X'};
  CHECK(unpacked_lz4(packed, sizeof packed, 13) == "abcabcabcabcX");
  for (std::size_t length = 0; length < sizeof packed; ++length) CHECK(unpacked_lz4(packed, length, 13).size() <= 13);
  const unsigned char beyond[] = {0x15, 'a', 9, 0};
  CHECK(unpacked_lz4(beyond, sizeof beyond, 100) == "a");
  // 15 + 255 + 10 letters.
  std::string longer = {'\xf0', '\xff', '\x0a'};
  longer += std::string(280, 'z');
  CHECK(unpacked_lz4(reinterpret_cast<const unsigned char*>(longer.data()), longer.size(), 280) == std::string(280, 'z'));
}

TEST_CASE("memory keeps what the host wrote, as far as it is known without a gap", "[capture]") {
  CapturedMemory memory(64);
  const auto at = memory.new_address(32), other = memory.new_address(1000);
  memory.add(at, 32);
  memory.add(other, 1000);
  const std::uint64_t words[] = {1, other};
  memory.write(at + 8, words, 8);  // behind what nobody knows
  CHECK(memory.reached_from({at})[0].contents.empty());
  memory.write(at, words, 16);
  CHECK(memory.reached_from({at + 31}).size() == 2);  // it points to the other
  CHECK(memory.reached_from({at})[0].contents.size() == 16);
  memory.fill(other, 0, 1000);
  CHECK(memory.reached_from({other})[0].zero);
  memory.write(other, words, 8);
  CHECK_FALSE(memory.reached_from({other})[0].zero);
  memory.fill(at, 0, 32);
  memory.write(at + 24, words, 8);
  CHECK(memory.reached_from({at})[0].contents.size() == 32);
  std::uint64_t back = 7;
  memory.read(&back, other, 8);
  CHECK(back == 0);
  memory.read(&back, at + 24, 8);
  CHECK(back == 1);
  memory.remove(at);
  CHECK(memory.reached_from({at}).empty());
}

TEST_CASE("what is no fat binary is a text, and an ELF file is machine code", "[capture]") {
  CHECK(read_image("// a text").texts == std::vector<std::string>{"// a text"});
  CHECK(read_image("\177ELF").machine_code);
  CHECK(read_image("\177ELF").texts.empty());
}

TEST_CASE("a tensor map that a program packed itself is read", "[capture]") {
  // f16 of [2, 384, 640], boxes of 128 rows of 64, swizzled over 128 bytes; then fp8, and f16 swizzled over 64.
  const std::uint64_t half[16] = {0x500190a00000, 0x5000244322 | 0x2000, 0x7800, 0, 0x17f0000027f, 1, 0x3f00000000000000, 0x7f};
  const auto map = read_hardware_map(reinterpret_cast<const std::uint8_t*>(half));
  REQUIRE(map.has_value());
  CHECK(map->element == ptx::MapElement::F16);
  CHECK(map->address == 0x500190a00000);
  CHECK(map->extents == std::vector<std::uint64_t>{640, 384, 2});
  CHECK(map->strides == std::vector<std::uint64_t>{1280, 491520});
  CHECK(map->box == std::vector<std::uint32_t>{64, 128, 1});
  CHECK(map->swizzle == 128);
  const std::uint64_t narrow[16] = {0x500190bd0000, 0x4000246022, 0x4000, 0, 0xff000003ff, 0, 0x7f00000000000000, 0x7f};
  CHECK(read_hardware_map(reinterpret_cast<const std::uint8_t*>(narrow))->element == ptx::MapElement::U8);
  const std::uint64_t less[16] = {0x500190fd0000, 0x4000244322, 0x4000, 0, 0xff000001ff, 0, 0x1f00000000000000, 0x3f};
  CHECK(read_hardware_map(reinterpret_cast<const std::uint8_t*>(less))->swizzle == 64);
  // Types by their numbers: bf16, f64, and tf32, which has that of f32 and a bit of its own.
  for (const auto& [form, element] : {std::pair(0x240512, ptx::MapElement::Bf16), std::pair(0x240492, ptx::MapElement::F64),
                                      std::pair(0x240392, ptx::MapElement::F32), std::pair(0x250392, ptx::MapElement::Tf32)}) {
    const std::uint64_t typed[16] = {0x500190fd0000, 0x4000000000 | std::uint64_t(form), 0, 0, 0xff000001ff, 0, 0x1f00000000000000, 0x3f};
    CHECK(read_hardware_map(reinterpret_cast<const std::uint8_t*>(typed))->element == element);
  }
  const std::uint64_t none[16] = {};
  CHECK_FALSE(read_hardware_map(reinterpret_cast<const std::uint8_t*>(none)).has_value());
}

#endif
