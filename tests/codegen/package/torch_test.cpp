// Packages for PyTorch without PyTorch and without a GPU: schemas, and what the extension's header and the Python half say of right and
// wrong shapes. Which sizes are read where follows from the kernel files, so every kind of them is here.
#include "codegen/package/torch.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/package/torch_operator.h"
#include "core/base/atomic_file.h"
#include "core/kernel/packed.h"
#include "tests/codegen/fixture.h"
#include "tests/support/exit_status.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

namespace fs = std::filesystem;

/// A kernel that is written, with all that a subject refers to.
struct Emitted {
  test::Lowering from;
  Program program;
  Emission emission;
  PackageSubject subject() const { return {from.kernel, from.problem, from.schedule, program, emission, "heddle emit"}; }
};

/// With these sizes at run time, as the host sees them; the text is of fixed sizes, and nobody runs it here.
Emitted emitted(const std::string& kernel, const std::vector<std::string>& sizes, const Scope& params = {}) {
  Emitted made{test::lowering(kernel, params), {}, {}};
  made.program = test::program_of(made.from);
  EmitResult result = emit_cuda(made.from.kernel, made.from.problem, made.from.schedule, made.program);
  REQUIRE(result.emission.has_value());
  made.emission = std::move(*result.emission);
  if (sizes.empty()) return made;
  RunTimeSizes run_time;
  run_time.params = sizes;
  run_time.fields = {{"first", sizes.front()}};
  run_time.tiles = "1";
  made.emission.launch.sizes = run_time;
  for (TensorMapPlan& map : made.emission.launch.maps)
    for (const std::int64_t extent : map.extents) map.extent_texts.push_back(std::to_string(extent));
  return made;
}

struct Scratch {
  fs::path path = fs::temp_directory_path() / fmt::format("heddle-torch-{}", static_cast<long>(::getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
  /// Where the package lies.
  std::string write(const Emitted& kernel) const {
    const std::string folder = (path / package_name(kernel.subject())).string();
    for (const PackageFile& file : torch_package(kernel.subject()))
      REQUIRE(write_file(folder + "/" + file.path, file.text, MissingFolder::Create).ok());
    return folder;
  }
  std::string says(const std::string& command) const {
    const std::string out = (path / "says").string();
    const int status = std::system(fmt::format("{} >'{}' 2>&1", command, out).c_str());
    const auto text = read_file(out);
    INFO(command << "\n" << (text.ok() ? *text : ""));
    REQUIRE(test::exit_status(status) == 0);
    return text.ok() ? *text : "";
  }
};

std::string schema_of(const Emitted& kernel) { return torch_operator(kernel.subject()).schema(); }

bool has_line(const std::string& text, const std::string& line) { return ("\n" + text).find("\n" + line + "\n") != std::string::npos; }

const Emitted& attention() {
  static const Emitted kernel = emitted("attention_forward_hopper", {"HEADS", "Q_LEN", "KV_LEN"});
  return kernel;
}
const Emitted& layernorm() {
  static const Emitted kernel = emitted("layernorm", {"ROWS", "BLOCKS"});
  return kernel;
}
const Emitted& scaled_gemm() {
  static const Emitted kernel = emitted("gemm_fp8_hopper", {"M", "N", "K"});
  return kernel;
}
const Emitted& weights() {
  static const Emitted kernel = emitted("gemm_w4a16_hopper", {"N_OUT", "TOKENS", "K"});
  return kernel;
}
const Emitted& fixed_gemm() {
  static const Emitted kernel = emitted("gemm_hopper", {}, {{"M", 256}, {"N", 512}, {"K", 320}});
  return kernel;
}
const Emitted& backward() {
  static const Emitted kernel = emitted("attention_backward_blackwell", {"HEADS", "Q_LEN", "KV_LEN"});
  return kernel;
}

/// A program that prints what shapes.h makes of calls: one of each package's headers.
std::string program(const std::vector<std::string>& folders, const std::string& calls) {
  std::string text = fmt::format("#{} <cstdio>\n", "include");
  for (const std::string& folder : folders) text += fmt::format("#{} \"{}/csrc/shapes.h\"\n", "include", folder);
  text += R"(
template <class Call>
void say(const char* what, const Call& call) {
  std::printf("%s:%s%s", what, call.objection.empty() ? "" : " ", call.objection.c_str());
  for (const auto size : call.sizes) std::printf(call.objection.empty() ? " %d" : "", static_cast<int>(size));
  if (call.objection.empty()) std::printf(" ->");
  for (const auto& shape : call.shapes) {
    std::printf(call.objection.empty() ? " [" : "");
    for (const auto extent : shape) std::printf(call.objection.empty() ? "%d," : "", static_cast<int>(extent));
    std::printf(call.objection.empty() ? "]" : "");
  }
  std::printf("\n");
}

)";
  return text + "int main() {\n" + calls + "}\n";
}

}  // namespace

