// Generated text as lines, tokens and blocks.
#include "app/jobs/source_model.h"

#include <catch2/catch.hpp>

#include "app/jobs/kernel_job.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::app;

namespace {

/// The kernel of the ping-pong schedule for attention.
KernelText attention() {
  KernelSubject of;
  of.spec.kernel = std::make_shared<const Kernel>(*load_kernel("attention_forward_hopper"));
  of.spec.machine = std::make_shared<const Machine>(*load_machine("h100"));
  of.problem = std::make_shared<const Problem>(*resolve(*of.spec.kernel, *of.spec.machine, {}));
  of.schedule =
      std::make_shared<const Schedule>(*read_schedule(test::repository_path("tests/schedules/attention_ping_pong.json"), *of.problem));
  return write_kernel(of);
}

}  // namespace

TEST_CASE("every op of the loop has its lines, in the role and part where it is", "[app]") {
  const KernelText text = attention();
  for (const codegen::Refusal& refusal : text.refusals) UNSCOPED_INFO(refusal.sentence);
  REQUIRE(text.emission);
  const SourceModel& source = text.source;
  REQUIRE(source.blocks.size() > 20);
  for (std::size_t i = 0; i < text.of.problem->ops.size(); ++i) {
    INFO(text.of.problem->ops[i].name);
    const auto blocks = blocks_of(source, OpId(i));
    REQUIRE_FALSE(blocks.empty());
    for (const std::size_t b : blocks) {
      CHECK(source.blocks[b].op_name == text.of.problem->ops[i].name);
      CHECK(source.block_of(source.blocks[b].first) == &source.blocks[b]);
      CHECK(source.blocks[b].last < source.lines.size());
    }
    const auto steady = block_for(source, OpId(i), SourcePart::Steady);
    REQUIRE(steady);
    CHECK(describe(source.blocks[*steady]).find(text.of.problem->ops[i].name) == 0);
  }
  CHECK_FALSE(block_for(source, OpId(1000), SourcePart::Steady));
}

TEST_CASE("tokens lie in their lines in order, and lines make up the text", "[app]") {
  const KernelText text = attention();
  REQUIRE(text.emission);
  const SourceModel& source = text.source;
  std::string whole;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    whole += std::string(source.line(i)) + "\n";
    std::uint32_t at = source.lines[i].begin;
    for (std::uint32_t t = source.lines[i].first_token; t < source.lines[i].first_token + source.lines[i].tokens; ++t) {
      CHECK(source.tokens[t].begin >= at);
      CHECK(source.tokens[t].end > source.tokens[t].begin);
      CHECK(source.tokens[t].end <= source.lines[i].end);
      at = source.tokens[t].end;
    }
  }
  CHECK(whole == text.emission->source);
  const auto found = find_lines(source, "EXTERN \"c\"");
  REQUIRE(found.size() == 1);
  CHECK(source.line(found[0]).find("__global__") != std::string_view::npos);
  const SourceToken& first = source.tokens[source.lines[found[0]].first_token];
  CHECK(first.ink == Ink::Keyword);
  CHECK(find_lines(source, "").empty());
}

TEST_CASE("a machine that no kernel is written for is said by name", "[app]") {
  KernelSubject of;
  of.spec.kernel = std::make_shared<const Kernel>(*load_kernel("toy_fig1"));
  of.spec.machine = std::make_shared<const Machine>(*load_machine("toy"));
  const KernelText text = write_kernel(of);
  REQUIRE(text.refusals.size() == 1);
  CHECK(text.refusals[0].rule == "arch");
  CHECK_FALSE(text.emission);
}
