// The emulator's counting, held to what is known of banks, and the micro-kernels of heddle calibrate, which must meet in banks as often as
// they say.
#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/calibrate/micro.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// "instructions port ways" of each statement, run by the lanes of a warp.
std::vector<std::string> counted(const std::vector<std::string>& statements) {
  std::string text = "int main() {\n  banks::on = true;\n  run_block(0, 1, 32, 1, [] {\n    const u32 lane = threadIdx.x;\n    u32 w[4];\n";
  for (std::size_t i = 0; i < statements.size(); ++i) text += fmt::format("#line {}\n    {}\n", 1000 + i, statements[i]);
  text += "  });\n  banks::settle_counts();\n";
  text += "  for (const auto& [key, c] : banks::counts) std::fprintf(stderr, \"%ld %ld %d;\", c.instructions, c.port, c.ways);\n}\n";
  const std::vector<test::Outcome> outcomes = test::run_emulated(text, {""});
  REQUIRE(outcomes.at(0).code == 0);
  std::vector<std::string> results;
  std::istringstream line(outcomes[0].complaint);
  for (std::string one; std::getline(line, one, ';');) results.push_back(one);
  REQUIRE(results.size() == statements.size());
  return results;
}

/// Where the row `row` of 16-byte pieces begins whose piece is `piece`, under a swizzle.
std::string piece(int row_bytes, int span, const char* number = "lane / 16") {
  return fmt::format("swizzled(lane % 16 * {0} + {1} * 16, {2})", row_bytes, number, span);
}

}  // namespace

TEST_CASE("the emulator counts banks as published examples have them", "[codegen][.slow]") {
  struct Example {
    std::string text, counts;
  };
  const std::vector<Example> examples{
      {"store_word(lane * 4, lane);", "1 1 1"},
      {"store_word(lane * 8, lane);", "1 2 2"},
      {"store_word(lane * 128, lane);", "1 32 32"},
      {"store_word(lane * 132, lane);", "1 1 1"},  // padded rows
      {"load_word(0, w[0]);", "1 1 1"},            // one word for all
      {"load_byte(lane, w[0]);", "1 1 1"},         // lanes that share words
      {"store_half(lane * 128, lane);", "1 32 32"},
      {"if (lane % 8 == 0) store_word(lane * 16, lane);", "1 4 4"},
      {"store_two(lane * 8, 1, 2);", "1 2 1"},
      {"load_words(lane * 16, w[0], w[1], w[2], w[3]);", "1 4 1"},
      // ldmatrix.x4 on rows of 128 bytes: 8-way plain, free with Swizzle<3,4,3> of bytes.
      {fmt::format("load_matrices({}, w[0], w[1], w[2], w[3]);", piece(128, 0)), "1 32 8"},
      {fmt::format("load_matrices({}, w[0], w[1], w[2], w[3]);", piece(128, 128)), "1 4 1"},
      // Swizzle<3,3,4> of 16-bit elements: for rows of 256 bytes, not of 128.
      {"const auto wide = [](u32 a) { return a ^ (a >> 4 & 0x70); }; load_matrices(wide(lane % 16 * 256 + lane / 16 * 16), w[0], w[1], "
       "w[2], w[3]);",
       "1 4 1"},
      {"const auto wide2 = [](u32 a) { return a ^ (a >> 4 & 0x70); }; load_matrices(wide2(lane % 16 * 128 + lane / 16 * 16), w[0], w[1], "
       "w[2], w[3]);",
       "1 8 2"},
      // stmatrix under TMA's modes.
      {fmt::format("store_matrices({}, 0, 0, 0, 0);", piece(128, 128)), "1 4 1"},
      {fmt::format("store_matrices({}, 0, 0, 0, 0);", piece(64, 64)), "1 4 1"},
      {fmt::format("store_matrices({}, 0, 0, 0, 0);", piece(32, 32)), "1 4 1"},
      {fmt::format("store_matrices({}, 0, 0, 0, 0);", piece(128, 0)), "1 32 8"},
      // Pairs of an f32 accumulator: two-way under 128 bytes, free when odd rows store the piece after next.
      {"store_pair(swizzled(lane / 4 * 128 + lane % 4 * 8, 128), 0, 0);", "1 4 2"},
      {"store_pair(swizzled(lane / 4 * 128 + (lane / 4 % 2) * 64 + lane % 4 * 8, 128), 0, 0);", "1 2 1"},
      {"for (int j = 0; j < 3; ++j) store_pair(lane / 4 * 32 + lane % 4 * 8, 0, 0);", "3 6 1"}};
  std::vector<std::string> texts;
  for (const Example& example : examples) texts.push_back(example.text);
  const std::vector<std::string> counts = counted(texts);
  for (std::size_t i = 0; i < examples.size(); ++i) {
    INFO(examples[i].text);
    CHECK(counts[i] == examples[i].counts);
  }
}

