// NVRTC by the host's compiler: the generated text over the emulator becomes a shared object, which stands for the cubin. Compiled
// texts are kept in HEDDLE_FAKE_CACHE by content.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "tests/gpu/fake/fake.h"

namespace {

namespace fs = std::filesystem;

struct Text {
  std::string source, cubin, log;
};

std::string whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The word before the parenthesis that opens the kernel's parameters.
std::string entry_of(const std::string& source) {
  std::size_t at = source.find("__global__ void");
  if (at == std::string::npos) return {};
  at += 15;
  std::size_t end = source.find('(', at);
  while (end != std::string::npos && source.find("__", at) < end) {  // __launch_bounds__(384, 1), __cluster_dims__(2, 1, 1)
    at = source.find(')', end) + 1;
    end = source.find('(', at);
  }
  const std::size_t begin = source.find_last_of(" \n", end) + 1;
  return source.substr(begin, end - begin);
}

/// Of a wrapper, named up to its parenthesis; empty where the text has none.
std::string definition_of(const std::string& source, const std::string& wrapper) {
  const std::size_t at = source.find("DEVICE " + wrapper);
  if (at == std::string::npos) return {};
  const std::size_t line = source.find('\n', at);
  return source.substr(at, (source[line - 1] == '}' ? line + 1 : source.find("\n}\n", at) + 3) - at);
}

std::string host_text(const std::string& source, bool& needs_blocks) {
  const std::string entry = entry_of(source), root = HEDDLE_SOURCE_DIR;
  needs_blocks = source.find("barrier_init(") != std::string::npos;
  const std::size_t dims = source.find("__cluster_dims__(");
  const std::string cluster = dims == std::string::npos ? "1" : std::to_string(std::atoi(source.c_str() + dims + 17));
  std::string text;
  if (needs_blocks) {
    text = "#include \"tests/gpu/fake/records.h\"\n#include \"tests/gpu/fake/launcher.h\"\n";
    const std::string head = "DEVICE void product_n";
    for (std::size_t at = source.find(head); at != std::string::npos; at = source.find(head, at + 1)) {
      const std::size_t begin = at + head.size();
      const std::string rest = source.substr(begin, source.find('(', begin) - begin), n = std::to_string(std::stoi(rest));
      text += "template <class... A> void product_n" + rest + "(float (&d)[" + n + " / 2], A... a) { product<" + n + ", " +
              (rest.find("_ta") != std::string::npos ? "true" : "false") + ", " + (rest.ends_with("_t") ? "true" : "false") +
              (rest.ends_with("_e4m3") ? ", Number::E4m3, Number::E4m3" : ", Number::Bf16, Number::Bf16") + ">(d, a...); }\n";
    }
    for (const char* plain : {"float exp2_poly_(", "void bf16_of_i4(", "void bf16_of_i4_halves(", "u64 matrix(", "u64 matrix_64(",
                              "u64 matrix_32(", "u64 behind(", "u64 tensor_matrix("})  // plain arithmetic runs as it is
      text += definition_of(source, plain);
    text += source.substr(std::min(source.find("struct Sizes {"), source.find("extern \"C\" __global__")));
  } else {
    text = "#include \"tests/gpu/fake/plain.h\"\n#include \"tests/gpu/fake/launcher.h\"\n" + source;
  }
  text += "\nextern \"C\" __attribute__((visibility(\"default\"))) const char* fake_entry() { return \"" + entry + "\"; }\n";
  text += "extern \"C\" __attribute__((visibility(\"default\"))) int fake_records() { return " +
          std::string(source.find("u64* records") != std::string::npos ? "1" : "0") + "; }\n";
  text += "extern \"C\" __attribute__((visibility(\"default\"))) void fake_launch(void** a, int blocks, int threads) {\n";
  if (needs_blocks) {
    text += "  phases.clear(), meetings.clear();\n";
    text += "  for (int b = 0; b < blocks; b += " + cluster + ") run_block(b, blocks, threads, " + cluster + ", [&] { call_kernel(" +
            entry + ", a); });\n}\n";
  } else {
    text += "  gridDim.x = blocks;\n  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)\n";
    text += "    for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) call_kernel(" + entry + ", a);\n}\n";
  }
  return text;
}

/// Micro-kernels are not emulated: one piece of code writes times for all of them, from the number of elements that the text's
/// first line names. It follows the machine code. Those of contention write what HEDDLE_FAKE_CONTENTION, a file, plants for them, in lines
/// "NAME: WORD WORD ...".
std::string micro_text() {
  return R"(#include "codegen/calibrate/micro.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
using namespace heddle::codegen;
static char contention[64] = "";
static long elems = 0, argument = 0, loops = 0, nothing = 0, port = 0, groups = 1;
#define DOOR extern "C" __attribute__((visibility("default")))
DOOR const char* fake_entry() { return kMicroEntry; }
DOOR int fake_records() { return 0; }
DOOR void fake_settings(const char* text) { std::sscanf(text, "%ld %ld %ld %ld %ld %ld %63s", &elems, &argument, &loops, &nothing, &port, &groups, contention); }
DOOR void fake_launch(void** a, int, int) {
  auto* out = *static_cast<unsigned long long**>(a[argument]);
  if (*contention) {
    const char* planted = std::getenv("HEDDLE_FAKE_CONTENTION");
    std::ifstream file(planted ? planted : "");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string name;
      words >> name;
      if (name == std::string(contention) + ":")
        for (unsigned long long word; words >> word;) *out++ = word;
    }
    return;
  }
  if (loops) {
    const long pass = 9;
    out[0] = kMicroPasses * (2 * (elems / 16 + 5) + pass);
    out[1] = kMicroPasses * (elems / 16 + 5 + pass);
    out[2] = kMicroPasses * kMicroChain * 40;
    return;
  }
  const long latency = 12 + (nothing ? 0 : 50 + elems / 8);
  out[0] = latency + (kMicroBurst * groups - 1) * (port ? port : elems / 16);
  for (int r = 0; r < kMicroRepeats; ++r) out[1 + 2 * r] = 2 + (nothing ? 0 : 20), out[2 + 2 * r] = latency;
}
)";
}

