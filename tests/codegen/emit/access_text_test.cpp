// Accesses and changes of layout as text, run over the emulator: every register ends where its layout says, whatever the instruction.
#include <functional>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/emit/access_text.h"
#include "codegen/emit/formula.h"
#include "codegen/emit/relayout.h"
#include "core/layout/access.h"
#include "core/layout/notation.h"
#include "tests/codegen/emulation.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

using Shape = std::vector<std::int64_t>;

struct Case {
  std::string registers, memory;
  Shape shape;
  int bits;
  std::string instruction;
  LaneExchange exchange = {};
};

Layout layout(const std::string& text, const Shape& shape, int bits) {
  const auto read = parse_layout(text, {shape, bits});
  INFO(text);
  REQUIRE(read.ok());
  return *read;
}

/// Any number that tells elements of one case apart, within the bits.
std::string number(const std::string& element, int bits) {
  return bits == 8 ? fmt::format("({0} * 37 + ({0} >> 8) * 11) & 255", element) : element;
}

int element_of(const Layout& of, const LayoutPlace& place) {
  const auto element = element_at(of, place);
  if (!element) return -1;
  std::int64_t n = 0;
  for (std::size_t d = 0; d < element->size(); ++d) n = n * of.shape[d] + (*element)[d];
  return static_cast<int>(n);
}

/// "const int held3[128][32] = ...": the element of every register of every thread.
std::string held_text(const std::string& name, const Layout& registers) {
  const auto count = registers.extent(LayoutAxis::Register);
  std::string text = fmt::format("const int {}[128][{}] = {{\n", name, count);
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < count; ++r) {
      LayoutPlace place;
      place[LayoutAxis::Register] = r, place[LayoutAxis::Lane] = t % 32, place[LayoutAxis::Warp] = t / 32;
      text += fmt::format("{}{}{}", r == 0 ? "{" : "", element_of(registers, place), r + 1 == count ? "},\n" : ",");
    }
  return text + "};\n";
}

/// The registers of this thread, and what is in them.
std::string fill_text(const std::string& array, const std::string& held, int count, int bits, bool filled) {
  const int per = std::max(1, 32 / bits);
  std::string text = fmt::format("  {} {}[{}] = {{}};\n", bits == 32 ? "float" : "u32", array, count / per);
  if (!filled) return text;
  if (bits == 32) return text + fmt::format("  for (int r = 0; r < {}; ++r) {}[r] = {}[tid][r];\n", count, array, held);
  return text + fmt::format("  for (int r = 0; r < {}; ++r) {}[r / {}] |= u32({}) << r % {} * {};\n", count, array, per,
                            number(held + "[tid][r]", bits), per, bits);
}
std::string check_text(const std::string& array, const std::string& held, int count, int bits, const std::string& what) {
  const int per = std::max(1, 32 / bits);
  const std::string got =
      bits == 32 ? array + "[r]" : fmt::format("({}[r / {}] >> r % {} * {} & {})", array, per, per, bits, (1u << bits) - 1);
  return fmt::format("  for (int r = 0; r < {}; ++r) if ({} != ({})) die(\"{}: a register\");\n", count, got,
                     number(held + "[tid][r]", bits), what);
}

constexpr const char* kHead = R"(
const int slot = 8192;
template <class T> void all_memory(const std::vector<int>& offsets, int bits, bool fill, const char* what) {
  __syncthreads();
  if (threadIdx.x == 0)
    for (std::size_t n = 0; n < offsets.size(); ++n) {
      const int i = int(n);
      const T x = bits == 8 ? T((i * 37 + (i >> 8) * 11) & 255) : T(i);
      if (fill) store_shared<T>(slot + offsets[n] * sizeof(T), x);
      else if (load_shared<T>(slot + offsets[n] * sizeof(T)) != x) die(std::string(what) + ": memory");
    }
  __syncthreads();
}
)";

std::string offsets_text(const std::string& name, const Layout& memory) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(memory.elements()));
  for (std::int64_t n = 0; n < memory.extent(LayoutAxis::Offset); ++n) {
    LayoutPlace place;
    place[LayoutAxis::Offset] = n;
    if (const int element = element_of(memory, place); element >= 0) offsets[static_cast<std::size_t>(element)] = n;
  }
  return fmt::format("const std::vector<int> {}{{{}}};\n", name, fmt::join(offsets, ","));
}

