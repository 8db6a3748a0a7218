// Launch files: read, written, refused in words.
#include "ptx/launch/launch_json.h"

#include <catch2/catch.hpp>
#include <random>

#include "ptx/launch/launch_rules.h"
#include "ptx/launch/parameter_type.h"
#include "tests/support/mutate_json.h"

using namespace heddle;
using namespace heddle::ptx;

namespace {

/// As a capture library writes it.
const char* const kText = R"({"schema":"heddle.launch/1","kernel":"gemm","ptx":"0.ptx","grid":[4,1,1],"cluster":[2,1,1],"block":[384,1,1],
"dynamic_shared":216064,"parameters":")";

std::string file(const std::string& rest, std::size_t bytes = 144) {
  return kText + std::string(2 * bytes, '0') + "\"" + (rest.empty() ? "" : ", ") + rest + "}";
}

const char* const kMap = R"({"at":0,"in":"parameters","name":"A","element":"bf16","address":"0x500100000000","extents":[4096,1024],
"strides":[8192],"box":[64,128],"steps":[1,1],"swizzle":128,"swizzle_atom":16,"interleave":0,"im2col":false})";

std::string said(const std::string& text) {
  const auto read = parse_launch(text, "launch.json");
  return read.ok() ? "" : to_string(read.error());
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a launch comes back from its file as it was", "[ptx]") {
  const std::string text =
      file(std::string(R"("names":[{"name":"K","at":128,"type":"u32"},{"name":"scale","at":132,"type":"f32"}],"maps":[)") + kMap +
           R"(],"buffers":[{"name":"table","address":"0x500200000000","bytes":1024,"contents":"01000000"},
              {"address":12288,"bytes":64,"zero":true}])");
  std::vector<Fault> warnings;
  const auto read = parse_launch(text, "launch.json", &warnings);
  INFO(said(text));
  REQUIRE(read.ok());
  CHECK(warnings.empty());
  CHECK(read->kernel == "gemm");
  CHECK(read->cluster[0] == 2);
  CHECK(read->maps[0].map.address == 0x500100000000);
  CHECK(read->maps[0].map.swizzle == 128);
  CHECK(read->buffers[0].contents == std::vector<std::uint8_t>{1, 0, 0, 0});
  CHECK(read->buffers[1].address == 12288);
  CHECK(read->buffers[1].zero);
  const auto again = parse_launch(launch_text(*read), "again.json");
  INFO(launch_text(*read));
  REQUIRE(again.ok());
  CHECK(*again == *read);
  CHECK(says_launch(launch_text(*read)));
  CHECK(text_path_of(*read, "folder/0.json") == "folder/0.ptx");
}

TEST_CASE("values by name win over the block, and a file without a block has what they say", "[ptx]") {
  const std::string names =
      R"("names":[{"name":"K","at":128,"type":"u32"},{"name":"x","at":132,"type":"f32"},{"name":"n","at":136,"type":"s64"}])";
  const auto edited = parse_launch(file(names + R"(,"values":{"K":4096,"x":0.125,"n":"-2"})"), "launch.json");
  REQUIRE(edited.ok());
  CHECK(number_of(std::span(edited->parameters).subspan(128, 4)) == 4096);
  CHECK(number_of(std::span(edited->parameters).subspan(132, 4)) == 0x3E000000);
  CHECK(number_of(std::span(edited->parameters).subspan(136, 8)) == ~std::uint64_t{1});
  const auto made = parse_launch(R"({"schema":"heddle.launch/1","grid":[2],"block":[128],)" + names +
                                     R"(,"values":{"K":7,"x":"0x3E000000","n":-2},"maps":[)" + kMap + "]}",
                                 "launch.json");
  REQUIRE(made.ok());
  CHECK(made->grid == std::array<std::uint32_t, 3>{2, 1, 1});
  CHECK(made->parameters.size() == 144);
  CHECK(number_of(std::span(made->parameters).subspan(128, 4)) == 7);
  CHECK(number_of(std::span(made->parameters).subspan(136, 8)) == ~std::uint64_t{1});
  const std::string none = said(R"({"schema":"heddle.launch/1",)" + names + R"(,"values":{"K":7,"m":1}})");
  CHECK(has(none, "'x' has none"));
  CHECK(has(none, "/values/m: no parameter is called 'm'"));
  CHECK(has(said(file(names + R"(,"values":{"K":-1})")), "/values/K: expected a value of type u32, found -1"));
}