TEST_CASE("an operator's schema follows from the kernel's tensors and sizes", "[codegen]") {
  CHECK(schema_of(attention()) == "attention_forward_hopper(Tensor Q, Tensor K, Tensor V) -> Tensor");
  CHECK(schema_of(fixed_gemm()) == "gemm_hopper_m256_n512_k320(Tensor A, Tensor B) -> Tensor");
  CHECK(schema_of(layernorm()) == "layernorm(Tensor X, Tensor Gamma, Tensor Beta, int BLOCKS=132) -> Tensor");
  CHECK(
      schema_of(backward()) ==
      "attention_backward_blackwell(Tensor Q, Tensor K, Tensor V, Tensor dO, Tensor LSE, Tensor Delta, Tensor(a!) dQ) -> (Tensor, Tensor)");
  CHECK(schema_of(weights()) == "gemm_w4a16_hopper(Tensor W, Tensor S, Tensor X) -> Tensor");
}

TEST_CASE("formulas in Python round as the kernel file's do, and leave out what is a number", "[codegen]") {
  const auto python = [](const char* text) { return python_formula(*Expr::parse(text), {{"TILE", 64}, {"in", 3}}, {"N", "in"}); };
  CHECK(python("TILE * 2") == "128");
  CHECK(python("ceil_div(N, TILE)") == "ceil_div(N, 64)");
  CHECK(python("N / TILE % 3 + in") == "(((N // 64) % 3) + in_)");
  CHECK(python("if(N > 8, max(N, 2, TILE), -N)") == "(max(max(N, 2), 64) if (N > 8) else (-N))");
  CHECK(python("rowptr[N]") == std::nullopt);
}

TEST_CASE("names of Python and of the package's own functions are no names of arguments", "[codegen]") {
  CHECK(python_name("lambda") == "lambda_");
  CHECK(python_name("torch") == "torch_");
  CHECK(python_name("Q") == "Q");
  CHECK(python_name("a b") == "a_b");
}

