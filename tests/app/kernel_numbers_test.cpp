// Numbers of a schedule beside those of its kernel.
#include "app/window/tabs/cuda/kernel_numbers.h"

#include <catch2/catch.hpp>

using namespace heddle;
using namespace heddle::app;

TEST_CASE("numbers that differ between schedule and kernel come with the reason, others do not come", "[app]") {
  ScheduleEntry entry;
  entry.usage.warps = 9;
  entry.usage.smem_bytes = 160;
  codegen::Program program;
  program.threads = 384;
  program.stages = 2;
  codegen::Buffer ring;
  ring.name = "k";
  ring.slot_bytes = 64;
  ring.depth = 2;
  codegen::Buffer tile = ring;
  tile.name = "q0";
  tile.depth = 1;
  tile.per_tile = true;
  program.buffers = {ring, tile};
  codegen::Role same;
  same.name = "producer";
  same.stages = 2;
  codegen::Role other;
  other.name = "consumer A";
  other.stages = 1;
  other.scheduled_registers = 200;
  other.registers = 240;
  program.roles = {same, other};
  const std::vector<KernelNumber> numbers = kernel_numbers(entry, program, 200);
  REQUIRE(numbers.size() == 4);
  CHECK(numbers[0].scheduled == "9");
  CHECK(numbers[0].written == "12");
  CHECK(numbers[1].because.find("rings 128; once per tile q0 64; barriers, staging and alignment 8") == 0);
  CHECK(numbers[2].name == "registers of consumer A");
  CHECK(numbers[3].name == "stages of consumer A");
  for (const KernelNumber& number : numbers) CHECK_FALSE(number.because.empty());
}