TEST_CASE("ldmatrix brings back what stmatrix stored, and the transposed one its transpose", "[codegen][.slow]") {
  const std::string text = R"(
#define EXPECT(x) if (!(x)) die("not " #x)
int main() {
  run_block(0, 1, 32, 1, [] {
    const u32 lane = threadIdx.x, a = swizzled(lane % 16 * 64 + lane / 16 * 16, 64);
    u32 r[4], w[4];
    for (u32 i = 0; i < 4; ++i) r[i] = (lane << 8 | i) * 0x10001 + 0x800000;
    store_matrices(a, r[0], r[1], r[2], r[3]);
    load_matrices(a, w[0], w[1], w[2], w[3]);
    for (int i = 0; i < 4; ++i) EXPECT(w[i] == r[i]);
    load_matrices_transposed(a, w[0], w[1], w[2], w[3]);
    store_matrices_transposed(a, w[0], w[1], w[2], w[3]);
    load_matrices(a, w[0], w[1], w[2], w[3]);
    for (int i = 0; i < 4; ++i) EXPECT(w[i] == r[i]);
    // Element (row, column) of a matrix is 8 row + column; a lane has two of row lane / 4.
    store_matrix(lane % 8 * 16, (lane / 4 * 8 + lane % 4 * 2) | (lane / 4 * 8 + lane % 4 * 2 + 1) << 16);
    load_matrix_transposed(lane % 8 * 16, w[0]);
    EXPECT((w[0] & 0xffff) == lane % 4 * 2 * 8 + lane / 4);
    EXPECT(w[0] >> 16 == (lane % 4 * 2 + 1) * 8 + lane / 4);
    store_byte(lane, lane + 250), store_half(64 + lane * 2, lane + 65530);
    load_byte(lane, w[0]), load_half(64 + lane * 2, w[1]);
    EXPECT(w[0] == ((lane + 250) & 255));
    EXPECT(w[1] == ((lane + 65530) & 65535));
  });
})";
  const test::Outcome outcome = test::run_emulated(text, {""}).at(0);
  INFO(outcome.complaint);
  CHECK(outcome.code == 0);
}

