// The instruction catalogue of machine files: what is shipped, and files that are wrong.
#include <catch2/catch.hpp>

#include "core/base/result.h"
#include "core/formats/machine_json.h"
#include "core/layout/known.h"
#include "core/library/library.h"

using namespace heddle;

namespace {

std::string machine_with(const std::string& rows) {
  return R"({"schema": "heddle.machine/1", "name": "m", "units": [{"name": "SMEM", "role": "smem"}],
    "limits": {"smem_bytes": 0, "tmem_columns": 0, "registers_per_sm": 1, "registers_per_thread": 1, "warps_per_cta": 1},
    "instructions": )" +
         rows + "}";
}

std::string faults_of(const std::string& rows) {
  const auto machine = parse_machine(machine_with(rows), "m.json");
  return machine ? "no fault" : to_string(machine.error());
}

std::string row(const std::string& more) { return R"([{"name": "x", "ptx": "x", "source": "derived", )" + more + "}]"; }

}  // namespace

TEST_CASE("every row of a shipped catalogue has a source, a phase rule that is measured or said to be assumed, and good fragments",
          "[core]") {
  for (const char* name : {"h100", "h200", "b200"}) {
    const Machine machine = load_machine(name).value();
    CHECK(machine.instructions.size() >= 47);
    for (const Instruction& row : machine.instructions) {
      CAPTURE(name, row.name);
      CHECK(!row.source.empty());
      CHECK(row.assumed == (row.source.find("measured with heddle calibrate") == std::string::npos));
      CHECK(machine.find_instruction(row.name) == &row);
      for (const Fragment& fragment : row.fragments) {
        const auto layout = layout_of(fragment);
        REQUIRE(layout);
        CHECK(faults_of(*layout).empty());
      }
      CHECK((row.unit.empty() || machine.find_unit(row.unit)));
    }
  }
  CHECK(load_machine("toy").value().instructions.empty());
}

TEST_CASE("Hopper multiplies by wgmma and Blackwell by tcgen05, and neither has what is the other's", "[core]") {
  const Machine hopper = load_machine("h100").value(), blackwell = load_machine("b200").value();
  for (const char* name : {"wgmma.ss.bf16", "wgmma.rs.e4m3", "wgmma.ss.s8"}) {
    CHECK(hopper.find_instruction(name));
    CHECK(!blackwell.find_instruction(name));
  }
  for (const char* name : {"tcgen05.ld.32x32b.x128", "tcgen05.st.16x256b.x32", "tcgen05.mma.ts.bf16"}) {
    CHECK(blackwell.find_instruction(name));
    CHECK(!hopper.find_instruction(name));
  }
  for (const char* name : {"ld.shared.16", "stmatrix.x4.trans", "ldmatrix.x1", "tma.64", "cp.async.8", "st.global.16", "shfl", "prmt"}) {
    CHECK(hopper.find_instruction(name));
    CHECK(blackwell.find_instruction(name));
  }
}

TEST_CASE("wgmma's fragments are the layouts that go by their names", "[core]") {
  const Machine machine = load_machine("h100").value();
  for (const char* type : {"bf16", "f16", "e4m3", "e5m2", "s8"}) {
    const Instruction& product = *machine.find_instruction(std::string("wgmma.rs.") + type);
    REQUIRE(product.fragments.size() == 2);
    const int bits = 256 / product.k;
    CHECK(same_places(layout_of(product.fragments[0]).value(), operand_layout(product.k, bits)));
    CHECK(same_places(layout_of(product.fragments[1]).value(), accumulator_layout(8)));
  }
}

TEST_CASE("a catalogue survives a round trip", "[core]") {
  for (const char* name : {"h100", "b200"}) {
    const Machine machine = load_machine(name).value();
    const std::string text = machine_text(machine);
    const auto again = parse_machine(text, "again.json");
    REQUIRE(again);
    CHECK(machine_text(*again) == text);
    REQUIRE(again->instructions.size() == machine.instructions.size());
    for (std::size_t i = 0; i < machine.instructions.size(); ++i)
      CHECK(again->instructions[i].fragments == machine.instructions[i].fragments);
  }
}

TEST_CASE("copies of a machine share their catalogue, and a row that is added belongs to one of them", "[core]") {
  Machine machine = load_machine("h100").value();
  Machine copy = machine;
  CHECK(&machine.instructions.rows() == &copy.instructions.rows());
  const auto held = copy.instructions.share("shfl");
  Instruction mine;
  mine.name = "mine";
  copy.instructions.push_back(mine);
  CHECK(copy.find_instruction("mine"));
  CHECK(!machine.find_instruction("mine"));
  machine = copy = {};
  CHECK(held->name == "shfl");
}