long number_in(const std::string& line, const std::string& name) {
  const std::size_t at = line.find(" " + name + "=");
  return at == std::string::npos ? 0 : std::atol(line.c_str() + at + name.size() + 2);
}

/// Cycles for which the fake GPU's shared memory is busy with what a micro-kernel of the catalogue issues at once: 64 instructions of warps
/// whose lanes lie as the first line says. It takes 128 bytes of lanes together, and a cycle for each way.
long port_of(const std::string& line) {
  const long lanes = number_in(line, "lanes"), width = number_in(line, "width"), together = std::min(32L, 128 / std::max(width, 4L));
  long cycles = 0;
  for (long first = 0; first < lanes; first += together) {
    long most = 0;
    for (long bank = 0; bank < 32; ++bank) {
      std::set<long> words;
      for (long lane = first; lane < first + together; ++lane) {
        long address = 0;
        for (long bit = 0; bit < 5; ++bit)
          if (lane >> bit & 1) address += number_in(line, "move" + std::to_string(bit));
        for (long byte = address; byte < address + width; ++byte)
          if (byte / 4 % 32 == bank) words.insert(byte / 4);
      }
      most = std::max(most, static_cast<long>(words.size()));
    }
    cycles += most;
  }
  return 64 * cycles;
}

/// " NAME" of a text that begins with "// contention NAME:".
std::string contention_of(const std::string& source) {
  const std::string head = "// contention";
  return source.starts_with(head) ? source.substr(head.size(), source.find(':') - head.size()) : std::string();
}

std::string micro_settings(const std::string& source) {
  const std::size_t at = source.find(" elems=");
  const std::string elems = at < source.find('\n') ? std::to_string(std::atol(source.c_str() + at + 7)) : "0";
  const int arguments = (source.find("TensorMap map, ") != std::string::npos) + (source.find("char* memory, ") != std::string::npos);
  return "HEDDLE-FAKE " + elems + " " + std::to_string(arguments) + " " + (source.find("int turn = 0") != std::string::npos ? "1 " : "0 ") +
         (source.starts_with("// nothing") ? "1 " : "0 ") + std::to_string(port_of(source.substr(0, source.find('\n')))) +
         (source.find("second(r)") != std::string::npos ? " 4" : " 1") + contention_of(source);
}

/// As everything here is compiled. Sections of their own for functions: what counts instructions looks for names like those of a cubin.
const std::string kCompiler =
    std::string("\"") + HEDDLE_CXX + "\" -std=c++20 -O1 -w -fPIC -fvisibility=hidden -fno-gnu-unique -ffunction-sections";

