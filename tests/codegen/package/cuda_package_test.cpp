// What a package's files say, and that compilers take them without a warning.
#include "codegen/package/folder.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "codegen/compile/compile.h"
#include "codegen/emit/size_formula.h"
#include "codegen/package/c_text.h"
#include "core/base/atomic_file.h"
#include "tests/codegen/fixture.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::codegen;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("heddle_package_{}", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
};

/// Its owner: a subject refers to all of it.
struct Owned {
  test::Lowering from;
  Program program;
  Emission emission;
  PackageSubject subject() const { return {from.kernel, from.problem, from.schedule, program, emission, "heddle emit"}; }
};

Owned owned(test::Lowering from, BuildOptions options = {}) {
  Program program = test::program_of(from, {}, options);
  EmitResult emitted = emit_cuda(from.kernel, from.problem, from.schedule, program);
  REQUIRE(emitted.emission.has_value());
  return {std::move(from), std::move(program), *std::move(emitted.emission)};
}

/// With the sizes of a GEMM as an argument, whatever the text takes: what host code is written from is the launch plan.
Owned sized_gemm() {
  Owned gemm = owned(test::lowering("gemm_hopper"));
  RunTimeSizes sizes{{"M", "N", "K"}, {{"trips", "ceil_div(K, 64)"}}, "ceil_div(M, 128) * ceil_div(N, 256)"};
  sizes.conditions = {{"K % 8 == 0", "rows of A are \"multiples\" of 16 bytes"}};
  gemm.emission.launch.sizes = sizes;
  for (TensorMapPlan& map : gemm.emission.launch.maps)
    for (std::size_t d = 0; d < map.extents.size(); ++d)
      map.extent_texts.push_back(gemm.from.kernel.tensors[map.tensor].shape[map.extents.size() - 1 - d].text());
  return gemm;
}

std::map<std::string, std::string> by_path(const std::vector<PackageFile>& files) {
  std::map<std::string, std::string> texts;
  for (const PackageFile& file : files) CHECK(texts.emplace(file.path, file.text).second);
  return texts;
}

bool runs(const std::string& command) { return std::system(command.c_str()) == 0; }

/// By nvcc alone, whose warnings and the host compiler's are errors. False: there is no nvcc, which is said.
bool nvcc_compiles(const Owned& from, const Folder& folder) {
  if (const auto found = find_compiler(Compiler::Nvcc); !found.ok()) {
    std::cout << "left out: " << found.error().faults.front().message << "\n";
    return false;
  }
  const std::string name = package_name(from.subject()), arch = from.program.arch;
  REQUIRE(write_package(cuda_package(from.subject()), folder.file(name), false).ok());
  INFO(name);
  CHECK(runs(
      fmt::format("cd '{}' && PATH=\"$PATH:/usr/local/cuda/bin\" \"${{HEDDLE_NVCC:-nvcc}}\" -std=c++17 -gencode arch=compute_{},code={} "
                  "-Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -c {}.cu -o kernel.o",
                  folder.file(name), arch.substr(3), arch, name)));
  return true;
}

}  // namespace

TEST_CASE("a package is called as its kernel, with the constants that the kernel file has otherwise", "[codegen]") {
  CHECK(package_name(owned(test::lowering("gemm_hopper")).subject()) == "gemm_hopper");
  CHECK(package_name(owned(test::lowering("gemm_hopper", {{"M", 256}, {"K", 320}})).subject()) == "gemm_hopper_m256_k320");
  Owned sized = sized_gemm();
  sized.program.params["M"] = 256;  // chosen by the caller: no part of the name
  CHECK(package_name(sized.subject()) == "gemm_hopper");
  // A word of Python, a target that CMake has, a header of C.
  for (const char* name : {"Lambda", "clean", "math", "torch"}) {
    sized.from.kernel.name = name;
    CHECK(package_name(sized.subject()).ends_with("_kernel"));
  }
}

TEST_CASE("a size is called by its name in every text, unless that may be a word there", "[codegen]") {
  for (const char* name : {"M", "KV_LEN", "N2", "A_SIZE_THAT_HAS_A_NAME_OF_MANY_MORE_CHARACTERS_THAN_32"}) CHECK(size_name(name) == name);
  for (const char* name : {"for", "int64_t", "given", "shape", "wrong", "words", "lambda", "n", "True", "NULL", "DEVICE"})
    CHECK(size_name(name) == std::string(name) + "_");
}

