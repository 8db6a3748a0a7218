// Triton's texts where a kernel is expected: names, readings, machines, demands.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/check/checker.h"
#include "core/library/inputs.h"
#include "core/library/library.h"
#include "core/library/triton_text.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

std::string text(const std::string& name) { return test::repository_path("tests/triton/texts/" + name); }

TritonText::SharedProgram program_of(const std::string& name) { return find_source(text(name))->triton()->program(); }

Result<Inputs> inputs_of(const std::string& name, std::vector<Fault>& warnings) {
  InputNames names;
  names.kernel = names.machine = name;
  return load_inputs(names, warnings);
}

}  // namespace

TEST_CASE("a Triton text is a kernel by the reading that is named, and a machine by its target", "[core]") {
  const std::string gemm = text("gemm_descriptors.sm90.scheduled.ttgir");
  const Result<Kernel> free = load_kernel(gemm), own = load_kernel(gemm + "#triton");
  REQUIRE(free.ok());
  REQUIRE(own.ok());
  CHECK(free->source == gemm);
  CHECK(own->source == gemm + "#triton");
  // Two warp groups of the text have 64 rows each.
  CHECK(free->body.size() > own->body.size());
  CHECK(free->producer);
  const Result<Machine> hopper = load_machine(gemm), blackwell = load_machine(text("gemm_descriptors.sm100.scheduled.ttgir") + "#triton");
  REQUIRE(hopper.ok());
  REQUIRE(blackwell.ok());
  CHECK(hopper->name == "h100");
  CHECK(blackwell->name == "b200");
  CHECK_FALSE(load_machine(text("gemm_pointers.sm80.scheduled.ttgir")).ok());
}

TEST_CASE("what Triton's passes obey is a demand in their reading only", "[core]") {
  std::vector<Fault> warnings;
  const std::string gemm = text("gemm_descriptors.sm90.scheduled.ttgir");
  const Result<Inputs> own = inputs_of(gemm + "#triton", warnings), free = inputs_of(gemm, warnings);
  REQUIRE(own.ok());
  REQUIRE(free.ok());
  CHECK_FALSE(own->constraints.empty());
  CHECK(free->constraints.empty());
  REQUIRE(own->triton());
  CHECK(own->triton()->reading() == triton::TextReading::Triton);
  CHECK(own->machine().name == "h100");
  CHECK(warnings.empty());
}

TEST_CASE("the names of Triton's texts are told by content, by their ending and by being a folder", "[core]") {
  const auto is_triton = [](const std::string& name) {
    const auto source = compilers_file(name);
    return source && source->kind() == SourceKind::Triton;
  };
  CHECK(is_triton(text("gemm_descriptors.sm90.scheduled.ttgir")));
  CHECK(is_triton(text("gemm_descriptors.sm90.scheduled.ttgir") + "#0,triton"));
  CHECK(is_triton(text("attention_forward_ws.sm100.mlir-enable-dump.log")));
  CHECK(is_triton(test::repository_path("tests/triton/texts")));
  CHECK_FALSE(is_triton(text("truth.json")));
  CHECK_FALSE(is_triton(text("README.md")));
  CHECK_FALSE(is_triton("attention_forward_hopper"));
  CHECK_FALSE(is_triton("nosuch.ttgir"));
  CHECK_FALSE(is_triton(""));
  CHECK_FALSE(is_triton("#"));
  const auto said = [](const std::string& name) { return TritonText(name, {name, {}}, nullptr).said(); };
  CHECK(said("x.ttgir#0,triton") == triton::TextReading::Triton);
  CHECK_FALSE(said("x.ttgir#0"));
  CHECK(said(with_reading("x.ttgir#0", triton::TextReading::Free)) == triton::TextReading::Free);
}

TEST_CASE("all that is asked of one text reads and lowers it once", "[core]") {
  const std::string gemm = text("gemm_descriptors.sm90.scheduled.ttgir");
  const auto plain = find_source(gemm);
  const auto own = find_source(gemm + "#triton", plain.get());
  const auto other = find_source(text("gemm_pointers.sm90.scheduled.ttgir"), plain.get());
  REQUIRE(plain->triton());
  REQUIRE(own->triton());
  REQUIRE(other->triton());
  REQUIRE(plain->triton()->program().ok());
  CHECK(*plain->triton()->program() == *own->triton()->program());
  CHECK(*plain->triton()->program() != *other->triton()->program());
  REQUIRE(own->triton()->lowered().ok());
  const auto shared = plain->triton()->by(triton::TextReading::Triton);
  CHECK(shared->lowered()->native == own->triton()->lowered()->native);
  CHECK(*plain->triton()->loop()->by(triton::TextReading::Triton) == own->triton()->lowered()->native);
}

TEST_CASE("Triton's own schedule needs no solver: its order is timed", "[core]") {
  std::vector<Fault> warnings;
  const std::string gemm = text("gemm_descriptors.sm90.scheduled.ttgir");
  const Result<Inputs> own = inputs_of(gemm + "#triton", warnings), free = inputs_of(gemm, warnings);
  REQUIRE(own.ok());
  REQUIRE(free.ok());
  CHECK(own->source->has_own());
  CHECK_FALSE(free->source->has_own());
  const Result<Schedule> schedule = own->source->own_schedule(own->problem()), named = read_schedule(gemm, own->problem());
  REQUIRE(schedule.ok());
  CHECK(check(own->problem(), *schedule).valid());
  REQUIRE(named.ok());  // a text as a schedule means Triton's reading
  CHECK(named->ii == schedule->ii);
  CHECK_FALSE(free->source->own_schedule(free->problem()).ok());
  CHECK_FALSE(read_schedule(gemm, free->problem()).ok());
}

TEST_CASE("a target without a machine has limits all the same", "[core]") {
  const TritonText::SharedProgram old = program_of("gemm_pointers.sm80.scheduled.ttgir");
  REQUIRE(old.ok());
  CHECK(limits_of_target(**old).limits.smem_bytes == 166912);
  const TritonText::SharedProgram hopper = program_of("gemm_descriptors.sm90.scheduled.ttgir");
  REQUIRE(hopper.ok());
  CHECK(limits_of_target(**hopper).limits.smem_bytes == 232448);
}