TEST_CASE("the extension's header reads sizes off shapes, computes those of results, and names what does not fit", "[codegen]") {
  const Scratch scratch;
  const std::vector<std::string> folders{scratch.write(attention()), scratch.write(layernorm()), scratch.write(scaled_gemm()),
                                         scratch.write(weights()), scratch.write(fixed_gemm())};
  const std::string calls = R"(
  {
    using namespace heddle_attention_forward_hopper_torch;
    const auto given = [](Shape q, Shape k, Shape v, const char* type = "BFloat16") {
      return understood({{type, q, {}}, {"BFloat16", k, {}}, {"BFloat16", v, {}}}, {});
    };
    say("attention", given({2, 100, 128}, {2, 300, 128}, {2, 300, 128}));
    say("keys", given({2, 100, 128}, {2, 300, 128}, {2, 301, 128}));
    say("heads", given({2, 100, 128}, {3, 300, 128}, {3, 300, 128}));
    say("columns", given({2, 100, 64}, {2, 300, 128}, {2, 300, 128}));
    say("rank", given({100, 128}, {2, 300, 128}, {2, 300, 128}));
    say("type", given({2, 100, 128}, {2, 300, 128}, {2, 300, 128}, "Half"));
    say("several", given({100, 128}, {2, 300, 128}, {2}, "Half"));
    const Shape strides = strides_of({2, 3, 127}, kTensors[3]);
    std::printf("result: %d %d %d\n", static_cast<int>(strides[0]), static_cast<int>(strides[1]), static_cast<int>(strides[2]));
    say("empty", given({2, 0, 128}, {2, 300, 128}, {2, 300, 128}));
    say("huge", given({std::int64_t{1} << 40, 4, 128}, {2, 300, 128}, {2, 300, 128}));
  }
  {
    using namespace heddle_layernorm_torch;
    say("layernorm", understood({{"BFloat16", {77, 1024}, {}}, {"Float", {1024}, {}}, {"Float", {1024}, {}}}, {132}));
    say("blocks", understood({{"BFloat16", {77, 1024}, {}}, {"Float", {1024}, {}}, {"Float", {1024}, {}}}, {0}));
  }
  {
    using namespace heddle_gemm_fp8_hopper_torch;
    const auto given = [](Shape sa) {
      return understood({{"Float8_e4m3fn", {100, 300}, {}}, {"Float8_e4m3fn", {200, 300}, {}}, {"Float", sa, {}}, {"Float", {2, 3}, {}}}, {});
    };
    say("scales", given({3, 100}));
    say("too few scales", given({2, 100}));
  }
  {
    using namespace heddle_gemm_w4a16_hopper_torch;
    say("weights", understood({{"Byte", {192, 224}, {}}, {"BFloat16", {4, 192}, {}}, {"BFloat16", {20, 448}, {}}}, {}));
    std::int64_t strides[2] = {};
    put_strides({"Byte", {192, 224}, {224, 1}}, kTensors[0], strides);
    std::printf("strides: %d %d\n", static_cast<int>(strides[0]), static_cast<int>(strides[1]));
  }
  {
    using namespace heddle_gemm_hopper_m256_n512_k320_torch;
    say("fixed", understood({{"BFloat16", {256, 320}, {}}, {"BFloat16", {320, 512}, {}}}, {}));
    say("other", understood({{"BFloat16", {256, 320}, {}}, {"BFloat16", {320, 256}, {}}}, {}));
  }
)";
  const std::string source = (scratch.path / "calls.cpp").string();
  REQUIRE(write_file(source, program(folders, calls)).ok());
  scratch.says(fmt::format("'{}' -std=c++17 -Wall -Wextra -Wno-format-zero-length -Wno-format-security -Werror -o '{}/calls' '{}'",
                           HEDDLE_CXX, scratch.path.string(), source));
  const std::string said = scratch.says(fmt::format("'{}/calls'", scratch.path.string()));
  CHECK(said ==
        "attention: 2 100 300 -> [2,100,128,] [2,300,128,] [2,300,128,] [2,100,128,]\n"
        "keys: V has shape [2, 301, 128], expected [HEADS, KV_LEN, 128] = [2, 300, 128]\n"
        "heads: K has shape [3, 300, 128], expected [HEADS, KV_LEN, 128] = [2, 300, 128]; "
        "V has shape [3, 300, 128], expected [HEADS, KV_LEN, 128] = [2, 300, 128]\n"
        "columns: Q has shape [2, 100, 64], expected [HEADS, Q_LEN, 128] = [2, 100, 128]\n"
        "rank: Q has shape [100, 128], expected [HEADS, Q_LEN, 128]\n"
        "type: Q is Half, expected BFloat16\n"
        "several: Q is Half, expected BFloat16; Q has shape [100, 128], expected [HEADS, Q_LEN, 128]; "
        "V has shape [2], expected [HEADS, KV_LEN, 128]\n"
        "result: 384 128 1\n"
        "empty: Q_LEN is 0 (dimension 1 of Q), expected 1 at least and less than 2^31\n"
        "huge: HEADS is 1099511627776 (dimension 0 of Q), expected 1 at least and less than 2^31\n"
        "layernorm: 77 132 -> [77,1024,] [1024,] [1024,] [77,1024,]\n"
        "blocks: BLOCKS is 0, expected 1 at least and less than 2^31\n"
        "scales: 100 200 300 -> [100,300,] [200,300,] [3,100,] [2,3,] [100,200,]\n"
        "too few scales: SA has shape [2, 100], expected [ceil_div(K, 128), M] = [3, 100]\n"
        "weights: 192 20 448 -> [192,224,] [4,192,] [20,448,] [192,24,]\n"
        "strides: 448 1\n"
        "fixed: -> [256,320,] [320,512,] [256,512,]\n"
        "other: B has shape [320, 256], expected [K, N] = [320, 512]\n");
}