TEST_CASE("the interface of a package takes the sizes that a call chooses, and tensors have their shapes over them", "[codegen]") {
  const Owned gemm = sized_gemm();
  const auto tensors = package_tensors(gemm.subject());
  REQUIRE(tensors.size() == 3);
  CHECK(tensors[1].extents == std::vector<std::string>{"K", "N"});
  CHECK(tensors[1].strided);
  const auto files = by_path(cuda_package(gemm.subject()));
  const std::string &header = files.at("gemm_hopper.h"), &host = files.at("gemm_hopper.cu"), &example = files.at("example.cpp");
  CHECK(header.find("int64_t M;") < header.find("int64_t N;"));
  CHECK(header.find("void* C; /* bf16 [M, N], written */") != std::string::npos);
  CHECK(header.find("const heddle_gemm_hopper_sizes* sizes, ") != std::string::npos);
  CHECK(host.find("if (!(K % 8 == 0)) return wrong(\"rows of A are \\\"multiples\\\" of 16 bytes\");") != std::string::npos);
  CHECK(host.find("\"%s (M = %lld, N = %lld, K = %lld)\", sentence, M, N, K)") != std::string::npos);
  CHECK(host.find("      ceil_div(K, 64),  // trips") != std::string::npos);
  CHECK(example.find("example_gemm_hopper [M [N [K]]]") != std::string::npos);
  CHECK(files.at("README.md").find("rows of A are \"multiples\" of 16 bytes") != std::string::npos);
  // All sizes fixed: none is taken.
  const auto fixed = by_path(cuda_package(owned(test::lowering("gemm_hopper")).subject()));
  CHECK(fixed.at("gemm_hopper.h").find("sizes*") == std::string::npos);
  CHECK(fixed.at("gemm_hopper.h").find("void* C; /* bf16 [8192, 8192], written */") != std::string::npos);
}

TEST_CASE("a package says which tensors must be contiguous, prepacked, or are added to", "[codegen]") {
  const auto find = [](const std::vector<PackageTensor>& tensors, const std::string& member) {
    return *std::find_if(tensors.begin(), tensors.end(), [&](const PackageTensor& t) { return t.member == member; });
  };
  const auto weights = package_tensors(owned(test::lowering("gemm_w4a16_prepacked_hopper")).subject());
  CHECK(find(weights, "W").packed);
  CHECK_FALSE(find(weights, "W").strided);
  CHECK(find(weights, "X").strided);
  const Owned backward = owned(test::lowering("attention_backward_hopper"));
  const auto files = by_path(cuda_package(backward.subject()));
  CHECK(files.at("attention_backward_hopper.h").find("added to: zeros before the first launch give the sum alone") != std::string::npos);
  const auto paged = package_tensors(owned(test::lowering("attention_paged_hopper")).subject());
  CHECK(std::any_of(paged.begin(), paged.end(), [](const PackageTensor& t) { return t.role == TensorRole::Index && !t.strided; }));
}

TEST_CASE("the same package is the same bytes", "[codegen]") {
  const Owned once = owned(test::lowering("attention_forward_hopper")), again = owned(test::lowering("attention_forward_hopper"));
  CHECK(cuda_package(once.subject()) == cuda_package(again.subject()));
}

TEST_CASE("what a kernel file says reaches a package's texts without ending a comment or a string", "[codegen]") {
  Owned gemm = sized_gemm();
  gemm.from.kernel.about =
      "ends */ here \\\n#error \"x\" ?"
      "?/";
  gemm.from.kernel.params[0].about = "/* and */ there";
  gemm.from.kernel.tensors[0].name = "class";
  const auto files = by_path(cuda_package(gemm.subject()));
  CHECK(files.at("gemm_hopper.h").find("ends * / here _") != std::string::npos);
  CHECK(files.at("gemm_hopper.h").find("const void* class_;") != std::string::npos);
  CHECK(files.at("gemm_hopper.cu").find("\n#error") == std::string::npos);
  CHECK(c_name("3 a-b") == "_3_a_b");
  CHECK(c_string("a\"b\\c\n?") == "\"a\\\"b\\\\c_\\?\"");
  CHECK(c_comment("/* x */") == "/ * x * /");
}

TEST_CASE("a package is written beside nothing of others", "[codegen]") {
  const Folder folder;
  const std::vector<PackageFile> files{{"a.h", "one"}, {"sub/b.txt", "two"}};
  REQUIRE(write_package(files, folder.file("new"), false).ok());
  CHECK(*read_file(folder.file("new/sub/b.txt")) == "two");
  REQUIRE(write_file(folder.file("new/mine.txt"), "kept").ok());
  REQUIRE(write_package({{"a.h", "three"}}, folder.file("new"), false).ok());  // a package is there already
  CHECK(*read_file(folder.file("new/a.h")) == "three");
  CHECK(*read_file(folder.file("new/mine.txt")) == "kept");
  const auto mine = write_package({{"a.h", "four"}, {"mine.txt", "lost"}}, folder.file("new"), false);  // beside it, with a name of its own
  REQUIRE_FALSE(mine.ok());
  CHECK(mine.error().faults.front().message.find("holds 'mine.txt'") != std::string::npos);
  CHECK(mine.error().faults.front().hint.find("force") == std::string::npos);  // the window has no such choice
  CHECK(*read_file(folder.file("new/a.h")) == "three");
  CHECK(*read_file(folder.file("new/mine.txt")) == "kept");
  CHECK(write_package({{"sub/b.txt", "four"}}, folder.file("new"), false).ok());  // of the first package
  fs::create_directories(folder.path / "other");
  CHECK(check_package_folder(folder.file("other"), false).ok());  // empty
  REQUIRE(write_file(folder.file("other/a.h"), "theirs").ok());
  const auto refused = write_package(files, folder.file("other"), false);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().faults.front().message.find("no package") != std::string::npos);
  CHECK(*read_file(folder.file("other/a.h")) == "theirs");
  CHECK(write_package(files, folder.file("other"), true).ok());
  CHECK_FALSE(check_package_folder(folder.file("other/a.h"), true).ok());  // a file
}

