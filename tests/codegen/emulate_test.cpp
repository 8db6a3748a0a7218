// The generated text itself, run on the CPU: compiled as C++ over tests/codegen/emulator/gpu.h and compared with heddle eval.
// What this proves about a GPU is limited to what the emulator takes from the PTX ISA; what it finds are wrong addresses,
// coordinates, swizzles, fragments, byte counts and arrival counts.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/emit/emit.h"
#include "core/base/atomic_file.h"
#include "core/kernel/evaluate.h"
#include "core/library/library.h"
#include "core/problem/resolve.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("heddle-emulate-{}", static_cast<long>(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

/// The text with the emulator in place of its PTX wrappers, and a main() that reads and writes tensors.
std::string program_text(const Emission& emission, const Kernel& kernel, const std::string& folder, int blocks) {
  const std::string& source = emission.source;
  std::string text = "#include \"" + test::repository_path("tests/codegen/emulator/gpu.h") + "\"\n";
  const std::string head = "DEVICE void product_n";
  for (std::size_t at = source.find(head); at != std::string::npos; at = source.find(head, at + 1)) {
    // product_n128_ss_ta_t: columns, where A is, and which operands are transposed
    const std::size_t begin = at + head.size();
    const std::string rest = source.substr(begin, source.find('(', begin) - begin);
    const int n = std::stoi(rest);
    text += fmt::format("template <class... A> void product_n{}(float (&d)[{} / 2], A... a) {{ product<{}, {}, {}>(d, a...); }}\n", rest, n,
                        n, rest.find("_ta") != std::string::npos, rest.ends_with("_t"));
  }
  text += source.substr(source.find("extern \"C\" __global__"));
  text += "int main() {\n";
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
    text += fmt::format("  auto t{0} = read_{1}(\"{2}/{0}\");\n", t, kernel.tensors[t].dtype == DType::F32 ? "floats" : "bf16", folder);
  std::string arguments;
  for (std::size_t m = 0; m < emission.launch.maps.size(); ++m) {
    const TensorMapPlan& map = emission.launch.maps[m];
    text += fmt::format("  const Plan plan{}{{t{}.data(), {}, {{{}}}, {{{}}}, {}}};\n", m, map.tensor,
                        bits_of(kernel.tensors[map.tensor].dtype) / 8, fmt::join(map.extents, ", "), fmt::join(map.box, ", "), map.swizzle);
    arguments += fmt::format("{}TensorMap{{&plan{}}}", arguments.empty() ? "" : ", ", m);
  }
  for (const std::size_t p : emission.launch.pointers) arguments += fmt::format(", t{}.data()", p);
  text += fmt::format("  for (int b = 0; b < {0}; b += {4}) run_block(b, {0}, {1}, {4}, [&] {{ {2}({3}); }});\n", blocks,
                      emission.launch.threads, emission.launch.entry, arguments, emission.launch.cluster);
  for (std::size_t t = 0; t < kernel.tensors.size(); ++t)
    if (kernel.tensors[t].role != TensorRole::Input)
      text += fmt::format("  write_{2}(\"{1}/{0}\", t{0});\n", t, folder, kernel.tensors[t].dtype == DType::F32 ? "floats" : "bf16");
  return text + fmt::format("  std::ofstream(\"{}/ways\") << pair_store_ways();\n}}\n", folder);
}

int ways = 0;  ///< of the text that ran last: how often lanes that store pairs meet in one bank, at worst