TEST_CASE("all that is wrong with a launch is said at once, each with its place", "[ptx]") {
  const std::string text = said(R"({"schema":"heddle.launch/1","grid":[3,1,1],"cluster":[2,1,1],"block":[1024,2,1],"dynamic_shared":300000,
"parameters":"00","maps":[{"at":32,"in":"parameters","element":"bf16","extents":[0,64],"strides":[100],"box":[72,300],"swizzle":128},
{"at":0,"element":"bf17","extents":[64],"box":[64]}],"buffers":[{"address":"0xg","bytes":1}]})");
  INFO(text);
  for (const char* part :
       {"/maps/1/element: unknown element type \"bf17\"", "/buffers/0/address: expected an address", "/cluster: a grid is whole clusters",
        "/block: a CTA has at most 1024 threads, not 1024 x 2 x 1", "/dynamic_shared: a CTA has at most 232448 bytes",
        "/maps/0/at: a tensor map lies at a multiple of 64 bytes", "/maps/0/extents/0: an extent is 1 to",
        "/maps/0/strides/0: a stride is a multiple of 16 bytes", "/maps/0/box/1: a box has 1 to 256 elements",
        "/maps/0/box/0: rows of 144 bytes are longer than the swizzle of 128 bytes"})
    CHECK(has(text, part));
}

TEST_CASE("a file of another kind is no launch, and says what it is not", "[ptx]") {
  CHECK(has(said(R"({"schema":"heddle.kernel/1"})"), "heddle.launch/1"));
  CHECK(has(said(R"({"schema":"heddle.launch/2"})"), "expected \"heddle.launch/1\", found \"heddle.launch/2\""));
  CHECK(has(said("[]"), "expected an object"));
  CHECK(has(said("{"), "launch.json"));
  CHECK(has(said(R"({"schema":"heddle.launch/1","parameters":"0"})"), "/parameters: expected two hexadecimal digits"));
}

TEST_CASE("values of every type go from text to bytes and back", "[ptx]") {
  std::mt19937_64 random(20261129);
  for (const std::string& word : parameter_type_words())
    for (int i = 0; i < 300; ++i) {
      const ParameterType type = *parameter_type(word);
      const std::vector<std::uint8_t> bytes = bytes_of(random() >> (i % 3 == 0 ? 40 : 0), type.bytes);
      const std::string text = value_text(type, bytes);
      INFO(word << " " << text);
      const auto again = value_bytes(type, text);
      REQUIRE(again.has_value());
      REQUIRE(*again == bytes);
    }
  CHECK(value_text(*parameter_type("f16"), std::vector<std::uint8_t>{0x00, 0x3c}) == "1");
  CHECK(value_text(*parameter_type("bf16"), std::vector<std::uint8_t>{0x80, 0x3f}) == "1");
  CHECK(value_bytes(*parameter_type("i32"), "-1") == std::vector<std::uint8_t>{255, 255, 255, 255});
  for (const char* bad : {"", "-", "1x", "256", "-129", "0x", "0x100", "1e2"}) CHECK_FALSE(value_bytes(*parameter_type("s8"), bad));
  CHECK_FALSE(parameter_type("pred"));
}

TEST_CASE("damaged launch files are read or refused in words, and what is read can be written", "[ptx]") {
  constexpr std::uint64_t kSeed = 20261129;
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const std::string names = R"("names":[{"name":"K","at":128,"type":"u32"}],"values":{"K":64},)";
  const std::string whole =
      file(names + R"("maps":[)" + kMap + R"(],"buffers":[{"address":"0x500200000000","bytes":1024,"contents":"01"}])");
  int read = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string text = test::mutate_json(whole, random);
    const auto launch = parse_launch(text, "launch.json");
    if (launch.ok()) {
      ++read;
      const auto again = parse_launch(launch_text(*launch), "again.json");
      if (!again.ok() || !(*again == *launch)) FAIL("does not come back: " << text);
    } else {
      bool spoken = !launch.error().faults.empty();
      for (const Fault& fault : launch.error().faults) spoken = spoken && !fault.message.empty();
      if (!spoken) FAIL("an error without words for " << text);
    }
  }
  CHECK(read > 100);
}
