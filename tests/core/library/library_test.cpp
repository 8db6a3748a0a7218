// Shipped data: everything can be read, and writing it and reading it again changes nothing.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "core/base/atomic_file.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/library/library.h"
#include "tests/support/paths.h"

using namespace heddle;

TEST_CASE("every shipped kernel is read without a warning and survives a round trip", "[core]") {
  const auto entries = list_library(Shelf::Kernels);
  REQUIRE(!entries.empty());
  for (const LibraryEntry& entry : entries) {
    INFO(entry.path);
    std::vector<Fault> warnings;
    const auto kernel = load_kernel(entry.name, &warnings);
    if (!kernel) FAIL(to_string(kernel.error()));
    CHECK(warnings.empty());
    CHECK(kernel->name == entry.name);
    const std::string text = kernel_text(*kernel);
    const auto again = parse_kernel(text, entry.path);
    if (!again) FAIL(to_string(again.error()));
    CHECK(kernel_text(*again) == text);
  }
}

TEST_CASE("every shipped machine is read without a warning and survives a round trip", "[core]") {
  const auto entries = list_library(Shelf::Machines);
  REQUIRE(!entries.empty());
  for (const LibraryEntry& entry : entries) {
    INFO(entry.path);
    std::vector<Fault> warnings;
    const auto machine = load_machine(entry.name, &warnings);
    if (!machine) FAIL(to_string(machine.error()));
    CHECK(warnings.empty());
    CHECK(machine->name == entry.name);
    const std::string text = machine_text(*machine);
    const auto again = parse_machine(text, entry.path);
    if (!again) FAIL(to_string(again.error()));
    CHECK(machine_text(*again) == text);
  }
}

TEST_CASE("an unknown name is answered with the nearest shipped one, a wrong path with what is wrong", "[core]") {
  CHECK(to_string(load_kernel("toy_fig").error()) == "unknown kernel 'toy_fig' (did you mean 'toy_fig1'?)");
  CHECK(to_string(load_machine("toyy").error()) == "unknown machine 'toyy' (did you mean 'toy'?)");
  CHECK(to_string(load_kernel("nowhere/at_all.json").error()) == "nowhere/at_all.json: no such file");
  const std::string folder = test::repository_path("tests/golden");
  CHECK(to_string(load_kernel(folder).error())
            .starts_with(folder + ": is a folder without a .ttgir in it or in the folders inside it (give a file in it,"));
  CHECK(load_kernel("zzzzzzzz").error().faults[0].hint.starts_with("shipped: "));
  CHECK(load_kernel("").error().faults.size() == 1);
}

TEST_CASE("a hand schedule of a kernel goes by its short name", "[core]") {
  const auto path = find_schedule("cutlass-cooperative", "gemm_short_k_hopper");
  REQUIRE(path.ok());
  CHECK(path->ends_with("kernels/schedules/gemm_short_k_hopper/cutlass-cooperative.json"));
  CHECK(find_schedule("gemm_hopper/cutlass-cooperative", "gemm_short_k_hopper")->ends_with("gemm_hopper/cutlass-cooperative.json"));
  CHECK(to_string(find_schedule("fa3", "gemm_hopper").error()).starts_with("unknown schedule 'fa3'"));
  CHECK(find_schedule("fa3", "attention_forward_hopper").ok());
}

TEST_CASE("HEDDLE_ASSETS moves the library, and a wrong one is said", "[core]") {
  const std::string root = library_root().value();
  REQUIRE(::setenv("HEDDLE_ASSETS", "/nowhere", 1) == 0);
  const auto wrong = load_kernel("toy_fig1");
  REQUIRE(::setenv("HEDDLE_ASSETS", root.c_str(), 1) == 0);
  const auto right = load_kernel("toy_fig1");
  ::unsetenv("HEDDLE_ASSETS");
  REQUIRE(!wrong.ok());
  CHECK(wrong.error().kind == ErrorKind::Environment);
  CHECK(to_string(wrong.error()) ==
        "HEDDLE_ASSETS is /nowhere, which has no kernels/ and assets/machines/ (set it to the folder that holds both, "
        "or unset "
        "it)");
  CHECK(right.ok());
}

TEST_CASE("a kernel's name may say how it is cut, and the way back says it too", "[core]") {
  const std::string name = "attention_forward_tile_hopper[Q_ROWS/2]";
  const auto whole = load_kernel("attention_forward_tile_hopper"), cut = load_kernel(name);
  REQUIRE(whole);
  REQUIRE(cut);
  CHECK(cut->name == name);
  CHECK(cut->body.size() > whole->body.size());
  CHECK(name_in_library(Shelf::Kernels, cut->source) == name);
  const auto again = load_kernel(cut->source);
  REQUIRE(again);
  CHECK(again->body.size() == cut->body.size());
  CHECK_FALSE(load_kernel("attention_forward_tile_hopper[NOPE/2]"));
  CHECK_FALSE(load_kernel("attention_forward_tile_hopper[Q_ROWS/-1]"));
  CHECK_FALSE(load_kernel("attention_forward_tile_hopper[Q_ROWS/99999999999999999999]"));
}