/// Root mean square of the difference over that of the reference, after running the text on `blocks` blocks.
/// With `wrong`, the first text is replaced by the second wherever it stands; the answer is then infinite if nothing came out.
double run_text(const test::Lowering& from, int blocks, std::pair<std::string, std::string> wrong = {}, const BuildOptions& options = {}) {
  const EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, test::program_of(from, {}, options));
  REQUIRE(emitted.emission.has_value());
  auto tensors = make_tensors(from.kernel, from.problem.params, 3);
  REQUIRE(tensors.ok());
  const Folder folder;
  for (std::size_t t = 0; t < from.kernel.tensors.size(); ++t) {
    const auto& data = tensors->at(from.kernel.tensors[t].name).array.data;
    std::ofstream(folder.path / std::to_string(t), std::ios::binary)
        .write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(4 * data.size()));
  }
  const std::string cpp = (folder.path / "kernel.cpp").string(), run = (folder.path / "kernel").string();
  std::string text = program_text(*emitted.emission, from.kernel, folder.path.string(), blocks);
  if (!wrong.first.empty()) REQUIRE(text.find(wrong.first) != std::string::npos);
  for (std::size_t at = 0; !wrong.first.empty() && (at = text.find(wrong.first, at)) != std::string::npos; at += wrong.second.size())
    text.replace(at, wrong.first.size(), wrong.second);
  REQUIRE(write_file(cpp, text).ok());
  REQUIRE(std::system(fmt::format("\"{}\" -std=c++20 -O2 -w -o \"{}\" \"{}\"", HEDDLE_CXX, run, cpp).c_str()) == 0);
  const int code = std::system(("\"" + run + "\" 2>/dev/null").c_str());
  if (!wrong.first.empty() && code != 0) return std::numeric_limits<double>::infinity();
  REQUIRE(code == 0);
  std::ifstream(folder.path / "ways") >> ways;
  REQUIRE(execute(from.kernel, from.problem.params, *tensors).ok());
  double error = 0, size = 0;
  for (std::size_t t = 0; t < from.kernel.tensors.size(); ++t) {
    if (from.kernel.tensors[t].role == TensorRole::Input) continue;
    const auto& expected = tensors->at(from.kernel.tensors[t].name).array.data;
    std::vector<float> computed(expected.size());
    std::ifstream(folder.path / std::to_string(t), std::ios::binary)
        .read(reinterpret_cast<char*>(computed.data()), static_cast<std::streamsize>(4 * computed.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      error += (computed[i] - expected[i]) * (computed[i] - expected[i]);
      size += expected[i] * expected[i];
    }
  }
  const double relative = std::sqrt(error / size);
  return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
}

double run_text(const std::string& name, const Scope& sizes, int blocks, std::pair<std::string, std::string> wrong = {},
                const BuildOptions& options = {}) {
  return run_text(test::lowering(name, sizes), blocks, std::move(wrong), options);
}

}  // namespace

TEST_CASE("the text of GEMM computes what heddle eval computes", "[codegen][.slow]") {
  // Bit for bit: the emulator adds in the order in which eval does.
  CHECK(run_text("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, 3) == 0);
  CHECK(run_text("gemm_hopper", {{"M", 200}, {"N", 264}, {"K", 72}}, 1) == 0);   // ragged: TMA fills and drops
  CHECK(run_text("gemm_hopper", {{"M", 4096}, {"N", 512}, {"K", 64}}, 2) == 0);  // tiles walked in groups
}

TEST_CASE("the text of products with some rows of a longer tile computes what heddle eval computes", "[codegen][.slow]") {
  // Every step loads the rows of the step before as well, and does not use them.
  test::Lowering twice = test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}, {"TILE_N", 128}});
  for (TileValue& value : twice.kernel.values)
    if (value.name == "b") value.shape[0] = *Expr::parse("2 * TILE_K");
  for (TileOp& op : twice.kernel.body) {
    if (op.name == "load_b") op.at[0] = *Expr::parse("i * TILE_K - TILE_K");
    if (op.kind == "mma") op.attrs["row"] = std::int64_t{64};
  }
  const auto problem = resolve(twice.kernel, *load_machine(test::repository_path("assets/machines/h100.json")), twice.problem.params);
  REQUIRE(problem.ok());
  twice.problem = *problem;
  CHECK(run_text(twice, 3) == 0);
  for (TileOp& op : twice.kernel.body)
    if (op.kind == "mma") op.attrs["row"] = std::int64_t{0};
  CHECK(run_text(twice, 3) == 0);  // eval takes the other rows too
}