void run_cases(const std::vector<Case>& cases) {
  std::string text = kHead, calls;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const Case& c = cases[k];
    const Layout registers = layout(c.registers, c.shape, c.bits), memory = layout(c.memory, c.shape, c.bits);
    const AccessTextResult made =
        access_text({&registers, &memory, c.bits, {c.instruction, c.exchange}}, c.instruction.starts_with("st") ? "to" : "from");
    const std::string what = fmt::format("{} {} {} {}", c.instruction, c.registers.substr(0, 20), c.memory.substr(0, 30), c.bits);
    INFO(what << ": " << made.refusal);
    REQUIRE(made.text.has_value());
    const auto count = static_cast<int>(registers.extent(LayoutAxis::Register));
    const std::string held = fmt::format("held{}", k), offsets = fmt::format("offsets{}", k);
    const bool store = c.instruction.starts_with("st");
    const char* type = c.bits == 32 ? "float" : c.bits == 16 ? "std::uint16_t" : "std::uint8_t";
    text += held_text(held, registers) + offsets_text(offsets, memory) + fmt::format("void case{}() {{\n", k) +
            "  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;\n";
    text += fill_text("v", held, count, c.bits, store);
    if (!store) text += fmt::format("  all_memory<{}>({}, {}, true, \"\");\n", type, offsets, c.bits);
    text += "  {\n";
    for (const std::string& line : lines_of(*made.text, {"v", c.bits == 32, std::max(1, count * c.bits / 32)}, "slot"))
      text += "  " + line + "\n";
    text += "  }\n";
    text += store ? fmt::format("  all_memory<{}>({}, {}, false, \"{}\");\n", type, offsets, c.bits, what)
                  : check_text("v", held, count, c.bits, what);
    text += "  __syncthreads();\n}\n";
    calls += fmt::format("  case{}();\n", k);
  }
  text += "void kernel() {\n" + calls + "}\nint main() { run_block(0, 1, 128, 1, kernel); }\n";
  const auto outcomes = test::run_emulated(text, {""});
  REQUIRE(outcomes.size() == 1);
  INFO(outcomes[0].complaint);
  CHECK(outcomes[0].code == 0);
}

const Shape kTile{64, 64}, kWide{64, 128};
constexpr const char* kColumnMajor = "(64,64):(1,64)";

}  // namespace

TEST_CASE("stores of every width, and by stmatrix, leave every element where its layout has it", "[codegen][.slow]") {
  std::vector<Case> cases;
  for (const char* memory : {"panels 128", "panels 64", "panels 32", "rows", "rows 144"}) {
    for (const char* instruction : {"stmatrix.x4", "stmatrix.x2", "stmatrix.x1", "st.shared.4", "st.shared.2"})
      cases.push_back({"accumulator", memory, kTile, 16, instruction});
    for (const char* instruction : {"st.shared.8", "st.shared.4"}) cases.push_back({"accumulator", memory, kTile, 32, instruction});
    cases.push_back({"accumulator", memory, kWide, 8, "st.shared.1"});
    cases.push_back({"operand", memory, kWide, 8, "st.shared.4"});
  }
  cases.push_back({"accumulator", "panels 128", kTile, 32, "st.shared.8", {2, 3}});
  cases.push_back({"accumulator", "panels 128", {64, 96}, 32, "st.shared.8"});  // three panels
  for (const char* instruction : {"stmatrix.x4.trans", "stmatrix.x2.trans", "stmatrix.x1.trans", "st.shared.2"})
    cases.push_back({"accumulator", kColumnMajor, kTile, 16, instruction});
  cases.push_back({"thread_rows", "panels 128", {128, 64}, 16, "st.shared.16"});
  cases.push_back({"thread_rows", "panels 128", {128, 32}, 32, "st.shared.16"});
  cases.push_back({"warp_rows", "panels 0", {8, 1280}, 16, "st.shared.16"});  // five panels
  run_cases(cases);
}

