// Sentences of demands: said, and read back.
#include "core/schedule/constraint_text.h"

#include <catch2/catch.hpp>

#include "tests/support/random_constraint.h"

using namespace heddle;

namespace {

/// The ops S, P, O and a channel of the toy, plus names that would be words of a sentence.
Problem named(std::vector<std::string> ops, std::vector<std::string> channels = {"K"}) {
  Problem problem;
  problem.kernel = "k";
  for (std::string& name : ops) problem.ops.emplace_back().name = std::move(name);
  for (std::string& name : channels) problem.channels.emplace_back().name = std::move(name);
  return problem;
}

UserConstraint demand(ConstraintKind kind, std::vector<std::string> ops, std::int64_t low, std::int64_t high, std::string channel = {}) {
  UserConstraint c;
  c.kind = kind;
  c.ops = std::move(ops);
  c.channel = std::move(channel);
  c.low = low;
  c.high = high;
  c.name = describe(c);
  return c;
}

void reads_as(const std::string& text, const UserConstraint& wanted, const Problem& problem = named({"S", "P", "O"})) {
  INFO(text);
  const auto read = parse_constraint(text, problem);
  if (!read) FAIL(to_string(read.error()));
  CHECK(*read == wanted);
}

std::string fault_of(const std::string& text, const Problem& problem = named({"S", "P", "O"})) {
  const auto read = parse_constraint(text, problem);
  if (read) FAIL(text << " was read as " << read->name);
  CHECK(read.error().faults.size() == 1);
  return to_string(read.error());
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what is described is read back, whatever the constraint", "[core]") {
  int read_back = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 random(seed);
    const Problem problem =
        named({"S", "P", "O", "QK0", "load.k@1", "pin", "and", "a b", "x..y", "-3", "17", "q\"\\", "größe"}, {"K", "for", "two words"});
    const auto constraint = test::random_constraint(problem, 640, random);
    if (!constraint) continue;
    UserConstraint wanted = *constraint;
    wanted.name = describe(wanted);
    INFO("seed " << seed << ": " << wanted.name);
    const auto read = parse_constraint(wanted.name, problem);
    if (!read) FAIL(to_string(read.error()));
    REQUIRE(*read == wanted);
    ++read_back;
  }
  CHECK(read_back > 3000);
}

TEST_CASE("many ops and negative delays are read back", "[core]") {
  const Problem problem = named({"S", "P", "O"});
  for (const ConstraintKind kind :
       {ConstraintKind::Pin, ConstraintKind::InGroup, ConstraintKind::SameGroup, ConstraintKind::DifferentGroup, ConstraintKind::SameStage})
    reads_as(describe(demand(kind, {"S", "P", "O"}, kind == ConstraintKind::Pin || kind == ConstraintKind::InGroup ? 1 : 0, 0)),
             demand(kind, {"S", "P", "O"}, kind == ConstraintKind::Pin || kind == ConstraintKind::InGroup ? 1 : 0, 0));
  reads_as("S and O: at least -1 cycles apart, in this order", demand(ConstraintKind::Before, {"S", "O"}, -1, 0));
  reads_as("S and O: at least 1 stage apart, in this order", demand(ConstraintKind::EarlierStage, {"S", "O"}, 1, 0));
}

TEST_CASE("demands on II, closed groups and widths are read in words", "[core]") {
  reads_as("II <= 200", demand(ConstraintKind::IIRange, {}, 1, 200));
  reads_as("II at most 200", demand(ConstraintKind::IIRange, {}, 1, 200));
  reads_as("II at least 100", demand(ConstraintKind::IIRange, {}, 100, 0));
  reads_as("II from 100 to 200", demand(ConstraintKind::IIRange, {}, 100, 200));
  reads_as("S in a closed group", demand(ConstraintKind::ClosedGroup, {"S"}, 0, 0));
  UserConstraint crossing = demand(ConstraintKind::MaxCrossingSmem, {}, 64, 4096);
  crossing.rings = {{"S", {"P", "O"}, 100}, {"P", {"O"}, 50}};
  crossing.name = describe(crossing);
  reads_as("at most 4096 bytes of shared memory for rings between groups beside 64: S to P, O takes 100; P to O takes 50", crossing);
  reads_as("at most 65536 registers by the width of groups", demand(ConstraintKind::MaxWidthRegisters, {}, 0, 65536));
}

