// Readers survive anything: every shipped file, damaged at random, is either read or refused with a fault in words.
// What is read is worked with: written, read again, resolved into a problem.
#include <catch2/catch.hpp>
#include <random>

#include "core/base/atomic_file.h"
#include "core/formats/constraints_json.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/support/mutate_json.h"
#include "tests/support/problem_builder.h"

using namespace heddle;

namespace {

constexpr std::uint64_t kSeed = 20260101;
constexpr int kMutations = 3000;  ///< of all files of one kind together

/// Cheap when all is well: Catch2's own checks would dominate the run.
void require_spoken(const Error& error, const std::string& text) {
  bool spoken = !error.faults.empty();
  for (const Fault& fault : error.faults) spoken = spoken && !fault.message.empty();
  if (!spoken) FAIL("an error without a fault in words, for:\n" << text);
}

/// Calls `use(text)` with damaged versions of each text in turn.
template <class Use>
void for_damaged(const std::vector<std::string>& texts, Use use) {
  REQUIRE(!texts.empty());
  INFO("seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < kMutations; ++i) use(test::mutate_json(texts[static_cast<std::size_t>(i) % texts.size()], random));
}

std::vector<std::string> texts_of(Shelf shelf) {
  std::vector<std::string> texts;
  for (const LibraryEntry& entry : list_library(shelf)) texts.push_back(read_file(entry.path).value());
  return texts;
}

}  // namespace

TEST_CASE("damaged kernel files are read or refused, and what is read can be written and resolved", "[core]") {
  const Machine machine = load_machine("toy").value(), hopper = load_machine("h100").value();
  int good = 0;
  for_damaged(texts_of(Shelf::Kernels), [&](const std::string& text) {
    const auto kernel = parse_kernel(text, "fuzz.json");
    if (!kernel) return require_spoken(kernel.error(), text);
    ++good;
    const auto again = parse_kernel(kernel_text(*kernel, text), "fuzz.json");
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
    for (const Machine* m : {&machine, &hopper})
      if (const auto problem = resolve(*kernel, *m); !problem) require_spoken(problem.error(), text);
  });
  CHECK(good > 10);  // else the mutations are too wild to test anything behind the parser
}

TEST_CASE("damaged machine files are read or refused, and what is read can be written and resolved", "[core]") {
  const Kernel toy = load_kernel("toy_fig1").value(), gemm = load_kernel("gemm_hopper").value();
  int good = 0;
  for_damaged(texts_of(Shelf::Machines), [&](const std::string& text) {
    const auto machine = parse_machine(text, "fuzz.json");
    if (!machine) return require_spoken(machine.error(), text);
    ++good;
    const auto again = parse_machine(machine_text(*machine, text), "fuzz.json");
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
    for (const Kernel* k : {&toy, &gemm})
      if (const auto problem = resolve(*k, *machine); !problem) require_spoken(problem.error(), text);
  });
  CHECK(good > 10);
}

TEST_CASE("damaged schedule and constraint files are read or refused", "[core]") {
  const Problem problem = test::toy_problem();
  Schedule schedule;
  schedule.ii = 2;
  schedule.ops = {{0, GroupId(0)}, {1, GroupId(0)}, {3, GroupId(0)}};
  schedule.groups = {{"consumer A", 1, 24}};
  schedule.depths.assign(problem.channels.size(), 0);
  schedule.certificate = Certificate{};
  schedule.certificate->ii = 2;
  int good = 0;
  for_damaged({schedule_text(problem, schedule)}, [&](const std::string& text) {
    const auto read = parse_schedule(text, "fuzz.json", problem);
    if (!read) return require_spoken(read.error(), text);
    ++good;
    const auto again = parse_schedule(schedule_text(problem, *read, text), "fuzz.json", problem);
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
  });
  CHECK(good > 10);

  const Constraints constraints{{"a", true, ConstraintKind::Pin, {"S"}, {}, 1, 0},
                                {"b", true, ConstraintKind::Range, {"S", "P"}, {}, 1, 5},
                                {"c", false, ConstraintKind::Before, {"S", "O"}, {}, -1, 0},
                                {"d", true, ConstraintKind::MaxStages, {}, {}, 0, 3}};
  for_damaged({constraints_text(constraints)}, [&](const std::string& text) {
    const auto read = parse_constraints(text, "fuzz.json", problem);
    if (!read) return require_spoken(read.error(), text);
    const auto again = parse_constraints(constraints_text(*read), "fuzz.json", problem);
    if (!again) FAIL(to_string(again.error()) << "\nfor:\n" << text);
  });
}