TEST_CASE("the Python half compiles, and says of shapes what the extension says", "[codegen]") {
  const Scratch scratch;
  std::string sources;
  for (const Emitted* kernel : {&attention(), &layernorm(), &scaled_gemm(), &weights(), &backward()}) {
    const std::string folder = scratch.write(*kernel);
    scratch.says(fmt::format("python3 -m compileall -q '{}'", folder));
    sources += fmt::format(" '{}/src'", folder);
  }
  const std::string calls = test::repository_path("tests/codegen/package/torch/calls.py");
  const std::string said = scratch.says(fmt::format("PYTHONDONTWRITEBYTECODE=1 python3 '{}'{}", calls, sources));
  for (const char* line :
       {"attention_forward_hopper: sizes ['HEADS', 'Q_LEN', 'KV_LEN']", "right: torch.bfloat16 [768, 1024, 128]",
        "K.0: attention_forward_hopper: K has shape [769, 1280, 128], expected [HEADS, KV_LEN, 128] = [768, 1280, 128]",
        "K.1: attention_forward_hopper: V has shape [768, 1280, 128], expected [HEADS, KV_LEN, 128] = [768, 1281, 128]",
        "Q.1: torch.bfloat16 [768, 1025, 128]", "type: attention_forward_hopper: Q is torch.float64, expected torch.bfloat16",
        "rank: attention_forward_hopper: Q has shape [768, 1024, 128, 1], expected [HEADS, Q_LEN, 128]",
        "layernorm: sizes ['ROWS', 'BLOCKS']",
        "SB.1: gemm_fp8_hopper: SB has shape [8, 11], expected [ceil_div(N, 128), ceil_div(K, 128)] = [8, 10]",
        "right: torch.bfloat16 [768, 1024]",
        "W.1: gemm_w4a16_hopper: S has shape [10, 768], expected [ceil_div(K, 128), N_OUT] = [11, 768]",
        "right: torch.bfloat16 [768, 1280, 128] torch.bfloat16 [768, 1280, 128]"}) {
    INFO(line << "\n" << said.substr(0, said.find("\n4 0")));
    CHECK(has_line(said, line));
  }
  for (const auto& [bits, order] :
       {std::pair{4, PackedOrder::Threads}, {32, PackedOrder::Threads}, {32, PackedOrder::Lines}, {16, PackedOrder::Threads}}) {
    std::string line = fmt::format("{} {}", bits, order == PackedOrder::Lines ? 1 : 0);
    const std::int64_t columns = 2 * packed_columns(bits);
    for (std::int64_t row = 0; row < 128; ++row)
      for (std::int64_t column = 0; column < columns; ++column) line += fmt::format(" {}", packed_place(row, column, columns, bits, order));
    INFO(bits);
    CHECK(has_line(said, line));
  }
}

