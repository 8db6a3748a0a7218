// What a kernel is written in, and what follows from that.
#include "core/library/source.h"

#include <catch2/catch.hpp>

#include "core/instance/instance.h"
#include "core/library/dump_text.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

namespace {

std::string dumped(const std::string& name) { return test::repository_path("tests/dumps/" + name); }

}  // namespace

TEST_CASE("what a word means is told by the library, the ending and the content", "[core]") {
  CHECK(find_source("toy_fig1")->kind() == SourceKind::Kernel);
  CHECK(find_source("no such kernel")->kind() == SourceKind::Kernel);
  CHECK_FALSE(find_source("no such kernel")->kernel().ok());
  CHECK(find_source("work.heddle.json")->kind() == SourceKind::Project);
  CHECK(find_source(dumped("flat.schedule_graph.json"))->kind() == SourceKind::Dump);
  CHECK(find_source(test::repository_path("kernels/toy_fig1.json"))->kind() == SourceKind::Kernel);
  CHECK(find_source(test::repository_path("tests/triton/texts"))->kind() == SourceKind::Triton);
}

TEST_CASE("a cut in a kernel's name is made, whatever it is written in", "[core]") {
  const std::string cut = "attention_forward_tile_hopper[Q_ROWS/2]";
  const Result<Kernel> kernel = find_source(cut)->kernel();
  REQUIRE(kernel.ok());
  CHECK(kernel->name == cut);
  CHECK(find_source(cut)->name() == cut);
}

TEST_CASE("a dump is read once for its kernel, its machine, its rules and its schedule", "[core]") {
  const auto source = find_source(dumped("flat.schedule_graph.json"));
  const DumpText* text = source->dump();
  REQUIRE(text);
  const auto document = text->document();
  REQUIRE(document.ok());
  CHECK(*text->document() == *document);
  const auto same = find_source(dumped("flat.schedule_graph.json") + "#issue-slots", source.get());
  REQUIRE(same->dump());
  CHECK(*same->dump()->document() == *document);
  CHECK(same->dump()->reading() == dump::DumpReading::IssueSlots);
  CHECK(source->names_machine());
  CHECK(source->kernel().ok());
  CHECK(source->machine().ok());
  CHECK(source->has_own());
}

TEST_CASE("who does not take a kernel as ours says why not", "[core]") {
  for (const SourceUse use : {SourceUse::Family, SourceUse::Layouts, SourceUse::Tuning, SourceUse::Cuts, SourceUse::KernelText}) {
    CHECK(std::string(why_not(SourceKind::Kernel, use)).empty());
    CHECK(std::string(why_not(SourceKind::Project, use)).empty());
    CHECK_FALSE(std::string(why_not(SourceKind::Dump, use)).empty());
    CHECK_FALSE(std::string(why_not(SourceKind::Triton, use)).empty());
  }
  // A machine of a Triton kernel is one of ours.
  CHECK(std::string(why_not(SourceKind::Triton, SourceUse::MachineText)).empty());
}

TEST_CASE("a dump is opened with the loop and the reading that one begins with, and its parts lead to each other", "[core]") {
  const SourcePtr file = compilers_file(dumped("scores.schedule_graph.json"));
  REQUIRE(file);
  const Result<SourcePtr> opened = file->opened();
  REQUIRE(opened.ok());
  const Source& source = **opened;
  CHECK(source.name() == dumped("scores.schedule_graph.json") + "#0,full");
  CHECK(source.subject() == "scores · loop 0");
  const SourceOutline outline = source.outline();
  REQUIRE(outline.loops.size() == 2);
  REQUIRE(outline.readings.size() == 2);
  for (const auto* choices : {&outline.loops, &outline.readings})
    for (const SourceChoice& choice : *choices) {
      INFO(choice.name);
      REQUIRE(choice.part);
      const Result<SourcePtr> other = source.with(*choice.part);
      REQUIRE(other.ok());
      CHECK((*other)->same_text(source));
      CHECK(((*other)->name() == source.name()) == choice.current);
    }
  CHECK_FALSE(source.with({{}, 77, {}}).ok());
  CHECK_FALSE(source.with({{}, {}, "sideways"}).ok());
  CHECK_FALSE(source.same_text(*compilers_file(dumped("scores.schedule_graph.json"))));
}

TEST_CASE("what a dump stores comes with the word of both readings", "[core]") {
  const Result<SourcePtr> opened = compilers_file(dumped("scores.schedule_graph.json"))->opened();
  REQUIRE(opened.ok());
  const auto problem = make_problem(spec_of((*opened)->kernel().value(), (*opened)->machine().value()));
  REQUIRE(problem.ok());
  const std::vector<OwnSchedule> own = (*opened)->own_schedules(*problem);
  REQUIRE(own.size() == 1);
  CHECK(own[0].name == "stored");
  CHECK(own[0].file == (*opened)->name());
  CHECK(own[0].meant);
  CHECK(own[0].bound);
  REQUIRE(own[0].readings);
  CHECK(own[0].readings->sentence.find("by the full reading") != std::string::npos);
}

TEST_CASE("a Triton text is opened by the reading that its passes can build", "[core]") {
  const SourcePtr file = compilers_file(test::repository_path("tests/triton/texts/gemm_descriptors.sm90.scheduled.ttgir"));
  REQUIRE(file);
  const Result<SourcePtr> opened = file->opened();
  REQUIRE(opened.ok());
  CHECK((*opened)->reading_name() == "Triton's");
  CHECK((*opened)->refused().empty());
  CHECK_FALSE((*opened)->undecided());
  const Result<SourcePtr> free = (*opened)->with({{}, {}, "free"});
  REQUIRE(free.ok());
  CHECK((*free)->reading_name() == "free");
  CHECK((*free)->same_text(**opened));
  CHECK(with_article((*free)->reading_name()) == "the free");
  CHECK(with_article((*opened)->reading_name()) == "Triton's");
}