TEST_CASE("a package's header is C99, and its host code C++17, without a warning", "[codegen]") {
  const Folder folder;
  for (const Owned& from : {sized_gemm(), owned(test::lowering("attention_forward_hopper"))}) {
    const std::string name = package_name(from.subject()), in = folder.file(name);
    REQUIRE(write_package(cuda_package(from.subject()), in, false).ok());
    INFO(name);
    const std::string strict = fmt::format("cd '{}' && \"{}\" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I'{}'", in, HEDDLE_CXX,
                                           test::repository_path("tests/gpu/fake/runtime"));
    CHECK(runs(fmt::format("{} -std=c99 -x c {}.h", strict, name)));
    CHECK(runs(fmt::format("{} -std=c++17 -DHEDDLE_HOST_ONLY -x c++ {}.cu", strict, name)));
    CHECK(runs(fmt::format("{} -std=c++17 example.cpp", strict)));
  }
}

TEST_CASE("what a caller may choose beside sizes is a number of its own, and 0 stands for the kernel's", "[codegen]") {
  const Owned backward = owned(test::lowering("attention_backward_hopper"), {.run_time_sizes = true});
  const auto files = by_path(cuda_package(backward.subject()));
  CHECK(files.at("attention_backward_hopper.h").find("  double scale; /* 0 stands for 0.0883883476 */\n") != std::string::npos);
  const std::string& host = files.at("attention_backward_hopper.cu");
  CHECK(host.find("  const double number_scale = given.scale != 0 ? given.scale : 0.0883883476;\n") != std::string::npos);
  CHECK(host.find("\"scale is %g: 1e-09 to 1000000 is possible\", number_scale);\n") != std::string::npos);
  CHECK(host.find("static_cast<float>(number_scale * 1.44269504)") != std::string::npos);
  CHECK(host.find("  call.scalars[0] = sizes->scale;\n") != std::string::npos);
  const Folder folder;
  REQUIRE(write_package(cuda_package(backward.subject()), folder.file("backward"), false).ok());
  CHECK(
      runs(fmt::format("cd '{}' && \"{}\" -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I'{}' -std=c++17 -DHEDDLE_HOST_ONLY -x c++ "
                       "attention_backward_hopper.cu example.cpp",
                       folder.file("backward"), HEDDLE_CXX, test::repository_path("tests/gpu/fake/runtime"))));
}

TEST_CASE("the program that the page on packages shows compiles", "[codegen]") {
  const Folder folder;
  std::string includes;
  for (const auto& [name, params] : std::map<std::string, Scope>{{"attention_forward_varlen_hopper", {{"LSE", 1}}},
                                                                 {"attention_delta_varlen", {}},
                                                                 {"attention_backward_varlen_hopper", {}},
                                                                 {"attention_round_dq", {}}}) {
    const Owned kernel = owned(test::lowering(name, params), {.run_time_sizes = true});
    REQUIRE(write_package(cuda_package(kernel.subject()), folder.file(name), false).ok());
    includes += fmt::format(" -I'{}'", folder.file(name));
  }
  const std::string page = *read_file(test::repository_path("docs/packages.md")), fence = "```cpp\n";
  const std::size_t begin = page.find(fence) + fence.size();
  REQUIRE(page.find(fence) != std::string::npos);
  REQUIRE(write_file(folder.file("page.cpp"), page.substr(begin, page.find("```", begin) - begin)).ok());
  CHECK(runs(fmt::format("cd '{}' && \"{}\" -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I'{}'{} page.cpp", folder.path.string(),
                         HEDDLE_CXX, test::repository_path("tests/gpu/fake/runtime"), includes)));
}

TEST_CASE("nvcc compiles packages for Hopper and Blackwell without a warning", "[codegen]") {
  const Folder folder;
  for (const char* name : {"gemm_hopper", "gemm_blackwell"})
    if (!nvcc_compiles(owned(test::lowering(name), {.run_time_sizes = true}), folder)) return;
}

TEST_CASE("nvcc compiles the packages of all shipped kernels without a warning", "[codegen][.slow]") {
  const Folder folder;
  for (const auto* names : {&test::lowered_kernels(), &test::blackwell_kernels()})
    for (const std::string& name : *names) {
      test::Lowering from = test::lowering(name);
      const BuildOptions sized{.run_time_sizes = true};
      const BuildResult built = build_program(from.kernel, from.problem, from.schedule, {}, sized);
      const bool possible = built.program && emit_cuda(from.kernel, from.problem, from.schedule, *built.program).emission.has_value();
      if (!nvcc_compiles(owned(std::move(from), possible ? sized : BuildOptions{}), folder)) return;
    }
}