TEST_CASE("the micro-kernels of the catalogue meet in banks as often as they say", "[codegen][.slow]") {
  const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
  REQUIRE(machine.ok());
  std::vector<std::string> left_out;
  const std::vector<MicroKernel> kernels = bank_kernels(*machine, left_out);
  REQUIRE(kernels.size() >= 88);
  const std::string& first = kernels.front().source;
  const std::size_t frame = first.find("/// One by one, then many in a row.");
  REQUIRE(frame != std::string::npos);
  std::string text =
      "u32 clock_now() { return 0; }\ntemplate <class T> void settle(T) {}\n" + first.substr(frame, first.find("\n}\n", frame) + 3 - frame);
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    std::string body = kernels[k].source.substr(kernels[k].source.find("extern \"C\" __global__"));
    const std::string name = "heddle_calibrate(", whole = fmt::format("time_single<{}, {}>", kMicroRepeats, kMicroBurst);
    body.replace(body.find(name), name.size(), fmt::format("micro{}(", k));
    REQUIRE(body.find(whole) != std::string::npos);
    body.replace(body.find(whole), whole.size(), "time_single<2, 1>");
    text += body;
  }
  text += "int main() {\n  banks::on = true;\n  u64 out[16];\n";
  for (std::size_t k = 0; k < kernels.size(); ++k)
    text += fmt::format(
        "  run_block(0, 1, {1}, 1, [&] {{ micro{0}(out); }});\n  banks::settle_counts();\n  for (const auto& [key, c] : banks::counts) "
        "std::fprintf(stderr, \"{0} %ld %ld %ld %d %d;\", c.instructions, c.phases, c.port, c.ways, (int)banks::counts.size());\n  "
        "banks::counts.clear();\n",
        k, kernels[k].launch.threads);
  const test::Outcome outcome = test::run_emulated(text + "}\n", {""}).at(0);
  INFO(outcome.complaint);
  REQUIRE(outcome.code == 0);
  std::istringstream line(outcome.complaint);
  std::size_t seen = 0;
  for (std::string one; std::getline(line, one, ';'); ++seen) {
    std::istringstream numbers(one);
    std::size_t k = 0;
    long instructions = 0, phases = 0, port = 0;
    int ways = 0, sites = 0;
    numbers >> k >> instructions >> phases >> port >> ways >> sites;
    REQUIRE(k == seen);
    const MicroKernel& kernel = kernels[k];
    INFO(kernel.instruction << " at " << kernel.ways);
    CHECK(sites == 1);
    CHECK(instructions == (2 + kernel.groups) * kernel.issued);
    CHECK(ways == kernel.ways);
    CHECK(port == phases * kernel.ways);  // every phase, not the worst alone
    CHECK(port == instructions * bank_cycles(kernel, machine->find_instruction(kernel.instruction)->lanes_per_phase));
  }
  CHECK(seen == kernels.size());
}

// Every text that another test runs is compared, too (run_text); these shipped kernels no other test runs.
TEST_CASE("the text of GEMMs with short sums computes what heddle eval computes, and meets in banks as predicted", "[codegen][.slow]") {
  for (const char* schedule : {"cutlass-pingpong", "cutlass-cooperative"}) {
    INFO(schedule);
    const int before = test::accesses_compared();
    const test::Lowering from = test::lowering("gemm_short_k_hopper", {{"M", 256}, {"N", 512}, {"K", 256}},
                                               fmt::format("kernels/schedules/gemm_short_k_hopper/{}.json", schedule));
    CHECK(test::run_text(from, 2) == 0);
    CHECK(test::accesses_compared() >= before + 3);
  }
}

TEST_CASE("the text of attention by one tile, cut in two, computes what heddle eval computes, and meets in banks as predicted",
          "[codegen][.slow]") {
  const int before = test::accesses_compared();
  const test::Lowering from = test::lowering("attention_forward_tile_hopper[Q_ROWS/2]", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}},
                                             "tests/schedules/attention_forward_tile_hopper_h100.json");
  CHECK(test::run_text(from, 1) < 4e-3);
  CHECK(test::accesses_compared() > before);
}

TEST_CASE("every other shipped kernel without a text is refused for what no schedule changes", "[codegen]") {
  // Theirs are in the tests of texts: run_text compares what each meets in banks with what was predicted. For the toy's machine nobody
  // writes kernels.
  const std::map<std::string, std::string> refused{{"attention_forward_tile_hopper", "tile_rows"},
                                                   {"attention_forward_unspecialized_hopper", "producer"},
                                                   {"gemm_unspecialized_hopper", "producer"},
                                                   {"gemm_waited_hopper", "tile_rows"}};
  std::size_t seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::repository_path("kernels"))) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().stem().string();
    INFO(name);
    const auto rule = refused.find(name);
    if (rule == refused.end()) continue;
    ++seen;
    const auto kernel = load_kernel(file.path().string());
    const auto machine = load_machine(test::repository_path("assets/machines/h100.json"));
    REQUIRE(kernel.ok());
    REQUIRE(machine.ok());
    const auto problem = resolve(*kernel, *machine, {});
    REQUIRE(problem.ok());
    Schedule empty;
    empty.ops.resize(problem->ops.size());
    empty.depths.resize(problem->channels.size());
    const BuildResult built = build_program(*kernel, *problem, empty);
    const auto says = [&](const Refusal& refusal) { return refusal.rule == rule->second; };
    CHECK(std::any_of(built.refusals.begin(), built.refusals.end(), says));
  }
  CHECK(seen == refused.size());
}