TEST_CASE("the text for clusters computes what heddle eval computes", "[codegen][.slow]") {
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text("gemm_hopper", {{"M", 512}, {"N", 512}, {"K", 320}}, 4, {}, pairs) == 0);
  CHECK(run_text("gemm_hopper", {{"M", 300}, {"N", 264}, {"K", 72}}, 2, {}, pairs) == 0);  // three rows of tiles: the last pair has one
  CHECK(run_text("gemm_hopper", {{"M", 4096}, {"N", 512}, {"K", 64}}, 4, {}, pairs) == 0);
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 384}}, 2, {}, pairs) < 4e-3);
  const Scope small{{"M", 256}, {"N", 256}, {"K", 448}};
  CHECK(run_text("gemm_hopper", small, 2, {", arrive_at_after_products(smem + 221264 + s1 * 8, rank ^ 1)", ""}, pairs) > 0.1);
  CHECK(run_text("gemm_hopper", small, 2, {"g_bn1 * 256 + rank * 128", "g_bn1 * 256"}, pairs) > 0.1);
}

TEST_CASE("the text of the dual GEMM computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("swiglu_dual_gemm_hopper", {{"M", 128}, {"N", 256}, {"K", 192}}, 1) < 2e-3);
}

TEST_CASE("the text of attention forward computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 2}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 3) < 4e-3);
  CHECK(run_text("attention_forward_hopper", {{"HEADS", 1}, {"Q_LEN", 128}, {"KV_LEN", 128}}, 1) < 4e-3);
}

TEST_CASE("the text of a wide key tile, whose result lies where the query was, computes what heddle eval computes", "[codegen][.slow]") {
  const test::Lowering from = test::lowering("attention_forward_hopper", {{"KV", 176}, {"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 704}},
                                             "kernels/schedules/attention_forward_hopper/fa3-kv176.json");
  CHECK(run_text(from, 1) < 4e-3);  // two tiles in a row
}

TEST_CASE("the text of causal attention computes what heddle eval computes", "[codegen][.slow]") {
  const std::string name = "attention_forward_causal_hopper";
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 2) < 4e-3);  // tiles of 2, 2 and 3 trips, two rounds
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 640}}, 1) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}}, 1, {"(e & 1) - (e >> 1 & 1) * 8 > own", "(e & 1) > own"}) > 0.02);
}

TEST_CASE("the text of causal attention in pairs of blocks computes what heddle eval computes", "[codegen][.slow]") {
  // Pairs run as often as the longer of them: 2 and 2, 3 and 4 (the last pair has one tile in bounds), two rounds for some.
  const std::string name = "attention_forward_causal_hopper";
  const BuildOptions pairs{.cluster = 2};
  CHECK(run_text(name, {{"HEADS", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}}, 4, {}, pairs) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 640}}, 2, {}, pairs) < 4e-3);
  CHECK(run_text(name, {{"HEADS", 1}, {"Q_LEN", 512}, {"KV_LEN", 512}}, 2, {"pair * 2 + rank", "pair * 2"}, pairs) > 0.02);
}

TEST_CASE("the text of results that are stored panel by panel computes what heddle eval computes", "[codegen][.slow]") {
  const std::string schedule = "kernels/schedules/gemm_hopper/cutlass-cooperative.json";
  const test::Lowering from = test::lowering("gemm_hopper", {{"M", 256}, {"N", 512}, {"K", 320}}, schedule);
  const Program program = test::program_of(from);
  CHECK(std::count_if(program.buffers.begin(), program.buffers.end(), [](const Buffer& b) { return b.name == "out0"; }) == 2);
  CHECK(run_text(from, 1) == 0);
  CHECK(run_text(from, 1, {"tma_store(&map2, smem + 204800, ", "tma_store(&map2, smem + 196608, "}) > 0.1);
}

TEST_CASE("the text of layer normalization computes what heddle eval computes", "[codegen][.slow]") {
  CHECK(run_text("layernorm", {{"ROWS", 203}, {"BLOCKS", 3}}, 3) < 2e-3);
}

