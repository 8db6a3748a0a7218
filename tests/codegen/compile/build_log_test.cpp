// Compiler's logs as messages.
#include "codegen/compile/build_log.h"

#include <catch2/catch.hpp>

using namespace heddle::codegen;
using Level = BuildMessage::Level;

TEST_CASE("errors and warnings of NVRTC and nvcc name their line", "[codegen]") {
  const auto messages = parse_build_log(
      "heddle.cu(12): error: identifier \"x\" is undefined\n"
      "      x = 1;\n"
      "      ^\n"
      "\n"
      "/tmp/a/heddle.cu(7): warning #177-D: variable \"y\" was declared but never referenced\n"
      "1 error detected in the compilation of \"heddle.cu\".\n");
  REQUIRE(messages.size() == 2);
  CHECK(messages[0] == BuildMessage{Level::Error, 12, "", "identifier \"x\" is undefined · x = 1;"});
  CHECK(messages[1] == BuildMessage{Level::Warning, 7, "#177-D", "variable \"y\" was declared but never referenced"});
}

TEST_CASE("ptxas's messages have their code, and what it says below them", "[codegen]") {
  const auto messages = parse_build_log(
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
      "ptxas info    : Function properties for heddle_kernel\n"
      "ptxas         .     72 bytes stack frame, 72 bytes spill stores, 100 bytes spill loads\n"
      "ptxas warning : setmaxnreg ignored\n"
      "ptxas heddle.ptx, line 300; error   : Arguments mismatch\n");
  REQUIRE(messages.size() == 4);
  CHECK(messages[0].code == "C7510");
  CHECK(messages[0].level == Level::Info);
  CHECK(messages[1].text == "Function properties for heddle_kernel · 72 bytes stack frame, 72 bytes spill stores, 100 bytes spill loads");
  CHECK(messages[2] == BuildMessage{Level::Warning, 0, "", "setmaxnreg ignored"});
  CHECK(messages[3] == BuildMessage{Level::Error, 0, "", "Arguments mismatch"});
}

TEST_CASE("any bytes are read without harm", "[codegen]") {
  CHECK(parse_build_log("").empty());
  CHECK(parse_build_log("\n\n):(\n(9999999999999): error: x\nptxas\n").empty());
  const auto messages = parse_build_log("a(1): error: \x1b[31mred\n");
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].text.find('\x1b') == std::string::npos);
}