TEST_CASE("short forms are understood", "[core]") {
  reads_as("S = 128", demand(ConstraintKind::Pin, {"S"}, 128, 0));
  reads_as("S starts at 128", demand(ConstraintKind::Pin, {"S"}, 128, 0));
  reads_as("pin S to 128", demand(ConstraintKind::Pin, {"S"}, 128, 0));
  reads_as("100 <= S <= 200", demand(ConstraintKind::Range, {"S"}, 100, 200));
  reads_as("S in 100..200", demand(ConstraintKind::Range, {"S"}, 100, 200));
  reads_as("S between 100 and 200", demand(ConstraintKind::Range, {"S"}, 100, 200));
  reads_as("S in group 2", demand(ConstraintKind::InGroup, {"S"}, 2, 0));
  reads_as("S,O not in group 0", demand(ConstraintKind::NotInGroup, {"S", "O"}, 0, 0));
  reads_as("S, O together", demand(ConstraintKind::SameGroup, {"S", "O"}, 0, 0));
  reads_as("S and O in the same stage", demand(ConstraintKind::SameStage, {"S", "O"}, 0, 0));
  reads_as("S before O", demand(ConstraintKind::Before, {"S", "O"}, 0, 0));
  reads_as("S before O by 1 stage", demand(ConstraintKind::EarlierStage, {"S", "O"}, 1, 0));
  reads_as("S before O by 2 stages", demand(ConstraintKind::EarlierStage, {"S", "O"}, 2, 0));
  reads_as("S in an earlier stage than O", demand(ConstraintKind::EarlierStage, {"S", "O"}, 1, 0));
  reads_as("S before O by 64", demand(ConstraintKind::Before, {"S", "O"}, 64, 0));
  reads_as("S + 64 before O", demand(ConstraintKind::Before, {"S", "O"}, 64, 0));
  reads_as("S+64<=O", demand(ConstraintKind::Before, {"S", "O"}, 64, 0));
  reads_as("S <= O + 64", demand(ConstraintKind::Before, {"S", "O"}, -64, 0));
  reads_as("registers <= 240", demand(ConstraintKind::MaxRegisters, {}, 0, 240));
  reads_as("max stages 3", demand(ConstraintKind::MaxStages, {}, 0, 3));
  reads_as("warps at most 12", demand(ConstraintKind::MaxWarps, {}, 0, 12));
  reads_as("smem <= 160KiB", demand(ConstraintKind::MaxSmem, {}, 0, 160 * 1024));
  reads_as("at most 160 KiB of shared memory", demand(ConstraintKind::MaxSmem, {}, 0, 160 * 1024));
  reads_as("no more than 256 columns", demand(ConstraintKind::MaxTmem, {}, 0, 256));
  reads_as("depth of K <= 2", demand(ConstraintKind::MaxDepth, {}, 0, 2, "K"));
  // An op may be called like a resource.
  reads_as("warps = 5", demand(ConstraintKind::Pin, {"warps"}, 5, 0), named({"warps"}));
}

TEST_CASE("what is not understood is named, with a guess", "[core]") {
  CHECK(has(fault_of("pin QK1 at 3", named({"QK0", "QK10", "exp"})), "did you mean"));
  CHECK(has(fault_of("pin S att 3"), "did you mean 'at'?"));
  CHECK(has(fault_of("at most 3 stagse"), "did you mean 'stages'?"));
  CHECK(has(fault_of("at most 3 slots for V"), "no channel 'V'"));
  CHECK(has(fault_of("pin S at"), "it ends where a number should follow"));
  CHECK(has(fault_of("pin S at 3 please"), "'please' is left over after \"pin S at 3\""));
  CHECK(has(fault_of(""), "it is empty"));
  CHECK(has(fault_of("pin \"S at 3"), "quotation mark"));
  CHECK(has(fault_of("S from 9 to 3"), "nothing lies between"));
  CHECK(has(fault_of("S and S in one group"), "listed twice"));
  CHECK(has(fault_of("S in one group"), "at least 2 ops"));
  CHECK(has(fault_of("S before O by 0 stages"), "0 is not a number of stages from 1 to 1024"));
  CHECK(has(fault_of("S before O by 1025 stages"), "1025 is not a number of stages"));
  CHECK(has(fault_of("S and P in an earlier stage than O"), "between two ops"));
  CHECK(has(fault_of("pin S at 99999999999999999999"), "is not a number from 0"));
  CHECK(has(fault_of("smem <= 99999999999 KiB"), "is not a number from 0"));
  CHECK(has(fault_of("pin S at -3"), "-3 is not a number from 0"));
  CHECK(has(fault_of("S before O + 64"), "'S before O by N'"));
  CHECK(has(fault_of("S, P before O"), "two ops"));
  CHECK(has(fault_of("registers"), "it ends where <="));
  CHECK(has(fault_of("S in tha group"), "tha"));
}

TEST_CASE("no text makes the parser crash", "[core]") {
  const std::vector<std::string> words{"pin",   "S",  "O",  "and", ",",     "at",   "in", "group", "not",  "before", "by",
                                       "+",     "-",  "<=", "..",  "3",     "-2",   "\"", "\\",    "max",  "most",   "stages",
                                       "depth", "of", "K",  ":",   "least", "from", "to", "KiB",   "\xff", "=",      "<"};
  const Problem problem = named({"S", "P", "O"});
  for (unsigned seed = 0; seed < 20000; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (unsigned n = random() % 9; n > 0; --n) text += words[random() % words.size()] + (random() % 3 ? " " : "");
    INFO("seed " << seed << ": " << text);
    if (const auto read = parse_constraint(text, problem)) {
      const auto again = parse_constraint(describe(*read), problem);
      REQUIRE(again.ok());
      CHECK(*again == *read);
    } else {
      CHECK_FALSE(read.error().faults.empty());
    }
  }
}