/// A folder in which the compiler finds the emulator's headers read already, which is most of a text's compilation. Kept by content;
/// where it cannot be made, the compiler reads the headers themselves.
fs::path read_headers(const fs::path& folder, const std::string& emulator) {
  const std::string header = "tests/gpu/fake/records.h";
  const fs::path own = folder / (heddle::Hash().add(emulator).add(kCompiler).hex() + ".headers");
  const std::string read = (own / header).string() + ".gch", scratch = read + "." + std::to_string(::getpid());
  std::error_code ignored;
  if (fs::exists(read, ignored)) return own;
  fs::create_directories(fs::path(read).parent_path(), ignored);
  const std::string command = kCompiler + " -I\"" + HEDDLE_SOURCE_DIR + "\" -x c++-header -o \"" + scratch + "\" \"" +
                              (fs::path(HEDDLE_SOURCE_DIR) / header).string() + "\" 2>/dev/null";
  if (std::system(command.c_str()) == 0)
    fs::rename(scratch, read, ignored);
  else
    fs::remove(scratch, ignored);
  return own;
}

int compile(Text& program) {
  bool blocks = false;
  const bool micro = program.source.find("heddle_calibrate(") != std::string::npos;
  const std::string text = micro ? micro_text() : host_text(program.source, blocks);
  const char* given = std::getenv("HEDDLE_FAKE_CACHE");
  const fs::path folder = given ? fs::path(given) : fs::temp_directory_path() / "heddle-fake-kernels";
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  const fs::path root = HEDDLE_SOURCE_DIR;
  std::string emulator = whole(root / (micro ? "codegen/calibrate/micro.h" : "tests/gpu/fake/records.h"));
  if (!micro)
    for (const char* part : {"banks", "block", "descriptors", "files", "gpu", "narrow", "shared_memory", "tensor_memory", "tma", "wgmma"})
      emulator += whole(root / "tests/codegen/emulator" / (std::string(part) + ".h"));
  const fs::path library = folder / (heddle::Hash().add(text).add(emulator).hex() + ".so");
  if (!fs::exists(library)) {
    const std::string base = library.string() + "." + std::to_string(::getpid());
    std::ofstream(base + ".cpp") << text;
    const std::string headers = blocks ? " -I\"" + read_headers(folder, emulator).string() + "\"" : "";
    const std::string command = kCompiler + headers + " -I\"" + HEDDLE_SOURCE_DIR + "\" -shared -Wl,--unique=.text.* -o \"" + base +
                                ".so\" \"" + base + ".cpp\" 2>\"" + base + ".log\"";
    const int code = std::system(command.c_str());
    program.log = whole(base + ".log");
    if (code == 0) fs::rename(base + ".so", library, ignored);
    fs::remove(base + ".log", ignored);
    if (code != 0) return 6;  // NVRTC_ERROR_COMPILATION
    fs::remove(base + ".cpp", ignored);
  }
  program.cubin = whole(library);
  if (micro) program.cubin += micro_settings(program.source);
  program.log =
      "ptxas info    : Used 168 registers, used 4 barriers, 0 bytes cumulative stack size\nptxas info    : 0 bytes stack frame, 0 bytes "
      "spill stores, 0 bytes spill loads\n";
  return 0;
}

}  // namespace

extern "C" {

int nvrtcVersion(int* major, int* minor) {
  *major = 0, *minor = 1;  // no version of NVIDIA's, so that a cache of kernels never takes one for the other
  return 0;
}
int nvrtcCreateProgram(Text** program, const char* source, const char*, int, const char* const*, const char* const*) {
  *program = new Text{source, {}, {}};
  return 0;
}
int nvrtcCompileProgram(Text* program, int, const char* const*) { return compile(*program); }
int nvrtcGetProgramLogSize(Text* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(Text* program, char* log) {
  program->log.copy(log, program->log.size());
  log[program->log.size()] = 0;
  return 0;
}
int nvrtcGetCUBINSize(Text* program, std::size_t* size) {
  *size = program->cubin.size();
  return 0;
}
int nvrtcGetCUBIN(Text* program, char* cubin) {
  program->cubin.copy(cubin, program->cubin.size());
  return 0;
}
int nvrtcDestroyProgram(Text** program) {
  delete *program;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
}