TEST_CASE("the text of attention backward computes what heddle eval computes", "[codegen][.slow]") {
  const Scope sizes{{"HEADS", 1}, {"Q_LEN", 256}, {"KV_LEN", 256}};
  CHECK(run_text("attention_backward_hopper", sizes, 1) < 4e-3);
  CHECK(ways == 1);  // what rule smem_store of h100 and h200 says of 32-bit tiles
  CHECK(run_text("attention_backward_hopper", sizes, 1, {}, {.cuts = {0, 1, 1}}) < 4e-3);
  CHECK(run_text(test::lowering("attention_backward_hopper", sizes, "kernels/schedules/attention_backward_hopper/fa3-backward.json"), 1) <
        4e-3);
}

TEST_CASE("the text of products with vectors and matrices behind them computes what heddle eval computes", "[codegen][.slow]") {
  const auto gemm = [](const Scope& sizes) {
    return test::lowered_pattern(
        "gemm_epilogue", "gemm",
        {{"bias", "yes"}, {"activation", "gelu"}, {"row_scale", "yes"}, {"column_scale", "yes"}, {"residual", "yes"}}, sizes);
  };
  const Scope small{{"M", 256}, {"N", 512}, {"K", 192}}, ragged{{"M", 200}, {"N", 328}, {"K", 136}};
  CHECK(run_text(gemm(small), 2) < 1e-3);
  CHECK(run_text(gemm(ragged), 1) < 1e-3);  // rows and columns beyond the tensors are not read
  CHECK(run_text(gemm({{"M", 300}, {"N", 512}, {"K", 72}}), 2, {}, {.cluster = 2}) < 1e-3);
  for (const auto& wrong : {std::pair{"[e / 4 * 2 + (e & 1)]", "[e / 4 * 2]"}, {"lane / 4 + j % 2 * 8", "lane / 4"}})
    CHECK(run_text(gemm(small), 1, wrong) > 0.01);

  const std::map<std::string, std::string> options{{"bias", "yes"},  {"residual", "yes"}, {"row_scale", "yes"}, {"tile_m", "64"},
                                                   {"tile_n", "64"}, {"b", "NK"},         {"output", "f32"}};
  for (const Scope& sizes : {Scope{{"BATCH", 3}, {"M", 128}, {"N", 128}, {"K", 128}}, {{"BATCH", 2}, {"M", 72}, {"N", 104}, {"K", 72}}})
    CHECK(run_text(test::lowered_pattern("batched_gemm_epilogue", "batched_gemm", options, sizes), 2) < 1e-5);
}

TEST_CASE("the text of causal attention with grouped queries computes what heddle eval computes", "[codegen][.slow]") {
  const std::map<std::string, std::string> options{{"mask", "causal"}, {"group", "2"}, {"head_size", "64"}};
  const Scope sizes{{"HEADS", 2}, {"GROUP", 3}, {"Q_LEN", 384}, {"KV_LEN", 384}};
  CHECK(run_text(test::lowered_pattern("attention_grouped_causal", "attention", options, sizes), 2) < 4e-3);
}

TEST_CASE("a wrong address, coordinate, predicate or count in the text shows", "[codegen][.slow]") {
  const Scope gemm{{"M", 256}, {"N", 256}, {"K", 128}};  // two tiles for one block
  const BuildOptions least{.deep_rings = false};         // so that addresses are where they are named
  CHECK(run_text("gemm_hopper", gemm, 1, {}, least) < 1e-3);
  for (const auto& wrong : {std::pair{"^ (lane & 7)", ""},
                            {"behind(b, k * 2048", "behind(b, k * 1024"},
                            {"g_bn1 * 256 + 64", "g_bn1 * 256 + 128"},
                            {"k | (i != 0)", "1"},
                            {"arrive_expect(smem + 196608 + s0 * 8, 32768)", "arrive_expect(smem + 196608 + s0 * 8, 32640)"},
                            {"k % 4 * 32", "k % 4 * 16"}})
    CHECK(run_text("gemm_hopper", gemm, 1, wrong, least) > 0.1);
}
