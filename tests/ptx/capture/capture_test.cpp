// heddle capture as the program itself, with host programs that launch kernels in every way that it knows.
#ifdef HEDDLE_CAPTURED_PROGRAMS
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <catch2/catch.hpp>

#include "core/base/atomic_file.h"
#include "core/base/json.h"
#include "core/base/process.h"

#ifdef HEDDLE_CAPTURED_PROGRAMS  // no toolkit, no stand-ins

using namespace heddle;

namespace {

namespace fs = std::filesystem;

const std::string kPrograms = HEDDLE_CAPTURED_PROGRAMS;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Said {
  int code = -1;
  std::string text;  ///< on both streams
};

Said shell(const std::string& line) {
  Said said;
  FILE* const pipe = popen((line + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  char part[4096];
  while (const std::size_t got = std::fread(part, 1, sizeof part, pipe)) said.text.append(part, got);
  const int status = pclose(pipe);
  said.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

/// An empty folder of this test's own.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "heddle_capture_XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string text(const std::string& name) const {
    const Result<std::string> read = read_file(path_ + "/" + name);
    REQUIRE(read.ok());
    return *read;
  }
  Json launch(int number) const {
    const Result<Json> read = parse_json(text(std::to_string(number) + ".json"), "launch");
    REQUIRE(read.ok());
    return *read;
  }
  bool has(const std::string& name) const { return fs::exists(path_ + "/" + name); }

 private:
  std::string path_;
};

Said capture(const Folder& folder, const std::string& words, const std::string& options = "", const std::string& driver = "/nothing") {
  return shell("HEDDLE_CUDA_DRIVER=" + driver + " " HEDDLE_PROGRAM " capture -o " + folder.path() + " " + options + " -- " + words);
}

Said capture_driver(const Folder& folder, const std::string& what, const std::string& options = "") {
  return capture(folder, kPrograms + "/driver_program " + what, options);
}

/// A member as JSON on one line.
std::string line(const Json& launch, const std::string& name) {
  const Json* member = launch.find(name);
  return member ? member->line() : "";
}

std::string parameters(const Json& launch) {
  const Json* member = launch.find("parameters");
  REQUIRE(member);
  REQUIRE(member->string());
  return *member->string();
}

}  // namespace

TEST_CASE("a launch through the driver is written with its text, sizes and parameters", "[capture]") {
  const Folder folder;
  const Said said = capture_driver(folder, "plain");
  INFO(said.text);
  CHECK(said.code == 0);
  CHECK(holds(said.text, "0.json: copy, grid 4x2x1, block 256x1x1, 1024 bytes of dynamic shared memory"));
  const Json launch = folder.launch(0);
  CHECK(line(launch, "schema") == "\"heddle.launch/1\"");
  CHECK(line(launch, "kernel") == "\"copy\"");
  CHECK(line(launch, "ptx") == "\"0.ptx\"");
  CHECK(holds(folder.text("0.ptx"), ".visible .entry copy("));
  CHECK(line(launch, "grid") == "[4, 2, 1]");
  CHECK(line(launch, "cluster") == "[1, 1, 1]");
  CHECK(line(launch, "block") == "[256, 1, 1]");
  CHECK(line(launch, "dynamic_shared") == "1024");
  // A pointer, an integer, 128 bytes at a multiple of 64, a float.
  const std::string block = parameters(launch);
  CHECK(block.size() == 2 * 196);
  CHECK(block.substr(0, 24) == "000000000150000007000000");
  CHECK(block.substr(2 * 192) == "00000040");
  CHECK(
      line(launch, "names") ==
      R"([{"name": "param_0", "at": 0, "type": "u64"}, {"name": "param_1", "at": 8, "type": "u32"}, {"name": "param_3", "at": 192, "type": "f32"}])");
  CHECK(line(launch, "buffers") == R"([{"address": "0x500100000000", "bytes": 4096}])");
  CHECK(line(launch, "maps").empty());
}

TEST_CASE("a parameter block may be given as a whole", "[capture]") {
  const Folder folder;
  CHECK(capture_driver(folder, "block").code == 0);
  const std::string block = parameters(folder.launch(0));
  CHECK(block.size() == 2 * 196);
  CHECK(block.find_first_not_of("ab") == std::string::npos);
}

TEST_CASE("tensor maps are found in the parameters and in memory, in clear", "[capture]") {
  const Folder folder;
  CHECK(capture_driver(folder, "maps").code == 0);
  const std::string rest =
      R"("element": "bf16", "address": "0x500100000000", "extents": [512, 128, 3], "strides": [1024, 131072], "box": [64, )";
  CHECK(line(folder.launch(0), "maps") == R"([{"at": 64, "in": "parameters", )" + rest + R"(64, 1], "steps": [1, 1, 1], "swizzle": 128}])");
  CHECK(capture_driver(folder, "memory", "--force").code == 0);
  CHECK(line(folder.launch(0), "maps") ==
        R"([{"at": "0x500100070080", "in": "memory", )" + rest + R"(32, 1], "steps": [1, 1, 1], "swizzle": 128}])");
}

TEST_CASE("small arrays, zeros and tables of pointers are written", "[capture]") {
  const Folder folder;
  CHECK(capture_driver(folder, "memory").code == 0);
  const Json launch = folder.launch(0);
  const Json* buffers = launch.find("buffers");
  REQUIRE(buffers);
  REQUIRE(buffers->items()->size() == 4);
  CHECK((*buffers->items())[1].line() == R"({"address": "0x500100020000", "bytes": 12, "contents": "030000000500000009000000"})");
  CHECK((*buffers->items())[2].line() == R"({"address": "0x500100040000", "bytes": 100000, "zero": true})");
  CHECK(capture_driver(folder, "memory", "--force --contents 200").code == 0);  // less than the table has
  CHECK(line(folder.launch(0), "buffers") == R"([{"address": "0x500100070000", "bytes": 256}])");
}

TEST_CASE("a cluster is what the launch says, else what the text says", "[capture]") {
  const Folder folder;
  CHECK(capture_driver(folder, "cluster").code == 0);
  CHECK(line(folder.launch(0), "cluster") == "[2, 1, 1]");
  CHECK(line(folder.launch(1), "cluster") == "[4, 1, 1]");
  CHECK_FALSE(folder.has("1.ptx"));
}

TEST_CASE("a kernel in a graph is a launch, and the same launch again is not", "[capture]") {
  const Folder folder;
  CHECK(capture_driver(folder, "graph").code == 0);
  CHECK(line(folder.launch(0), "kernel") == "\"nothing\"");
  CHECK(parameters(folder.launch(0)).empty());
  CHECK(line(folder.launch(1), "grid") == "[2, 1, 1]");  // the node's parameters changed
  CHECK(line(folder.launch(2), "grid") == "[3, 1, 1]");  // a node of any type
  CHECK(capture_driver(folder, "twice", "--force").code == 0);
  CHECK(folder.has("1.json"));
  CHECK_FALSE(folder.has("2.json"));
  const Said said = capture_driver(folder, "many", "--force --most 3");
  CHECK(holds(said.text, "only the first 3 launches are written"));
  CHECK(folder.has("2.json"));
  CHECK_FALSE(folder.has("3.json"));
}

TEST_CASE("what nvcc makes of a program is captured by the runtime's stand-in", "[capture]") {
  const Folder folder;
  const Said said = capture(folder, kPrograms + "/runtime_program");
  INFO(said.text);
  CHECK(said.code == 0);
  CHECK(holds(said.text, "no kernel image is available for execution on the device"));
  CHECK(holds(said.text, "NVIDIA H100 80GB HBM3, 9.0, 232448 bytes"));
  CHECK(holds(folder.text("0.ptx"), "// new"));  // of two texts the one for the device
  CHECK(line(folder.launch(0), "grid") == "[3, 1, 1]");
  CHECK(line(folder.launch(0), "dynamic_shared") == "512");
  CHECK(parameters(folder.launch(0)) == "000000000150000010000000");
  CHECK(line(folder.launch(1), "cluster") == "[2, 1, 1]");
  const Said old = capture(folder, kPrograms + "/runtime_program", "--force --target sm_86");
  CHECK(holds(old.text, "NVIDIA A40, 8.6, 101376 bytes"));
  CHECK(holds(folder.text("0.ptx"), "// old"));
}

TEST_CASE("streams, graphs and launches with attributes are written through the runtime, too", "[capture]") {
  const Folder folder;
  const Said said = capture(folder, kPrograms + "/runtime_program streams");
  INFO(said.text);
  CHECK(said.code == 0);
  CHECK_FALSE(holds(said.text, "not answered"));
  CHECK_FALSE(holds(said.text, "ended with code"));
  for (int number = 0; number < 5; ++number)
    CHECK(line(folder.launch(number), "grid") == "[" + std::to_string(10 + 2 * number) + ", 1, 1]");
  CHECK(line(folder.launch(1), "cluster") == "[2, 1, 1]");
  const Said devices = capture(folder, kPrograms + "/runtime_program devices", "--force");
  CHECK(holds(devices.text, "invalid device ordinal, CUDA_ERROR_INVALID_DEVICE"));
  CHECK(holds(devices.text, "there is one device here; the program asks for device 1"));
}

TEST_CASE("a program of CUDA 12 finds the functions of its runtime as they were", "[capture]") {
  const Folder folder;
  const Said said = capture(folder, kPrograms + "/runtime_12_program");
  INFO(said.text);
  CHECK(said.code == 0);
  CHECK(holds(said.text, "12090, NVIDIA H100 80GB HBM3"));
  CHECK(holds(said.text, "status 1, 1"));
  CHECK(line(folder.launch(0), "grid") == "[5, 1, 1]");
  CHECK(parameters(folder.launch(0)) == "0c000000");
  CHECK(capture_driver(folder, "old", "--force").code == 0);  // and one of CUDA 11
  CHECK(parameters(folder.launch(0)).substr(16, 8) == "0b000000");
}

TEST_CASE("programs that fork, say much or launch very often are captured, and a full disk is said", "[capture]") {
  const Folder folder;
  const Said forks = capture_driver(folder, "fork");
  CHECK(holds(forks.text, "the child ended with 0"));
  CHECK(holds(forks.text, "10 launches"));
  CHECK(capture_driver(folder, "lines", "--force").code == 0);
  CHECK(folder.has("0.json"));
  const Said often = capture_driver(folder, "thousands", "--force --most 100");
  CHECK(holds(often.text, "only the first 100 launches are written"));
  CHECK(holds(often.text, "100 launches in"));
  const Said full = capture_driver(folder, "full", "--force");
  INFO(full.text);
  CHECK(holds(full.text, "nothing can be written to " + folder.path()));
  CHECK(folder.has("0.json"));
  CHECK_FALSE(folder.has("1.json"));
  const Said device = capture_driver(folder, "device", "--force");
  CHECK(holds(device.text, "101"));
  CHECK(holds(device.text, "the program asks for device 1"));
}

TEST_CASE("with a driver calls pass through after they were written", "[capture]") {
  const Folder folder;
  const std::string below = kPrograms + "/libdriver_below.so";
  const Said said = capture(folder, kPrograms + "/driver_program maps", "", below);
  INFO(said.text);
  CHECK(said.code == 0);
  CHECK(holds(said.text, "below: copy of its module\nbelow: launch of its function, 4 x 2, 256\n"));
  CHECK(holds(line(folder.launch(0), "maps"), R"("at": 64, "in": "parameters", "element": "bf16", "address": "0x700000000000")"));
  CHECK(holds(capture(folder, kPrograms + "/driver_program twice", "--force", below).text, "its function, 4 x 2, 256\nbelow: launch"));
  CHECK_FALSE(holds(capture(folder, kPrograms + "/driver_program plain", "--force --no-gpu", below).text, "below"));
}

TEST_CASE("machine code alone is refused, with what keeps the text, unless the text lies beside", "[capture]") {
  const Folder folder, texts;
  const Said said = capture_driver(folder, "cubin");
  CHECK(said.code == 4);
  CHECK(holds(said.text, "copy is machine code only; keep its PTX: nvcc -gencode arch=compute_90a,code=[sm_90a,compute_90a]"));
  CHECK(capture_driver(folder, "plain", "--force").code == 0);
  fs::copy_file(folder.path() + "/0.ptx", texts.path() + "/kept.ptx");
  CHECK(capture_driver(folder, "cubin", "--force --texts " + texts.path()).code == 0);
  CHECK(folder.has("0.json"));
}

TEST_CASE("what goes wrong is said in a sentence", "[capture]") {
  const Folder folder;
  const Said target = capture_driver(folder, "target", "--target sm_100a");
  CHECK(target.code == 4);
  CHECK(holds(target.text, "10.x with 148 SMs"));
  CHECK(holds(target.text, "the PTX of copy is for sm_90a and does not run on sm_100a"));
  const Said unknown = capture_driver(folder, "unknown");
  CHECK(unknown.code == 0);
  CHECK(holds(unknown.text, "cuGraphDebugDotPrint is not answered here"));
  CHECK(capture_driver(folder, "plain").code == 3);  // launches lie there
  const Said nothing = capture_driver(folder, "nothing", "--force");
  CHECK(nothing.code == 4);
  CHECK(holds(nothing.text, "the program launched no kernel whose PTX is known"));
  const Said crash = capture_driver(folder, "crash", "--force");
  CHECK(crash.code == 0);
  CHECK(holds(crash.text, "the program was ended by signal 6"));
  CHECK(folder.has("0.json"));
  const Said missing = capture(folder, "/nothing/of/this/name");
  CHECK(missing.code == 3);
  CHECK(holds(missing.text, "there is no program '/nothing/of/this/name'"));
  CHECK(shell(HEDDLE_PROGRAM " capture -o /proc/launches -- " + kPrograms + "/driver_program plain").code == 6);
  CHECK(shell(HEDDLE_PROGRAM " capture -o " + folder.path()).code == 2);
}

TEST_CASE("with --json standard output is one object, whatever the program prints", "[capture]") {
  const Folder folder;
  const Said said = shell("(HEDDLE_CUDA_DRIVER=/nothing " HEDDLE_PROGRAM " capture --json -o " + folder.path() + " -- " + kPrograms +
                          "/driver_program target 2>/dev/null)");
  const Result<Json> answer = parse_json(said.text, "answer");
  REQUIRE(answer.ok());
  CHECK(line(*answer, "program_code") == "0");
  REQUIRE(answer->find("launches"));
  CHECK(answer->find("launches")->items()->size() == 1);
}

TEST_CASE("a program of nvcc's is captured, however its text is packed", "[capture][.slow]") {
  const std::string nvcc = find_program("nvcc", {"/usr/local/cuda/bin"});
  if (nvcc.empty()) {
    WARN("skipped: there is no nvcc");
    return;
  }
  for (const std::string mode : {"default", "none", "size", "speed"}) {
    const Folder folder, built;
    const std::string program = built.path() + "/program";
    const Said made = shell(nvcc + " -cudart shared --compress-mode=" + mode + " -gencode arch=compute_90a,code=[sm_90a,compute_90a] -o " +
                            program + " " HEDDLE_SOURCE_DIR "/tests/ptx/capture/programs/kernel.cu");
    INFO(mode << made.text);
    REQUIRE(made.code == 0);
    CHECK(capture(folder, program).code == 0);
    const Json launch = folder.launch(0);
    CHECK(line(launch, "grid") == "[2, 3, 1]");
    CHECK(parameters(launch).substr(2 * 8, 2 * 4) == "05000000");
    CHECK(holds(line(launch, "buffers"), R"("bytes": 8, "contents": "0300000004000000")"));
  }
  const Folder folder, built;
  REQUIRE(shell(nvcc + " -arch=sm_90a -o " + built.path() + "/program " HEDDLE_SOURCE_DIR "/tests/ptx/capture/programs/kernel.cu").code ==
          0);
  CHECK(holds(capture(folder, built.path() + "/program").text, "link it with -cudart shared"));
}

TEST_CASE("the example of a package is captured", "[capture][.slow]") {
  const std::string nvcc = find_program("nvcc", {"/usr/local/cuda/bin"});
  if (nvcc.empty()) {
    WARN("skipped: there is no nvcc");
    return;
  }
  const Folder folder, package;
  REQUIRE(shell(HEDDLE_PROGRAM " emit gemm_hopper h100 --format package --force -o " + package.path()).code == 0);
  const Said made = shell("cd " + package.path() + " && " + nvcc +
                          " -std=c++17 -cudart shared -gencode arch=compute_90a,code=compute_90a example.cpp gemm_hopper.cu -o example");
  INFO(made.text);
  REQUIRE(made.code == 0);
  CHECK(capture(folder, package.path() + "/example 512 512 512").code == 0);
  const Json launch = folder.launch(0);
  CHECK(launch.find("maps")->items()->size() == 3);
  CHECK(holds(folder.text("0.ptx"), "wgmma.mma_async"));
}
#endif

#endif