TEST_CASE("what is wrong with a catalogue is said row by row", "[core]") {
  CHECK(faults_of(R"([{"name": "a"}, {"name": "a", "ptx": "p", "kind": "shared_lod", "source": "s", "bytes": 8}])") ==
        "m.json: /instructions/0: missing key 'ptx'\n"
        "m.json: /instructions/0: missing key 'kind'\n"
        "m.json: /instructions/0: missing key 'source'\n"
        "m.json: /instructions/1/kind: unknown kind of instruction \"shared_lod\" (known: shared_load, shared_store, matrix_load, "
        "matrix_store, product, bulk_copy, async_copy, global_load, global_store, shuffle, byte_permute, tensor_load or tensor_store) "
        "(did you mean 'shared_load'?)\n"
        "m.json: /instructions/1/name: 'a' already is /instructions/0");
  CHECK(faults_of(row(R"("kind": "shared_load", "bytes": 3)")) ==
        "m.json: /instructions/0/bytes: 'x' has bytes 3, expected one of 1, 2, 4, 8, 16");
  CHECK(faults_of(row(R"("kind": "matrix_load", "matrices": 3, "bytes": 16, "lanes_per_phase": 8, "unit": "SMAM")")) ==
        "m.json: /instructions/0/unit: no unit 'SMAM' (declared: SMEM) (did you mean 'SMEM'?)\n"
        "m.json: /instructions/0/matrices: 'x' has matrices 3, expected one of 1, 2, 4");
  // A matrix has 8 rows of 16 bytes, and its name says a box's swizzle.
  CHECK(faults_of(row(R"("kind": "matrix_store", "matrices": 4)")) ==
        "m.json: /instructions/0/bytes: 'x' has bytes 0, expected 16\n"
        "m.json: /instructions/0/lanes_per_phase: 'x' has lanes_per_phase 32, expected 8");
  CHECK(faults_of(row(R"("kind": "matrix_store", "matrices": 4, "bytes": 16, "lanes_per_phase": 16)")) ==
        "m.json: /instructions/0/lanes_per_phase: 'x' has lanes_per_phase 16, expected 8");
  CHECK(faults_of(R"([{"name": "tma.128", "ptx": "x", "source": "s", "kind": "bulk_copy", "swizzle": 64}])") ==
        "m.json: /instructions/0/swizzle: 'tma.128' has swizzle 64, and its name says another (a box with this swizzle is 'tma.64')");
  CHECK(faults_of(row(R"("kind": "shuffle", "lanes_per_phase": 7)")) ==
        "m.json: /instructions/0/lanes_per_phase: expected 1, 2, 4, 8, 16 or 32, found 7");
  CHECK(faults_of(row(R"("kind": "product", "m": 64, "k": 16, "n_least": 64, "n_most": 8, "n_step": 8)")) ==
        "m.json: /instructions/0/n_most: 8 is less than n_least, 64");
  CHECK(faults_of(row(R"("kind": "bulk_copy", "swizzle": 48)")) ==
        "m.json: /instructions/0/swizzle: 'x' has swizzle 48, expected one of 0, 32, 64, 128");
  CHECK(faults_of(row(R"("kind": "shuffle", "cycles": "1 / q")")).find("/instructions/0/cycles: unknown name 'q'") != std::string::npos);
  CHECK(faults_of(row(R"("kind": "shuffle", "cycles": -1)")) == "m.json: /instructions/0/cycles: -1 cycles, expected 0 to 1048576");
}

TEST_CASE("fragments that are no layouts are faults", "[core]") {
  const auto fragment = [](const std::string& text) { return faults_of(row(R"("kind": "shuffle", "fragments": [)" + text + "]")); };
  CHECK(fragment(R"({"lanes": [[1, 0], [2, 0]]})") == "no fault");
  // Row 2 is nowhere.
  CHECK(fragment(R"({"lanes": [[1, 0], [4, 0]]})").find("/instructions/0/fragments/0: fragment '' of 'x' is no layout") !=
        std::string::npos);
  CHECK(fragment(R"({"lanes": [[1, 0], [2]]})").find("a basis has 1 coordinates where another has 2") != std::string::npos);
  CHECK(fragment(R"({"lanes": [[1], [2], [4], [8], [16], [32]]})").find("a warp's 32 lanes have 5 bits") != std::string::npos);
  CHECK(fragment(R"({"lanes": [[-1, 0]]})").find("/instructions/0/fragments/0/lanes/0/0: expected an integer from 0") != std::string::npos);
  CHECK(fragment(R"({"lanes": [[], [1, 0]]})").find("a basis has 0 coordinates, expected 1 to 4") != std::string::npos);
  CHECK(!layout_of(Fragment{"", {{}}, {{0, 1}}, {}}));
  std::string many = "[1]";
  for (int i = 0; i < 100'000; ++i) many += ", [1]";
  CHECK(fragment(R"({"registers": [)" + many + "]}") != "no fault");
}

TEST_CASE("a catalogue of a million rows or of something else is a fault", "[core]") {
  CHECK(faults_of("7") != "no fault");
  CHECK(faults_of("[7, null, []]") != "no fault");
  std::string rows = "[{}";
  for (int i = 0; i < 200'000; ++i) rows += ",{}";
  CHECK(faults_of(rows + "]") != "no fault");
}
