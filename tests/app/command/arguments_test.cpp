// The words of a command line and what its KERNEL is.
#include "app/command/arguments.h"

#include <catch2/catch.hpp>

#include "core/library/triton_text.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

std::string gemm() { return test::repository_path("tests/triton/texts/gemm_descriptors.sm90.scheduled.ttgir"); }

Arguments parsed(const std::vector<std::string>& words) {
  const auto line = parse_command_line(words);
  if (const auto* usage = std::get_if<UsageError>(&line)) FAIL(usage->message);
  return std::get<CommandLine>(line).arguments;
}

}  // namespace

TEST_CASE("a command asks once what its KERNEL is, and an option that is added shares the text", "[app]") {
  Arguments arguments = parsed({"solve", gemm()});
  const std::shared_ptr<const Source> source = arguments.source();
  CHECK(arguments.source() == source);
  REQUIRE(source->triton());
  CHECK(arguments.text("MACHINE") == gemm());
  REQUIRE(source->triton()->program().ok());
  arguments.set("--reading", {"triton"});
  REQUIRE(arguments.source()->triton());
  CHECK(arguments.source()->name() == gemm() + "#triton");
  CHECK(*arguments.source()->triton()->program() == *source->triton()->program());
}

TEST_CASE("what stands for its machine, and brings a schedule, is told by the source", "[app]") {
  const std::string dump = test::repository_path("tests/dumps/flat.schedule_graph.json");
  const Arguments stored = parsed({"check", dump});
  CHECK(stored.text("MACHINE") == dump);
  CHECK(stored.text("SCHEDULE") == dump);
  const Arguments own = parsed({"check", gemm(), "h100"});
  CHECK(own.text("MACHINE") == "h100");
  CHECK(own.text("SCHEDULE") == gemm() + "#triton");
  CHECK(parsed({"solve", "toy_fig1", "toy"}).source()->kind() == SourceKind::Kernel);
}