TEST_CASE("loads of every width, and by ldmatrix, bring every element where its layout has it", "[codegen][.slow]") {
  std::vector<Case> cases;
  for (const char* memory : {"panels 128", "panels 64", "panels 32", "rows", "rows 144"}) {
    for (const char* instruction : {"ldmatrix.x4", "ldmatrix.x2", "ldmatrix.x1", "ld.shared.4", "ld.shared.2"})
      cases.push_back({"operand", memory, kTile, 16, instruction});
    cases.push_back({"accumulator", memory, kTile, 32, "ld.shared.8"});
    cases.push_back({"accumulator", memory, kWide, 8, "ld.shared.1"});
    cases.push_back({"operand", memory, kWide, 8, "ldmatrix.x4"});
  }
  for (const char* instruction : {"ldmatrix.x4.trans", "ldmatrix.x2.trans", "ldmatrix.x1.trans", "ld.shared.2"})
    cases.push_back({"operand", kColumnMajor, kTile, 16, instruction});
  cases.push_back({"thread_rows", "panels 128", {128, 32}, 32, "ld.shared.16"});
  cases.push_back({"warp_rows", "panels 0", {8, 768}, 16, "ld.shared.16"});  // three panels
  run_cases(cases);
}

TEST_CASE("a change of layout within a warp moves every element", "[codegen][.slow]") {
  struct Change {
    const char *from, *to;
    Shape shape;
    int bits;
    ConversionClass kind;
  };
  // A row of a quad's four threads in the other order of columns: 2 q + {0, 1} of 8 becomes {q, q + 4}.
  const char* strided = "{register = [[0, 4], [8, 0], [0, 8]], lane = [[0, 1], [0, 2], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}";
  const char* turned = "{register = [[8, 0], [0, 1], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]}";
  const std::vector<Change> changes{
      {"accumulator", "operand", kTile, 16, ConversionClass::Same},        {"accumulator", "operand", kTile, 8, ConversionClass::Shuffle},
      {"operand", "accumulator", kTile, 8, ConversionClass::Shuffle},      {"accumulator", turned, {64, 16}, 32, ConversionClass::Rename},
      {"accumulator", turned, {64, 16}, 16, ConversionClass::BytePermute}, {"accumulator", strided, {64, 16}, 32, ConversionClass::Shuffle},
      {"accumulator", strided, {64, 16}, 16, ConversionClass::Shuffle}};
  std::string text = kHead, calls;
  for (std::size_t k = 0; k < changes.size(); ++k) {
    const Change& c = changes[k];
    const Layout from = layout(c.from, c.shape, c.bits), to = layout(c.to, c.shape, c.bits);
    const RelayoutText made = relayout_text(from, to, c.bits, {"v", "w", c.bits == 32 ? "float" : "u32"});
    INFO(c.from << " to " << c.to << ", " << c.bits << ": " << made.refusal);
    REQUIRE(made.refusal.empty());
    CHECK(to_string(made.kind) == std::string(to_string(c.kind)));
    const auto count = static_cast<int>(from.extent(LayoutAxis::Register));
    REQUIRE(count == to.extent(LayoutAxis::Register));
    text += held_text(fmt::format("held{}", k), from) + held_text(fmt::format("wanted{}", k), to) + fmt::format("void case{}() {{\n", k) +
            "  const int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;\n" +
            fill_text("v", fmt::format("held{}", k), count, c.bits, true) + fill_text("w", "", count, c.bits, false);
    for (const std::string& line : made.lines) text += "  " + line + "\n";
    text += check_text("w", fmt::format("wanted{}", k), count, c.bits, fmt::format("change {}", k)) + "  __syncthreads();\n}\n";
    calls += fmt::format("  case{}();\n", k);
  }
  text += "void kernel() {\n" + calls + "}\nint main() { run_block(0, 1, 128, 1, kernel); }\n";
  const auto outcomes = test::run_emulated(text, {""});
  INFO(outcomes.at(0).complaint);
  CHECK(outcomes.at(0).code == 0);
}