TEST_CASE("packages over sequences of any lengths make a pair, with sizes and the factor of the softmax handed on", "[codegen]") {
  const Scratch scratch;
  std::string folders, name;
  for (const auto& [kernel, params] : {std::pair{"attention_forward_varlen_hopper", Scope{{"LSE", 1}}},
                                       {"attention_backward_varlen_hopper", {}},
                                       {"attention_delta_varlen", {}},
                                       {"attention_round_dq", {}}}) {
    Emitted made{test::lowering(kernel, params), {}, {}};
    made.program = test::program_of(made.from, {}, {.run_time_sizes = true});
    EmitResult result = emit_cuda(made.from.kernel, made.from.problem, made.from.schedule, made.program);
    REQUIRE(result.emission.has_value());
    made.emission = std::move(*result.emission);
    if (name.empty())
      CHECK(schema_of(made) ==
            "attention_forward_varlen_hopper_lse1(Tensor cu_seqlens_q, Tensor cu_seqlens_k, Tensor Q, Tensor K, Tensor V, "
            "int SEQUENCES, int MAX_Q, int MAX_KV, float? scale=None) -> (Tensor, Tensor)");
    name = scratch.write(made);
    scratch.says(fmt::format("'{}' -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I'{}' -I'{}' '{}/csrc/binding.cpp'", HEDDLE_CXX,
                             test::repository_path("tests/gpu/fake/runtime"), test::repository_path("tests/gpu/fake/torch"), name));
    folders += fmt::format(" '{}/src'", name);
  }
  const std::string said = scratch.says(
      fmt::format("PYTHONDONTWRITEBYTECODE=1 python3 '{}'{}", test::repository_path("tests/codegen/package/torch/pairs.py"), folders));
  const std::string queries = "[2, 1000, 128] torch.bfloat16", keys = "[2, 2000, 128] torch.bfloat16",
                    given = "cu_seqlens_q=[8] torch.int32, cu_seqlens_k=[8] torch.int32, Q=" + queries + ", K=" + keys + ", V=" + keys;
  INFO(said);
  for (const std::string& line :
       {"attention_forward_varlen_hopper_lse1(" + given + ", SEQUENCES=7, MAX_Q=300, MAX_KV=500, scale=0.25)",
        std::string("no gradients of 1"),
        "attention_delta_varlen(cu_seqlens_q=[8] torch.int32, O=" + queries + ", dO=" + queries + ", SEQUENCES=7, MAX_Q=300, scale=0.25)",
        "attention_backward_varlen_hopper(" + given + ", dO=" + queries +
            ", LSE=[14, 384] torch.float32, Delta=[14, 384] torch.float32, dQ=[2, 1000, 128] torch.float32, SEQUENCES=7, MAX_Q=300, "
            "MAX_KV=500, scale=0.25)",
        std::string("attention_round_dq(Sum=[2000, 128] torch.float32)"),
        "gradients: None None " + queries + " " + keys + " " + keys + " None None None None", std::string("Delta of [14, 384] 300 None"),
        std::string("attention_delta_varlen has Delta, which attention_forward_varlen_hopper_lse1 does not explain")}) {
    INFO(line);
    CHECK(has_line(said, line));
  }
}

TEST_CASE("the page's program for PyTorch is Python, and short", "[codegen]") {
  const Scratch scratch;
  const std::string page = *read_file(test::repository_path("docs/packages.md")), fence = "```python\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const std::string program = page.substr(begin, page.find("```", begin) - begin), path = (scratch.path / "page.py").string();
  CHECK(std::count(program.begin(), program.end(), '\n') <= 15);
  REQUIRE(write_file(path, program).ok());
  scratch.says(fmt::format("python3 -m py_compile '{}'", path));
}

TEST_CASE("a package for PyTorch is the same each time, and holds the CUDA package's files unchanged", "[codegen]") {
  const std::vector<PackageFile> files = torch_package(attention().subject());
  CHECK(files == torch_package(attention().subject()));
  for (const PackageFile& file : cuda_package(attention().subject()))
    CHECK(std::find(files.begin(), files.end(), PackageFile{"csrc/" + file.path, file.text}) != files.end());
}
