// The CUDA files: each compiles by itself, with nvcc as a file and with NVRTC as the text that the emitter pastes.
#include <iostream>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/device/device.h"
#include "codegen/emit/tensor_move.h"
#include "tests/codegen/emulation.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;

namespace {

/// Says why not, once.
bool there(Compiler wanted) {
  const auto found = find_compiler(wanted);
  if (!found.ok()) std::cout << "skipped: " << found.error().faults.front().message << "\n";
  return found.ok();
}

/// From here on every wrapper that is no template reaches ptxas, although nothing calls it.
constexpr const char* kKeepAll = "#undef DEVICE\n#define DEVICE __device__ __attribute__((used))\n";
constexpr const char* kKernel = "extern \"C\" __global__ void nothing() {}\n";

void compiles(const std::string& text, Compiler compiler, const std::string& arch = "sm_90a") {
  CompileOptions options;
  options.compiler = compiler;
  options.arch = arch;
  const auto compiled = compile_cuda(text + kKernel, options);
  INFO((compiled.ok() ? "" : to_string(compiled.error())));
  CHECK(compiled.ok());
}

/// For which a file is meant.
std::vector<std::string> archs_of(std::string_view file) {
  if (file == "tensor_memory.cuh") return {"sm_100a", "sm_100f", "sm_103a"};
  return {"sm_90a"};
}

const EmbeddedFile& file_named(std::string_view name) {
  for (const EmbeddedFile& file : device_files())
    if (file.name == name) return file;
  throw std::runtime_error("no such file");
}

/// The file behind those that it includes, each once.
std::string pasted(const EmbeddedFile& file, std::set<std::string_view>& done) {
  if (!done.insert(file.name).second) return "";
  std::string text;
  constexpr std::string_view kInclude = "#include \"";
  const std::string_view head = file.text.substr(0, file.text.find("\n\n"));
  for (std::size_t at = head.find(kInclude); at != std::string_view::npos; at = head.find(kInclude, at + 1)) {
    const std::string_view name = head.substr(at + kInclude.size());
    text += pasted(file_named(name.substr(0, name.find('"'))), done);
  }
  return text + (file.name == "types.cuh" ? std::string(file.body()) + kKeepAll : std::string(file.body()));
}

}  // namespace

TEST_CASE("every CUDA file compiles alone with nvcc", "[codegen]") {
  if (!there(Compiler::Nvcc)) return;
  for (const EmbeddedFile& file : device_files()) {
    INFO(file.name);
    const auto include = [](std::string_view name) {
      return fmt::format("#include \"{}/{}\"\n", test::repository_path("codegen/device"), name);
    };
    for (const std::string& arch : archs_of(file.name)) compiles(include(file.name), Compiler::Nvcc, arch);
  }
}

TEST_CASE("every wrapper of every CUDA file is PTX that NVRTC accepts, as the emitter pastes it", "[codegen]") {
  if (!there(Compiler::Nvrtc)) return;
  const std::string types(file_named("types.cuh").body());
  for (const EmbeddedFile& file : device_files()) {
    INFO(file.name);
    std::set<std::string_view> done;
    const std::string text = pasted(file, done);
    for (const std::string& arch : archs_of(file.name)) compiles(text, Compiler::Nvrtc, arch);
  }
  // The text above tells good from bad.
  const auto wrong =
      compile_cuda(types + kKeepAll + "DEVICE void wrong() { asm volatile(\"no.such.instruction;\"); }\n" + kKernel, {Compiler::Nvrtc, {}});
  CHECK_FALSE(wrong.ok());
}

TEST_CASE("the templates among the wrappers are PTX that NVRTC accepts", "[codegen]") {
  if (!there(Compiler::Nvrtc)) return;
  const std::string body = R"(extern "C" __global__ void __launch_bounds__(256, 1) all(float* to, int n) {
  float x[2] = {to[0], to[1]};
  u32 y[2] = {(u32)n, 1u};
  fewer_registers<40>(), more_registers<232>();
  role_sync<1, 128>(), take_turn<8, 256>(), pass_turn<8, 256>();
  store_wait_read<1>(), product_wait<1>();
  fresh(x), pin(x), keep(y);
  to[2] = x[0] + x[1] + (float)y[0];
}
)";
  const std::string text = device_text(body) + body;
  INFO(text);
  compiles(text, Compiler::Nvrtc);
}

TEST_CASE("loads and stores of tensor memory of every width are PTX that NVRTC accepts", "[codegen]") {
  if (!there(Compiler::Nvrtc)) return;
  std::string body, moves;
  for (const int n : {8, 16, 32, 64}) {
    moves += tensor_load_text(n) + tensor_store_text(n);
    body += fmt::format(
        "  {{\n    float x[{0}];\n    u32 y[{0}];\n    tensor_load_n{0}<0>(at, x), tensor_load_n{0}<0>(at + {0}, y);\n    "
        "tensor_await_loads();\n"
        "    pin(x), keep(y);\n    tensor_store_n{0}<0>(at, y), tensor_store_n{0}<0>(at, x);\n  }}\n",
        n);
  }
  body = "extern \"C\" __global__ void __launch_bounds__(128, 1) all(u32 at) {\n" + body + "  tensor_await_stores();\n}\n";
  const std::string text = device_text(body + moves) + moves + body;
  INFO(text);
  compiles(text, Compiler::Nvrtc, "sm_100a");
}

TEST_CASE("a kernel's text has the definitions that it uses, directly or not, and no others", "[codegen]") {
  const std::string text = device_text("  wait(smem, 0), x = sigmoid_(x);  // role_sync is only named\n");
  for (const char* used : {"DEVICE void wait(", "DEVICE bool phase_over(", "DEVICE float sigmoid_(", "DEVICE float exp2_(",
                           "DEVICE float recip_(", "typedef unsigned u32;", "#define DEVICE "})
    CHECK(text.find(used) != std::string::npos);
  for (const char* unused : {"wait_cluster", "role_sync", "tanh_", "u16", "time_single", "#pragma once", "#include"})
    CHECK(text.find(unused) == std::string::npos);
  CHECK(device_text("").empty());
  CHECK(device_text("x = matrix(a, 16, 1024);").find("typedef unsigned long long u64;") <
        device_text("x = matrix(a, 16, 1024);").find("DEVICE u64 matrix("));
  // The head that is left out ends with the first empty line.
  for (const EmbeddedFile& file : device_files()) {
    CHECK(file.text.starts_with("// "));
    CHECK(file.text.find("\n#pragma once\n") != std::string_view::npos);
    CHECK(file.text.find('\r') == std::string_view::npos);
  }
}

TEST_CASE("the polynomial for powers of two is as near to them as it says", "[codegen][.slow]") {
  const std::string math(file_named("math.cuh").text);
  const std::size_t at = math.find("DEVICE float exp2_poly_(");
  REQUIRE(at != std::string::npos);
  const auto outcomes = test::run_emulated(math.substr(at, math.find("\n}\n", at) + 3 - at) + R"(
int main() {
  for (int i = 0; i < 4000000; ++i) {
    const float x = -125.5f + i * 6e-5f;
    if (!(std::fabs(exp2_poly_(x) / std::exp2((double)x) - 1) < 1.1e-4)) return 1;
  }
  if (exp2_poly_(0.0f) != 1.0f || exp2_poly_(-7.0f) != 0.0078125f) return 2;
  for (const float x : {-127.0f, -1000.0f, -INFINITY})
    if (!(exp2_poly_(x) >= 0 && exp2_poly_(x) < 2e-38f)) return 3;
}
)",
                                           {""});
  CHECK(outcomes.front().code == 0);
}