TEST_CASE("what a layout cannot be written as is refused by name", "[codegen]") {
  const auto refusal = [](const char* registers, const char* memory, const Shape& shape, int bits, InstructionChoice instruction) {
    const Layout held = layout(registers, shape, bits), kept = layout(memory, shape, bits);
    const AccessTextResult made = access_text({&held, &kept, bits, std::move(instruction)}, "to");
    CHECK_FALSE(made.text.has_value());
    return made.refusal;
  };
  CHECK_THAT(refusal("accumulator", "panels 128", {64, 32}, 32, {"ldmatrix.x4.trans", {}}), Catch::Contains("16 bits"));
  CHECK_FALSE(refusal("accumulator", "panels 128", kTile, 16, {"st.shared.16", {}}).empty());  // two neighbours only
  CHECK_FALSE(refusal("accumulator", kColumnMajor, kTile, 16, {"st.shared.4", {}}).empty());
  CHECK(refusal("accumulator", "panels 128", kTile, 16, {"st.async.4", {}}) == "'st.async.4' is no instruction that can be written");
  const char* other = "{register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[32, 0], [16, 0]]}";
  const Layout warps = layout(other, {64, 16}, 16), fragments = layout("accumulator", {64, 16}, 16);
  CHECK_THAT(relayout_text(fragments, warps, 16, {"v", "w", "u32"}).refusal, Catch::Contains("other warps"));
}

TEST_CASE("a machine's row that says other bytes, matrices or kinds than the instruction of its name has is refused", "[codegen]") {
  const Layout held = layout("accumulator", kTile, 16), kept = layout("panels 128", kTile, 16);
  const auto refusal = [&](const std::string& name, const std::function<void(heddle::Instruction&)>& change) {
    heddle::Instruction row = written_instruction(name).value();
    change(row);
    AccessQuestion question{&held, &kept, 16, {name, {}}};
    question.row = &row;
    return access_text(question, "to").refusal;
  };
  CHECK(refusal("st.shared.4", [](heddle::Instruction&) {}).empty());
  CHECK(refusal("stmatrix.x4", [](heddle::Instruction& row) {
          row.lanes_per_phase = 16;
        }).empty());  // how fast it is, is the machine's to say
  CHECK(refusal("st.shared.4", [](heddle::Instruction& row) { row.bytes = 8; }) ==
        "the machine's row 'st.shared.4' has 8 bytes per lane, and the instruction of that name has 4");
  CHECK(refusal("stmatrix.x4", [](heddle::Instruction& row) { row.matrices = 2; }) ==
        "the machine's row 'stmatrix.x4' has 2 matrices, and the instruction of that name has 4");
  CHECK(refusal("stmatrix.x4", [](heddle::Instruction& row) { row.transposed = true; }) ==
        "the machine's row 'stmatrix.x4' transposes, and the instruction of that name does not");
  CHECK_THAT(refusal("st.shared.4", [](heddle::Instruction& row) { row.kind = InstructionKind::SharedLoad; }),
             Catch::Contains("is of the kind"));
}

TEST_CASE("formulas are what they were made of, or there is none", "[codegen]") {
  // Rows of 144 bytes and pieces of 16 add up; rows of 128 with a swizzle are exclusive ors.
  const auto padded = [](int t, int j) { return std::int64_t{t / 4 * 144 + t % 4 * 4 + j * 16}; };
  const auto swizzled = [](int t, int j) {
    return std::int64_t{t / 4 * 128 + ((t % 4 / 2 ^ t / 4 % 8 ^ j % 4 * 2) * 16) + t % 2 * 8 + j / 4 * 8192};
  };
  const auto random = [](int t, int j) { return std::int64_t{(t * 7919 + j * 104729) % 1009}; };
  const auto sum = BitFormula::of(128, 8, padded), mix = BitFormula::of(128, 12, swizzled);
  REQUIRE(sum.has_value());
  REQUIRE(mix.has_value());
  CHECK(sum->flips() == 0);
  CHECK(sum->added_text("j") == "j * 16");
  CHECK(mix->flipped_text("j") == "j % 4 * 32");
  CHECK(mix->added_text("j") == "j / 4 * 8192");
  CHECK_FALSE(BitFormula::of(128, 8, random).has_value());
}
