// Numbers of a schedule beside those of its kernel.
#include "codegen/program/kernel_numbers.h"

#include <catch2/catch.hpp>

using namespace heddle;

TEST_CASE("numbers of schedule and kernel stand beside each other, those that differ with the reason", "[codegen]") {
  Problem problem;
  for (const char* name : {"a", "b"}) {
    Op op;
    op.name = name;
    problem.ops.push_back(op);
  }
  Schedule schedule;
  schedule.ii = 10;
  schedule.groups = {{"consumer A", 4, 200}, {"consumer B", 5, 200}};
  schedule.ops = {{0, GroupId(0)}, {5, GroupId(0)}};
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
  codegen::Role role;
  role.name = "consumer A";
  role.group = GroupId(0);
  role.stages = 2;
  role.scheduled_registers = 200;
  role.registers = 240;
  codegen::Section steady;
  steady.part = codegen::Section::Part::Steady;
  for (const std::size_t op : {1, 0}) {
    codegen::Step step;
    step.op = {codegen::OpRef::List::Body, op};
    steady.steps.push_back(step);
  }
  role.sections = {steady};
  program.roles = {role};
  const auto numbers = codegen::kernel_numbers(problem, schedule, program, 200);
  REQUIRE(numbers.size() == 5);
  CHECK(numbers[0].scheduled == "9");
  CHECK(numbers[0].written == "12");
  CHECK(numbers[1].because.find("rings 128; once per tile q0 64; barriers, staging and alignment 8") == 0);
  CHECK(numbers[2].name == "registers of consumer A");
  CHECK_FALSE(numbers[3].differs());
  CHECK(numbers[3].because.empty());
  CHECK(numbers[4].scheduled == "a, b");
  CHECK(numbers[4].written == "b, a");
  CHECK(numbers[4].because.find("as a circle") != std::string::npos);
  for (const auto& number : numbers) CHECK(number.differs() == !number.because.empty());
}
